"""What `penstock doctor` says of this machine, and of machines that lack something.

What is missing is missing where it is looked for: in the loader of the system's libraries.
"""

from __future__ import annotations

import importlib.metadata
import json
import os
import subprocess
import sys
import textwrap

import pytest

from penstock_gpu import GlContext, GpuUnavailableError
from penstock_gpu.contexts import device as devices

#: Runs the checks in a process of its own, with a loader that lacks the libraries of the first argument.
PROGRAM = """
    import ctypes, json, sys, attrs

    missing = tuple(sys.argv[1].split())

    class Loader(ctypes.CDLL):
        def __init__(self, name, *more, **options):
            if missing and str(name).startswith(missing):
                raise OSError(f"{name}: cannot open shared object file: No such file or directory")
            super().__init__(name, *more, **options)

    ctypes.CDLL = Loader
    from penstock_gpu.plugin import penstock_doctor
    print(json.dumps([attrs.asdict(check) for check in penstock_doctor()]))
"""
EVERY = "libEGL libOpenGL libGL.so libGLES"


def checks(missing="", **environment):
    names = ("PENSTOCK_GPU", "PENSTOCK_GPU_DEVICE")
    inherited = {name: value for name, value in os.environ.items() if name not in names}
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", textwrap.dedent(PROGRAM), missing],
        env={**inherited, **environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return {check["what"]: check for check in json.loads(done.stdout)}


@pytest.fixture(scope="module")
def drawing():
    """Return a closed context with the data of the renderer; skip without GL."""
    try:
        context = GlContext.create()
    except GpuUnavailableError as error:
        if os.environ.get("PENSTOCK_REQUIRE_GL") == "1":
            pytest.fail(f"PENSTOCK_REQUIRE_GL=1, but {error}")
        pytest.skip(f"no OpenGL: {error}")
    context.close()
    return context


def test_who_draws_is_told_with_version_kind_and_device(drawing):
    check = checks()["OpenGL"]

    api = "OpenGL" if drawing.api == "gl" else "OpenGL ES"
    version = ".".join(map(str, drawing.version))
    kind = "software" if drawing.is_software else "hardware"
    said = f"{api} {version}, {drawing.renderer} of {drawing.vendor}, in {kind}, by {drawing.device.name}"
    assert check["is_well"]
    assert check["detail"].startswith(said)


@pytest.mark.usefixtures("drawing")
def test_every_device_is_told_and_which_one_is_used():
    found = checks()

    listed = [device.name for device in devices.devices()]
    assert [name for name in found if name not in {"PyOpenGL", "OpenGL"}] == listed
    used = [name for name in listed if "used unless another is chosen" in found[name]["detail"]]
    assert len(used) <= 1
    for name in listed:
        assert found[name]["is_well"]


@pytest.mark.usefixtures("drawing")
def test_a_device_that_is_asked_for_and_not_there_is_not_well():
    check = checks(PENSTOCK_GPU_DEVICE="cuda:97")["OpenGL"]

    assert not check["is_well"]
    assert check["detail"].startswith("PENSTOCK_GPU_DEVICE is 'cuda:97': there is no device 'cuda:97'")
    assert check["cure"] == "unset PENSTOCK_GPU_DEVICE, or name another device"


def test_the_version_of_pyopengl_is_told():
    check = checks(EVERY)["PyOpenGL"]

    assert (check["is_well"], check["detail"]) == (True, importlib.metadata.version("PyOpenGL"))


def test_without_pyopengl_it_is_not_well(tmp_path):
    (tmp_path / "OpenGL.py").write_text("raise ImportError('half of it is gone')\n", encoding="utf-8")

    check = checks(EVERY, PYTHONPATH=str(tmp_path))["PyOpenGL"]

    assert (check["is_well"], check["detail"]) == (False, "ImportError: half of it is gone")
    assert check["cure"] == "pip install --force-reinstall PyOpenGL"


def test_a_policy_that_does_not_exist_is_not_well():
    check = checks(PENSTOCK_GPU="perhaps")["PENSTOCK_GPU"]

    assert (check["is_well"], check["detail"]) == (False, "is 'perhaps', which is no policy")
    assert check["cure"] == "unset it, or use require, prefer, off"


@pytest.mark.parametrize(
    ("missing", "named"),
    # libEGL is looked for first; if the machine lacks it, the check says that
    [(EVERY, "libEGL"), ("libEGL", "libEGL"), ("libOpenGL libGL.so libGLES", "libOpenGL|libEGL")],
)
def test_without_the_libraries_all_is_well_and_the_packages_are_named(missing, named):
    found = checks(missing)

    check = found["OpenGL"]
    assert check["is_well"]
    assert check["detail"].startswith("none, which only graphs with GPU nodes miss: ")
    assert any(name in check["detail"] for name in named.split("|"))
    assert "apt-get install --no-install-recommends libegl1 libopengl0 libgl1-mesa-dri" in check["detail"]


def test_without_the_libraries_and_where_they_are_required_it_is_not_well():
    check = checks(EVERY, PENSTOCK_GPU="require")["OpenGL"]

    assert not check["is_well"]
    assert check["detail"].startswith("none, but PENSTOCK_GPU is 'require': ")
    assert check["cure"].startswith("apt-get install --no-install-recommends libegl1")


def test_a_card_that_does_not_draw_is_told_where_software_does(drawing, monkeypatch, tmp_path):
    from penstock_gpu import health  # of this process

    (tmp_path / "version").write_text("NVRM version: ...", encoding="utf-8")
    monkeypatch.setattr(health, "_NVIDIA", tmp_path / "version")

    detail = next(check.detail for check in health.checks() if check.what == "OpenGL")

    assert ("a card of NVIDIA is there and does not draw" in detail) == drawing.is_software
    assert ("NVIDIA_DRIVER_CAPABILITIES" in detail) == drawing.is_software
