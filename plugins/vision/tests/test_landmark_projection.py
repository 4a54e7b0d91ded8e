"""LandmarkProjectionCalculator and WorldLandmarkProjectionCalculator: from a crop to the image."""

from __future__ import annotations

import math

import numpy as np
import pytest

from penstock.errors import GraphConfigError, GraphRunError
from penstock.packs import default_registry
from penstock_formats import LandmarkList, NormalizedLandmarkList, NormalizedRect
from penstock_testing import run_calculator
from penstock_vision.geometry.image_size import ImageSize
from penstock_vision.geometry.region_matrix import region_matrix
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
    with pytest.raises(
        GraphRunError, match="holds 3 numbers, but the landmark projection's matrix of 4x4 has 16"
    ):
        projected(landmarks((1, 1)), PROJECTION_MATRIX=(1, 2, 3))


@pytest.mark.parametrize(
    ("feeds", "outputs", "message"),
    [
        (["NORM_LANDMARKS", "NORM_LANDMARKS:1", "NORM_RECT"], 1, "the projection has 2 inputs and 1 outputs"),
        (["NORM_LANDMARKS"], 1, "there are none of the input ports NORM_RECT, PROJECTION_MATRIX"),
        (["NORM_LANDMARKS", "NORM_RECT", "PROJECTION_MATRIX"], 1, "NORM_RECT and PROJECTION_MATRIX of the"),
        (
            ["NORM_LANDMARKS", "PROJECTION_MATRIX", "IMAGE_DIMENSIONS"],
            1,
            "IMAGE_DIMENSIONS of the projection is connected, but only counts with NORM_RECT",
        ),
    ],
)
def test_ports_that_do_not_fit_are_refused(feeds, outputs, message):
    with pytest.raises(GraphConfigError, match=message):
        run_calculator(
            LandmarkProjectionCalculator, {tag: [] for tag in feeds}, outputs=["NORM_LANDMARKS"][:outputs]
        )


# --- what MediaPipe's own tests ask for ---------------------------------------------------------------

WHOLE = NormalizedRect(x_center=0.5, y_center=0.5, width=1, height=1, rotation=0)
TALL = NormalizedRect(x_center=0.5, y_center=0.5, width=0.5, height=2, rotation=0)
TURNED = NormalizedRect(x_center=0.5, y_center=0.5, width=0.5, height=1, rotation=1.57079632679)
BELOW = ((0, 0, 1, 0), (0, 0, 0, 1))


def of_rows(*rows):
    return tuple(float(one) for row in (*rows, *BELOW) for one in row)


@pytest.mark.reference(
    "calculators/util/landmark_projection_calculator_test.cc",
    "LandmarkProjectionCalculatorTest.ProjectingWithDefaultRect",
    "LandmarkProjectionCalculatorTest.ProjectingWithCroppedRectForSquareImage",
    "LandmarkProjectionCalculatorTest.ProjectingWithIdentityMatrix",
    "LandmarkProjectionCalculatorTest.ProjectingWithCroppedRectMatrix",
    "LandmarkProjectionCalculatorTest.ProjectingWithScaleMatrix",
    "LandmarkProjectionCalculatorTest.ProjectingWithTranslateMatrix",
    "LandmarkProjectionCalculatorTest.ProjectingWithRotationMatrix",
)
@pytest.mark.parametrize(
    ("points", "feeds", "expected"),
    [
        ([(10, 20, -0.5)], {"NORM_RECT": WHOLE}, [(10, 20, -0.5)]),
        ([(1, 1, -0.5)], {"NORM_RECT": TALL}, [(0.75, 1.5, -0.25)]),
        ([(10, 20, -0.5)], {"PROJECTION_MATRIX": of_rows((1, 0, 0, 0), (0, 1, 0, 0))}, [(10, 20, -0.5)]),
        (
            [(1, 1, -0.5)],
            {
                "PROJECTION_MATRIX": tuple(
                    map(float, region_matrix(TALL, ImageSize(np.float32(1280), np.float32(720))))
                )
            },
            [(0.75, 1.5, -0.25)],
        ),
        (
            [(10, 20, -0.5), (5, 6, 7)],
            {"PROJECTION_MATRIX": of_rows((10, 0, 0, 0), (0, 100, 0, 0))},
            [(100, 2000, -5), (50, 600, 70)],
        ),
        ([(10, 20, -0.5)], {"PROJECTION_MATRIX": of_rows((1, 0, 0, 1), (0, 1, 0, 2))}, [(11, 22, -0.5)]),
        ([(4, 0, -0.5)], {"PROJECTION_MATRIX": of_rows((0, -1, 0, 0), (1, 0, 0, 0))}, [(0, 4, -0.5)]),
    ],
)
def test_landmarks_are_projected_to_the_last_bit(points, feeds, expected):
    assert projected(landmarks(*points), **feeds) == [landmarks(*expected)]


