"""RoiTrackingCalculator: when the rectangle of the last frame is kept."""

from __future__ import annotations

import math

import pytest

from penstock.errors import GraphRunError
from penstock_formats import NormalizedLandmarkList, NormalizedRect
from penstock_testing import run_calculator
from penstock_vision.messages.roi_tracking_pb2 import RoiTrackingCalculatorOptions
from penstock_vision.rects.roi_tracking import RoiTrackingCalculator


def rect(x=0.5, y=0.5, width=0.25, height=0.5, rotation=0.0):
    return NormalizedRect(x_center=x, y_center=y, width=width, height=height, rotation=rotation)


def keeps(last, recrop, *, points=(), size=(400, 200), **options):
    """Return whether the rectangle of the last frame is sent; None if none is."""
    if last is not None:
        last = NormalizedRect.FromString(last.SerializeToString())  # another object than `recrop`
    landmarks = NormalizedLandmarkList(landmark=[{"x": x, "y": y} for x, y in points])
    feeds = {
        "PREV_LANDMARKS": [(6, landmarks)],
        "PREV_LANDMARKS_RECT": [] if last is None else [(6, last)],
        "RECROP_RECT": [] if recrop is None else [(6, recrop)],
        "IMAGE_SIZE": [(6, size)],
    }
    run = run_calculator(
        RoiTrackingCalculator,
        feeds,
        outputs=["TRACKING_RECT"],
        options=RoiTrackingCalculatorOptions(**options),
    )
    sent = [packet.payload for packet in run.outputs["TRACKING_RECT"]]
    return None if not sent else sent[0] is last


def test_without_a_rect_of_this_frame_nothing_is_sent():
    assert keeps(rect(), None) is None


def test_without_a_rect_of_the_last_frame_that_of_this_one_is_sent():
    assert keeps(None, rect()) is False


def test_without_requirements_the_rect_of_the_last_frame_is_kept():
    assert keeps(rect(), rect(x=0)) is True


def test_rects_must_overlap_by_at_least_a_half():
    assert keeps(rect(), rect(x=0.5625), iou_requirements={}) is True  # 3 of 5 quarters
    assert keeps(rect(), rect(x=0.625), iou_requirements={}) is False  # 2 of 6
    assert keeps(rect(), rect(x=0.625), iou_requirements={"min_iou": 0.25}) is True


def test_overlap_is_computed_with_the_centres_as_corners():
    # around one centre a quarter of the area is shared, with the centres as corners the same quarter: a
    # rectangle twice as wide and high covers the small one either way, but not one that moved to its left
    large = rect(width=0.5, height=1)

    assert keeps(rect(x=0.375), large, iou_requirements={"min_iou": 0.2}) is False
    assert keeps(rect(), large, iou_requirements={"min_iou": 0.2}) is True


def test_rects_that_do_not_touch_overlap_without_end():
    assert keeps(rect(), rect(x=3), iou_requirements={}) is True


def test_rects_that_touch_overlap_by_nothing():
    assert keeps(rect(), rect(x=0.75), iou_requirements={"min_iou": 0.01}) is False


@pytest.mark.parametrize(
    ("recrop", "expected"),
    [
        (rect(rotation=math.radians(9)), True),
        (rect(rotation=math.radians(11)), False),
        (rect(x=0.524), True),  # a tenth of the width are 0.025
        (rect(x=0.526), False),
        (rect(y=0.549), True),  # a tenth of the height are 0.05
        (rect(y=0.551), False),
        (rect(width=0.2275), True),  # 0.0225 of 0.2275
        (rect(width=0.2265), False),
        (rect(height=0.455), True),
        (rect(height=0.453), False),
    ],
)
def test_a_rect_must_be_as_near_as_the_defaults_ask(recrop, expected):
    assert keeps(rect(), recrop, rect_requirements={}) is expected


def test_limits_of_a_rect_can_be_set():
    wide = {"rotation_degrees": 90, "translation": 1, "scale": 1}

    assert keeps(rect(), rect(x=0.625, rotation=1, width=0.125), rect_requirements=wide) is True


def test_rotations_on_both_sides_of_a_half_turn_are_near():
    one, other = rect(rotation=math.radians(178)), rect(rotation=math.radians(-178))

    assert keeps(one, other, rect_requirements={"rotation_degrees": 5, "translation": 9}) is True
    assert keeps(other, one, rect_requirements={"rotation_degrees": 5, "translation": 9}) is True
    assert keeps(other, one, rect_requirements={"rotation_degrees": 3, "translation": 9}) is False


def test_distances_are_measured_along_the_rotated_rect_in_pixels():
    turned = {"rotation": math.pi / 2, "width": 0.5, "height": 0.125}  # 200 wide and 25 high, turned

    # 30 pixels down: along its width, and far less than a half of it
    limits = {"translation": 0.5, "scale": 9}
    assert keeps(rect(y=0.65, **turned), rect(**turned), rect_requirements=limits) is True
    # 30 pixels to the right: along its height, and more than a half of it
    assert keeps(rect(x=0.575, **turned), rect(**turned), rect_requirements=limits) is False


def test_all_landmarks_must_be_strictly_inside():
    # x from 0.375 to 0.625, y from 0.25 to 0.75
    inside = [(0.4, 0.3), (0.6, 0.7)]

    assert keeps(rect(), rect(), points=inside, landmarks_requirements={}) is True
    for outside in [(0.375, 0.5), (0.625, 0.5), (0.5, 0.25), (0.5, 0.75)]:
        assert keeps(rect(), rect(), points=[*inside, outside], landmarks_requirements={}) is False


def test_a_margin_grows_the_rect():
    edge = [(0.37, 0.5)]

    grown, shrunk = {"recrop_rect_margin": 0.1}, {"recrop_rect_margin": -0.5}
    assert keeps(rect(), rect(), points=edge, landmarks_requirements=grown) is True
    assert keeps(rect(), rect(), points=[(0.4, 0.5)], landmarks_requirements=shrunk) is False


def test_landmarks_are_compared_with_the_rotated_rect():
    turned = rect(rotation=math.pi / 2)  # 100 x 100 pixels
    flat = rect(width=0.25, height=0.125, rotation=math.pi / 2)  # 100 wide and 25 high, turned

    assert keeps(turned, turned, points=[(0.5, 0.7)], landmarks_requirements={}) is True
    assert keeps(flat, flat, points=[(0.5, 0.7)], landmarks_requirements={}) is True
    assert keeps(flat, flat, points=[(0.6, 0.5)], landmarks_requirements={}) is False


def test_every_requirement_must_hold():
    both = {"rect_requirements": {}, "landmarks_requirements": {}}

    assert keeps(rect(), rect(), points=[(0.5, 0.5)], **both) is True
    assert keeps(rect(), rect(), points=[(0.9, 0.5)], **both) is False
    assert keeps(rect(), rect(x=0.6), points=[(0.6, 0.5)], **both) is False


def test_rects_without_a_size_are_refused():
    with pytest.raises(GraphRunError, match=r"an image's size is \(width, height\), both above 0"):
        keeps(rect(), rect(), size=(0, 0))
