"""The numbers of tensors, as decoders read them: checked, in single precision.

All computing is in float32, in the order of the reference's operations, so that results are equal bit by bit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from penstock.errors import InvalidArgumentError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from penstock import Input
    from penstock_formats import Tensor

_ONE: Final = np.float32(1)
#: The exponential of a greater number may be too large for 32 bits.
_TOO_LARGE: Final = 88.0


def floats_of(tensor: Tensor, port: Input) -> NDArray[np.float32]:
    """Return the numbers of a tensor, in its shape.

    Raises:
        InvalidArgumentError: they are not float32.
    """
    if tensor.array.dtype != np.float32:
        raise InvalidArgumentError(
            f"input {port.name!r} holds {tensor!r}, but the numbers of a tensor are read as float32; "
            "convert the tensor, or use a model with float32 outputs"
        )
    return tensor.array


def first_of(port: Input) -> NDArray[np.float32]:
    """Return the numbers of the first tensor of a list, in its shape.

    Raises:
        InvalidArgumentError: the list is empty, or the numbers are not float32.
    """
    tensors: list[Tensor] = port.payload
    if not tensors:
        raise InvalidArgumentError(
            f"input {port.name!r} holds an empty list, but the numbers of its first tensor are read; "
            "look at the node that made it"
        )
    return floats_of(tensors[0], port)


def exponential(values: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return exp(values), rounded to 32 bits; infinity where that is too large.

    NumPy's exp of 32 bits differs in the last bit from that of the C library, which the reference calls, and
    from one processor to another; that of 64 bits, rounded, does not.
    """
    with np.errstate(over="ignore"):
        return _exponential(values)


def sigmoid(values: NDArray[np.float32], least: float | None = None) -> NDArray[np.float32]:
    """Return 1 / (1 + exp(-values)), each step rounded to 32 bits.

    Args:
        values: any numbers.
        least: none of them is below this, where the caller knows that: it saves a microsecond.
    """
    if least is not None and least > -_TOO_LARGE:
        return _ONE / (_ONE + _exponential(-values))
    return _ONE / (_ONE + exponential(-values))


def _exponential(values: NDArray[np.float32]) -> NDArray[np.float32]:
    return np.exp(values.astype(np.float64)).astype(np.float32)


def softmax_of_two(pixels: NDArray[np.float32], channel: int) -> NDArray[np.float32]:
    """Return the share of one of two channels, 0 to 1; pixels are (height, width, 2)."""
    first, second = pixels[:, :, 0], pixels[:, :, 1]
    greatest = np.maximum(first, second)
    whole = _ONE + np.exp(np.minimum(first, second) - greatest)
    chosen = np.exp(pixels[:, :, channel] - greatest)
    share: NDArray[np.float32] = np.divide(chosen, whole, dtype=np.float32)
    return share
