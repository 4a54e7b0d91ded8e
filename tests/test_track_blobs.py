"""The example that follows objects: against the places at which it draws them, and on a real video."""

from __future__ import annotations

import importlib.util
import re
import signal
import subprocess
import sys
from pathlib import Path

import cv2
import numpy as np
import pytest

import penstock

pytestmark = pytest.mark.heavy

ROOT = Path(__file__).resolve().parents[1]
EXAMPLE = ROOT / "examples" / "track_blobs.py"
REAL = ROOT.parent / "shared" / "data" / "bigbuckbunny.mp4"
#: Pixels by which an edge of a box may be off, of 640 x 360. The detector works at half the size, where the
#: blur makes an object larger by up to two pixels on each side; the flow adds at most as much.
TOLERANCE = 10
CUT = (
    r"cut \d+ elements from lists on 'ordered' at node 'limit' input 0: "
    r"the side packet, which replaces max_vec_size, is 2"
)


@pytest.fixture(scope="module")
def example():
    spec = importlib.util.spec_from_file_location("track_blobs", EXAMPLE)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # where its annotations are looked up
    spec.loader.exec_module(module)
    yield module
    del sys.modules[spec.name]


def edges(one):
    box = one.location_data.relative_bounding_box
    return np.array([box.xmin, box.ymin, box.xmin + box.width, box.ymin + box.height])


def follow(graph, sides):
    """Run the graph; return for each frame that has objects its timestamp, and id → edges in shares."""
    followed = []
    graph.observe_output_stream(
        "steady",
        lambda _, packet: followed.append(
            (packet.timestamp, {one.detection_id: edges(one) for one in packet.payload})
        ),
    )
    graph.start_run(sides)
    graph.wait_until_done(60)
    return [(int(stamp), objects) for stamp, objects in followed if objects]


