"""The graph as data: what a file says, each value with its place, before anything is checked.

`penstock.config.reading.graph_specs` makes it from a message; `validate` reads it and needs no protobuf.
Immutable, except for the message that it came from. Places are those of `GraphSpec.places`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from penstock.record import NamedTuple

if TYPE_CHECKING:
    from penstock.check.protocols import OptionPlaces, Options, Places

#: Fields that neither a graph nor a subgraph may have, and what replaces them.
REFUSED_IN_GRAPH: Final = {
    "packet_factory": "write a calculator that has output side packets",
    "packet_generator": "write a calculator that has output side packets",
    "status_handler": "observe runs (the hooks penstock_run_started and penstock_run_ended)",
}


class Text(NamedTuple):
    """One string of the file. An absent one is "" at the place of the message that could have had it."""

    text: str
    at: int


class Number(NamedTuple):
    """One number of the file; 0 stands for an absent one, as in the file format."""

    value: int
    at: int


class HandlerSpec(NamedTuple):
    """A stream handler that the file asks for."""

    #: "" where the file gives options only and leaves the choice to the calculator.
    name: str
    #: The handler's own.
    options: Options
    at: int


class StreamInfoSpec(NamedTuple):
    """One `input_stream_info`."""

    #: Which input is meant: "TAG", "TAG:1", ":1" or "".
    tag_index: str
    back_edge: bool
    at: int


class ExecutorSpec(NamedTuple):
    """One `executor`."""

    #: "" for the default one.
    name: Text
    #: Registered name, or "".
    type: Text
    options: Options
    at: int


class NodeSpec(NamedTuple):
    """One `node`, as it stands in the file."""

    name: str
    calculator: Text
    input_streams: tuple[Text, ...]
    output_streams: tuple[Text, ...]
    input_side_packets: tuple[Text, ...]
    output_side_packets: tuple[Text, ...]
    options: Options
    executor: Text
    max_in_flight: Number
    at: int
    #: Says where a field of the options stands.
    option_places: OptionPlaces
    #: Full names of types that `node_options` holds more than once.
    repeated_options: tuple[Text, ...] = ()
    source_layer: int = 0
    buffer_size_hint: int = 0
    input_stream_handler: HandlerSpec | None = None
    output_stream_handler: HandlerSpec | None = None
    input_stream_info: tuple[StreamInfoSpec, ...] = ()
    #: What happens when it fails: the message FailurePolicy and its place; None without one.
    failure: tuple[Any, int] | None = None
    #: Fields that the file has and that are not supported: field name and place.
    refused: tuple[Text, ...] = ()


class GraphSpec(NamedTuple):
    """A whole graph, as it stands in the file."""

    #: In the order of the file.
    nodes: tuple[NodeSpec, ...]
    input_streams: tuple[Text, ...]
    output_streams: tuple[Text, ...]
    input_side_packets: tuple[Text, ...]
    output_side_packets: tuple[Text, ...]
    executors: tuple[ExecutorSpec, ...]
    num_threads: Number
    max_queue_size: Number
    input_stream_handler: HandlerSpec | None
    output_stream_handler: HandlerSpec | None
    package: str
    report_deadlock: bool
    #: See `NodeSpec.refused`.
    refused: tuple[Text, ...]
    #: Warnings about fields of profiler_config that are accepted but have no effect.
    unmeasured: tuple[Text, ...]
    #: The CalculatorGraphConfig that all this comes from, or a `LateMessage`.
    message: Any
    #: Turn places into words.
    places: Places

    @property
    def file(self) -> str | None:
        """The name of the file, or None."""
        return self.places.file
