"""DetectionOverlayCalculator: boxes and plates, their sizes and colours, and what it refuses."""

from __future__ import annotations

import itertools

import cv2
import numpy as np
import pytest

from penstock.errors import GraphRunError
from penstock_formats import Detection, ImageFormat, ImageFrame, LocationData, VideoHeader
from penstock_testing import run_calculator
from penstock_vision.drawing.detection_overlay import PALETTE, DetectionOverlayCalculator, color_of
from penstock_vision.messages.detection_overlay_pb2 import DetectionOverlayCalculatorOptions as Options

BOX = (0.25, 0.5, 0.5, 0.25)


def detection(label="Left", score=0.983, box=BOX, **more):
    sides = dict(zip(("xmin", "ymin", "width", "height"), box, strict=True))
    return Detection(
        label=[label] if label else [],
        score=[] if score is None else [score],
        location_data={"format": LocationData.RELATIVE_BOUNDING_BOX, "relative_bounding_box": sides},
        **more,
    )


def run(image, *detections, headers=None, **options):
    inputs = {"IMAGE": [(5, ImageFrame(image))], "DETECTIONS": [(5, list(detections))]}
    return run_calculator(
        DetectionOverlayCalculator, inputs, outputs=["IMAGE"], options=Options(**options), headers=headers
    )


def drawn(image, *detections, **options):
    (packet,) = run(image, *detections, **options).outputs["IMAGE"]
    assert packet.timestamp == 5
    return packet.payload.array


def grey(height, channels=3):
    return np.full((height, height * 2, channels), 127, np.uint8)


def rows_of(image, color):
    """Return the first and the last row that has a colour."""
    rows = np.flatnonzero((image == color).all(axis=2).any(axis=1))
    return int(rows[0]), int(rows[-1])


