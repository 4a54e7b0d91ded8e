"""Fields of graph text that cannot be read: each is a fault, and the rest of the graph is read without it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from penstock.config.reading.scan import end_of_field
from penstock.errors import GraphParseError

if TYPE_CHECKING:
    from penstock.check.faults import Faults
    from penstock.config.places import Places
    from penstock.registry import Registry

#: Each costs reading the graph once more.
MOST: Final = 20


class UnreadField(NamedTuple):
    """A field that cannot be read: one of a node, an executor or another part of the graph, or such a part.

    Attributes:
        error: why; has the place in words.
        at: the place of what is wrong.
        start, end: where the field begins and ends in the text.
        node: the place of the node that it is in; -1 where it is in no node.
        calculator: of that node, or "".
        name: of the field: "options".
        options: full name of the options that nothing declares, or "" where something else is wrong.
    """

    error: GraphParseError
    at: int
    start: int
    end: int
    node: int
    calculator: str
    name: str
    options: str


def unread_field(error: GraphParseError, places: Places, options: str = "") -> UnreadField | None:
    """Return the field that an error is about; None where the text cannot be followed as far as there."""
    at = places.offset_of(error.line, error.column)
    around = places.around(at)
    if not around:
        return None
    (part, outer), (name, spot) = around[0], around[-1]
    end = end_of_field(places.text, spot.offset)
    node = outer.offset if part == "node" else -1
    calculator = next(places.strings_in(outer, "calculator"), "")
    found = UnreadField(error, at, spot.offset, end, node, calculator, name, options)
    return found if at < end else None


def text_without(text: str, field: UnreadField) -> str:
    """Return graph text with blanks instead of a field, so that all other places stay true."""
    blanks = re.sub(r"[^\n]", " ", text[field.start : field.end])
    return f"{text[: field.start]}{blanks}{text[field.end :]}"


def note_unread(fields: list[UnreadField], faults: Faults, registry: Registry, package: str = "") -> None:
    """Note each field as a fault.

    Not noted is that options are unknown if the calculator is too, and one pack has both.
    """
    for field in fields:
        pack = field.options and registry.install_hint("option", field.options)
        known = any(registry.has(kind, field.calculator, package) for kind in ("calculator", "subgraph"))
        is_told = (
            pack and not known and pack == registry.install_hint("calculator", field.calculator, package)
        )
        failed = registry.failures if field.options else {}
        faults.add_unread(field.at, None if is_told else field.error, field.node, field.name, failed)
