"""Rules about what is declared and not used, or used and not declared: PS4.."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from penstock.error_text import did_you_mean, near_names, quoted
from penstock_lint.rule import Rule, RuleMatch

if TYPE_CHECKING:
    from collections.abc import Iterator

    from penstock_lint.edit import Edit
    from penstock_lint.linted import LintedGraph


def _name(entry: str) -> str:
    return entry.rpartition(":")[2]


def _unused_outputs(graph: LintedGraph) -> Iterator[RuleMatch]:
    given = {_name(entry) for entry in graph.message.output_stream}
    for node in graph.nodes:
        if not node.outputs or not graph.is_of_the_file(node):
            continue
        names = [graph.stream(port) for port in node.outputs]
        is_used = any(port.stream in graph.readers for port in node.outputs) or given & set(names)
        if not is_used:
            listed = " and ".join(map(quoted, names))
            yield RuleMatch(node.id, f"nobody reads {listed}, which node {node.name!r} writes")


def _unwritten_output(graph: LintedGraph) -> Iterator[RuleMatch]:
    known = graph.plan.stream_ids
    names = [_name(entry) for entry in graph.message.output_stream]
    for index, name in enumerate(names):
        if name in known:
            continue
        near = near_names(name, known)
        edit = None
        if len(near) == 1 and near[0] in names:
            edit = graph.removal(("output_stream", index))
        elif len(near) == 1:
            edit = graph.replacement((("output_stream", index),), name, near[0])
        meant = did_you_mean(name, known, 1)
        what = f"nothing writes the graph's output {quoted(name)}{meant}"
        yield RuleMatch(None, what, "output_stream", index, edit)


def _unread_input(graph: LintedGraph) -> Iterator[RuleMatch]:
    outputs = {_name(entry) for entry in graph.message.output_stream}
    for index, entry in enumerate(graph.message.input_stream):
        name = _name(entry)
        if graph.plan.stream_ids[name] not in graph.readers and name not in outputs:
            what = f"no node reads the graph's input {quoted(name)}"
            yield RuleMatch(None, what, "input_stream", index, _removal(graph, "input_stream", index))


def _unread_side(graph: LintedGraph) -> Iterator[RuleMatch]:
    read = {port.name for node in graph.nodes for port in node.input_side_packets}
    read |= {_name(entry) for entry in graph.message.output_side_packet}
    for index, entry in enumerate(graph.message.input_side_packet):
        name = _name(entry)
        if name not in read:
            what = f"no node reads the side packet {quoted(name)}"
            yield RuleMatch(
                None, what, "input_side_packet", index, _removal(graph, "input_side_packet", index)
            )


def _removal(graph: LintedGraph, field: str, index: int) -> Edit | None:
    """Return what removes an input; None for a graph that others use: they connect it."""
    return None if graph.message.type else graph.removal((field, index))


def _undeclared_side(graph: LintedGraph) -> Iterator[RuleMatch]:
    told: set[str] = set()
    for node in graph.nodes:
        for port in node.input_side_packets:
            is_missing = not (port.produced or port.optional or port.name in graph.plan.declared_side_packets)
            if is_missing and port.name not in told:
                told.add(port.name)
                line = f'input_side_packet: "{port.name}"'
                yield RuleMatch(
                    node.id,
                    f"node {node.name!r} needs the side packet {quoted(port.name)}, which the graph does not "
                    "declare: only those who read all nodes know that a run must give it",
                    edit=graph.insertion(line, "input_side_packet", "output_stream", "input_stream", "node"),
                )


def _ignored_options(graph: LintedGraph) -> Iterator[RuleMatch]:
    for node in graph.nodes:
        message = graph.message_of(node)
        if message is None:
            continue
        if message.HasField("profiler_config"):
            yield RuleMatch(
                node.id, f"node {node.name!r} has a profiler_config; only that of the graph has an effect"
            )


def _shadowed(graph: LintedGraph) -> Iterator[RuleMatch]:
    package = graph.message.package
    parts = package.split(".") if package else []
    told: set[str] = set()
    for number, node in enumerate(graph.message.node):
        name = node.calculator
        if "." in name or name in told:
            continue
        told.add(name)
        candidates = [".".join([*parts[:length], name]) for length in range(len(parts), -1, -1)]
        found = [
            (kind, one)
            for one in candidates
            for kind in ("subgraph", "calculator")
            if graph.registry.has(kind, one)
        ]
        if len(found) > 1:
            (kind, one), (other_kind, other) = found[:2]
            what = (
                f"{name!r} means {_who(graph, kind, one)} here; {_who(graph, other_kind, other)} is there "
                "too, and has no effect"
            )
            yield RuleMatch(None, what, "node", number)


def _who(graph: LintedGraph, kind: str, name: str) -> str:
    return f"the {kind} {name!r} of {graph.registry.origin(kind, name).owner}"


RULES: Final = (
    Rule(
        "PS401",
        "output-unused",
        "A node works for nobody: none of its streams is read, and none is an output of the graph.",
        "make one an output_stream of the graph, or take the node away",
        _unused_outputs,
    ),
    Rule(
        "PS402",
        "output-unwritten",
        "The graph declares an output that nothing writes. It stays empty.",
        "correct the name, or take the output_stream away",
        _unwritten_output,
    ),
    Rule(
        "PS403",
        "input-unread",
        "The graph declares an input that no node reads. What is fed to it is thrown away.",
        "connect it, or take the input_stream away",
        _unread_input,
    ),
    Rule(
        "PS404",
        "side-unread",
        "The graph declares a side packet that no node reads.",
        "connect it, or take the input_side_packet away",
        _unread_side,
    ),
    Rule(
        "PS405",
        "side-undeclared",
        "A node needs a side packet that the graph does not declare. A reader of the file does not see "
        "that a run must give it.",
        'add input_side_packet: "..." to the graph',
        _undeclared_side,
    ),
    Rule(
        "PS406",
        "options-ignored",
        "A node has a profiler_config. Only that of the graph has an effect.",
        "move it to the graph",
        _ignored_options,
    ),
    Rule(
        "PS407",
        "name-shadowed",
        "Two packs bring something of one name, and the graph gets the one that is nearer to its package. "
        "Changes of the other have no effect.",
        "write the full name, with its package",
        _shadowed,
    ),
)