@pytest.mark.parametrize("height", [360, 720, 2160])
def test_box_and_plate_are_the_same_share_of_every_image(height):
    image = drawn(grey(height), detection())
    color = color_of(detection())[:3]

    first, last = rows_of(image, color)

    plate = height / 2 - first
    assert plate / height == pytest.approx(0.028 * 2.2, abs=0.012)
    assert last == pytest.approx(0.75 * height, abs=max(2, 0.004 * height))
    edge = (image[height // 2 + height // 8] == color).all(axis=1)
    assert edge.sum() == pytest.approx(2 * max(2, 0.004 * height), abs=6)


def test_the_plate_is_filled_and_the_letters_on_it_are_black_or_white():
    for label in ("Left", "Right", "car", "dog", "person", "cat"):
        one = detection(label)
        image = drawn(grey(720), one)
        color = color_of(one)[:3]
        plate = image[rows_of(image, color)[0] : 355, 360:420].reshape(-1, 3)
        is_bright = np.dot(color, (0.299, 0.587, 0.114)) >= 128
        letters = (0, 0, 0) if is_bright else (255, 255, 255)
        assert (plate == color).all(axis=1).mean() > 0.4
        assert (plate == letters).all(axis=1).mean() > 0.02


def test_a_plate_without_room_above_is_inside_and_one_at_the_side_is_moved():
    image = drawn(grey(720), detection(box=(0.2, 0.0, 0.2, 0.5)), detection(box=(0.97, 0.5, 0.2, 0.3)))

    first, _ = rows_of(image, color_of(detection())[:3])
    assert first == 0
    right = np.flatnonzero((image[325] == color_of(detection())[:3]).all(axis=1))
    assert right[-1] == 1439
    assert right[0] < 0.95 * 1440


def test_all_of_one_label_have_one_colour_and_hands_differ():
    assert color_of(detection("Left")) == color_of(detection("Left", 0.1)) != color_of(detection("Right"))
    assert {color_of(detection(f"label {i}"))[:3] for i in range(100)} == set(PALETTE)


def test_the_colours_are_told_apart_without_red_cones_and_without_green_ones():
    """Source of the matrices: Vienot, Brettel and Mollon 1999, in linear RGB."""
    protan = np.array([[0.11238, 0.88762, 0], [0.11238, 0.88762, 0], [0.00401, -0.00401, 1]])
    deutan = np.array([[0.29275, 0.70725, 0], [0.29275, 0.70725, 0], [-0.02234, 0.02234, 1]])
    linear = (np.array(PALETTE) / 255) ** 2.2
    for kind in (protan, deutan):
        seen = np.clip(linear @ kind.T, 0, 1) ** (1 / 2.2) * 255
        assert min(np.abs(a - b).max() for a, b in itertools.combinations(seen, 2)) > 25


@pytest.mark.parametrize(
    ("one", "text"),
    [
        (detection("Left"), "Left 0.98"),
        (detection("Left", None), "Left"),
        (detection("", 0.5, label_id=[7]), "7 0.50"),
        (detection("Left", display_name=["left hand"]), "left hand 0.98"),
        (detection("", 0.5), "0.50"),
    ],
)
def test_the_text_is_the_name_and_the_score(monkeypatch, one, text):
    written = []
    monkeypatch.setattr(cv2, "putText", lambda image, words, *rest: written.append(words))

    drawn(grey(100), one)

    assert written == [text]


def test_an_id_stands_behind_the_name_and_chooses_the_colour_on_request(monkeypatch):
    written = []
    write = cv2.putText
    monkeypatch.setattr(
        cv2, "putText", lambda image, words, *rest: (written.append(words), write(image, words, *rest))
    )

    image = drawn(grey(200), detection("Left", detection_id=9), show_id=True)
    drawn(grey(200), detection("Left", detection_id=9), detection("", 0.5, detection_id=2))
    drawn(grey(200), detection("Left"), detection("", 0.5, detection_id=2), show_id=True)

    assert written == ["Left #9 0.98", "Left 0.98", "0.50", "Left 0.98", "#2 0.50"]
    assert (image == PALETTE[9 % 7]).all(axis=2).any()
    assert not (image == color_of(detection("Left"))[:3]).all(axis=2).any()


def test_without_a_name_and_a_score_there_is_a_box_without_a_plate():
    image = drawn(grey(720), detection("", None))

    assert rows_of(image, color_of(detection(""))[:3])[0] >= 357


def test_the_score_can_be_left_out():
    with_score, without = drawn(grey(720), detection()), drawn(grey(720), detection(), show_score=False)

    assert (with_score != without).any()


@pytest.mark.parametrize(("channels", "wanted"), [(3, ImageFormat.SRGB), (4, ImageFormat.SRGBA)])
def test_the_image_is_not_changed_and_the_drawing_has_its_format(channels, wanted):
    image = grey(90, channels)

    (packet,) = run(image, detection()).outputs["IMAGE"]

    assert (image == 127).all()
    assert packet.payload.format is wanted
    if channels == 4:
        assert packet.payload.array[45, 60:100, 3].max() == 255


def test_a_grey_image_gets_colours_and_so_does_its_header():
    header = VideoHeader(ImageFormat.GRAY8, 20, 10, 30.0)
    done = run(np.full((10, 20), 127, np.uint8), headers={"IMAGE": header})

    assert done.outputs["IMAGE"][0].payload.format is ImageFormat.SRGB
    assert done.headers["IMAGE"].format is ImageFormat.SRGB


def test_an_image_without_detections_is_copied_and_detections_without_an_image_are_not_drawn():
    done = run_calculator(
        DetectionOverlayCalculator,
        {"IMAGE": [(5, ImageFrame(grey(10)))], "DETECTIONS": [(6, [detection()])]},
        outputs=["IMAGE"],
    )

    (packet,) = done.outputs["IMAGE"]
    assert packet.timestamp == 5
    assert (packet.payload.array == 127).all()


def test_boxes_in_pixels_are_drawn_and_those_far_outside_do_no_harm():
    place = {
        "format": LocationData.BOUNDING_BOX,
        "bounding_box": {"xmin": 20, "ymin": 30, "width": 9, "height": 9},
    }
    image = drawn(grey(100), Detection(location_data=place), detection(box=(1e30, -1e30, 1e30, 1e30)))

    assert (image[30, 20] == color_of(Detection())[:3]).all()


@pytest.mark.parametrize(
    ("one", "words"),
    [
        (
            Detection(label=["a"]),
            r"input 'in_1': a detection has a place of format GLOBAL, but a box is drawn",
        ),
        (detection(box=(float("nan"), 0, 1, 1)), r"the box of a detection is \(nan, "),
    ],
)
def test_a_detection_without_a_box_is_refused(one, words):
    with pytest.raises(GraphRunError, match=words.replace("in_1", ".*")):
        run(grey(10), one)


@pytest.mark.parametrize("options", [{"text_height": 0.0}, {"line_width": float("inf")}])
def test_a_share_that_is_no_size_is_refused(options):
    (name,) = options
    with pytest.raises(GraphRunError, match=f"{name} is .*, but must be above 0"):
        run(grey(10), **options)
