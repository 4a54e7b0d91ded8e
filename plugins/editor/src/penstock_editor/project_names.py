"""Graph files that belong together: subgraphs lie beside the graphs that use them.

Streams and side packets are names of one file. A subgraph's type, the tags of its inputs and outputs, and the
executors that its nodes run on are names of all files that lie together.
"""

from __future__ import annotations

import re
from stat import S_ISREG
from typing import TYPE_CHECKING, Final, NamedTuple

from pygls.exceptions import JsonRpcInvalidParams

from penstock_editor.open_file import OpenFile

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from penstock_editor.graph_text import GraphText, Name
    from penstock_editor.open_file import WrittenGraph

_ENDINGS: Final = ("*.pbtxt", "*.textproto")
#: Much else is JSON too, so these come after the others.
_JSON_ENDING: Final = "*.json"
#: Files of a folder that are read, and how large they may be: larger ones are data.
_MOST_FILES: Final = 500
_MOST_BYTES: Final = 2**20
#: Of all JSON files of a folder together.
_MOST_JSON_BYTES: Final = 2**24
_NAME: Final = re.compile(r"[a-z_][a-z0-9_]*")
_TYPE: Final = re.compile(r"[A-Za-z_]\w*(?:\.\w+)*")
_TAG: Final = re.compile(r"[A-Z_][A-Z0-9_]*")


class Found(NamedTuple):
    """One place in a file."""

    file: OpenFile
    graph: WrittenGraph
    #: `start`, `end`: offsets in the graph.
    start: int
    end: int
    is_origin: bool


class Port(NamedTuple):
    """A port of a subgraph, where it is named: by the subgraph or by a node that uses it."""

    #: The subgraph's type.
    type: str
    field: str
    tag: str
    #: Which of the ports of that field and tag.
    position: int
    #: `start`, `end`: of the tag at the cursor.
    start: int
    end: int


class Folder:
    """The graph files of folders, read again when they change."""

    def __init__(self) -> None:
        #: Path → its time and size, and the file; None for one that has no graph.
        self._read: Final[dict[Path, tuple[tuple[int, int], OpenFile | None]]] = {}

    def beside(self, one: OpenFile, opened: Mapping[str, OpenFile]) -> list[OpenFile]:
        """Return a file, then the other graph files of its folder, as they are edited where they are open."""
        if one.is_python or one.path is None or not one.path.parent.is_dir():
            return [one]
        by_path = {file.path: file for file in opened.values()}
        others = [by_path.get(path) or self._closed(path) for path in _paths(one.path.parent, one.path)]
        return [one, *(file for file in others if file is not None)]

    def _closed(self, path: Path) -> OpenFile | None:
        """Return a file that is not open in the editor; None where it has no graph or cannot be read."""
        try:
            stat = path.stat()
            version = (stat.st_mtime_ns, stat.st_size)
            known = self._read.get(path)
            if known is not None and known[0] == version:
                return known[1]
            text = path.read_bytes().decode("utf-8", "replace")
        except OSError:  # it has been taken away meanwhile, or is nobody's business
            return None
        file = OpenFile(path.as_uri())
        file.take(text)
        found = file if file.graphs else None
        self._read[path] = (version, found)
        return found


def _paths(folder: Path, without: Path) -> list[Path]:
    """Return the files of a folder that may be graphs: graph text, then JSON, each in order of its names."""
    text = sorted({path for ending in _ENDINGS for path in folder.glob(ending)})
    found = [path for path in text if path != without and _size(path) <= _MOST_BYTES]
    left = _MOST_JSON_BYTES
    for path in sorted(folder.glob(_JSON_ENDING)):
        size = _size(path)
        if path != without and size <= min(_MOST_BYTES, left):
            found.append(path)
            left -= size
    return found[:_MOST_FILES]


def _size(path: Path) -> int:
    """Return the size of a file; more than is read where it is none, such as a pipe or a folder."""
    try:
        found = path.stat()
    except OSError:  # as in `_closed`
        return _MOST_BYTES + 1
    return found.st_size if S_ISREG(found.st_mode) else _MOST_BYTES + 1


def places_of(files: list[OpenFile], graph: WrittenGraph, name: Name) -> list[Found]:
    """Return the places where something is named, the places of the first file first.

    Args:
        files: the file of the name, then the files beside it.
        graph: the graph that has the name.
        name: a name in it.
    """
    one = files[0]
    if name.kind in {"stream", "side packet"}:
        return [_found(one, graph, each) for each in graph.graph.places(name.kind, name.name)]
    if name.kind == "executor":
        files = [file for file in files if file in _together(files)]
    return [
        _found(file, written, each)
        for file in files
        for written in file.graphs
        for each in written.graph.places(name.kind, name.name)
    ]


def port_at(files: list[OpenFile], graph: WrittenGraph, offset: int) -> Port | None:
    """Return the port of a subgraph whose tag is at an offset; None for other places."""
    entry = graph.graph.tag_at(offset)
    return None if entry is None else port_of(files, graph.graph, entry)


