"""RectTransformationCalculator: shift, squares, scale, and a rotation that is not written."""

from __future__ import annotations

import math

import numpy as np
import pytest

from penstock.errors import GraphConfigError, GraphRunError
from penstock_formats import NormalizedRect, Rect
from penstock_testing import run_calculator
from penstock_vision.messages.rect_transformation_pb2 import RectTransformationCalculatorOptions
from penstock_vision.rects.rect_transformation import RectTransformationCalculator


def rect(x=0.5, y=0.5, width=0.25, height=0.5, **more):
    return NormalizedRect(x_center=x, y_center=y, width=width, height=height, **more)


def changed(given, *, tag="NORM_RECT", size=(400, 200), **options):
    feeds = {tag: [(3, given)]}
    if tag.startswith("NORM"):
        feeds["IMAGE_SIZE"] = [(3, size)]
    run = run_calculator(
        RectTransformationCalculator,
        feeds,
        outputs=[0],
        options=RectTransformationCalculatorOptions(**options),
    )
    (packet,) = run.outputs[0]
    assert packet.timestamp == 3
    return packet.payload


def test_without_options_a_rect_stays_as_it_is():
    given = rect(rotation=0.5, rect_id=4)

    assert changed(given) == given


def test_a_rect_keeps_its_id_and_the_given_one_does_not_change():
    given = rect(rect_id=4)

    assert changed(given, scale_x=2).rect_id == 4
    assert given == rect(rect_id=4)


def test_an_upright_rect_moves_by_parts_of_its_sides():
    found = changed(rect(), shift_x=1, shift_y=-0.5)

    assert (found.x_center, found.y_center) == (0.75, 0.25)


def test_a_rotated_rect_moves_along_its_own_sides_in_pixels():
    found = changed(rect(rotation=math.pi / 2), shift_x=1)

    # 100 pixels down, of 200
    assert (found.x_center, found.y_center) == (pytest.approx(0.5), pytest.approx(1))


def test_a_new_rotation_moves_the_shift_but_is_not_written():
    found = changed(rect(), shift_x=1, rotation_degrees=90)

    assert (found.x_center, found.y_center) == (pytest.approx(0.5), pytest.approx(1))
    assert not found.HasField("rotation")
    assert changed(rect(rotation=0.25), shift_x=1, rotation=0.5).rotation == 0.25


def test_a_new_rotation_in_radians_is_added_to_that_of_the_rect():
    quarter = changed(rect(rotation=math.pi / 4), shift_x=1, rotation=math.pi / 4)

    assert quarter.y_center == pytest.approx(1)


def test_a_shift_comes_before_squares_and_scales():
    found = changed(rect(), shift_x=1, square_long=True, scale_x=2, scale_y=3)

    assert found.x_center == 0.75
    assert (found.width, found.height) == (0.5, 1.5)


@pytest.mark.parametrize(
    ("option", "width", "height"), [("square_long", 0.5, 1), ("square_short", 0.25, 0.5)]
)
def test_a_square_is_one_in_pixels(option, width, height):
    # sides of 200 x 100 and, for the short one, the same
    found = changed(rect(width=0.5, height=0.5), **{option: True})

    assert (found.width, found.height) == (width, height)


def test_a_list_keeps_its_order():
    found = changed([rect(), rect(x=0.25)], tag="NORM_RECTS", scale_x=2)

    assert [(one.x_center, one.width) for one in found] == [(0.5, 0.5), (0.25, 0.5)]


def test_numbers_in_pixels_are_truncated():
    found = changed(
        Rect(x_center=-10, y_center=10, width=7, height=5), tag="RECT", shift_x=0.5, shift_y=0.5, scale_x=0.5
    )

    assert found == Rect(x_center=-6, y_center=12, width=3, height=5)


def test_a_rotated_rect_in_pixels_moves_along_its_sides_and_becomes_a_square():
    given = [Rect(x_center=10, y_center=10, width=8, height=4, rotation=math.pi / 2)]

    (found,) = changed(given, tag="RECTS", shift_y=1, square_short=True)

    assert (found.x_center, found.y_center, found.width, found.height) == (6, 10, 4, 4)


def test_a_rect_without_a_size_gives_no_packet():
    run = run_calculator(
        RectTransformationCalculator, {"NORM_RECT": [(1, rect())], "IMAGE_SIZE": []}, outputs=[0]
    )

    assert run.outputs[0] == []


@pytest.mark.parametrize(
    ("one", "other"), [("rotation", "rotation_degrees"), ("square_long", "square_short")]
)
def test_two_that_exclude_each_other_are_refused(one, other):
    with pytest.raises(GraphRunError, match=f"{one} and {other} are both set, but a rect can have only one"):
        changed(rect(), **{one: 1, other: 1})


def test_a_rect_beyond_32_bits_is_refused():
    with pytest.raises(GraphRunError, match="but a RECT has integers of 32 bits"):
        changed(Rect(x_center=0, y_center=0, width=7, height=5), tag="RECT", scale_x=1e9)


def test_one_input_of_rects_is_needed():
    with pytest.raises(GraphConfigError, match="there are NORM_RECT and RECT of the input"):
        run_calculator(
            RectTransformationCalculator, {"NORM_RECT": [], "RECT": [], "IMAGE_SIZE": []}, outputs=[0]
        )


def test_the_order_of_factors_is_that_of_the_reference():
    f = np.float32
    given = rect(x=0.1, width=0.3, rotation=0.7)

    found = changed(given, size=(641, 479), shift_x=0.123, shift_y=-0.456)

    cos, sin = f(math.cos(f(0.7))), f(math.sin(f(0.7)))
    along, across = f(641) * f(0.3) * f(0.123), f(479) * f(0.5) * f(-0.456)
    assert found.x_center == float(f(0.1) + (along * cos - across * sin) / f(641))
