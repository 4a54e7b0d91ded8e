"""What differs between two payloads, in words and as a number."""

from __future__ import annotations

import math

import numpy as np
import pytest

from penstock_formats import ImageFormat, ImageFrame, Matrix, PayloadDifference, payload_difference
from penstock_formats.messages.color_pb2 import Color

GREY = np.zeros((2, 3), np.uint8)
BRIGHT = GREY.copy()
BRIGHT[1, 2] = 255


@pytest.mark.parametrize(
    ("one", "other", "words", "largest"),
    [
        (1, 3, "1 and 3", 2),
        (1.5, 1.0, "1.5 and 1.0", 0.5),
        (1.0, math.nan, "1.0 and nan", None),
        (1, 1.0, "int and float", None),
        (True, False, "True and False", None),
        ("a" * 80, "b", f"'{'a' * 59}... and 'b'", None),
        (GREY, BRIGHT, "1 of 6 elements differ, first at (1, 2): 0 and 255", 255),
        (GREY, GREY[:1], "(2, 3) uint8 and (1, 3) uint8", None),
        (
            Matrix(np.zeros((1, 2), np.float32)),
            Matrix(np.ones((1, 2), np.float32)),
            "2 of 2 elements differ, first at (0, 0): 0.0 and 1.0",
            1,
        ),
        (Color(r=1), Color(r=2), "r: 1 and r: 2", None),
    ],
)
def test_a_difference_has_words_and_where_it_can_a_number(one, other, words, largest):
    found = payload_difference(one, other)

    assert found is not None
    assert found.words.startswith(words)
    assert found.largest == largest


@pytest.mark.parametrize(
    ("one", "other", "tolerance"),
    [
        (1, 1, 0),
        (1, 3, 2),
        (math.nan, math.nan, 0),
        (np.array([1.0, math.nan]), np.array([1.0, math.nan]), 0),
        (GREY, BRIGHT, 255),
        (np.array([1, 250], np.uint8), np.array([2, 251], np.uint8), 1),
        ([1, {"a": 2}], [1, {"a": 2}], 0),
        (Color(r=1), Color(r=1), 0),
    ],
)
def test_what_is_equal_or_near_enough_gives_none(one, other, tolerance):
    assert payload_difference(one, other, tolerance) is None


def test_images_of_other_formats_differ():
    grey = ImageFrame(GREY, ImageFormat.GRAY8)
    rgb = ImageFrame(np.zeros((2, 3, 3), np.uint8), ImageFormat.SRGB)

    assert payload_difference(grey, rgb) == PayloadDifference("images of format GRAY8 and SRGB")
