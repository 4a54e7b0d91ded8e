"""All orders of the steps of a small graph: each state once, and the number of orders that lead through them.

Two facts make this possible. A step whose start changes only its own node has the same result whenever
it starts, so it starts at once (`Action.is_local`): orders that differ only in such starts are one order. And
two runs in the same state go on in the same way, so that each state is left once by each of its actions,
whatever led to it. Orders are counted afterwards, over the states as a graph without circles.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import attrs

from penstock.errors import InternalError, PenstockError, ResourceExhaustedError
from penstock_testing.every_order.states import state_of
from penstock_testing.every_order.stepping import SteppedRun

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from penstock.lowlevel import Plan
    from penstock_testing.every_order.stepping import Action, Deed, Feeds, Outcome


@attrs.frozen
class Orders:
    """What all orders of a graph have shown."""

    #: How many orders there are; where orders differ only in when steps begin that touch nothing else, one
    #: counts.
    orders: int
    #: How many different states they lead through.
    states: int
    #: How many times an action led from one state to another.
    transitions: int
    #: What runs ended with, each with the choices of one order that leads to it.
    outcomes: list[tuple[Outcome, list[int]]]


@attrs.define
class _State:
    """A state that was reached."""

    #: What leads to it.
    choices: list[int]
    #: How many actions are possible.
    width: int
    following: list[bytes] = attrs.field(factory=list)


def every_order(  # noqa: PLR0913  # each is one thing that a run can have
    plan: Plan,
    feeds: Feeds | None = None,
    deeds: Sequence[Deed] = (),
    *,
    may_move: bool = False,
    reduces: bool = True,
    most_states: int = 100_000,
    **arguments: Any,
) -> Orders:
    """Run a plan under all orders of its steps, and return how many there are and what they end with.

    A run is one thread for each graph input, which waits where the input is throttled, any number of threads
    that run steps, one for each observer, and the deeds. What the calculators keep must be in their
    attributes: state that a calculator has elsewhere (globals, names of an enclosing function) is not seen.

    Args:
        plan: as for `ScheduleHarness`; of some five nodes.
        feeds: graph input → packets, or pairs of timestamp and payload; some six.
        deeds: what else happens, each once, at any moment at which it may.
        may_move: for deeds that change what steps call: when a step begins then matters.
        reduces: whether steps whose start changes only their own node begin at once. Without, there are many
            more orders, with the same outcomes.
        most_states: how many states are looked at.
        arguments: for `ScheduleHarness`. Observed streams make orders of their own: observe as few as
        possible.

    Raises:
        InternalError: an order breaks an invariant, ends in a state in which nothing can be done though the
        run
            has not ended; has the order in a note, to be given to `replay`.
        ResourceExhaustedError: there are more states.
    """

    def made() -> SteppedRun:
        return SteppedRun(plan, feeds, deeds, may_move=may_move, **arguments)

    return _Search(made, reduces=reduces, most_states=most_states).run()


class _Search:
    def __init__(self, make: Callable[[], SteppedRun], *, reduces: bool, most_states: int) -> None:
        self._make: Final = make
        self._reduces: Final = reduces
        self._most_states: Final = most_states
        self._states: Final[dict[bytes, _State]] = {}
        self._ends: Final[dict[bytes, Outcome]] = {}

    def run(self) -> Orders:
        run = self._make()
        self._settle(run)
        first = state_of(run)
        self._note(first, run, [])
        waiting = [(first, number) for number in reversed(range(self._states[first].width))]
        while waiting:
            digest, choice = waiting.pop()
            waiting += self._go(digest, choice)
        return self._counted(first)

    def _go(self, digest: bytes, choice: int) -> list[tuple[bytes, int]]:
        """Leave a state by one action, and go on while states are new; return what is left to do in these."""
        choices = [*self._states[digest].choices, choice]
        left: list[tuple[bytes, int]] = []
        try:
            run = self._replayed(choices)
            while True:
                reached = state_of(run)
                self._states[digest].following.append(reached)
                if reached in self._states:
                    return left
                self._note(reached, run, list(choices))
                if not self._states[reached].width:
                    return left
                left += [(reached, number) for number in reversed(range(1, self._states[reached].width))]
                digest = reached
                choices.append(0)
                self._act(run, 0)
        except PenstockError as error:
            error.add_note(f"the order: {choices}")
            raise

    def _replayed(self, choices: Sequence[int]) -> SteppedRun:
        run = self._make()
        run.harness.checks = False  # they held when these actions were done for the first time
        self._settle(run)
        for choice in choices[:-1]:
            self._act(run, choice)
        run.harness.checks = True
        self._act(run, choices[-1])
        return run

    def _act(self, run: SteppedRun, choice: int) -> None:
        run.actions()[choice].do()
        self._settle(run)

    def _settle(self, run: SteppedRun) -> None:
        if self._reduces:
            run.settle()

    def _note(self, digest: bytes, run: SteppedRun, choices: list[int]) -> None:
        if len(self._states) >= self._most_states:
            raise ResourceExhaustedError(
                f"the search in every order found more than {self._most_states} states; give fewer packets, "
                "observe fewer streams, or raise most_states"
            )
        actions: list[Action] = run.actions()
        self._states[digest] = _State(choices, len(actions))
        if not actions:
            run.check_ended()
            self._ends[digest] = run.outcome()

    def _counted(self, first: bytes) -> Orders:
        ways = _ways(self._states, first)
        outcomes: list[tuple[Outcome, list[int]]] = []
        for digest, outcome in self._ends.items():
            if all(outcome != known for known, _ in outcomes):
                outcomes.append((outcome, self._states[digest].choices))
        transitions = sum(len(state.following) for state in self._states.values())
        return Orders(ways, len(self._states), transitions, outcomes)


def _ways(states: dict[bytes, _State], first: bytes) -> int:
    """Return how many ways lead from a state to an end.

    Raises:
        InternalError: a state leads back to itself.
    """
    ways: dict[bytes, int] = {}
    above: set[bytes] = set()
    waiting = [first]
    while waiting:
        digest = waiting[-1]
        missing = [] if digest in ways else [one for one in states[digest].following if one not in ways]
        if missing and digest in above:
            raise InternalError(
                "in the search, a state of the run leads back to itself: an action has changed nothing"
            )
        if missing:
            above.add(digest)
            waiting += missing
            continue
        waiting.pop()
        above.discard(digest)
        if digest not in ways:
            following = states[digest].following
            ways[digest] = sum(ways[one] for one in following) if following else 1
    return ways[first]


def replay(run: SteppedRun, choices: Sequence[int], *, reduces: bool = True) -> list[str]:
    """Do the actions of an order of `every_order`; return them, a line for each."""
    told = []
    if reduces:
        run.settle()
    for choice in choices:
        action = run.actions()[choice]
        told.append(f"{action.by}: {action.what}")
        action.do()
        if reduces:
            run.settle()
    return told
