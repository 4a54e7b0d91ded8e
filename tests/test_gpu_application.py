"""The edge overlay on the GPU: the same pictures as on the CPU, from the film and from the pattern."""

from __future__ import annotations

import importlib.util
import os
import re
import sys
from pathlib import Path

import numpy as np
import pytest

import penstock
from penstock.plugins.default_registry import default_registry
from penstock_cli.demo.demo_graph import FINISHED, demo_config
from penstock_gpu import GPU, GlContext, GpuBuffer, GpuResources, GpuUnavailableError

pytestmark = pytest.mark.heavy

ROOT = Path(__file__).resolve().parent.parent
EXAMPLES = ROOT / "examples"
FILM = ROOT.parent / "shared" / "data" / "bigbuckbunny.mp4"
#: Largest difference of a channel, of 255: shaders round where OpenCV copies.
LEVELS = 2


@pytest.fixture(scope="module")
def resources():
    """Return contexts to draw with; skip where there are none, and fail if PENSTOCK_REQUIRE_GL is 1."""
    try:
        GlContext.create().close()
    except GpuUnavailableError as error:
        if os.environ.get("PENSTOCK_REQUIRE_GL") == "1":
            pytest.fail(f"PENSTOCK_REQUIRE_GL=1, but {error}")
        pytest.skip(f"no OpenGL: {error}")
    with GpuResources("require") as made:
        yield made


@pytest.fixture
def film():
    if not FILM.exists():
        pytest.skip(f"the real film is not here: {FILM}")
    return FILM


def painted(*, resources=None, video=None, frames=None):
    """Run a graph of the demo; return (timestamp, pixels) of each finished picture, (H, W, 3) uint8."""
    config = demo_config(default_registry(), on_gpu=resources is not None, frames=frames, writes=False)
    graph = penstock.CalculatorGraph(config)
    if resources is not None:
        graph.set_service(GPU, resources)
    seen = []

    def keep(_, packet):
        picture = packet.payload
        assert isinstance(picture, GpuBuffer) == (resources is not None)
        array = picture.array() if isinstance(picture, GpuBuffer) else picture.array
        seen.append((int(packet.timestamp), array[..., :3].copy()))

    graph.observe_output_stream(FINISHED, keep)
    graph.start_run({} if video is None else {"input_video": str(video)})
    graph.wait_until_done(100)
    return seen


def share_painted(pixels):
    """Return the share of the pixels of the right half that have the paint's colour."""
    return (pixels[:, pixels.shape[1] // 2 :] == (255, 180, 0)).all(axis=2).mean()


def furthest(one, other):
    return int(np.abs(one.astype(np.int16) - other.astype(np.int16)).max())


def test_of_the_film_all_132_frames_come_in_order_and_equal_those_of_the_cpu(resources, film):
    expected, seen = painted(video=film), painted(resources=resources, video=film)

    assert len(seen) == 132
    assert [at for at, _ in seen] == [at for at, _ in expected] == sorted(at for at, _ in seen)
    assert max(furthest(one, other) for (_, one), (_, other) in zip(seen, expected, strict=True)) <= LEVELS
    # What is compared is not empty: every frame but dark ones has edges.
    assert sorted(share_painted(pixels) for _, pixels in seen)[66] > 0.03


def test_of_the_pattern_each_frame_equals_that_of_the_cpu(resources):
    expected, seen = painted(frames=4), painted(resources=resources, frames=4)

    assert [at for at, _ in seen] == [at for at, _ in expected] == [0, 40_000, 80_000, 120_000]
    assert max(furthest(one, other) for (_, one), (_, other) in zip(seen, expected, strict=True)) <= LEVELS
    assert all(share_painted(pixels) > 0.01 for _, pixels in seen)


def test_without_opengl_the_same_graph_makes_the_same_pictures():
    with GpuResources("off") as off:
        seen = painted(resources=off, frames=3)

    expected = painted(frames=3)
    assert [at for at, _ in seen] == [at for at, _ in expected]
    assert max(furthest(one, other) for (_, one), (_, other) in zip(seen, expected, strict=True)) <= LEVELS


def test_frames_go_up_once_edges_go_up_once_and_nothing_comes_back_before_somebody_asks(resources):
    frames = 5
    before = copies(resources)
    config = demo_config(default_registry(), on_gpu=True, frames=frames, writes=False)
    graph = penstock.CalculatorGraph(config)
    graph.set_service(GPU, resources)
    kept = []
    graph.observe_output_stream(FINISHED, lambda _, packet: kept.append(packet.payload))
    graph.run()

    uploads, readbacks = (now - then for now, then in zip(copies(resources), before, strict=True))

    assert len(kept) == frames
    assert (uploads, readbacks) == (2 * frames, 0)


def copies(resources):
    contexts = [resources.context(key) for key in resources.keys]
    return sum(context.uploads for context in contexts), sum(context.readbacks for context in contexts)


# --- the example in Python ------------------------------------------------------------------------


def example(name):
    """Import a file of examples/, which runs and is no package."""
    spec = importlib.util.spec_from_file_location(f"penstock_example_{name}", EXAMPLES / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def test_the_example_hands_each_frame_to_its_callback_in_order(resources, capsys):
    module = example("edge_overlay_gpu")

    module.watch(None, module.tell, resources)

    lines = capsys.readouterr().out.splitlines()
    assert [re.match(r"painted at +([\d.]+) s: +([\d.]+)% edge$", line)[1] for line in lines] == [
        f"{0.04 * number:.2f}" for number in range(50)
    ]
    assert all(float(re.search(r"([\d.]+)% edge", line)[1]) > 1 for line in lines)


def nodes(text):
    """Return calculators with their streams, in order, of graph text."""
    from penstock.config import read_graph  # as the code under test does

    return [
        (node.calculator, tuple(node.input_stream), tuple(node.output_stream))
        for node in read_graph(text, default_registry()).node
    ]


def test_the_graph_of_the_example_is_that_of_the_file_without_its_end():
    module = example("edge_overlay_gpu")

    assert (
        nodes(module.GRAPH) == nodes((EXAMPLES / "edge_overlay_gpu.pbtxt").read_text(encoding="utf-8"))[:-2]
    )
