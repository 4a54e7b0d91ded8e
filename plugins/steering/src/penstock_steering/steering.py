"""`set_options`, `swap` and `reset` of a graph: which of its nodes change, in this run and in the next ones.

What holds here: between runs, `_wanted` says what a node is where that is not what the graph file says. While
a run is under way, `_steered` has the nodes that stand between engine and calculator; what they are at its
end is what the next run begins with.
"""

from __future__ import annotations

from concurrent.futures import CancelledError
from operator import index
from typing import TYPE_CHECKING, Any, Final

from penstock import Packet, Timestamp
from penstock.errors import (
    FailedPreconditionError,
    GraphRunError,
    NotFoundError,
    TimestampError,
    WaitTimeoutError,
)
from penstock.lowlevel import MAX, OPENED, PRESTREAM, UNSTARTED, did_you_mean, show
from penstock_steering.beside import Beside
from penstock_steering.change import CHANGES, Change, Changes, Kind
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
    from collections.abc import Mapping
    from typing import SupportsIndex

    from penstock import CalculatorGraph
    from penstock.lowlevel import Node, NodePlan, Plan, Schedule

#: How long a swap waits until its node has opened, in seconds.
_OPENING_S: Final = 30.0


def set_options(starter: Any, node: str, options: object, at: SupportsIndex | None = None) -> Timestamp:
    """Give a node other options while its calculator works; `CalculatorGraph.set_options` calls it.

    The calculator must have a method `options_changed(cc)`. It is called on the node's executor, between two
    calls of `process`, before the first whose input timestamp is not below `at`; `cc` is the context of that
    call: its timestamp and inputs can be read, `cc.options(...)` returns the new options, and nothing can be
    written. It may be `async`. What it raises ends the run, as an error of that call. For a source, `at` is
    compared with the bound of its outputs when `process` is called.

    Without a run under way the options count from the start of the next run, which opens the calculator with
    them, or, with `at`, from then on in the next run. Options that have come into effect stay for later runs.

    Args:
        starter: of the graph.
        node: its name in the graph.
        options: an options message of the calculator, or an instance of its attrs class, which replaces the
            options of that class; or a dict of fields, which replace those fields in what the node has just
            before `at` now. They are checked as when a graph is loaded.
        at: a timestamp, also below those of changes that wait already; None: the next call that has not
            begun.

    Returns:
        The timestamp from which the options count: with it the same change can be made again, in another run.
        UNSTARTED: from the start of the next run.

    Raises:
        NotFoundError: the graph has no such node; names the most similar one.
        InvalidArgumentError, GraphConfigError: the options are none of the calculator's, or are refused.
        TimestampError: no packet can have the timestamp `at`.
        TimestampOrderError: `process` has begun for `at` or later; says for which timestamp.
        FailedPreconditionError: the calculator has no `options_changed`; or calls of the node may overlap
            (`max_in_flight`), it has a failure policy, works in another process, or has closed; or the run is
            recorded, and the recorded streams have ended. Says what to do. In each of these cases nothing has
            changed, and the graph goes on.
        GraphRunError: the run has failed.
    """
    return _steering(starter).change(starter, node, Kind.SET_OPTIONS, options, None, _stamp(at))


def swap(
    starter: Any,
    node: str,
    options: object = None,
    calculator: str | None = None,
    at: SupportsIndex | None = None,
) -> Timestamp:
    """Open another calculator beside that of a node, and let it take over; `CalculatorGraph.swap` calls it.

    `open` of the new object runs on the calling thread, a coroutine of it on the graph's event loop, while
    the graph goes on with the old one. It gets the node's side packets and headers; it may write no packets,
    and its headers, offsets and process bounds must be those that the node has. From the first call on whose
    input timestamp is not below `at` the new object gets the calls, each input set once. The old one is
    closed after its last call, on the node's executor. What it writes in `close` is delivered before what the
    new one writes, and must have timestamps below that call's; with `max_in_flight` above 1 it may write
    nothing there.

    Without a run under way the next run begins with the other calculator; or, with `at`, opens it at its
    start, beside the node's own. What has taken over stays for later runs.

    Args:
        starter: of the graph.
        node: its name in the graph.
        options: as for `set_options`; None: those that the node has, or the defaults of another calculator.
        calculator: registered name of another one, with the same ports and types; None: the same.
        at: as for `set_options`.

    Returns:
        As `set_options`.

    Raises:
        CalculatorError: the new object cannot be made, or its `open` failed. The graph goes on with the old
            one, and nothing of the new one stays open.
        UnknownNameError, PluginError: there is no such calculator.
        WaitTimeoutError: the node was not opened within 30 s, for want of a header or side packet, say.
        As `set_options`; FailedPreconditionError also where the node makes side packets, or runs on a thread
            of a service, or the call comes from inside of the run.
    """
    return _steering(starter).change(starter, node, Kind.SWAP, options, calculator, _stamp(at))


