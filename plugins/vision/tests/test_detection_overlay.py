"""DetectionOverlayCalculator: boxes and plates, their sizes and colours, and what it refuses."""

from __future__ import annotations

import itertools

import cv2
import numpy as np
import pytest

from penstock.errors import GraphRunError
from penstock_formats import Detection, ImageFormat, ImageFrame, LocationData, VideoHeader
from penstock_testing import run_calculator
from penstock_vision.drawing.detection_overlay import DetectionOverlayCalculator, color_of
from penstock_vision.drawing.plates import PALETTE
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
            r"input 'in_1': a detection has a place of format GLOBAL, but the overlay draws a box",
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
    with pytest.raises(GraphRunError, match=f"{name} of the plates is .*, but must be above 0"):
        run(grey(10), **options)


# --- masks and key points --------------------------------------------------------------------------


def with_masks(image, detections, masks, **options):
    inputs = {"IMAGE": [(5, ImageFrame(image))], "DETECTIONS": [(5, detections)], "MASKS": [(5, masks)]}
    made = run_calculator(
        DetectionOverlayCalculator, inputs, outputs=["IMAGE"], options=Options(show_score=False, **options)
    )
    return made.outputs["IMAGE"][0].payload.array


@pytest.mark.parametrize("channels", [3, 4])
def test_a_mask_is_stretched_to_the_image_and_tints_what_is_inside(channels):
    mask = np.zeros((20, 40), np.uint8)
    mask[10:15, 10:30] = 255
    image = grey(200, channels)
    one = detection("", box=(0.2, 0.4, 0.6, 0.5))

    pixels = with_masks(image, [one], [ImageFrame(mask)], mask_opacity=0.5)

    color = np.array(color_of(one)[:channels])
    inner = pixels[105:145, 105:295]
    assert np.abs(inner.astype(int) - (127 + color) / 2).max() <= 1
    assert (pixels[165:175, 105:295] == 127).all()


def test_a_mask_that_does_not_divide_the_image_ends_behind_its_last_pixel():
    mask = np.zeros((7, 7), np.uint8)
    mask[:3, :3] = 255

    pixels = with_masks(grey(100), [detection("", box=(0.9, 0.9, 0.05, 0.05))], [ImageFrame(mask)])

    tinted = (pixels[:80] != 127).any(axis=2)
    rows, columns = np.flatnonzero(tinted.any(axis=1)), np.flatnonzero(tinted.any(axis=0))
    assert (rows[0], rows[-1]) == (0, 42)  # 3 / 7 of 100 rows are 42.9
    assert (columns[0], columns[-1]) == (0, 85)


def test_masks_have_the_colours_of_their_boxes_and_may_reach_the_edges():
    whole = ImageFrame(np.full((3, 5), 255, np.uint8))
    image = grey(90)
    two = [detection("", 0.5, label_id=[number]) for number in (1, 2)]

    for one in two:
        pixels = with_masks(image, [one], [whole], mask_opacity=1)
        assert (pixels[:20] == color_of(one)[:3]).all()
    nothing = ImageFrame(np.zeros((3, 5), np.uint8))
    assert (with_masks(image, [two[0]], [nothing], mask_opacity=1)[:20] == 127).all()


@pytest.mark.parametrize(
    ("masks", "words"),
    [
        ([], "there are 0 masks for the overlay, but 1 detections; give one for each"),
        ([ImageFrame(grey(4))], "a detection's mask has the format SRGB, but the overlay draws GRAY8"),
    ],
)
def test_wrong_masks_are_refused(masks, words):
    with pytest.raises(GraphRunError, match=words):
        with_masks(grey(50), [detection()], masks)


def with_points(*points, **more):
    made = detection("", score=None, box=(0.9, 0.9, 0.01, 0.01), **more)
    for x, y, *score in points:
        made.location_data.relative_keypoints.add(x=x, y=y, **({"score": score[0]} if score else {}))
    return made


def test_key_points_are_dots_with_lines_between_them():
    one = with_points((0.25, 0.5), (0.75, 0.5, 0.9), (0.5, 0.1, 0.2), (float("nan"), 0.5))
    color = color_of(one)[:3]

    without = drawn(grey(200), one)
    dots = drawn(grey(200), one, show_keypoints=True)
    lines = drawn(grey(200), one, show_keypoints=True, keypoint_connections=[0, 1, 1, 2, 0, 3])
    seen = drawn(grey(200), one, show_keypoints=True, min_keypoint_score=0.1)

    assert (without[:150] == 127).all()
    assert dots[100, 100].tolist() == dots[100, 300].tolist() == list(color)
    assert (dots[100, 120:280] == 127).all()
    assert (lines[100, 120:280] == color).all()
    assert (dots[20, 200] == 127).all()
    assert seen[20, 200].tolist() == list(color)


@pytest.mark.parametrize(
    ("numbers", "words"),
    [
        ([0, 1, 2], r"has 3 numbers, .*but must have pairs"),
        ([-1, 0], r"must have pairs of numbers .* 0 or more"),
    ],
)
def test_connections_that_are_none_are_refused(numbers, words):
    with pytest.raises(GraphRunError, match=words):
        drawn(grey(50), show_keypoints=True, keypoint_connections=numbers)


def test_a_connection_of_a_key_point_that_is_not_there_is_refused():
    options = {"show_keypoints": True, "keypoint_connections": [0, 2]}

    with pytest.raises(GraphRunError, match="names key point 2, but a detection has 2"):
        drawn(grey(50), with_points((0.1, 0.1), (0.2, 0.2)), **options)
    drawn(grey(50), with_points(), **options)  # a detection without key points has none to join


@pytest.mark.parametrize("opacity", [-0.1, 1.1, float("nan")])
def test_an_opacity_that_is_none_is_refused(opacity):
    with pytest.raises(GraphRunError, match=r"mask_opacity is .*, but must be from 0 to 1"):
        drawn(grey(50), mask_opacity=opacity)
