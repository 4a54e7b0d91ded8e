"""Expected places are those at which the test has drawn the object."""

from __future__ import annotations

from itertools import pairwise

import cv2
import numpy as np
import pytest

import penstock
from penstock.errors import GraphConfigError, GraphRunError
from penstock_formats import Detection, ImageFormat, ImageFrame, LocationData
from penstock_testing import run_calculator
from penstock_vision.detections.box_flow import BoxFlowCalculator, BoxFlowCalculatorOptions

HIGH, WIDE = 360, 640
#: Pixels by which an edge may be off.
TOLERANCE = 1.5


def frame(x, y, size, *, gray=False):
    """Return a dark frame with a square of random patches around (x, y)."""
    patches = np.random.default_rng(3).integers(60, 256, (8, 8, 3)).astype(np.float32)
    thing = cv2.resize(patches, (64, 64), interpolation=cv2.INTER_NEAREST)
    place = np.array([[size / 64, 0, x - size / 2], [0, size / 64, y - size / 2]])
    picture = np.clip(cv2.warpAffine(thing, place, (WIDE, HIGH), flags=cv2.INTER_AREA), 20, 255)
    picture = picture.astype(np.uint8)
    if gray:
        return ImageFrame(np.asarray(cv2.cvtColor(picture, cv2.COLOR_RGB2GRAY)), ImageFormat.GRAY8)
    return ImageFrame(picture)


def detection(x, y, size, **fields):
    box = {
        "xmin": (x - size / 2) / WIDE,
        "ymin": (y - size / 2) / HIGH,
        "width": size / WIDE,
        "height": size / HIGH,
    }
    place = LocationData(format=LocationData.RELATIVE_BOUNDING_BOX, relative_bounding_box=box)
    return Detection(location_data=place, **fields)


def step(given, before, now, **options):
    """Return the detection that comes out, or None, and the run."""
    run = run_calculator(
        BoxFlowCalculator,
        {"DETECTION": [(7, given)], "PREV_IMAGE": [(7, before)], "IMAGE": [(7, now)]},
        outputs=["DETECTION"],
        options=BoxFlowCalculatorOptions(**options),
    )
    packets = run.outputs["DETECTION"]
    return packets[0].payload if packets else None


def edges(detection):
    box = detection.location_data.relative_bounding_box
    left, top = box.xmin * WIDE, box.ymin * HIGH
    return [left, top, left + box.width * WIDE, top + box.height * HIGH]


@pytest.mark.parametrize("gray", [False, True])
@pytest.mark.parametrize(
    ("to", "size"),
    [((200, 150), 64), ((211, 143), 64), ((200, 150), 68), ((194, 160), 60.5), ((220, 150), 64)],
)
def test_a_box_moves_and_grows_with_what_is_inside_of_it(to, size, gray):
    given = detection(200, 150, 64, label=["dog"], score=[0.9], detection_id=5)
    kept = given.SerializeToString()

    moved = step(given, frame(200, 150, 64, gray=gray), frame(*to, size, gray=gray))

    assert edges(moved) == pytest.approx(edges(detection(*to, size)), abs=TOLERANCE)
    assert (moved.label, moved.detection_id) == (["dog"], 5)
    assert given.SerializeToString() == kept


def test_a_large_box_is_followed_in_smaller_images():
    moved = step(detection(300, 180, 256), frame(300, 180, 256), frame(312, 172, 256))

    assert edges(moved) == pytest.approx(edges(detection(312, 172, 256)), abs=2 * TOLERANCE)


def test_errors_do_not_add_up_over_many_frames():
    places = [(100 + 8 * i, 120 + 3 * i) for i in range(30)]
    one = detection(*places[0], 64, score=[1.0])

    for before, now in pairwise(places):
        one = step(one, frame(*before, 64), frame(*now, 64), score_factor=1.0)

    assert edges(one) == pytest.approx(edges(detection(*places[-1], 64)), abs=2 * TOLERANCE)


def test_the_score_falls_with_each_step_until_the_box_is_lost():
    still = frame(200, 150, 64)
    one, scores = detection(200, 150, 64, score=[1.0]), []

    while one is not None:
        scores.append(one.score[0])
        one = step(one, still, still, score_factor=0.5, min_score=0.2)

    assert scores == pytest.approx([1, 0.5, 0.25])


