"""EGL by ctypes: displays, devices, contexts, the current context. libEGL is loaded on the first use.

It has only the functions that the pack needs; a call that fails raises `EglError`. Handles are plain ints, 0
for none. Displays are never terminated: they belong to the whole process, and an application may use them.
"""

from __future__ import annotations

import ctypes
import os
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from penstock_gpu.errors import INSTALL, GpuUnavailableError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

# Source of the numbers: Khronos registry, EGL 1.5 and the headers of the extensions named.
PLATFORM_DEVICE: Final = 0x313F  # EGL_EXT_platform_device
PLATFORM_SURFACELESS: Final = 0x31DD  # EGL_MESA_platform_surfaceless
OPENGL_ES_API: Final = 0x30A0
OPENGL_API: Final = 0x30A2
NOT_INITIALIZED: Final = 0x3001
BAD_CONFIG: Final = 0x3005
BAD_PARAMETER: Final = 0x300C
_NONE: Final = 0x3038
_DRAW: Final = 0x3059
_READ: Final = 0x305A
_EXTENSIONS: Final = 0x3055
_VENDOR: Final = 0x3053
_DRM_DEVICE_FILE: Final = 0x3233  # EGL_EXT_device_drm
_DRM_RENDER_NODE_FILE: Final = 0x3377  # EGL_EXT_device_drm_render_node
_CUDA_DEVICE: Final = 0x323A  # EGL_NV_device_cuda
_CONTEXT_CLIENT_TYPE: Final = 0x3097
_CONTEXT_MAJOR: Final = 0x3098
_CONTEXT_MINOR: Final = 0x30FB
_CONTEXT_PROFILE_MASK: Final = 0x30FD
_CORE_PROFILE: Final = 0x1
_SURFACE_TYPE: Final = 0x3033
_PBUFFER_BIT: Final = 0x1
_RENDERABLE_TYPE: Final = 0x3040
_OPENGL_ES3_BIT: Final = 0x40
_OPENGL_BIT: Final = 0x8
_RED, _GREEN, _BLUE, _ALPHA = 0x3024, 0x3023, 0x3022, 0x3021
_WIDTH, _HEIGHT = 0x3057, 0x3056
_MAX_DEVICES: Final = 64

#: Source: EGL 1.5, section 3.1.
_ERRORS: Final = {
    0x3001: "EGL_NOT_INITIALIZED",
    0x3002: "EGL_BAD_ACCESS",
    0x3003: "EGL_BAD_ALLOC",
    0x3004: "EGL_BAD_ATTRIBUTE",
    0x3005: "EGL_BAD_CONFIG",
    0x3006: "EGL_BAD_CONTEXT",
    0x3007: "EGL_BAD_CURRENT_SURFACE",
    0x3008: "EGL_BAD_DISPLAY",
    0x3009: "EGL_BAD_MATCH",
    0x300A: "EGL_BAD_NATIVE_PIXMAP",
    0x300B: "EGL_BAD_NATIVE_WINDOW",
    0x300C: "EGL_BAD_PARAMETER",
    0x300D: "EGL_BAD_SURFACE",
    0x300E: "EGL_CONTEXT_LOST",
}

_P = ctypes.c_void_p
_I = ctypes.c_int
_U = ctypes.c_uint
_PI = ctypes.POINTER(ctypes.c_int)
#: Result type and argument types of each function.
_CORE: Final[dict[str, tuple[Any, ...]]] = {
    "eglGetError": (_I,),
    "eglGetProcAddress": (_P, ctypes.c_char_p),
    "eglQueryString": (ctypes.c_char_p, _P, _I),
    "eglGetDisplay": (_P, _P),
    "eglInitialize": (_U, _P, _PI, _PI),
    "eglBindAPI": (_U, _U),
    "eglQueryAPI": (_U,),
    "eglChooseConfig": (_U, _P, _PI, ctypes.POINTER(_P), _I, _PI),
    "eglCreateContext": (_P, _P, _P, _P, _PI),
    "eglDestroyContext": (_U, _P, _P),
    "eglQueryContext": (_U, _P, _P, _I, _PI),
    "eglCreatePbufferSurface": (_P, _P, _P, _PI),
    "eglDestroySurface": (_U, _P, _P),
    "eglMakeCurrent": (_U, _P, _P, _P, _P),
    "eglGetCurrentContext": (_P,),
    "eglGetCurrentDisplay": (_P,),
    "eglGetCurrentSurface": (_P, _I),
    "eglReleaseThread": (_U,),
}
_EXTENDED: Final[dict[str, tuple[Any, ...]]] = {
    "eglGetPlatformDisplayEXT": (_P, _U, _P, _PI),
    "eglQueryDevicesEXT": (_U, _I, ctypes.POINTER(_P), _PI),
    "eglQueryDeviceStringEXT": (ctypes.c_char_p, _P, _I),
    "eglQueryDeviceAttribEXT": (_U, _P, _I, ctypes.POINTER(ctypes.c_ssize_t)),
}


