"""`CalculatorGraph`: load a graph, feed it, watch it, run it again and again.

The names are those of the reference's Python interface. One application thread at a time should
drive a graph; adding packets, cancelling and reading counters may come from any thread.
"""

from __future__ import annotations

import time
import weakref
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Self, TypeVar

from penstock.collector import PAUSE
from penstock.engine.packet import Packet
from penstock.engine.schedule import NOT_STARTED, Schedule
from penstock.engine.stream import UNLIMITED, Observer
from penstock.errors import (
    FailedPreconditionError,
    GraphRunError,
    InvalidArgumentError,
    NotFoundError,
    PenstockError,
    UnavailableError,
)
from penstock.explain.graph_view import GRAPH
from penstock.late_log import LateLogger, place
from penstock.runtime.adding import Addition, add_if_room, checked
from penstock.runtime.build import RunBuilder
from penstock.runtime.counters import Counters
from penstock.runtime.executors.assignment import Executors
from penstock.runtime.forgotten import RUNNING, STOP_TIMEOUT_S, abandon, end_runs_before_pools
from penstock.runtime.made_services import MadeServices
from penstock.runtime.modes import GraphInputStreamAddMode, LatePacketMode, mode_of
from penstock.runtime.node_services import GraphNodeServices, find_services
from penstock.runtime.poller import OutputStreamPoller
from penstock.runtime.rows.rows import RowDesk, Rows, outputs_of
from penstock.runtime.runner.runner import Runner, check_started, throttled_error
from penstock.runtime.side_packets import ConstantOutputs, SidePackets, as_packets, check_given, merged
from penstock.runtime.view import RunView
from penstock.services import CLOCK
from penstock.timestamp import UNSET

if TYPE_CHECKING:
    import asyncio
    import os
    from collections.abc import Callable, Iterable, Mapping
    from pathlib import Path
    from types import TracebackType
    from typing import SupportsIndex

    from penstock.explain import Ledger, Snapshot, Why
    from penstock.plan import Plan
    from penstock.registry import Registry
    from penstock.runtime.event_loops.running import Running
    from penstock.runtime.tracing import TracedCallback, Tracing
    from penstock.services import ServiceKey
    from penstock.tracing.tracer import Tracer
    from penstock_views.traces.profiling import ConfiguredTrace

S = TypeVar("S")
_logger = LateLogger("runtime")


class _Callback:
    """An observer of the application, as the runner calls it."""

    def __init__(self, stream: str, call: Callable[[str, Packet], object]) -> None:
        #: Takes a packet. A partial is called without a frame of its own.
        self.call: Final = partial(call, stream)
        self.has_failed = False