@pytest.mark.reference(
    "calculators/util/landmark_projection_calculator_test.cc",
    "LandmarkProjectionCalculatorTest.ProjectingMultipleListsWithDefaultRect",
)
def test_lists_of_several_inputs_go_through_the_whole_image_unchanged():
    lists = {"NORM_LANDMARKS:0": [(10, 20, -0.5)] * 3, "NORM_LANDMARKS:1": [(20, 30, 0.5)] * 3}
    feeds = {port: [(0, landmarks(*points))] for port, points in lists.items()}

    run = run_calculator(
        LandmarkProjectionCalculator, {**feeds, "NORM_RECT": [(0, WHOLE)]}, outputs=list(lists)
    )

    assert {port: [packet.payload for packet in found] for port, found in run.outputs.items()} == {
        port: [landmarks(*points)] for port, points in lists.items()
    }


@pytest.mark.reference(
    "calculators/util/landmark_projection_calculator_test.cc",
    "LandmarkProjectionCalculatorTest.ProjectingWithCroppedRectWithNoRotationForSquareImage",
    "LandmarkProjectionCalculatorTest.ProjectingWithCroppedRectWithRotationForSquareImage",
    "LandmarkProjectionCalculatorTest.ProjectingWithCroppedRectWithRotationForNonSquareImage",
)
@pytest.mark.parametrize(
    ("point", "rect", "size", "expected"),
    [
        ((1, 1, -0.5), TALL, (1, 1), (0.75, 1.5, -0.25)),
        ((0.5, 1, 0), TURNED, (1, 1), (0, 0.5, 0)),
        ((0.5, 1, 0), TURNED, (2, 1), (0.25, 0.5, 0)),
    ],
)
def test_a_turned_crop_of_an_image_whose_size_is_known(point, rect, size, expected):
    (found,) = projected(landmarks(point), NORM_RECT=rect, IMAGE_DIMENSIONS=size)

    ((x, y, z),) = ((one.x, one.y, one.z) for one in found.landmark)
    assert (x, y, z) == pytest.approx(expected, abs=1e-6)


@pytest.mark.reference(
    "calculators/util/landmark_projection_calculator_test.cc",
    "LandmarkProjectionCalculatorTest.HasCorrectRegistrationName",
)
def test_its_name_in_graphs_is_that_of_its_class():
    found = default_registry().find("calculator", "LandmarkProjectionCalculator")

    assert found is LandmarkProjectionCalculator


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


SEVERAL = [
    {"x": 1 + j, "y": 2 + j, "z": 3 + j, "presence": 0.5 + j, "visibility": 1.5 + j} for j in range(10)
]


@pytest.mark.reference(
    "calculators/util/world_landmark_projection_calculator_test.cc", "WorldLandmarkProjectionTest.Passes"
)
@pytest.mark.parametrize("given", [[], SEVERAL[:1], SEVERAL])
def test_landmarks_in_metres_of_any_number_stay_without_a_crop(given):
    assert world(LandmarkList(landmark=given)) == [LandmarkList(landmark=given)]
