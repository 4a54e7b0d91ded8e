"""ColorMapCalculator: which colour each number gets."""

from __future__ import annotations

import cv2
import numpy as np
import pytest

from penstock.errors import GraphRunError
from penstock_formats import ImageFormat, ImageFrame, VideoHeader
from penstock_image.color_convert import ColorConvertCalculator
from penstock_image.messages.color_map_pb2 import ColorMapCalculatorOptions as Options
from penstock_image.painting.color_map import ColorMapCalculator
from penstock_testing import run_calculator

DEPTH = np.array([[0, 500, 1000], [1500, 2500, 60000]], np.uint16)


def run(array, kind=None, **options):
    return run_calculator(
        ColorMapCalculator,
        {0: [(7, ImageFrame(np.asarray(array), kind))]},
        outputs=[0],
        options=Options(**options),
    ).outputs[0]


def image(array, **options):
    (packet,) = run(array, **options)
    assert packet.timestamp == 7
    assert packet.payload.format is ImageFormat.SRGB
    return packet.payload.array


def grey(array, **options):
    (packet,) = run(array, color_map=Options.GRAY, **options)
    assert packet.payload.format is ImageFormat.GRAY8
    return packet.payload.array.tolist()


def test_the_range_of_the_options_goes_over_the_whole_map_and_values_outside_get_its_ends():
    assert grey(DEPTH, minimum=500, maximum=2500) == [[0, 0, 64], [128, 255, 255]]


def test_without_a_range_each_frame_has_its_own():
    assert grey(DEPTH[:, :2]) == [[0, 51], [153, 255]]
    assert grey(DEPTH[:, :2], minimum=-2500) == [[128, 153], [204, 255]]
    assert grey(DEPTH, maximum=1000) == [[0, 128, 255], [255, 255, 255]]


def test_what_is_missing_is_black_and_no_part_of_the_range():
    assert grey(DEPTH[:, :2], missing=0) == [[0, 0], [128, 255]]
    found = image(DEPTH, missing=0, minimum=500, maximum=2500)
    assert found[0, 0].tolist() == [0, 0, 0]
    assert found[0, 1].tolist() != [0, 0, 0]  # the first colour


@pytest.mark.parametrize(
    ("name", "opencv"),
    [("TURBO", cv2.COLORMAP_TURBO), ("VIRIDIS", cv2.COLORMAP_VIRIDIS), ("INFERNO", cv2.COLORMAP_INFERNO)],
)
def test_colours_are_those_of_opencv_in_the_order_red_green_blue(name, opencv):
    ramp = np.arange(256, dtype=np.uint8).reshape(16, 16)

    found = image(ramp, color_map=Options.ColorMap.Value(name), minimum=0, maximum=255)

    assert np.array_equal(found, cv2.applyColorMap(ramp, opencv)[:, :, ::-1])


def test_floats_that_are_not_finite_are_black():
    values = np.array([[np.nan, np.inf, -np.inf, -1, 1]], np.float32)

    assert grey(values) == [[0, 0, 0, 0, 255]]
    assert image(values)[0, :3].tolist() == [[0, 0, 0]] * 3


@pytest.mark.parametrize("value", [3.0, np.nan])
def test_a_frame_of_one_value_or_none_has_the_first_colour_or_is_black(value):
    found = grey(np.full((2, 2), value, np.float32))

    assert found == [[0, 0], [0, 0]]


def test_large_values_with_a_small_range_keep_their_steps():
    values = np.array([[2**23, 2**23 + 1, 2**23 + 2]], np.float32)

    assert grey(values) == [[0, 128, 255]]


def test_the_header_gets_the_new_format():
    header = VideoHeader(ImageFormat.GRAY16, 3, 2, 30.0)
    done = run_calculator(ColorMapCalculator, {0: [(7, ImageFrame(DEPTH))]}, outputs=[0], headers={0: header})

    assert done.headers[0].format is ImageFormat.SRGB


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"minimum": 5, "maximum": 5}, "minimum is 5 and maximum 5, but the first must be below the other"),
        ({"maximum": float("nan")}, "maximum is nan, but must be a finite number"),
        ({"missing": float("inf")}, "missing is inf, but must be a finite number"),
    ],
)
def test_a_range_that_is_none_is_refused(options, words):
    with pytest.raises(GraphRunError, match=words):
        run(DEPTH, **options)


def test_a_frame_that_has_colours_is_refused():
    with pytest.raises(
        GraphRunError,
        match="takes frames of GRAY8 or GRAY16 or VEC32F1; this one has colours already",
    ):
        run(np.zeros((2, 2, 3), np.uint8))


@pytest.mark.parametrize("array", [DEPTH, DEPTH.astype(np.float32)])
def test_errors_of_other_calculators_advise_it_for_frames_that_it_takes(array):
    with pytest.raises(GraphRunError, match="put a ColorMapCalculator before"):
        run_calculator(ColorConvertCalculator, {"GRAY_IN": [(0, ImageFrame(array))]}, outputs=["RGB_OUT"])
