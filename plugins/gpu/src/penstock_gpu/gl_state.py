"""State of a context that GL code may have changed, set as a copy or a pass needs it.

All nodes of a context share its state, and GL keeps what one of them enabled. These few calls cannot fail,
and are not checked: checks would double their cost.
"""

from __future__ import annotations

import ctypes
import functools
from typing import Any, Final

from penstock_gpu import gl_library

#: GL_SCISSOR_TEST, GL_BLEND, GL_CULL_FACE, GL_RASTERIZER_DISCARD, and GL_COLOR_LOGIC_OP, which OpenGL ES does
#: not have. The depth and stencil tests pass, since the framebuffers have neither buffer. Source: OpenGL 4.6
#: core profile, tables 23.8 to 23.28.
_CHANGES: Final = (0x0C11, 0x0BE2, 0x0B44, 0x8C89, 0x0BF2)
#: GL_PIXEL_UNPACK_BUFFER, then GL_UNPACK_ALIGNMENT, _ROW_LENGTH, _SKIP_ROWS and _SKIP_PIXELS; likewise PACK.
#: Source: OpenGL 3.3 core profile, tables 6.22 and 6.23; the same in OpenGL ES 3.0.
UPLOAD: Final = (0x88EC, 0x0CF5, 0x0CF2, 0x0CF3, 0x0CF4)
READ_BACK: Final = (0x88EB, 0x0D05, 0x0D02, 0x0D03, 0x0D04)


def draw_plainly(*, is_es: bool) -> None:
    """Disable all state that changes or drops drawn pixels in the current context."""
    disable, color_mask, _, _ = _calls()
    for what in _CHANGES[:-1] if is_es else _CHANGES:
        disable(what)
    color_mask(1, 1, 1, 1)


def lay_out(numbers: tuple[int, ...], row_length: int) -> None:
    """Set the layout of rows in main memory; with another one pixels would move, or pass the end of an array.

    Args:
        numbers: `UPLOAD` or `READ_BACK`.
        row_length: pixels from one row to the next, 0 where there is no gap.
    """
    _, _, bind_buffer, store = _calls()
    buffer, alignment, length, skip_rows, skip_pixels = numbers
    bind_buffer(buffer, 0)  # else GL takes an address for an offset in it
    store(alignment, 1)
    store(length, row_length)
    store(skip_rows, 0)
    store(skip_pixels, 0)


@functools.cache
def _calls() -> tuple[Any, ...]:
    """Return glDisable, glColorMask, glBindBuffer and glPixelStorei, which raise nothing."""
    number, flag = ctypes.c_uint, ctypes.c_ubyte
    arguments: dict[str, list[Any]] = {
        "glDisable": [number],
        "glColorMask": [flag] * 4,
        "glBindBuffer": [number, number],
        "glPixelStorei": [number, ctypes.c_int],
    }
    library = gl_library.library()
    # these only store a number, so they keep the interpreter's lock: releasing it costs as much as the call
    return tuple(ctypes.PYFUNCTYPE(None, *kinds)((name, library)) for name, kinds in arguments.items())
