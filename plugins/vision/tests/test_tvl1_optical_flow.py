"""Tvl1OpticalFlowCalculator: what moves where, and what it says where OpenCV lacks it."""

from __future__ import annotations

from types import SimpleNamespace

import cv2
import numpy as np
import pytest

from penstock import CalculatorGraph, Packet
from penstock.errors import GraphRunError, StatusCode
from penstock_formats import ImageFormat, ImageFrame
from penstock_testing import run_calculator, testing_registry
from penstock_vision.images.tvl1_optical_flow import Tvl1OpticalFlowCalculator

FLOWS = ("FORWARD_FLOW", "BACKWARD_FLOW")
PATIENCE_S = 100


class Shift:
    """Stands for OpenCV's object: a flow that holds the first pixel of both images."""

    def calc(self, before, after, flow):
        assert flow is None
        return np.full((*before.shape, 2), (before[0, 0], after[0, 0]), np.float32)


@pytest.fixture
def stand_in(monkeypatch):
    """Replace OpenCV's method, and count its objects."""
    made = []
    module = SimpleNamespace(createOptFlow_DualTVL1=lambda: made.append(Shift()) or made[-1])
    monkeypatch.setattr(cv2, "optflow", module, raising=False)
    return made


@pytest.fixture
def _has_tvl1():
    if not hasattr(cv2, "optflow"):
        pytest.skip("this OpenCV has no TV-L1: it is in opencv-contrib-python-headless only")


def run(first, second, outputs=FLOWS):
    inputs = {"FIRST_FRAME": first, "SECOND_FRAME": second}
    return run_calculator(
        Tvl1OpticalFlowCalculator,
        {tag: [] if one is None else [(3, ImageFrame(one))] for tag, one in inputs.items()},
        outputs=list(outputs),
    ).outputs


def grey(level, shape=(4, 6)):
    return np.full(shape, level, np.uint8)


def test_the_flow_there_is_from_the_first_and_the_flow_back_from_the_second(stand_in):
    found = run(grey(1), np.dstack([grey(9)] * 3))

    for tag, numbers in (("FORWARD_FLOW", [1, 9]), ("BACKWARD_FLOW", [9, 1])):
        (packet,) = found[tag]
        frame = packet.payload
        assert (packet.timestamp, frame.format) == (3, ImageFormat.VEC32F2)
        assert (frame.width, frame.height, frame.array[2, 3].tolist()) == (6, 4, numbers)
    assert len(stand_in) == 1


@pytest.mark.parametrize("tag", FLOWS)
def test_one_flow_alone_can_be_asked_for(stand_in, tag):
    assert len(run(grey(1), grey(9), [tag])[tag]) == 1


@pytest.mark.parametrize("frames", [(None, grey(9)), (grey(1), None)])
def test_nothing_is_sent_without_both_frames(stand_in, frames):
    assert run(*frames) == {tag: [] for tag in FLOWS}


@pytest.mark.parametrize(
    ("second", "words"),
    [
        (grey(9, (6, 4)), "hold frames of 6x4 and 4x6 pixels, but for optical flow their sizes must"),
        (np.zeros((4, 6, 4), np.uint8), "'in_1' holds .*SRGBA.* but optical flow takes SRGB or GRAY8; put a"),
    ],
)
def test_frames_that_do_not_fit_are_refused(stand_in, second, words):
    with pytest.raises(GraphRunError, match=words) as caught:
        run(grey(1), second)

    assert caught.value.code is StatusCode.INVALID_ARGUMENT


def test_an_opencv_without_it_is_told_with_the_package_that_has_it(monkeypatch):
    monkeypatch.delattr(cv2, "optflow", raising=False)

    with pytest.raises(
        GraphRunError, match=r'without TV-L1 optical flow, .* pip install "opencv-contrib-python-headless>=4'
    ) as caught:
        run(grey(1), grey(9))

    assert caught.value.code is StatusCode.FAILED_PRECONDITION


@pytest.mark.reference(
    "calculators/video/tvl1_optical_flow_calculator_test.cc",
    "Tvl1OpticalFlowCalculatorTest.TestSequentialExecution",
    "Tvl1OpticalFlowCalculatorTest.TestParallelExecution",
)
@pytest.mark.usefixtures("_has_tvl1")
@pytest.mark.parametrize(("packets", "in_flight"), [(2, 1), (20, 10)])
def test_a_slope_that_moves_three_rows_down(packets, in_flight):
    registry = testing_registry(Tvl1OpticalFlowCalculator)
    graph = CalculatorGraph(
        f"""
        input_stream: "first_frames"
        input_stream: "second_frames"
        node {{
          calculator: "Tvl1OpticalFlowCalculator"
          input_stream: "FIRST_FRAME:first_frames"
          input_stream: "SECOND_FRAME:second_frames"
          output_stream: "FORWARD_FLOW:forward_flow"
          output_stream: "BACKWARD_FLOW:backward_flow"
          max_in_flight: {in_flight}
        }}
        num_threads: {in_flight}
        """,
        registry=registry,
    )
    seen = {"forward_flow": [], "backward_flow": []}
    for name, found in seen.items():
        graph.observe_output_stream(name, lambda _, packet, found=found: found.append(packet))
    row = np.arange(227)[:, None].repeat(127, axis=1)
    frames = {
        "first_frames": np.dstack([row + 3, row + 3, 0 * row]),
        "second_frames": np.dstack([row, row, 0 * row]),
    }
    graph.start_run()
    for i in range(packets):
        for name, pixels in frames.items():
            graph.add_packet_to_input_stream(name, Packet(ImageFrame(pixels.astype(np.uint8)), i))
    graph.close_all_input_streams()
    graph.wait_until_done(PATIENCE_S)

    for name, down in (("forward_flow", 3), ("backward_flow", -3)):
        assert [int(packet.timestamp) for packet in seen[name]] == list(range(packets))
        for packet in seen[name]:
            assert packet.payload.array.mean(axis=(0, 1)) == pytest.approx([0, down], abs=0.5)
