"""Expected places are those at which the test has drawn the objects."""

from __future__ import annotations

import cv2
import numpy as np
import pytest

import penstock
from penstock.errors import GraphConfigError, GraphRunError
from penstock_formats import ImageFormat, ImageFrame, LocationData
from penstock_testing import run_calculator
from penstock_vision.images.motion_detection import (
    MotionDetectionCalculator,
    MotionDetectionCalculatorOptions,
)

HIGH, WIDE, SIDE = 180, 320, 40
#: Pixels by which an edge may be off: the blur before the model makes objects larger by up to two.
TOLERANCE = 3.0


def ground(seed=1):
    """Return a scene with texture, (HIGH + 40, WIDE + 40, 3) uint8: larger than a frame, to look around."""
    noise = np.random.default_rng(seed).integers(0, 2, (28, 45, 3)).astype(np.float32) * 90 + 40
    large = cv2.resize(noise, (WIDE + 40, HIGH + 40), interpolation=cv2.INTER_CUBIC)
    return np.clip(large, 0, 255).astype(np.uint8)


def frame(*places, scene=None, look=(0, 0), scale=1):
    """Return a frame with a white square at each place, its corner (x, y); `look` moves the camera."""
    x0, y0 = look
    picture = (ground() if scene is None else scene)[y0 : y0 + HIGH, x0 : x0 + WIDE].copy()
    for x, y in places:
        picture[y : y + SIDE, x : x + SIDE] = 250
    return ImageFrame(np.ascontiguousarray(np.kron(picture, np.ones((scale, scale, 1), np.uint8))))


def found(frames, step_us=200_000, **options):
    """Return for each frame the boxes, in pixels of a frame that is WIDE x HIGH."""
    run = run_calculator(
        MotionDetectionCalculator,
        {"IMAGE": [(step_us * i, one) for i, one in enumerate(frames)]},
        outputs=["DETECTIONS"],
        options=MotionDetectionCalculatorOptions(**options),
    )
    assert [packet.timestamp for packet in run.outputs["DETECTIONS"]] == [
        step_us * i for i in range(len(frames))
    ]
    return [[in_pixels(one) for one in packet.payload] for packet in run.outputs["DETECTIONS"]]


def in_pixels(detection):
    assert (detection.label, detection.score) == (["moving"], [1.0])
    assert detection.location_data.format == LocationData.RELATIVE_BOUNDING_BOX
    box = detection.location_data.relative_bounding_box
    return [box.xmin * WIDE, box.ymin * HIGH, box.width * WIDE, box.height * HIGH]


def at(x, y):
    return pytest.approx([x, y, SIDE, SIDE], abs=2 * TOLERANCE)


@pytest.mark.parametrize("scale", [1, 2])
def test_what_comes_into_a_still_scene_is_found_where_it_is(scale):
    frames = [frame(scale=scale), frame((30, 50), scale=scale), frame((60, 50), (200, 90), scale=scale)]

    boxes = found(frames)

    assert boxes[0] == []
    assert boxes[1] == [at(30, 50)]
    assert sorted(boxes[2]) == [at(60, 50), at(200, 90)]


def test_a_gray_frame_will_do():
    frames = [
        ImageFrame(np.asarray(cv2.cvtColor(one.array, cv2.COLOR_RGB2GRAY)), ImageFormat.GRAY8)
        for one in (frame(), frame((30, 50)))
    ]

    assert found(frames) == [[], [at(30, 50)]]


def test_the_camera_may_move_a_little():
    frames = [frame(look=(20, 20)), *(frame((100, 60), look=(20 - 4 * i, 20 + 3 * i)) for i in range(1, 6))]

    assert found(frames) == [[], *([at(100, 60)] for _ in range(5))]


def test_after_a_cut_the_background_is_learned_anew():
    other = ground(seed=2)
    frames = [frame(), frame((30, 50)), frame((30, 50), scene=other), frame((90, 50), scene=other)]

    boxes = found(frames)

    assert boxes[1] == [at(30, 50)]
    assert boxes[2] == []
    assert at(90, 50) in boxes[3]


def test_a_frame_of_another_size_begins_a_scene():
    assert found([frame(), frame((30, 50), scale=2), frame((30, 50)), frame((30, 50), (200, 90))])[:3] == [
        [],
        [at(30, 50)],  # scaled down to the size of the first
        [at(30, 50)],
    ]
    assert found([frame(), frame((30, 50), scale=2)], width_px=1000) == [[], []]


@pytest.mark.parametrize("step_us", [100_000, 500_000])
def test_what_stops_becomes_background_after_so_many_seconds_however_many_frames_come(step_us):
    frames = [frame(), *[frame((30, 50))] * (6_000_000 // step_us)]

    boxes = found(frames, step_us=step_us, absorb_after_s=3.0)

    seen = [step_us * i / 1e6 for i, one in enumerate(boxes) if one]
    assert seen[0] == step_us / 1e6
    assert 2.5 <= seen[-1] <= 4.0


def test_what_is_small_or_alike_does_not_count():
    small = 1.2 * SIDE * SIDE / (WIDE * HIGH)

    assert found([frame(), frame((30, 50))], min_area=small) == [[], []]
    assert found([frame(), frame((30, 50))], threshold=1e6) == [[], []]


def test_a_scene_without_texture_is_taken_to_stay_where_it_is():
    even = np.full((HIGH + 40, WIDE + 40, 3), 90, np.uint8)

    assert found([frame(scene=even), frame((30, 50), scene=even)]) == [[], [at(30, 50)]]


def test_a_frame_of_another_format_is_refused():
    odd = ImageFrame(np.zeros((HIGH, WIDE, 4), np.uint8), ImageFormat.SRGBA)

    with pytest.raises(
        GraphRunError, match=r"input 'IMAGE' holds .*SRGBA.*, but motion detection takes SRGB or GRAY8; put a"
    ):
        found([odd])


@pytest.mark.parametrize(
    "wrong", ["width_px: 15", "min_area: 1.5", "min_area: -1", "threshold: 0", "absorb_after_s: 0"]
)
def test_numbers_out_of_range_are_refused_when_the_graph_is_loaded(wrong):
    with pytest.raises(GraphConfigError, match=wrong.split(":")[0]):
        penstock.CalculatorGraph(f"""
            input_stream: "frame"
            node {{
              calculator: "MotionDetectionCalculator"
              input_stream: "IMAGE:frame"
              output_stream: "DETECTIONS:moving"
              node_options {{
                [type.googleapis.com/penstock_vision.MotionDetectionCalculatorOptions] {{ {wrong} }}
              }}
            }}
        """)