def reset(
    starter: Any,
    side_packets: Mapping[str, Any] | None = None,
    stream_headers: Mapping[str, Any] | None = None,
    timeout: float | None = None,
) -> None:
    """End the run under way, and start the next with the same calculators; `CalculatorGraph.reset` calls it.

    Graph inputs and sources end as by `close_all_packet_sources`, and the end of the run is waited for. Then
    a run begins as by `start_run`: timestamps start anew, observers and pollers stay. Calculators that have a
    method `reset(cc)` are not closed in between, and `reset(cc)` is called in the place of `open` in the next
    run, with a context as `open` has: it must set headers and offsets, and forget what it remembers of the
    last run. All others are closed, made again and opened. Without a run under way it starts one: where the
    first run is started so, too, all runs leave their calculators to the next, also those that ended by
    themselves.

    A kept calculator is closed when the graph is closed or dropped, when `start_run` starts a run, or when
    its own run fails. It cannot write in `close` then. Calculators of nodes in other processes, with a
    failure policy, or on threads of a service are not kept.

    Args:
        starter: of the graph.
        side_packets: of the next run, as for `start_run`.
        stream_headers: likewise.
        timeout: how long to wait for the end of the run under way, in seconds; None for no limit.

    Raises:
        GraphRunError: the run under way has failed. It is over, kept calculators are closed, and no run
            begins.
        WaitTimeoutError: it did not end in time; it goes on to its end, and no run begins.
        CalculatorError: a calculator that is not kept for the next run failed to close.
        As `start_run`; kept calculators stay then, for the next call.
    """
    steering = _steering(starter)
    if starter.is_running:
        runner = starter.live("reset()")
        runner.refuse_inside("reset()")
        runner.change(steering.keep_all, runner)
        runner.change(lambda schedule: schedule.close_sources())
        try:
            starter.wait_until_done(timeout)
        except WaitTimeoutError:
            raise
        except BaseException as error:
            steering.kept.close_after(error)
            raise
    steering.keeps = True
    try:
        starter.start(side_packets, stream_headers)
    finally:
        steering.keeps = False


def changes(graph: CalculatorGraph) -> tuple[Change, ...]:
    """Return the changes of the run under way, or of the last one.

    Those that count from the start of the run come first, the others follow in the order of the calls; also
    those whose time has not come. `apply` makes them again.
    """
    log = graph.get_service(CHANGES)
    return () if log is None else log.made


def apply(graph: CalculatorGraph, change: Change) -> Timestamp:
    """Make a change of another run again, before a run; raises as `set_options` and `swap`."""
    starter: Any = graph._starter  # noqa: SLF001  # the graph's own methods hand it over
    at = None if change.at == UNSTARTED else int(change.at)
    return _steering(starter).change(starter, change.node, change.kind, change.options, None, at)


def _steering(starter: Any) -> Steering:
    """Return what steers a graph, from its first change on."""
    if starter.steering is None:
        log = starter.services.setdefault(CHANGES, Changes())
        starter.steering = Steering(starter.plan, log)
    steering: Steering = starter.steering
    return steering


def _stamp(at: SupportsIndex | None) -> int | None:
    """Return a timestamp as an int; None for UNSTARTED, the start of a run.

    Raises:
        TimestampError: no packet can have it.
    """
    if at is None or index(at) == UNSTARTED:
        return None
    stamp = Packet(timestamp=at).stamp
    if not PRESTREAM <= stamp <= MAX:
        raise TimestampError(
            f"at {show(stamp)}: must be a timestamp that a packet in a stream can have, or None"
        )
    return stamp