class CalculatorGraph:
    """A graph of calculators that can be run.

    Args:
        graph_config: a `str` is graph text, a `pathlib.Path` a file (.pbtxt, .binarypb, .json); or a
            CalculatorGraphConfig message, an object with `to_config()`, or a `GraphTemplate`. Text with
            rules is a template too, and expanded with its defaults.
        side_packets: name → payload (or Packet), for all runs.
        registry: where names are looked up; None for what the installed plugins provide.
        binary_graph_path: a .binarypb file, instead of `graph_config`.
        subgraphs: name → graph, in any of these forms or a `Subgraph` class, for this graph alone; or
            graphs that have a `type`, which is the name. They win over registered names.

    Raises:
        GraphParseError: the graph is not one; names file, line and column. A ValueError.
        GraphConfigError: the graph cannot run; carries every fault.
        NotFoundError: the file does not exist.
    """

    def __init__(
        self,
        graph_config: str | Path | Any | None = None,
        side_packets: Mapping[str, Any] | None = None,
        registry: Registry | None = None,
        *,
        binary_graph_path: str | Path | None = None,
        subgraphs: Mapping[str, object] | Iterable[object] = (),
    ) -> None:
        self._tells_plugins = False
        from penstock.config import build_plan  # brings protobuf, which `import penstock` must not

        if registry is None:
            from penstock.runtime.default import default_registry  # loads the plugins

            registry = default_registry()
            self._tells_plugins = True
        self._plan: Final[Plan] = build_plan(
            graph_config, registry, binary_graph_path=binary_graph_path, subgraphs=subgraphs
        )
        self._base: Final = as_packets(side_packets)
        self._executors: Final = Executors(self._plan, registry)
        self._services: dict[ServiceKey[Any], object] = {}
        self._made: Final = MadeServices()
        self._counters: Final = Counters()
        self._constants: Final = ConstantOutputs()
        self._observers: list[tuple[int, str, Callable[[str, Packet], object], bool]] = []
        self._pollers: list[tuple[int, OutputStreamPoller]] = []
        self._desk: Final = RowDesk(self._plan)
        #: Graph input → number of its stream.
        self._inputs: Final = {one.name: one.id for one in self._plan.streams[: self._plan.graph_inputs]}
        self._limits: dict[int, int] = {}
        self._late: dict[int, LatePacketMode] = {}
        self._add_mode = GraphInputStreamAddMode.WAIT_TILL_NOT_FULL
        self._event_loop: asyncio.AbstractEventLoop | None = None
        self._is_timed = bool(self._plan.config.profiler_config.enable_profiler)
        self._configured_trace = _configured_trace(self._plan)
        self._tracer: Tracer | None = None
        if self._configured_trace is not None:
            self._tracer = self._configured_trace.tracer
        self._runner: Runner | None = None
        self._on_drop: weakref.finalize[..., CalculatorGraph] | None = None
        self._is_running = False
        self._side_packets = SidePackets(self._plan, self._base)

    # --- before a run -------------------------------------------------------------------------

    @property
    def text_config(self) -> str:
        """The checked config as graph text: nodes in the order in which they are numbered."""
        from penstock.config import to_text  # brings protobuf

        return to_text(self._plan.config, self._plan.option_types)

    @property
    def binary_config(self) -> bytes:
        """The checked config as serialized protobuf."""
        binary: bytes = self._plan.config.SerializeToString(deterministic=True)
        return binary

    @property
    def max_queue_size(self) -> int:
        """The limit of each input stream's queue, in packets; -1 for none."""
        return self._plan.max_queue_size

    @property
    def graph_input_stream_add_mode(self) -> GraphInputStreamAddMode:
        """What adding a packet does while full queues throttle the graph input.

        May be set to a member of `GraphInputStreamAddMode` or its name.
        """
        return self._add_mode

    @graph_input_stream_add_mode.setter
    def graph_input_stream_add_mode(self, mode: GraphInputStreamAddMode | str) -> None:
        self._add_mode = mode_of(GraphInputStreamAddMode, mode, "add mode")

    @property
    def input_streams(self) -> tuple[str, ...]:
        """The names of the graph inputs, in the order of the graph."""
        return tuple(stream.name for stream in self._plan.streams[: self._plan.graph_inputs])

    @property
    def output_streams(self) -> tuple[str, ...]:
        """The names of the graph outputs that something produces, in the order of the graph."""
        return tuple(outputs_of(self._plan))

    @property
    def has_sources(self) -> bool:
        """Whether nodes of the graph write packets without being given any."""
        return any(node.is_source for node in self._plan.nodes)

    def check_input_stream(self, name: str) -> None:
        """Raise where there is no such graph input.

        Raises:
            NotFoundError: names the near one.
        """
        self._input_id(name)

    @property
    def is_running(self) -> bool:
        """Whether a run is under way: it has begun, and nobody has waited for its end yet."""
        return self._is_running

    def has_input_stream(self, name: str) -> bool:
        """Return whether the graph has a graph input of this name."""
        return self._plan.stream_ids.get(name, self._plan.graph_inputs) < self._plan.graph_inputs

    def set_executor(self, name: str, executor: object) -> None:
        """Run the nodes of a named executor on one of the application's; "" for the default one.

        Args:
            name: as in the graph's `executor` list.
            executor: a `penstock.Executor`, or a `concurrent.futures.Executor` of threads, which is
                never shut down by the graph and may serve several.

        Raises:
            InvalidArgumentError: the name is reserved, or the executor runs its tasks elsewhere.
            AlreadyExistsError: another one was handed in under that name.
            FailedPreconditionError: the graph has run already.
        """
        self._executors.hand_in(name, executor)
        end_runs_before_pools()

    def set_service(self, key: ServiceKey[S], service: S) -> None:
        """Give the graph a service object, for this and all later runs.

        Raises:
            InvalidArgumentError: the object is None.
            FailedPreconditionError: a run is under way.
        """
        if service is None:
            raise InvalidArgumentError(f"service {key.name!r}: the object is None")
        self._refuse_while_running("set_service")
        self._services[key] = service

    def set_clock(self, clock: Callable[[], float]) -> None:
        """Let time-outs, and calculators that use the service `CLOCK`, read another clock.

        Args:
            clock: returns seconds that only grow, such as a `penstock_testing.ManualClock`.
        """
        self.set_service(CLOCK, clock)

    def get_service(self, key: ServiceKey[S]) -> S | None:
        """Return a service object, set by the application or made for a run; None if there is none."""
        found: Any = self._services.get(key)
        service: S | None = found
        return service

    def set_event_loop(self, loop: asyncio.AbstractEventLoop | None) -> None:
        """Run coroutines of calculators on the application's loop, which must run in another thread.

        None: on a thread of the graph's own, as by default.
        """
        self._refuse_while_running("set_event_loop")
        self._event_loop = loop

    def set_input_stream_max_queue_size(self, name: str, size: int) -> None:
        """Give the queues that a graph input feeds a limit of their own, from the next run on.

        Raises:
            InvalidArgumentError: `size` is below -1.
            NotFoundError: there is no such graph input.
        """
        if size < -1:
            raise InvalidArgumentError(
                f"max_queue_size {size} of {name!r}: must be at least 0, or -1 for no limit"
            )
        self._limits[self._input_id(name)] = size

    def set_late_packet_mode(self, name: str, mode: LatePacketMode | str) -> None:
        """Choose what happens to packets behind the bound of a graph input, from the next run on.

        For streams whose timestamps come from outside and cannot be trusted, such as a sensor's. What
        is dropped or moved is no error; the graph's ledger counts what was dropped, as "late".

        Args:
            name: of the graph input.
            mode: RAISE (the default), DROP or CLAMP; also by its name.

        Raises:
            InvalidArgumentError: there is no such mode.
            NotFoundError: there is no such graph input.
        """
        self._late[self._input_id(name)] = mode_of(LatePacketMode, mode, "late packet mode")

    def set_timing(self, enabled: bool = True) -> None:  # noqa: FBT001, FBT002
        """Add up the time that each node spends in `process`, from the next run on; see `snapshot`.

        Without this call the graph decides: `profiler_config { enable_profiler: true }` turns it on.
        """
        self._is_timed = enabled

    @property
    def tracer(self) -> Tracer | None:
        """Who is told what happens in the next runs, or the one under way; None for nobody."""
        return self._tracer

    def set_tracer(self, tracer: Tracer | None) -> None:
        """Let a tracer be told what happens, from the next run on; None: nobody.

        Without this call the graph decides: `profiler_config { trace_enabled: true }` gives it a
        `penstock.tracing.ChromeTracer`. A run without tracer costs what it would if there were none.

        Raises:
            InvalidArgumentError: the object is no `penstock.tracing.Tracer`.
            FailedPreconditionError: a run is under way.
        """
        from penstock.tracing.tracer import Tracer  # only runs that are traced need it

        self._refuse_while_running("set_tracer")
        if tracer is not None and not isinstance(tracer, Tracer):
            raise InvalidArgumentError(f"tracer {tracer!r} is no penstock.tracing.Tracer; make it a subclass")
        self._configured_trace = None
        self._tracer = tracer

    def set_trace_directory(self, directory: str | os.PathLike[str] | None) -> None:
        """Allow trace files that the graph's `profiler_config` asks for, below a directory; None: none.

        A graph file is data, and does not choose where files are written: `trace_log_path` is taken
        relative to this directory. A run writes `<trace_log_path><number>.json` when it ends, where
        the numbers go round below `trace_log_count`. Where the graph asks for no trace, or the
        application has set a tracer, nothing is written.

        Raises:
            InvalidArgumentError: it is no directory, or `trace_log_path` leads out of it.
            FailedPreconditionError: a run is under way.
        """
        self._refuse_while_running("set_trace_directory")
        if self._configured_trace is not None:
            self._configured_trace.allow(directory)

    def observe_output_stream(
        self,
        name: str,
        callback: Callable[[str, Packet], object],
        observe_timestamp_bounds: bool = False,  # noqa: FBT001, FBT002  # the reference's signature
    ) -> None:
        """Call `callback(name, packet)` for each packet of a stream, in order, one call at a time.

        Any stream may be observed, graph inputs too. The callback runs on a thread of the graph and
        should be short: the thread takes no further step meanwhile. An exception is an error of the
        run; the observer works again in the next one. Holds for all later runs.

        Args:
            name: of the stream.
            callback: gets the stream's name and the packet.
            observe_timestamp_bounds: also deliver newly settled timestamps, as empty packets.

        Raises:
            NotFoundError: there is no such stream.
            FailedPreconditionError: a run is under way.
        """
        self._refuse_while_running("observe_output_stream")
        if not callable(callback):
            raise InvalidArgumentError(f"observer of {name!r}: {callback!r} cannot be called")
        self._observers.append((self._stream_id(name), name, callback, observe_timestamp_bounds))

    def add_output_stream_poller(
        self,
        name: str,
        observe_timestamp_bounds: bool = False,  # noqa: FBT001, FBT002  # the reference's signature
    ) -> OutputStreamPoller:
        """Return a poller that takes the packets of a stream one by one, in this and all later runs.

        Raises:
            NotFoundError: there is no such stream.
            FailedPreconditionError: a run is under way.
        """
        self._refuse_while_running("add_output_stream_poller")
        poller = OutputStreamPoller(name, wants_bounds=observe_timestamp_bounds)
        self._pollers.append((self._stream_id(name), poller))
        return poller

    # --- a run --------------------------------------------------------------------------------

    def rows(
        self,
        *streams: str,
        timeout: float | None = None,
        max_queue_size: int | None = None,
        side_packets: Mapping[str, Any] | None = None,
    ) -> Rows:
        """Return what streams have at one time, row by row, for a `for` or `async for` loop in one run.

        A row comes for each timestamp at which at least one of the streams has a packet, when it is
        settled on all of them, in increasing time. A stream that has ended counts as settled, and
        packets at PRESTREAM and POSTSTREAM make rows too. `row["out"]` is the payload, or None.

        The rows are those of the next run, which the loop starts if nobody else does (a graph without
        graph inputs), and whose end it then waits for. Or of the run under way, so long as nothing of
        it can have been missed. Leaving the loop (break, an exception, the end of a `with` block)
        lets the run go on without them; what comes then is counted as dropped in the ledger. Not where
        the wait for a row was broken off (a time-out, Ctrl-C, a cancelled task): another loop goes on
        there, and until then the rows keep throttling; `close` them where nobody will.

        While `max_queue_size` packets of a stream wait for their rows, the sources above it wait, and
        adding to graph inputs above it; but not in the thread or task that reads the rows, which
        would wait for itself. Where a row needs more of one stream before it is settled on another, as
        much is let through.

        Args:
            streams: names; all graph outputs where none is given.
            timeout: how long to wait for each row, in seconds; None for ever.
            max_queue_size: packets that may wait for their rows, of each stream; at least 1, or -1 for
                no limit. None: as many as in the queues of the graph.
            side_packets: name → payload (or Packet), for a run that the rows start.

        Raises:
            NotFoundError: there is no such stream.
            InvalidArgumentError: no stream at all, one twice, or no such size.
            FailedPreconditionError: packets of the run under way have gone by, or may have.
        """
        if max_queue_size is None:
            max_queue_size = self._plan.max_queue_size or 1
        if max_queue_size != -1 and max_queue_size < 1:
            raise InvalidArgumentError(
                f"max_queue_size {max_queue_size} of rows: must be at least 1, or -1 for no limit"
            )
        for name in streams:
            self._stream_id(name)
        numbers = self._desk.numbers(streams)
        limit = UNLIMITED if max_queue_size < 0 else max_queue_size
        rows = Rows(self, self._desk, numbers, limit, timeout, side_packets)
        if self._is_running and self._runner is not None:
            rows.attach_late(self._runner)
        else:
            self._desk.keep(rows)
        return rows

    def running(
        self,
        side_packets: Mapping[str, Any] | None = None,
        stream_headers: Mapping[str, Any] | None = None,
        *,
        timeout: float | None = None,
    ) -> Running:
        """Return a run for an event loop: `async with graph.running() as run`.

        Entering starts it; nodes begin to work when the block first awaits something, so that rows
        asked for before that miss nothing. `await run.add(stream, payload, timestamp)` awaits room.
        Leaving the block ends the graph inputs and awaits the end of the run, which raises what went
        wrong; sources go on to their own end (`close_all_packet_sources` ends those that have none).
        Where the block raises, or its task is cancelled, the run is cancelled and its end awaited.

        Args:
            side_packets: as for `start_run`.
            stream_headers: as for `start_run`.
            timeout: how long leaving the block may await the end of the run, in seconds.

        Raises:
            FailedPreconditionError: when it is entered: a run is under way, or nodes run inside the
                application's waits (an application thread executor), which nobody can await.
            As `start_run`, when it is entered.
        """
        from penstock.runtime.event_loops.running import Running  # brings asyncio

        return Running(self, self._desk, side_packets, stream_headers, timeout)

    def start_run(
        self, side_packets: Mapping[str, Any] | None = None, stream_headers: Mapping[str, Any] | None = None
    ) -> None:
        """Begin a run; returns at once.

        Args:
            side_packets: name → payload (or Packet), for this run.
            stream_headers: name of a graph input → header payload.

        Raises:
            GraphConfigError: side packets are missing or wrong; nothing has started.
            AlreadyExistsError: a side packet was given to the graph too.
            UnavailableError: a service is missing.
            FailedPreconditionError: a run is under way.
        """
        self._start_run(side_packets, stream_headers, held=False)

    def start_run_held(
        self, side_packets: Mapping[str, Any] | None = None, stream_headers: Mapping[str, Any] | None = None
    ) -> None:
        """Begin a run that an event loop awaits: no node works before `resume`. Else as `start_run`.

        Raises:
            FailedPreconditionError: nodes run inside the application's waits; nothing has started.
            As `start_run`.
        """
        self._start_run(side_packets, stream_headers, held=True)

    def _start_run(
        self, side_packets: Mapping[str, Any] | None, stream_headers: Mapping[str, Any] | None, *, held: bool
    ) -> None:
        self._refuse_while_running("start_run")
        given = merged(self._base, as_packets(side_packets))
        check_given(self._plan, given)
        headers = {self._input_id(name): p for name, p in as_packets(stream_headers).items()}
        view = RunView(self._plan, is_timed=self._is_timed)
        services = self._find_services(view)
        queue_of, queue_names, executors = self._executors.assign(services)
        self._side_packets = SidePackets(self._plan, given)
        node_services = GraphNodeServices(self._plan, self._counters, services, self._side_packets)
        if self._configured_trace is not None:
            self._configured_trace.prepare_run()
        tracing = None if self._tracer is None else _tracing(self._tracer, self._plan)
        builder = RunBuilder(
            self._plan,
            node_services,
            self._side_packets,
            self._constants,
            queue_of,
            queue_names,
            is_timed=self._is_timed,
            tracing=tracing,
        )
        with PAUSE:
            schedule = builder.build(self._make_observers(tracing), self._limits)
        schedule.late.update({number: mode.value for number, mode in self._late.items() if mode.value})
        clock: Any = self._services.get(CLOCK, time.monotonic)
        parts = (schedule, executors, self._make_loop(), _story, clock)
        runner = Runner(*parts) if tracing is None else tracing.runner(*parts)
        node_services.runner = runner
        view.take_snapshot = partial(_take_snapshot, runner)
        try:
            self._runner = runner
            self._is_running = True
            for _, poller in self._pollers:
                poller.follow(runner)
            self._desk.attach(runner, held=held)
            RUNNING.add(runner)
            self._abandon_when_dropped(runner)
            _logger.info("the run starts; number of nodes: %d", len(self._plan.nodes))
            if self._tells_plugins:
                _call_hooks("run_started", self)
            runner.start(headers, held=held)
        except BaseException as error:
            if isinstance(error, Exception) or runner.schedule.state == NOT_STARTED:
                runner.stop(STOP_TIMEOUT_S)
                self._desk.detach()
                for _, poller in self._pollers:
                    poller.follow(None)
                self._abandon_when_dropped(None)
                self._is_running = False
                self._runner = None
                RUNNING.discard(runner)
            raise  # after an interrupt: a run that has begun is there to be cancelled and waited for

    def _find_services(self, view: RunView) -> dict[ServiceKey[Any], object]:
        """Return the services of a run. Those made for it are kept, also where another cannot be made."""
        made: dict[ServiceKey[Any], object] = {}
        try:
            services, _ = find_services(self._plan, {GRAPH: view, **self._services}, made)
        finally:
            self._services.update(made)
            self._made.keep(made)
            self._abandon_when_dropped(None)
        return services

    def _close_services(self) -> None:
        """Close the services that the graph has made; those that a later run needs it makes anew."""
        for key, service in self._made.items():
            if self._services.get(key) is service:
                del self._services[key]
        try:
            self._made.close()
        finally:
            self._abandon_when_dropped(None)

    def _abandon_when_dropped(self, runner: Runner | None) -> None:
        """See to it that a run, and services that the graph has made, end with the graph at the latest."""
        if self._on_drop is not None:
            self._on_drop.detach()
            self._on_drop = None
        if runner is not None or self._made:
            self._on_drop = weakref.finalize(self, abandon, runner, self._made)
            self._on_drop.atexit = False

    def _make_loop(self) -> Any:
        from penstock.runtime.event_loops.lazy_loop import LazyLoop

        return LazyLoop("penstock-loop", self._event_loop)

    def _make_observers(self, tracing: Tracing | None) -> dict[int, list[Observer]]:
        observers: dict[int, list[Observer]] = {}
        for stream, name, callback, bounds in self._observers:
            target: _Callback | TracedCallback = _Callback(name, callback)
            if tracing is not None:
                target = tracing.callback(name, target.call)
            observers.setdefault(stream, []).append(Observer(name, target, wants_bounds=bounds))
        for stream, poller in self._pollers:
            observers.setdefault(stream, []).append(poller.attach())
        return observers

    def run(self, side_packets: Mapping[str, Any] | None = None, timeout: float | None = None) -> None:
        """Start a run of a graph without graph inputs, and wait for its end.

        Raises:
            FailedPreconditionError: the graph has graph inputs.
            As `start_run` and `wait_until_done`.
        """
        if self._plan.graph_inputs:
            names = ", ".join(repr(s.name) for s in self._plan.streams[: self._plan.graph_inputs])
            raise FailedPreconditionError(
                f"the graph has inputs ({names}), which run() cannot feed; use start_run(), "
                "add_packet_to_input_stream() and close()"
            )
        self.start_run(side_packets)
        self.wait_until_done(timeout)

    def add_packet_to_input_stream(
        self,
        stream: str,
        packet: Packet,
        timestamp: SupportsIndex | None = None,
        *,
        timeout: float | None = None,
    ) -> None:
        """Add a packet to a graph input.

        While full queues throttle the input this waits or raises, as `graph_input_stream_add_mode`
        says.

        Args:
            stream: name of the graph input.
            packet: a Packet with a timestamp allowed in a stream. An empty one raises the bound.
            timestamp: gives the packet this timestamp instead.
            timeout: how long to wait for room, in seconds; None for ever.

        Raises:
            TimestampError, TimestampOrderError, PacketTypeError: the packet cannot stand there; the
                graph is unchanged and healthy.
            StreamClosedError: the input is closed.
            UnavailableError: the graph is throttled (with ADD_IF_NOT_FULL).
            WaitTimeoutError: no room in time; says what the run waits for. Nothing was added.
            GraphRunError: the run has failed.
            FailedPreconditionError: no run is under way; or the call would wait inside the run.
            NotFoundError: there is no such graph input.
        """
        runner = self._runner
        if runner is None or not self._is_running:
            runner = self._live(f"adding to {stream!r}")
        number = self._inputs.get(stream)
        if number is None:
            number = self._input_id(stream)
        if timestamp is not None or packet.__class__ is not Packet or packet.stamp == UNSET:
            packet = checked(stream, packet, timestamp)
        if runner.change(add_if_room, number, packet):
            return
        if self._add_mode is GraphInputStreamAddMode.ADD_IF_NOT_FULL:
            raise throttled_error(stream)
        addition = Addition(runner, number, packet)
        while not runner.change(addition.try_patiently):
            runner.wait_for_room(addition.has_room, addition.what, timeout)

    def addition(
        self, stream: str, packet: Packet, timestamp: SupportsIndex | None = None
    ) -> tuple[Runner, Addition]:
        """Return the run under way, and an add to it that is still to be done. For `running` and `run`.

        Raises:
            FailedPreconditionError, NotFoundError, InvalidArgumentError: as for adding.
        """
        runner = self._live(f"adding to {stream!r}")
        number = self._input_id(stream)
        return runner, Addition(runner, number, checked(stream, packet, timestamp))

    def set_input_stream_timestamp_bound(self, stream: str, bound: SupportsIndex) -> None:
        """Promise that nothing below `bound` will be added to a graph input.

        Raises:
            TimestampError, TimestampOrderError: no bound, or below the present one; nothing changes.
            StreamClosedError, FailedPreconditionError, NotFoundError: as for adding.
        """
        runner = self._live(f"setting the bound of {stream!r}")
        number = self._input_id(stream)
        limit = Packet(timestamp=bound).stamp
        runner.change(lambda schedule: schedule.set_bound(number, limit))

    def close_input_stream(self, stream: str) -> None:
        """End a graph input. Closing it again does nothing.

        Raises:
            NotFoundError: there is no such graph input.
            FailedPreconditionError: there was no run.
        """
        number = self._input_id(stream)
        runner = check_started(self._runner, f"closing {stream!r}")
        runner.change(lambda schedule: schedule.close_input(number))

    def close_all_input_streams(self) -> None:
        """End all graph inputs."""
        runner = check_started(self._runner, "closing the inputs")
        for number in range(self._plan.graph_inputs):
            runner.change(partial(Schedule.close_input, stream_id=number))

    def close_all_packet_sources(self) -> None:
        """End all graph inputs, and close every source instead of calling it again."""
        runner = check_started(self._runner, "closing the sources")
        runner.change(lambda schedule: schedule.close_sources())

    def wait_until_idle(self, timeout: float | None = None) -> None:
        """Wait until nothing runs or can run, and observers have seen everything.

        Sources that wait for room count as idle. Errors are raised but kept: the run goes on to its end.

        Raises:
            GraphRunError: something went wrong.
            WaitTimeoutError: not idle within `timeout` seconds; says what runs.
            FailedPreconditionError: there was no run; or called from inside the run.
        """
        runner = check_started(self._runner, "wait_until_idle()")
        schedule = runner.schedule
        runner.wait(
            lambda: schedule.busy == 0 or runner.is_over, timeout, "wait_until_idle()", is_for_idle=True
        )
        error = runner.error() if self._is_running else None
        if error is not None:
            raise error

    def wait_until_done(self, timeout: float | None = None) -> None:
        """Wait for the end of the run, join its threads, and raise what went wrong.

        A second call returns at once.

        Raises:
            GraphRunError: with every error of the run; CANCELLED where it was cancelled.
            WaitTimeoutError: not done within `timeout` seconds; says what it waits for. The run goes on.
            FailedPreconditionError: there was no run; or called from inside the run.
        """
        runner = check_started(self._runner, "wait_until_done()")
        if not self._is_running:
            return
        runner.wait(lambda: runner.is_over, timeout, "wait_until_done()")
        self._finish(runner)

    def _finish(self, runner: Runner) -> None:
        self._desk.settle()
        runner.stop(STOP_TIMEOUT_S)
        self._abandon_when_dropped(None)
        self._is_running = False
        RUNNING.discard(runner)
        error = runner.error()
        _log_end(error)
        if error is None:
            self._constants.remember(self._plan, self._side_packets)
        if self._tells_plugins:
            _call_hooks("run_ended", self, error)
        if error is not None:
            for one in error.errors:
                if isinstance(one.__cause__, KeyboardInterrupt):
                    raise KeyboardInterrupt from error
            raise error

    def wait_for_observed_output(self, timeout: float | None = None) -> None:
        """Wait until something has come on an observed or polled stream since the last call.

        Raises:
            PenstockError: the run ended without; its code is OUT_OF_RANGE.
            WaitTimeoutError, GraphRunError, FailedPreconditionError: as `wait_until_idle`.
        """
        runner = check_started(self._runner, "wait_for_observed_output()")
        schedule = runner.schedule
        runner.wait(
            lambda: schedule.was_observed or runner.is_over,
            timeout,
            "observed output",
        )
        if schedule.was_observed:
            schedule.was_observed = False
            return
        from penstock.errors import StatusCode

        raise PenstockError("the graph is done, nothing more will be observed", code=StatusCode.OUT_OF_RANGE)

    def cancel(self) -> None:
        """End the run with a CANCELLED error; returns at once. Opened calculators are closed."""
        runner = check_started(self._runner, "cancel()")
        runner.change(lambda schedule: schedule.cancel())

    def pause(self) -> None:
        """Give out no more steps; those that run come to their end."""
        self._desk.is_held = False
        check_started(self._runner, "pause()").change(lambda schedule: schedule.pause())

    def resume(self) -> None:
        """Go on after `pause`."""
        self._desk.is_held = False
        check_started(self._runner, "resume()").change(lambda schedule: schedule.resume())

    def close(self, timeout: float | None = None) -> None:
        """End all sources and graph inputs, wait until the run is done, and close what the graph has made.

        That is the services that it has made itself; a later run makes others. Without a run under way
        only they are closed. To keep them from run to run, end runs with `close_all_packet_sources` and
        `wait_until_done` instead.

        Raises:
            WaitTimeoutError: as `wait_until_done`; services are left as they are.
            PenstockError: a service failed to close; the others have been closed.
            Otherwise as `wait_until_done`; services have been closed.
        """
        try:
            if self._is_running:
                self.close_all_packet_sources()
                self.wait_until_done(timeout)
        except BaseException as error:
            self._close_services_after(error)
            raise
        self._close_services()

    def _close_services_after(self, error: BaseException) -> None:
        """Close the services, unless a run still uses them, while `error` is on its way out."""
        if self._is_running:
            return
        try:
            self._close_services()
        except PenstockError as failure:
            error.add_note(str(failure))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if error is None:
            self.close()
            return
        if self._is_running:
            self.cancel()
            try:
                self.wait_until_done(STOP_TIMEOUT_S)
            except GraphRunError as failure:
                error.add_note(f"while the graph was cancelled: {failure}")
        self._close_services_after(error)

    # --- what came of it ----------------------------------------------------------------------

    def has_error(self) -> bool:
        """Return whether the run under way has failed; False again once it is done."""
        return self._is_running and self._runner is not None and bool(self._runner.schedule.errors)

    def get_combined_error_message(self) -> str:
        """Return the errors of the run under way in words; "" where there are none."""
        error = self._runner.error() if self._runner is not None and self._is_running else None
        return "" if error is None else str(error)

    def get_output_side_packet(self, name: str) -> Packet:
        """Return a side packet: one that a node has made, in this run or the last, or a given one.

        Raises:
            NotFoundError: no node makes it and nobody gave it.
            UnavailableError: it has not been made yet.
        """
        packet = self._side_packets.value(name)
        if packet is not None:
            return packet
        if any(port.name == name for node in self._plan.nodes for port in node.output_side_packets):
            raise UnavailableError(f"side packet {name!r} has not been made yet", stream=name)
        raise NotFoundError(f"there is no side packet {name!r}", stream=name)

    @property
    def counters(self) -> dict[str, int]:
        """The counters of the graph: `<node>-<counter>` → value, over all runs."""
        return self._counters.values()

    def snapshot(self) -> Snapshot:
        """Return where the run under way, or the last one, stands, as data.

        Raises:
            FailedPreconditionError: there was no run.
        """
        return _take_snapshot(check_started(self._runner, "snapshot()"))

    def __repr__(self) -> str:
        return f"<CalculatorGraph of {len(self._plan.nodes)} nodes>"

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:  # noqa: ARG002
        """Return what a notebook shows: the picture of the graph; see `penstock_views.draw`. Never raises."""
        from penstock_views.draw.notebook import mimebundle  # for notebooks only
        from penstock_views.draw.reading import drawing_of

        return mimebundle(lambda: drawing_of(self._plan.config), repr(self))

    def why(self) -> Why:
        """Return why the run under way does not go on, as data; `str()` of it is the story in words.

        For each node that waits, the chain of what it waits for, to the culprit: a graph input that
        nobody feeds, a calculator that forgot its bound or has not come back, a poller that nobody
        reads. May be called at any time: before a run it says so, and after one why it ended.
        """
        if self._runner is None:
            from penstock.explain import Why  # as below

            return Why("not started")
        from penstock.runtime.report import take_why  # brings `explain`

        return take_why(self._runner)

    def ledger(self) -> Ledger:
        """Return where every packet of the run under way, or the last one, went: it adds up.

        Raises:
            FailedPreconditionError: there was no run.
        """
        from penstock.explain import ledger  # only who asks needs it

        runner = check_started(self._runner, "ledger()")
        self._desk.settle()
        answer: Ledger = runner.ask(ledger)
        return answer

    # --- shared -------------------------------------------------------------------------------

    def _live(self, what: str) -> Runner:
        runner = self._runner
        if runner is None or not self._is_running:
            raise FailedPreconditionError(f"{what} needs a run under way; call start_run() first")
        return runner

    def _refuse_while_running(self, what: str) -> None:
        if self._is_running:
            raise FailedPreconditionError(
                f"{what} is not possible while the graph runs; wait_until_done() first"
            )

    def _stream_id(self, name: str) -> int:
        number = self._plan.stream_ids.get(name)
        if number is None:
            raise _unknown_stream("stream", name, list(self._plan.stream_ids))
        return number

    def _input_id(self, name: str) -> int:
        number = self._plan.stream_ids.get(name)
        if number is None or number >= self._plan.graph_inputs:
            inputs = [stream.name for stream in self._plan.streams[: self._plan.graph_inputs]]
            raise _unknown_stream("graph input", name, inputs)
        return number


