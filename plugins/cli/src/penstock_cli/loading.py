"""Loads the graph that a path on the command line names, with errors for missing and invalid files."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING, Final

from penstock import CalculatorGraph, GraphConfigError, GraphParseError, PenstockError, StatusCode
from penstock.errors import UnknownNameError
from penstock.packs import official_packs
from penstock_cli.failures import FileMissing, GraphInvalid

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


#: What to do about unknown calculators of one's own.
OWN: Final = "for components of your own: --import FILE.py, --import MODULE or --subgraph NAME=FILE"
#: Kinds of components that users write.
_WRITTEN: Final = ("calculator", "input stream handler", "executor")


def existing(path: Path, what: str) -> Path:
    """Return `path`.

    Raises:
        FileMissing: there is no file of that name, and the message suggests a similar one in the same
            directory; or the path is a directory.
    """
    if path.is_dir():
        raise FileMissing(f"{what} {str(path)!r} is a directory, and nothing is loaded from it; name a file")
    if path.exists():
        return path
    there = [each for each in path.parent.iterdir() if each.is_file()] if path.parent.is_dir() else []
    alike = [each.name for each in there if each.stem == path.name]
    near = alike or get_close_matches(path.name, [each.name for each in there], n=1)
    hint = f"did you mean {str(path.with_name(near[0]))!r}?" if near else "check the path"
    raise FileMissing(f"{what} {str(path)!r} does not exist; {hint}")


def load(make: Callable[[], CalculatorGraph]) -> CalculatorGraph:
    """Make a graph.

    Raises:
        GraphInvalid: the file is not a graph, or the graph cannot run.
        FileMissing: its file cannot be read.
    """
    try:
        return make()
    except PenstockError as error:
        hint = f"\n  {OWN}" if names_unknown_components(error) else ""
        raise (FileMissing if is_unread(error) else GraphInvalid)(f"{error}{hint}") from error


def names_unknown_components(error: PenstockError) -> bool:
    """Return whether a graph names a component that no official pack has; the user may have written it."""
    faults = error.faults if isinstance(error, GraphConfigError) else (error,)
    unknown = [each for each in faults if isinstance(each, UnknownNameError) and each.kind in _WRITTEN]
    return any(each.name not in official_packs().get(each.kind, {}) for each in unknown)


def is_unread(error: PenstockError) -> bool:
    """Return whether a graph could not be made because its file could not be read."""
    is_faulty = isinstance(error, (GraphParseError, GraphConfigError))
    return not is_faulty and (isinstance(error.__cause__, OSError) or error.code is StatusCode.NOT_FOUND)


def name_in(entry: str) -> str:
    """Return the name in a config entry such as "TAG:0:name"."""
    return entry.rpartition(":")[2]
