"""Machines on which something is missing: each a Python of its own, from which its loader hides something."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

PACKAGES = "apt-get install --no-install-recommends libegl1 libopengl0 libgl1-mesa-dri"

TRY = """
import json
from penstock_gpu.errors import GpuUnavailableError
from penstock_gpu.contexts.context import GlContext
try:
    GlContext.create()
except GpuUnavailableError as error:
    print(json.dumps([str(error), error.cause, error.cure]))
from penstock_gpu.contexts.probe import probe
report = probe()
print(json.dumps([report.chosen is None, report.why_not, report.cure]))
"""

#: Lets the loader of shared libraries not find those whose names begin so.
HIDE = """
import ctypes
class Loader(ctypes.CDLL):
    def __init__(self, name, *arguments, **options):
        if name and str(name).startswith({names}):
            raise OSError(f"{{name}}: cannot open shared object file: No such file or directory")
        super().__init__(name, *arguments, **options)
ctypes.CDLL = Loader
ctypes.cdll = ctypes.LibraryLoader(Loader)
"""


MESA = Path("/usr/share/glvnd/egl_vendor.d/50_mesa.json")
needs_mesa = pytest.mark.skipif(not MESA.exists(), reason=f"breaks Mesa, which is not here: {MESA}")


@pytest.fixture
def failing(python):
    """Return a function that runs a script without GL: (message, cause, cure), and the report of `probe`."""

    def run(before: str = "", may_work: str = "", **environment):
        done = python(before + TRY, **{"PENSTOCK_GPU_DEVICE": None, **environment})
        assert done.stderr == "", "drivers wrote to stderr"
        assert done.returncode == 0
        lines = done.stdout.splitlines()
        if may_work and len(lines) == 1:
            pytest.skip(may_work)
        assert len(lines) == 2, "a context was made"
        is_off, why_not, cure = json.loads(lines[1])
        assert is_off
        message, cause, first_cure = json.loads(lines[0])
        assert cure == first_cure
        return message, cause, why_not

    return run


def test_without_libegl_the_packages_are_named(failing):
    message, cause, why_not = failing(HIDE.format(names=("libEGL",)))

    assert cause.startswith("libEGL.so.1 cannot be loaded: libEGL.so.1: cannot open shared object file")
    assert message == f"{cause}; {PACKAGES} (on Debian 13 libegl1 libopengl0)"
    assert why_not == cause


@pytest.mark.gpu
def test_without_a_library_of_opengl_all_that_were_tried_are_named(failing):
    message, cause, why_not = failing(HIDE.format(names=("libOpenGL", "libGL.", "libGLES")))

    assert cause.startswith("no library of OpenGL can be loaded: libOpenGL.so.0: cannot open")
    assert "libGL.so.1: cannot open" in cause
    assert "libGLESv2.so.2: cannot open" in cause
    assert PACKAGES in message
    assert cause in why_not


@pytest.mark.gpu
def test_without_pyopengl_pip_is_named(failing):
    message, _, _ = failing("import sys\nsys.modules['OpenGL'] = None\n")

    assert message == "the GL library needs PyOpenGL, which is not installed; pip install PyOpenGL"


@pytest.mark.gpu
def test_a_pyopengl_that_cannot_be_imported_says_why(failing):
    before = """
import sys, types
broken = types.ModuleType("OpenGL")
broken.__path__ = []
class Finder:
    def find_spec(self, name, path=None, target=None):
        if name.startswith("OpenGL."):
            raise AttributeError("'NoneType' object has no attribute 'glGetError'")
sys.modules["OpenGL"] = broken
sys.meta_path.insert(0, Finder())
"""
    message, cause, _ = failing(before)

    assert cause == (
        "PyOpenGL cannot be imported: AttributeError: 'NoneType' object has no attribute 'glGetError'"
    )
    assert PACKAGES in message


@pytest.mark.gpu
def test_an_egl_without_any_vendor_says_so(failing, tmp_path):
    message, cause, why_not = failing(
        __EGL_VENDOR_LIBRARY_DIRS=str(tmp_path), __EGL_VENDOR_LIBRARY_FILENAMES=None, DISPLAY=None
    )

    assert cause.startswith(
        "EGL has no vendor driver (surfaceless: eglGetPlatformDisplayEXT: EGL_BAD_PARAMETER"
    )
    assert PACKAGES in message
    assert "EGL has no vendor driver" in why_not


@needs_mesa
@pytest.mark.gpu
def test_a_vendor_without_a_driver_that_draws_lists_every_route(failing, tmp_path):
    message, cause, why_not = failing(
        may_work="this Mesa has its drivers in one library, and cannot be without",
        LIBGL_DRIVERS_PATH=str(tmp_path),
        GBM_BACKENDS_PATH=str(tmp_path),
        __EGL_VENDOR_LIBRARY_FILENAMES=str(MESA),
        DISPLAY=None,
        WAYLAND_DISPLAY=None,
    )

    assert cause.startswith("EGL has a vendor driver, but nothing that draws (")
    assert "surfaceless: eglInitialize: EGL_NOT_INITIALIZED" in cause
    assert "default" not in cause  # there is no desktop
    assert PACKAGES in message
    assert "nothing that draws" in why_not


@needs_mesa
@pytest.mark.gpu
def test_a_driver_that_is_too_old_is_refused_with_the_versions_that_are_wanted(failing):
    message, cause, _ = failing(
        MESA_GL_VERSION_OVERRIDE="2.1",
        MESA_GLES_VERSION_OVERRIDE="2.0",
        PENSTOCK_GPU_DEVICE="surfaceless",
        __EGL_VENDOR_LIBRARY_FILENAMES=str(MESA),
    )

    assert cause.startswith("every context of gl 3.3 or gles 3.0 or newer was refused on 'surfaceless' (")
    assert "surfaceless with gl: eglCreateContext: EGL_BAD_MATCH" in cause
    assert "surfaceless with gles: eglCreateContext: EGL_BAD_MATCH" in cause
    assert PACKAGES in message


@needs_mesa
@pytest.mark.gpu
def test_gles_takes_over_where_desktop_gl_is_refused(python):
    done = python(
        """
        from penstock_gpu.contexts.context import GlContext
        with GlContext.create() as context:
            print(context.api)
        """,
        MESA_GL_VERSION_OVERRIDE="2.1",
        PENSTOCK_GPU_DEVICE="surfaceless",
        __EGL_VENDOR_LIBRARY_FILENAMES=str(MESA),
    )
    assert (done.stdout, done.stderr) == ("gles\n", "")


@pytest.mark.gpu
def test_everything_can_be_imported_without_gl(python):
    done = python(
        HIDE.format(names=("libEGL", "libOpenGL", "libGL"))
        + """
import importlib, pkgutil
import penstock_gpu
for module in pkgutil.walk_packages(penstock_gpu.__path__, "penstock_gpu."):
    importlib.import_module(module.name)
print("all")
"""
    )
    assert (done.stdout, done.stderr) == ("all\n", "")
