"""The window of `demo --show`, on the screen of a virtual X server whose pixels are read."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import textwrap
from importlib.util import find_spec

import numpy as np
import pytest

from penstock_cli.machine.environment import in_this_environment
from penstock_cli.runs.window import fitted

pytestmark = pytest.mark.heavy

INSTALL = 'pip install "penstock-cli[show]"'
SIZE = "640x480x24"


@pytest.fixture(scope="module")
def screen(tmp_path_factory, gl):  # without OpenGL nothing can be drawn in a window
    """Start a virtual screen; return its display's name and a function that returns its pixels, (H, W, 3)."""
    program = shutil.which("Xvfb")
    if program is None:
        pytest.skip("no virtual screen: Xvfb is not installed (apt-get install xvfb)")
    if find_spec("glfw") is None:
        pytest.skip('no windows: glfw is not installed (pip install "penstock-cli[show]")')
    folder = tmp_path_factory.mktemp("screen")
    command = [
        program,
        "-displayfd",
        "1",
        "-fbdir",
        folder,
        "-screen",
        "0",
        SIZE,
        "-nolisten",
        "tcp",
    ]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as server:
        try:
            name = f":{server.stdout.readline().strip()}"
            yield name, lambda: pixels(folder / "Xvfb_screen0")
        finally:
            server.terminate()


def pixels(file):
    """Read an X window dump. Source: X11/XWDFile.h; numbers are big endian, pixels as the server has them."""
    data = file.read_bytes()
    header = np.frombuffer(data, ">u4", 25)
    size, width, height, line, colors = (int(header[index]) for index in (0, 4, 5, 12, 19))
    start = size + 12 * colors
    rows = np.frombuffer(data, np.uint8, line * height, start).reshape(height, line)
    return rows[:, : 4 * width].reshape(height, width, 4)[..., 2::-1]


def with_display(name):
    return {"DISPLAY": name, "XDG_SESSION_TYPE": "x11", "WAYLAND_DISPLAY": ""}


@pytest.fixture
def on_screen(screen, tmp_path):
    """Return a function that runs a program with the screen, and returns the finished process."""

    def run(program, *arguments, **environment):
        return subprocess.run(
            [sys.executable, "-W", "error", "-c", textwrap.dedent(program), *map(str, arguments)],
            cwd=tmp_path,
            env={**os.environ, **with_display(screen[0]), **environment},
            capture_output=True,
            text=True,
            check=False,
            timeout=100,
        )

    return run


#: Draws four corners in different colours, and keeps the window open until it reads a line.
CORNERS = """
    import sys
    import numpy as np
    from penstock_cli.runs.window import Window
    from penstock_formats import ImageFormat, ImageFrame

    pixels = np.zeros((200, 300, 3), np.uint8)
    pixels[:100, :150], pixels[:100, 150:] = (255, 0, 0), (0, 255, 0)
    pixels[100:, :150], pixels[100:, 150:] = (0, 0, 255), (255, 255, 255)
    if sys.argv[1] == "gray":
        frame = ImageFrame(np.ascontiguousarray(pixels[..., 0]), ImageFormat.GRAY8)
    elif sys.argv[1] == "rgba":
        frame = ImageFrame(np.dstack([pixels, np.zeros((200, 300), np.uint8)]), ImageFormat.SRGBA)
    else:
        frame = ImageFrame(pixels, ImageFormat.SRGB)
    with Window.opened("corners") as window:
        for _ in range(3):
            window.look(0.01)
            if sys.argv[1] == "gpu":
                from penstock_gpu import GlContext, GlTextureView, GpuBuffer
                with GlContext.create(window.shared) as context:
                    buffer = GpuBuffer.of_frame(frame)
                    context.run(lambda: buffer.read_view(GlTextureView).release())
                    window.sees_textures = True
                    window.draw(buffer)
                    del buffer
            else:
                window.draw(frame)
        window.look()
        print("drawn", flush=True)
        sys.stdin.readline()
"""


