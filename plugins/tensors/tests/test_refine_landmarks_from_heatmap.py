"""RefineLandmarksFromHeatmapCalculator: landmarks moved to where a heatmap sees them."""

from __future__ import annotations

import numpy as np
import pytest

from penstock.errors import GraphRunError, PenstockError
from penstock_formats import NormalizedLandmark, NormalizedLandmarkList, Tensor
from penstock_tensors.messages.refine_landmarks_from_heatmap_pb2 import (
    RefineLandmarksFromHeatmapCalculatorOptions,
)
from penstock_tensors.outputs.refine_landmarks_from_heatmap import RefineLandmarksFromHeatmapCalculator
from penstock_testing import run_calculator

#: A logit whose sigmoid is 0 in single precision, and one of 0.5.
NONE, HALF = -200.0, 0.0


def packets(landmarks, tensors, **options):
    inputs = {"NORM_LANDMARKS": landmarks, "TENSORS": tensors}
    return run_calculator(
        RefineLandmarksFromHeatmapCalculator,
        {tag: [] if one is None else [(3, one)] for tag, one in inputs.items()},
        outputs=["NORM_LANDMARKS"],
        options=RefineLandmarksFromHeatmapCalculatorOptions(**options),
    ).outputs["NORM_LANDMARKS"]


def points(*pairs, **fields):
    return NormalizedLandmarkList(landmark=[NormalizedLandmark(x=x, y=y, z=0.25, **fields) for x, y in pairs])


def heatmap(*spots, count=1, shape=(8, 16)):
    """Return a tensor of 8 rows and 16 columns; a spot is a row, a column, a landmark and a logit."""
    values = np.full((1, *shape, count), NONE, np.float32)
    for row, column, which, logit in spots:
        values[0, row, column, which] = logit
    return Tensor(values)


def refined(landmarks, tensor, **options):
    (packet,) = packets(landmarks, [tensor], **options)
    assert packet.timestamp == 3
    return packet.payload


def place(found, i=0):
    return found.landmark[i].x, found.landmark[i].y


def test_a_landmark_moves_to_the_weighted_average_of_the_pixels():
    spots = heatmap((3, 8, 0, HALF), (3, 10, 0, HALF), (5, 9, 0, HALF))

    found = refined(points((0.53, 0.44)), spots)

    assert place(found) == (np.float32(9) / 16, pytest.approx((3 + 3 + 5) / 3 / 8))
    assert found.landmark[0].z == 0.25


def test_sums_are_those_of_the_reference_row_by_row_in_single_precision():
    values = np.random.default_rng(2).normal(size=(1, 8, 16, 3)).astype(np.float32) + np.float32(1)
    given = points((0.5, 0.5), (0.05, 0.9), (0.99, 0.1))

    found = refined(given, Tensor(values), kernel_size=5)

    f32 = np.float32
    for i, landmark in enumerate(given.landmark):
        column, row = int(f32(landmark.x) * f32(16)), int(f32(landmark.y) * f32(8))
        total = across = down = f32(0)
        for r in range(max(0, row - 2), min(8, row + 3)):
            for c in range(max(0, column - 2), min(16, column + 3)):
                confidence = f32(1) / (f32(1) + np.exp(-values[0, r, c, i]))
                total += confidence
                across += f32(c) * confidence
                down += f32(r) * confidence
        assert place(found, i) == (across / f32(16) / total, down / f32(8) / total)


def test_each_landmark_has_its_own_channel():
    found = refined(points((0.5, 0.5), (0.5, 0.5)), heatmap((4, 7, 0, HALF), (4, 9, 1, HALF), count=2))

    assert [place(found, i)[0] for i in (0, 1)] == [7 / 16, 9 / 16]


@pytest.mark.parametrize(("size", "moves"), [(9, True), (8, False), (7, False)])
def test_how_far_the_square_reaches(size, moves):
    # the spot is four columns to the right; an even size is as the odd one below
    found = refined(points((0.5, 0.5)), heatmap((4, 12, 0, HALF)), kernel_size=size)

    assert place(found) == ((0.75 if moves else 0.5), 0.5)


def test_the_largest_square_is_the_heatmap():
    spots = heatmap((0, 0, 0, HALF), (7, 15, 0, HALF), (3, 2, 0, HALF))
    corners = [points((x, y)) for x in (0.0, 0.99) for y in (0.0, 0.99)]

    for given in corners:
        found = [place(refined(given, spots, kernel_size=size)) for size in (33, 1001, 2**31 - 1)]
        assert found[0] == found[1] == found[2]


@pytest.mark.parametrize(("least", "moves"), [(0.5, True), (0.51, False)])
def test_a_confidence_of_just_the_least_one_is_enough(least, moves):
    found = refined(points((0.5, 0.5)), heatmap((4, 9, 0, HALF)), min_confidence_to_refine=least)

    assert place(found)[0] == (9 / 16 if moves else 0.5)


