"""Options that stand on a node and belong to another calculator: nothing would read them.

`XOptions` belongs to the calculator `X`, where one has that name. A calculator may read the options of
another, where it is a kind of it or its source names them, as code or as a string of their name alone: a
script has graph text too, which names them for its nodes. A calculator from a function reads its own only.
What cannot be seen is not refused.
"""

from __future__ import annotations

import ast
import inspect
import sys
from typing import TYPE_CHECKING, Final

from penstock.errors import PenstockError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from penstock.registry import Registry

_ENDING: Final = "Options"
#: The module of the classes that are made of functions.
_FORMS: Final = "penstock.functions.function_calls"


def foreign_options(given: Iterable[str], calculator: type, registry: Registry) -> tuple[str, str] | None:
    """Return the full name of options of another calculator, and the name of that calculator; None for none.

    Args:
        given: full names of the options that stand on the node.
        calculator: of the node.
        registry: of the graph.
    """
    for options in given:
        short = options.rpartition(".")[2]
        owner = short.removesuffix(_ENDING)
        if owner == short or not registry.has("calculator", owner):
            continue
        if not (_is_kind_of(calculator, owner, registry) or _names(calculator, short)):
            return options, owner
    return None


def _is_kind_of(calculator: type, owner: str, registry: Registry) -> bool:
    try:
        found = registry.find("calculator", owner)
    except PenstockError:  # it cannot be imported: whether the two are related is not known
        return True
    if not isinstance(found, type):
        return True
    return issubclass(found, calculator) or issubclass(calculator, found)


def _names(calculator: type, options: str) -> bool:
    """Return whether the source of a calculator, or of a class that it is derived from, has a name."""
    modules = {kind.__module__ for kind in calculator.__mro__}
    if _FORMS in modules:
        return False
    for name in modules - {"builtins", "penstock.engine.calculator"}:
        try:
            source = inspect.getsource(sys.modules[name])
            if options in source and _is_named(options, ast.parse(source)):
                return True
        except (KeyError, OSError, TypeError, SyntaxError):
            return True  # without source it is not known
    return False


def _is_named(options: str, tree: ast.Module) -> bool:
    """Return whether code names options: as a variable, an attribute, an import, or a string of the name."""
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name) | ast.Attribute(attr=name) | ast.alias(name=name):
                pass
            case ast.Constant(value=str(name)):
                pass
            case _:
                continue
        if name.rpartition(".")[2] == options:
            return True
    return False
