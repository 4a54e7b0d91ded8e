"""GL by name, such as `gl.glUseProgram` and `gl.GL_TEXTURE_2D`, and some helpers that check what GL does not.

Importing this module imports no GL: a name is looked up when it is first used, and kept. Each function
raises `GlError` with its name where GL reports an error. A context must be current; see `GlContext.run`.
"""

from __future__ import annotations

import ctypes
import sys
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from penstock.errors import FailedPreconditionError, InvalidArgumentError
from penstock_gpu import gl_library, gl_state
from penstock_gpu.current import LOCAL
from penstock_gpu.errors import GlError, ShaderError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

#: Time-out of glWaitSync; PyOpenGL's own constant is one that GL refuses.
TIMEOUT_IGNORED: Final = gl_library.TIMEOUT_IGNORED

#: Channels of a pixel format. Source: OpenGL 4.6 core profile, table 8.3, and the formats of older profiles.
_CHANNELS: Final[dict[int, int]] = {
    0x1903: 1,  # GL_RED
    0x1906: 1,  # GL_ALPHA
    0x1909: 1,  # GL_LUMINANCE
    0x8227: 2,  # GL_RG
    0x1907: 3,  # GL_RGB
    0x80E0: 3,  # GL_BGR
    0x1908: 4,  # GL_RGBA
    0x80E1: 4,  # GL_BGRA
}
#: Element type of a pixel type. Source: OpenGL 4.6 core profile, table 8.2.
_DTYPES: Final[dict[int, np.dtype[Any]]] = {
    0x1401: np.dtype(np.uint8),  # GL_UNSIGNED_BYTE
    0x1403: np.dtype(np.uint16),  # GL_UNSIGNED_SHORT
    0x1406: np.dtype(np.float32),  # GL_FLOAT
    0x140B: np.dtype(np.float16),  # GL_HALF_FLOAT
}
#: This module, for looking up its GL names.
_SELF: Final[Any] = sys.modules[__name__]
_GRAY: Final = 2
_COLOUR: Final = 3


def __getattr__(name: str) -> Any:
    if not name.startswith(("gl", "GL_")):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = gl_library.find(name)
    globals()[name] = found
    return found


def upload(  # noqa: PLR0913  # what GL wants to know
    array: NDArray[Any],
    *,
    format: int,  # noqa: A002  # GL's word
    type: int,  # noqa: A002  # GL's word
    internal: int | None = None,
    target: int = 0x0DE1,
    x: int = 0,
    y: int = 0,
    texture: int = 0,
) -> None:
    """Copy an array into the texture that is bound to `target`; row 0 becomes the row at t = 0.

    Adds one to `uploads` of the current context. The row layout (glPixelStore) and the buffer bound to
    GL_PIXEL_UNPACK_BUFFER are set as needed, and left at GL's defaults, except for an alignment of 1.

    Args:
        array: (H, W) or (H, W, channels) with the element type of `type`. The pixels of a row must be
            contiguous; there may be gaps between rows.
        format: GL_RED, GL_RG, GL_RGB, GL_RGBA, ...
        type: GL_UNSIGNED_BYTE, GL_HALF_FLOAT, GL_FLOAT or GL_UNSIGNED_SHORT.
        internal: allocates storage of this internal format and the array's size; None writes into the
            texture's existing storage.
        target: GL_TEXTURE_2D.
        x: first column that is written; only without `internal`.
        y: first row that is written; only without `internal`.
        texture: GL name of a texture to write into instead, bound or not; only without `internal`, and if the
            context `has_direct_access`.

    Raises:
        InvalidArgumentError: the array does not fit; nothing has been copied.
        GlError: GL refuses, for example since the array is larger than the texture.
    """
    names = _SELF
    height, width, apart = _laid_out("upload", array, format, type)
    pointer = array.ctypes.data
    gl_state.lay_out(gl_state.UPLOAD, apart)
    try:
        if texture:
            names.glTextureSubImage2D(texture, 0, x, y, width, height, format, type, pointer)
        elif internal is None:
            names.glTexSubImage2D(target, 0, x, y, width, height, format, type, pointer)
        else:
            names.glTexImage2D(target, 0, internal, width, height, 0, format, type, pointer)
    finally:
        if apart:
            names.glPixelStorei(names.GL_UNPACK_ROW_LENGTH, 0)
    context = LOCAL.context
    if context is not None:
        context.uploads += 1


