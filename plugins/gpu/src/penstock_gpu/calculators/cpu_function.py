"""The function that computes with NumPy what a user's shader does: its parameters, and what it returns."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

import numpy as np

from penstock.errors import InvalidArgumentError
from penstock_gpu.formats import pixel_layout, shape_of

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from penstock_gpu.formats import GpuBufferFormat


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


def check_returned(made: Any, size: tuple[int, int], kind: GpuBufferFormat) -> None:
    """Accept what a function returned, if it is an array of that size and format.

    Raises:
        InvalidArgumentError: it is something else.
    """
    is_array = isinstance(made, np.ndarray)
    shape, dtype = shape_of(*size, kind), pixel_layout(kind).dtype
    if not is_array or made.shape != shape or made.dtype != dtype:
        found = f"{made.shape} {made.dtype}" if is_array else repr(type(made).__name__)
        raise InvalidArgumentError(
            f"the shader's cpu function returned {found}, but {kind.name} of {size[0]}x{size[1]} is "
            f"{shape} {dtype}; return an array of that, or name another format or size"
        )


def _parameters(function: Callable[..., Any]) -> tuple[inspect.Parameter, ...]:
    try:
        return tuple(inspect.signature(function).parameters.values())
    except (TypeError, ValueError) as error:
        raise InvalidArgumentError(
            f"the shader's cpu function {function!r} does not say which parameters it takes; wrap it in a "
            "lambda"
        ) from error
