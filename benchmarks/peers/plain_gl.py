"""A frame through OpenGL in a plain PyOpenGL script: no graph, no threads, no fences.

It has an EGL context and textures that are made once, and for each frame uploads, draws and reads back. Each
pass is the same shader as the calculator's. All frames are read back into the same array.
"""

from __future__ import annotations

import ctypes
import os
from statistics import median
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np
from expected import expect
from pictures import Work, expect_grey

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

os.environ["PYOPENGL_PLATFORM"] = "egl"
from OpenGL import GL  # type: ignore[import-untyped]  # after the choice of the platform

#: Versions for the report.
VERSIONS: dict[str, str] = {}

_VERTEX = """#version 330 core
in vec4 position;
void main() { gl_Position = position; }
"""
_FRAGMENT = """#version 330 core
uniform sampler2D frame;
out vec4 color;
void main() {
  vec4 found = texelFetch(frame, ivec2(gl_FragCoord.xy), 0);
  color = vec4(vec3(dot(found.rgb, vec3(0.2125, 0.7154, 0.0721))), found.a);
}
"""
_DEVICE, _SURFACELESS = 0x313F, 0x31DD
_WARM_UP = 5


def open_context(device: int | None) -> None:
    """Make a context and leave it current: of a device in EGL's list, or without one (Mesa, surfaceless)."""
    egl = ctypes.CDLL("libEGL.so.1")
    egl.eglGetProcAddress.restype = ctypes.c_void_p
    egl.eglCreateContext.restype = ctypes.c_void_p

    def function(name: bytes, result: Any, *arguments: Any) -> Any:
        return ctypes.CFUNCTYPE(result, *arguments)(egl.eglGetProcAddress(name))

    pointer, number = ctypes.c_void_p, ctypes.c_int32
    find = function(b"eglGetPlatformDisplayEXT", pointer, ctypes.c_uint32, pointer, pointer)
    if device is None:
        display = find(_SURFACELESS, None, None)
    else:
        devices, count = (pointer * 16)(), number()
        function(b"eglQueryDevicesEXT", ctypes.c_uint32, number, pointer, pointer)(
            16, devices, ctypes.byref(count)
        )
        display = find(_DEVICE, devices[device], None)
    shown = pointer(display)
    expect(egl.eglInitialize(shown, None, None), 1, "eglInitialize")
    config, count = pointer(), number()
    wanted = (number * 5)(0x3033, 0x0001, 0x3040, 0x0008, 0x3038)  # a pixel buffer, desktop OpenGL
    expect(egl.eglChooseConfig(shown, wanted, ctypes.byref(config), 1, ctypes.byref(count)), 1, "a config")
    egl.eglBindAPI(0x30A2)
    version = (number * 7)(0x3098, 3, 0x30FB, 3, 0x30FD, 1, 0x3038)  # 3.3, core
    context = egl.eglCreateContext(shown, config, None, version)
    expect(egl.eglMakeCurrent(shown, None, None, pointer(context)), 1, "eglMakeCurrent")