def test_a_detection_without_a_score_counts_as_sure():
    still = frame(200, 150, 64)

    assert list(step(detection(200, 150, 64), still, still, score_factor=0.9).score) == pytest.approx([0.9])


def test_a_box_is_lost_if_too_small_a_share_of_its_points_is_followed():
    before, now = frame(200, 150, 64), frame(200, 150, 64)
    covered = now.array.copy()
    covered[:, :200] = 20
    given = detection(200, 150, 64)

    assert step(given, before, now, min_share=0.9) is not None
    assert step(given, before, ImageFrame(covered), min_share=0.05) is not None
    assert step(given, before, ImageFrame(covered), min_share=0.6) is None


GRAPH = """
    input_stream: "box"
    input_stream: "before"
    input_stream: "now"
    node {
      calculator: "BoxFlowCalculator"
      input_stream: "DETECTION:box"
      input_stream: "PREV_IMAGE:before"
      input_stream: "IMAGE:now"
      output_stream: "DETECTION:moved"
      node_options { [type.googleapis.com/penstock_vision.BoxFlowCalculatorOptions] { %s } }
    }
    output_stream: "moved"
"""


@pytest.mark.parametrize(
    ("given", "now", "why"),
    [
        (detection(200, 150, 64), ImageFrame(np.full((HIGH, WIDE, 3), 20, np.uint8)), "its points are lost"),
        (detection(500, 150, 64), frame(200, 150, 64), "its points are lost"),  # nothing is there
        (detection(200, 150, 3), frame(200, 150, 64), "its points are lost"),  # nothing fits into it
        (detection(2, 150, 64), frame(-6, 150, 64), "it has left the frame"),
        (detection(200, 150, 64, score=[0.3]), frame(200, 150, 64), r"its score is below min_score (0.3)"),
    ],
)
def test_a_box_that_is_lost_sends_nothing_and_the_ledger_says_why(given, now, why):
    box = given.location_data.relative_bounding_box
    before = frame(2, 150, 64) if box.xmin < 0 else frame(200, 150, 64)
    graph = penstock.CalculatorGraph(GRAPH % "")
    got = []
    graph.observe_output_stream("moved", lambda _, packet: got.append(packet))
    graph.start_run()
    for name, payload in (("box", given), ("before", before), ("now", now)):
        graph.add_packet_to_input_stream(name, penstock.Packet(payload, 7))
    graph.close(20)

    assert got == []
    assert [(drop.stream, drop.reason, drop.count) for drop in graph.ledger().drops] == [("box", why, 1)]


@pytest.mark.parametrize(
    ("given", "before", "now", "words"),
    [
        (
            Detection(),
            frame(9, 9, 9),
            frame(9, 9, 9),
            r"input 'DETECTION' holds a detection with a place of format GLOBAL, but the box flow takes",
        ),
        (
            detection(9, 9, 9),
            frame(9, 9, 9),
            ImageFrame(np.zeros((4, 4, 4), np.uint8), ImageFormat.SRGBA),
            r"input 'IMAGE' holds .*SRGBA.*, but the box flow takes SRGB or GRAY8; put a ",
        ),
        (
            detection(9, 9, 9),
            ImageFrame(np.zeros((4, 6, 3), np.uint8)),
            frame(9, 9, 9),
            r"input 'PREV_IMAGE' holds .*6x4.*, but input 'IMAGE' .*640x360.*; for the box flow",
        ),
    ],
)
def test_what_cannot_be_followed_is_refused(given, before, now, words):
    with pytest.raises(GraphRunError, match=words):
        step(given, before, now)


@pytest.mark.parametrize(
    "wrong", ["score_factor: 0", "score_factor: 1.1", "min_score: -0.1", "min_score: 2", "min_share: 1.5"]
)
def test_numbers_out_of_range_are_refused_when_the_graph_is_loaded(wrong):
    with pytest.raises(GraphConfigError, match=wrong.split(":")[0]):
        penstock.CalculatorGraph(GRAPH % wrong)


def test_without_one_of_the_inputs_nothing_is_sent():
    still = frame(200, 150, 64)

    run = run_calculator(
        BoxFlowCalculator,
        {
            "DETECTION": [(7, detection(200, 150, 64))],
            "PREV_IMAGE": [(8, still)],
            "IMAGE": [(7, still), (8, still)],
        },
        outputs=["DETECTION"],
    )

    assert run.outputs["DETECTION"] == []
