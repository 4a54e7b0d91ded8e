"""`CalculatorGraph`, as programs for MediaPipe's framework know it."""

from __future__ import annotations

import threading
from collections import Counter
from contextlib import contextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING, Any, Final, SupportsIndex

import penstock
from penstock import GraphInputStreamAddMode
from penstock.errors import (
    FailedPreconditionError,
    InvalidArgumentError,
    PacketTypeError,
    PenstockError,
    StreamClosedError,
    TimestampOrderError,
)
from penstock_mediapipe.packet import Packet
from penstock_mediapipe.python_errors import (
    as_graph_errors,
    as_python_errors,
    behind,
    words_of_closed_stream,
    words_of_missing,
    words_of_no_time,
    words_of_refusal,
)
from penstock_mediapipe.resource_util import finder
from penstock_mediapipe.timestamp import Timestamp
from penstock_mediapipe.validated_graph_config import plan_of
from penstock_tensors import RESOURCES

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Collection, Iterator, Mapping

    from penstock_mediapipe.validated_graph_config import ValidatedGraphConfig

__all__ = ["CalculatorGraph", "GraphInputStreamAddMode"]

_RUN_FAILED: Final = "CalculatorGraph::Run() failed"
_GRAPH_FAILED: Final = "Graph has errors"


class _Run:
    """What a program has done to one run."""

    def __init__(self, number: int) -> None:
        #: Which run, as the graph counts them; 0 before the first.
        self.number: Final = number
        #: The graph inputs that the program has closed.
        self.closed: Final[set[str]] = set()
        #: Why the run was ended: the first packet that a graph input could not take.
        self.refused: PenstockError | None = None
        #: Whether its end was reported, so that no packet can end it any more.
        self.is_reported = False