@pytest.mark.parametrize("kind", ["rgb", "rgba", "gray", "gpu"])
def test_a_frame_is_shown_the_right_way_up(screen, kind):
    name, seen = screen
    command = [sys.executable, "-c", textwrap.dedent(CORNERS), kind]
    environment = {**os.environ, **with_display(name)}
    with subprocess.Popen(
        command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as program:
        line = program.stdout.readline()
        image = seen().copy()
        program.communicate("\n", timeout=60)

    assert (line, program.returncode) == ("drawn\n", 0)
    lit = np.argwhere(image.any(axis=2) if kind != "gray" else image[..., 0] > 0)
    top, left = lit.min(axis=0)
    corners = [tuple(int(level) for level in image[top + y, left + x]) for y in (20, 180) for x in (20, 280)]
    if kind == "gray":
        assert corners == [(255, 255, 255), (0, 0, 0), (0, 0, 0), (255, 255, 255)]
    else:
        assert corners == [(255, 0, 0), (0, 255, 0), (0, 0, 255), (255, 255, 255)]


def test_escape_closes_the_window(on_screen):
    done = on_screen("""
        from penstock_cli.runs.window import Window

        with Window.opened("escape") as window:
            glfw = window._glfw
            pressed = glfw.set_key_callback(window._handle, None)
            before = window.is_closed
            pressed(window._handle, glfw.KEY_A, 0, glfw.PRESS, 0)
            between = window.is_closed
            pressed(window._handle, glfw.KEY_ESCAPE, 0, glfw.PRESS, 0)
            print(before, between, window.is_closed)
    """)

    assert (done.returncode, done.stdout, done.stderr) == (0, "False False True\n", "")


#: The command, its window closed as if by the user after three frames.
CLOSED = """
    import sys
    from penstock_cli.runs import window
    from penstock_cli.main import main

    drawn = 0

    def draw(self, frame, draw=window.Window.draw):
        global drawn
        draw(self, frame)
        drawn += 1
        if drawn == 3:
            self._glfw.set_window_should_close(self._handle, True)

    window.Window.draw = draw
    sys.argv[0] = "penstock"
    main()
"""


@pytest.mark.parametrize("place", ["--gpu", "--no-gpu"])
def test_a_closed_window_ends_an_endless_demo_and_finishes_the_file(on_screen, tmp_path, place):
    done = on_screen(CLOSED, "demo", "--frames", "0", "--show", "-o", "out.mp4", "--no-progress", place)

    assert done.returncode == 0, done.stderr
    assert done.stderr.startswith(
        "drawing edges over the moving test pattern, into out.mp4 and in a window (Esc closes it)\n"
    )
    assert "written to out.mp4" in done.stdout
    assert (tmp_path / "out.mp4").stat().st_size > 1000


@pytest.mark.parametrize("place", ["--gpu", "--no-gpu"])
def test_the_demo_in_a_window_writes_no_file_and_shows_each_frame(on_screen, tmp_path, place):
    done = on_screen(
        "import sys; sys.argv[0] = 'penstock'; from penstock_cli.main import main; main()",
        *("demo", "--frames", "5", "--show", "--no-progress", place),
    )

    assert done.returncode == 0, done.stderr
    assert "5 frames at " in done.stdout
    assert done.stdout.rstrip().endswith(", shown")
    assert list(tmp_path.iterdir()) == []


def test_frames_drawn_on_the_gpu_are_shown_without_being_read_back(on_screen):
    done = on_screen(
        """
        import sys
        import penstock_gpu
        from penstock_cli.main import main

        def close(self, timeout=10.0, close=penstock_gpu.GpuResources.close):
            print("read back:", sum(self.context(key).readbacks for key in self.keys))
            return close(self, timeout)

        penstock_gpu.GpuResources.close = close
        sys.argv[0] = "penstock"
        main()
        """,
        *("demo", "--frames", "4", "--show", "--no-progress", "--gpu"),
    )

    assert done.returncode == 0, done.stderr
    assert "read back: 0\n" in done.stdout


@pytest.mark.parametrize(
    ("width", "height", "room", "expected"),
    [
        (640, 360, (1280, 720), (0, 0, 1280, 720)),
        (100, 100, (300, 200), (50, 0, 200, 200)),
        (100, 50, (100, 100), (0, 25, 100, 50)),
        (1000, 1, (10, 10), (0, 4, 10, 1)),
    ],
)
def test_a_frame_keeps_its_shape_and_is_centred(width, height, room, expected):
    assert fitted(width, height, *room) == expected


def test_without_a_screen_the_error_says_so(command):
    pytest.importorskip("glfw", reason='glfw is not installed (pip install "penstock-cli[show]")')

    done = command("demo", "--show", DISPLAY="", WAYLAND_DISPLAY="", XDG_SESSION_TYPE="")

    assert done.returncode == 1
    assert done.stderr.startswith("Error: --show: there is no screen to open a window on: ")
    assert "Traceback" not in done.stderr


def test_without_the_extra_the_error_says_what_to_install(command, tmp_path):
    (tmp_path / "glfw.py").write_text("raise ImportError('no library')\n", encoding="utf-8")

    done = command("demo", "--show", PYTHONPATH=tmp_path)

    assert (done.returncode, done.stderr) == (
        1,
        (
            "Error: --show: a window needs packages that are not installed (no library): "
            f"{in_this_environment(INSTALL)}\n"
        ),
    )
