"""Options of older calculators as those of the newer ones that do the work."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from google.protobuf.message import Message

M = TypeVar("M", bound="Message")


def as_message(options: Message, kind: type[M]) -> M:
    """Return a message of another type with the same fields set.

    The fields of `options` must be fields of that type too, with the same numbers and types; those that it
    does not know are ignored.
    """
    made = kind.FromString(options.SerializeToString())
    made.DiscardUnknownFields()
    return made
