"""The function that computes with NumPy what a user's shader does: which parameters it takes."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

from penstock.errors import InvalidArgumentError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection


def check_cpu_function(function: Callable[..., Any]) -> None:
    """Refuse a function that cannot be called with all its arguments by name.

    Raises:
        InvalidArgumentError: a parameter is given by position only, or the parameters are not known.
    """
    for one in _parameters(function):
        if one.kind == one.POSITIONAL_ONLY:
            raise InvalidArgumentError(
                f"parameter {one.name!r} of the shader's cpu function can only be given by position, but all "
                "are given by name; write it without '/'"
            )


def parameters_taken(function: Callable[..., Any], there: Collection[str]) -> tuple[str, ...]:
    """Return which of the available arguments a function takes.

    Raises:
        InvalidArgumentError: it needs an argument that is not available.
    """
    wanted = []
    for one in _parameters(function):
        if one.kind == one.VAR_KEYWORD:
            return tuple(sorted(there))
        if one.name in there:
            wanted.append(one.name)
        elif one.default is one.empty and one.kind != one.VAR_POSITIONAL:
            names = ", ".join(map(repr, sorted(there)))
            raise InvalidArgumentError(
                f"the shader's cpu function takes {one.name!r}, but there are {names}; rename the "
                "parameter, or give it a default"
            )
    return tuple(wanted)


def _parameters(function: Callable[..., Any]) -> tuple[inspect.Parameter, ...]:
    try:
        return tuple(inspect.signature(function).parameters.values())
    except (TypeError, ValueError) as error:
        raise InvalidArgumentError(
            f"the shader's cpu function {function!r} does not say which parameters it takes; wrap it in a "
            "lambda"
        ) from error
