"""Rules about nodes that read several streams, and about loops: PS1.."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from penstock import Calculator
from penstock_lint.finding import Found, Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from penstock.lowlevel import NodePlan
    from penstock_lint.linted import LintedGraph

_BEGIN, _END = "BeginLoop", "EndLoop"
#: Methods by which packets are written.
_WRITES: Final = frozenset({"add", "add_packet"})


def _loops(graph: LintedGraph) -> Iterator[tuple[NodePlan, int]]:
    """Yield the nodes that read a back edge which closes a cycle, and the number of its stream."""
    for node in graph.nodes:
        behind = graph.behind(graph.outputs_of(node))
        for port in node.inputs:
            if port.back_edge and port.stream in behind:
                yield node, port.stream


def _writes_in_open(node: NodePlan) -> bool:
    """Return whether a calculator may write in `open`, as far as the code of that method tells."""
    method = getattr(node.factory, "open", Calculator.open)
    code = getattr(method, "__code__", None)  # compiled methods have none
    return code is None or not _WRITES.isdisjoint(code.co_names)


def _unfed(graph: LintedGraph) -> Iterator[Found]:
    for node, stream in _loops(graph):
        if not graph.is_default(node) or len(node.inputs) == 1:
            continue
        on_loop = [
            one
            for one in graph.nodes
            if graph.outputs_of(one) & graph.behind(graph.outputs_of(node))
            and stream in graph.behind(graph.outputs_of(one))
        ]
        if all(graph.is_default(one) and not _writes_in_open(one) for one in on_loop):
            name = graph.plan.streams[stream].name
            yield Found(
                node.id,
                f"node {node.name!r} waits for {name!r}, which only comes of what it writes: it never runs",
            )


def _idle_back_edge(graph: LintedGraph) -> Iterator[Found]:
    for node in graph.nodes:
        behind = graph.behind(graph.outputs_of(node))
        for port in node.inputs:
            if port.back_edge and port.stream not in behind and not graph.comes_from_outside(port.stream):
                name = graph.stream(port)
                yield Found(node.id, f"the back edge {name!r} of node {node.name!r} closes no cycle")


def _immediate(graph: LintedGraph) -> Iterator[Found]:
    for node in graph.nodes:
        if len(node.inputs) < 2 or node.handler.name != "ImmediateInputStreamHandler":  # noqa: PLR2004  # a join
            continue
        if node.contract.timestamp_offset is not None and _asks_for_handler(graph, node):
            yield Found(
                node.id,
                f"node {node.name!r} takes packets as they arrive, and writes at their timestamps: the "
                "run fails "
                "as soon as one comes behind another",
            )


def _asks_for_handler(graph: LintedGraph, node: NodePlan) -> bool:
    """Return whether the file chooses the handler, and not the calculator."""
    message = graph.message_of(node)
    return message is not None and (
        message.HasField("input_stream_handler") or graph.message.HasField("input_stream_handler")
    )


def _cloner(graph: LintedGraph) -> Iterator[Found]:
    for node in graph.of_kind("PacketClonerCalculator"):
        ticks = [port.stream for port in node.inputs if port.tag == "TICK"] or [node.inputs[-1].stream]
        if not graph.is_default(node):
            continue
        behind = graph.behind(ticks) - set(ticks)
        for port in node.inputs:
            if port.stream in behind:
                name = graph.stream(port)
                yield Found(
                    node.id,
                    f"node {node.name!r} waits at each tick until {name!r} is settled, and {name!r} is "
                    "made of the "
                    "ticks: no tick passes before that work is done",
                )


def _mux(graph: LintedGraph) -> Iterator[Found]:
    for node in graph.of_kind("MuxCalculator"):
        if graph.is_default(node):
            yield Found(node.id, f"node {node.name!r} waits for the branches that are not chosen too")


def _loop_time(graph: LintedGraph) -> Iterator[Found]:
    for begin in graph.nodes:
        if not begin.calculator.rpartition(".")[2].startswith(_BEGIN):
            continue
        inside = _inside_of(graph, begin)
        for node in graph.nodes:
            is_end = node.calculator.rpartition(".")[2].startswith(_END)
            if is_end or node.id == begin.id or not graph.is_default(node):
                continue
            of_items = [graph.stream(port) for port in node.inputs if port.stream in inside]
            others = [graph.stream(port) for port in node.inputs if port.stream not in inside]
            if of_items and others:
                yield Found(
                    node.id,
                    f"node {node.name!r} joins {of_items[0]!r}, whose timestamps are those of the loop of "
                    f"{begin.name!r}, with {others[0]!r} from outside: few of them meet",
                )


def _inside_of(graph: LintedGraph, begin: NodePlan) -> set[int]:
    """Return the streams between the beginning of a loop over items and its end."""
    found = {port.stream for port in begin.outputs if port.tag in ("ITEM", "CLONE")}
    waiting = list(found)
    while waiting:
        stream = waiting.pop()
        for number in graph.readers.get(stream, ()):
            node = graph.nodes[number]
            if not node.calculator.rpartition(".")[2].startswith(_END):
                new = graph.outputs_of(node) - found
                found |= new
                waiting += new
    return found


_FORWARD: Final = 'node { calculator: "PassThroughCalculator" input_stream: "%s" output_stream: "%s" }\n'
_HANDLER: Final = 'input_stream_handler { input_stream_handler: "%s" } '
_BACK: Final = 'input_stream_info { tag_index: ":1" back_edge: true } '
_JOIN: Final = 'node { calculator: "PassThroughCalculator" input_stream: "%s" input_stream: "%s" %s\n  %s}\n'
_OUT: Final = 'output_stream: "%s" output_stream: "%s"'

RULES: Final = (
    Rule(
        "PS101",
        "loop-unfed",
        "A node waits for a stream that only comes of what the node itself writes. It never runs.",
        "put a PreviousLoopbackCalculator in the loop, or let a node of it write its first packet in open()",
        _unfed,
        'input_stream: "in"\n'
        + _JOIN % ("in", "back", _OUT % ("out", "loop"), _BACK)
        + _FORWARD % ("loop", "back"),
        'input_stream: "in"\n'
        'node { calculator: "PreviousLoopbackCalculator" input_stream: "MAIN:in" input_stream: "LOOP:out"\n'
        '  input_stream_info { tag_index: "LOOP" back_edge: true } output_stream: "PREV_LOOP:before" }\n'
        + _JOIN % ("in", "before", _OUT % ("out", "old"), "")
        + 'output_stream: "out"\noutput_stream: "old"\n',
    ),
    Rule(
        "PS102",
        "back-edge-idle",
        "An input is marked as a back edge though no cycle goes through it. The node then opens before "
        "its writer.",
        "take the input_stream_info away",
        _idle_back_edge,
        'input_stream: "a"\ninput_stream: "b"\noutput_stream: "c"\noutput_stream: "d"\n'
        + _JOIN % ("a", "b", _OUT % ("c", "d"), _BACK),
        'input_stream: "a"\ninput_stream: "b"\noutput_stream: "c"\noutput_stream: "d"\n'
        + _JOIN % ("a", "b", _OUT % ("c", "d"), ""),
    ),
    Rule(
        "PS106",
        "immediate-join",
        "A node that writes at the timestamps of its inputs takes them as they arrive. The first packet "
        "that comes "
        "behind another one ends the run.",
        "leave the handler away, or take a handler that keeps the inputs in step",
        _immediate,
        'input_stream: "a"\ninput_stream: "b"\noutput_stream: "c"\noutput_stream: "d"\n'
        + _JOIN % ("a", "b", _OUT % ("c", "d"), _HANDLER % "ImmediateInputStreamHandler"),
        'input_stream: "a"\ninput_stream: "b"\noutput_stream: "c"\noutput_stream: "d"\n'
        + _JOIN % ("a", "b", _OUT % ("c", "d"), ""),
    ),
    Rule(
        "PS108",
        "cloner-waits",
        "A packet cloner that keeps its inputs in step waits at each tick for the slow stream that it "
        "should not "
        "wait for.",
        'give the cloner input_stream_handler { input_stream_handler: "ImmediateInputStreamHandler" }',
        _cloner,
        'input_stream: "in"\noutput_stream: "last"\n' + _FORWARD % ("in", "box") + "node "
        '{ calculator: "PacketClonerCalculator" input_stream: "box" input_stream: "TICK:in" output_stream: "last"\n'
        f"  {_HANDLER % 'DefaultInputStreamHandler'}}}\n",
        'input_stream: "in"\noutput_stream: "last"\n' + _FORWARD % ("in", "box") + "node "
        '{ calculator: "PacketClonerCalculator" input_stream: "box" input_stream: "TICK:in" output_stream: "last"\n'
        f"  {_HANDLER % 'ImmediateInputStreamHandler'}}}\n",
    ),
    Rule(
        "PS109",
        "mux-waits",
        "A multiplexer that keeps its inputs in step waits for the branches that are not chosen.",
        'give it input_stream_handler { input_stream_handler: "MuxInputStreamHandler" }',
        _mux,
        'input_stream: "a"\ninput_stream: "b"\ninput_stream: "select"\noutput_stream: "out"\n'
        'node { calculator: "MuxCalculator" input_stream: "INPUT:0:a" input_stream: "INPUT:1:b"\n'
        '  input_stream: "SELECT:select" output_stream: "OUTPUT:out"\n'
        f"  {_HANDLER % 'DefaultInputStreamHandler'}}}\n",
        'input_stream: "a"\ninput_stream: "b"\ninput_stream: "select"\noutput_stream: "out"\n'
        'node { calculator: "MuxCalculator" input_stream: "INPUT:0:a" input_stream: "INPUT:1:b"\n'
        '  input_stream: "SELECT:select" output_stream: "OUTPUT:out"\n'
        f"  {_HANDLER % 'MuxInputStreamHandler'}}}\n",
    ),
    Rule(
        "PS110",
        "loop-time-leaks",
        "Inside of a loop over items the timestamps are the loop's own. A join with a stream from "
        "outside meets few "
        "of them.",
        "end the loop first, or take the outside packet into it by CLONE of the loop's beginning",
        _loop_time,
        'input_stream: "list"\ninput_stream: "other"\noutput_stream: "x"\noutput_stream: "y"\n'
        "node "
        '{ calculator: "BeginLoopIntCalculator" input_stream: "ITERABLE:list" output_stream: "ITEM:item"\n'
        '  output_stream: "BATCH_END:end" }\n' + _JOIN % ("item", "other", _OUT % ("x", "y"), ""),
        'input_stream: "list"\ninput_stream: "other"\noutput_stream: "x"\noutput_stream: "y"\n'
        "node "
        '{ calculator: "BeginLoopIntCalculator" input_stream: "ITERABLE:list" input_stream: "CLONE:other"\n'
        '  output_stream: "ITEM:item" output_stream: "CLONE:same" output_stream: "BATCH_END:end" }\n'
        + _JOIN
        % ("item", "same", _OUT % ("x", "y"), ""),
    ),
)
