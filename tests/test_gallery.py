"""The examples of the gallery print what they promise, and their pictures are those that a run makes."""

from __future__ import annotations

import base64
import os
import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import cv2
import numpy as np
import pytest

from penstock_gpu import GlContext, GpuUnavailableError

pytestmark = pytest.mark.heavy

ROOT = Path(__file__).resolve().parents[1]
IMAGES = ROOT / "docs" / "images"
GALLERY = (ROOT / "docs" / "gallery.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"```\{literalinclude\} \.\./examples/(\w+)\.py", GALLERY)
#: A picture of 200 kB is slow to load, and each change of it stays in git.
MOST_BYTES = 150_000
#: The picture of the README moves: it has ten frames before and ten after.
MOST_BYTES_OF_OVERVIEW = 400_000
SVG = "{http://www.w3.org/2000/svg}"

PRINTED = {
    "motion": "frame at 0.00 s: nothing before it\n(frame at 0.\\d\\d s: \\d.\\d% moved\n){7}",
    "picture_in_picture": "".join(
        f"frame at {0.04 * i:.2f} s: {'one camera' if i in {1, 4, 6} else 'both cameras'}\n" for i in range(7)
    ),
    "thermometer": """\
0.00 s  a frame, 320 x 180
0.04 s  a frame, 320 x 180
0.05 s  20.5 C
0.08 s  a frame, 320 x 180
0.12 s  a frame, 320 x 180
0.13 s  20.7 C
0.15 s  21.0 C
0.16 s  a frame, 320 x 180
0.20 s  a frame, 320 x 180
0.21 s  20.9 C
not shown: 1 \\(a newer one came before the tick\\)
not shown: 1 \\(no tick came after it\\)
""",
    "keep_up": "([0-7]: (no box|box [0-7])\n){8}"
    "not seen by the model: [1-7] \\(limiter full \\(max_in_queue\\)\\)\n",
    "batch_loop": """\
frame at 0.00 s: nothing
frame at 0.04 s: red
frame at 0.08 s: red, green
frame at 0.12 s: red, green, blue
""",
    "track_blobs": "".join(f"#{i}: followed for 1[01]\\d frames\n" for i in range(1, 5))
    + "the detector saw \\d+ of 120 frames\n",
    "count_cars": """\
1.08 s: car #2 goes west
2.04 s: truck #4 goes west
2.76 s: car #1 goes east
3.72 s: car #3 goes east
4.72 s: truck #5 goes east
gate: 3 east, 2 west
""",
    "spectrogram": "frame at 0.00 s: silence\n(frame at [01].\\d\\d s: loudest at \\d+ Hz\n){49}",
    "shader": "(frame at 0.\\d\\d s: 320 x 180, 9\\d\n){8}",
    "imu_camera_lidar": "(0.\\d\\d s: turned +\\d+.\\d degrees \\(true +\\d+.\\d\\)\n){6}",
    "live": """\
0.0 s  30 dB
0.1 s  32 dB
0.2 s  31 dB
0.3 s  80 dB  intruder\\?
0.4 s  30 dB
0.5 s  85 dB
""",
    "edge_overlay": "(painted at +\\d.\\d\\d s: +\\d+.\\d\\d% edge\n){50}",
}


def need_gl():
    """Skip the test where there is no OpenGL, and fail it where there must be."""
    try:
        GlContext.create().close()
    except GpuUnavailableError as error:
        if os.environ.get("PENSTOCK_REQUIRE_GL") == "1":
            pytest.fail(f"PENSTOCK_REQUIRE_GL=1, but {error}")
        pytest.skip(f"no OpenGL: {error}")


def run(*command, cwd):
    done = subprocess.run(
        [sys.executable, "-W", "error", *map(str, command)],
        cwd=cwd,
        capture_output=True,
        text=True,
        check=False,
        timeout=100,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def test_each_example_of_the_gallery_has_a_promise_here_and_a_picture():
    assert sorted(EXAMPLES) == sorted(PRINTED)
    assert sorted(path.stem for path in IMAGES.glob("*")) == sorted(
        [*PRINTED, "overview", "drivers", "editor", "live_page"]
    )
    assert re.findall(r"!\[[^]]+\]\(images/(\w+)\.svg\)", GALLERY) == EXAMPLES


@pytest.mark.parametrize("name", PRINTED)
def test_an_example_of_the_gallery_prints_what_it_promises(name, tmp_path):
    if name == "shader":
        need_gl()

    assert re.fullmatch(PRINTED[name], run(ROOT / "examples" / f"{name}.py", cwd=tmp_path))
    assert list(tmp_path.iterdir()) == []


# --- pictures -----------------------------------------------------------------------------------------


def parsed(path):
    return ET.parse(path).getroot()  # noqa: S314  # of this repository


def part(root, kind):
    """Return the texts of the drawings of a kind."""
    return [
        ["".join(text.itertext()) for text in drawing.iter(f"{SVG}text")]
        for drawing in root.iter()
        if drawing.get("class") == kind
    ]


def frames(root):
    """Return each image: its place of (width, height), and its pixels."""
    found = []
    for image in root.iter(f"{SVG}image"):
        head, _, data = image.get("href").partition(",")
        assert head == "data:image/jpeg;base64"
        pixels = cv2.imdecode(np.frombuffer(base64.b64decode(data), np.uint8), cv2.IMREAD_COLOR)
        found.append(((image.get("width"), image.get("height")), pixels.astype(float)))
    return found


@pytest.mark.parametrize("name", [*PRINTED, "overview"])
def test_the_script_makes_the_picture_that_git_holds(name, tmp_path):
    if name == "shader":
        need_gl()
    committed = parsed(IMAGES / f"{name}.svg")

    run(ROOT / "scripts" / "pictures.py", name, "--to", tmp_path, cwd=tmp_path)

    made = parsed(tmp_path / f"{name}.svg")
    most = MOST_BYTES_OF_OVERVIEW if name == "overview" else MOST_BYTES
    assert (tmp_path / f"{name}.svg").stat().st_size < most
    assert len(part(made, "of-graph")) == 1
    stale = f"docs/images/{name}.svg is stale; run: python scripts/pictures.py {name}"
    assert part(made, "of-graph") == part(committed, "of-graph"), stale
    if name != "keep_up":  # what its limiter drops depends on time
        assert part(made, "of-streams") == part(committed, "of-streams"), stale
    assert len(frames(made)) == len(frames(committed)), stale
    for (size, pixels), (size_there, pixels_there) in zip(frames(made), frames(committed), strict=True):
        assert size == size_there, stale
        assert pixels.shape == pixels_there.shape, stale
        off = pixels - pixels_there
        if name == "track_blobs":  # which frames its detector sees depends on time: boxes move by a pixel
            off = cv2.GaussianBlur(off, (0, 0), 4)
        # encoders of other versions may write other bytes of the same image
        assert np.abs(off).mean() < 1.5, stale


def test_the_timeline_of_the_overview_has_a_row_for_each_node_and_calls_of_several_frames():
    root = parsed(IMAGES / "overview.svg")
    (texts,) = part(root, "of-calls")
    names = [text for text in texts if text.endswith("Calculator")]
    (graph,) = part(root, "of-graph")

    assert sorted(names) == sorted(text for text in graph if text.endswith("Calculator"))
    assert len({text for text in texts if text.isdecimal()}) > 3


def test_the_overview_moves_unless_its_reader_wants_no_motion():
    text = (IMAGES / "overview.svg").read_text(encoding="utf-8")
    still, _, moving = text.partition("@media (prefers-reduced-motion: no-preference)")
    animated = re.findall(
        r"^\.pk \.(moves-\d+) \{ animation: \1 \d+s (?:linear|step-end) infinite }$", moving, re.MULTILINE
    )
    used = re.findall(r'class="[^"]*(moves-\d+)', moving)

    assert "animation" not in still
    assert sorted(set(used)) == sorted(animated)
    assert len(used) > len(frames(parsed(IMAGES / "overview.svg"))) == 20


def test_a_node_of_the_overview_has_the_colour_of_a_frame_while_it_works_on_it():
    root = parsed(IMAGES / "overview.svg")
    styles = "".join(style.text for style in root.iter(f"{SVG}style"))
    lights = [rect.get("class") for rect in root.iter(f"{SVG}rect") if "light" in rect.get("class", "")]
    (graph,) = part(root, "of-graph")

    assert len(lights) == len([text for text in graph if text.endswith("Calculator")])
    for light in lights:
        (steps,) = re.findall(rf"@keyframes {light.split()[1]} \{{ (.*) }}", styles)
        assert re.search(r"fill: #[0-9a-f]{6} } [\d.]+% \{ fill: none", steps)


def test_readme_and_front_page_show_the_overview():
    assert "](docs/images/overview.svg)" in (ROOT / "README.md").read_text(encoding="utf-8")
    assert "](images/overview.svg)" in (ROOT / "docs" / "index.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("page", ["how-to/watch-a-running-graph", "reference/live"])
def test_pages_about_the_live_page_show_it(page):
    picture = IMAGES / "live_page.svg"
    text = (ROOT / "docs" / f"{page}.md").read_text(encoding="utf-8")

    assert re.search(r"!\[The live page: .+\]\(\.\./images/live_page\.svg\)", text)
    assert picture.stat().st_size < MOST_BYTES
    (image,) = parsed(picture).iter(f"{SVG}image")
    assert image.get("href").startswith("data:image/webp;base64,")


def test_an_unknown_picture_is_an_error_that_names_those_that_there_are(tmp_path):
    done = subprocess.run(
        [sys.executable, str(ROOT / "scripts" / "pictures.py"), "nonesuch", "--to", str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )

    assert done.returncode == 2
    assert "no picture is called ['nonesuch'], expected some of ['batch_loop'," in done.stderr
    assert list(tmp_path.iterdir()) == []