class Steering:
    """The changes of one graph. It does not hold the graph.

    Args:
        plan: of the graph.
        log: receives the changes of each run.

    Attributes:
        kept: calculators that the last run has left.
        keeps: whether the run that begins takes them over, and leaves its own.
    """

    def __init__(self, plan: Plan, log: Changes) -> None:
        self._plan: Final = plan
        self._log: Final = log
        self.kept: Final = KeptCalculators()
        self.keeps = False
        #: Node → what it is in the next run, where that is not what the graph says.
        self._wanted: dict[str, tuple[Kind, Wanted]] = {}
        #: Changes during the next run.
        self._later: list[tuple[Kind, Wanted, int]] = []
        self._steered: dict[str, SteeredNode] = {}

    # --- changes ------------------------------------------------------------------------------

    def change(  # noqa: PLR0913, PLR0917  # what a change is
        self, starter: Any, name: str, kind: Kind, options: object, calculator: str | None, at: int | None
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
        node = _find(runner.schedule, given, what)
        steered = self._steered.get(name)
        if steered is None:
            _check_steerable(node, self._now(name).node, given.node, what)
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
        self, now: Wanted, options: object, calculator: str | None, starter: Any, kind: Kind, what: str
    ) -> Wanted:
        if kind is Kind.SET_OPTIONS:
            check_can_change(now.node)
        if isinstance(options, bytes):
            return from_bytes(now, options, self._plan, starter.registry, what)
        return with_options(now, options, calculator, self._plan, starter.registry, what)

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

    def planned(self, plan: Plan, made: Any) -> Plan:
        """Return the plan of a run that begins: the graph's, with what its nodes are now.

        Args:
            plan: of the graph.
            made: the services that the graph closes; receives the kept calculators.

        Raises:
            CalculatorError: a calculator that the run does not take over failed to close.
        """
        self._carry_over()
        if self.keeps:
            made.keep({KEPT: self.kept})
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
            node = node._replace(factory=lend, opens_by="reset")
        return node

    def prepare(self, new: Any, runner: Any) -> None:
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
            node = _find(new.schedule, given, what)
            _check_steerable(node, now.node, given.node, what)
            beside = None
            if kind is Kind.SWAP:
                _check_swappable(node, given.node)
                assert wanted.plan is not None  # what was wanted was checked alone  # noqa: S101
                beside = Beside(wanted.plan, node, new.side_packets, new.counters)
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
        runner: Any,
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

    def _stand_between(self, schedule: Schedule, runner: Any, node: Node, now: Wanted) -> SteeredNode:
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
        self, starter: Any, runner: Any, node: Node, now: Wanted, wanted: Wanted, at: int | None
    ) -> Timestamp:
        name = node.name
        runner.refuse_inside("swap()")
        _check_swappable(node, now.node)
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
        beside = Beside(wanted.plan, node, starter.side_packets, starter.counters)
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

    def keep_all(self, schedule: Schedule, runner: Any) -> None:
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
                if node.guard is not None or _runs_on(node, now.node) or _is_elsewhere(node, now.node):
                    continue
                steered = self._stand_between(schedule, runner, node, now)
            steered.kept = self.kept


def _call(kind: Kind) -> str:
    return "set_options" if kind is Kind.SET_OPTIONS else "swap"


def _as_change(kind: Kind, wanted: Wanted, stamp: int) -> Change:
    message = wanted.message
    return Change(wanted.node.name, kind, Timestamp.of(stamp), message.calculator, wanted.alone)


def _finish(runner: Any, outcome: Any) -> None:
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


def _find(schedule: Schedule, given: Wanted, what: str) -> Node:
    """Return a node of a run.

    Raises:
        FailedPreconditionError: it is a part of a region, and works in another process.
    """
    name = given.node.name
    node = next((one for one in schedule.nodes if one.name == name), None)
    if node is None:
        raise _elsewhere(given.node, what)
    return node


def _check_steerable(node: Node, now: NodePlan, plan: NodePlan, what: str) -> None:
    """Raise an error if a node cannot change while it works.

    Args:
        node: of the run.
        now: what its calculator was made from.
        plan: of the graph's own node.
        what: the call.

    Raises:
        FailedPreconditionError: it has a failure policy, or works in another process.
    """
    if node.guard is not None:
        raise FailedPreconditionError(
            f"{what}: node {node.name!r} has a failure policy, which calls and replaces its calculator "
            "itself; take `failure` off the node, or make the change between two runs",
            node=node.name,
        )
    if _is_elsewhere(node, now):
        raise _elsewhere(plan, what)


def _is_elsewhere(node: Node, now: NodePlan) -> bool:
    """Return whether the calculator of a node is a stand-in for one that an executor has placed."""
    return not isinstance(node.calculator, now.factory)


def _elsewhere(plan: NodePlan, what: str) -> FailedPreconditionError:
    return FailedPreconditionError(
        f"{what}: node {plan.name!r} works in another process (executor {plan.executor!r}); take it off that "
        "executor, or make the change between two runs",
        node=plan.name,
    )


def _check_swappable(node: Node, plan: NodePlan) -> None:
    """Raise an error if another calculator cannot be opened beside that of a node.

    Raises:
        FailedPreconditionError: it makes side packets, or runs on a thread of a service; or its calls
            overlap, and its timestamps may go back.
    """
    why = ""
    if plan.output_side_packets:
        why = "makes side packets, once in a run"
    elif _runs_on(node, plan):
        why = "runs on a thread of a service, where another one cannot be opened meanwhile"
    elif node.max_in_flight > 1 and node.policy.depends_on_arrival:
        why = (
            f"takes packets as they arrive and several at a time (max_in_flight {node.max_in_flight}), so "
            "its timestamps do not tell which call comes first"
        )
    if why:
        raise FailedPreconditionError(
            f"swap: node {node.name!r} {why}; make the change between two runs", node=node.name
        )


def _runs_on(node: Node, plan: NodePlan) -> bool:
    key = plan.contract.runs_on
    if key is None:
        return False
    try:
        node.services.service(node, key)
    except NotFoundError:
        return False
    return True
