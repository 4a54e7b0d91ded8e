"""From a CalculatorGraphConfig message to a `GraphSpec`: reads every field once, with its place."""

from __future__ import annotations

from itertools import repeat
from typing import TYPE_CHECKING, Any, Final

from penstock.check.spec import (
    REFUSED_IN_GRAPH,
    ExecutorSpec,
    GraphSpec,
    HandlerSpec,
    NodeSpec,
    Number,
    StreamInfoSpec,
    Text,
)
from penstock.config.options.option_places import OptionPlaces
from penstock.config.options.options import Options
from penstock.config.reading.plain_graph import NOTHING, PlainGraph
from penstock.config.reading.plain_nodes import MANY, ONE
from penstock.config.reading.profiler import without_effect

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from penstock.config.message import Message
    from penstock.config.places import Places, Spot

_REFUSED_IN_NODE: Final = ("external_input",)


def graph_spec(
    message: Message, places: Places, origins: Sequence[tuple[Places, Spot | None]] | None = None
) -> GraphSpec:
    """Return the graph of a message as a spec. The spec keeps the message and does not copy it.

    Args:
        message: a CalculatorGraphConfig, or a `PlainGraph`.
        places: of the file that the message was read from.
        origins: where each node stands; None where all nodes stand in that file in this order.
    """
    reader = _Reader(places)
    root = places.root
    return GraphSpec(
        input_streams=reader.texts(message.input_stream, root, "input_stream"),
        input_side_packets=reader.texts(message.input_side_packet, root, "input_side_packet"),
        executors=tuple(
            reader.executor(one, places.of(root, "executor", i)) for i, one in enumerate(message.executor)
        ),
        num_threads=reader.number(message.num_threads, root, "num_threads"),
        max_queue_size=reader.number(message.max_queue_size, root, "max_queue_size"),
        input_stream_handler=reader.handler(message, root, "input_stream_handler"),
        output_stream_handler=reader.handler(message, root, "output_stream_handler"),
        refused=reader.refused(message, root, tuple(REFUSED_IN_GRAPH)),
        unmeasured=reader.unmeasured(message, root),
        nodes=tuple(_nodes(message, places, origins)),
        output_streams=reader.texts(message.output_stream, root, "output_stream"),
        output_side_packets=reader.texts(message.output_side_packet, root, "output_side_packet"),
        package=message.package,
        report_deadlock=message.report_deadlock,
        message=message,
        places=places,
    )


def in_order(graph: Message, order: list[int]) -> Message:
    """Return the graph with its nodes in another order; `graph` itself where that changes nothing."""
    if order == list(range(len(order))):
        return graph
    if isinstance(graph, PlainGraph):
        return graph.again(order)
    ordered = type(graph)()
    ordered.CopyFrom(graph)
    del ordered.node[:]
    ordered.node.extend(graph.node[i] for i in order)
    return ordered


def _nodes(
    message: Message, places: Places, origins: Sequence[tuple[Places, Spot | None]] | None
) -> Iterator[NodeSpec]:
    if isinstance(message, PlainGraph) and places.root is not None:
        return map(_plain_node, places.root.fields["node"], repeat(places))
    if origins is None:
        origins = [(places, places.of(places.root, "node", i)) for i in range(len(message.node))]
    return (_Reader(of).node(node, spot) for node, (of, spot) in zip(message.node, origins, strict=True))


def _plain_node(spot: Spot, places: Places) -> NodeSpec:
    fields, at = spot.strings, spot.offset
    nothing = Text("", at)
    name, calculator, executor = [fields[one][0] if one in fields else nothing for one in ONE]
    inputs, outputs, sides, made = [tuple(fields.get(one, ())) for one in MANY]
    where = OptionPlaces(NOTHING, places, spot, at)
    # By position: with names it would take 0.3 us more for each node.
    ports = (inputs, outputs, sides, made)
    return NodeSpec(name.text, calculator, *ports, Options(), executor, Number(0, at), at, where)


