"""`CalculatorGraph`: load a graph, feed it, watch it, run it again and again.

The names are those of the reference's Python interface. Its methods may be called from any thread, also from
several at the same time: each call is as if it came before or after each other one.
"""

from __future__ import annotations

import weakref
from functools import partial
from types import CodeType
from typing import TYPE_CHECKING, Any, Final, Self, TypeVar

from penstock.engine.packet import Packet
from penstock.errors import (
    FailedPreconditionError,
    GraphRunError,
    InvalidArgumentError,
    PacketTypeError,
    TimestampOrderError,
)
from penstock.late_log import LateLogger
from penstock.runtime.adding_packets import Addition, add_if_room, checked, throttled_error
from penstock.runtime.forgotten import STOP_TIMEOUT_S, end_runs_before_pools
from penstock.runtime.graph_input_modes import GraphInputStreamAddMode, LatePacketMode, mode_of
from penstock.runtime.graph_runs import GraphRuns, note_other_errors
from penstock.runtime.row_desk import RowDesk, outputs_of
from penstock.runtime.side_packets import as_side_packets
from penstock.services import CLOCK
from penstock.timestamp import UNSET

if TYPE_CHECKING:
    import asyncio
    import os
    from collections.abc import Callable, Iterable, Mapping
    from pathlib import Path
    from types import TracebackType
    from typing import SupportsIndex

    from penstock.access import Access
    from penstock.explain import Ledger, Snapshot, Why
    from penstock.plan import Plan
    from penstock.registry import Registry
    from penstock.runtime.poller import OutputStreamPoller
    from penstock.runtime.rows.rows import Rows
    from penstock.runtime.running import Running
    from penstock.runtime.steering_layer import SteeringLayer
    from penstock.services import ServiceKey
    from penstock.timestamp import Timestamp
    from penstock.touches import Touch
    from penstock.tracing.tracer import OwnTrace, Tracer

S = TypeVar("S")
_logger = LateLogger("runtime")
#: Observers are called with so many arguments; the flag of code that takes any number.
_OBSERVED: Final = 2
_TAKES_ANY: Final = 0x04
#: A graph's `profiler_config` names no tracer; this one is meant.
_OWN_TRACER: Final = "ChromeTracer"


