"""`CalculatorGraph`, as programs for MediaPipe's framework know it."""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, Final, SupportsIndex

import penstock
from penstock import GraphInputStreamAddMode
from penstock.errors import (
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
    from collections.abc import Callable, Mapping

    from penstock_mediapipe.validated_graph_config import ValidatedGraphConfig

__all__ = ["CalculatorGraph", "GraphInputStreamAddMode"]

_RUN_FAILED: Final = "CalculatorGraph::Run() failed"


class CalculatorGraph:
    """A graph that a program feeds and observes; it is run once.

    As in MediaPipe, a packet that a graph input cannot take ends the run. Where its timestamp is not after
    the earlier ones, or the input is closed, the call that added it returns, and the next one that adds a
    packet or waits raises; where its type is wrong, the call itself raises. A side packet that the graph does
    not know is ignored.

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
                raise InvalidArgumentError("give exactly one of the three arguments")
            plan = validated_graph_config.plan
        else:
            plan = plan_of(binary_graph_path, graph_config)
        self._graph: Final = penstock.CalculatorGraph(plan.config)
        self._graph.set_service(RESOURCES, finder())
        self._max_queue_size = self._graph.max_queue_size
        ports = (port for node in plan.nodes for port in node.input_side_packets)
        declared = (port.rpartition(":")[2] for port in plan.config.input_side_packet)
        self._side_packets: Final = frozenset([*(port.name for port in ports), *declared])
        #: The graph inputs that the program has closed in this run.
        self._closed: set[str] = set()
        #: Why this run was ended: the first packet that a graph input could not take.
        self._refused: PenstockError | None = None

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
                raise TypeError(f"side packet {name!r} is {packet!r:.100}; make a packet with packet_creator")
        before = self._closed, self._refused
        self._closed, self._refused = set(), None  # before an observer of the new run may close a stream
        try:
            with as_graph_errors():
                self._graph.start_run(
                    {name: packet.core for name, packet in given.items() if name in self._side_packets}
                )
        except BaseException:
            self._closed, self._refused = before
            raise

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
        self._raise_refused("Graph has errors")
        with as_python_errors(words_of_refusal):
            try:
                self._graph.add_packet_to_input_stream(stream, at.core)
            except TimestampOrderError as error:
                self._refuse(InvalidArgumentError(words_of_refusal(error), stream=stream), error)
            except PacketTypeError as error:
                self._refuse(InvalidArgumentError(words_of_refusal(error), stream=stream), error)
                self._raise_refused("Graph has errors")
            except StreamClosedError as error:
                if stream not in self._closed:
                    raise
                words = words_of_closed_stream(stream, at.timestamp, error)
                self._refuse(InvalidArgumentError(words, stream=stream), error)

    def close_input_stream(self, stream: str) -> None:
        """Say that nothing more comes in a graph input. Raises RuntimeError if there is none of that name."""
        with as_python_errors():
            self._graph.close_input_stream(stream)
        self._closed.add(stream)

    def close_all_packet_sources(self) -> None:
        """Say that nothing more comes at all, and end sources."""
        with as_python_errors():
            self._graph.close_all_packet_sources()
        self._closed.update(self._graph.input_streams)

    def wait_until_idle(self) -> None:
        """Wait until all that was given is worked off. Raises what the run has failed with."""
        self._wait(self._graph.wait_until_idle)

    def wait_until_done(self) -> None:
        """Wait until the run has ended. Raises what it has failed with."""
        self._wait(self._graph.wait_until_done)

    def wait_for_observed_output(self) -> None:
        """Wait until an observer has been called. Raises what the run has failed with."""
        self._wait(self._graph.wait_for_observed_output)

    def close(self) -> None:
        """Say that nothing more comes, and wait until the run has ended. Raises what it has failed with."""
        self._wait(self._graph.close)

    def has_error(self) -> bool:
        """Return whether the run has failed."""
        return self._refused is not None or self._graph.has_error()

    def get_combined_error_message(self) -> str:
        """Return what the run has failed with; "" if it has not."""
        if self._refused is not None:
            return f"{self._refused.code.name}: {_RUN_FAILED}: {self._refused}"
        return self._graph.get_combined_error_message()

    def get_output_side_packet(self, packet_name: str) -> Packet:
        """Return a side packet that the graph has made. Raises RuntimeError if there is none."""
        words = f'Unable to get the output side packet "{packet_name}" because it doesn\'t exist.'
        with as_python_errors(partial(words_of_missing, words)):
            return Packet.of(self._graph.get_output_side_packet(packet_name))

    def _refuse(self, error: PenstockError, cause: PenstockError) -> None:
        """End the run because of a packet that a graph input cannot take."""
        error.__cause__ = cause
        self._refused = error
        self._graph.cancel()

    def _wait(self, wait: Callable[[], object]) -> None:
        """Wait in a way that the graph has; where the run was ended by `_refuse`, for its end."""
        if self._refused is None:
            with as_python_errors():
                wait()
            return
        with suppress(PenstockError):  # that it was cancelled
            self._graph.wait_until_done()
        self._raise_refused(_RUN_FAILED)

    def _raise_refused(self, words: str) -> None:
        """Raise why the run was ended, if it was."""
        if self._refused is not None:
            raise InvalidArgumentError(
                f"{words}: {self._refused}", stream=self._refused.stream
            ) from self._refused
