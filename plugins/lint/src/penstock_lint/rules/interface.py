"""Rules about what is declared and not used, or used and not declared: PS4.."""

from __future__ import annotations

import inspect
import sys
from typing import TYPE_CHECKING, Any, Final

from penstock.lowlevel import did_you_mean, quoted
from penstock_lint.finding import Found, Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from penstock.lowlevel import NodePlan
    from penstock_lint.linted import LintedGraph


def _name(entry: str) -> str:
    return entry.rpartition(":")[2]


def _unused_outputs(graph: LintedGraph) -> Iterator[Found]:
    given = {_name(entry) for entry in graph.message.output_stream}
    for node in graph.nodes:
        if not node.outputs or not graph.is_of_the_file(node):
            continue
        names = [graph.stream(port) for port in node.outputs]
        is_used = any(port.stream in graph.readers for port in node.outputs) or given & set(names)
        if not is_used:
            listed = " and ".join(map(quoted, names))
            yield Found(node.id, f"nobody reads {listed}, which node {node.name!r} writes")


def _unwritten_output(graph: LintedGraph) -> Iterator[Found]:
    known = list(graph.plan.stream_ids)
    for index, entry in enumerate(graph.message.output_stream):
        name = _name(entry)
        if name not in graph.plan.stream_ids:
            meant = did_you_mean(name, known, 1)
            yield Found(
                None, f"nothing writes the graph's output {quoted(name)}{meant}", "output_stream", index
            )


def _unread_input(graph: LintedGraph) -> Iterator[Found]:
    outputs = {_name(entry) for entry in graph.message.output_stream}
    for index, entry in enumerate(graph.message.input_stream):
        name = _name(entry)
        if graph.plan.stream_ids[name] not in graph.readers and name not in outputs:
            yield Found(None, f"no node reads the graph's input {quoted(name)}", "input_stream", index)


def _sides(graph: LintedGraph) -> set[str]:
    return {port.name for node in graph.nodes for port in node.input_side_packets}


def _unread_side(graph: LintedGraph) -> Iterator[Found]:
    read = _sides(graph) | {_name(entry) for entry in graph.message.output_side_packet}
    for index, entry in enumerate(graph.message.input_side_packet):
        name = _name(entry)
        if name not in read:
            yield Found(None, f"no node reads the side packet {quoted(name)}", "input_side_packet", index)


def _undeclared_side(graph: LintedGraph) -> Iterator[Found]:
    told: set[str] = set()
    for node in graph.nodes:
        for port in node.input_side_packets:
            is_missing = not (port.produced or port.optional or port.name in graph.plan.declared_side_packets)
            if is_missing and port.name not in told:
                told.add(port.name)
                yield Found(
                    node.id,
                    f"node {node.name!r} needs the side packet {quoted(port.name)}, which the graph does "
                    "not declare: "
                    "only who reads the nodes knows that a run must give it",
                )


def _ignored_options(graph: LintedGraph) -> Iterator[Found]:
    for node in graph.nodes:
        message = graph.message_of(node)
        for name in () if message is None else _given(message):
            other = _meant_for(graph, node, name)
            if other is not None:
                yield Found(
                    node.id,
                    f"node {node.name!r} is a {node.calculator} and does not read {name}, which are the "
                    "options of "
                    f"{other!r}",
                )


def _meant_for(graph: LintedGraph, node: NodePlan, options: str) -> str | None:
    """Return the calculator that some options are for by their name, if it is another one than the node's.

    Several calculators may read the same options: those that name them, and those that are derived from one
    that does, are taken for readers.
    """
    short = options.rpartition(".")[2]
    other = short.removesuffix("Options")
    if not graph.registry.has("calculator", other) or _reads(node.factory, short):
        return None
    theirs = graph.registry.find("calculator", other)
    is_akin = theirs is node.factory or issubclass(theirs, node.factory) or issubclass(node.factory, theirs)
    return None if is_akin else other


def _reads(calculator: type, short: str) -> bool:
    """Return whether the code of a calculator, or of a class that it is derived from, names some options."""
    sources = []
    for one in calculator.__mro__:
        try:
            sources.append(inspect.getsource(sys.modules[one.__module__]))
        except (KeyError, OSError, TypeError):  # compiled, or made in a notebook
            continue
    return not sources or any(short in source for source in sources)


def _given(message: Any) -> Iterator[str]:
    """Yield the full names of the options that a node is given."""
    for field, value in message.options.ListFields():
        if field.is_extension:
            yield value.DESCRIPTOR.full_name
    for packed in message.node_options:
        yield packed.TypeName()


_FORWARD: Final = 'node { calculator: "PassThroughCalculator" input_stream: "%s" output_stream: "%s" }\n'
_IN: Final = 'input_stream: "in"\n'
_OUT: Final = 'output_stream: "out"\n'
_SIDE: Final = (
    'node { calculator: "SidePacketToStreamCalculator" input_stream: "TICK:in" input_side_packet: "label"\n'
    '  output_stream: "AT_TICK:out" }\n'
)
_LIMIT: Final = (
    'node { calculator: "PacketThinnerCalculator" input_stream: "in" output_stream: "out"\n'
    "  node_options { [type.googleapis.com/penstock.%s] { %s } } }\n"
)

RULES: Final = (
    Rule(
        "PS401",
        "output-unused",
        "A node works for nobody: none of its streams is read, and none is an output of the graph.",
        "make one an output_stream of the graph, or take the node away",
        _unused_outputs,
        _IN + _FORWARD % ("in", "out"),
        _IN + _OUT + _FORWARD % ("in", "out"),
    ),
    Rule(
        "PS402",
        "output-unwritten",
        "The graph declares an output that nothing writes. It stays empty.",
        "correct the name, or take the output_stream away",
        _unwritten_output,
        _IN + 'output_stream: "outt"\n' + _OUT + _FORWARD % ("in", "out"),
        _IN + _OUT + _FORWARD % ("in", "out"),
    ),
    Rule(
        "PS403",
        "input-unread",
        "The graph declares an input that no node reads. What is fed to it is thrown away.",
        "connect it, or take the input_stream away",
        _unread_input,
        _IN + 'input_stream: "more"\n' + _OUT + _FORWARD % ("in", "out"),
        _IN + _OUT + _FORWARD % ("in", "out"),
    ),
    Rule(
        "PS404",
        "side-unread",
        "The graph declares a side packet that no node reads.",
        "connect it, or take the input_side_packet away",
        _unread_side,
        _IN + 'input_side_packet: "more"\n' + _OUT + _FORWARD % ("in", "out"),
        _IN + _OUT + _FORWARD % ("in", "out"),
    ),
    Rule(
        "PS405",
        "side-undeclared",
        "A node needs a side packet that the graph does not declare. A reader of the file does not see "
        "that a run "
        "must give it.",
        'add input_side_packet: "..." to the graph',
        _undeclared_side,
        _IN + _OUT + _SIDE,
        _IN + 'input_side_packet: "label"\n' + _OUT + _SIDE,
    ),
    Rule(
        "PS406",
        "options-ignored",
        "A node is given options of another calculator. They have no effect.",
        "move them to the node that they are for",
        _ignored_options,
        _IN + _OUT + _LIMIT % ("FlowLimiterCalculatorOptions", "max_in_flight: 2"),
        _IN + _OUT + _LIMIT % ("PacketThinnerCalculatorOptions", "period: 2"),
    ),
)
