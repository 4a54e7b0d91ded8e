"""4x4 matrices as streams carry them: tuples of 16 numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from penstock.errors import InvalidArgumentError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from penstock import Input

_MATRIX: Final = 16


def matrix_at(port: Input) -> NDArray[np.float32]:
    """Return the 4x4 matrix at an input, float32.

    Raises:
        InvalidArgumentError: the payload is not 16 numbers.
    """
    try:
        matrix = np.asarray(port.payload, np.float32)
    except (TypeError, ValueError):  # words, or lists in it
        matrix = np.empty(0, np.float32)
    if matrix.shape != (_MATRIX,):
        raise InvalidArgumentError(
            f"matrix input {port.name!r} holds {port.payload!r}, but a 4x4 matrix is {_MATRIX} numbers, "
            "row after row"
        )
    return matrix.reshape(4, 4)
