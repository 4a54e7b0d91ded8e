"""The options that a function takes one by one: keyword-only parameters, as one attrs class.

The class has the calculator's name with "Options" behind it, and is in the function's package.
"""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any, Final

import attrs

from penstock.errors import InvalidArgumentError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from penstock.functions.parameters import OptionParameter

#: Of a class: their docstrings describe parameters too.
_METHODS: Final = ("__init__", "process")


def made_class(
    calculator: str, target: Callable[..., Any], parameters: Sequence[OptionParameter], who: str
) -> type | None:
    """Return the options class of these parameters; None where there are none.

    Args:
        calculator: its name, with or without a package.
        target: the function or class, whose docstring describes the parameters under "Args:".
        parameters: of the function; or of a class's `__init__` and `process`, which may share some.
        who: how messages name the function.

    Raises:
        InvalidArgumentError: two that share a name differ.
    """
    if not parameters:
        return None
    fields: dict[str, Any] = {}
    known: dict[str, OptionParameter] = {}
    for one in parameters:
        if known.setdefault(one.name, one) != one:
            raise InvalidArgumentError(
                f"{who}: option {one.name!r} is another one in __init__; give both the same type and "
                "default, or rename one"
            )
        fields[one.name] = attrs.field(type=one.annotation, default=one.default)
    name = f"{calculator.rpartition('.')[2]}Options"
    made: type = attrs.make_class(name, fields, frozen=True, kw_only=True)
    made.__module__ = target.__module__
    made.__qualname__ = name
    made.__doc__ = _docstring(target)
    return made


def _docstring(target: Any) -> str:
    """Return a docstring without a summary, with all that the target's docstrings say of parameters."""
    said = (getattr(thing, "__doc__", None) for thing in (target, *map(vars(target).get, _METHODS)))
    return "\n".join(["", "Attributes:", *(inspect.cleandoc(text) for text in said if text)])
