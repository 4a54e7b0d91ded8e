"""The benchmark of GPU nodes: it does the work that it times, and finds out what is wrong."""

from __future__ import annotations

import importlib
import os
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from penstock_gpu import GlContext, GpuUnavailableError

BENCHMARKS = Path(__file__).resolve().parent.parent / "benchmarks"


@pytest.fixture
def load(monkeypatch):
    """Return a function that imports files of benchmarks/, which is no package; forgotten afterwards."""
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    yield importlib.import_module
    for name, module in list(sys.modules.items()):
        if BENCHMARKS in Path(getattr(module, "__file__", None) or "/").parents or name == "peers":
            del sys.modules[name]


@pytest.fixture
def device():
    """What contestants are to draw with."""
    try:
        with GlContext.create() as context:
            return {"device": context.device.index, "renderer": context.renderer}
    except GpuUnavailableError as error:
        if os.environ.get("PENSTOCK_REQUIRE_GL") == "1":
            raise
        pytest.skip(f"no GL: {error}")


@pytest.fixture
def work(load, device):
    """Return a function that makes a small amount of work."""
    return lambda **others: load("pictures").Work(
        **{"width": 34, "height": 18, "frames": 4, "seed": 1, **device, **others}
    )


def on_a_thread(call, *arguments):
    """Return what a call returns on a thread of its own: a plain script leaves its context current there."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(call, *arguments).result(60)


def test_the_graph_and_the_plain_script_make_the_same_frames(load, work):
    ours, plain = load("gpu_frame"), load("peers.plain_gl")

    assert ours.frame(work())["ms"] > 0
    assert on_a_thread(plain.frame, work())["ms"] > 0
    assert ours.VERSIONS["renderer"] == plain.VERSIONS["renderer"] == work().renderer


def test_frames_in_turns_are_those_of_the_graph_and_of_the_script(load, work):
    ours = load("gpu_frame")

    figures = on_a_thread(ours.in_turns, work())

    assert set(figures) == {"ms", ours.RATIO}
    assert all(value > 0 for value in figures.values())


def test_a_chain_of_five_nodes_makes_no_host_copy_and_one_hand_off_a_frame(load, work):
    figures = load("gpu_frame").chain(work(nodes=5))

    assert figures.pop("ms") > 0
    assert figures == {"host copies a frame": 0, "hand-offs a frame": 1}
    plain = on_a_thread(load("peers.plain_gl").chain, work(nodes=5))
    assert plain.keys() == {"ms", *figures}


def test_a_picture_that_is_not_grey_is_no_fast_one(load, work):
    pictures, wrong = load("pictures"), load("expected").WrongResultError
    picture = work().pictures()[0]
    grey = pictures.grey(picture).astype(np.uint8)

    pictures.expect_grey(grey, picture)
    pictures.expect_grey(grey ^ 1, picture)
    grey[3, 4, 1] ^= 4
    with pytest.raises(wrong, match="numbers that are not grey: 1, expected 0"):
        pictures.expect_grey(grey, picture)
    with pytest.raises(wrong, match="the renderer: "):
        on_a_thread(load("peers.plain_gl").frame, work(renderer="another"))


def test_hand_offs_are_counted_from_the_application_thread_on(load):
    hand_offs, wrong = load("gpu_frame").hand_offs, load("expected").WrongResultError
    here = threading.get_ident()

    assert hand_offs([here] * 6, 3, 2) == 0
    assert hand_offs([1, 1, 1, 1, 1, 1], 3, 2) == 2
    assert hand_offs([1, 2, 1], 3, 1) == 3
    with pytest.raises(wrong, match="calls of nodes: 5, expected 6"):
        hand_offs([1] * 5, 3, 2)


def test_the_application_paints_the_same_on_the_gpu_and_on_the_cpu(load, device, tmp_path):
    edge, ours = load("edge_overlay"), load("gpu_frame")
    video = tmp_path / "in.mp4"
    edge.write_pattern(video, (160, 96), 6)
    films = {"video": str(video), "warm_up": str(video), "frames": 6}

    for kind in ("cpu", "gpu", "read back"):
        assert set(ours.application(kind, **films)) == {"ms", "frames/s"}
    with pytest.raises(load("expected").WrongResultError, match="painted frames: 6, expected 7"):
        ours.application("gpu", **{**films, "frames": 7})


def test_round_trips_are_timed_with_and_without_opengl(load, device):
    ours = load("gpu_frame")

    assert ours.measured("round_trip", "gpu", frames=1)["ms"] > 0
    assert ours.measured("round_trip", "pool", frames=1)["ms"] > 0


def test_without_opengl_the_cpu_is_measured_and_the_rest_is_skipped(load, monkeypatch, tmp_path, capsys):
    ours = load("gpu_frame")

    def refused(*_, **__):
        raise GpuUnavailableError("libEGL.so.1 not found", "install it")

    monkeypatch.setattr(ours.GlContext, "create", refused)
    given = ours.parser("").parse_args(["--short"])
    given.size, given.frames = "1280x720", None

    benchmark = ours.benchmark(given, tmp_path)

    assert (
        capsys.readouterr().out
        == "no OpenGL, so only the CPU is measured: libEGL.so.1 not found; install it\n"
    )
    report = load("side_by_side").run(benchmark, 1, short=True)
    load("side_by_side").check_report(report)
    assert set(report["skipped"]) == {"penstock, GPU", "penstock, GPU, read back"}
    assert [case["case"] for case in report["cases"]] == ["edge overlay"]
    assert list(report["cases"][0]["results"]) == ["penstock, CPU"]
    assert [bar["value"] for bar in report["bars"]] == [None] * 3
