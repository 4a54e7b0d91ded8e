"""HandLandmarksToRectCalculator: which landmarks count, the rotation, the smallest rectangle."""

from __future__ import annotations

import math

import pytest

from penstock.errors import GraphRunError
from penstock_formats import NormalizedLandmarkList
from penstock_testing import run_calculator
from penstock_vision.rects.hand_landmarks_to_rect import HandLandmarksToRectCalculator

#: Indices of a whole hand that count.
USED = (0, 1, 2, 3, 5, 6, 9, 10, 13, 14, 17, 18)


def landmarks(points):
    return NormalizedLandmarkList(landmark=[{"x": x, "y": y} for x, y in points])


def hand(*, turned=False, at=(0.5, 0.5)):
    """Return 12 points: a cross of 0.25 up and 0.125 to each side; the wrist is at its foot."""
    foot, head, middle = (0, 0.25), (0, -0.25), (0, 0)
    left, right = (-0.125, 0), (0.125, 0)
    points = [foot, middle, middle, middle, head, left, head, right, head, middle, middle, middle]
    if turned:
        points = [(-y, x) for x, y in points]
    return [(at[0] + x, at[1] + y) for x, y in points]


def rect(points, size=(100, 100)):
    run = run_calculator(
        HandLandmarksToRectCalculator,
        {"NORM_LANDMARKS": [(2, landmarks(points))], "IMAGE_SIZE": [(2, size)]},
        outputs=["NORM_RECT"],
    )
    (packet,) = run.outputs["NORM_RECT"]
    return packet.payload


def numbers(found):
    return found.x_center, found.y_center, found.width, found.height


def test_a_hand_that_stands_has_an_upright_rect_around_all_points():
    found = rect(hand())

    assert numbers(found) == pytest.approx((0.5, 0.5, 0.25, 0.5))
    assert found.rotation == pytest.approx(0, abs=1e-7)


def test_a_hand_that_lies_has_the_same_rect_turned():
    found = rect(hand(turned=True))

    assert numbers(found) == pytest.approx((0.5, 0.5, 0.25, 0.5))
    assert found.rotation == pytest.approx(math.pi / 2)


def test_of_a_whole_hand_twelve_landmarks_count():
    points = [(9.0, 9.0)] * 21
    for index, point in zip(USED, hand(), strict=True):
        points[index] = point

    assert rect(points) == rect(hand())


def test_a_landmark_that_is_no_number_is_left_out():
    points = hand()
    points[1] = (math.nan, math.nan)  # one in the middle

    assert rect(points) == rect(hand())


def test_the_rotation_is_that_of_wrist_and_the_middle_of_three_joints():
    points = hand()
    # joint 4 and 8 count by a quarter each, joint 6 by a half
    points[4], points[6], points[8] = (0.5, 0.25), (0.75, 0.25), (0.5, 0.25)

    # from the wrist half of 0.25 to the right, 0.5 up
    assert rect(points).rotation == pytest.approx(math.atan2(0.125, 0.5))


def test_the_greatest_values_are_searched_from_the_smallest_number_above_zero():
    found = rect(hand(at=(-2, -2)))

    # x is from -2.125 to -1.875, but the right edge counts as 0, and so it does once more after the rotation
    assert numbers(found) == pytest.approx((-1.59375, -1.6875, 1.0625, 1.125))


def test_landmarks_without_a_size_are_refused():
    with pytest.raises(GraphRunError, match="holds None, but an image's size is"):
        run_calculator(
            HandLandmarksToRectCalculator,
            {"NORM_LANDMARKS": [(2, landmarks(hand()))], "IMAGE_SIZE": []},
            outputs=["NORM_RECT"],
        )


def test_a_size_without_landmarks_gives_nothing():
    run = run_calculator(
        HandLandmarksToRectCalculator,
        {"NORM_LANDMARKS": [], "IMAGE_SIZE": [(2, (3, 3))]},
        outputs=["NORM_RECT"],
    )

    assert run.outputs["NORM_RECT"] == []


def test_too_few_landmarks_are_refused():
    with pytest.raises(GraphRunError, match="holds 8 landmarks, but a hand has 21"):
        rect(hand()[:8])


def test_a_hand_that_leans_is_contained_tightly():
    lean = 0.5
    points = [(x, y * 0.5 + max(x, 0)) for x, y in hand(at=(0, 0))]
    size = (200, 100)
    turned = [
        (x * math.cos(lean) - y * math.sin(lean), x * math.sin(lean) + y * math.cos(lean)) for x, y in points
    ]

    found = rect([(0.5 + x / 2, 0.5 + y) for x, y in turned], size)  # in fractions of 200 x 100 pixels

    pixels = [(100 + 100 * x, 50 + 100 * y) for x, y in turned]
    cos, sin = math.cos(found.rotation), math.sin(found.rotation)
    across = [x * cos + y * sin for x, y in pixels]
    along = [y * cos - x * sin for x, y in pixels]
    middle_x, middle_y = (max(across) + min(across)) / 2, (max(along) + min(along)) / 2
    assert found.rotation != pytest.approx(0, abs=0.1)
    assert found.width * size[0] == pytest.approx(max(across) - min(across), abs=1e-3)
    assert found.height * size[1] == pytest.approx(max(along) - min(along), abs=1e-3)
    assert found.x_center * size[0] == pytest.approx(middle_x * cos - middle_y * sin, abs=1e-3)
    assert found.y_center * size[1] == pytest.approx(middle_x * sin + middle_y * cos, abs=1e-3)