class EglError(Exception):
    """An EGL call failed."""

    def __init__(self, call: str, code: int) -> None:
        super().__init__(f"{call}: {_ERRORS.get(code, hex(code))}")
        #: Its name.
        self.call = call
        #: What eglGetError returned.
        self.code = code


class Binding(NamedTuple):
    """The current context of a thread and its surfaces. All zero: none."""

    display: int = 0
    draw: int = 0
    read: int = 0
    context: int = 0


class Egl:
    """The functions of libEGL; one object for the process, see `load`."""

    def __init__(self, library: ctypes.CDLL) -> None:
        self._calls: dict[str, Any] = {}
        for name, (result, *arguments) in _CORE.items():
            call = getattr(library, name)
            call.restype, call.argtypes = result, arguments
            self._calls[name] = call
        self.extensions = self._words(self._calls["eglQueryString"](None, _EXTENSIONS))
        if not self.extensions:
            self._calls["eglGetError"]()
        for name, (result, *arguments) in _EXTENDED.items():
            address = self.proc_address(name)
            if address:
                self._calls[name] = ctypes.CFUNCTYPE(result, *arguments)(address)

    def proc_address(self, name: str) -> int:
        """Return the address of a function of EGL or GL, 0 where no function has that name."""
        return self._calls["eglGetProcAddress"](name.encode()) or 0

    def devices(self) -> tuple[int, ...]:
        """Return the devices in EGL's order; () where EGL cannot list them."""
        if "eglQueryDevicesEXT" not in self._calls:
            return ()
        handles, count = (_P * _MAX_DEVICES)(), _I()
        if not self._calls["eglQueryDevicesEXT"](_MAX_DEVICES, handles, ctypes.byref(count)):
            self._calls["eglGetError"]()
            return ()
        return tuple(handle for handle in handles[: count.value] if handle)

    def device_extensions(self, device: int) -> frozenset[str]:
        """Return the extensions of a device."""
        return self._words(self._device_string(device, _EXTENSIONS))

    def device_files(self, device: int) -> tuple[str, ...]:
        """Return the paths of a device, such as "/dev/dri/card0" and "/dev/dri/renderD128"."""
        extensions = self.device_extensions(device)
        wanted = {
            "EGL_EXT_device_drm": _DRM_DEVICE_FILE,
            "EGL_EXT_device_drm_render_node": _DRM_RENDER_NODE_FILE,
        }
        found = (self._device_string(device, what) for name, what in wanted.items() if name in extensions)
        return tuple(path.decode() for path in found if path)

    def device_cuda(self, device: int) -> int | None:
        """Return the CUDA ordinal of a device, None where it has none."""
        if "EGL_NV_device_cuda" not in self.device_extensions(device):
            return None
        value = ctypes.c_ssize_t()
        if not self._calls["eglQueryDeviceAttribEXT"](device, _CUDA_DEVICE, ctypes.byref(value)):
            self._calls["eglGetError"]()
            return None
        return value.value

    def display(self, platform: int = 0, native: int = 0) -> int:
        """Return the display of a platform, initialized; platform 0: the default display."""
        if not platform:
            display = self._some("eglGetDisplay", native or None)
        elif "eglGetPlatformDisplayEXT" in self._calls:
            display = self._some("eglGetPlatformDisplayEXT", platform, native or None, None)
        else:
            raise EglError("eglGetPlatformDisplayEXT", BAD_PARAMETER)
        self._some("eglInitialize", display, None, None)
        return display

    def display_extensions(self, display: int) -> frozenset[str]:
        """Return the extensions of a display."""
        return self._words(self._calls["eglQueryString"](display, _EXTENSIONS))

    def display_vendor(self, display: int) -> str:
        """Return the maker of a display's driver, such as "Mesa Project"."""
        return (self._calls["eglQueryString"](display, _VENDOR) or b"").decode()

    @contextmanager
    def api(self, api: int) -> Iterator[None]:
        """Bind a client API on this thread while the block runs."""
        before = self._calls["eglQueryAPI"]()
        self.bind_api(api)
        try:
            yield
        finally:
            self._calls["eglBindAPI"](before)

    def bind_api(self, api: int) -> None:
        """Choose the API of the next context that this thread makes."""
        self._some("eglBindAPI", api)

    def choose_config(self, display: int, api: int) -> int:
        """Return a config for a 1 x 1 pbuffer of RGBA, 8 bits each."""
        bit = _OPENGL_BIT if api == OPENGL_API else _OPENGL_ES3_BIT
        wanted = [_SURFACE_TYPE, _PBUFFER_BIT, _RENDERABLE_TYPE, bit, _RED, 8, _GREEN, 8, _BLUE, 8, _ALPHA, 8]
        config, count = (_P * 1)(), _I()
        self._some("eglChooseConfig", display, _list(wanted), config, 1, ctypes.byref(count))
        if not count.value:
            raise EglError("eglChooseConfig", BAD_CONFIG)
        return config[0] or 0

    def create_context(
        self, display: int, config: int, share: int, version: tuple[int, int], *, core: bool
    ) -> int:
        """Make a context of the bound API, of at least `version`."""
        wanted = [_CONTEXT_MAJOR, version[0], _CONTEXT_MINOR, version[1]]
        if core:
            wanted += [_CONTEXT_PROFILE_MASK, _CORE_PROFILE]
        return self._some("eglCreateContext", display, config or None, share or None, _list(wanted))

    def context_api(self, display: int, context: int) -> int:
        """Return the API of a context."""
        value = _I()
        self._some("eglQueryContext", display, context, _CONTEXT_CLIENT_TYPE, ctypes.byref(value))
        return value.value

    def create_pbuffer(self, display: int, config: int) -> int:
        """Make a surface of one pixel in memory."""
        return self._some("eglCreatePbufferSurface", display, config, _list([_WIDTH, 1, _HEIGHT, 1]))

    def destroy_context(self, display: int, context: int) -> None:
        """Destroy a context; EGL frees it once it is not current on any thread."""
        self._some("eglDestroyContext", display, context)

    def destroy_surface(self, display: int, surface: int) -> None:
        """Destroy a surface."""
        self._some("eglDestroySurface", display, surface)

    def make_current(self, binding: Binding) -> None:
        """Make `binding` current on this thread; it must have a display, even if it has no context."""
        self._some(
            "eglMakeCurrent",
            binding.display,
            binding.draw or None,
            binding.read or None,
            binding.context or None,
        )

    def current(self) -> Binding:
        """Return the binding that is current on this thread."""
        context = self._calls["eglGetCurrentContext"]()
        if not context:
            return Binding()
        surface = self._calls["eglGetCurrentSurface"]
        display = self._calls["eglGetCurrentDisplay"]()
        return Binding(display or 0, surface(_DRAW) or 0, surface(_READ) or 0, context)

    def release_thread(self) -> None:
        """Free EGL's data of this thread; called once, at its end."""
        self._calls["eglReleaseThread"]()

    def _device_string(self, device: int, what: int) -> bytes | None:
        text: bytes | None = self._calls["eglQueryDeviceStringEXT"](device, what)
        if text is None:
            self._calls["eglGetError"]()
        return text

    def _some(self, name: str, *arguments: Any) -> int:
        """Call a function and return its result; 0 is an error."""
        result = self._calls[name](*arguments)
        if not result:
            raise EglError(name, self._calls["eglGetError"]())
        return int(result)

    @staticmethod
    def _words(text: bytes | None) -> frozenset[str]:
        return frozenset((text or b"").decode().split())


def _list(pairs: Sequence[int]) -> Any:
    return (_I * (len(pairs) + 1))(*pairs, _NONE)


_lock = threading.Lock()
_loaded: Egl | None = None


def load() -> Egl:
    """Return libEGL, loaded on the first call.

    Raises:
        GpuUnavailableError: it is not installed.
    """
    global _loaded  # noqa: PLW0603  # one library in one process
    if _loaded is None:
        with _lock:
            if _loaded is None:
                _loaded = Egl(_library())
    return _loaded


def _library() -> ctypes.CDLL:
    try:
        return ctypes.CDLL("libEGL.so.1")
    except OSError as error:
        raise GpuUnavailableError(f"libEGL.so.1 cannot be loaded: {error}", INSTALL) from error


@contextmanager
def quiet() -> Iterator[None]:
    """Keep Mesa from writing to stderr why a driver does not fit, which it does while displays are tried."""
    name = "EGL_LOG_LEVEL"
    if name in os.environ:
        yield
        return
    os.environ[name] = "fatal"
    try:
        yield
    finally:
        os.environ.pop(name, None)