class Passes:
    """Textures and a program, made once; draws a frame through any number of passes."""

    def __init__(self, width: int, height: int, passes: int) -> None:
        self._size = width, height
        self._textures = [int(name) for name in np.atleast_1d(GL.glGenTextures(passes + 1))]
        for name in self._textures:
            GL.glBindTexture(GL.GL_TEXTURE_2D, name)
            GL.glTexImage2D(
                GL.GL_TEXTURE_2D, 0, GL.GL_RGBA8, width, height, 0, GL.GL_RGBA, GL.GL_UNSIGNED_BYTE, None
            )
            GL.glTexParameteri(GL.GL_TEXTURE_2D, GL.GL_TEXTURE_MIN_FILTER, GL.GL_LINEAR)
            GL.glTexParameteri(GL.GL_TEXTURE_2D, GL.GL_TEXTURE_MAX_LEVEL, 0)
        self._program = GL.glCreateProgram()
        for kind, source in ((GL.GL_VERTEX_SHADER, _VERTEX), (GL.GL_FRAGMENT_SHADER, _FRAGMENT)):
            shader = GL.glCreateShader(kind)
            GL.glShaderSource(shader, source)
            GL.glCompileShader(shader)
            GL.glAttachShader(self._program, shader)
        GL.glLinkProgram(self._program)
        expect(int(GL.glGetProgramiv(self._program, GL.GL_LINK_STATUS)), 1, "that the program links")
        self._framebuffer = GL.glGenFramebuffers(1)
        GL.glBindVertexArray(GL.glGenVertexArrays(1))
        GL.glBindBuffer(GL.GL_ARRAY_BUFFER, GL.glGenBuffers(1))
        corners = np.array([-1, -1, 1, -1, -1, 1, 1, 1], np.float32)
        GL.glBufferData(GL.GL_ARRAY_BUFFER, corners.nbytes, corners, GL.GL_STATIC_DRAW)
        place = GL.glGetAttribLocation(self._program, "position")
        GL.glEnableVertexAttribArray(place)
        GL.glVertexAttribPointer(place, 2, GL.GL_FLOAT, GL.GL_FALSE, 0, None)
        GL.glPixelStorei(GL.GL_UNPACK_ALIGNMENT, 1)
        GL.glPixelStorei(GL.GL_PACK_ALIGNMENT, 1)

    def upload(self, picture: NDArray[np.uint8]) -> None:
        """Copy a frame into the first texture."""
        GL.glBindTexture(GL.GL_TEXTURE_2D, self._textures[0])
        GL.glTexSubImage2D(GL.GL_TEXTURE_2D, 0, 0, 0, *self._size, GL.GL_RGBA, GL.GL_UNSIGNED_BYTE, picture)

    def draw(self) -> None:
        """Draw from each texture into the next."""
        for source, target in zip(self._textures, self._textures[1:], strict=False):
            GL.glBindFramebuffer(GL.GL_FRAMEBUFFER, self._framebuffer)
            GL.glFramebufferTexture2D(GL.GL_FRAMEBUFFER, GL.GL_COLOR_ATTACHMENT0, GL.GL_TEXTURE_2D, target, 0)
            GL.glViewport(0, 0, *self._size)
            GL.glUseProgram(self._program)
            GL.glActiveTexture(GL.GL_TEXTURE1)
            GL.glBindTexture(GL.GL_TEXTURE_2D, source)
            GL.glUniform1i(GL.glGetUniformLocation(self._program, "frame"), 1)
            GL.glDrawArrays(GL.GL_TRIANGLE_STRIP, 0, 4)
            GL.glActiveTexture(GL.GL_TEXTURE0)

    def read(self, into: NDArray[np.uint8]) -> None:
        """Copy the last texture into an array."""
        GL.glReadPixels(0, 0, *self._size, GL.GL_RGBA, GL.GL_UNSIGNED_BYTE, into)


def measured(work: str, **settings: Any) -> dict[str, float]:
    """Measure one case."""
    return (chain if work == "chain" else frame)(Work(**settings))


def frame(work: Work) -> dict[str, float]:
    """Time frames that are uploaded, made grey and read back."""
    passes, pictures = _opened(work)
    into = np.empty((work.height, work.width, 4), np.uint8)

    def one(number: int) -> None:
        passes.upload(pictures[number % len(pictures)])
        passes.draw()
        passes.read(into)

    spent = _timed(one, work.frames)
    expect_grey(into, pictures[(work.frames - 1) % len(pictures)])
    return {"ms": spent}


def chain(work: Work) -> dict[str, float]:
    """Time frames that are in a texture already and are drawn through several passes."""
    passes, pictures = _opened(work)
    passes.upload(pictures[0])

    def one(_number: int) -> None:
        passes.draw()
        GL.glFinish()

    return {"ms": _timed(one, work.frames), "host copies a frame": 0.0, "hand-offs a frame": 0.0}


def _opened(work: Work) -> tuple[Passes, list[NDArray[np.uint8]]]:
    open_context(work.device)
    found = GL.glGetString(GL.GL_RENDERER).decode()
    expect(found, work.renderer, "the renderer")
    VERSIONS["renderer"] = found
    passes = Passes(work.width, work.height, work.nodes)
    return passes, work.pictures()


def _timed(one: Callable[[int], None], frames: int) -> float:
    """Return the median of milliseconds that a frame takes."""
    for number in range(_WARM_UP):
        one(number)
    spent = []
    for number in range(frames):
        start = perf_counter()
        one(number)
        spent.append(perf_counter() - start)
    return median(spent) * 1e3
