"""Graph files as subgraphs of a command: named by `--subgraph`, or beside the graph file."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Final

from penstock.errors import PenstockError
from penstock.lowlevel import default_registry
from penstock_cli.failures import WrongUsage
from penstock_cli.loading import existing
from penstock_cli.saying import say

if TYPE_CHECKING:
    from collections.abc import Iterable

#: The `type` of a graph, written where a line begins, as `penstock` writes it.
_TYPE: Final = re.compile(r'^type\s*:\s*"([A-Za-z_][\w.]*)"', re.MULTILINE)
_ENDINGS: Final = ("*.pbtxt", "*.textproto")
#: A type stands at the beginning of a file, or at its end; longer files are data.
_MOST_BYTES: Final = 2**20


def add_subgraphs(given: Iterable[str]) -> None:
    """Register the graph files of `--subgraph NAME=FILE`, until the process ends.

    Raises:
        WrongUsage: one has not that form, or its name is another component's.
        FileMissing: there is no such file.
    """
    registry = default_registry()
    for text in given:
        name, equals, file = text.partition("=")
        if not (name and equals and file):
            raise WrongUsage(f"--subgraph {text}: write NAME=FILE, such as DetectorSubgraph=detector.pbtxt")
        path = existing(Path(file), "graph file").resolve()
        if registry.has("calculator", name) or (
            registry.has("subgraph", name) and registry.find("subgraph", name) != path
        ):
            raise WrongUsage(f"--subgraph {text}: {name!r} is installed already; take another name")
        try:
            registry.add("subgraph", name, path)
        except PenstockError as error:
            raise WrongUsage(f"--subgraph {text}: {error}") from error


def graph_file(path: Path) -> Path:
    """Return the path of a graph file, whose node types may be graph files of its folder.

    A file `detector.pbtxt` with the line `type: "DetectorSubgraph"` is the subgraph of that name, unless
    something else of that name is installed. Two files with one type are reported, and neither is used.

    Raises:
        FileMissing: as `existing`.
    """
    existing(path, "graph file")
    registry = default_registry()
    text = _text_of(path)
    found: dict[str, list[Path]] = {}
    for other in sorted({one for ending in _ENDINGS for one in path.parent.glob(ending)}):
        if not other.samefile(path):
            for kind in _TYPE.findall(_text_of(other)):
                found.setdefault(kind, []).append(other.resolve())
    for kind, files in found.items():
        if f'"{kind}"' not in text and len(files) > 1:
            continue
        if registry.has("calculator", kind) or registry.has("subgraph", kind):
            continue
        if len(files) > 1:
            names = " and ".join(one.name for one in files)
            say(f"warning: {names} both have the type {kind!r}: neither is used; say --subgraph {kind}=FILE")
            continue
        registry.add("subgraph", kind, files[0])
    return path


def _text_of(path: Path) -> str:
    try:
        with path.open("rb") as file:
            data = file.read(_MOST_BYTES + 1)
    except OSError:  # the graph file itself is reported when it is read; the others are not needed
        return ""
    return data.decode("utf-8", "replace") if len(data) <= _MOST_BYTES else ""
