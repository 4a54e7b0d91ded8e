"""`GraphRuns`: starts and ends the runs of one graph, and holds what the runs share.

`CalculatorGraph` calls it, and so do rows and `Running`, which start, feed and end runs too.
"""

from __future__ import annotations

import threading
import time
import weakref
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from penstock.engine.run_state import NOT_STARTED
from penstock.engine.stream import StreamObserver
from penstock.errors import (
    CancelledError,
    FailedPreconditionError,
    GraphRunError,
    NotFoundError,
    PenstockError,
    StatusCode,
    WaitTimeoutError,
)
from penstock.late_log import LateLogger, place
from penstock.near_names import did_you_mean
from penstock.payload_types import fits
from penstock.runtime.adding_packets import Addition, InputAdapters, checked
from penstock.runtime.claims import Claim
from penstock.runtime.counters import Counters
from penstock.runtime.executors.graph_executors import GraphExecutors
from penstock.runtime.forgotten import RUNNING, STOP_TIMEOUT_S, abandon, end_runs_before_pools
from penstock.runtime.made_services import MadeServices
from penstock.runtime.new_run import new_run
from penstock.runtime.node_services import find_services
from penstock.runtime.runner.runner import Runner
from penstock.runtime.side_packets import (
    ConstantOutputs,
    SidePackets,
    as_side_packets,
    checked_side_packets,
    merged,
)
from penstock.services import CLOCK

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable, Mapping
    from typing import SupportsIndex

    from penstock.engine.packet import Packet
    from penstock.engine.schedule import Schedule
    from penstock.plan import Plan
    from penstock.registry import Registry
    from penstock.runtime.executors.graph_executors import Placed
    from penstock.runtime.graph_input_modes import LatePacketMode
    from penstock.runtime.new_run import NewRun
    from penstock.runtime.poller import OutputStreamPoller
    from penstock.runtime.row_desk import RowDesk
    from penstock.runtime.steering import Steering
    from penstock.runtime.tracing import TracedCallback, Tracing
    from penstock.services import ServiceKey
    from penstock.tracing.tracer import Tracer

_logger = LateLogger("runtime")

#: How long a thread waits for another one that starts or ends a run: to end may take `STOP_TIMEOUT_S`, twice.
_TURN_S: Final = 2.5 * STOP_TIMEOUT_S


class _Callback:
    """The target of an application's observer: what the runner calls."""

    def __init__(self, stream: str, call: Callable[[str, Packet], object]) -> None:
        #: Takes a packet. A partial needs no Python frame of its own.
        self.call: Final = partial(call, stream)
        self.has_failed = False


