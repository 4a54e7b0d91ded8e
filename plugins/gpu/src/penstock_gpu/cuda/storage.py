"""The storage of a GpuBuffer for CUDA, and the copies between it, textures and main memory.

Importing this module registers them with GpuBuffers.
"""

from __future__ import annotations

import ctypes
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from penstock.errors import FailedPreconditionError, InvalidArgumentError
from penstock_formats import ImageFrame
from penstock_gpu import gl
from penstock_gpu.buffers.frame_storage import FrameStorage
from penstock_gpu.buffers.storage import Storage, register_converter, register_storage
from penstock_gpu.buffers.texture_copy import texture_of_frame
from penstock_gpu.buffers.texture_storage import GlTextureView, TextureStorage
from penstock_gpu.contexts.context import GlContext
from penstock_gpu.cuda.array import CudaArray
from penstock_gpu.cuda.bridge import checked_bridge
from penstock_gpu.cuda.driver import LEGACY_STREAM
from penstock_gpu.cuda.pixels import CudaPixels
from penstock_gpu.formats import GpuBufferFormat, gl_layout, pixel_layout, shape_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from penstock_gpu.cuda.bridge import PixelBuffer

_FRAMEBUFFER: Final = "penstock_gpu.cuda"


class CudaStorage(Storage):
    """Pixels of a GpuBuffer in a pixel buffer object that CUDA has registered. Gives `CudaArray`.

    Args:
        pixels: of that format and size; this storage owns them from now on.
        width: columns.
        height: rows.
        format: what the pixels mean.
    """

    __slots__ = ("format", "height", "pixels", "width")

    def __init__(self, pixels: CudaPixels, width: int, height: int, format: GpuBufferFormat) -> None:  # noqa: A002  # as above
        #: `pixels`, `width`, `height`, `format`: those.
        self.pixels = pixels
        self.width = width
        self.height = height
        self.format = format

    @classmethod
    def make(cls, width: int, height: int, format: GpuBufferFormat) -> CudaStorage:  # noqa: A002  # as above
        """Return a storage in the current context, with undefined pixels.

        Raises:
            CudaUnavailableError: CUDA cannot be used with this context.
            FailedPreconditionError: no GlContext is current.
            InvalidArgumentError: no array has the format.
        """
        context = context_here("a CUDA view")
        nbytes = int(np.prod(shape_of(width, height, format))) * pixel_layout(format).dtype.itemsize
        return cls(CudaPixels(context, checked_bridge(context), nbytes), width, height, format)

    def provides(self, view: type, *, for_writing: bool) -> bool:  # noqa: ARG002  # it gives both
        """Return whether `view` is `CudaArray`."""
        return view is CudaArray

    def read_view(self, view: type[Any], **arguments: object) -> CudaArray:  # noqa: ARG002  # there is one
        """Return the pixels to read; the view is made in the context that has them."""
        _expect_none(arguments)
        return self.pixels.context.run(lambda: self._mapped(is_read_only=True))

    def write_view(self, view: type[Any], **arguments: object) -> CudaArray:  # noqa: ARG002  # as above
        """Return the pixels to write to; arrays that still use the old pixels keep them."""
        _expect_none(arguments)

        def make() -> CudaArray:
            if self.pixels.is_used:
                self.pixels = _copy(self.pixels)
            return self._mapped(is_read_only=False)

        return self.pixels.context.run(make)

    def _mapped(self, *, is_read_only: bool) -> CudaArray:
        hold = self.pixels.map()
        try:
            shape = shape_of(self.width, self.height, self.format)
            dtype = pixel_layout(self.format).dtype
            return CudaArray(hold, hold.pixels.pointer, shape, dtype, is_read_only=is_read_only)
        except BaseException:
            hold.end()
            raise


# --- one storage from another ---------------------------------------------------------------------------


def cuda_of_texture(storage: TextureStorage) -> CudaStorage:
    """Return the pixels of a texture for CUDA, in the current context or else in the texture's."""
    texture = storage.texture
    here, producer = GlContext.current(), texture.producer
    if here is None or here.share_group is not getattr(producer, "share_group", here.share_group):
        here = producer if isinstance(producer, GlContext) else texture.context
    if here is None:
        raise FailedPreconditionError(
            f"no CUDA storage of {texture!r}: it comes from a context of the application, and no GlContext "
            "is current; ask for the CUDA view in GlContext.run of one that shares with it"
        )
    return here.run(lambda: _packed(storage))


def cuda_of_frame(storage: FrameStorage) -> CudaStorage:
    """Return pixels of main memory for CUDA, uploaded in the current context."""
    made = CudaStorage.make(storage.width, storage.height, storage.format)
    pixels = np.ascontiguousarray(storage.read_view(np.ndarray))
    buffer = made.pixels.buffer
    with _bound(gl.GL_PIXEL_UNPACK_BUFFER, buffer):
        gl.glBufferSubData(
            gl.GL_PIXEL_UNPACK_BUFFER, 0, buffer.nbytes, pixels.ctypes.data_as(ctypes.c_void_p)
        )
    made.pixels.context.uploads += 1
    return made


def texture_of_cuda(storage: CudaStorage) -> TextureStorage:
    """Return a texture with the pixels that CUDA has, filled in the context that has them."""
    owner, here = storage.pixels.context, GlContext.current()
    if here is not None and here.share_group is not owner.share_group:
        return texture_of_frame(
            frame_of_cuda(storage)
        )  # the current context would not see a texture of the owner
    return owner.run(lambda: _unpacked(storage))