class CalculatorGraph:
    """A graph that a program feeds and observes; it is run once.

    As in MediaPipe, a packet that a graph input cannot take ends the run. Where its timestamp is not after
    the earlier ones, or the input is closed, the call that added it returns, and the next one that adds a
    packet or waits raises; where its type is wrong, the call itself raises. A side packet that the graph does
    not know is ignored. Its methods may be called from several threads.

    Args:
        binary_graph_path: of a .binarypb file.
        graph_config: graph text or a CalculatorGraphConfig message, instead.
        validated_graph_config: instead.

    Raises:
        ValueError: not exactly one of them is given.
        FileNotFoundError: there is no such file.
        RuntimeError: the graph cannot run; where a calculator refuses how it is connected, a ValueError.
    """

    def __init__(
        self,
        binary_graph_path: str | os.PathLike[str] | None = None,
        graph_config: Any = None,
        validated_graph_config: ValidatedGraphConfig | None = None,
    ) -> None:
        if validated_graph_config is not None:
            if binary_graph_path is not None or graph_config is not None:
                raise InvalidArgumentError("give the CalculatorGraph exactly one of the three arguments")
            plan = validated_graph_config.plan
        else:
            plan = plan_of(binary_graph_path, graph_config)
        self._graph: Final = penstock.CalculatorGraph(plan.config)
        self._graph.set_service(RESOURCES, finder())
        self._max_queue_size = self._graph.max_queue_size
        ports = (port for node in plan.nodes for port in node.input_side_packets)
        declared = (port.rpartition(":")[2] for port in plan.config.input_side_packet)
        self._side_packets: Final = frozenset([*(port.name for port in ports), *declared])
        #: Guards `_run`, what it holds, and `_being_closed`. No other code runs meanwhile.
        self._lock: Final = threading.Lock()
        self._run = _Run(0)
        #: Graph inputs, and how many threads are closing them.
        self._being_closed: Final[Counter[str]] = Counter()

    @property
    def text_config(self) -> str:
        """The expanded graph as text."""
        return self._graph.text_config

    @property
    def binary_config(self) -> bytes:
        """The expanded graph, serialized."""
        return self._graph.binary_config

    @property
    def max_queue_size(self) -> int:
        """How many packets may wait at a graph input; -1: any number. May be set before a run."""
        return self._max_queue_size

    @max_queue_size.setter
    def max_queue_size(self, size: int) -> None:
        with as_python_errors():
            for name in self._graph.input_streams:
                self._graph.set_input_stream_max_queue_size(name, size)
        self._max_queue_size = size

    @property
    def graph_input_stream_add_mode(self) -> GraphInputStreamAddMode:
        """What adding a packet does while queues are full."""
        return self._graph.graph_input_stream_add_mode

    @graph_input_stream_add_mode.setter
    def graph_input_stream_add_mode(self, mode: GraphInputStreamAddMode) -> None:
        self._graph.graph_input_stream_add_mode = mode

    def observe_output_stream(
        self,
        stream_name: str,
        callback_fn: Callable[[str, Packet], object],
        observe_timestamp_bounds: bool = False,  # noqa: FBT001, FBT002  # MediaPipe's signature
    ) -> None:
        """Call `callback_fn(stream_name, packet)` for each packet of a stream, inner ones too.

        Args:
            stream_name: of the stream.
            callback_fn: called on a thread of the graph, one call at a time.
            observe_timestamp_bounds: whether empty packets tell of timestamps without a packet.

        Raises:
            RuntimeError: there is no such stream.
        """
        words = f'Unable to attach observer to output stream "{stream_name}" because it doesn\'t exist.'
        with as_python_errors(partial(words_of_missing, words)):
            self._graph.observe_output_stream(
                stream_name,
                lambda name, packet: callback_fn(name, Packet.of(packet)),
                observe_timestamp_bounds,
            )

    def start_run(self, input_side_packets: Mapping[str, Packet] | None = None) -> None:
        """Begin to run.

        Args:
            input_side_packets: name → packet.

        Raises:
            TypeError: a value is no packet.
            ValueError: a side packet is missing or has a wrong type.
            RuntimeError: a run is under way.
        """
        given = dict(input_side_packets or {})
        for name, packet in given.items():
            if not isinstance(packet, Packet):
                raise TypeError(
                    f"the graph's side packet {name!r} is {packet!r:.100}; make a packet with packet_creator"
                )
        with as_graph_errors():
            self._graph.start_run(
                {name: packet.core for name, packet in given.items() if name in self._side_packets}
            )

    def add_packet_to_input_stream(
        self, stream: str, packet: Packet, timestamp: SupportsIndex | None = None
    ) -> None:
        """Give a packet to the graph.

        Args:
            stream: a graph input.
            packet: at its own timestamp, unless `timestamp` is given.
            timestamp: when.

        Raises:
            ValueError: there is no timestamp, or it is none of a packet in a stream; the stream carries
                another type; or the run was ended because of a packet that was added before.
            RuntimeError: there is no such graph input, or the run has failed or not begun.
        """
        at = packet if timestamp is None or timestamp == Timestamp.UNSET else packet.at(timestamp)
        if at.timestamp == Timestamp.UNSET:
            words = f"the packet for {stream!r} has no timestamp; say packet.at(...)"
            raise InvalidArgumentError(behind(words_of_no_time("Timestamp::Unset()"), words))
        run = self._now()
        _raise_refused(run, _GRAPH_FAILED)
        with as_python_errors(words_of_refusal):
            try:
                self._graph.add_packet_to_input_stream(stream, at.core)
            except TimestampOrderError as error:
                self._refuse(run, InvalidArgumentError(words_of_refusal(error), stream=stream), error)
            except PacketTypeError as error:
                self._refuse(run, InvalidArgumentError(words_of_refusal(error), stream=stream), error)
                _raise_refused(run, _GRAPH_FAILED)
            except StreamClosedError as error:
                if not self._has_closed(stream, run):
                    raise
                words = words_of_closed_stream(stream, at.timestamp, error)
                self._refuse(run, InvalidArgumentError(words, stream=stream), error)
            except PenstockError:
                _raise_refused(run, _GRAPH_FAILED)  # by a packet of another thread
                raise

    def close_input_stream(self, stream: str) -> None:
        """Say that nothing more comes in a graph input. Raises RuntimeError if there is none of that name."""
        with self._closing([stream]):
            self._graph.close_input_stream(stream)

    def close_all_packet_sources(self) -> None:
        """Say that nothing more comes at all, and end sources."""
        with self._closing(self._graph.input_streams):
            self._graph.close_all_packet_sources()

    def wait_until_idle(self) -> None:
        """Wait until all that was given is worked off. Raises what the run has failed with."""
        self._wait(self._graph.wait_until_idle)

    def wait_until_done(self) -> None:
        """Wait until the run has ended. Raises what it has failed with."""
        self._wait(self._graph.wait_until_done, is_end=True)

    def wait_for_observed_output(self) -> None:
        """Wait until an observer has been called. Raises what the run has failed with."""
        self._wait(self._graph.wait_for_observed_output)

    def close(self) -> None:
        """Say that nothing more comes, and wait until the run has ended. Raises what it has failed with."""
        self._wait(self._graph.close, is_end=True)

    def has_error(self) -> bool:
        """Return whether the run has failed."""
        return self._now().refused is not None or self._graph.has_error()

    def get_combined_error_message(self) -> str:
        """Return what the run has failed with; "" if it has not."""
        refused = self._now().refused
        if refused is not None:
            return f"{refused.code.name}: {_RUN_FAILED}: {refused}"
        return self._graph.get_combined_error_message()

    def get_output_side_packet(self, packet_name: str) -> Packet:
        """Return a side packet that the graph has made. Raises RuntimeError if there is none."""
        words = f'Unable to get the output side packet "{packet_name}" because it doesn\'t exist.'
        with as_python_errors(partial(words_of_missing, words)):
            return Packet.of(self._graph.get_output_side_packet(packet_name))

    def _now(self) -> _Run:
        """Return what was done to the run under way, or the last one."""
        number = self._graph.run_count
        with self._lock:
            if number > self._run.number:
                self._run.is_reported = True
                self._run = _Run(number)
            return self._run

    @contextmanager
    def _closing(self, streams: Collection[str]) -> Iterator[None]:
        """Remember that the program closes graph inputs, with which run it may be.

        Another thread may begin a run before they are closed, and add a packet as soon as they are.
        """
        with self._lock:
            self._being_closed.update(streams)
        try:
            with as_python_errors():
                yield
            self._now().closed.update(streams)
        finally:
            with self._lock:
                self._being_closed.subtract(streams)

    def _has_closed(self, stream: str, run: _Run) -> bool:
        with self._lock:
            return stream in run.closed or self._being_closed[stream] > 0

    def _refuse(self, run: _Run, error: PenstockError, cause: PenstockError) -> None:
        """End a run because of a packet that a graph input cannot take; raise where it has ended."""
        error.__cause__ = cause
        with self._lock:
            if run.is_reported:
                raise FailedPreconditionError(
                    f"CalculatorGraph.add_packet_to_input_stream({error.stream!r}) needs a run under way"
                )
            is_first = run.refused is None
            if is_first:
                run.refused = error
        if not is_first:
            _raise_refused(run, _GRAPH_FAILED)
        if self._graph.run_count == run.number:
            self._graph.cancel()

    def _wait(self, wait: Callable[[], object], *, is_end: bool = False) -> None:
        """Wait in a way that the graph has; where the run was ended by `_refuse`, for its end."""
        run = self._now()
        if run.refused is None:
            try:
                with as_python_errors():
                    wait()
            except (PenstockError, RuntimeError, ValueError):
                if self._reports(run, is_end=is_end):
                    raise
            else:
                if self._reports(run, is_end=is_end) or not is_end:
                    return
        if self._graph.run_count == run.number:
            with suppress(PenstockError):  # that it was cancelled
                self._graph.wait_until_done()
        _raise_refused(run, _RUN_FAILED)

    def _reports(self, run: _Run, *, is_end: bool) -> bool:
        """Return whether a wait reports its result: not where a packet that was refused ended the run.

        Where the wait was for the end, no packet is refused after that.
        """
        is_over = is_end and (self._graph.run_count != run.number or not self._graph.is_running)
        with self._lock:
            run.is_reported = run.is_reported or (is_over and run.refused is None)
            return run.refused is None


def _raise_refused(run: _Run, words: str) -> None:
    """Raise why a run was ended, if it was."""
    if run.refused is not None:
        raise InvalidArgumentError(f"{words}: {run.refused}", stream=run.refused.stream) from run.refused