class GraphRuns:
    """Starts and ends the runs of one graph; holds what they share and the run under way.

    It has no reference to the graph itself: a graph that the application drops must be freed, and its run
    must end. The run under way ends at the latest when this object is freed.

    Args:
        plan: the checked graph.
        registry: where executors, and calculators that are swapped in, are found by name.
        desk: of the graph's rows.
        base: side packets for all runs.
        run_hooks: called with the name of a hook and its arguments but the graph; None: no hooks.
    """

    def __init__(
        self,
        plan: Plan,
        registry: Registry,
        desk: RowDesk,
        base: Mapping[str, Packet],
        run_hooks: Callable[..., None] | None,
    ) -> None:
        self.plan: Final = plan
        self.registry: Final = registry
        self._input_adapters: Final = InputAdapters(registry)
        self._base: Final = base
        self._desk: Final = desk
        self._run_hooks: Final = run_hooks
        #: `executors`, `made`, `counters`: of the graph.
        self.executors: Final = GraphExecutors(plan, registry)
        #: Key → object, set by the application or made for a run.
        self.services: Final[dict[ServiceKey[Any], object]] = {}
        self.made: Final = MadeServices()
        self.counters: Final = Counters()
        self._constants: Final = ConstantOutputs()
        #: (stream id, stream, callback, whether bounds are wanted), in the order of attachment.
        self.observers: Final[list[tuple[int, str, Callable[[str, Packet], object], bool]]] = []
        #: (stream id, poller).
        self.pollers: Final[list[tuple[int, OutputStreamPoller]]] = []
        #: Graph input's stream id → its own max_queue_size.
        self.limits: Final[dict[int, int]] = {}
        #: Graph input's stream id → what happens to late packets.
        self.late: Final[dict[int, LatePacketMode]] = {}
        #: The application's, for coroutines of calculators; None: the graph's own thread.
        self.event_loop: asyncio.AbstractEventLoop | None = None
        #: Whether the next run adds up the time of `process`.
        self.is_timed = False
        #: How many bytes may be queued in each run; None for half of the memory where a queue has no limit.
        self.max_queued_bytes: float | None = None
        #: The tracers of the next runs, in the order in which they are called.
        self.tracers: tuple[Tracer, ...] = ()
        #: Called before each run of a graph that asks for a trace itself; else None.
        self.prepare_trace: Callable[[], None] | None = None
        #: Gets the errors of a run that fails; None: nobody asks.
        self.on_error: Callable[[GraphRunError], object] | None = None
        #: The run under way or the last one; None before the first.
        self.runner: Runner | None = None
        #: Whether a run has begun and its end has not been waited for yet.
        self.is_running = False
        self._run_count = 0
        #: Held for moments only, by threads that begin or end a run; no other code runs meanwhile. It is the
        #: lock of a condition: an interrupt may come inside of the condition's own `with`, and keep it.
        self._turn: Final = threading.RLock()
        changed = threading.Condition(self._turn)
        self._starting: Final = Claim(changed, "starts a run of this graph")
        self._ending: Final = Claim(changed, "ends the run of this graph")
        #: Whether a start has got so far that the graph cannot change, and whether plugins are being called.
        self._is_fixed = False
        self._is_announced = False
        #: The side packets of that run.
        self.side_packets = SidePackets(base)
        #: What changes nodes in the next runs; None: nothing ever was changed.
        self.steering: Steering | None = None
        self._on_drop: weakref.finalize[..., GraphRuns] | None = None

    def steer(self, steering: Steering) -> Steering:
        """Let the plans of the next runs be changed; return what does so: what came first."""
        with self._turn:
            if self.steering is None:
                self.steering = steering
            return self.steering

    def between_runs(self, act: Callable[[], bool]) -> bool:
        """Do something between two runs, as one moment: no run begins meanwhile. For layers.

        It waits until it is known whether a run could begin that another thread starts now.

        Args:
            act: short; no code of the application or of a calculator.

        Returns:
            What `act` returns; False, and nothing was done, where a run is under way.

        Raises:
            WaitTimeoutError: to start a run takes another thread too long.
        """
        with self._turn:
            self._starting.wait(_TURN_S)
            return not self.is_running and act()

    # --- start --------------------------------------------------------------------------------

    def start(
        self,
        side_packets: Mapping[str, Any] | None = None,
        stream_headers: Mapping[str, Any] | None = None,
        *,
        held: bool = False,
    ) -> Runner:
        """Begin a run, as `CalculatorGraph.start_run`; where it is `held`, no node works before `resume`.

        For other threads the run begins in one moment: before that they see none, or the last one. A thread
        that starts a run too waits until it is known whether this one could begin.

        Raises:
            FailedPreconditionError: a run is under way; or `held` is true, and nodes run inside the
                application's waits. Nothing has started.
            WaitTimeoutError: another thread has been starting one for too long.
            As `CalculatorGraph.start_run`.
        """
        with self._turn:
            self._starting.wait(_TURN_S)
            if self.is_running or self._starting.is_here():
                raise _refused("start_run")
            self._starting.take()
        try:
            return self._start(side_packets, stream_headers, held=held)
        finally:
            with self._turn:
                self._is_fixed = self._is_announced = False
                self._starting.give_back()

    def _start(
        self, side_packets: Mapping[str, Any] | None, stream_headers: Mapping[str, Any] | None, *, held: bool
    ) -> Runner:
        if self._run_hooks is not None:
            self._run_hooks("run_prepared")
        self._is_fixed = True
        given = merged(self._base, as_side_packets(side_packets))
        headers = {self.input_id(name): packet for name, packet in as_side_packets(stream_headers).items()}
        tracing = _tracing(self.tracers, self.plan) if self.tracers else None
        new, placed = self._assemble(given, tracing)
        if self.prepare_trace is not None:
            self.prepare_trace()
        new.schedule.late.update({number: mode.value for number, mode in self.late.items() if mode.value})
        clock: Any = self.services.get(CLOCK, time.monotonic)
        story = partial(_report, "story")
        loop = self._make_loop(new.schedule)
        parts = (new.schedule, placed.executors, loop, story, clock, self._most_bytes())
        runner = Runner(*parts) if tracing is None else tracing.runner(*parts)
        runner.on_error = self.on_error
        new.services.change = runner.change
        new.view.take = lambda what: _report(what, runner)
        if self.steering is not None:
            self.steering.prepare(new, runner)
        try:
            self._desk.attach(runner, held=held)
            RUNNING.add(runner)
            self._abandon_when_dropped(runner)
            _logger.info("the run starts; number of nodes: %d", len(self.plan.nodes))
            if self._run_hooks is not None:
                self._is_announced = True
                self._run_hooks("run_started")
                self._is_announced = False
            runner.start(headers, partial(self._begin, runner, new), held=held)
        except BaseException as error:
            if isinstance(error, Exception) or not self.is_running:
                self._undo_start(runner)
            raise  # after an interrupt, a run that has begun stays: it can be cancelled and waited for
        return runner

    def is_seen_here(self) -> bool:
        """Return whether this thread sees a run under way: plugins do from its announcement on."""
        return self.is_running or (self._is_announced and self._starting.is_here())

    def await_start(self) -> None:
        """Wait until it is known whether a run could begin that another thread starts now.

        Raises:
            WaitTimeoutError: that takes too long.
        """
        with self._turn:
            self._starting.wait(_TURN_S)

    def _begin(self, runner: Runner, new: NewRun) -> None:
        """Let all threads see a run that has just begun. Called with its lock held: nothing works yet.

        `is_running` comes before the count, which is read with `_turn` held: a thread that has seen the first
        sees the second too.
        """
        with self._turn:
            self.side_packets = new.side_packets
            self.runner = runner
            for _, poller in self.pollers:
                poller.follow(runner)
            self.is_running = True
            self._run_count += 1

    @property
    def run_count(self) -> int:
        """How many runs have begun."""
        with self._turn:
            return self._run_count

    def _assemble(self, given: Mapping[str, Packet], tracing: Tracing | None) -> tuple[NewRun, Placed]:
        """Return the parts of a run, and where its nodes work.

        The order matters: side packets are checked before services are made, which may take long; and what
        was made is kept before anything can refuse the run.
        """
        self._keep(self.executors.to_close())
        plan = self._desk.plan = self._arranged()
        side_packets = checked_side_packets(plan, given)
        services = find_services(plan, self.services, is_timed=self.is_timed)
        self.services.update(services.made)
        self._keep(services.made)
        services.check()
        placed = self.executors.place(plan, services.found)
        if len(placed.executors) > len(plan.executors):  # services lend the others
            end_runs_before_pools()  # the threads of a service may end with the interpreter too
        new = new_run(
            plan,
            side_packets,
            services,
            placed=placed,
            observers=self._make_observers(tracing),
            limits=self.limits,
            counters=self.counters,
            constants=self._constants,
            tracing=tracing,
        )
        return new, placed

    def _arranged(self) -> Plan:
        """Return the plan of the next run: with changed nodes, and those that executors have put together."""
        watched = {one[0] for one in self.observers} | {one[0] for one in self.pollers} | self._desk.named
        plan = self.plan if self.steering is None else self.steering.planned(self.plan, self.made.keep)
        for name, executor in self.executors.by_name().items():
            plan = executor.arrange(plan, name, watched)
        return plan

    def _keep(self, made: Mapping[ServiceKey[Any], object]) -> None:
        self.made.keep(made)
        self._abandon_when_dropped(None)

    def _undo_start(self, runner: Runner) -> None:
        runner.stop(STOP_TIMEOUT_S)
        if self.steering is not None:
            self.steering.take_back()
        self._desk.detach()
        self._abandon_when_dropped(None)
        with self._turn:
            if self.runner is runner:
                for _, poller in self.pollers:
                    poller.follow(None)
                self.is_running = False
                self.runner = None
        RUNNING.discard(runner)

    def _most_bytes(self) -> float | None:
        if self.max_queued_bytes is not None or self.plan.max_queue_size >= 0:
            return self.max_queued_bytes
        from penstock.runtime.runner.byte_limit import half_of_memory  # few graphs have no limit

        return half_of_memory()

    def _make_loop(self, schedule: Schedule) -> Any:
        from penstock.runtime.event_loops.lazy_loop import LazyLoop, import_for

        import_for(schedule)
        return LazyLoop("penstock-loop", self.event_loop)

    def _make_observers(self, tracing: Tracing | None) -> dict[int, list[StreamObserver]]:
        observers: dict[int, list[StreamObserver]] = {}
        for stream, name, callback, bounds in self.observers:
            target: _Callback | TracedCallback = _Callback(name, callback)
            if tracing is not None:
                target = tracing.callback(name, target.call)
            observers.setdefault(stream, []).append(StreamObserver(name, target, wants_bounds=bounds))
        for stream, poller in self.pollers:
            observers.setdefault(stream, []).append(poller.attach())
        return observers

    def _abandon_when_dropped(self, runner: Runner | None) -> None:
        """Arrange that a run, and services that the graph has made, end with this object at the latest."""
        if self._on_drop is not None:
            self._on_drop.detach()
            self._on_drop = None
        if runner is not None or self.made:
            self._on_drop = weakref.finalize(self, abandon, runner, self.made)
            self._on_drop.atexit = False

    # --- the run under way --------------------------------------------------------------------

    def live(self, what: str) -> Runner:
        """Return the run under way.

        Raises:
            FailedPreconditionError: there is no run under way; names `what`.
        """
        runner = self.runner
        if runner is None or not self.is_running:
            raise FailedPreconditionError(f"{what} needs a run under way; call start_run() first")
        return runner

    def started(self, what: str) -> Runner:
        """Return the run under way or the last one.

        Raises:
            FailedPreconditionError: no run has begun; names `what`.
        """
        runner = self.runner
        if runner is None or runner.schedule.state == NOT_STARTED:
            raise FailedPreconditionError(f"{what} needs a run; call start_run() first")
        return runner

    def refuse_while_running(self, what: str) -> None:
        """Raise an error if a run is under way.

        Raises:
            FailedPreconditionError: a run is under way; names `what`.
        """
        if self.is_running or self._is_fixed:
            raise _refused(what)

    def watch(
        self, name: str, callback: Callable[[str, Packet], object], *, bounds: bool
    ) -> Callable[[], None]:
        """As `CalculatorGraph.watch_stream`."""
        runner = self.live("watch_stream()")
        number = self.stream_id(name)
        if number >= self.plan.graph_inputs and self._desk.plan.streams[number].producer is None:
            said = f"stream {name!r} stays inside another process in this run; observe it from the start"
            raise FailedPreconditionError(said, stream=name)
        observer = StreamObserver(name, _Callback(name, callback), wants_bounds=bounds)
        runner.change(lambda schedule: schedule.watch(schedule.streams[number], observer))
        return lambda: runner.change(lambda schedule: schedule.unwatch(observer))

    def addition(
        self, stream: str, packet: Packet, timestamp: SupportsIndex | None = None
    ) -> tuple[Runner, Addition]:
        """Return the run under way, and an `Addition` of a packet to it, which is still to be done.

        Raises:
            FailedPreconditionError, NotFoundError, InvalidArgumentError: as for adding.
        """
        runner = self.live(f"adding to {stream!r}")
        number = self.input_id(stream)
        packet = checked(stream, packet, timestamp)
        return runner, Addition(runner, number, self.adapted(number, packet))

    def adapted(self, number: int, packet: Packet) -> Packet:
        """Return a packet as a graph input takes it.

        Raises:
            PacketTypeError: the input does not take it, and no adapter serves; says what they take.
        """
        stream = self.plan.streams[number]
        if packet.is_empty() or stream.classes is None or fits(packet.value, stream.classes):
            return packet
        return self._input_adapters.adapted(stream, packet)

    def close_input_streams(self) -> None:
        """End all graph inputs."""
        runner = self.started("closing the inputs")
        for number in range(self.plan.graph_inputs):
            runner.change(lambda schedule, number=number: schedule.close_input(number))

    def cancel(self) -> None:
        """End the run with a CANCELLED error; returns at once."""
        self.started("cancel()").change(lambda schedule: schedule.cancel())

    def pause(self) -> None:
        """Begin no more steps until `resume`; steps that already run are completed."""
        self.started("pause()").change(self._pause)

    def resume(self) -> None:
        """Go on after `pause`, or begin to work in a run that is held."""
        self.started("resume()").change(self._resume)

    def let_go(self, runner: Runner) -> None:
        """Let the nodes of a run that is held work; a run that another thread has paused stays as it is."""

        def resume(schedule: Schedule) -> None:
            if self._desk.is_held:
                self._resume(schedule)

        runner.change(resume)

    # Both with the lock of the run held: a run is held, or somebody else has decided.

    def _pause(self, schedule: Schedule) -> None:
        self._desk.is_held = False
        schedule.pause()

    def _resume(self, schedule: Schedule) -> None:
        self._desk.is_held = False
        schedule.resume()

    # --- end ----------------------------------------------------------------------------------

    def wait_until_idle(self, timeout: float | None = None) -> None:
        """As `CalculatorGraph.wait_until_idle`."""
        runner = self.started("wait_until_idle()")
        schedule = runner.schedule
        runner.wait(
            lambda: schedule.busy == 0 or runner.is_over, timeout, "wait_until_idle()", is_for_idle=True
        )
        error = runner.error() if self.is_running else None
        if error is not None:
            raise error

    def wait_for_observed_output(self, timeout: float | None = None) -> None:
        """As `CalculatorGraph.wait_for_observed_output`. Of several threads that wait one takes notice."""
        runner = self.started("wait_for_observed_output()")
        schedule = runner.schedule
        deadline = None if timeout is None else runner.now() + timeout
        while True:
            runner.wait(lambda: schedule.was_observed or runner.is_over, timeout, "observed output")
            if runner.change(_take_observed):
                return
            if runner.is_over:
                raise PenstockError(
                    "the graph's run is done, nothing more will be observed", code=StatusCode.OUT_OF_RANGE
                )
            timeout = None if deadline is None else max(0.0, deadline - runner.now())

    def wait_until_done(self, timeout: float | None = None, runner: Runner | None = None) -> None:
        """As `CalculatorGraph.wait_until_done`; for the end of a certain run, if one is given."""
        if runner is None:
            runner = self.started("wait_until_done()")
        if not self.is_running or self.runner is not runner:
            return
        runner.wait(lambda: runner.is_over, timeout, "wait_until_done()")
        self._finish(runner)

    def abandon(self, grace_s: float) -> None:
        """As `CalculatorGraph.abandon`."""
        runner = self.started("abandon()")
        if not self.is_running:
            return
        runner.change(lambda schedule: schedule.cancel())
        try:
            # not the application's clock, which may stand still or raise
            runner.wait(lambda: runner.is_over, grace_s, "abandon()", clock=time.monotonic)
        except WaitTimeoutError:
            runner.abandon(f"it did not end within {grace_s:g} s after it was cancelled")
        self._finish(runner)

    def _finish(self, runner: Runner) -> None:
        """End a run that is over, once, whichever threads have waited for that; raise its error in each.

        Raises:
            WaitTimeoutError: a thread of an executor does not end. A later call tries again.
            GraphRunError: of the run.
        """
        error = self._end(runner) if self._takes_end(runner) else runner.error()
        if error is not None:
            for one in error.errors:
                if isinstance(one.__cause__, KeyboardInterrupt):
                    raise KeyboardInterrupt from error
            raise error

    def _takes_end(self, runner: Runner) -> bool:
        """Return whether this thread is the one to end a run; wait for another thread that does.

        Raises:
            WaitTimeoutError: that thread takes too long.
        """
        with self._turn:
            self._ending.wait(_TURN_S)
            if self._ending.is_here() or self.runner is not runner or not self.is_running:
                return False
            self._ending.take()
            return True

    def _end(self, runner: Runner) -> GraphRunError | None:
        is_ended = False
        try:
            self._desk.settle()
            runner.stop(STOP_TIMEOUT_S)
            self._abandon_when_dropped(None)
            error = runner.error()  # to stop may fail too
            if error is None:
                self._constants.remember(self._desk.plan, self.side_packets)
            is_ended = True
        finally:
            with self._turn:
                self.is_running = not is_ended
                self._ending.give_back()
        RUNNING.discard(runner)
        _log_end(error)
        if self._run_hooks is not None:
            self._run_hooks("run_ended", error)
        return error

    def close_services(self) -> None:
        """Close the services that the graph has made; a later run that needs one makes a new one.

        Raises:
            PenstockError: a service failed to close; the others have been closed.
        """
        for key, service in self.made.items():
            if self.services.get(key) is service:
                del self.services[key]
        try:
            self.made.close()
        finally:
            self._abandon_when_dropped(None)

    def close_services_after(self, error: BaseException) -> None:
        """Close the services, unless a run still uses them; errors become notes of `error`."""
        if self.is_running:
            return
        try:
            self.close_services()
        except PenstockError as failure:
            error.add_note(str(failure))

    # --- names --------------------------------------------------------------------------------

    def stream_id(self, name: str) -> int:
        """Return the number of a stream.

        Raises:
            NotFoundError: there is no such stream; names the most similar one.
        """
        number = self.plan.stream_ids.get(name)
        if number is None:
            raise _unknown_stream("stream", name, list(self.plan.stream_ids))
        return number

    def input_id(self, name: str) -> int:
        """Return the number of a graph input.

        Raises:
            NotFoundError: there is no such graph input; names the most similar one.
        """
        number = self.plan.stream_ids.get(name)
        if number is None or number >= self.plan.graph_inputs:
            inputs = [stream.name for stream in self.plan.streams[: self.plan.graph_inputs]]
            raise _unknown_stream("graph input", name, inputs)
        return number


