"""The grammar of names in a graph: `name`, `TAG:name`, `TAG:index:name`.

Stream and side packet names are lower case, tags upper case, so that a reader always sees which is
which. Source of the grammar: MediaPipe `framework/tool/validate_name.h` and `tag_map.h`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, TypeAlias

from penstock.errors import FailedPreconditionError, InvalidArgumentError
from penstock.limits import check
from penstock.record import Record
from penstock.shown import quoted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

#: What finds a port of a node: its number, its tag, or both.
PortKey: TypeAlias = int | str | tuple[str, int]

_NAME: Final = r"[a-z_][a-z0-9_]*"
_TAG: Final = r"[A-Z_][A-Z0-9_]*"
_NUMBER: Final = r"0|[1-9][0-9]*"
_TAG_INDEX_NAME: Final = re.compile(rf"(?:({_TAG}):(?:({_NUMBER}):)?)?({_NAME})")
_TAG_INDEX: Final = rf"({_TAG})?(?::({_NUMBER}))?"  # few graphs need it: compiled at its first use


def is_name(text: str) -> bool:
    """Return whether `text` can name a stream or side packet."""
    return re.fullmatch(_NAME, text) is not None


def parse_tag_index_name(text: str) -> tuple[str, int, str]:
    """Split `"TAG:index:name"`; the index is -1 where there is no tag, 0 where only it is missing.

    Raises:
        InvalidArgumentError: `text` does not follow the grammar.
        ResourceExhaustedError: the index is beyond the limit "ports".
    """
    match = _TAG_INDEX_NAME.fullmatch(text)
    if match is None:
        raise InvalidArgumentError(
            f"{quoted(text)} is no port: write 'name', 'TAG:name' or 'TAG:index:name', "
            "the tag in upper case, the name in lower case"
        )
    tag, number, name = match.groups()
    return (tag, _index(text, number), name) if tag else ("", -1, name)


def parse_tag_index(text: str) -> tuple[str, int]:
    """Split `"TAG"`, `"TAG:1"`, `":1"` or `""` into tag and index.

    Raises:
        InvalidArgumentError, ResourceExhaustedError: as `parse_tag_index_name`.
    """
    match = re.fullmatch(_TAG_INDEX, text)
    if match is None:
        raise InvalidArgumentError(f"{quoted(text)} is no port: write 'TAG', 'TAG:index' or ':index'")
    tag, number = match.groups()
    return tag or "", _index(text, number)


def _index(text: str, number: str | None) -> int:
    index = int((number or "0")[:18])  # larger than any limit; Python does not read thousands of digits
    if index:
        check("ports", index, f"{quoted(text)}: the index of a port is {index}")
    return index


def port_id(key: object) -> tuple[str, int]:
    """Return the tag and index that `key` means: 2 is ("", 2), "TAG" is ("TAG", 0).

    Raises:
        InvalidArgumentError: it is none of these.
    """
    match key:
        case int(index):
            return "", index
        case str(tag):
            return tag, 0
        case (str(tag), int(index)):
            return tag, index
    raise InvalidArgumentError(f"{key!r} is no port tag or index: use an index, a 'TAG', or a ('TAG', index)")


def port_name(tag: str, index: int) -> str:
    """Return a port as a user reads it: `'TAG'`, `'TAG:1'`, or `0`."""
    if not tag:
        return str(index)
    return repr(f"{tag}:{index}") if index else repr(tag)


class TaggedPort(Record):
    """One entry of a tag map."""

    __slots__ = ("tag", "index", "name", "entry")  # noqa: RUF023  # in the order of `__init__`

    def __init__(self, tag: str, index: int, name: str, entry: int) -> None:
        #: "" where the entry has none.
        self.tag: Final = tag
        #: Counted from 0 within the tag.
        self.index: Final = index
        #: The name of the stream or side packet.
        self.name: Final = name
        #: Position of the entry in the config's list.
        self.entry: Final = entry


class TagMap:
    """The ports of one list of a node's config, in id order (tags by byte order, then index).

    Raises:
        InvalidArgumentError: an entry does not follow the grammar.
        FailedPreconditionError: an index is used twice, or one is missing.
        ResourceExhaustedError: there are more entries than the limit "ports", or an index is beyond it.
    """

    def __init__(self, entries: Iterable[str]) -> None:
        entries = tuple(entries)
        if len(entries) == 1:  # most lists have one entry, which is in order if its index is 0
            tag, index, name = parse_tag_index_name(entries[0])
            if index <= 0:
                self.ports: tuple[TaggedPort, ...] = (TaggedPort(tag, 0, name, 0),)
                return
        check("ports", len(entries), f"a node has a list of {len(entries)} ports")
        by_tag: dict[str, dict[int, TaggedPort]] = {}
        untagged = 0
        for position, text in enumerate(entries):
            tag, index, name = parse_tag_index_name(text)
            if index < 0:
                index = untagged
                untagged += 1
            ports = by_tag.setdefault(tag, {})
            if index in ports:
                raise FailedPreconditionError(
                    f"tag {tag!r} index {index} already has the name {quoted(ports[index].name)} "
                    f"but is given the name {quoted(name)} too; number them: '{tag}:0:...', '{tag}:1:...'"
                )
            ports[index] = TaggedPort(tag, index, name, position)
        for tag, ports in by_tag.items():
            missing = [i for i in range(max(ports) + 1) if i not in ports]
            if missing:
                raise FailedPreconditionError(
                    f"port tag {tag!r} has no entry for index {missing[0]}, but one for {max(ports)}"
                )
        self.ports = tuple(by_tag[tag][index] for tag in sorted(by_tag) for index in sorted(by_tag[tag]))

    def __iter__(self) -> Iterator[TaggedPort]:
        return iter(self.ports)

    def __len__(self) -> int:
        return len(self.ports)

    def ids(self) -> tuple[tuple[str, int], ...]:
        """Return tag and index of each port, in id order."""
        return tuple([(port.tag, port.index) for port in self.ports])

    def names(self) -> tuple[str, ...]:
        """Return the name of each port, in id order."""
        return tuple(port.name for port in self.ports)