# What most runs never need is imported here when it is asked for: it costs as much as the run's own modules.


def _tracing(tracer: Tracer, plan: Plan) -> Tracing:
    from penstock.runtime.tracing import Tracing  # see above

    return Tracing(tracer, plan)


def _story(runner: Runner) -> str:
    from penstock.runtime.report import story  # see above

    return story(runner)


def _take_snapshot(runner: Runner) -> Snapshot:
    from penstock.runtime.report import take_snapshot  # see above

    return take_snapshot(runner)


def _log_end(error: GraphRunError | None) -> None:
    if error is None:
        _logger.info("the run has ended")
    else:
        at = place(error.node, error.stream, error.timestamp)
        _logger.info("the run has ended with %s: %s", error.code.name, error, extra=at)


def _configured_trace(plan: Plan) -> ConfiguredTrace | None:
    """Return the trace that the graph itself asks for, or None."""
    wanted = plan.config.profiler_config
    if not wanted.trace_enabled:
        return None
    from penstock_views.traces.profiling import ConfiguredTrace  # few graphs ask for one

    return ConfiguredTrace(wanted)


def _unknown_stream(what: str, name: str, known: list[str]) -> NotFoundError:
    from difflib import get_close_matches  # only when something is wrong

    near = get_close_matches(name, known, n=1)
    hint = (
        f" (did you mean {near[0]!r}?)" if near else f"; there are: {', '.join(map(repr, known)) or 'none'}"
    )
    return NotFoundError(f"there is no {what} {name!r}{hint}", stream=name)


def _call_hooks(hook: str, graph: CalculatorGraph, *arguments: object) -> None:
    """Tell plugins that a run starts or has ended; one that raises is logged and hurts nobody."""
    from penstock.runtime.default import plugin_host  # loads the plugins

    for implementation in getattr(plugin_host(), hook):
        try:
            implementation.call(graph, *arguments)
        except Exception:
            _logger.exception("plugin %r: its hook penstock_%s failed", implementation.plugin, hook)
