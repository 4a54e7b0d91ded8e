"""The functions and constants of GL: PyOpenGL's declarations, bound to the system's library.

Names, argument types and numbers come from PyOpenGL's raw modules. The functions are bound here, so they work
with any platform that PyOpenGL has chosen, and check errors whatever its flags are. The higher modules of
PyOpenGL are not used: they copy arrays silently, and query extensions once for a whole process.
"""

from __future__ import annotations

import ctypes
import functools
import importlib
import os
import sys
import threading
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, Final

from penstock.errors import FailedPreconditionError, InvalidArgumentError
from penstock_gpu import egl
from penstock_gpu.current import LOCAL
from penstock_gpu.errors import INSTALL, GlError, GpuUnavailableError

if TYPE_CHECKING:
    from types import ModuleType

#: Libraries that dispatch to the driver of the current context; the first that loads is used.
_LIBRARIES: Final = ("libOpenGL.so.0", "libGL.so.1", "libGLESv2.so.2")
_VERSIONS: Final = tuple(
    f"{major}_{minor}" for major, last in ((1, 5), (2, 1), (3, 3), (4, 6)) for minor in range(last + 1)
)
#: GL_VERSION, which every context has. Source: OpenGL 4.6 core profile, section 22.2.
_VERSION: Final = 0x1F02
#: glWaitSync takes no other time-out. PyOpenGL's constant is a signed number that GL refuses.
TIMEOUT_IGNORED: Final = 0xFFFFFFFFFFFFFFFF

#: Functions that are not checked: glGetError itself; glDeleteSync, which finalisers may call between another
#: call and its check; and glFlush, which cannot fail and is called in each pass.
_UNCHECKED: Final = frozenset({"glGetError", "glDeleteSync", "glFlush"})

#: Functions that return text, as bytes.
_STRINGS: Final = frozenset({"glGetString", "glGetStringi"})

_lock = threading.RLock()
_library: ctypes.CDLL | None = None


def library() -> ctypes.CDLL:
    """Return the library of GL, loaded on the first call.

    Raises:
        GpuUnavailableError: none is installed.
    """
    global _library  # noqa: PLW0603  # one library in one process
    if _library is None:
        with _lock:
            if _library is None:
                _library = _load()
    return _library


def _load() -> ctypes.CDLL:
    reasons = []
    for name in _LIBRARIES:
        try:
            return ctypes.CDLL(name, mode=ctypes.RTLD_GLOBAL)
        except OSError as error:
            reasons.append(str(error))
    raise GpuUnavailableError(f"no library of OpenGL can be loaded: {'; '.join(reasons)}", INSTALL)


def find(name: str) -> Any:
    """Return the function or constant of this name, bound.

    Raises:
        AttributeError: GL has no such name.
        GpuUnavailableError: PyOpenGL or the library of GL is missing.
    """
    if name == "GL_TIMEOUT_IGNORED":
        return TIMEOUT_IGNORED
    with _lock:
        for version in _VERSIONS:
            found = getattr(_raw(version), name, None)
            if isinstance(found, int):
                return int(found)
            if found is not None:
                return _bind(name, found)
        near = get_close_matches(name, {known for version in _VERSIONS for known in dir(_raw(version))}, 1)
    raise AttributeError(
        f"the GL library has no name {name!r}" + (f"; did you mean {near[0]!r}?" if near else "")
    )


def _raw(version: str) -> ModuleType:
    name = f"OpenGL.raw.GL.VERSION.GL_{version}"
    module = sys.modules.get(name)
    return module or _import(name)


def _import(name: str) -> ModuleType:
    """Import a module of PyOpenGL, which chooses its platform when the first is imported."""
    library()
    variable = "PYOPENGL_PLATFORM"
    is_free = "OpenGL.platform" not in sys.modules and variable not in os.environ
    if is_free:
        os.environ[variable] = "egl"
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "OpenGL":
            raise
        raise GpuUnavailableError(
            "the GL library needs PyOpenGL, which is not installed", "pip install PyOpenGL"
        ) from error
    except (ImportError, AttributeError, OSError, TypeError) as error:  # PyOpenGL's, where a part is missing
        cause = f"PyOpenGL cannot be imported: {type(error).__name__}: {error}"
        raise GpuUnavailableError(cause, INSTALL) from error
    finally:
        if is_free:
            os.environ.pop(variable, None)


def _bind(name: str, raw: Any) -> Any:
    arguments: list[Any] = [_Pointer if _is_pointer(kind) else kind for kind in raw.argtypes]
    # importing OpenGL.GL changes what these return in the raw modules
    result = ctypes.c_char_p if name in _STRINGS else raw.restype
    prototype = ctypes.CFUNCTYPE(result, *arguments)
    try:
        function: Any = prototype((name, library()))
    except AttributeError:
        address = egl.load().proc_address(name)
        if not address:
            raise AttributeError(f"the library of GL has no function {name!r}") from None
        function = prototype(address)
    function.__name__ = name
    if name not in _UNCHECKED:
        function.errcheck = _checker(name)
    return function


def _is_pointer(kind: Any) -> bool:
    return kind is ctypes.c_void_p or kind == ctypes.POINTER(None)


class _Pointer:
    """An address: None, an int, bytes, a ctypes object, or a contiguous array."""

    @classmethod
    def from_param(cls, value: Any) -> Any:
        if value is None or isinstance(value, int | bytes):
            return ctypes.c_void_p.from_param(value)
        flags = getattr(value, "flags", None)
        if flags is None:
            return ctypes.c_void_p.from_param(value)
        if not flags.c_contiguous:
            raise InvalidArgumentError(
                f"an array of strides {value.strides} for the GL library is not contiguous; pass a copy by"
                " numpy.ascontiguousarray"
            )
        pointer = ctypes.c_void_p(value.ctypes.data)
        pointer.array = value  # type: ignore[attr-defined]  # keeps the array alive during the call
        return pointer


def _checker(name: str) -> Any:
    error_code = get_error_function()

    def check(result: Any, _function: Any, _arguments: Any) -> Any:
        code = error_code()
        if code:
            raise GlError(name, code)
        if LOCAL.context is None and name != "glGetString" and not is_current():
            raise FailedPreconditionError(
                f"{name} of the GL library was called where no GL context is current, so it did nothing; "
                "call it in the gl_... methods, in helper.run_in_gl_context or in GlContext.run"
            )
        return result

    return check


def is_current() -> bool:
    """Whether a GL context is current on this thread, this pack's or the application's."""
    return bool(_get_string()(_VERSION))


@functools.cache
def _get_string() -> Any:
    return ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_uint)(("glGetString", library()))


@functools.cache
def integer_query() -> Any:
    """Return glGetIntegerv, checked. PyOpenGL's version takes five times as long to convert its argument."""
    function: Any = ctypes.CFUNCTYPE(None, ctypes.c_uint, ctypes.c_void_p)(("glGetIntegerv", library()))
    function.__name__ = "glGetIntegerv"
    function.errcheck = _checker("glGetIntegerv")
    return function


#: glGetError, set by the first call of `get_error_function`.
get_error: Any = None


def get_error_function() -> Any:
    """Return glGetError."""
    global get_error  # noqa: PLW0603  # bound once
    if get_error is None:
        prototype = ctypes.CFUNCTYPE(ctypes.c_uint)
        get_error = prototype(("glGetError", library()))
    return get_error
