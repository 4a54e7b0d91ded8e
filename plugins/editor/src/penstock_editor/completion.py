"""What may be written at a cursor."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from penstock_editor.forms import JSON
from penstock_editor.knowledge import is_packed
from penstock_editor.template_rules import rule_at, words_of_rule

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from penstock_editor.cursor import Cursor
    from penstock_editor.graph_text import GraphText
    from penstock_editor.knowledge import Knowledge

_STREAMS: Final = {"input_stream": "stream", "output_stream": "stream"}
_SIDES: Final = {"input_side_packet": "side packet", "output_side_packet": "side packet"}
#: Message, field → the kind of component that its string names.
_COMPONENTS: Final = {
    ("executor", "type"): "executor",
    ("input_stream_handler", "input_stream_handler"): "input stream handler",
    ("output_stream_handler", "output_stream_handler"): "output stream handler",
}


#: A member of JSON whose name is written with capital letters.
_CAMEL: Final = re.compile(r'"(?:input|output|node|num)[A-Z]\w*"\s*:')
#: Values that JSON writes without quotes.
_LITERALS: Final = ("true", "false")


@dataclass(frozen=True)
class Proposal:
    """One thing that may be written."""

    #: What the editor shows, and what comes between `start` and the cursor.
    label: str
    text: str
    #: "component", "port", "name", "field", "value" or "type".
    kind: str
    #: Where it begins.
    start: int
    #: A few words beside it.
    detail: str = ""


def proposals(graph: GraphText, offset: int, knowledge: Knowledge) -> list[Proposal]:
    """Return what may be written at an offset, in the order in which it should be shown."""
    rule = rule_at(graph, offset)
    if rule is not None:
        return [Proposal(one, one, kind, rule.start) for one, kind in words_of_rule(graph, rule)]
    cursor = graph.cursor(offset)
    if cursor.is_comment:
        return []
    calculator = _calculator_around(graph, offset) if "node" in cursor.path else ""
    if cursor.in_string and (cursor.field or graph.form is not JSON):
        found = _strings(graph, cursor, calculator, offset, knowledge)
    elif cursor.field:
        found = _values(cursor, knowledge)
    else:
        found = _fields(graph, cursor, calculator, knowledge)
    return list({one.label: one for one in found}.values())


def _calculator_around(graph: GraphText, offset: int) -> str:
    """Return the calculator of the node around an offset; where the node names none before, the next one."""
    start, part = graph.part_at(offset)
    nodes = [one for one in part.names if one.kind == "calculator" and one.node >= 0]
    before = [one for one in nodes if one.node + start <= offset]
    return before[-1].name if before else ""


def _strings(
    graph: GraphText, cursor: Cursor, calculator: str, offset: int, knowledge: Knowledge
) -> Iterator[Proposal]:
    field, path = cursor.field, cursor.path
    above = path[-1] if path else ""
    if field == "calculator":
        for kind in ("calculator", "subgraph"):
            yield from _components(knowledge, kind, cursor.start)
    elif (above, field) in _COMPONENTS:
        yield from _components(knowledge, _COMPONENTS[above, field], cursor.start)
    elif field == "executor":
        yield from _named(graph, "executor", cursor.start, offset, only_origins=True)
    elif field in _STREAMS or field in _SIDES:
        yield from _entries(graph, cursor, calculator, offset, knowledge)
    elif graph.form is JSON:
        if field == "@type":
            for name in knowledge.options_of(calculator, "node_options"):
                yield Proposal(name[1:-1], name[1:-1], "type", cursor.start, f"options of {calculator}")
        yield from (one for one in _values(cursor, knowledge) if one.text not in _LITERALS)


def _entries(
    graph: GraphText, cursor: Cursor, calculator: str, offset: int, knowledge: Knowledge
) -> Iterator[Proposal]:
    """Yield what may stand in an entry such as "TAG:name": tags of the node's ports, then names."""
    field, above = cursor.field, cursor.path[-1] if cursor.path else ""
    kind = _STREAMS.get(field) or _SIDES[field]
    tag, colon, _ = cursor.written.rpartition(":")
    start = cursor.start + len(tag) + len(colon)
    ports = knowledge.ports(calculator, field) if above == "node" else ()
    if not colon:
        for port in ports:
            if port.tag:
                detail = f"{port.type}{', optional' if port.optional else ''}: {port.description}"
                yield Proposal(f"{port.tag}:", f"{port.tag}:", "port", cursor.start, detail)
    writes = field.startswith("output") == (above == "node")
    if not writes or colon or not ports:
        yield from _named(graph, kind, start, offset, only_origins=not writes)


def _components(knowledge: Knowledge, kind: str, start: int) -> Iterator[Proposal]:
    for name in knowledge.registry.names(kind):
        yield Proposal(name, name, "component", start, knowledge.origin(kind, name) or kind)


def _named(graph: GraphText, kind: str, start: int, offset: int, *, only_origins: bool) -> Iterator[Proposal]:
    for name in graph.named(kind):
        others = [one for one in graph.places(kind, name) if not one.start <= offset <= one.end]
        origins = [one for one in others if one.is_origin]
        if not (origins if only_origins else others):
            continue
        by = graph.calculator_at(origins[0].node) if origins and origins[0].node >= 0 else ""
        yield Proposal(name, name, "name", start, f"of {by}" if by else f"{kind} of the graph")


def _values(cursor: Cursor, knowledge: Knowledge) -> Iterator[Proposal]:
    message = knowledge.message(cursor.path)
    field = None if message is None else message.fields_by_name.get(cursor.field)
    if field is None:
        return
    if field.enum_type is not None:
        names: Iterable[str] = [one.name for one in field.enum_type.values]
    else:
        names = ("true", "false") if field.type == field.TYPE_BOOL else ()
    for name in names:
        yield Proposal(name, name, "value", cursor.start)


def _fields(graph: GraphText, cursor: Cursor, calculator: str, knowledge: Knowledge) -> Iterator[Proposal]:
    above = cursor.path[-1] if cursor.path else ""
    message = knowledge.message(cursor.path)
    if message is None:
        return
    if above in {"options", "node_options"} and (is_packed(message) or message.is_extendable):
        if graph.form is JSON and above == "node_options":
            yield Proposal("@type", _as_member("@type", cursor), "type", cursor.start)
            return
        for name in knowledge.options_of(calculator, above):
            text = _as_member(name, cursor) if graph.form is JSON else f"{name} {{ }}"
            yield Proposal(name, text, "type", cursor.start, f"options of {calculator}")
        return
    is_camel = graph.form is JSON and _CAMEL.search(graph.text) is not None
    for field in message.fields:
        name = field.json_name if is_camel else field.name
        text = _as_member(name, cursor) if graph.form is JSON else _written(field)
        yield Proposal(name, text, "field", cursor.start, _type(field))


def _as_member(name: str, cursor: Cursor) -> str:
    """Return the name of a member of JSON, with the quotes that are missing."""
    return name if cursor.in_string else f'"{name}": '


def _written(field: Any) -> str:
    if field.message_type is not None:
        return f"{field.name} {{"
    return f'{field.name}: "' if field.type == field.TYPE_STRING else f"{field.name}: "


def _type(field: Any) -> str:
    if field.message_type is not None:
        return str(field.message_type.name)
    if field.enum_type is not None:
        return str(field.enum_type.name)
    return (
        "text" if field.type == field.TYPE_STRING else "bool" if field.type == field.TYPE_BOOL else "number"
    )
