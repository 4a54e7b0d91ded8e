"""Relative boxes and keypoints as plain numbers are those that protobuf sets and reads one by one."""

from __future__ import annotations

import math

import numpy as np
import pytest

from penstock_formats import LocationData
from penstock_formats.location_numbers import numbers_of, set_numbers


def one_by_one(numbers):
    made = LocationData(format=LocationData.RELATIVE_BOUNDING_BOX)
    box = made.relative_bounding_box
    box.xmin, box.ymin, box.width, box.height = numbers[:4]
    for x, y in zip(numbers[4::2], numbers[5::2], strict=True):
        made.relative_keypoints.add(x=x, y=y)
    return made


@pytest.mark.parametrize("keypoints", [0, 1, 6, 17])
def test_numbers_become_the_message_that_fields_make_and_come_back(keypoints):
    values = np.random.default_rng(keypoints).normal(size=4 + 2 * keypoints).astype(np.float32)
    values[1] = 0  # a field that is set to its default is present
    numbers = values.tolist()
    made = LocationData()
    set_numbers(made, numbers)
    assert made == one_by_one(numbers)
    assert made.relative_bounding_box.HasField("ymin")
    assert list(numbers_of(made)) == numbers


def test_infinities_and_no_number_go_through():
    made = LocationData()
    set_numbers(made, [math.inf, -math.inf, math.nan, 0.0])
    assert math.isnan(made.relative_bounding_box.width)
    assert numbers_of(made)[:2] == (math.inf, -math.inf)


@pytest.mark.parametrize(
    "text_fields",
    [
        {},
        {"format": LocationData.GLOBAL},
        {
            "format": LocationData.BOUNDING_BOX,
            "bounding_box": {"xmin": 1, "ymin": 2, "width": 3, "height": 4},
        },
        {"format": LocationData.RELATIVE_BOUNDING_BOX, "relative_bounding_box": {"xmin": 1.0, "ymin": 2.0}},
    ],
)
def test_other_locations_have_no_numbers(text_fields):
    assert numbers_of(LocationData(**text_fields)) is None


@pytest.mark.parametrize("field", ["keypoint_label", "score"])
def test_a_keypoint_with_more_than_a_place_has_no_numbers(field):
    made = one_by_one([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
    setattr(made.relative_keypoints[0], field, "nose" if field == "keypoint_label" else 0.5)
    assert numbers_of(made) is None


def test_other_fields_of_the_same_length_are_no_numbers():
    made = one_by_one([1.0, 2.0, 3.0, 4.0])
    made.relative_keypoints.add(x=5.0, score=0.5)
    assert made.ByteSize() == one_by_one([1.0, 2.0, 3.0, 4.0, 5.0, 6.0]).ByteSize()
    assert numbers_of(made) is None
