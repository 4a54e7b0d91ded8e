"""Loads the graph that a path on the command line names, with errors for invalid files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from penstock import CalculatorGraph, GraphConfigError, GraphParseError, PenstockError, StatusCode
from penstock.errors import UnknownNameError
from penstock.packs import official_packs
from penstock_cli.failures import FileMissing, GraphInvalid

if TYPE_CHECKING:
    from collections.abc import Callable


#: What to do about unknown calculators of one's own.
OWN: Final = "for components of your own: --import FILE.py, --import MODULE or --subgraph NAME=FILE"
#: Kinds of components that users write.
_WRITTEN: Final = ("calculator", "input stream handler", "executor")


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