class CalculatorGraph:
    """A graph of calculators that can be run.

    Args:
        graph_config: a `str` is graph text, a `pathlib.Path` a file (.pbtxt, .binarypb, .json); or a
            CalculatorGraphConfig message, an object with `to_config()`, or a `GraphTemplate`. Text with
            rules is a template too, and is expanded with its defaults.
        side_packets: name → payload (or Packet), for all runs.
        registry: where names are looked up; None for what the installed plugins provide.
        binary_graph_path: a .binarypb file, instead of `graph_config`.
        subgraphs: name → graph, in any of these forms or a `Subgraph` class, for this graph alone; or
            graphs that have a `type`, which is the name. They win over registered names.
        max_queued_bytes: a run fails, with RESOURCE_EXHAUSTED, if packets of more bytes wait in its queues;
            infinity for no limit; None for half of the machine's memory if `max_queue_size` is -1, else no
            limit. It counts `nbytes` of payloads that have it, else `sys.getsizeof`. A thread
            looks at least 20 times a second: a run may exceed the limit by what it queues between two looks.
        access: what the graph may touch; None for that of `penstock.access.override`, else everything.
        services: key → object, as `set_service` sets them. `Subgraph` classes may ask for these alone, since
            they work while the graph is loaded.

    Raises:
        InvalidArgumentError: `max_queued_bytes` is below 1; or a service is None.
        GraphParseError: the text or file is not a graph; names file, line and column. A ValueError.
        GraphConfigError: the graph cannot run; the error carries every fault.
        NotFoundError: the file does not exist.
    """

    def __init__(  # noqa: PLR0913  # keywords, each with a default
        self,
        graph_config: str | Path | Any | None = None,
        side_packets: Mapping[str, Any] | None = None,
        registry: Registry | None = None,
        *,
        binary_graph_path: str | Path | None = None,
        subgraphs: Mapping[str, object] | Iterable[object] = (),
        max_queued_bytes: float | None = None,
        access: Access | None = None,
        services: Mapping[ServiceKey[Any], object] | None = None,
    ) -> None:
        # Here: `import penstock` does without protobuf and paths.
        from penstock.access import ACCESS, override
        from penstock.access import current as current_access
        from penstock.config import build_plan

        if max_queued_bytes is not None and max_queued_bytes < 1:
            raise InvalidArgumentError(
                f"CalculatorGraph(max_queued_bytes={max_queued_bytes}): must be at least 1, or infinity"
            )

        run_hooks = None
        if registry is None:
            from penstock.plugins.default_registry import default_registry  # loads the plugins

            registry = default_registry()
            run_hooks = partial(_call_hooks, weakref.ref(self))
        access = current_access() if access is None else access
        with override(access):
            self._plan: Final[Plan] = build_plan(
                graph_config,
                registry,
                binary_graph_path=binary_graph_path,
                subgraphs=subgraphs,
                services=services,
            )
            self._desk: Final = RowDesk(self._plan)
            # Its executors too ask what is allowed.
            self._runs: Final = GraphRuns(
                self._plan, registry, self._desk, as_side_packets(side_packets), run_hooks
            )
        #: Graph input → number of its stream.
        self._inputs: Final = {one.name: one.id for one in self._plan.streams[: self._plan.graph_inputs]}
        self._runs.services[ACCESS] = access
        for key, service in (services or {}).items():
            self.set_service(key, service)
        self._runs.max_queued_bytes = max_queued_bytes
        self._add_mode = GraphInputStreamAddMode.WAIT_TILL_NOT_FULL
        profiler = self._plan.fields.profiler_config
        self._runs.is_timed = bool(profiler.enable_profiler)
        self._own_trace: OwnTrace | None = None
        if profiler.trace_enabled:
            from penstock.plugins.default_registry import find_component  # few graphs ask for a trace

            before = "the graph's profiler_config has trace_enabled: "
            self._set_own_trace(find_component("tracer", _OWN_TRACER, registry, before)(profiler))

    # --- before a run -------------------------------------------------------------------------

    @property
    def text_config(self) -> str:
        """The checked config as graph text: nodes in the order in which they are numbered."""
        from penstock.config import to_text  # brings protobuf

        return to_text(self._plan.config, self._plan.option_types)

    @property
    def binary_config(self) -> bytes:
        """The checked config as serialized protobuf."""
        binary: bytes = self._plan.config.SerializePartialToString(deterministic=True)
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

    def access(self) -> dict[str, tuple[Touch, ...]]:
        """Return what each node touches outside of the graph: files, addresses, devices, programs.

        Name of the node → what its contract declares. Nodes that declare nothing are left out.
        """
        found = {node.name: node.contract.declared.touches or () for node in self._plan.nodes}
        return {name: touches for name, touches in found.items() if touches}

    @property
    def has_sources(self) -> bool:
        """Whether the graph has sources: nodes that write packets without receiving any."""
        return any(node.is_source for node in self._plan.nodes)

    def check_input_stream(self, name: str) -> None:
        """Raise an error if the graph has no graph input of this name.

        Raises:
            NotFoundError: there is no such graph input; names the most similar one.
        """
        self._runs.input_id(name)

    @property
    def is_running(self) -> bool:
        """Whether a run is under way: it has begun, and its end has not been waited for yet."""
        return self._runs.is_seen_here()

    @property
    def run_count(self) -> int:
        """How many runs have begun, the one under way included; changes when `snapshot` and `ledger` do.

        A program that looks at a graph from time to time learns from it that there is another run.
        """
        return self._runs.run_count

    def has_input_stream(self, name: str) -> bool:
        """Return whether the graph has a graph input of this name."""
        return self._plan.stream_ids.get(name, self._plan.graph_inputs) < self._plan.graph_inputs

    def set_executor(self, name: str, executor: object) -> None:
        """Run the nodes of a named executor on an executor of the application.

        Args:
            name: as in the graph's `executor` list; "" for the default executor.
            executor: a `penstock.Executor`, or a `concurrent.futures.Executor` of threads, which the
                graph never shuts down and which may serve several graphs.

        Raises:
            InvalidArgumentError: the name is reserved, or the executor runs its tasks elsewhere.
            AlreadyExistsError: another executor was handed in under that name.
            FailedPreconditionError: the graph has run already.
            ModuleNotFoundError: it is a pool, and penstock-executors, which runs nodes on it, is not
                installed.
        """
        self._runs.executors.hand_in(name, executor)
        end_runs_before_pools()

    def set_service(self, key: ServiceKey[S], service: S) -> None:
        """Give the graph a service object, for this and all later runs.

        Raises:
            InvalidArgumentError: the object is None.
            FailedPreconditionError: a run is under way.
        """
        if service is None:
            raise InvalidArgumentError(f"graph.set_service of {key.name!r}: the object is None")
        self._runs.refuse_while_running("set_service")
        self._runs.services[key] = service

    def set_clock(self, clock: Callable[[], float]) -> None:
        """Let time-outs, and calculators that use the service `CLOCK`, read another clock.

        Args:
            clock: returns seconds, which never decrease; for example a `penstock_testing.ManualClock`.
        """
        self.set_service(CLOCK, clock)

    def get_service(self, key: ServiceKey[S]) -> S | None:
        """Return a service object, set by the application or made for a run; None if there is no such one."""
        found: Any = self._runs.services.get(key)
        service: S | None = found
        return service

    def set_error_callback(self, callback: Callable[[GraphRunError], object] | None) -> None:
        """Call `callback(error)` when a run fails or is cancelled: once in a run, soon after its first error.

        It runs on a thread of its own, and the run ends meanwhile: later errors are not in `error`. It may
        call the graph. `wait_until_done` and `close` return when it has returned, or after their time-out.
        An exception in it is logged. With None nobody is called, as by default.

        Raises:
            FailedPreconditionError: a run is under way.
        """
        self._runs.refuse_while_running("set_error_callback")
        if callback is not None and not callable(callback):
            raise InvalidArgumentError(f"the graph's set_error_callback: {callback!r} cannot be called")
        self._runs.on_error = callback

    def set_event_loop(self, loop: asyncio.AbstractEventLoop | None) -> None:
        """Run coroutines of calculators on the application's loop, which must run in another thread.

        With None they run on a thread of the graph, as by default.
        """
        self._runs.refuse_while_running("set_event_loop")
        self._runs.event_loop = loop

    def set_input_stream_max_queue_size(self, name: str, size: int) -> None:
        """Give the queues that a graph input feeds a limit of their own, from the next run on.

        Raises:
            InvalidArgumentError: `size` is below -1.
            NotFoundError: there is no such graph input.
        """
        if size < -1:
            raise InvalidArgumentError(
                f"graph.set_input_stream_max_queue_size of {name!r} to {size}: must be at least 0, or -1 for "
                "no limit"
            )
        self._runs.limits[self._runs.input_id(name)] = size

    def set_late_packet_mode(self, name: str, mode: LatePacketMode | str) -> None:
        """Choose what happens to packets behind the bound of a graph input, from the next run on.

        This is for streams whose timestamps come from outside and cannot be trusted, such as a sensor's.
        To drop or move a packet is no error; the graph's ledger counts dropped packets as "late".

        Args:
            name: of the graph input.
            mode: RAISE (the default), DROP or CLAMP; also by its name.

        Raises:
            InvalidArgumentError: there is no such mode.
            NotFoundError: there is no such graph input.
        """
        self._runs.late[self._runs.input_id(name)] = mode_of(LatePacketMode, mode, "late packet mode")

    def set_timing(self, enabled: bool = True) -> None:  # noqa: FBT001, FBT002
        """Add up the time that each node spends in `process`, from the next run on; see `snapshot`.

        Without this call the graph decides: `profiler_config { enable_profiler: true }` turns it on.
        """
        self._runs.is_timed = enabled

    @property
    def tracer(self) -> Tracer | None:
        """The first tracer of the next runs, and of the run under way; None for no tracer."""
        return next(iter(self._runs.tracers), None)

    def set_tracer(self, tracer: Tracer | None) -> None:
        """Report what happens to this tracer alone, from the next run on; None for no tracer.

        Without this call the graph decides: `profiler_config { trace_enabled: true }` gives it a
        `penstock_views.traces.ChromeTracer`. A run without a tracer is as fast as if tracing did not exist.

        Raises:
            InvalidArgumentError: the object is no `penstock.tracing.Tracer`.
            FailedPreconditionError: a run is under way.
        """
        self._runs.refuse_while_running("set_tracer")
        from penstock.runtime.tracing import checked_tracer  # only runs that are traced need it

        tracers = () if tracer is None else (checked_tracer(tracer),)
        self._set_own_trace(None)
        self._runs.tracers = tracers

    def add_tracer(self, tracer: Tracer) -> None:
        """Report what happens to one more tracer, from the next run on, after those that the graph has.

        A tracer that the graph itself asks for stays. To add a tracer again does nothing.

        Raises:
            InvalidArgumentError, FailedPreconditionError: as `set_tracer`.
        """
        self._runs.refuse_while_running("add_tracer")
        from penstock.runtime.tracing import checked_tracer  # as above

        if checked_tracer(tracer) not in self._runs.tracers:
            self._runs.tracers += (tracer,)

    def set_trace_directory(self, directory: str | os.PathLike[str] | None) -> None:
        """Write the trace files that the graph's `profiler_config` asks for, below a directory; None: do not.

        A graph file is data, and does not choose where files are written: `trace_log_path` is taken
        relative to this directory. A run writes `<trace_log_path><number>.json` when it ends; after
        `trace_log_count` runs the numbers start again. If the graph asks for no trace, or the
        application has set a tracer, no file is written.

        Raises:
            InvalidArgumentError: it is not a directory, or `trace_log_path` leads out of it.
            FailedPreconditionError: a run is under way.
        """
        self._runs.refuse_while_running("set_trace_directory")
        if self._own_trace is not None:
            self._own_trace.allow(directory)

    def _set_own_trace(self, trace: OwnTrace | None) -> None:
        """Use the trace that the graph itself asks for; None stops using it."""
        self._own_trace = trace
        self._runs.tracers = () if trace is None else (trace.tracer,)
        self._runs.prepare_trace = None if trace is None else trace.prepare_run

    def observe_output_stream(
        self,
        name: str,
        callback: Callable[[str, Packet], object],
        observe_timestamp_bounds: bool = False,  # noqa: FBT001, FBT002  # the reference's signature
    ) -> None:
        """Call `callback(name, packet)` for each packet of a stream, in order, one call at a time.

        Any stream may be observed, graph inputs too. The callback runs on a thread of the graph and
        should be short: the thread takes no further step meanwhile. An exception is an error of the
        run; in the next run the callback is called again. The observer stays for all later runs.

        Args:
            name: of the stream.
            callback: receives the stream's name and the packet.
            observe_timestamp_bounds: also deliver newly settled timestamps, as empty packets.

        Raises:
            NotFoundError: there is no such stream.
            InvalidArgumentError: the callback is a function that cannot be called with a name and a packet.
            FailedPreconditionError: a run is under way.
        """
        self._runs.refuse_while_running("observe_output_stream")
        if not callable(callback):
            raise InvalidArgumentError(f"the graph's observer of {name!r}: {callback!r} cannot be called")
        if (count := _count_if_wrong(callback)) is not None:
            raise InvalidArgumentError(
                f"the graph's observer of {name!r}: {callback!r} takes {count}, but is called with the "
                "stream's name and the packet; write it as `def observer(name, packet)`"
            )
        self._runs.observers.append((self._runs.stream_id(name), name, callback, observe_timestamp_bounds))

    def watch_stream(
        self, name: str, callback: Callable[[str, Packet], object], *, observe_timestamp_bounds: bool = False
    ) -> Callable[[], None]:
        """Observe a stream in the run under way, from now on; return a function that ends that.

        As `observe_output_stream`, but for one run: `callback` sees what is written between the two calls;
        the last of that may reach it after the second call. Of a stream that has ended it sees nothing. The
        ledger, tracers and `wait_for_observed_output` leave it out.

        Raises:
            NotFoundError: there is no such stream.
            FailedPreconditionError: no run is under way, or the stream stays inside another process.
        """
        if not callable(callback):
            raise InvalidArgumentError(f"graph.watch_stream of {name!r}: {callback!r} cannot be called")
        return self._runs.watch(name, callback, bounds=observe_timestamp_bounds)

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
        self._runs.refuse_while_running("add_output_stream_poller")
        from penstock.runtime.poller import OutputStreamPoller  # few graphs are polled

        poller = OutputStreamPoller(name, wants_bounds=observe_timestamp_bounds)
        self._runs.pollers.append((self._runs.stream_id(name), poller))
        return poller

    # --- a run --------------------------------------------------------------------------------

    def rows(
        self,
        *streams: str,
        timeout: float | None = None,
        max_queue_size: int | None = None,
        side_packets: Mapping[str, Any] | None = None,
    ) -> Rows:
        """Return the packets of streams, one row for each timestamp, for a `for` or `async for` loop.

        There is a row for each timestamp at which at least one of the streams has a packet. It comes
        when the timestamp is settled on all of them; timestamps increase from row to row. A stream that
        has ended counts as settled, and packets at PRESTREAM and POSTSTREAM make rows too. `row["out"]`
        is the payload, or None.

        The rows are those of one run: of the run under way, if no packet of it can have been missed, or
        of the next run. If the application does not start that run, the loop starts it (for a graph
        without graph inputs), and then also waits for its end.

        When the loop is left (break, an exception, the end of a `with` block), the run goes on without
        the rows, and the ledger counts their later packets as dropped. If only the wait for a row ended
        early (a time-out, Ctrl-C, a cancelled task), the rows stay open: another loop continues with
        them, and until then they throttle the graph. `close` them if no other loop will follow.

        While `max_queue_size` packets of a stream wait for their rows, the sources above it wait, and so
        do calls that add to graph inputs above it. Calls from the thread or task that reads the rows do
        not wait: it would wait for itself. If a row needs more packets of one stream before it is settled
        on another, the graph lets them through.

        Args:
            streams: names of the streams; without any, all graph outputs.
            timeout: how long to wait for each row, in seconds; None for no limit.
            max_queue_size: packets that may wait for their rows, of each stream; at least 1, or -1 for
                no limit. None: as many as in the queues of the graph.
            side_packets: name → payload (or Packet), for a run that the rows start.

        Raises:
            NotFoundError: there is no such stream.
            InvalidArgumentError: there is no stream at all, one is named twice, or the size is not allowed.
            FailedPreconditionError: packets of the run under way have been missed, or may have been.
        """
        for name in streams:
            self._runs.stream_id(name)
        from penstock.runtime.rows.rows import Rows  # few graphs are read by rows

        rows = Rows(self, self._runs, self._desk, streams, max_queue_size, timeout, side_packets)
        self._runs.await_start()
        if self._runs.is_running and self._runs.runner is not None:
            rows.attach_late(self._runs.runner)
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

        Entering the block starts the run. Nodes begin to work when the block first awaits something, so
        rows that are asked for before that miss no packet. `await run.add(stream, payload, timestamp)`
        awaits room. Leaving the block ends the graph inputs, awaits the end of the run and raises what
        went wrong. Sources go on to their own end (`close_all_packet_sources` ends those without one).
        If the block raises, or its task is cancelled, the run is cancelled and its end awaited.

        Args:
            side_packets: as for `start_run`.
            stream_headers: as for `start_run`.
            timeout: how long leaving the block may await the end of the run, in seconds.

        Raises:
            FailedPreconditionError: when the block is entered: a run is under way, or nodes run inside
                the application's waits (an application thread executor), which cannot be awaited.
            As `start_run`, when the block is entered.
        """
        from penstock.runtime.running import Running  # brings asyncio

        return Running(self, self._runs, self._desk, side_packets, stream_headers, timeout)

    def start_run(
        self, side_packets: Mapping[str, Any] | None = None, stream_headers: Mapping[str, Any] | None = None
    ) -> None:
        """Begin a run; returns at once.

        Args:
            side_packets: name → payload (or Packet), for this run.
            stream_headers: name of a graph input → header payload.

        Raises:
            GraphConfigError: side packets are unknown, missing or wrong; nothing has started.
            AlreadyExistsError: a side packet was given to the graph too.
            UnavailableError: a service is missing.
            FailedPreconditionError: a run is under way.
        """
        self._runs.start(side_packets, stream_headers)

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

        While full queues throttle the input, the call waits or raises, as `graph_input_stream_add_mode`
        says.

        Args:
            stream: name of the graph input.
            packet: a Packet with a timestamp allowed in a stream. An empty one raises the bound.
            timestamp: gives the packet this timestamp instead.
            timeout: how long to wait for room, in seconds; None for no limit.

        Raises:
            TimestampError, TimestampOrderError, PacketTypeError: the stream cannot take the packet; the
                graph is unchanged and the run goes on.
            StreamClosedError: the input is closed.
            UnavailableError: the graph is throttled (with ADD_IF_NOT_FULL).
            WaitTimeoutError: no room in time; says what the run waits for. The packet was not added.
            GraphRunError: the run has failed.
            FailedPreconditionError: no run is under way; or the call would wait inside the run.
            NotFoundError: there is no such graph input.
        """
        runs = self._runs
        runner = runs.runner
        if runner is None or not runs.is_running:
            runner = runs.live(f"adding to {stream!r}")
        number = self._inputs.get(stream)
        if number is None:
            number = runs.input_id(stream)
        if timestamp is not None or packet.__class__ is not Packet or packet.stamp == UNSET:
            packet = checked(stream, packet, timestamp)
        try:
            if runner.change(add_if_room, number, packet):
                return
        except (PacketTypeError, TimestampOrderError):  # whether it is merely late depends on its type
            given, packet = packet, runs.adapted(number, packet)  # not under the lock of the run
            if packet is given:
                raise
            if runner.change(add_if_room, number, packet):
                return
        if self._add_mode is GraphInputStreamAddMode.ADD_IF_NOT_FULL:
            raise throttled_error(stream)
        addition = Addition(runner, number, runs.adapted(number, packet))
        while not runner.change(addition.try_patiently):
            runner.wait_for_room(addition.has_room, addition.what, timeout)

    def set_input_stream_timestamp_bound(self, stream: str, bound: SupportsIndex) -> None:
        """Promise that nothing below `bound` will be added to a graph input.

        Raises:
            TimestampError, TimestampOrderError: `bound` is no valid bound, or is below the present one;
                nothing changes.
            StreamClosedError, FailedPreconditionError, NotFoundError: as for adding.
        """
        runner = self._runs.live(f"setting the bound of {stream!r}")
        number = self._runs.input_id(stream)
        limit = Packet(timestamp=bound).stamp
        runner.change(lambda schedule: schedule.set_bound(number, limit))

    def close_input_stream(self, stream: str) -> None:
        """End a graph input. Closing it again does nothing.

        Raises:
            NotFoundError: there is no such graph input.
            FailedPreconditionError: no run has begun.
        """
        number = self._runs.input_id(stream)
        runner = self._runs.started(f"closing {stream!r}")
        runner.change(lambda schedule: schedule.close_input(number))

    def close_all_input_streams(self) -> None:
        """End all graph inputs."""
        self._runs.close_input_streams()

    def close_all_packet_sources(self) -> None:
        """End all graph inputs, and close every source instead of calling it again."""
        runner = self._runs.started("closing the sources")
        runner.change(lambda schedule: schedule.close_sources())

    def wait_until_idle(self, timeout: float | None = None) -> None:
        """Wait until no node runs or can run, and observers have seen every packet.

        Sources that wait for room count as idle. Errors are raised and kept: the run goes on to its end.

        Raises:
            GraphRunError: something went wrong.
            WaitTimeoutError: the run was not idle within `timeout` seconds; says what runs.
            FailedPreconditionError: no run has begun; or called from inside the run.
        """
        self._runs.wait_until_idle(timeout)

    def wait_until_done(self, timeout: float | None = None) -> None:
        """Wait for the end of the run, join its threads, and raise what went wrong.

        A second call returns at once.

        Raises:
            GraphRunError: with every error of the run; CANCELLED if it was cancelled.
            WaitTimeoutError: not done within `timeout` seconds; says what it waits for. The run goes on.
            FailedPreconditionError: no run has begun; or called from inside the run.
        """
        self._runs.wait_until_done(timeout)

    def wait_for_observed_output(self, timeout: float | None = None) -> None:
        """Wait until a packet or bound has come on an observed or polled stream since the last call.

        Raises:
            PenstockError: the run ended before that; the code is OUT_OF_RANGE.
            WaitTimeoutError, GraphRunError, FailedPreconditionError: as `wait_until_idle`.
        """
        self._runs.wait_for_observed_output(timeout)

    def cancel(self) -> None:
        """End the run with a CANCELLED error; returns at once. Opened calculators are closed."""
        self._runs.cancel()

    def abandon(self, grace_s: float = STOP_TIMEOUT_S) -> None:
        """Cancel the run, and give it up if it does not end: an executor has died, or a call never returns.

        A run that is given up is over, whatever its executors do: its error, ABORTED, names each executor
        that holds steps, and their nodes. Calculators that are open are closed on this thread, except those
        that are inside a call. Threads that come back later find nothing to do: they call no calculator, and
        what their call has written is dropped. The graph can be run again.

        Args:
            grace_s: seconds for which the run may end by itself.

        Raises:
            GraphRunError: always where a run is under way: CANCELLED, and ABORTED if the run was given up.
            FailedPreconditionError: no run has begun; or called from inside the run.
        """
        self._runs.abandon(grace_s)

    def set_options(self, node: str, options: object, *, at: SupportsIndex | None = None) -> Timestamp:
        """Change options of a node; more in `penstock_steering.set_options`.

        Args:
            node: its name; its calculator must have `options_changed`.
            options: a message or attrs object, which replaces those of its class; or a dict of fields.
            at: counts from the first call on whose input timestamp is not below it; None: from the next call.

        Returns:
            The timestamp from which the options count; UNSTARTED: from the start of the next run.
        """
        changed: Timestamp = self._steering("set_options").set_options(self._runs, node, options, at)
        return changed

    def swap(
        self,
        node: str,
        options: object = None,
        *,
        calculator: str | None = None,
        at: SupportsIndex | None = None,
    ) -> Timestamp:
        """Open another calculator beside that of a node and let it take over; see `penstock_steering.swap`.

        As `set_options`; `options` None keeps them, `calculator` is a registered name, None keeps that too.
        """
        changed: Timestamp = self._steering("swap").swap(self._runs, node, options, calculator, at)
        return changed

    def reset(
        self,
        side_packets: Mapping[str, Any] | None = None,
        stream_headers: Mapping[str, Any] | None = None,
        *,
        timeout: float | None = None,
    ) -> None:
        """End the run under way, if any, and start the next, in which calculators with `reset` live on.

        See `penstock_steering.reset`. `timeout` is for the end of the run; otherwise as `start_run`.
        """
        self._steering("reset").reset(self._runs, side_packets, stream_headers, timeout)

    def pause(self) -> None:
        """Begin no more steps until `resume`; steps that already run are completed."""
        self._runs.pause()

    def resume(self) -> None:
        """Go on after `pause`."""
        self._runs.resume()

    def close(self, timeout: float | None = None) -> None:
        """End all sources and graph inputs, wait until the run is done, and close the graph's services.

        These are the services that the graph has made itself; a later run makes new ones. Without a run
        under way, `close` only closes services. To keep them from run to run, end runs with
        `close_all_packet_sources` and `wait_until_done` instead.

        Raises:
            WaitTimeoutError: as `wait_until_done`; services stay open.
            PenstockError: a service failed to close; the others have been closed.
            Otherwise as `wait_until_done`; services have been closed.
        """
        try:
            if self._runs.is_running:
                self.close_all_packet_sources()
                self.wait_until_done(timeout)
        except BaseException as error:
            self._runs.close_services_after(error)
            raise
        self._runs.close_services()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if error is None:
            self.close()
            return
        if self._runs.is_running:
            try:
                self.abandon()
            except GraphRunError as failure:
                note_other_errors(error, failure)
        self._runs.close_services_after(error)

    # --- results and reports ------------------------------------------------------------------

    def has_error(self) -> bool:
        """Return whether the run under way has failed; False again once it is done."""
        runner = self._runs.runner
        return self._runs.is_running and runner is not None and bool(runner.schedule.errors)

    def get_combined_error_message(self) -> str:
        """Return the errors of the run under way in words; "" if it has none."""
        runner = self._runs.runner
        return str(runner.error()) if runner is not None and self.has_error() else ""

    def get_output_side_packet(self, name: str) -> Packet:
        """Return a side packet that a node has made, in this run or the last, or that was given.

        Raises:
            NotFoundError: no node makes it, and the application has not given it.
            UnavailableError: no node has made it yet.
        """
        return self._runs.side_packets.output(name, self._plan)

    @property
    def counters(self) -> dict[str, int]:
        """The counters of the graph: `<node>-<counter>` → value, over all runs."""
        return self._runs.counters.values()

    def snapshot(self) -> Snapshot:
        """Return the state of the run under way, or of the last one, as data.

        Raises:
            FailedPreconditionError: no run has begun.
        """
        from penstock.runtime.report import take_snapshot  # brings `explain`

        return take_snapshot(self._runs.started("snapshot()"))

    def __repr__(self) -> str:
        return f"<CalculatorGraph of {len(self._plan.nodes)} nodes>"

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:  # noqa: ARG002
        """Return what a notebook shows: the drawing that a plugin makes, or text. Never raises."""
        from penstock.runtime.notebook import mimebundle  # for notebooks only

        return mimebundle(self._plan.config, repr(self))

    def why(self) -> Why:
        """Return why the run under way makes no progress, as data; `str()` of it says so in words.

        For each node that waits it has the chain of what the node waits for, down to the cause: a graph
        input without packets, a calculator that did not raise its bound or has not returned, a poller
        that is not read. May be called at any time: before a run it says so, and after one why it ended.
        """
        if self._runs.runner is None:
            from penstock.explain import Why  # as below

            return Why("not started")
        from penstock.runtime.report import take_why  # brings `explain`

        return take_why(self._runs.runner)

    def ledger(self) -> Ledger:
        """Return where every packet of the run under way, or of the last one, went; the numbers add up.

        Raises:
            FailedPreconditionError: no run has begun.
        """
        from penstock.runtime.report import take_ledger  # brings `explain`

        runner = self._runs.started("ledger()")
        self._desk.settle()
        return take_ledger(runner)

    def failures(self) -> tuple[Any, ...]:
        """Return the failures that failure policies have dealt with in the run under way, or the last one.

        They are `penstock_failures.Failure` objects in order of time; of each node the last 1,000. Its
        counter "failures" counts all of them.

        Raises:
            FailedPreconditionError: no run has begun.
        """
        nodes = self._runs.started("failures()").schedule.nodes
        found = [one for node in nodes if node.guard is not None for one in node.guard.failures]
        return tuple(sorted(found, key=lambda failure: failure.at_ns))

    def _steering(self, method: str) -> SteeringLayer:
        from penstock.plugins.default_registry import find_component  # few graphs change while they live

        layer: SteeringLayer = find_component("layer", "steering", self._runs.registry, f"graph.{method}(): ")
        return layer


def runs_of(graph: CalculatorGraph) -> GraphRuns:
    """Return what starts the runs of a graph. For layers; it does not hold the graph."""
    return graph._runs  # noqa: SLF001  # of the class above


def _call_hooks(graph: weakref.ref[CalculatorGraph], hook: str, *arguments: object) -> None:
    """Call the hooks of plugins when a run starts or has ended. If one raises, the error is only logged."""
    from penstock.plugins.default_registry import default_run_hooks  # loads plugins

    for implementation in default_run_hooks(hook):
        try:
            implementation.call(graph(), *arguments)
        except Exception:
            _logger.exception("plugin %r: its hook penstock_%s failed", implementation.plugin, hook)


def _count_if_wrong(callback: Any) -> str | None:
    """Return how many arguments a function takes if it cannot be called with two; else None."""
    function = getattr(callback, "__func__", callback)
    code = getattr(function, "__code__", None)
    if not isinstance(code, CodeType):
        return None
    most = code.co_argcount - (function is not callback)
    least = most - len(function.__defaults__ or ())
    has_room = most >= _OBSERVED or code.co_flags & _TAKES_ANY
    if has_room and least <= _OBSERVED:
        return None
    return "1 argument" if most == 1 else f"{most} arguments"