def port_of(files: list[OpenFile], graph: GraphText, name: Name) -> Port | None:
    """Return the port of a subgraph that an entry connects; None where it connects no subgraph's."""
    kind = type_of(graph) if name.node < 0 else graph.calculator_at(name.node)
    if not kind or defining(files, kind) is None:
        return None
    tag = name.tag.partition(":")[0]
    begin = name.start - len(name.tag) - 1
    same = [one for one in _entries(graph, name.node) if (one.field, _tag(one)) == (name.field, tag)]
    position = next((number for number, one in enumerate(same) if one.start == name.start), 0)
    return Port(kind, name.field, tag, position, begin, begin + len(tag))


def type_of(graph: GraphText) -> str:
    """Return the type of a graph, by which others use it; "" for none."""
    return next((text for part in graph.parts if (text := part.root.text_of("type"))), "")


def defining(files: Iterable[OpenFile], kind: str) -> tuple[OpenFile, WrittenGraph] | None:
    """Return the file and the graph of a type; None where none of the files has it."""
    for file in files:
        for written in file.graphs:
            if written.graph.is_made("calculator", kind):
                return file, written
    return None


def inner_entry(files: list[OpenFile], port: Port) -> Found | None:
    """Return the entry of a subgraph's own file that declares a port."""
    found = defining(files, port.type)
    if found is None:
        return None
    file, written = found
    same = [one for one in _entries(written.graph, -1) if (one.field, _tag(one)) == (port.field, port.tag)]
    return _found(file, written, same[port.position]) if port.position < len(same) else None


def tags_of(files: list[OpenFile], port: Port) -> list[Found]:
    """Return the places where the tag of a port is written: by the subgraph, and by the nodes that use it."""
    return [
        Found(file, written, begin, begin + len(port.tag), is_origin=one.node < 0)
        for file in files
        for written in file.graphs
        for one in _users(written.graph, port.type)
        if (one.field, _tag(one)) == (port.field, port.tag)
        for begin in [one.start - len(one.tag) - 1]
    ]


def check_new_name(found: list[Found], name: Name, new: str, files: list[OpenFile]) -> None:
    """Raise an error of the protocol where a name cannot be given.

    Raises:
        JsonRpcInvalidParams: with the reason, which editors show.
    """
    if name.kind == "calculator":
        if not _TYPE.fullmatch(new):
            raise JsonRpcInvalidParams(
                f"{new!r} is no type of a graph: names in the edited project have letters, digits and _"
            )
        if new != name.name and (defining(files, new) or files[0].knowledge.is_known(new, "")):
            raise JsonRpcInvalidParams(
                f"the edited project has a calculator {new!r} already; choose another name"
            )
        return
    if name.kind != "executor" and not _NAME.fullmatch(new):
        raise JsonRpcInvalidParams(
            f"{new!r} is no name of a {name.kind}: names in the edited project have small letters, digits "
            "and _"
        )
    graphs = {id(one.graph): one.graph for one in found}.values()
    if new != name.name and any(one.graph.places(name.kind, new) for one in graphs):
        raise JsonRpcInvalidParams(
            f"the edited project has a {name.kind} {new!r} already; choose another name"
        )


def check_new_tag(files: list[OpenFile], port: Port, new: str) -> None:
    """Raise an error of the protocol where a tag cannot be given.

    Raises:
        JsonRpcInvalidParams: with the reason, which editors show.
    """
    if not _TAG.fullmatch(new):
        raise JsonRpcInvalidParams(f"{new!r} is no tag in the project: use capital letters, digits and _")
    if new != port.tag and tags_of(files, port._replace(tag=new)):
        raise JsonRpcInvalidParams(
            f"{port.type} in the project has a port {new!r} already; choose another tag"
        )


def _found(file: OpenFile, graph: WrittenGraph, name: Name) -> Found:
    return Found(file, graph, name.start, name.end, name.is_origin)


def _tag(name: Name) -> str:
    return name.tag.partition(":")[0]


def _entries(graph: GraphText, node: int) -> Iterator[Name]:
    """Yield the streams and side packets of a node, or of the graph itself (-1)."""
    for start, part in zip(graph.starts, graph.parts, strict=True):
        for one in part.names:
            moved = one.moved(start)
            if moved.node == node and one.kind in {"stream", "side packet"}:
                yield moved


def _users(graph: GraphText, kind: str) -> Iterator[Name]:
    """Yield the entries that connect ports of a subgraph: its own, and the entries of nodes that use it."""
    if type_of(graph) == kind:
        yield from _entries(graph, -1)
    for use in graph.places("calculator", kind):
        if use.node >= 0:
            yield from _entries(graph, use.node)


def _together(files: list[OpenFile]) -> list[OpenFile]:
    """Return the files that the first one is connected with: as subgraphs, or as their users."""
    types = [{type_of(one.graph) for one in file.graphs} - {""} for file in files]
    uses = [{name for one in file.graphs for name in one.graph.named("calculator")} for file in files]
    found, waiting = {0}, [0]
    while waiting:
        at = waiting.pop()
        for other in range(len(files)):
            if other not in found and (types[at] & uses[other] or types[other] & uses[at]):
                found.add(other)
                waiting.append(other)
    return [files[number] for number in sorted(found)]
