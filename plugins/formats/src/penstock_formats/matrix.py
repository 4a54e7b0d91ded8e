"""A table of float32 numbers: the payload of audio and tensor calculators."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, final

import numpy as np

from penstock.errors import InvalidArgumentError
from penstock_formats.array_payload import ArrayPayload
from penstock_formats.messages.matrix_data_pb2 import MatrixData

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

_DIMENSIONS: Final = 2


@final
class Matrix(ArrayPayload):
    """A two-dimensional float32 array that does not change once it is in a packet.

    By convention of the reference rows are channels and columns are samples: a second of stereo
    audio at 44.1 kHz is (2, 44100). Either may be 0. Two matrices are equal when they are the same
    object. Matrices pickle, as a copy.

    Args:
        data: (rows, columns) float32; strides are free. Borrowed, not copied: the maker stops
            writing once the matrix is in a packet. The caller's array object stays writable.
        copy: take a copy of `data` instead.

    Raises:
        InvalidArgumentError: not two-dimensional, or not float32. Nothing is kept.
    """

    __slots__ = ()

    def __init__(self, data: ArrayLike, *, copy: bool = False) -> None:
        array = np.asarray(data)
        if array.ndim != _DIMENSIONS or array.dtype != np.float32:
            raise InvalidArgumentError(
                f"an array of {array.shape} {array.dtype} is no matrix, which is (rows, columns) float32; "
                "reshape it, or convert it with .astype(numpy.float32)"
            )
        self._hold(array, copy=copy)

    @property
    def rows(self) -> int:
        """Rows: channels, in audio."""
        return int(self._array.shape[0])

    @property
    def columns(self) -> int:
        """Columns: samples, in audio."""
        return int(self._array.shape[1])

    @classmethod
    def from_message(cls, data: MatrixData) -> Matrix:
        """Return the matrix that a message holds, as a copy, in the message's order of elements.

        Raises:
            InvalidArgumentError: rows or cols are negative, or packed_data has not rows * cols elements.
        """
        rows, columns, found = data.rows, data.cols, len(data.packed_data)
        if rows < 0 or columns < 0 or found != rows * columns:
            raise InvalidArgumentError(
                f"a MatrixData of {rows} rows and {columns} cols has {found} elements in packed_data, "
                "which must be rows * cols, neither negative"
            )
        elements = np.fromiter(data.packed_data, np.float32, found)
        by_columns = data.layout == MatrixData.COLUMN_MAJOR
        return cls(elements.reshape((rows, columns), order="F" if by_columns else "C"))

    def to_message(self) -> MatrixData:
        """Return a message with a copy of the elements, column by column, as the reference writes it."""
        elements = self._array.ravel(order="F").tolist()
        return MatrixData(rows=self.rows, cols=self.columns, packed_data=elements)

    def __reduce__(self) -> tuple[Any, ...]:
        return Matrix, (np.ascontiguousarray(self._array),)

    def __repr__(self) -> str:
        array = getattr(self, "_array", None)
        return "<Matrix unfinished>" if array is None else f"<Matrix {array.shape[0]}x{array.shape[1]}>"