def blob_of(example, stamp, found):
    """Return which blob a box is on, and by how many pixels an edge is off at most."""
    size = np.array([example.WIDTH, example.HEIGHT] * 2)
    truth = [
        np.array([x, y, x, y]) + example.RADIUS * np.array([-1, -1, 1, 1])
        for x, y in example.centres(stamp // 40_000)
    ]
    errors = [np.abs(found * size - one).max() for one in truth]
    return int(np.argmin(errors)), min(errors)


def check(example, followed, count):
    """Check that so many blobs have one id each from the first frame to the last, and boxes on them."""
    first, last = followed[0][0] // 40_000, followed[-1][0] // 40_000
    assert first <= 20  # while the detector works on the first frame, the queues fill
    assert last == example.FRAMES - 1
    assert [stamp // 40_000 for stamp, _ in followed] == list(range(first, last + 1))
    blobs = {}
    for stamp, objects in followed:
        assert sorted(objects) == list(range(1, count + 1))
        for identity, found in objects.items():
            blob, error = blob_of(example, stamp, found)
            assert error <= TOLERANCE, (stamp, identity)
            blobs.setdefault(identity, set()).add(blob)
    assert all(len(one) == 1 for one in blobs.values())
    assert len(set.union(*blobs.values())) == count


def test_each_blob_has_one_id_and_a_box_on_it_in_every_frame(example):
    graph = penstock.CalculatorGraph(example.GRAPH)

    check(example, follow(graph, {"limit": 8}), 4)

    ledger = graph.ledger()
    seen, frames = (
        {stream.name: stream.added for stream in ledger.streams}[name] for name in ("seen", "frame")
    )
    assert 2 <= seen < frames / 2  # in the others the boxes moved by themselves
    assert ledger.adds_up
    assert ledger.cuts == ()
    assert "limiter full (max_in_queue)" in {drop.reason for drop in ledger.drops if drop.stream == "frame"}


def test_with_a_limit_two_are_followed_and_why_and_ledger_name_the_node_and_the_option(example):
    graph = penstock.CalculatorGraph(example.GRAPH)

    check(example, follow(graph, {"limit": 2}), 2)

    (cut,) = graph.ledger().cuts
    assert re.fullmatch(CUT, str(cut))
    assert cut.count >= 2
    assert graph.why().cuts == (cut,)
    assert str(cut) in str(graph.why())
    assert str(cut) in str(graph.ledger())


def test_the_gate_spares_the_detector_while_all_are_followed_and_sure(example):
    graph = penstock.CalculatorGraph(example.GRAPH)
    follow(graph, {"limit": 1})

    assert "gate closed" in {drop.reason for drop in graph.ledger().drops if drop.stream == "offered"}


# --- the command --------------------------------------------------------------------------------------


def run(*arguments):
    return subprocess.run(
        [sys.executable, "-W", "error", str(EXAMPLE), *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        timeout=100,
    )


def test_the_command_writes_a_film_with_boxes_and_says_what_was_cut(tmp_path, example):
    out = tmp_path / "out.mp4"

    done = run("--limit", "2", "-o", out)

    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert [line.split(":")[0] for line in lines[:2]] == ["#1", "#2"]
    assert re.fullmatch(CUT, lines[3])
    assert lines[4].startswith(f"written: {out}")
    assert len(lines) == 5
    video, frames = cv2.VideoCapture(str(out)), []
    while (read := video.read())[0]:
        frames.append(read[1])
    assert len(frames) == example.FRAMES
    blue, green, red = frames[-1].astype(int).transpose(2, 0, 1)
    assert ((green > 200) & (blue < 130) & (red < 230)).sum() > 500  # the colour of boxes and numbers
    blue, green, red = frames[0].astype(int).transpose(2, 0, 1)
    assert ((green > 200) & (blue < 130) & (red < 230)).sum() == 0


def test_mistakes_are_told_without_a_traceback(tmp_path):
    broken = tmp_path / "broken.mp4"
    broken.write_bytes(b"no video")

    missing, none, same, unreadable = (
        run(tmp_path / "none.mp4"),
        run("--limit", "0"),
        run(broken, "-o", broken),
        run(broken),
    )

    assert (missing.returncode, none.returncode, same.returncode, unreadable.returncode) == (4, 2, 2, 1)
    assert "none.mp4" in missing.stderr
    assert "0 is not in the range x>=1" in none.stderr
    assert "broken.mp4' is the video that is read; name another file with -o" in same.stderr
    assert broken.read_bytes() == b"no video"
    assert "broken.mp4" in unreadable.stderr
    assert "Traceback" not in missing.stderr + none.stderr + same.stderr + unreadable.stderr


def test_the_help_names_the_options():
    done = run("--help")

    assert done.returncode == 0
    assert all(word in done.stdout for word in ("[VIDEO]", "--out", "--show", "--limit"))


def test_ctrl_c_ends_it_in_order_and_the_film_can_be_read(tmp_path):
    out = tmp_path / "out.mp4"
    endless = tmp_path / "endless.py"
    text = EXAMPLE.read_text(encoding="utf-8")
    endless.write_text(
        text.replace("RADIUS = 120,", "RADIUS = 10**9,").replace(
            "for one in packet.payload:", "print('followed', flush=True)\n        for one in packet.payload:"
        ),
        encoding="utf-8",
    )
    with subprocess.Popen(
        [sys.executable, str(endless), "-o", str(out)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout.readline() == "followed\n"
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)

    assert process.returncode == 130
    assert "interrupted after" in errors
    assert "Traceback" not in errors
    assert cv2.VideoCapture(str(out)).read()[0]


# --- a real video ---------------------------------------------------------------------------------------

#: Number of the frame → the edges of the rabbit, read off the frame by eye, in shares of its sides.
RABBIT = {48: (0.18, 0.04, 0.50, 0.85), 72: (0.13, 0.10, 0.48, 0.87), 112: (0.22, 0.07, 0.475, 0.88)}


@pytest.mark.skipif(not REAL.exists(), reason=f"{REAL} is not there")
def test_on_a_real_video_whose_camera_moves_the_animal_is_followed(example):
    graph = penstock.CalculatorGraph(example.DECODER + example.TRACKING)
    stamps = []
    graph.observe_output_stream("frame", lambda _, packet: stamps.append(int(packet.timestamp)))

    followed = dict(follow(graph, {"limit": 8, "input_video": str(REAL)}))

    assert len(followed) >= len(stamps) - 20
    assert {identity for objects in followed.values() for identity in objects} == {1}
    for number, truth in RABBIT.items():
        found = followed[stamps[number]][1]
        low, high = np.maximum(found[:2], truth[:2]), np.minimum(found[2:], truth[2:])
        both = np.prod(np.maximum(high - low, 0))
        either = np.prod(found[2:] - found[:2]) + np.prod(np.subtract(truth[2:], truth[:2])) - both
        assert both / either > 0.6, number
