"""The base of payloads that wrap one NumPy array: a read-only view and its exports.

The invariant: the view is never writable, and its base belongs to the code that made it. A payload
borrows: it keeps that memory alive and copies it only when asked.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import DTypeLike, NDArray

#: Before 2.1 NumPy can neither flag an export as read-only nor take the newer arguments.
NUMPY_EXPORTS_READ_ONLY: Final = np.lib.NumpyVersion(np.__version__) >= "2.1.0"


class ArrayPayload:
    """A read-only array with identity: two payloads are equal when they are the same object."""

    __slots__ = ("__weakref__", "_array")

    #: It hands out its memory, and is nevertheless not taken for an image: see `penstock.adapters`.
    __penstock_payload__: ClassVar = True

    _array: NDArray[Any]

    def _hold(self, array: NDArray[Any], *, copy: bool) -> None:
        """Keep a read-only view of `array`, or of a fresh copy; the caller's array stays as it is."""
        view = array.copy() if copy else array.view()
        view.setflags(write=False)  # `view.flags.writeable = False` makes an object and takes longer
        self._array = view

    @property
    def array(self) -> NDArray[Any]:
        """The read-only view, the same object each time. Call `.copy()` on it to get one to write."""
        return self._array

    @property
    def nbytes(self) -> int:
        """The size of the elements in bytes, for the byte accounting of queues."""
        return int(self._array.nbytes)

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> NDArray[Any]:  # noqa: FBT001  # NumPy's protocol
        """Return the read-only view, or a fresh writable copy where `dtype` or `copy` asks for it.

        Raises:
            ValueError: `copy` is False and `dtype` is not the array's.
        """
        wanted = self._array.dtype if dtype is None else np.dtype(dtype)
        if wanted == self._array.dtype:
            return self._array.copy() if copy else self._array
        if copy is False:
            raise ValueError(
                f"an array of {self._array.dtype} cannot become {wanted} without a copy; leave out copy=False"
            )
        return self._array.astype(wanted)

    def __dlpack__(
        self,
        *,
        stream: object = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> object:
        """Export the elements to another library, in main memory.

        A consumer that passes `max_version` of (1, 0) or above gets a borrowed view that is flagged
        read-only. DLPack before 1.0 has no such flag, so an older consumer gets a fresh copy.

        Raises:
            BufferError: `copy` is False and the consumer has no read-only views, or `dl_device`
                is not main memory.
        """
        if dl_device is not None and tuple(dl_device) != self.__dlpack_device__():
            raise BufferError(f"the array is in main memory, not on DLPack device {tuple(dl_device)}")
        if NUMPY_EXPORTS_READ_ONLY and max_version is not None and max_version[0] >= 1:
            return self._array.__dlpack__(stream=stream, max_version=max_version, copy=copy)
        if copy is False:
            raise BufferError(
                "this payload's read-only array goes to a consumer without DLPack 1.0 as a copy only; "
                "leave out copy=False, or use a newer version of that library"
            )
        return self._array.copy().__dlpack__()

    def __dlpack_device__(self) -> tuple[int, int]:
        """Return DLPack's name of main memory: (kDLCPU, 0)."""
        return 1, 0
