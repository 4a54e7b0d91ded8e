"""The arrays that the outputs of a model stand for, in the order of a layout."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NoReturn

import numpy as np

from penstock.errors import InvalidArgumentError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from penstock import Input
    from penstock_detect.outputs.layouts import Layout
    from penstock_formats import Tensor

_WHOLE: Final = frozenset(["int32", "int64", "uint32"])


def values_of(port: Input) -> list[NDArray[Any]]:
    """Return the numbers that the tensors of an input stand for: float32, or whole numbers as they are.

    Raises:
        InvalidArgumentError: they are quantized, and have no scale.
    """
    return [_values(tensor, port) for tensor in port.payload]


def _values(tensor: Tensor, port: Input) -> NDArray[Any]:
    kind = tensor.element_type
    if kind == "float32" or kind in _WHOLE:
        return tensor.array
    if kind in ("float16", "float64"):
        return tensor.array.astype(np.float32)
    if kind in ("int8", "uint8") and tensor.scale != 1.0:
        return (tensor.array.astype(np.float32) - tensor.zero_point) * np.float32(tensor.scale)
    raise InvalidArgumentError(
        f"stream {port.name!r} has a tensor {kind} {'x'.join(map(str, tensor.shape))} without a scale, so "
        "no output array can be made of it: export the model with outputs of float32, or quantize it with "
        "dequantized outputs (QDQ)"
    )


def ordered(arrays: list[NDArray[Any]], order: Sequence[int], layout: Layout) -> list[NDArray[Any]]:
    """Return the arrays of a layout, of which `order` has the numbers; all as they come where it is empty.

    Raises:
        InvalidArgumentError: there are fewer arrays.
    """
    if not order:
        return arrays
    if not all(0 <= one < len(arrays) for one in order):
        raise InvalidArgumentError(
            f"order is {list(order)}, but the model has {len(arrays)} output arrays for the layout "
            f"{layout.name}: {shapes_of(arrays)}; change it in the options"
        )
    return [arrays[one] for one in order]


def shapes_of(arrays: Sequence[Any]) -> str:
    """Return element types and shapes of outputs, for messages."""
    return ", ".join(f"{one.dtype} {'x'.join(map(str, one.shape)) or 'scalar'}" for one in arrays) or "none"


def refuse(layout: Layout, arrays: Sequence[Any], wanted: str) -> NoReturn:
    """Refuse outputs that a layout does not have.

    Raises:
        InvalidArgumentError: always.
    """
    raise InvalidArgumentError(
        f"the output arrays {shapes_of(arrays)} do not fit the layout {layout.name}, which has {wanted}; "
        "set another layout in the options"
    )