# Most runs need none of these imports, which cost as much as those of the run's own modules.


def _take_observed(schedule: Schedule) -> bool:
    was_observed, schedule.was_observed = schedule.was_observed, False
    return was_observed


def _refused(what: str) -> FailedPreconditionError:
    return FailedPreconditionError(f"{what} is not possible while the graph runs; wait_until_done() first")


def _tracing(tracers: tuple[Tracer, ...], plan: Plan) -> Tracing:
    from penstock.runtime.tracing import Tracing  # see above

    return Tracing(tracers, plan)


def _report(what: str, runner: Runner) -> Any:
    from penstock.runtime import report  # see above

    return getattr(report, what)(runner)


def note_other_errors(error: BaseException, failure: GraphRunError) -> None:
    """Add to an exception that has cancelled a run what else went wrong in it, if anything did."""
    known = error.errors if isinstance(error, GraphRunError) else ()
    if not all(one in known or isinstance(one, CancelledError) for one in failure.errors):
        error.add_note(f"while the graph was cancelled: {failure}")


def _log_end(error: GraphRunError | None) -> None:
    if error is None:
        _logger.info("the run has ended")
    else:
        at = place(error.node, error.stream, error.timestamp)
        _logger.info("the run has ended with %s: %s", error.code.name, error, extra=at)


def _unknown_stream(what: str, name: str, known: list[str]) -> NotFoundError:
    hint = did_you_mean(name, known, 1) or f"; there are: {', '.join(map(repr, known)) or 'none'}"
    return NotFoundError(f"there is no {what} {name!r}{hint}", stream=name)
