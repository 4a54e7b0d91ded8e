"""The example with a slow model: every frame drawn at once, with the newest mask that there is.

The model waits for the test, so that nothing depends on time.
"""

from __future__ import annotations

import importlib.util
import os
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

import penstock
from penstock_formats import ImageFormat, ImageFrame
from penstock_gpu import GlContext, GpuBuffer, GpuResources, GpuUnavailableError

EXAMPLE = Path(__file__).resolve().parent.parent / "examples" / "render_latest_inference.py"
WAIT_S = 60
GREY = (90, 90, 90)
GREEN = (0, 255, 0)


@pytest.fixture(scope="module")
def example():
    spec = importlib.util.spec_from_file_location("penstock_example_render_latest_inference", EXAMPLE)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(params=["gl", "numpy"])
def resources(request):
    """Return contexts to draw with, or none."""
    if request.param == "numpy":
        with GpuResources("off") as off:
            yield off
        return
    try:
        GlContext.create().close()
    except GpuUnavailableError as error:
        if os.environ.get("PENSTOCK_REQUIRE_GL") == "1":
            pytest.fail(f"PENSTOCK_REQUIRE_GL=1, but {error}")
        pytest.skip(f"no OpenGL: {error}")
    with GpuResources("require") as made:
        yield made


def picture(number):
    """Return frame `number`: grey, but for an upright white bar of 8 pixels at 10 * number, 64x16."""
    array = np.full((16, 64, 4), (*GREY, 255), np.uint8)
    array[:, 10 * number : 10 * number + 8] = 255
    return GpuBuffer.of_frame(ImageFrame(array, ImageFormat.SRGBA))


def expected(number, mask):
    """Return the pixels of frame `number` with the mask of frame `mask`, None for none."""
    pixels = picture(number).array()[..., :3].copy()
    if mask is not None:
        pixels[:, 10 * mask : 10 * mask + 8] = GREEN
    return pixels


class Model:
    """Comes back when the test says so."""

    def __init__(self):
        self.asked = threading.Semaphore(0)
        self.answers = threading.Semaphore(0)

    def __call__(self):
        self.asked.release()
        assert self.answers.acquire(timeout=WAIT_S), "the test never let the model come back"


class Seen:
    """What came out, by stream."""

    def __init__(self):
        self._changed = threading.Condition()
        self._pixels = {"painted": {}, "mask": {}}

    def __call__(self, stream, packet):
        pixels = packet.payload.array()
        with self._changed:
            self._pixels[stream][int(packet.timestamp)] = pixels
            self._changed.notify_all()

    def wait(self, stream, at):
        with self._changed:
            assert self._changed.wait_for(lambda: at in self._pixels[stream], WAIT_S), (stream, at)
            return self._pixels[stream][at]

    def times(self, stream):
        return sorted(self._pixels[stream])


def test_frames_are_drawn_while_the_model_works_each_with_the_newest_mask(example, resources):
    model, seen = Model(), Seen()
    graph = example.start(model, seen, resources)

    def add(number):
        graph.add_packet_to_input_stream("frame", penstock.Packet(picture(number), number))
        return seen.wait("painted", number)[..., :3]

    try:
        drawn = [add(0)]
        assert model.asked.acquire(timeout=WAIT_S)
        drawn += [add(1), add(2)]  # the model is still busy with frame 0
        model.answers.release()
        mask = seen.wait("mask", 0)
        drawn += [add(3)]
        assert model.asked.acquire(timeout=WAIT_S)
        drawn += [add(4)]  # the model is busy with frame 3
        model.answers.release()
        seen.wait("mask", 3)
        model.answers.release()
        drawn += [add(5)]
    finally:
        model.answers.release()
        graph.close(WAIT_S)

    for number, latest in enumerate([None, None, None, 0, 0, 3]):
        np.testing.assert_array_equal(drawn[number], expected(number, latest), f"frame {number}")
    assert seen.times("painted") == [0, 1, 2, 3, 4, 5]
    assert seen.times("mask") == [0, 3, 5]
    np.testing.assert_array_equal(mask[0], np.repeat([255, 0], [8, 56]))


def test_the_model_works_in_a_context_of_its_own(example, resources):
    if not resources.is_on:
        pytest.skip("without OpenGL there are no contexts")
    model, seen = Model(), Seen()
    model.answers.release()
    graph = example.start(model, seen, resources)
    graph.add_packet_to_input_stream("frame", penstock.Packet(picture(0), 0))
    seen.wait("mask", 0)
    graph.close(WAIT_S)

    assert resources.keys == ("", "user:inference")