class _Reader:
    """Reads the parts of a message together with their places."""

    def __init__(self, places: Places) -> None:
        self._places = places

    def node(self, message: Message, spot: Spot | None) -> NodeSpec:
        # Asked for first: without a tree, places are numbers in the order of these calls.
        at = self._places.at(spot)
        has_policy = message.HasField("failure")
        return NodeSpec(
            name=message.name,
            calculator=self.text(message.calculator, spot, "calculator"),
            input_streams=self.texts(message.input_stream, spot, "input_stream"),
            output_streams=self.texts(message.output_stream, spot, "output_stream"),
            input_side_packets=self.texts(message.input_side_packet, spot, "input_side_packet"),
            output_side_packets=self.texts(message.output_side_packet, spot, "output_side_packet"),
            options=Options(message.options if message.HasField("options") else None, message.node_options),
            repeated_options=self._repeated_options(message, spot),
            source_layer=message.source_layer,
            buffer_size_hint=message.buffer_size_hint,
            input_stream_handler=self.handler(message, spot, "input_stream_handler"),
            output_stream_handler=self.handler(message, spot, "output_stream_handler"),
            input_stream_info=self._stream_infos(message, spot),
            executor=self.text(message.executor, spot, "executor"),
            max_in_flight=self.number(message.max_in_flight, spot, "max_in_flight"),
            failure=(message.failure, self._places.at_field(spot, "failure")) if has_policy else None,
            refused=self.refused(message, spot, _REFUSED_IN_NODE),
            at=at,
            option_places=OptionPlaces(message, self._places, spot, at),
        )

    def executor(self, message: Message, spot: Spot | None) -> ExecutorSpec:
        return ExecutorSpec(
            name=self.text(message.name, spot, "name"),
            type=self.text(message.type, spot, "type"),
            options=Options(message.options if message.HasField("options") else None),
            at=self._places.at(spot),
        )

    def handler(self, message: Message, spot: Spot | None, field: str) -> HandlerSpec | None:
        if not message.HasField(field):
            return None
        given = getattr(message, field)
        return HandlerSpec(
            # The message's field of the same name has a default, which must not count as a choice.
            name=getattr(given, field) if given.HasField(field) else "",
            options=Options(given.options if given.HasField("options") else None),
            at=self._places.at_field(spot, field),
        )

    def text(self, value: str, spot: Spot | None, field: str) -> Text:
        return Text(value, self._places.at_field(spot, field))

    def texts(self, values: Any, spot: Spot | None, field: str) -> tuple[Text, ...]:
        if not values:
            return ()
        at = self._places.at_field
        return tuple([Text(value, at(spot, field, i)) for i, value in enumerate(values)])

    def number(self, value: int, spot: Spot | None, field: str) -> Number:
        return Number(value, self._places.at_field(spot, field))

    def refused(self, message: Message, spot: Spot | None, fields: tuple[str, ...]) -> tuple[Text, ...]:
        """Return which of these repeated fields the message has, each with the place of its first value."""
        given = [field for field in fields if getattr(message, field)]
        return tuple([self.text(field, spot, field) for field in given])

    def unmeasured(self, message: Message, spot: Spot | None) -> tuple[Text, ...]:
        """Return the fields of the graph's profiler_config that have no effect, each with the reason."""
        profiler = self._places.of(spot, "profiler_config")
        return tuple(
            Text(f"{field} has no effect: {reason}", self._places.at_field(profiler, field))
            for field, reason in without_effect(message.profiler_config)
        )

    def _stream_infos(self, message: Message, spot: Spot | None) -> tuple[StreamInfoSpec, ...]:
        if not message.input_stream_info:
            return ()
        return tuple(
            StreamInfoSpec(one.tag_index, one.back_edge, self._places.at_field(spot, "input_stream_info", i))
            for i, one in enumerate(message.input_stream_info)
        )

    def _repeated_options(self, message: Message, spot: Spot | None) -> tuple[Text, ...]:
        if len(message.node_options) <= 1:
            return ()
        seen = set[str]()
        repeated = []
        for i, packed in enumerate(message.node_options):
            name = packed.TypeName()
            if name in seen:
                repeated.append(Text(name, self._places.at_field(spot, "node_options", i)))
            seen.add(name)
        return tuple(repeated)
