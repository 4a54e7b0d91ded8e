"""LandmarkProjectionCalculator and WorldLandmarkProjectionCalculator: from a crop to the image."""

from __future__ import annotations

import math

import pytest

from penstock.errors import GraphConfigError, GraphRunError
from penstock_formats import LandmarkList, NormalizedLandmarkList, NormalizedRect
from penstock_testing import run_calculator
from penstock_vision.landmarks.landmark_projection import LandmarkProjectionCalculator
from penstock_vision.landmarks.world_landmark_projection import WorldLandmarkProjectionCalculator
from penstock_vision.messages.landmark_projection_pb2 import LandmarkProjectionCalculatorOptions

CROP = NormalizedRect(x_center=0.5, y_center=0.25, width=0.5, height=0.25)
QUARTER = NormalizedRect(x_center=0.5, y_center=0.25, width=0.5, height=0.25, rotation=math.pi / 2)
MATRIX = (2, 0, 3, 0.5, 0, 4, 5, 0.25, 0, 0, 1, 0, 0, 0, 0, 1)


def landmarks(*points):
    return NormalizedLandmarkList(landmark=[dict(zip("xyz", point, strict=False)) for point in points])


def projected(given, *, options=None, **feeds):
    feeds = {tag: [] if payload is None else [(4, payload)] for tag, payload in feeds.items()}
    run = run_calculator(
        LandmarkProjectionCalculator,
        {"NORM_LANDMARKS": [(4, given)], **feeds},
        outputs=["NORM_LANDMARKS"],
        options=options,
    )
    return [packet.payload for packet in run.outputs["NORM_LANDMARKS"]]


def numbers(found):
    return [pytest.approx((one.x, one.y, one.z)) for one in found.landmark]


def test_an_upright_crop_is_scaled_and_moved_and_z_is_scaled_as_x():
    (found,) = projected(landmarks((0, 0, 1), (1, 1, 2)), NORM_RECT=CROP)

    assert numbers(found) == [(0.25, 0.125, 0.5), (0.75, 0.375, 1)]


def test_a_rotated_crop_is_rotated_in_fractions_of_the_image_without_regard_to_its_sides():
    (found,) = projected(landmarks((1, 0.5), (0.5, 1)), NORM_RECT=QUARTER)

    # half the crop to the right becomes half of it down, in parts of its height; and down becomes left
    assert numbers(found) == [(0.5, 0.375, 0), (0.25, 0.25, 0)]


def test_with_the_size_of_the_image_it_is_rotated_in_pixels():
    (found,) = projected(landmarks((1, 0.5), (0.5, 1)), NORM_RECT=QUARTER, IMAGE_DIMENSIONS=(400, 200))

    # 100 pixels to the right become 100 down, half the height; 25 pixels down become 25 to the left
    assert numbers(found) == [(0.5, 0.75, 0), (0.4375, 0.25, 0)]


def test_with_the_size_of_the_image_z_is_scaled_by_the_length_of_the_upper_edge():
    (upright,) = projected(landmarks((0, 0, 1)), NORM_RECT=CROP, IMAGE_DIMENSIONS=(400, 200))
    (turned,) = projected(landmarks((0, 0, 1)), NORM_RECT=QUARTER, IMAGE_DIMENSIONS=(400, 200))

    # 200 pixels: along the width of the image, then along its height
    assert (upright.landmark[0].z, turned.landmark[0].z) == (0.5, pytest.approx(1))


def test_the_rotation_can_be_ignored():
    options = LandmarkProjectionCalculatorOptions(ignore_rotation=True)
    given = landmarks((1, 0.5, 1))

    for more in ({}, {"IMAGE_DIMENSIONS": (400, 200)}):
        upright = projected(given, NORM_RECT=CROP, **more)
        assert projected(given, NORM_RECT=QUARTER, options=options, **more) == upright


def test_a_matrix_maps_x_y_and_z():
    (found,) = projected(landmarks((1, 10, 100)), PROJECTION_MATRIX=MATRIX)

    assert numbers(found) == [(302.5, 540.25, 200)]


