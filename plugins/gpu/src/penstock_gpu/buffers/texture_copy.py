"""Copies between textures and main memory: how a GpuBuffer makes the form that is requested.

An image is uploaded in the current context, and read back there or, if that does not see the texture, in the
one that drew it. The bindings of textures and framebuffers are restored afterwards.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from penstock.errors import FailedPreconditionError
from penstock_formats import ImageFrame
from penstock_gpu import gl
from penstock_gpu.buffers.allocation import TEXTURE_2D
from penstock_gpu.buffers.frame_storage import FrameStorage, expect_image_frame
from penstock_gpu.buffers.storage import register_converter
from penstock_gpu.buffers.texture_storage import GlTextureView, TextureStorage
from penstock_gpu.contexts.context import GlContext
from penstock_gpu.contexts.current_context import making_context
from penstock_gpu.formats import gl_layout, shape_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from penstock_gpu.buffers.gl_texture_object import GlTextureObject
    from penstock_gpu.formats import GlLayout

_FRAMEBUFFER: Final = "penstock_gpu.buffers.texture_copy.framebuffer"
_STAGING: Final = "penstock_gpu.buffers.texture_copy.staging"
_COLOR_DIMENSIONS: Final = 3


def texture_of_frame(storage: FrameStorage) -> TextureStorage:
    """Return a texture with the pixels of a storage in main memory.

    The current context makes it, or, if that is the application's, a context of this pack that shares with
    it.

    Raises:
        FailedPreconditionError: no context is current, or one of the application that shares with no context
            of this pack.
        GlError: GL refuses.
    """
    context = making_context()
    return context.run(partial(_texture_of, storage, context))


def frame_of_texture(storage: TextureStorage) -> FrameStorage:
    """Return the pixels of a texture in main memory, in a new array.

    The current context reads them if it sees the texture, else the context that drew or made it.

    Raises:
        FailedPreconditionError: none of these is a context of this pack that sees the texture, or it has
            ended.
        GlError: GL refuses.
    """
    texture = storage.texture
    here = GlContext.current()
    if here is not None and here.share_group is texture.share_group:
        return FrameStorage(here.run(partial(_read, storage, here)), texture.format, is_own=True)
    for context in (texture.producer, texture.context, *texture.share_group.contexts()):
        if not isinstance(context, GlContext) or context.is_closed:
            continue
        if context.share_group is texture.share_group:
            pixels: NDArray[Any] = context.run(partial(_read, storage, context))
            return FrameStorage(pixels, texture.format, is_own=True)
    maker = texture.context
    if maker is not None:
        raise FailedPreconditionError(
            f"no copy of {texture!r}: it was made in context {maker.name!r}, which has ended, and its pixels "
            "went with it; read it back before, with GpuBuffer.frame() or array()"
        )
    raise FailedPreconditionError(
        f"no copy of {texture!r}: it was made in {texture.producer!r}, which shares with no GlContext; make "
        "one with GlContext.create(share=ExternalContext.current())"
    )


def image_of_texture(storage: TextureStorage) -> FrameStorage:
    """Return the same as `frame_of_texture`, for a format that an ImageFrame can have.

    Raises:
        InvalidArgumentError: no ImageFrame can have it; says what to ask for.
    """
    expect_image_frame(storage.texture.format)
    return frame_of_texture(storage)


def texture_of_alien(storage: TextureStorage) -> TextureStorage:
    """Return a texture with the pixels of one that the current context cannot see, through main memory."""
    return texture_of_frame(frame_of_texture(storage))


def _texture_of(storage: FrameStorage, context: GlContext) -> TextureStorage:
    made = TextureStorage.make(storage.width, storage.height, storage.format)
    texture = made.texture
    texture.begin_write(context)
    try:
        _upload(texture, storage.pixels, context)
    finally:
        texture.end_write(context)
    return made


def _upload(texture: GlTextureObject, pixels: NDArray[Any], context: GlContext) -> None:
    layout = gl_layout(texture.format, is_es=context.api == "gles")
    ready = _as_uploaded(pixels, layout, context)
    if context.has_direct_access:
        gl.upload(ready, format=layout.upload_format, type=layout.type, texture=texture.name)
        return
    before = gl.get_integer(gl.GL_TEXTURE_BINDING_2D)
    gl.glBindTexture(TEXTURE_2D, texture.name)
    try:
        gl.upload(ready, format=layout.upload_format, type=layout.type)
    finally:
        gl.glBindTexture(TEXTURE_2D, before)


def _as_uploaded(pixels: NDArray[Any], layout: GlLayout, context: GlContext) -> NDArray[Any]:
    if pixels.ndim == _COLOR_DIMENSIONS and pixels.shape[2] != layout.upload_channels:
        staging: list[NDArray[np.uint8]] = context.attachment(_STAGING, list)
        return with_alpha(pixels, staging)
    return _together(pixels)


def with_alpha(rgb: NDArray[np.uint8], staging: list[NDArray[np.uint8]]) -> NDArray[np.uint8]:
    """Return (H, W, 3) uint8 as (H, W, 4), the fourth 255; valid until the next call with this `staging`.

    Each pixel is read as one 32-bit number, whose extra byte becomes alpha: three times as fast as channel by
    channel.

    Args:
        rgb: strides are free.
        staging: keeps the memory between calls; [] at first.
    """
    height, width = rgb.shape[:2]
    if not staging or staging[0].shape[:2] != (height, width):
        staging[:] = [np.empty((height, width, 4), np.uint8)]
    made = staging[0]
    pixels = np.ascontiguousarray(rgb)
    count = height * width
    words = np.ndarray((count - 1,), "<u4", pixels, strides=(3,))  # no byte follows the last pixel
    np.bitwise_or(words, np.uint32(0xFF000000), out=made.view("<u4").reshape(count)[:-1])
    made[-1, -1, :3] = pixels[-1, -1]
    made[-1, -1, 3] = 255
    return made


def _together(pixels: NDArray[Any]) -> NDArray[Any]:
    """Return the pixels with contiguous rows, as GL needs them; copied if necessary."""
    if pixels.flags.c_contiguous:
        return pixels
    pixel = pixels[0, 0].nbytes
    row, column = pixels.strides[:2]
    is_row = column == pixel and (pixels.ndim < _COLOR_DIMENSIONS or pixels.strides[2] == pixels.itemsize)
    fits = is_row and row >= pixel * pixels.shape[1] and not row % pixel
    return pixels if fits else np.ascontiguousarray(pixels)


def _read(storage: TextureStorage, context: GlContext) -> NDArray[Any]:
    """Return the pixels of a texture that the current context sees."""
    texture = storage.texture
    layout = gl_layout(texture.format, is_es=context.api == "gles")
    pixels = np.empty(_read_shape(texture, layout), layout.read_dtype)
    texture.begin_read(context)
    try:
        if context.has_direct_access and texture.target == TEXTURE_2D:
            gl.read_into(pixels, format=layout.read_format, type=layout.read_type, texture=texture.name)
        else:
            _read_framebuffer(pixels, texture, layout, context)
    except BaseException:
        texture.end_read(context)
        raise
    texture.end_read_back()
    return _wanted(pixels, texture, layout)


def _read_framebuffer(
    pixels: NDArray[Any], texture: GlTextureObject, layout: GlLayout, context: GlContext
) -> None:
    framebuffer = context.attachment(_FRAMEBUFFER, _make_framebuffer, _delete_framebuffer)
    before = gl.get_integer(gl.GL_READ_FRAMEBUFFER_BINDING)
    gl.glBindFramebuffer(gl.GL_READ_FRAMEBUFFER, framebuffer)
    try:
        _attach(texture.target, texture.name)
        gl.read_into(pixels, format=layout.read_format, type=layout.read_type)
    finally:
        _attach(texture.target, 0)
        gl.glBindFramebuffer(gl.GL_READ_FRAMEBUFFER, before)


def _attach(target: int, name: int) -> None:
    gl.glFramebufferTexture2D(gl.GL_READ_FRAMEBUFFER, gl.GL_COLOR_ATTACHMENT0, target, name, 0)


def _read_shape(texture: GlTextureObject, layout: GlLayout) -> tuple[int, ...]:
    size = (texture.height, texture.width)
    return size if layout.read_channels == 1 else (*size, layout.read_channels)


def _wanted(pixels: NDArray[Any], texture: GlTextureObject, layout: GlLayout) -> NDArray[Any]:
    """Return the channels of the format, in its element type, from the array that GL has read."""
    if (layout.read_channels, layout.read_dtype) == (layout.channels, layout.dtype):
        return pixels
    fewer = pixels[:, :, : layout.channels].astype(layout.dtype)
    return fewer.reshape(shape_of(texture.width, texture.height, texture.format))


def _make_framebuffer() -> int:
    return gl.make("Framebuffer")


def _delete_framebuffer(name: int) -> None:
    gl.delete("Framebuffer", name)


register_converter(GlTextureView, FrameStorage, texture_of_frame)
register_converter(GlTextureView, TextureStorage, texture_of_alien)
register_converter(np.ndarray, TextureStorage, frame_of_texture)
register_converter(ImageFrame, TextureStorage, image_of_texture)