def frame_of_cuda(storage: CudaStorage) -> FrameStorage:
    """Return the pixels of CUDA in main memory, in a new array."""

    def read() -> FrameStorage:
        pixels = np.empty(
            shape_of(storage.width, storage.height, storage.format), pixel_layout(storage.format).dtype
        )
        with _for_gl(storage.pixels) as buffer, _bound(gl.GL_PIXEL_PACK_BUFFER, buffer):
            gl.glGetBufferSubData(
                gl.GL_PIXEL_PACK_BUFFER, 0, buffer.nbytes, pixels.ctypes.data_as(ctypes.c_void_p)
            )
        storage.pixels.context.readbacks += 1
        return FrameStorage(pixels, storage.format, is_own=True)

    return storage.pixels.context.run(read)


def _packed(storage: TextureStorage) -> CudaStorage:
    """Copy a texture into a pixel buffer. Context current."""
    texture = storage.texture
    made = CudaStorage.make(texture.width, texture.height, texture.format)
    layout = gl_layout(texture.format)
    framebuffer = made.pixels.context.attachment(_FRAMEBUFFER, _make_framebuffer, _delete_framebuffer)
    with storage.read_view(GlTextureView) as view, _bound(gl.GL_PIXEL_PACK_BUFFER, made.pixels.buffer):
        before = gl.get_integer(gl.GL_READ_FRAMEBUFFER_BINDING)
        gl.glBindFramebuffer(gl.GL_READ_FRAMEBUFFER, framebuffer)
        try:
            _attach(view.target, view.name)
            gl.glPixelStorei(gl.GL_PACK_ALIGNMENT, 1)  # GL code may have changed it
            gl.glReadPixels(0, 0, view.width, view.height, layout.format, layout.type, None)
        finally:
            _attach(view.target, 0)
            gl.glBindFramebuffer(gl.GL_READ_FRAMEBUFFER, before)
    return made


def _unpacked(storage: CudaStorage) -> TextureStorage:
    """Copy a pixel buffer into a new texture. Context current."""
    made = TextureStorage.make(storage.width, storage.height, storage.format)
    layout = gl_layout(storage.format)
    with (
        made.write_view(GlTextureView) as view,
        _for_gl(storage.pixels) as buffer,
        _bound(gl.GL_PIXEL_UNPACK_BUFFER, buffer),
    ):
        before = gl.get_integer(gl.GL_TEXTURE_BINDING_2D)
        gl.glBindTexture(view.target, view.name)
        try:
            gl.glPixelStorei(gl.GL_UNPACK_ALIGNMENT, 1)  # GL code may have changed it
            gl.glTexSubImage2D(
                view.target, 0, 0, 0, view.width, view.height, layout.format, layout.type, None
            )
        finally:
            gl.glBindTexture(view.target, before)
    return made


@contextmanager
def _for_gl(pixels: CudaPixels) -> Iterator[PixelBuffer]:
    """Give a buffer that OpenGL may read: the buffer itself, or a copy while the CUDA side uses it."""
    if not pixels.is_used:
        pixels.unmap()
        yield pixels.buffer
        return
    copied = _copy(pixels)
    copied.unmap()
    yield copied.buffer


def _copy(pixels: CudaPixels) -> CudaPixels:
    """Return a copy of a buffer that is in use. Context current."""
    bridge = pixels.bridge
    made = CudaPixels(pixels.context, bridge, pixels.buffer.nbytes)
    hold = made.map()
    try:
        bridge.wait_for(LEGACY_STREAM)
        bridge.copy(made.buffer, pixels.buffer)
    finally:
        hold.end()
    return made


@contextmanager
def _bound(target: int, buffer: PixelBuffer) -> Iterator[None]:
    gl.glBindBuffer(target, buffer.name)
    try:
        yield
    finally:
        gl.glBindBuffer(target, 0)


def _attach(target: int, name: int) -> None:
    gl.glFramebufferTexture2D(gl.GL_READ_FRAMEBUFFER, gl.GL_COLOR_ATTACHMENT0, target, name, 0)


def _make_framebuffer() -> int:
    return gl.make("Framebuffer")


def _delete_framebuffer(name: int) -> None:
    gl.delete("Framebuffer", name)


def context_here(what: str) -> GlContext:
    """Return the current context.

    Raises:
        FailedPreconditionError: none is current; says where to ask for `what`.
    """
    context = GlContext.current()
    if context is None:
        raise FailedPreconditionError(
            f"CUDA storage needs a GL context, and none is current on this thread; ask for {what} in "
            "GlContext.run, or in run_in_gl_context of a node's helper"
        )
    return context


def _expect_none(arguments: dict[str, object]) -> None:
    if arguments:
        raise InvalidArgumentError(
            f"a view CudaArray of the storage takes no argument {next(iter(arguments))!r}; leave it out"
        )


register_storage(CudaArray, CudaStorage.make)
register_converter(CudaArray, TextureStorage, cuda_of_texture)
register_converter(CudaArray, FrameStorage, cuda_of_frame)
register_converter(GlTextureView, CudaStorage, texture_of_cuda)
register_converter(np.ndarray, CudaStorage, frame_of_cuda)
register_converter(ImageFrame, CudaStorage, frame_of_cuda)
