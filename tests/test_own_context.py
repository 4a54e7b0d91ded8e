"""The example that shows a graph's frames in a window of its own, on an invisible screen."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from penstock_gpu import GlContext, GpuUnavailableError

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
#: Runs the example on a short pattern; reads the window back after the last frame.
PROGRAM = """
import sys
import edge_overlay_gpu, own_context

edge_overlay_gpu.GRAPH = edge_overlay_gpu.GRAPH.replace("frames: 50", "width: 160 height: 96 frames: 7")
shown = []

def show(self, frame, width, height, show=own_context.FrameBlit.show):
    import numpy as np
    from penstock_gpu import gl
    show(self, frame, width, height)
    pixels = np.zeros((height, width, 4), np.uint8)
    gl.glBindFramebuffer(gl.GL_READ_FRAMEBUFFER, 0)
    gl.read_into(pixels, format=gl.GL_RGBA, type=gl.GL_UNSIGNED_BYTE)
    expected = frame.array()[..., :3]
    # Each pixel of the frame where it is in the window, the window's lowest row being the first.
    rows = height - 1 - (np.arange(96) * height + height // 2) // 96
    columns = (np.arange(160) * width + width // 2) // 160
    off = np.abs(pixels[rows][:, columns][..., :3].astype(int) - expected)
    shown.append(float((off.max(axis=2) > 40).mean()))

own_context.FrameBlit.show = show
count = own_context.main([])
print(count, len(shown), max(shown) < 0.05)
"""


@pytest.fixture
def display():
    try:
        GlContext.create().close()
    except GpuUnavailableError as error:
        if os.environ.get("PENSTOCK_REQUIRE_GL") == "1":
            pytest.fail(f"PENSTOCK_REQUIRE_GL=1, but {error}")
        pytest.skip(f"no OpenGL: {error}")
    program = shutil.which("Xvfb")
    if program is None:
        pytest.skip("no virtual screen: Xvfb is not installed (apt-get install xvfb)")
    if find_spec("glfw") is None:
        pytest.skip('no windows: glfw is not installed (pip install "penstock-cli[show]")')
    command = [program, "-displayfd", "1", "-screen", "0", "1280x800x24", "-nolisten", "tcp"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as server:
        try:
            yield f":{server.stdout.readline().strip()}"
        finally:
            server.terminate()


def test_each_frame_stands_in_the_window_the_right_way_up(display):
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        cwd=EXAMPLES,
        env={**os.environ, "DISPLAY": display, "WAYLAND_DISPLAY": "", "XDG_SESSION_TYPE": "x11"},
        capture_output=True,
        text=True,
        check=False,
        timeout=100,
    )

    assert (done.returncode, done.stdout) == (0, "7 frames shown\n7 7 True\n"), done.stderr


def test_a_window_that_is_closed_ends_the_example(display):
    program = """
import own_context

def show(self, frame, width, height):
    own_context.glfw.set_window_should_close(own_context.glfw.get_current_context(), True)

own_context.FrameBlit.show = show
own_context.main([])
"""
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=EXAMPLES,
        env={**os.environ, "DISPLAY": display, "WAYLAND_DISPLAY": "", "XDG_SESSION_TYPE": "x11"},
        capture_output=True,
        text=True,
        check=False,
        timeout=100,
    )

    assert (done.returncode, done.stdout) == (0, "1 frames shown\n"), done.stderr
