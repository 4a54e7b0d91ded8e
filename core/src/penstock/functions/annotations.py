"""What one annotation says: a payload type, whether None is allowed, and whether it is a side packet."""

from __future__ import annotations

import typing
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import attrs

from penstock.engine.outcome import Stop
from penstock.errors import InvalidArgumentError
from penstock.payload_types import is_type
from penstock.type_hints import HintParts

if TYPE_CHECKING:
    from penstock.payload_types import PayloadType

T = TypeVar("T")


class _Side:
    """Marks the annotation of a side packet."""

    def __repr__(self) -> str:
        return "side packet"


_SIDE = _Side()

#: Annotates a keyword-only parameter that is a side packet, or a result that makes one.
SidePacket = Annotated[T, _SIDE]


@attrs.frozen
class Meaning:
    """An annotation, taken apart."""

    #: What a port can declare.
    type: PayloadType
    #: Whether None stood beside it.
    allows_none: bool = False
    #: Whether it is of a side packet.
    is_side: bool = False
    #: The first text in an `Annotated`; "" for none.
    description: str = ""


def read(annotation: Any, where: str) -> Meaning:
    """Take the annotation of a parameter, result or field apart.

    Raises:
        InvalidArgumentError: no port can have it.
    """
    found = HintParts(annotation)
    # Stop is what a result may be besides, and is never written
    rest = tuple(_as_payload(member) for member in found.members if member is not Stop)
    if not rest:
        raise InvalidArgumentError(f"{where}: None is no payload; annotate it with the payload's type")
    kind = rest[0] if len(rest) == 1 else typing.Union[rest]  # noqa: UP007  # members known at run time only
    if not is_type(kind):
        raise InvalidArgumentError(
            f"{where}: annotation {annotation!r} cannot be the type of a port; write a class, an alias such "
            "as list[int], a union of these, or Any"
        )
    description = next((note for note in found.notes if isinstance(note, str)), "")
    return Meaning(kind, found.allows_none, _is_side(found), description)


def is_side_packet(annotation: Any) -> bool:
    """Return whether an annotation marks a side packet."""
    return _is_side(HintParts(annotation))


def _is_side(found: HintParts) -> bool:
    return any(note is _SIDE for note in found.notes)


def _as_payload(member: Any) -> Any:
    """Return what payloads must be instances of: `isinstance` refuses typed dicts, which are plain ones."""
    return dict if typing.is_typeddict(member) else member
