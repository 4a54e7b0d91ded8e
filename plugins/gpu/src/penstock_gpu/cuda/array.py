"""Pixels of a GpuBuffer for CUDA: an array on the device, lent to other libraries without a copy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Self

import numpy as np

from penstock.errors import FailedPreconditionError, InvalidArgumentError
from penstock_gpu.cuda import dlpack
from penstock_gpu.cuda.driver import LEGACY_STREAM
from penstock_gpu.cuda.foreign_array import CudaSource
from penstock_gpu.cuda.pixels import Hold

if TYPE_CHECKING:
    from types import TracebackType

    from penstock_gpu.cuda.pixels import CudaPixels

_KINDS: Final = {"u": dlpack.Kind.UINT, "f": dlpack.Kind.FLOAT, "i": dlpack.Kind.INT}


class CudaArray:
    """Pixels of a GpuBuffer on its CUDA device: a view that `read_view` or `write_view` has returned.

    An array of shape (H, W, channels), or (H, W) for one channel, row-major without gaps, of the format's
    element type; row 0 is the image's first row. CuPy, PyTorch and others take it by DLPack
    (`cupy.from_dlpack(view)`, `torch.from_dlpack(view)`) or by `__cuda_array_interface__`, without a copy.

    The memory belongs to OpenGL and is borrowed. A consumer that took it by DLPack keeps it until that
    consumer's array is freed, also after `release` and after the buffer is gone; one that took it by
    `__cuda_array_interface__` may use it only until `release`. When the memory is released, OpenGL waits, on
    the device, for the work on the stream that was given to `__dlpack__` and on ordinary streams; a
    non-blocking stream makes OpenGL's thread wait. Work on other non-blocking streams must be complete
    before. A view to read must not be written to; only consumers of DLPack 1.0 can learn that. A view to
    write starts with the buffer's pixels, or undefined ones if the buffer is new; the buffer has the written
    pixels when the view is released.

    Any thread may use it; `read_view` and `write_view` make it in an OpenGL context. As a context manager it
    releases itself.
    """

    def __init__(
        self, hold: Hold, pointer: int, shape: tuple[int, ...], dtype: np.dtype[Any], *, is_read_only: bool
    ) -> None:
        #: (H, W, channels) or (H, W).
        self.shape = shape
        #: uint8, float16 or float32.
        self.dtype = dtype
        #: Ordinal of the CUDA device, as CUDA counts in this process.
        self.device = hold.pixels.bridge.ordinal
        #: Whether it is a view to read.
        self.is_read_only = is_read_only
        self._pointer = pointer
        self._hold: Hold | None = hold

    @property
    def ndim(self) -> int:
        """Dimensions: 2 or 3."""
        return len(self.shape)

    @property
    def nbytes(self) -> int:
        """Bytes of all elements."""
        return int(np.prod(self.shape)) * self.dtype.itemsize

    @property
    def pointer(self) -> int:
        """Address of the first element on the device.

        Raises:
            FailedPreconditionError: the view has been released.
        """
        self._held()
        return self._pointer

    def __dlpack_device__(self) -> tuple[int, int]:
        """Return DLPack's number of CUDA, and the device's ordinal."""
        return int(dlpack.Device.CUDA), self.device

    def __dlpack__(
        self,
        *,
        stream: int | None = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any:
        """Return a DLPack capsule of the memory, which is kept until the consumer frees it.

        Args:
            stream: the stream on which the consumer will use the memory; it waits for OpenGL. None or 1: the
                legacy default stream; 2: the thread's default stream; another number: a stream's handle; -1:
                no wait.
            max_version: newest version of DLPack that the consumer knows.
            dl_device: the device that the consumer wants; it must be this device.
            copy: whether to copy; True is refused.

        Raises:
            BufferError: the consumer asks for another device or a copy.
            ValueError: the stream is 0, or below -1.
            FailedPreconditionError: the view has been released.
        """
        if dl_device is not None and tuple(dl_device) != self.__dlpack_device__():
            raise BufferError(
                f"pixels on CUDA device {self.device} were asked for on DLPack device {tuple(dl_device)}; "
                "for the CPU read the GpuBuffer's array()"
            )
        if copy:
            raise BufferError(
                "a copy of the CUDA array was asked for; this view only lends memory: copy the array made "
                "from it"
            )
        pixels = self._held()
        hold = Hold(pixels)
        try:
            self._order(pixels, stream)
            described = dlpack.Tensor(
                pointer=self._pointer,
                shape=self.shape,
                strides=dlpack.compact_strides(self.shape),
                kind=_KINDS[self.dtype.kind],
                bits=8 * self.dtype.itemsize,
                device=self.__dlpack_device__(),
                is_read_only=self.is_read_only,
            )
            versioned = max_version is not None and max_version[0] >= dlpack.VERSION[0]
            return dlpack.give(described, hold.end, versioned=versioned)
        except BaseException:
            hold.end()
            raise

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        """The memory by the CUDA array interface, version 3, ordered by the legacy stream."""
        pixels = self._held()
        pixels.note_stream(None)
        pixels.bridge.let_wait(LEGACY_STREAM)
        return {
            "shape": self.shape,
            "typestr": self.dtype.str,
            "data": (self._pointer, self.is_read_only),
            "version": 3,
            "strides": None,
            "stream": LEGACY_STREAM,
        }

    def copy_from(self, source: object) -> None:
        """Write another array's elements here, by a copy on the device that the host does not wait for.

        Args:
            source: on the same device, with `__dlpack__` or `__cuda_array_interface__`, of the same shape and
                element type; the elements of a row are contiguous, there may be gaps between rows. It is kept
                until the copy is done.

        Raises:
            InvalidArgumentError: it is not on this device, or does not fit; says what to do.
            FailedPreconditionError: this view is read-only, or has been released.
        """
        pixels = self._held()
        if self.is_read_only:
            raise FailedPreconditionError(
                "copy_from was called on a view to read; take write_view(CudaArray) of the buffer"
            )
        taken = source if isinstance(source, CudaSource) else CudaSource.of(source, pixels.bridge)
        if (taken.shape, taken.dtype) != (self.shape, self.dtype):
            raise InvalidArgumentError(
                f"the array to copy into a CudaArray is {taken.shape} {taken.dtype}, expected {self.shape} "
                f"{self.dtype}, as the buffer's size and format say"
            )
        pixels.bridge.copy_in(
            self._pointer,
            source=taken.pointer,
            width_bytes=taken.width_bytes,
            rows=taken.shape[0],
            pitch=taken.pitch,
            owner=taken,
        )

    def release(self) -> None:
        """Release the memory. A second call does nothing."""
        hold, self._hold = self._hold, None
        if hold is not None:
            hold.end()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()

    def __del__(self) -> None:
        """Release the memory, if `release` was not called."""
        if getattr(self, "_hold", None) is not None:
            self.release()

    def __repr__(self) -> str:
        state = " released" if self._hold is None else ""
        return f"<CudaArray {self.shape} {self.dtype} on cuda:{self.device}{state}>"

    def _held(self) -> CudaPixels:
        hold = self._hold
        if hold is None:
            raise FailedPreconditionError(
                "the CUDA array has been released; ask the buffer for another, "
                "or take it by DLPack, which holds it"
            )
        return hold.pixels

    def _order(self, pixels: CudaPixels, stream: int | None) -> None:
        """Make the consumer's stream wait for OpenGL, and record which work OpenGL must later wait for."""
        if stream == -1:
            pixels.note_stream(None)
            return
        handle = LEGACY_STREAM if stream is None else int(stream)
        if handle < LEGACY_STREAM:
            raise ValueError(
                f"the stream for the CudaArray is {stream}, expected None, -1, 1, 2 or a stream's handle; "
                "0 is ambiguous"
            )
        pixels.bridge.let_wait(handle)
        pixels.note_stream(handle)
