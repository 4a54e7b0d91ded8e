"""Counts the fields of serialized protobuf before protobuf makes objects: two bytes can become 600."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from penstock import limits

if TYPE_CHECKING:
    from collections.abc import Iterator

#: Fewer bytes cannot hold what costs much.
_SMALL: Final = 1 << 16
_VARINT, _EIGHT, _BYTES, _FOUR = 0, 1, 2, 5
#: The field of a graph that is a node.
_NODE: Final = "penstock.CalculatorGraphConfig.node"


def check_wire(data: bytes, descriptor: Any, who: str) -> None:
    """Refuse bytes that hold more nodes, or more fields, than the limits allow. Never fails otherwise.

    Args:
        data: of a message; protobuf says what is wrong with it.
        descriptor: of the message.
        who: what an error begins with: "graph.binarypb: the graph".

    Raises:
        ResourceExhaustedError: there are more; names the limit.
    """
    if len(data) < _SMALL:
        return
    most = limits.current()
    view = memoryview(data)
    nodes = fields = 0
    #: Parts that are still to be looked at.
    left: list[tuple[memoryview, Any]] = [(view, descriptor)]
    while left:
        part, kind = left.pop()
        for number, content in _fields(part):
            fields += 1
            field = _field(kind, number)
            if field is not None and field.message_type is None:
                field = None
            nodes += field is not None and field.full_name == _NODE
            if nodes > most.nodes:
                limits.check("nodes", nodes, f"{who} has more than {most.nodes} nodes")
            if fields > most.tokens:
                limits.check("tokens", fields, f"{who} has too many fields")
            if content and field is not None:
                left.append((content, field.message_type))


def _field(kind: Any, number: int) -> Any:
    """Return the field of a message that has a number, an extension that is known included; else None."""
    found = kind.fields_by_number.get(number)
    if found is None and kind.is_extendable:
        try:
            found = kind.file.pool.FindExtensionByNumber(kind, number)
        except KeyError:
            return None
    return found


def _fields(part: memoryview) -> Iterator[tuple[int, memoryview]]:
    """Yield number and content of each field, empty for one without a length. Ends at a fault."""
    at, end = 0, len(part)
    while at < end:
        key, at = _varint(part, at)
        wire = key & 7
        if wire == _BYTES:
            size, at = _varint(part, at)
            if size < 0 or at + size > end:
                return
            yield key >> 3, part[at : at + size]
            at += size
            continue
        if wire == _VARINT:
            _, at = _varint(part, at)
        elif wire == _EIGHT:
            at += 8
        elif wire == _FOUR:
            at += 4
        else:
            return
        yield key >> 3, part[:0]


def _varint(part: memoryview, at: int) -> tuple[int, int]:
    """Return a number and the place after it; at the end of the part the place is beyond it."""
    number = shift = 0
    while at < len(part):
        byte = part[at]
        at += 1
        number |= (byte & 127) << shift
        if byte < 128:  # noqa: PLR2004  # the mark that more follow
            return number, at
        shift += 7
        if shift > 63:  # noqa: PLR2004  # longer than any number
            break
    return -1, len(part) + 1
