"""What the servers need beside penstock-monitor itself: the libraries of its extras `live` and `web`."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Final

from penstock.errors import UnavailableError

#: The modules that a web server alone needs.
WEB: Final = ("h11", "starlette", "uvicorn")
_MODULES: Final = ("h11", "msgspec", "numpy", "PIL", "pygraphviz", "starlette", "uvicorn")


def check_needs() -> None:
    """Refuse to begin without one of the libraries of the page.

    Raises:
        UnavailableError: one is not installed; says which, and how to get them all.
    """
    check_web("the page of a running graph", 'pip install "penstock-monitor[live]"', _MODULES)


def check_web(what: str, cure: str, modules: tuple[str, ...] = WEB) -> None:
    """Refuse to begin without one of the libraries of a web server.

    Args:
        what: needs them, in words.
        cure: the command that installs them.
        modules: all that are needed.

    Raises:
        UnavailableError: one is not installed; says which, and the cure.
    """
    missing = [name for name in modules if find_spec(name) is None]
    if missing:
        raise UnavailableError(f"{what} needs {missing[0]}, which is not installed; {cure}")
