"""Which ports of `open` a calculator keeps in its attributes, as far as its source tells.

With `max_in_flight` above 1 each call has ports of its own. A port that `open` has kept is none of these:
what `process` writes there is delivered when the node closes, and what it reads there is never a packet.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

_COLLECTIONS: Final = ("inputs", "outputs")


def kept_port(calculator: object) -> str | None:
    """Return the attribute in which `open` of a calculator class keeps a port, or ports; None for none.

    A class without readable source, and a port that goes through a variable or another method, are not seen.
    """
    # `@penstock.calculator` makes a calculator of a class that is its definition's target.
    written = getattr(getattr(calculator, "definition", None), "target", calculator)
    opening = getattr(written, "open", None)
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(opening)))  # type: ignore[arg-type]  # TypeError for None
    except (OSError, TypeError, SyntaxError):
        return None
    return next((name for node in ast.walk(tree) for name in _kept_by(node)), None)


def _kept_by(node: ast.AST) -> Iterator[str]:
    """Yield the attribute `self.x` that a statement sets to a port, or to a collection with one."""
    if not isinstance(node, ast.Assign | ast.AnnAssign) or node.value is None or not _has_port(node.value):
        return
    for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
        if isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name):
            yield target.attr


def _has_port(value: ast.expr) -> bool:
    """Return whether an expression is `cc.inputs[...]` or `cc.outputs[...]`, or holds it as an element."""
    match value:
        case ast.Subscript(value=ast.Attribute(attr=collection)):
            return collection in _COLLECTIONS
        case ast.List(elts=elements) | ast.Tuple(elts=elements):
            return any(map(_has_port, elements))
        case ast.Dict(values=elements):
            return any(map(_has_port, elements))
        case ast.ListComp(elt=element) | ast.DictComp(value=element):
            return _has_port(element)
        case ast.IfExp(body=body, orelse=other):
            return _has_port(body) or _has_port(other)
    return False
