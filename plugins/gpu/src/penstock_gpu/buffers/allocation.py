"""Allocation of a new texture's memory, and its sampling parameters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from penstock.errors import InvalidArgumentError
from penstock_gpu import gl

if TYPE_CHECKING:
    from penstock_gpu.contexts.context import GlContext
    from penstock_gpu.formats import GlLayout

TEXTURE_2D: Final = 0x0DE1
#: GL_TEXTURE_SWIZZLE_R, _G, _B, _A. Source: OpenGL 3.3 and OpenGL ES 3.0, which have them from the start.
_SWIZZLES: Final = (0x8E42, 0x8E43, 0x8E44, 0x8E45)


def expect_size(width: int, height: int) -> None:
    """Refuse a texture size that the current context does not allow.

    Raises:
        InvalidArgumentError: the size is not allowed; says which sizes are.
    """
    limit = gl.get_integer(gl.GL_MAX_TEXTURE_SIZE)
    if not 0 < width <= limit or not 0 < height <= limit:
        raise InvalidArgumentError(
            f"a texture of {width}x{height} cannot be allocated, the context allows 1 to {limit} a side; "
            "scale the image before"
        )


def allocate(context: GlContext, layout: GlLayout, width: int, height: int) -> None:
    """Give the bound texture its storage and its parameters."""
    if layout.is_immutable and _has_immutable(context):
        gl.glTexStorage2D(TEXTURE_2D, 1, layout.internal, width, height)
    else:
        gl.glTexImage2D(
            TEXTURE_2D, 0, layout.internal, width, height, 0, layout.upload_format, layout.type, None
        )
        gl.glTexParameteri(TEXTURE_2D, gl.GL_TEXTURE_MAX_LEVEL, 0)
    is_linear = layout.dtype.itemsize < 4 or context.api != "gles"  # noqa: PLR2004  # ES filters no float32
    kind = gl.GL_LINEAR if is_linear else gl.GL_NEAREST
    for parameter, value in (
        (gl.GL_TEXTURE_MIN_FILTER, kind),
        (gl.GL_TEXTURE_MAG_FILTER, kind),
        (gl.GL_TEXTURE_WRAP_S, gl.GL_CLAMP_TO_EDGE),
        (gl.GL_TEXTURE_WRAP_T, gl.GL_CLAMP_TO_EDGE),
    ):
        gl.glTexParameteri(TEXTURE_2D, parameter, value)
    for parameter, value in zip(_SWIZZLES, layout.swizzle or (), strict=False):
        gl.glTexParameteri(TEXTURE_2D, parameter, value)


def _has_immutable(context: GlContext) -> bool:
    is_es = context.api == "gles"
    return is_es or context.version >= (4, 2) or context.has_extension("GL_ARB_texture_storage")
