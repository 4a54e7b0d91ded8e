"""A run as a list of actions that can be done next; what chooses among them is an order.

`SteppedRun` offers the actions of a run by name: feeding a graph input, starting a step, ending one, serving
an observer, and what a test does besides (`Deed`). An order is what it chose each time: the same choices give
the same run.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple

from penstock import Packet
from penstock.errors import InternalError, StreamClosedError
from penstock.explain import story
from penstock.lowlevel import PROCESS
from penstock.runs import RUNNING, TERMINATED
from penstock_testing.schedules import Carried, ScheduleHarness

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any, TypeAlias

    from penstock.lowlevel import Plan
    from penstock.runs import Step
    from penstock_testing.schedules import HeldStep

    #: Gets the actions that can be done now, of which there is at least one; returns the place of one of
    #: them.
    Chooser: TypeAlias = Callable[[Sequence["Action"]], int]
    #: Graph input → packets, or pairs of timestamp and payload, in the order in which they are added.
    Feeds: TypeAlias = Mapping[str, Sequence[Packet | tuple[int, object]]]

#: More actions than that, and a run does not end.
_MOST_ACTIONS: Final = 100_000


class Deed(NamedTuple):
    """Something that a test does to a run once, at any moment: a cancel, a swap, a time-out."""

    name: str
    do: Callable[[ScheduleHarness], object]
    #: Whether it can be done now.
    may: Callable[[ScheduleHarness], bool] = lambda _: True


class Action(NamedTuple):
    """One thing that can be done next."""

    #: Who does it: "feed numbers", "Double", "see twice", or the name of a deed. At most one is possible at a
    #: time, but for nodes with `max_in_flight`.
    by: str
    #: What, for people: "start process at 5", "end process at 5".
    what: str
    do: Callable[[], object]
    #: Whether it changes only its own node: every order in which it comes later has the same results.
    is_local: bool = False


class SteppedRun:
    """One run of a plan, action by action.

    Args:
        plan: as for `ScheduleHarness`.
        feeds: what is added to graph inputs. Each is fed by a thread of its own, which waits where the input
        is
            throttled and closes it at the end.
        deeds: what else happens, each once.
        may_move: whether a step that begins may matter to others than its node, so that it is an action whose
            order is looked at: needed where a deed changes what steps call.
        arguments: for `ScheduleHarness`.
    """

    def __init__(
        self,
        plan: Plan,
        feeds: Feeds | None = None,
        deeds: Sequence[Deed] = (),
        *,
        may_move: bool = False,
        **arguments: Any,
    ) -> None:
        self.harness: Final = ScheduleHarness(plan, **arguments)
        self._feeds: Final = {
            name: [item if isinstance(item, Packet) else Packet(item[1], item[0]) for item in items]
            for name, items in (feeds or {}).items()
        }
        self._held: list[HeldStep] = []
        self._deeds = list(deeds)
        self._may_move: Final = may_move
        #: Graph input → number of packets that were fed; one more where it was closed too.
        self.fed: Final = dict.fromkeys(self._feeds, 0)
        self.harness.start()

    @property
    def held(self) -> list[HeldStep]:
        """The steps that have begun and not ended."""
        return self._held

    @property
    def deeds_left(self) -> list[str]:
        """The names of the deeds that have not been done."""
        return [deed.name for deed in self._deeds]

    def actions(self) -> list[Action]:
        """Return what can be done now: ends of steps first, then begins, observers, feeds, deeds.

        So the first of them, each time, is the order in which one thread works off what was fed before the
        next packet is fed.
        """
        if self.harness.is_over and not self._held and not self.harness.schedule.deliveries:
            return []
        return [*self._ends(), *self._begins(), *self._observers(), *self._inputs(), *self._other()]

    def _ends(self) -> list[Action]:
        return [
            Action(
                held.step.node.name, f"end {_call(held.step)}", partial(self._end, number)
            )
            for number, held in enumerate(self._held)
        ]  # fmt: skip

    def _end(self, number: int) -> None:
        self.harness.complete(self._held.pop(number))

    def _begins(self) -> list[Action]:
        schedule = self.harness.schedule
        if schedule.state != RUNNING:
            return []
        found = []
        seen: set[int] = (
            set()
        )  # a node with several calls at a time is ready once for each, and they begin in turn
        for queue in schedule.queues:
            for place, node in enumerate(queue.nodes()):
                if node.id in seen:
                    continue
                seen.add(node.id)
                step = node.prepared[0] if node.in_order is not None and node.prepared else node.step
                is_local = not (self._may_move or node.takes_late)
                found.append(
                    Action(
                        node.name,
                        f"start {_call(step)}",
                        partial(self._begin, queue, place),
                        is_local,
                    )
                )
        return found

    def _begin(self, queue: Any, place: int) -> None:
        step = self.harness.take_from(queue, place)
        if step is not None:
            self._held.append(self.harness.call(step))

    def _observers(self) -> list[Action]:
        return [
            Action(f"see {observer.name}", "see packets", partial(self.harness.serve, number))
            for number, observer in enumerate(self.harness.schedule.deliveries)
        ]  # fmt: skip

    def _inputs(self) -> list[Action]:
        return [
            Action(f"feed {name}", "close" if count == len(self._feeds[name]) else "add a packet",
                   partial(self._feed, name))
            for name, count in self.fed.items()
            if count <= len(self._feeds[name])
            and (count == len(self._feeds[name]) or not self.harness.is_throttled(name))
        ]  # fmt: skip

    def _feed(self, name: str) -> None:
        count = self.fed[name]
        self.fed[name] += 1
        if count == len(self._feeds[name]):
            self.harness.close_input(name)
            return
        try:
            self.harness.add_packet(name, self._feeds[name][count])
        except StreamClosedError:  # the run ends without them, and its end has the error
            self.fed[name] = len(self._feeds[name]) + 1

    def _other(self) -> list[Action]:
        if self.harness.is_over:
            return []
        return [
            Action(deed.name, "once", partial(self._do, deed))
            for deed in self._deeds
            if deed.may(self.harness)
        ]

    def _do(self, deed: Deed) -> None:
        self._deeds.remove(deed)
        deed.do(self.harness)

    def settle(self) -> None:
        """Start all steps whose start changes only their own node: the results do not depend on when."""
        while local := next((one for one in self.actions() if one.is_local), None):
            local.do()

    def to_the_end(self, choose: Chooser) -> list[int]:
        """Do what is chosen until nothing is left to do; return the choices.

        Raises:
            InternalError: an invariant is broken, or the run does not end; says what it waits for.
        """
        choices = []
        while actions := self.actions():
            choice = choose(actions)
            choices.append(choice)
            actions[choice].do()
            if len(choices) > _MOST_ACTIONS:
                raise InternalError(
                    f"stepping came to no end after {_MOST_ACTIONS} actions\n{story(self.harness.schedule)}"
                )
        self.check_ended()
        return choices

    def check_ended(self) -> None:
        """Check that a run with nothing left to do has ended.

        Raises:
            InternalError: it has not; says what it waits for.
        """
        if self.harness.schedule.state != TERMINATED:
            raise InternalError(
                f"stepping: nothing can be done, and the run has not ended\n{story(self.harness.schedule)}"
            )

    def outcome(self) -> Outcome:
        """Return what the run has shown so far."""
        harness = self.harness
        carried = {name: harness.carried(name) for name in harness.seen}
        return Outcome(carried, tuple(str(error).partition("\n")[0] for error in harness.errors))


class Outcome(NamedTuple):
    """What a run has shown."""

    #: Stream → pairs of timestamp and payload.
    carried: dict[str, Carried]
    #: The first lines of the errors of the run.
    errors: tuple[str, ...]


def _call(step: Step) -> str:
    method = ("open", "process", "close")[step.method]
    return f"{method} at {step.stamp}" if step.method == PROCESS and step.node.inputs else method
