"""What an editor shows about the thing below the pointer, as Markdown."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from penstock.readers import snake_case
from penstock_editor.forms import JSON
from penstock_editor.graph_text import ERROR_STREAM

if TYPE_CHECKING:
    from penstock_editor.graph_text import GraphText, Name
    from penstock_editor.knowledge import Knowledge
    from penstock_views.describe import Description, PortInfo


_OPTIONAL: Final = ", optional"


def hover(graph: GraphText, offset: int, knowledge: Knowledge) -> str:
    """Return a page; "" where there is nothing to say."""
    name = graph.name_at(offset)
    if name is None:
        entry = graph.tag_at(offset)
        return _field(graph, offset, knowledge) if entry is None else _port(graph, entry, knowledge)
    if name.kind == "calculator":
        found = knowledge.describe(name.name)
        return "" if found is None else page(found)
    return _named(graph, name, knowledge)


def page(found: Description) -> str:
    """Return the page of a component."""
    parts = [f"**{found.name}** ({found.kind}{f', {found.distribution}' if found.distribution else ''})"]
    parts.append(found.summary)
    ports = [
        *_ports("input", found.inputs),
        *_ports("output", found.outputs),
        *_ports("input side packet", found.input_side_packets),
        *_ports("output side packet", found.output_side_packets),
    ]
    if ports:
        parts.append("\n".join(ports))
    for message in found.options:
        fields = [
            f"- `{one.name}`: {one.type}{_default(one.default)}: {one.description}" for one in message.fields
        ]
        parts.append("\n".join([f"Options `{message.name}`:", *fields]))
    if found.body:
        parts.append(found.body)
    if found.example:
        parts.append(f"```protobuf\n{found.example}\n```")
    return "\n\n".join(parts)


def _default(value: str | None) -> str:
    return f", default {value}" if value and value != '""' else ""


def _ports(kind: str, ports: tuple[PortInfo, ...]) -> list[str]:
    return [
        f"- {kind} `{one.tag or one.index}`: {one.type}{_OPTIONAL if one.optional else ''}: {one.description}"
        for one in ports
    ]


def _named(graph: GraphText, name: Name, knowledge: Knowledge) -> str:
    """Return the producer, the type and the readers of a stream, side packet or executor."""
    places = graph.places(name.kind, name.name)
    origins = [one for one in places if one.is_origin]
    readers = [one for one in places if not one.is_origin]
    said = [f"**{name.name}** ({name.kind})"]
    for one in origins:
        line = graph.line_of(one.start) + 1
        if one.node < 0:
            said.append(f"declared by the graph, line {line}")
            continue
        calculator = graph.calculator_at(one.node)
        if one.field == ERROR_STREAM:
            said.append(f"carries the failures of `{calculator}`, line {line}")
            continue
        kind = knowledge.port_type(calculator, one.field, one.tag)
        said.append(f"written by `{calculator}`, line {line}{f': {kind}' if kind else ''}")
    if not origins:
        said.append("nothing in this file makes it")
    by = [
        f"`{graph.calculator_at(one.node)}`" if one.node >= 0 else "an output of the graph" for one in readers
    ]
    said.append(f"read by {', '.join(dict.fromkeys(by))}" if by else "nothing reads it")
    return "\n\n".join(said)


def _port(graph: GraphText, entry: Name, knowledge: Knowledge) -> str:
    """Return what a port of a node is: its direction, type and description."""
    calculator = graph.calculator_at(entry.node) if entry.node >= 0 else ""
    tag = entry.tag.partition(":")[0]
    for port in knowledge.ports(calculator, entry.field):
        if port.tag == tag:
            kind = entry.field.replace("_", " ").removesuffix(" stream")
            optional = _OPTIONAL if port.optional else ""
            return (
                f"**{tag}** ({kind} of `{calculator}`): {port.type}{optional}\n\n{port.description}".strip()
            )
    return ""


def _field(graph: GraphText, offset: int, knowledge: Knowledge) -> str:
    """Return what an option is: its type, default and description."""
    end = offset
    while end < len(graph.text) and (graph.text[end].isalnum() or graph.text[end] == "_"):
        end += 1
    cursor = graph.cursor(end)
    is_text = cursor.in_string and graph.form is not JSON
    if cursor.is_comment or is_text or cursor.field or not cursor.path:
        return ""
    message = knowledge.message(cursor.path)
    written = cursor.written if graph.form is not JSON else snake_case(cursor.written)
    if message is None or written not in message.fields_by_name:
        return ""
    names = (one.name for one in graph.part_at(offset)[1].names if one.kind == "calculator" and one.node >= 0)
    calculators = map(knowledge.describe, names)
    for description in calculators:
        for options in () if description is None else description.options:
            for one in options.fields:
                if options.name == message.full_name and one.name == written:
                    return f"`{one.name}`: {one.type}{_default(one.default)}\n\n{one.description}"
    return ""
