"""What makes the service of a graph that the application does not give."""

from __future__ import annotations

from functools import partial
from os import path
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

    from penstock.services import ServiceKey

S = TypeVar("S")


def maker_of(key: ServiceKey[S], file: str | None) -> Callable[[], S] | None:
    """Return what makes the object of a key for a graph.

    Args:
        key: of the service.
        file: of the graph; None where it comes from none.

    Returns:
        The key's function; where the graph is in a file and the key can make the object beside it, that. None
        where the object must be set.
    """
    if key.create_beside is None or file is None or not path.isfile(file):  # noqa: PTH113  # see below
        return key.create
    # Without pathlib, which takes long to import.
    return partial(key.create_beside, path.dirname(path.abspath(file)))  # noqa: PTH100, PTH120
