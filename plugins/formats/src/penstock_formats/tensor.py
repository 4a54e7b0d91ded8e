"""A typed array of any number of dimensions: what models read and write.

The invariant: the view is C-contiguous, read-only, and of an element type that tensors can have.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, final

import numpy as np

from penstock.errors import InvalidArgumentError
from penstock_formats.array_payload import ArrayPayload

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

#: NumPy's names of the element types. The reference's char is int8 here.
ELEMENT_TYPES: Final = (
    "bool", "uint8", "int8", "uint16", "int32", "uint32", "int64", "float16", "float32", "float64",
)  # fmt: skip
#: The same as NumPy's types, all in the byte order of this machine.
_TYPES: Final = frozenset(np.dtype(name) for name in ELEMENT_TYPES)
_DOUBLE: Final = np.dtype(np.float64)


@final
class Tensor(ArrayPayload):
    """An array that does not change once it is in a packet.

    Batches come first: an image of H rows and W columns is (1, H, W, channels). Two tensors are equal when
    they are the same object. Tensors pickle, as a copy. A list of tensors is what the reference calls a
    vector of them.

    Args:
        data: any shape, () included; its element type is one of `ELEMENT_TYPES`. Borrowed where it is
            C-contiguous, else copied: the tensor keeps the memory alive and shows later writes to it, so the
            maker stops writing once the tensor is in a packet.
        double: allow float64. No model of MediaPipe takes it, and NumPy makes it wherever nobody says another
            type, so it is mostly a mistake.
        copy: take a copy of `data` in any case; the maker may go on writing.
        scale, zero_point: what the elements of a quantized tensor stand for: scale * (element - zero_point).

    Raises:
        InvalidArgumentError: tensors cannot have the element type. Nothing is kept.
    """

    __slots__ = ("scale", "zero_point")

    #: `scale`, `zero_point`: what the elements of a quantized tensor stand for.
    scale: float
    zero_point: int

    def __init__(
        self,
        data: ArrayLike,
        double: bool = False,  # noqa: FBT001, FBT002  # pickles give it by place
        *,
        copy: bool = False,
        scale: float = 1.0,
        zero_point: int = 0,
    ) -> None:
        array = np.asarray(data)
        if array.dtype not in _TYPES or (array.dtype == _DOUBLE and not double):
            raise InvalidArgumentError(
                f"a tensor cannot hold {array.dtype}; convert the array, for example with "
                f".astype(np.float32), to one of {', '.join(ELEMENT_TYPES[:-1])}; float64 needs double=True"
            )
        if array.flags.c_contiguous:
            self._hold(array, copy=copy)
        else:
            self._hold(np.ascontiguousarray(array), copy=False)
        self.scale, self.zero_point = scale, zero_point

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of elements in each dimension."""
        return self._array.shape

    @property
    def element_type(self) -> str:
        """NumPy's name of the element type: "float32" and the like."""
        return self._array.dtype.name

    def __reduce__(self) -> tuple[Any, ...]:
        array = np.ascontiguousarray(self._array).reshape(self._array.shape)
        arguments = (array, True) if array.dtype == _DOUBLE else (array,)
        if (self.scale, self.zero_point) == (1.0, 0):
            return Tensor, arguments
        return Tensor, arguments, (None, {"scale": self.scale, "zero_point": self.zero_point})

    def __repr__(self) -> str:
        array = getattr(self, "_array", None)
        if array is None:  # the constructor raised, and a traceback shows the object
            return "<Tensor unfinished>"
        return f"<Tensor {array.dtype} {'x'.join(map(str, array.shape)) or 'scalar'}>"
