"""The JSON form of a graph: its names put right before protobuf reads it, its errors made readable.

A path is a list of (field as the text format names it, index), as `Places.follow` takes it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from penstock.config.reading.places import own_name, snake_case

if TYPE_CHECKING:
    from collections.abc import Callable

#: Steps from the graph to one of its parts.
FieldPath: TypeAlias = "tuple[tuple[str, int], ...]"

_PLACE: Final = re.compile(r'\s*at "?CalculatorGraphConfig(?:[\w.@]|\[[^\]]*\])*"?')
_PREFIX: Final = re.compile(r"^(?:Failed to parse [^ ]+ field: )+")


def without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return a JSON object as a dict.

    Raises:
        ValueError: a member comes twice; plain `json` would forget the first.
    """
    members = dict(pairs)
    if len(members) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the member {twice!r} comes twice in one object")
    return members


def with_own_names(value: Any, load: Callable[[str, str, FieldPath], None]) -> Any:
    """Return a copy of JSON in which the reference's names of messages are ours.

    Args:
        value: a graph as JSON has it.
        load: called for each name: in our package, as written, and where it stands.
    """
    return _copied(value, (), load)


def _copied(value: Any, path: FieldPath, load: Callable[[str, str, FieldPath], None]) -> Any:
    if isinstance(value, list):
        above, (name, _) = (path[:-1], path[-1]) if path else ((), ("", 0))
        return [_copied(element, (*above, (name, i)), load) for i, element in enumerate(value)]
    if not isinstance(value, dict):
        return value
    members = {}
    for key, member in value.items():
        if key == "@type" and isinstance(member, str):
            prefix, slash, written = member.rpartition("/")
            load(own_name(written), written, (*path, (key, 0)))
            members[key] = f"{prefix}{slash}{own_name(written)}"
            continue
        field = key
        if isinstance(key, str) and key.startswith("[") and key.endswith("]"):
            written = key[1:-1]
            field = f"[{own_name(written)}]"
            load(own_name(written), written, (*path, (field, 0)))
        members[field] = _copied(member, (*path, (snake_case(str(field)), 0)), load)
    return members


def reason(error: Exception) -> str:
    """Return what is wrong from an error of protobuf's JSON reader, without where it says that it is."""
    words = _PREFIX.sub("", str(error)).partition("\n")[0].rstrip(".")
    return _PLACE.sub("", words).rstrip(".")
