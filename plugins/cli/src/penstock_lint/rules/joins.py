"""Rules about nodes that read several streams, and about loops: PS1.."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

from penstock import Calculator
from penstock.errors import InvalidArgumentError
from penstock_lint.linted import may_call
from penstock_lint.rule import Rule, RuleMatch

if TYPE_CHECKING:
    from collections.abc import Iterator

    from penstock.lowlevel import NodePlan
    from penstock_lint.linted import LintedGraph

_BEGIN, _END = "BeginLoop", "EndLoop"
#: Methods by which packets are written.
_WRITES: Final = frozenset({"add", "add_packet"})
_CLONER: Final = "PacketClonerCalculator"
_SYNC_SETS: Final = "SyncSetInputStreamHandler"


def _unfed(graph: LintedGraph) -> Iterator[RuleMatch]:
    for node in graph.joins():
        loops = [port.stream for port in node.inputs if port.back_edge]
        behind = graph.behind(graph.outputs_of(node)) if loops else set()
        for stream in behind.intersection(loops):
            on_loop = [
                one
                for one in graph.nodes
                if graph.outputs_of(one) & behind and stream in graph.behind(graph.outputs_of(one))
            ]
            if all(graph.is_default(one) and not _writes_in_open(one) for one in on_loop):
                name = graph.plan.streams[stream].name
                yield RuleMatch(
                    node.id,
                    f"node {node.name!r} waits for {name!r}, which is only made of its own output: it never "
                    "runs",
                )


def _writes_in_open(node: NodePlan) -> bool:
    """Return whether a calculator may write in `open`, as far as the code of that method tells."""
    method = getattr(node.factory, "open", Calculator.open)
    code = getattr(method, "__code__", None)  # compiled methods have none
    return code is None or not _WRITES.isdisjoint(code.co_names)


def _idle_back_edge(graph: LintedGraph) -> Iterator[RuleMatch]:
    for node in graph.nodes:
        edges = [port for port in node.inputs if port.back_edge]
        behind = graph.behind(graph.outputs_of(node)) if edges else set()
        for port in edges:
            if port.stream in behind or graph.comes_from_outside(port.stream):
                continue
            what = f"the back edge {graph.stream(port)!r} of node {node.name!r} closes no cycle"
            number = graph.number_of(node)
            index = _info_of(graph, node, port)
            edit = None
            if number is not None and index is not None:
                edit = graph.removal(("node", number), ("input_stream_info", index))
            yield RuleMatch(node.id, what, edit=edit)


def _info_of(graph: LintedGraph, node: NodePlan, port: Any) -> int | None:
    """Return which `input_stream_info` of a node makes a port a back edge, if that is sure."""
    message = graph.message_of(node)
    infos = [] if message is None else list(message.input_stream_info)
    names = (f"{port.tag}:{port.index}", *([port.tag] if port.tag and not port.index else []))
    found = [index for index, info in enumerate(infos) if info.tag_index in names]
    return found[0] if len(found) == 1 else None


def _forgotten_bound(graph: LintedGraph) -> Iterator[RuleMatch]:
    for node in graph.joins():
        for port in node.inputs:
            writer = graph.writer(port.stream)
            if writer is None or port.back_edge or not graph.forgets_bound(writer):
                continue
            others = graph.inputs_of(node) - graph.outputs_of(writer)
            if others:
                yield RuleMatch(
                    writer.id,
                    f"node {writer.name!r} may write nothing to {graph.stream(port)!r} and does not say so: "
                    f"node {node.name!r}, which joins that stream, waits for its next packet",
                )


def _two_clocks(graph: LintedGraph) -> Iterator[RuleMatch]:
    live = {node.id for node in graph.nodes if node.is_source and node.contract.declared.is_live}
    cloners = {one.id for one in graph.of_kind(_CLONER)}  # take what is there at the ticks
    for node in graph.joins() if len(live) > 1 else ():
        if node.id in cloners:
            continue
        above = [(graph.plan.throttled[port.stream], port) for port in node.inputs]
        of_live = [(sources, port) for sources, port in above if sources and sources <= live]
        for (some, one), (others, other) in pairwise(of_live):
            if not some & others:
                yield RuleMatch(
                    node.id,
                    f"node {node.name!r} joins {graph.stream(one)!r} and {graph.stream(other)!r}, whose "
                    "timestamps come from two live sources: they hardly ever meet",
                )
                break


def _resampled(graph: LintedGraph) -> Iterator[RuleMatch]:
    for sampler in graph.of_kind("PacketResamplerCalculator", "PacketThinnerCalculator"):
        cloners = {one.id for one in graph.of_kind(_CLONER)}
        thin = graph.behind(graph.outputs_of(sampler), past_back_edges=False, without=cloners)
        dense = graph.behind(graph.inputs_of(sampler), past_back_edges=False, without={sampler.id, *cloners})
        for node in graph.joins():
            of_thin = [graph.stream(port) for port in node.inputs if port.stream in thin]
            of_dense = [
                graph.stream(port) for port in node.inputs if port.stream in dense and port.stream not in thin
            ]
            if of_thin and of_dense and not may_call(node.factory, "is_empty"):
                yield RuleMatch(
                    node.id,
                    f"node {node.name!r} joins {of_thin[0]!r}, which node {sampler.name!r} has resampled, "
                    f"with {of_dense[0]!r}, which it has not: most rows have one of the two, and it never "
                    "asks is_empty()",
                )


def _immediate(graph: LintedGraph) -> Iterator[RuleMatch]:
    for node in graph.nodes:
        if len(graph.inputs_of(node)) < 2 or node.handler.name != "ImmediateInputStreamHandler":  # noqa: PLR2004
            continue
        if node.contract.timestamp_offset is not None and _is_chosen_by_file(graph, node):
            yield RuleMatch(
                node.id,
                f"node {node.name!r} takes packets as they arrive, and writes at their timestamps: the run "
                "fails as soon as one comes behind another",
            )


def _is_chosen_by_file(graph: LintedGraph, node: NodePlan) -> bool:
    """Return whether the file chooses the handler, and not the calculator."""
    message = graph.message_of(node)
    return message is not None and (
        message.HasField("input_stream_handler") or graph.message.HasField("input_stream_handler")
    )


def _sets_with_offset(graph: LintedGraph) -> Iterator[RuleMatch]:
    for node in graph.nodes:
        if node.handler.name != _SYNC_SETS or node.contract.timestamp_offset is None:
            continue
        kind = graph.types.options_class("penstock.SyncSetInputStreamHandlerOptions")
        sets = [] if kind is None else list(node.handler.options.get(kind).sync_set)
        listed = sum(len(one.tag_index) for one in sets)
        if len(sets) + (listed < len(node.inputs)) > 1:
            yield RuleMatch(
                node.id,
                f"node {node.name!r} promises that its outputs keep the order of its inputs, but its sets of "
                "inputs go on at different times: the run fails as soon as one is behind the other",
            )


def _cloner(graph: LintedGraph) -> Iterator[RuleMatch]:
    for node in graph.of_kind(_CLONER):
        ticks = {port.stream for port in node.inputs if port.tag == "TICK"} or {node.inputs[-1].stream}
        if not graph.is_default(node):
            continue
        behind = graph.behind(ticks, past_back_edges=False)
        for slow in graph.nodes:
            made = graph.behind(graph.outputs_of(slow), past_back_edges=False)
            late = [graph.stream(port) for port in node.inputs if port.stream in made - ticks]
            if graph.is_slow(slow) and graph.inputs_of(slow) & behind and late and not made & ticks:
                yield RuleMatch(
                    node.id,
                    f"node {node.name!r} waits at each tick until the slow node {slow.name!r} has settled "
                    f"{late[0]!r}, which is made of the ticks: no tick passes before that work is done",
                )


def _mux(graph: LintedGraph) -> Iterator[RuleMatch]:
    for node in graph.of_kind("MuxCalculator"):
        if graph.is_default(node):
            yield RuleMatch(node.id, f"node {node.name!r} waits for the branches that are not chosen too")


def _loop_time(graph: LintedGraph) -> Iterator[RuleMatch]:
    for begin in graph.nodes:
        if not begin.calculator.rpartition(".")[2].startswith(_BEGIN):
            continue
        inside = _inside_of(graph, begin)
        for node in graph.joins():
            if _is_end(node) or node.id == begin.id:
                continue
            of_items = [graph.stream(port) for port in node.inputs if port.stream in inside]
            others = [graph.stream(port) for port in node.inputs if port.stream not in inside]
            if of_items and others:
                yield RuleMatch(
                    node.id,
                    f"node {node.name!r} joins {of_items[0]!r}, whose timestamps are those of the loop of "
                    f"{begin.name!r}, with {others[0]!r} from outside: few of them meet",
                )


def _is_end(node: NodePlan) -> bool:
    return node.calculator.rpartition(".")[2].startswith(_END)


def _inside_of(graph: LintedGraph, begin: NodePlan) -> set[int]:
    """Return the streams between the beginning of a loop over items and its end."""
    items = {port.stream for port in begin.outputs if port.tag in ("ITEM", "CLONE")}
    inside = graph.behind(items, without={one.id for one in graph.nodes if _is_end(one)})
    return inside | {port.stream for port in begin.outputs}


def _silent_output(graph: LintedGraph) -> Iterator[RuleMatch]:
    if graph.message.type:  # a subgraph: what reads it is another graph
        return
    outputs = []
    for index, entry in enumerate(graph.message.output_stream):
        name = entry.rpartition(":")[2]
        writer = graph.writer(graph.plan.stream_ids[name]) if name in graph.plan.stream_ids else None
        if writer is not None:
            outputs.append((index, name, writer, graph.plan.throttled[graph.plan.stream_ids[name]]))
    for index, name, writer, above in outputs if any(map(graph.may_skip, graph.nodes)) else ():
        if not graph.may_skip(writer):
            continue
        full = [other for _, other, by, its in outputs if its & above and not graph.may_skip(by)]
        if full:
            what = (
                f"node {writer.name!r} may write nothing to the graph's output {name!r}, and output "
                f"{full[0]!r} has a packet then: a program that polls both waits"
            )
            yield RuleMatch(None, what, "output_stream", index)


def _unnamed_clock(graph: LintedGraph) -> Iterator[RuleMatch]:
    for node in graph.nodes:
        leading = getattr(node.handler.factory, "leading_input", None)
        if leading is None or len(node.inputs) < 2:  # noqa: PLR2004  # one input has no other beside it
            continue
        position = leading(node.handler.options, [(port.tag, port.index) for port in node.inputs])
        if position is None or _names_its_clock(node):
            continue
        stream = graph.stream(node.inputs[position])
        what = (
            f"node {node.name!r} runs at each packet of {stream!r}, its input 0, which nothing in the graph "
            "says: another order of its inputs is another clock"
        )
        yield RuleMatch(node.id, what)


def _names_its_clock(node: NodePlan) -> bool:
    """Return whether the options of a policy name the input at which the node runs.

    Without a name, a policy such as ours refuses to choose among inputs of different tags.
    """
    others = [(f"OTHER_{number}", 0) for number in range(len(node.inputs))]
    try:
        node.handler.factory.leading_input(node.handler.options, others)
    except InvalidArgumentError:
        return False
    except Exception:  # noqa: BLE001  # it has no such inputs: whatever it says, it does not choose by position
        return True
    return True


RULES: Final = (
    Rule(
        "PS101",
        "loop-unfed",
        "A node that keeps its inputs in step waits for a loop that only its own output feeds. It never "
        "runs.",
        "take the value of the packet before by PreviousLoopbackCalculator, or let a node of the loop "
        "write a first packet in open()",
        _unfed,
    ),
    Rule(
        "PS102",
        "back-edge-idle",
        "An input is marked as a back edge, and closes no cycle. The mark hides mistakes in the order of "
        "nodes.",
        "take the back_edge away",
        _idle_back_edge,
    ),
    Rule(
        "PS103",
        "bound-forgotten",
        "A node that may write nothing, and does not settle its output then, feeds a join. The newest rows "
        "wait for its next packet.",
        "call cc.set_timestamp_offset(0) in its contract, or set_next_timestamp_bound() in process()",
        _forgotten_bound,
    ),
    Rule(
        "PS104",
        "two-clocks",
        "A join keeps two live sources in step, whose timestamps never meet. Each row has one of them.",
        "join by the nearest timestamp, or take the newest packet of one at the ticks of the other: "
        "PacketClonerCalculator",
        _two_clocks,
    ),
    Rule(
        "PS105",
        "resampled-join",
        "A stream at a lower rate is joined with the one that it is made of. Most rows have one of the "
        "two, and the calculator does not expect that.",
        "repeat the last packet of the slow stream by PacketClonerCalculator, or ask is_empty() for each "
        "input",
        _resampled,
    ),
    Rule(
        "PS106",
        "immediate-join",
        "A node that writes at the timestamps of its inputs takes them as they arrive. The first packet that "
        "comes behind another one ends the run.",
        "leave the handler away, or take a handler that keeps the inputs in step",
        _immediate,
    ),
    Rule(
        "PS107",
        "sets-with-offset",
        "A node with a timestamp offset promises that its outputs never go back in time. With several sync "
        "sets its inputs do, and the run fails.",
        "put all inputs in one set, or take a calculator without a timestamp offset",
        _sets_with_offset,
    ),
    Rule(
        "PS108",
        "cloner-waits",
        "A packet cloner that keeps its inputs in step waits at each tick for the slow stream that it "
        "should not wait for.",
        'give the cloner input_stream_handler { input_stream_handler: "ImmediateInputStreamHandler" }',
        _cloner,
    ),
    Rule(
        "PS109",
        "mux-waits",
        "A multiplexer that keeps its inputs in step waits for the branches that are not chosen.",
        'give it input_stream_handler { input_stream_handler: "MuxInputStreamHandler" }',
        _mux,
    ),
    Rule(
        "PS110",
        "loop-time-leaks",
        "Inside of a loop over items the timestamps are the loop's own. A join with a stream from outside "
        "meets few of them.",
        "end the loop first, or take the outside packet into it by CLONE of the loop's beginning",
        _loop_time,
    ),
    Rule(
        "PS111",
        "silent-output",
        "One output of the graph may have no packet where another has one. A program that polls both for "
        "each input waits for a packet that never comes.",
        "read rows or bounds, or make the output of a PacketPresenceCalculator one of the graph's",
        _silent_output,
    ),
    Rule(
        "PS112",
        "clock-by-position",
        "A policy runs its node at the packets of the first input, because its options name none. Another "
        "order of the inputs then gives other results.",
        "give the inputs tags, and name one in the options of the policy: tick of Latest, base of Nearest",
        _unnamed_clock,
    ),
)