def read_into(  # noqa: PLR0913  # as `upload`
    array: NDArray[Any],
    *,
    format: int,  # noqa: A002  # GL's word
    type: int,  # noqa: A002  # GL's word
    x: int = 0,
    y: int = 0,
    texture: int = 0,
) -> None:
    """Copy pixels of the framebuffer that is bound for reading into `array`; row `y` becomes row 0.

    Waits until GL has drawn them. Adds one to `readbacks` of the current context. Sets the row layout and
    GL_PIXEL_PACK_BUFFER as `upload` does.

    Args:
        array: (H, W) or (H, W, channels), writeable, with the element type of `type`. The pixels of a row
            must be contiguous; there may be gaps between rows.
        format: GL_RED, GL_RG, GL_RGB, GL_RGBA, ...
        type: GL_UNSIGNED_BYTE, GL_HALF_FLOAT, GL_FLOAT or GL_UNSIGNED_SHORT.
        x: first column that is read.
        y: first row that is read.
        texture: GL name of a 2D texture to read instead; only if the context `has_direct_access`.

    Raises:
        InvalidArgumentError: the array does not fit, or is read-only; it has not been written.
        GlError: GL refuses, for example since the framebuffer is not complete.
    """
    names = _SELF
    if not array.flags.writeable:
        raise InvalidArgumentError("gl.read_into: the array is read-only; pass one that may be written")
    height, width, apart = _laid_out("read_into", array, format, type)
    gl_state.lay_out(gl_state.READ_BACK, apart)
    try:
        pointer = array.ctypes.data
        if texture:
            size = array.nbytes if not apart else array.strides[0] * (height - 1) + array[0].nbytes
            names.glGetTextureSubImage(texture, 0, x, y, 0, width, height, 1, format, type, size, pointer)
        else:
            names.glReadPixels(x, y, width, height, format, type, pointer)
    finally:
        if apart:
            names.glPixelStorei(names.GL_PACK_ROW_LENGTH, 0)
    context = LOCAL.context
    if context is not None:
        context.readbacks += 1


def _laid_out(
    function: str,
    array: NDArray[Any],
    format: int,  # noqa: A002  # GL's words
    type: int,  # noqa: A002
) -> tuple[int, int, int]:
    """Return height, width and, where there are gaps between rows, the pixels from row to row, else 0."""
    channels, dtype = _CHANNELS.get(format), _DTYPES.get(type)
    if channels is None or dtype is None:
        raise InvalidArgumentError(
            f"gl.{function}: pixels of format 0x{format:04X} and type 0x{type:04X} are not copied, expected "
            "for example GL_RGBA and GL_UNSIGNED_BYTE"
        )
    if array.dtype != dtype:
        raise InvalidArgumentError(
            f"gl.{function}: the array has elements of {array.dtype}, expected {dtype}; use array.astype"
        )
    there = 1 if array.ndim == _GRAY else array.shape[2] if array.ndim == _COLOUR else 0
    if there != channels or not array.size:
        shape = "(height, width)" if channels == 1 else f"(height, width, {channels})"
        raise InvalidArgumentError(
            f"gl.{function}: the array has shape {array.shape}, expected {shape} with at least one pixel"
        )
    height, width = array.shape[:2]
    pixel = channels * dtype.itemsize
    if array.flags.c_contiguous:
        return height, width, 0
    row, column = array.strides[0], array.strides[1]
    is_together = (width == 1 or column == pixel) and (
        array.ndim == _GRAY or array.strides[2] == dtype.itemsize
    )
    if not is_together or (height > 1 and (row < width * pixel or row % pixel)):
        raise InvalidArgumentError(
            f"gl.{function}: pixels of a row are not contiguous, the array's strides are {array.strides}; "
            "pass a copy by numpy.ascontiguousarray"
        )
    return height, width, row // pixel if height > 1 else 0


