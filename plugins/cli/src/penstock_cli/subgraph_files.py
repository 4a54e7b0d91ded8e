"""Graph files as subgraphs of a graph file: named by `--subgraph`, or beside it.

They belong to that file alone: nothing is registered for the process, and of two files of one command each
has its own.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from penstock.packs import default_registry
from penstock_cli.existing_files import existing_file
from penstock_cli.failures import WrongUsage
from penstock_cli.saying import say

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from penstock import Registry

#: Key in `click.Context.meta`: name → file of each `--subgraph`.
GIVEN: Final = "penstock_cli.subgraphs"
#: The `type` of a graph, where it begins a line.
_TYPE: Final = re.compile(r'^type\s*:\s*"([A-Za-z_][\w.]*)"', re.MULTILINE)
_ENDINGS: Final = ("*.pbtxt", "*.textproto")
#: Longer files are no subgraphs, but data.
_MOST_BYTES: Final = 2**20


def named_files(given: Iterable[str]) -> dict[str, Path]:
    """Return name → file for the values of `--subgraph NAME=FILE`.

    Raises:
        WrongUsage: one has not that form, its name is a component's, or two have one name.
        FileMissing: there is no such file.
    """
    files: dict[str, Path] = {}
    for text in given:
        name, equals, file = text.partition("=")
        if not (name and equals and file):
            raise WrongUsage(f"--subgraph {text}: write NAME=FILE, such as DetectorSubgraph=detector.pbtxt")
        if _is_installed(name, default_registry()):
            raise WrongUsage(f"--subgraph {text}: {name!r} is installed already; take another name")
        if name in files:
            raise WrongUsage(f"--subgraph {text}: {name!r} is {str(files[name])!r} already; name one file")
        files[name] = existing_file(Path(file), "graph file")
    return files


def subgraphs_of(path: Path, registry: Registry | None = None) -> Mapping[str, Path]:
    """Return name → file for the subgraphs of a graph file: named by the command, and beside the file.

    A file `detector.pbtxt` with the line `type: "DetectorSubgraph"` is the subgraph of that name, unless
    something else of that name is installed. Two such files that the graph may name are reported, and neither
    is used.

    Args:
        path: an existing file.
        registry: what is installed; None for the default one.
    """
    registry = default_registry() if registry is None else registry
    context = click.get_current_context(silent=True)
    given: Mapping[str, Path] = {} if context is None else context.meta.get(GIVEN, {})
    beside: dict[str, list[Path]] = {}
    for other in sorted({one for ending in _ENDINGS for one in path.parent.glob(ending)}):
        if not other.samefile(path):
            for kind in _TYPE.findall(_text_of(other)):
                beside.setdefault(kind, []).append(other)
    found = {}
    for kind, files in beside.items():
        if kind in given or _is_installed(kind, registry):
            continue
        if len(files) == 1:
            found[kind] = files[0]
        elif f'"{kind}"' in _text_of(path):
            names = " and ".join(one.name for one in files)
            say(f"warning: {names} both have the type {kind!r}: neither is used; say --subgraph {kind}=FILE")
    return {**found, **given}


def registry_with_subgraphs(path: Path, registry: Registry | None = None) -> Registry:
    """Return a registry that has the subgraphs of a graph file besides what is installed."""
    registry = default_registry() if registry is None else registry
    files = subgraphs_of(path, registry)
    if not files:
        return registry
    child = registry.child()
    for name, file in files.items():
        child.add("subgraph", name, file)
    return child


def _is_installed(name: str, registry: Registry) -> bool:
    return registry.has("calculator", name) or registry.has("subgraph", name)


def _text_of(path: Path) -> str:
    try:
        with path.open("rb") as file:
            data = file.read(_MOST_BYTES + 1)
    except OSError:  # the graph file itself is reported when it is read; the others are not needed
        return ""
    return data.decode("utf-8", "replace") if len(data) <= _MOST_BYTES else ""
