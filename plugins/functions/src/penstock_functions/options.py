"""The options that a function takes one by one: keyword-only parameters, as one attrs class.

The class has the calculator's name with "Options" behind it, and is in the function's package.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs

from penstock.errors import InvalidArgumentError
from penstock.lowlevel import described_fields

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from penstock_functions.parameters import OptionParameter


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
    made.__doc__ = _docstring(target, known)
    return made


def _docstring(target: Any, names: Iterable[str]) -> str:
    described: dict[str, str] = {}
    for thing in (target, *(vars(target).get(name) for name in ("__init__", "process"))):
        described.update(described_fields(getattr(thing, "__doc__", None)))
    lines = [f"    {name}: {described[name]}" for name in names if name in described]
    return "\n".join(["", "Attributes:", *lines])