def test_a_heatmap_that_sees_nothing_moves_nothing():
    assert place(refined(points((0.53, 0.44)), heatmap(), min_confidence_to_refine=0)) == place(
        points((0.53, 0.44))
    )


@pytest.mark.parametrize(
    "outside", [(1.0, 0.5), (0.5, 1.0), (-0.0626, 0.5), (0.5, -0.126), (float("nan"), 0.5)]
)
def test_a_landmark_outside_the_heatmap_stays(outside):
    spots = heatmap(*((row, column, 0, 5.0) for row in range(8) for column in range(16)))
    given = points(outside, presence=0.999)

    found = refined(given, spots, refine_presence=True)

    assert found.SerializeToString() == given.SerializeToString()


def test_a_landmark_less_than_a_pixel_before_the_heatmap_counts_as_its_first_pixel():
    found = refined(points((-0.06, -0.12)), heatmap((1, 2, 0, HALF)))

    assert place(found) == (2 / 16, 1 / 8)


@pytest.mark.parametrize("field", ["presence", "visibility"])
def test_a_field_is_lowered_to_the_greatest_confidence_if_asked(field):
    spots = heatmap((4, 8, 0, HALF))

    def after(before, **options):
        return getattr(refined(points((0.5, 0.5), **{field: before}), spots, **options).landmark[0], field)

    assert after(0.75, **{f"refine_{field}": True}) == 0.5
    assert after(0.25, **{f"refine_{field}": True}) == 0.25
    assert after(0.75) == 0.75


def test_a_field_that_is_not_there_is_not_made():
    found = refined(
        points((0.5, 0.5)), heatmap((4, 8, 0, HALF)), refine_presence=True, refine_visibility=True
    )

    assert [found.landmark[0].HasField(field) for field in ("presence", "visibility")] == [False, False]


def test_without_tensors_landmarks_are_forwarded_and_without_landmarks_nothing_is_sent():
    given = points((0.5, 0.5))

    (packet,) = packets(given, None)

    assert packet.payload is given
    assert packets(None, [heatmap()]) == []


def test_what_was_given_is_not_changed():
    given = points((0.5, 0.5))

    assert place(refined(given, heatmap((4, 9, 0, HALF)))) != (0.5, 0.5)
    assert given == points((0.5, 0.5))


@pytest.mark.parametrize(
    ("tensors", "words"),
    [
        ([], "empty list"),
        ([heatmap(count=2)], r"the heatmap of 1 landmarks is \(1, height, width, 1\)"),
        ([Tensor(np.zeros((2, 8, 16, 1), np.float32))], r"shape \(2, 8, 16, 1\)"),
        ([Tensor(np.zeros((1, 8, 16, 1), np.float16))], "float32"),
    ],
)
def test_other_heatmaps_are_refused(tensors, words):
    with pytest.raises(GraphRunError, match=words):
        packets(points((0.5, 0.5)), tensors)


def test_a_square_without_a_pixel_is_refused():
    with pytest.raises(PenstockError, match="kernel_size is 0"):
        packets(points((0.5, 0.5)), [heatmap()], kernel_size=0)


@pytest.mark.reference(
    "calculators/util/refine_landmarks_from_heatmap_calculator_test.cc",
    "RefineLandmarksFromHeatmapTest.Smoke",
    "RefineLandmarksFromHeatmapTest.MultiLayer",
    "RefineLandmarksFromHeatmapTest.KeepIfNotSure",
    "RefineLandmarksFromHeatmapTest.Border",
)
@pytest.mark.parametrize(
    ("places", "spots", "least", "expected"),
    [
        ([(0.5, 0.5)], [(1, 0, 0, 1)], 0.1, [(0, 1 / 3)]),
        ([(0.5, 0.5)] * 3, [(1, 0, i, 1) for i in range(3)], 0.1, [(0, 1 / 3)] * 3),
        ([(0.5, 0.5)] * 3, [(1, 0, i, 0) for i in range(3)], 0.6, [(0.5, 0.5)] * 3),
        (
            [(0, 0), (0.9, 0.9)],
            [(1, 0, 0, 0), (1, 2, 0, 0), (1, 0, 1, 0), (1, 2, 1, 0), (2, 2, 1, 0)],
            0.1,
            [(0, 1 / 3), (2 / 3, 1 / 6 + 2 / 6)],
        ),
    ],
)
def test_a_square_of_three_pixels_in_a_heatmap_of_nine(places, spots, least, expected):
    values = np.full((3, 3, len(places)), -1e16, np.float32)
    for row, column, which, logit in spots:
        values[row, column, which] = logit

    found = refined(
        points(*places),
        Tensor(values),
        kernel_size=3,
        min_confidence_to_refine=least,
        refine_presence=True,
        refine_visibility=True,
    )

    assert [place(found, i) for i in range(len(places))] == [
        pytest.approx(one, rel=4 * 2**-23, abs=0) for one in expected
    ]
