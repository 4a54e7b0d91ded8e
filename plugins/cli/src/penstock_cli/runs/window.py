"""A window that shows frames, with GLFW (of the extra `show`) and a few lines of OpenGL.

Its context is an EGL one where possible, with which the graph's contexts can share: then a frame that
was drawn on the GPU is shown without leaving it. Only the main thread may call this module, as operating
systems require.
"""

from __future__ import annotations

from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from penstock import PenstockError
from penstock_cli.failures import RunFailed

if TYPE_CHECKING:
    from collections.abc import Iterator

#: How much of the screen a window may take.
_SHARE: Final = 0.9
_INSTALL: Final = 'pip install "penstock-cli[show]"'

_VERTEX: Final = """#version 330 core
out vec2 place;
void main() {
    vec2 corner = vec2(gl_VertexID & 1, gl_VertexID >> 1);
    // Row 0 of a frame is its upper one, and t = 0; a window's lower edge is y = -1.
    place = vec2(corner.x, 1.0 - corner.y);
    gl_Position = vec4(2.0 * corner - 1.0, 0.0, 1.0);
}
"""
_FRAGMENT: Final = """#version 330 core
in vec2 place;
out vec4 color;
uniform sampler2D frame;
void main() { color = vec4(texture(frame, place).rgb, 1.0); }
"""


class Window:
    """A window that shows one frame after the other. Made by `opened`, on the main thread."""

    def __init__(self, glfw: Any, handle: Any, shared: Any) -> None:
        self._glfw = glfw
        self._handle = handle
        self._painter: _Painter | None = None
        #: The context of the window, for other contexts to share with; None where it cannot be shared.
        self.shared = shared
        #: Whether the contexts that made the frames share with it. Else frames are read back before they are
        #: shown.
        self.sees_textures = False
        glfw.set_key_callback(handle, self._key)

    @classmethod
    @contextmanager
    def opened(cls, title: str) -> Iterator[Window]:
        """Open a window, its context current, and close it after the block. It appears with its first frame.

        Raises:
            RunFailed: there is no screen or no OpenGL, or the packages of the extra `show` are missing.
        """
        glfw = _glfw()
        if not glfw.init():
            raise RunFailed(f"--show: there is no screen to open a window on: {_reason(glfw)}")
        try:
            handle, is_egl = _made(glfw, title)
            glfw.make_context_current(handle)
            # Frames come at their own times; waiting for the screen's refresh could block a hidden window.
            glfw.swap_interval(0)
            yield cls(glfw, handle, _external() if is_egl else None)
        finally:
            glfw.terminate()

    @property
    def is_closed(self) -> bool:
        """Whether the user has closed the window, with the mouse or with Esc."""
        return bool(self._glfw.window_should_close(self._handle))

    def look(self, wait_s: float = 0.0) -> None:
        """Handle key presses and other events; wait for them for `wait_s` seconds at most."""
        if wait_s > 0:
            self._glfw.wait_events_timeout(wait_s)
        else:
            self._glfw.poll_events()

    def draw(self, frame: Any) -> None:
        """Show a frame, as large as fits without changing its shape.

        Args:
            frame: an `ImageFrame` of GRAY8, SRGB or SRGBA, or a `GpuBuffer`. Borrowed.
        """
        if self._painter is None:
            self._painter = _Painter()
            self._appear(frame.width, frame.height)
        if not self.sees_textures and hasattr(frame, "read_view"):
            frame = frame.frame()
        width, height = self._glfw.get_framebuffer_size(self._handle)
        self._painter.paint(frame, width, height)
        self._glfw.swap_buffers(self._handle)

    def _appear(self, width: int, height: int) -> None:
        """Take the frame's size, as far as the screen has room, and become visible."""
        monitor = self._glfw.get_primary_monitor()
        if monitor:
            room = self._glfw.get_monitor_workarea(monitor)[2:]
            scale = min(
                1.0, *(_SHARE * have / want for have, want in zip(room, (width, height), strict=True))
            )
            width, height = round(width * scale), round(height * scale)
        self._glfw.set_window_size(self._handle, width, height)
        self._glfw.show_window(self._handle)

    def _key(self, handle: Any, key: int, _code: int, action: int, _mods: int) -> None:
        if key == self._glfw.KEY_ESCAPE and action == self._glfw.PRESS:
            self._glfw.set_window_should_close(handle, self._glfw.TRUE)


class _Painter:
    """Draws frames with the current context, which is not a `GlContext`.

    Raises:
        GpuUnavailableError: OpenGL cannot be loaded.
        GlError: a call failed.
    """

    def __init__(self) -> None:
        self._gl = gl = import_module("penstock_gpu.gl")
        self._program = gl.compile_program(_VERTEX, _FRAGMENT, name="window")
        self._texture = _Texture(gl)
        gl.glBindVertexArray(gl.make("VertexArray"))

    def paint(self, frame: Any, width: int, height: int) -> None:
        """Draw a frame in the middle of a framebuffer of this size, with black around it."""
        gl = self._gl
        left, bottom, wide, high = fitted(frame.width, frame.height, width, height)
        gl.glViewport(0, 0, width, height)
        gl.glClearColor(0.0, 0.0, 0.0, 1.0)
        gl.glClear(gl.GL_COLOR_BUFFER_BIT)
        gl.glViewport(left, bottom, wide, high)
        gl.glUseProgram(self._program)
        gl.glActiveTexture(gl.GL_TEXTURE0)
        if hasattr(frame, "read_view"):
            with frame.read_view(import_module("penstock_gpu").GlTextureView) as view:
                gl.glBindTexture(gl.GL_TEXTURE_2D, view.name)
                gl.glDrawArrays(gl.GL_TRIANGLE_STRIP, 0, 4)
        else:
            self._texture.fill(frame.array)
            gl.glDrawArrays(gl.GL_TRIANGLE_STRIP, 0, 4)


