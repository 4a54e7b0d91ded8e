"""The quad that covers the viewport, for drawing images."""

from __future__ import annotations

import ctypes
from typing import Final

import numpy as np

from penstock_gpu import gl
from penstock_gpu.contexts.context import GlContext
from penstock_gpu.drawing.vertex_attributes import ATTRIB_TEXTURE_POSITION, ATTRIB_VERTEX

#: Each corner: x and y in clip space, then the position in the texture. Row 0 of an image is at t = 0, and is
#: drawn at y = -1, where row 0 of the framebuffer is: nothing is flipped.
_CORNERS: Final = np.array(
    [
        [-1, -1, 0, 0],
        [1, -1, 1, 0],
        [-1, 1, 0, 1],
        [1, 1, 1, 1],
    ],
    np.float32,
)
_NUMBERS: Final = 2


def draw_quad() -> None:
    """Draw over the whole viewport with the program in use.

    Its vertex shader gets `ATTRIB_VERTEX` and `ATTRIB_TEXTURE_POSITION` of the four corners. In a context of
    this pack the vertices are made once; in a context of the application each time.

    Raises:
        GlError: GL fails, for example since no complete framebuffer is bound.
    """
    context = GlContext.current()
    quad = _make() if context is None else context.attachment("quad", _make, _dispose)
    gl.glBindVertexArray(quad[0])
    try:
        gl.glDrawArrays(gl.GL_TRIANGLE_STRIP, 0, len(_CORNERS))
    finally:
        gl.glBindVertexArray(0)
        if context is None:
            _dispose(quad)


def _make() -> tuple[int, int]:
    """Make the vertex array and its buffer in the current context; return their names."""
    vertex_array, buffer = ctypes.c_uint32(), ctypes.c_uint32()
    gl.glGenVertexArrays(1, ctypes.byref(vertex_array))
    gl.glGenBuffers(1, ctypes.byref(buffer))
    gl.glBindVertexArray(vertex_array.value)
    gl.glBindBuffer(gl.GL_ARRAY_BUFFER, buffer.value)
    gl.glBufferData(
        gl.GL_ARRAY_BUFFER, _CORNERS.nbytes, _CORNERS.ctypes.data_as(ctypes.c_void_p), gl.GL_STATIC_DRAW
    )
    stride = _CORNERS.strides[0]
    for attribute, first in ((ATTRIB_VERTEX, 0), (ATTRIB_TEXTURE_POSITION, _NUMBERS)):
        offset = ctypes.c_void_p(first * _CORNERS.itemsize)
        gl.glEnableVertexAttribArray(attribute)
        gl.glVertexAttribPointer(attribute, _NUMBERS, gl.GL_FLOAT, False, stride, offset)  # noqa: FBT003
    gl.glBindBuffer(gl.GL_ARRAY_BUFFER, 0)
    gl.glBindVertexArray(0)
    return vertex_array.value, buffer.value


def _dispose(quad: tuple[int, int]) -> None:
    vertex_array, buffer = quad
    gl.glDeleteVertexArrays(1, ctypes.byref(ctypes.c_uint32(vertex_array)))
    gl.glDeleteBuffers(1, ctypes.byref(ctypes.c_uint32(buffer)))
