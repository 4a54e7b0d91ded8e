"""The changes of one graph: which of its nodes change, in this run and in the next ones.

What holds here: between runs, `_wanted` says what a node is where that is not what the graph file says. While
a run is under way, `_steered` has the nodes that stand between engine and calculator; what they are at its
end is what the next run begins with.

Several threads may change a graph. A change is worked out from the present node without a lock, since that
loads a graph and may open a calculator; it counts only if the node is still the same then. Else it is worked
out again. Between runs all changes happen in `GraphRuns.between_runs`.
"""

from __future__ import annotations

from contextlib import contextmanager
from threading import get_ident
from typing import TYPE_CHECKING, Any, Final

from penstock import Timestamp
from penstock.error_text import did_you_mean
from penstock.errors import FailedPreconditionError, GraphRunError, NotFoundError
from penstock.lowlevel import UNSTARTED
from penstock.runs import OPENED
from penstock_steering.awaited_calls import all_of, finish, run_through
from penstock_steering.changeable import (
    check_can_change,
    check_steerable,
    check_swappable,
    find,
    is_elsewhere,
    runs_on_service,
)
from penstock_steering.changes_of_run import Change, ChangeKind, Changes
from penstock_steering.kept import KEPT, Kept, KeptCalculators, close_all
from penstock_steering.opening import Beside
from penstock_steering.overlapping import OverlappingNode, check_not_overlapping
from penstock_steering.steered_node import SteeredNode, Superseded, Version
from penstock_steering.wanted import (
    Wanted,
    as_given,
    copy_options,
    from_bytes,
    with_options,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from penstock import ServiceKey
    from penstock.lowlevel import Node, NodePlan, Plan
    from penstock.runs import GraphRuns, NewRun, Runner, Schedule

#: How long a swap waits until its node has opened, in seconds.
_OPENING_S: Final = 30.0


class Steering:
    """The changes of one graph. It does not hold the graph.

    Args:
        plan: of the graph.
        log: receives the changes of each run.
    """

    def __init__(self, plan: Plan, log: Changes) -> None:
        self._plan: Final = plan
        self._log: Final = log
        #: Calculators that the last run has left.
        self.kept: Final = KeptCalculators()
        #: The threads in `reset`: the runs that they begin take them over, and leave their own.
        self._keeping: Final[set[int]] = set()
        #: Counts changes between runs, and runs.
        self._edits = 0
        #: Node → what it is in the next run, where that is not what the graph says.
        self._wanted: dict[str, tuple[ChangeKind, Wanted]] = {}
        #: Changes during the next run.
        self._later: list[tuple[ChangeKind, Wanted, int]] = []
        #: What `_later` was before the run that was prepared last.
        self._prepared: list[tuple[ChangeKind, Wanted, int]] = []
        self._steered: dict[str, SteeredNode] = {}

    # --- changes ------------------------------------------------------------------------------

    def change(  # noqa: PLR0913, PLR0917  # what a change is
        self,
        runs: GraphRuns,
        name: str,
        kind: ChangeKind,
        options: object,
        calculator: str | None,
        at: int | None,
    ) -> Timestamp:
        """Make a change, as `set_options` and `swap`; `options` as bytes are those of a `Change`."""
        given = self._given(name)
        while True:
            try:
                if runs.is_running:
                    stamp = self._change_now(runs, given, kind, options, calculator, at)
                else:
                    stamp = self._change_next(runs, given, kind, options, calculator, at)
            except Superseded:
                continue
            if stamp is not None:
                return stamp

    def _change_now(  # noqa: PLR0913, PLR0917  # as `change`
        self,
        runs: GraphRuns,
        given: Wanted,
        kind: ChangeKind,
        options: object,
        calculator: str | None,
        at: int | None,
    ) -> Timestamp | None:
        """Make a change in the run under way; return None where it has just ended."""
        name, what, runner = given.node.name, _call(kind), runs.runner
        if runner is None or not runs.is_running:
            return None
        node = find(runner.schedule, given, what)
        steered = self._steered_in(runner, name)
        if steered is None:
            check_steerable(node, given.node, what)
        if kind is ChangeKind.SET_OPTIONS:
            check_not_overlapping(node)
        now = self._now(name) if steered is None else steered.before(at)

        def make(now: Wanted) -> Wanted:
            return self._new(now, options, calculator, runs, kind, what)

        if kind is ChangeKind.SET_OPTIONS:
            stamp: Timestamp = runner.change(self._add, runner, node, now, Version(make(now)), kind, at)
            return stamp
        return self._swap(runs, runner, node, now, make, at)

    def _new(  # noqa: PLR0913, PLR0917  # as `change`
        self,
        now: Wanted,
        options: object,
        calculator: str | None,
        runs: GraphRuns,
        kind: ChangeKind,
        what: str,
    ) -> Wanted:
        if isinstance(options, bytes):
            wanted = from_bytes(now, options, self._plan, runs.registry, what)
        else:
            wanted = with_options(now, options, calculator, self._plan, runs.registry, what)
        if kind is ChangeKind.SET_OPTIONS:  # last, since wrong options are wrong for a swap too
            check_can_change(now.node)
        return wanted

    def _given(self, name: str) -> Wanted:
        plan = self._plan
        node = next((one for one in plan.nodes if one.name == name), None)
        if node is None:
            names = [one.name for one in plan.nodes]
            hint = did_you_mean(name, names, 1) or f"; there are: {', '.join(map(repr, names))}"
            raise NotFoundError(f"steering: there is no node {name!r}{hint}", node=name)
        return as_given(plan, node)

    # --- before a run -------------------------------------------------------------------------

    def _change_next(  # noqa: PLR0913, PLR0917  # as `change`
        self,
        runs: GraphRuns,
        given: Wanted,
        kind: ChangeKind,
        options: object,
        calculator: str | None,
        at: int | None,
    ) -> Timestamp | None:
        """Make a change of the next run; return None where one is under way."""
        name = given.node.name
        found: list[tuple[int, Wanted]] = []
        replaced: list[Kept | None] = []

        def look() -> bool:
            self._carry_over()
            found.append((self._edits, self._before_run(name, given, at)))
            return True

        if not runs.between_runs(look):
            return None
        edits, before = found[0]
        wanted = self._new(before, options, calculator, runs, kind, _call(kind))

        def change() -> bool:
            if self._edits != edits:
                raise Superseded
            self._edits += 1
            if at is not None:
                self._later.append((kind, wanted, at))
                self._later.sort(key=lambda one: one[2])
                return True
            if kind is ChangeKind.SWAP:
                replaced.append(self.kept.take(name))
            self._wanted[name] = (kind, wanted)
            return True

        if not runs.between_runs(change):
            return None
        close_all([one for one in replaced if one is not None])
        return Timestamp.of(UNSTARTED if at is None else at)

    def _before_run(self, name: str, given: Wanted, at: int | None) -> Wanted:
        now = self._wanted[name][1] if name in self._wanted else given
        if at is not None:
            for _, wanted, stamp in self._later:
                if wanted.node.name == name and stamp <= at:
                    now = wanted
        return now

    def _carry_over(self) -> None:
        """Let the next run begin with what the nodes of the last one were at its end."""
        for name, steered in list(self._steered.items()):
            if steered.now.plan is not None:
                self._wanted[name] = (ChangeKind.SWAP, steered.now)
        self._steered = {}

    def planned(self, plan: Plan, keep: Callable[[dict[ServiceKey[Any], object]], None]) -> Plan:
        """Return the plan of a run that begins: the graph's, with what its nodes are now.

        Args:
            plan: of the graph.
            keep: takes services that the graph closes: the kept calculators.

        Raises:
            CalculatorError: a calculator that the run does not take over failed to close.
        """
        self._edits += 1
        self._carry_over()
        if self.keeps:
            keep({KEPT: self.kept})
        else:
            self.kept.close()
        if not self._wanted and not self.keeps:
            return plan
        config = type(plan.config)()
        config.CopyFrom(plan.config)
        nodes = [self._node(node, config) for node in plan.nodes]
        return plan._replace(nodes=tuple(nodes), config=config)

    def _node(self, node: NodePlan, config: Any) -> NodePlan:
        name = node.name
        if name in self._wanted:
            wanted = self._wanted[name][1]
            message = config.node[node.id]
            message.calculator = wanted.message.calculator
            copy_options(wanted.message, message)
            other = wanted.node
            node = node._replace(calculator=other.calculator, factory=other.factory, options=other.options)
        if self.keeps and name in self.kept:
            lend: Any = lambda: self.kept.lend(name)  # noqa: E731  # takes the place of a class
            node = node._replace(factory=lend)
        return node

    def prepare(self, new: NewRun, runner: Runner) -> None:
        """Let changes wait for their time in a run that was put together and has not started.

        Raises:
            FailedPreconditionError: a node cannot change in a run. Nothing has started.
            CalculatorError: a calculator that is to take over cannot be made.
        """
        later = tuple(self._later)
        first = [_as_change(kind, wanted, UNSTARTED) for kind, wanted in self._wanted.values()]
        self._log.begin(first)
        for kind, wanted, at in later:
            what = _call(kind)
            given, now = self._given(wanted.node.name), self._now(wanted.node.name)
            node = find(new.schedule, given, what)
            check_steerable(node, given.node, what)
            beside = None
            if kind is ChangeKind.SWAP:
                check_swappable(node, given.node)
                assert wanted.plan is not None  # what was wanted was checked alone  # noqa: S101
                beside = Beside(wanted.plan, node, new.side_packets.value, new.counters)
            self._stand_between(new.schedule, runner, node, now)
            self._add(new.schedule, runner, node, None, Version(wanted, beside), kind, at)
        self._prepared, self._later = self._later, []
        if self.keeps:
            self.keep_all(new.schedule, runner)

    def take_back(self) -> None:
        """Keep the changes that were to wait for their time in a run that could not start."""
        self._later, self._prepared = self._prepared, []

    @property
    def keeps(self) -> bool:
        """Whether the run that this thread begins takes over the kept calculators, and leaves its own."""
        return get_ident() in self._keeping

    @contextmanager
    def keeping(self) -> Iterator[None]:
        """Let a run that this thread begins take over the kept calculators."""
        who = get_ident()
        self._keeping.add(who)
        try:
            yield
        finally:
            self._keeping.discard(who)

    def _now(self, name: str) -> Wanted:
        return self._wanted[name][1] if name in self._wanted else self._given(name)

    # --- in a run -----------------------------------------------------------------------------

    def _add(  # noqa: PLR0913, PLR0917  # an event of the engine, by `Runner.change`
        self,
        schedule: Schedule,
        runner: Runner,
        node: Node,
        base: Wanted | None,
        version: Version,
        kind: ChangeKind,
        at: int | None,
    ) -> Timestamp:
        """Let a version wait for its time, and note the change. Called under the lock of the run.

        Raises:
            Superseded: the node is no longer `base`, from which the version was made. Nothing has changed.
        """
        if base is not None:
            self._stand_between(schedule, runner, node, base)
        steered = self._steered[node.name]

        def change() -> Change:
            return _as_change(kind, version.wanted, steered.add(version, at, _call(kind), base))

        return self._log.make(node.name, change).at

    def _steered_in(self, runner: Runner, name: str) -> SteeredNode | None:
        """Return the layer between engine and calculator of a node in a run, if there is one."""
        steered = self._steered.get(name)
        return steered if steered is not None and steered.runner is runner else None

    def _stand_between(self, schedule: Schedule, runner: Runner, node: Node, now: Wanted) -> SteeredNode:
        """Return what stands between engine and calculator of a node. Called under the lock of the run."""
        steered = self._steered_in(runner, node.name)
        if steered is None:
            kind = SteeredNode if node.max_in_flight == 1 else OverlappingNode
            steered = kind(node, now, runner)
            steered.install(schedule)
            self._steered[node.name] = steered
        elif schedule.errors:
            raise GraphRunError(schedule.errors)
        return steered

    def _swap(  # noqa: PLR0913, PLR0917  # as `change`
        self,
        runs: GraphRuns,
        runner: Runner,
        node: Node,
        now: Wanted,
        make: Callable[[Wanted], Wanted],
        at: int | None,
    ) -> Timestamp:
        name, wanted = node.name, make(now)
        runner.refuse_inside("swap()")
        check_swappable(node, now.node)
        steered = self._steered_in(runner, name)
        if steered is not None:
            steered.check_in_time(at, "swap")  # before the new one is opened, which may take long
        runner.wait(
            lambda: node.state >= OPENED or runner.is_over, _OPENING_S, f"swap(): node {name!r} to open"
        )
        if node.state > OPENED or runner.is_over:
            raise FailedPreconditionError(
                f"steering, swap: node {name!r} has closed in this run; swap it before the next one",
                node=name,
            )
        assert wanted.plan is not None  # what was wanted was checked alone  # noqa: S101
        beside = Beside(wanted.plan, node, runs.side_packets.value, runs.counters)
        version = Version(wanted, beside)
        try:
            finish(runner, run_through(beside.open()))
            while True:
                try:
                    stamp: Timestamp = runner.change(
                        self._add, runner, node, now, version, ChangeKind.SWAP, at
                    )
                    break
                except Superseded:  # what was opened serves, unless it had to be another one
                    now = self._steered[name].before(at)
                    if make(now).alone != wanted.alone:
                        raise
        except BaseException as error:
            if beside.is_open and version.owner is None:  # else the node closes it
                try:
                    finish(runner, run_through(all_of([beside.close])))
                except Exception as failure:  # noqa: BLE001  # the first error is the caller's
                    error.add_note(f"{type(failure).__name__}: {failure}")
            raise
        return stamp

    # --- reset --------------------------------------------------------------------------------

    def keep_all(self, schedule: Schedule, runner: Runner) -> None:
        """Let the run leave its calculators that have `reset`. Called under its lock, or before it starts."""
        if schedule.errors:
            return
        for node in schedule.nodes:
            if node.state > OPENED or not callable(getattr(node.calculator, "reset", None)):
                continue
            steered = self._steered_in(runner, node.name)
            if steered is None:
                if all(one.name != node.name for one in self._plan.nodes):
                    continue  # a region, which has no node of its own in the graph
                now = self._now(node.name)
                if not self.kept.is_lent(node.name) and not _may_keep(node, now):
                    continue
                steered = self._stand_between(schedule, runner, node, now)
            steered.kept = self.kept


def _may_keep(node: Node, now: Wanted) -> bool:
    """Return whether the calculator of a node may live on after the run, where it has `reset`."""
    return node.guard is None and not runs_on_service(node, now.node) and not is_elsewhere(node)


def _call(kind: ChangeKind) -> str:
    return "set_options" if kind is ChangeKind.SET_OPTIONS else "swap"


def _as_change(kind: ChangeKind, wanted: Wanted, stamp: int) -> Change:
    message = wanted.message
    return Change(wanted.node.name, kind, Timestamp.of(stamp), message.calculator, wanted.alone)