def test_visibility_and_presence_stay():
    given = NormalizedLandmarkList(landmark=[{"x": 1, "y": 1, "visibility": 0.5, "presence": 0.25}])

    for more in ({"NORM_RECT": CROP}, {"PROJECTION_MATRIX": MATRIX}):
        (found,) = projected(given, **more)
        assert (found.landmark[0].visibility, found.landmark[0].presence) == (0.5, 0.25)


@pytest.mark.parametrize(
    "feeds",
    [
        {"NORM_RECT": None},
        {"PROJECTION_MATRIX": None},
        {"NORM_RECT": CROP, "IMAGE_DIMENSIONS": None},
        {"NORM_RECT": None, "IMAGE_DIMENSIONS": (2, 2)},
    ],
)
def test_without_a_crop_nothing_is_sent(feeds):
    assert projected(landmarks((1, 1)), **feeds) == []


def test_each_input_has_its_output():
    run = run_calculator(
        LandmarkProjectionCalculator,
        {
            "NORM_LANDMARKS": [(1, landmarks((0.5, 0.5)))],
            "NORM_LANDMARKS:1": [(2, landmarks((0, 0)))],
            "NORM_RECT": [(1, CROP), (2, CROP)],
        },
        outputs=["NORM_LANDMARKS", "NORM_LANDMARKS:1"],
    )

    assert [packet.timestamp for packet in run.outputs["NORM_LANDMARKS"]] == [1]
    assert [packet.timestamp for packet in run.outputs["NORM_LANDMARKS:1"]] == [2]


def test_a_matrix_of_another_size_is_refused():
    with pytest.raises(GraphRunError, match="holds 3 numbers, but a matrix of 4x4 has 16"):
        projected(landmarks((1, 1)), PROJECTION_MATRIX=(1, 2, 3))


@pytest.mark.parametrize(
    ("feeds", "outputs", "message"),
    [
        (["NORM_LANDMARKS", "NORM_LANDMARKS:1", "NORM_RECT"], 1, "there are 2 inputs and 1 outputs"),
        (["NORM_LANDMARKS"], 1, "there are none of the inputs NORM_RECT, PROJECTION_MATRIX"),
        (["NORM_LANDMARKS", "NORM_RECT", "PROJECTION_MATRIX"], 1, "NORM_RECT and PROJECTION_MATRIX of the"),
        (
            ["NORM_LANDMARKS", "PROJECTION_MATRIX", "IMAGE_DIMENSIONS"],
            1,
            "IMAGE_DIMENSIONS is connected, but only counts with NORM_RECT",
        ),
    ],
)
def test_ports_that_do_not_fit_are_refused(feeds, outputs, message):
    with pytest.raises(GraphConfigError, match=message):
        run_calculator(
            LandmarkProjectionCalculator, {tag: [] for tag in feeds}, outputs=["NORM_LANDMARKS"][:outputs]
        )


def world(given, *rects):
    feeds = {"LANDMARKS": [(4, given)]}
    if rects:
        feeds["NORM_RECT"] = [(4, rect) for rect in rects if rect is not None]
    run = run_calculator(WorldLandmarkProjectionCalculator, feeds, outputs=["LANDMARKS"])
    return [packet.payload for packet in run.outputs["LANDMARKS"]]


def test_landmarks_in_metres_are_only_rotated():
    given = LandmarkList(landmark=[{"x": 2, "y": 1, "z": 3, "visibility": 0.5}])

    (found,) = world(given, QUARTER)

    (one,) = found.landmark
    assert (one.x, one.y, one.z, one.visibility) == (pytest.approx(-1), pytest.approx(2), 3, 0.5)


def test_landmarks_in_metres_without_a_crop_are_forwarded():
    given = LandmarkList(landmark=[{"x": 2}])

    assert world(given) == [given]


def test_landmarks_in_metres_need_the_crop_that_is_connected():
    assert world(LandmarkList(landmark=[{"x": 2}]), None) == []