def compile_program(
    vertex_source: str, fragment_source: str, attributes: Mapping[str, int] | None = None, name: str = ""
) -> int:
    """Compile and link a program in the current context; return its GL name. The caller deletes it.

    Args:
        vertex_source: GLSL with its `#version` line.
        fragment_source: GLSL with its `#version` line.
        attributes: the location of each vertex attribute.
        name: the program's name in errors.

    Raises:
        ShaderError: a shader does not compile, or the program does not link; with the driver's log and the
            source's numbered lines. Nothing is kept.
    """
    names = _SELF
    if not names.glGetString(names.GL_VERSION):
        raise FailedPreconditionError(
            "gl.compile_program needs a GL context, and none is current; call it in gl_setup, in "
            "helper.run_in_gl_context or in GlContext.run"
        )
    shaders = []
    program = names.glCreateProgram()
    try:
        for stage, kind, source in (
            ("vertex", names.GL_VERTEX_SHADER, vertex_source),
            ("fragment", names.GL_FRAGMENT_SHADER, fragment_source),
        ):
            shaders.append(_shader(stage, kind, source, name))
            names.glAttachShader(program, shaders[-1])
        for attribute, number in (attributes or {}).items():
            names.glBindAttribLocation(program, number, attribute.encode())
        _link(program, name)
    except BaseException:
        names.glDeleteProgram(program)
        raise
    finally:
        for shader in shaders:
            names.glDeleteShader(shader)  # GL frees it with the program
    return int(program)


def _shader(stage: str, kind: int, source: str, name: str) -> int:
    names = _SELF
    shader = int(names.glCreateShader(kind))
    text = source.encode()
    strings = (ctypes.c_char_p * 1)(text)
    lengths = (ctypes.c_int * 1)(len(text))
    pointer = ctypes.cast(strings, ctypes.POINTER(ctypes.POINTER(ctypes.c_char)))
    names.glShaderSource(shader, 1, pointer, lengths)
    names.glCompileShader(shader)
    if not _parameter(names.glGetShaderiv, shader, names.GL_COMPILE_STATUS):
        log = _log(names.glGetShaderiv, names.glGetShaderInfoLog, shader)
        names.glDeleteShader(shader)
        raise ShaderError(stage, log, source, name=name)
    return shader


def _link(program: int, name: str) -> None:
    names = _SELF
    names.glLinkProgram(program)
    if not _parameter(names.glGetProgramiv, program, names.GL_LINK_STATUS):
        raise ShaderError("link", _log(names.glGetProgramiv, names.glGetProgramInfoLog, program), name=name)


def _parameter(call: Any, name: int, what: int) -> int:
    value = (ctypes.c_int * 1)()
    call(name, what, value)
    return value[0]


def _log(parameter: Any, call: Any, name: int) -> str:
    length = max(_parameter(parameter, name, 0x8B84), 1)  # GL_INFO_LOG_LENGTH, with its last zero
    text = ctypes.create_string_buffer(length)
    call(name, length, None, text)
    return text.value.decode(errors="replace")


def get_integer(what: int) -> int:
    """Return an integer of GL's state, such as GL_MAX_TEXTURE_SIZE."""
    value = ctypes.c_int()
    gl_library.integer_query()(what, ctypes.byref(value))
    return value.value


def get_string(what: int) -> str:
    """Return a string of GL, such as GL_RENDERER; "" if no context is current."""
    text: bytes | None = _SELF.glGetString(what)
    return (text or b"").decode(errors="replace")


def extensions() -> frozenset[str]:
    """Return the extensions of the current context."""
    names = _SELF
    count = get_integer(0x821D)  # GL_NUM_EXTENSIONS
    found: list[bytes | None] = [names.glGetStringi(0x1F03, index) for index in range(count)]  # GL_EXTENSIONS
    return frozenset(name.decode() for name in found if name)


def make(kind: str) -> int:
    """Make a "Texture", "Framebuffer", "Buffer" or "VertexArray", and return its GL name."""
    name = (ctypes.c_uint * 1)()
    getattr(_SELF, f"glGen{kind}s")(1, name)
    if not name[0]:
        raise GlError(f"glGen{kind}s", detail="the driver gave no name; see that the context has not ended")
    return name[0]


def delete(kind: str, *names: int) -> None:
    """Delete objects that `make` made, in the current context. GL ignores 0."""
    if names:
        getattr(_SELF, f"glDelete{kind}s")(len(names), (ctypes.c_uint * len(names))(*names))
