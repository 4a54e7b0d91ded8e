"""The changes of one graph: which of its nodes change, in this run and in the next ones.

What holds here: between runs, `_wanted` says what a node is where that is not what the graph file says. While
a run is under way, `_steered` has the nodes that stand between engine and calculator; what they are at its
end is what the next run begins with.
"""

from __future__ import annotations

from concurrent.futures import CancelledError
from typing import TYPE_CHECKING, Any, Final

from penstock import Timestamp
from penstock.error_text import did_you_mean
from penstock.errors import FailedPreconditionError, GraphRunError, NotFoundError
from penstock.lowlevel import UNSTARTED
from penstock.runs import OPENED
from penstock_steering.beside import Beside
from penstock_steering.change import Change, Changes, Kind
from penstock_steering.changeable import (
    check_steerable,
    check_swappable,
    find,
    is_elsewhere,
    runs_on_service,
)
from penstock_steering.kept import KEPT, KeptCalculators, run_alone
from penstock_steering.outcomes import all_of, is_later, run_through
from penstock_steering.overlapping import OverlappingNode
from penstock_steering.steered import SteeredNode, Version
from penstock_steering.wanted import (
    Wanted,
    as_given,
    check_can_change,
    copy_options,
    from_bytes,
    with_options,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from penstock import ServiceKey
    from penstock.lowlevel import Node, NodePlan, Plan
    from penstock.runs import NewRun, Runner, Schedule, Starter

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
        #: Whether the run that begins takes them over, and leaves its own.
        self.keeps = False
        #: Node → what it is in the next run, where that is not what the graph says.
        self._wanted: dict[str, tuple[Kind, Wanted]] = {}
        #: Changes during the next run.
        self._later: list[tuple[Kind, Wanted, int]] = []
        self._steered: dict[str, SteeredNode] = {}

    # --- changes ------------------------------------------------------------------------------

    def change(  # noqa: PLR0913, PLR0917  # what a change is
        self, starter: Starter, name: str, kind: Kind, options: object, calculator: str | None, at: int | None
    ) -> Timestamp:
        """Make a change, as `set_options` and `swap`; `options` as bytes are those of a `Change`."""
        what = _call(kind)
        given = self._given(name)
        if not starter.is_running:
            self._carry_over()
            before = self._before_run(name, given, at)
            wanted = self._new(before, options, calculator, starter, kind, what)
            return self._change_next(kind, wanted, at)
        runner = starter.live(f"{what}()")
        node = find(runner.schedule, given, what)
        steered = self._steered.get(name)
        if steered is None:
            check_steerable(node, given.node, what)
        if kind is Kind.SET_OPTIONS and node.max_in_flight > 1:
            raise FailedPreconditionError(
                f"set_options: node {name!r}: its calls may overlap (max_in_flight {node.max_in_flight}), so "
                "there is no moment between two of them; use graph.swap()",
                node=name,
            )
        now = self._now(name) if steered is None else steered.before(at)
        wanted = self._new(now, options, calculator, starter, kind, what)
        if kind is Kind.SET_OPTIONS:
            stamp: Timestamp = runner.change(self._add, runner, node, now, Version(wanted), kind, at)
            return stamp
        return self._swap(starter, runner, node, now, wanted, at)

    def _new(  # noqa: PLR0913, PLR0917  # as `change`
        self, now: Wanted, options: object, calculator: str | None, starter: Starter, kind: Kind, what: str
    ) -> Wanted:
        if isinstance(options, bytes):
            wanted = from_bytes(now, options, self._plan, starter.registry, what)
        else:
            wanted = with_options(now, options, calculator, self._plan, starter.registry, what)
        if kind is Kind.SET_OPTIONS:  # last, since wrong options are wrong for a swap too
            check_can_change(now.node)
        return wanted

    def _given(self, name: str) -> Wanted:
        plan = self._plan
        node = next((one for one in plan.nodes if one.name == name), None)
        if node is None:
            names = [one.name for one in plan.nodes]
            hint = did_you_mean(name, names, 1) or f"; there are: {', '.join(map(repr, names))}"
            raise NotFoundError(f"there is no node {name!r}{hint}", node=name)
        return as_given(plan, node)

    # --- before a run -------------------------------------------------------------------------

    def _before_run(self, name: str, given: Wanted, at: int | None) -> Wanted:
        now = self._wanted[name][1] if name in self._wanted else given
        if at is not None:
            for _, wanted, stamp in self._later:
                if wanted.node.name == name and stamp <= at:
                    now = wanted
        return now

    def _change_next(self, kind: Kind, wanted: Wanted, at: int | None) -> Timestamp:
        name = wanted.node.name
        if at is not None:
            self._later.append((kind, wanted, at))
            self._later.sort(key=lambda one: one[2])
            return Timestamp.of(at)
        if kind is Kind.SWAP:
            self.kept.drop(name)
        self._wanted[name] = (kind, wanted)
        return Timestamp.of(UNSTARTED)

    def _carry_over(self) -> None:
        """Let the next run begin with what the nodes of the last one were at its end."""
        for name, steered in self._steered.items():
            if steered.now.plan is not None:
                self._wanted[name] = (Kind.SWAP, steered.now)
        self._steered = {}

    def planned(self, plan: Plan, keep: Callable[[dict[ServiceKey[Any], object]], None]) -> Plan:
        """Return the plan of a run that begins: the graph's, with what its nodes are now.

        Args:
            plan: of the graph.
            keep: takes services that the graph closes: the kept calculators.

        Raises:
            CalculatorError: a calculator that the run does not take over failed to close.
        """
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
            if kind is Kind.SWAP:
                check_swappable(node, given.node)
                assert wanted.plan is not None  # what was wanted was checked alone  # noqa: S101
                beside = Beside(wanted.plan, node, new.side_packets.value, new.counters)
            self._add(new.schedule, runner, node, now, Version(wanted, beside), kind, at)
        self._later = []
        if self.keeps:
            self.keep_all(new.schedule, runner)

    def _now(self, name: str) -> Wanted:
        return self._wanted[name][1] if name in self._wanted else self._given(name)

    # --- in a run -----------------------------------------------------------------------------

    def _add(  # noqa: PLR0913, PLR0917  # an event of the engine, by `Runner.change`
        self,
        schedule: Schedule,
        runner: Runner,
        node: Node,
        now: Wanted,
        version: Version,
        kind: Kind,
        at: int | None,
    ) -> Timestamp:
        """Let a version wait for its time, and note the change. Called under the lock of the run."""
        steered = self._stand_between(schedule, runner, node, now)

        def change() -> Change:
            return _as_change(kind, version.wanted, steered.add(version, at, _call(kind)))

        return self._log.make(node.name, change).at

    def _stand_between(self, schedule: Schedule, runner: Runner, node: Node, now: Wanted) -> SteeredNode:
        """Return what stands between engine and calculator of a node. Called under the lock of the run."""
        steered = self._steered.get(node.name)
        if steered is None:
            kind = SteeredNode if node.max_in_flight == 1 else OverlappingNode
            steered = kind(node, now, runner)
            steered.install(schedule)
            self._steered[node.name] = steered
        elif schedule.errors:
            raise GraphRunError(schedule.errors)
        return steered

    def _swap(  # noqa: PLR0913, PLR0917  # as `change`
        self, starter: Starter, runner: Runner, node: Node, now: Wanted, wanted: Wanted, at: int | None
    ) -> Timestamp:
        name = node.name
        runner.refuse_inside("swap()")
        check_swappable(node, now.node)
        steered = self._steered.get(name)
        if steered is not None:
            steered.check_in_time(at, "swap")  # before the new one is opened, which may take long
        runner.wait(
            lambda: node.state >= OPENED or runner.is_over, _OPENING_S, f"swap(): node {name!r} to open"
        )
        if node.state > OPENED or runner.is_over:
            raise FailedPreconditionError(
                f"swap: node {name!r} has closed in this run; swap it before the next one", node=name
            )
        assert wanted.plan is not None  # what was wanted was checked alone  # noqa: S101
        beside = Beside(wanted.plan, node, starter.side_packets.value, starter.counters)
        version = Version(wanted, beside)
        try:
            _finish(runner, run_through(beside.open()))
            stamp: Timestamp = runner.change(self._add, runner, node, now, version, Kind.SWAP, at)
        except BaseException as error:
            if beside.is_open and version.owner is None:  # else the node closes it
                try:
                    _finish(runner, run_through(all_of([beside.close])))
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
            steered = self._steered.get(node.name)
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


def _call(kind: Kind) -> str:
    return "set_options" if kind is Kind.SET_OPTIONS else "swap"


def _as_change(kind: Kind, wanted: Wanted, stamp: int) -> Change:
    message = wanted.message
    return Change(wanted.node.name, kind, Timestamp.of(stamp), message.calculator, wanted.alone)


def _finish(runner: Runner, outcome: Any) -> None:
    """Wait, on this thread, for what runs on the graph's event loop, or on another one if that has ended.

    Raises:
        FailedPreconditionError: the run has ended, and has cancelled it.
    """
    if not is_later(outcome):
        return
    if runner.is_over:
        run_alone(outcome)
        return
    future = runner.loop.submit(outcome)
    try:
        future.result()  # no time-out: loading may take long, and the end of the run cancels it
    except CancelledError as error:
        raise FailedPreconditionError("the run has ended, and has cancelled what it awaited") from error
    except BaseException:
        future.cancel()  # an interrupt of this thread; what has ended already stays
        raise