class _Texture:
    """A texture for frames from main memory, made again when their size or channels change."""

    def __init__(self, gl: Any) -> None:
        self._gl = gl
        self._name = gl.make("Texture")
        self._shape: tuple[int, ...] = ()
        gl.glPixelStorei(gl.GL_UNPACK_ALIGNMENT, 1)
        gl.glBindTexture(gl.GL_TEXTURE_2D, self._name)
        for parameter in (gl.GL_TEXTURE_MIN_FILTER, gl.GL_TEXTURE_MAG_FILTER):
            gl.glTexParameteri(gl.GL_TEXTURE_2D, parameter, gl.GL_LINEAR)
        for parameter in (gl.GL_TEXTURE_WRAP_S, gl.GL_TEXTURE_WRAP_T):
            gl.glTexParameteri(gl.GL_TEXTURE_2D, parameter, gl.GL_CLAMP_TO_EDGE)

    def fill(self, array: Any) -> None:
        """Upload (H, W), (H, W, 3) or (H, W, 4) uint8, and leave the texture bound."""
        gl = self._gl
        channels = 1 if len(array.shape) == 2 else array.shape[2]  # noqa: PLR2004  # rows and columns alone
        kind, internal = {
            1: (gl.GL_RED, gl.GL_R8),
            3: (gl.GL_RGB, gl.GL_RGB8),
            4: (gl.GL_RGBA, gl.GL_RGBA8),
        }[channels]
        gl.glBindTexture(gl.GL_TEXTURE_2D, self._name)
        is_new = array.shape != self._shape
        if is_new:
            shown = gl.GL_RED if channels == 1 else gl.GL_GREEN, gl.GL_RED if channels == 1 else gl.GL_BLUE
            gl.glTexParameteri(gl.GL_TEXTURE_2D, gl.GL_TEXTURE_SWIZZLE_G, shown[0])
            gl.glTexParameteri(gl.GL_TEXTURE_2D, gl.GL_TEXTURE_SWIZZLE_B, shown[1])
        gl.upload(array, format=kind, type=gl.GL_UNSIGNED_BYTE, internal=internal if is_new else None)
        self._shape = array.shape


def fitted(width: int, height: int, room_width: int, room_height: int) -> tuple[int, int, int, int]:
    """Return left, bottom, width and height of the largest frame of this shape, centred in the room."""
    scale = min(room_width / width, room_height / height)
    wide, high = max(round(width * scale), 1), max(round(height * scale), 1)
    return (room_width - wide) // 2, (room_height - high) // 2, wide, high


def _glfw() -> Any:
    """Return the module, with its warnings off; `_reason` reads its errors.

    Raises:
        RunFailed: the module, or the GPU pack that draws, is not installed.
    """
    try:
        glfw: Any = import_module("glfw")
        import_module("penstock_gpu")
    except ImportError as error:
        raise RunFailed(
            f"--show: a window needs packages that are not installed ({error}): {_INSTALL}"
        ) from error
    glfw.ERROR_REPORTING = "ignore"
    return glfw


def _made(glfw: Any, title: str) -> tuple[Any, bool]:
    """Return a hidden window with a context, and whether that is an EGL one."""
    reasons = []
    for api in (glfw.EGL_CONTEXT_API, glfw.NATIVE_CONTEXT_API):
        glfw.default_window_hints()
        glfw.window_hint(glfw.VISIBLE, glfw.FALSE)
        glfw.window_hint(glfw.CONTEXT_VERSION_MAJOR, 3)
        glfw.window_hint(glfw.CONTEXT_VERSION_MINOR, 3)
        glfw.window_hint(glfw.OPENGL_PROFILE, glfw.OPENGL_CORE_PROFILE)
        glfw.window_hint(glfw.OPENGL_FORWARD_COMPAT, glfw.TRUE)
        glfw.window_hint(glfw.CONTEXT_CREATION_API, api)
        handle = glfw.create_window(640, 360, title, None, None)
        if handle:
            return handle, api == glfw.EGL_CONTEXT_API
        reasons.append(_reason(glfw))
    raise RunFailed(f"--show: no window with OpenGL can be opened: {'; '.join(dict.fromkeys(reasons))}")


def _reason(glfw: Any) -> str:
    """Return why the last call failed."""
    _code, words = glfw.get_error()
    return (words.decode(errors="replace") if isinstance(words, bytes) else words) or "no reason is given"


def _external() -> Any:
    """Return the current context for others to share with, or None if this machine cannot share it."""
    try:
        return import_module("penstock_gpu").ExternalContext.current()
    except PenstockError:
        return None
