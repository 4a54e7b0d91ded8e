"""What the page needs beside penstock-monitor itself: the libraries of its extra `live`."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Final

from penstock.errors import UnavailableError

_MODULES: Final = ("h11", "msgspec", "numpy", "PIL", "pygraphviz", "starlette", "uvicorn")


def check_needs() -> None:
    """Refuse to begin without one of the libraries.

    Raises:
        UnavailableError: one is not installed; says which, and how to get them all.
    """
    missing = [name for name in _MODULES if find_spec(name) is None]
    if missing:
        raise UnavailableError(
            f"the page of a running graph needs {missing[0]}, which is not installed; "
            'pip install "penstock-monitor[live]"'
        )
