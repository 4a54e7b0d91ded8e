"""Which lines of source open files, connections or programs, other than through the access of a graph."""

from __future__ import annotations

import ast
import inspect
import textwrap
from typing import TYPE_CHECKING, Any, Final

from penstock_testing.packs.report import PackFault

if TYPE_CHECKING:
    from collections.abc import Iterator

#: Names of functions and methods that open something outside.
_OPENING: Final = frozenset(
    "open write_text write_bytes read_text read_bytes Popen create_connection urlopen".split()  # noqa: SIM905
)
_KINDS: Final = ("reads", "writes", "connects", "devices", "runs")
#: Endings of expressions that are a `penstock.access.Access`.
_THROUGH: Final = ("access", "service(ACCESS)")


def opening_calls(source: str) -> list[tuple[int, str]]:
    """Return line and text of each call that opens something itself.

    Calls of a calculator's own `open(cc)` are none, and neither is `open` of an `Access`.

    Args:
        source: of a module or class; may be indented.

    Raises:
        SyntaxError: it is no Python.
    """
    found = []
    for node in ast.walk(ast.parse(textwrap.dedent(source))):
        if not isinstance(node, ast.Call):
            continue
        called = node.func
        owner = ast.unparse(called.value) if isinstance(called, ast.Attribute) else ""
        name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
        is_method = bool(owner and node.args and ast.unparse(node.args[0]) == "cc")
        if name in _OPENING and not is_method and not owner.endswith(_THROUGH):
            found.append((node.lineno, f"{owner}{'.' * bool(owner)}{name}()"))
    return found


def check_opening(cls: Any, subject: str) -> Iterator[PackFault]:
    """Yield a warning where a calculator's class opens something and its contract declares nothing."""
    if call := _undeclared_opening(cls):
        yield PackFault(
            subject,
            f"it calls {call}, and its contract does not say what it opens; declare it in get_contract(), "
            "cc.declare(reads=[...]), and open it through cc.service(penstock.access.ACCESS)",
            is_warning=True,
        )


def _undeclared_opening(cls: Any) -> str:
    """Return a call of a calculator's class that opens something, if its source declares nothing; or ""."""
    try:
        sources = [inspect.getsource(one) for one in inspect.getmro(cls) if _is_written(one)]
        calls = [call for source in sources for _, call in opening_calls(source)]
    except (OSError, TypeError, SyntaxError):  # made at run time: there is no source
        return ""
    declares = any(f"{kind}=" in source for source in sources for kind in _KINDS)
    return calls[0] if calls and not declares else ""


def _is_written(cls: type) -> bool:
    return cls.__module__.partition(".")[0] not in {"builtins", "penstock", "abc", "typing"}
