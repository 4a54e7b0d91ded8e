"""Calculators of graphs for faces and irises: drawings, finer landmarks, distances."""

from __future__ import annotations

import math

import numpy as np
import pytest

from penstock.errors import GraphConfigError, GraphRunError
from penstock_formats import NormalizedLandmarkList
from penstock_testing import run_calculator
from penstock_vision.drawing.face_landmarks_to_render_data import FaceLandmarksToRenderDataCalculator
from penstock_vision.drawing.iris_to_render_data import IrisToRenderDataCalculator
from penstock_vision.landmarks.face_points import CONTOURS, LEFT_EYE, RIGHT_EYE
from penstock_vision.landmarks.update_face_landmarks import UpdateFaceLandmarksCalculator
from penstock_vision.messages.iris_to_depth_pb2 import IrisToDepthCalculatorOptions
from penstock_vision.messages.iris_to_render_data_pb2 import IrisToRenderDataCalculatorOptions
from penstock_vision.messages.landmarks_to_render_data_pb2 import LandmarksToRenderDataCalculatorOptions
from penstock_vision.space.iris_to_depth import IrisToDepthCalculator

SIZE = (640, 480)
#: Of both irises: centre, right, top, left, bottom.
LEFT = [(0.3, 0.4), (0.32, 0.4), (0.3, 0.37), (0.28, 0.4), (0.3, 0.42)]
RIGHT = [(0.7, 0.5), (0.73, 0.5), (0.7, 0.46), (0.66, 0.5), (0.7, 0.55)]
IRISES = np.array([*LEFT, *RIGHT], np.float32)


def landmarks(points, **more):
    return NormalizedLandmarkList(landmark=[{"x": x, "y": y, **more} for x, y in np.asarray(points, float)])


# --- FaceLandmarksToRenderDataCalculator -------------------------------------------------------------


@pytest.mark.parametrize("count", [468, 478])
def test_a_face_is_drawn_along_its_lines_as_far_as_it_has_them(count):
    points = np.random.default_rng(1).random((count, 2)).astype(np.float32)
    options = LandmarksToRenderDataCalculatorOptions(
        thickness=3, visualize_landmark_depth=False, landmark_connections=[0, 9], connection_color={"g": 9}
    )

    run = run_calculator(
        FaceLandmarksToRenderDataCalculator,
        {"NORM_LANDMARKS": [(1, landmarks(points))]},
        outputs=["RENDER_DATA"],
        options=options,
    )

    found = run.outputs["RENDER_DATA"][0].payload.render_annotations
    lines = [one.line for one in found if one.HasField("line")]
    wanted = [(a, b) for a, b in CONTOURS if a < count and b < count]
    assert len(wanted) == (132 if count == 478 else 124)
    assert [(line.x_start, line.y_start, line.x_end, line.y_end) for line in lines] == [
        (*points[a].tolist(), *points[b].tolist()) for a, b in wanted
    ]
    assert len(found) == len(lines) + count
    assert (found[0].thickness, found[0].color.g) == (3, 9)


# --- UpdateFaceLandmarksCalculator -------------------------------------------------------------------


def updated(face, eyes):
    feeds = {"FACE_LANDMARKS": face, "NEW_EYE_LANDMARKS": eyes}
    run = run_calculator(
        UpdateFaceLandmarksCalculator,
        {tag: [] if one is None else [(1, one)] for tag, one in feeds.items()},
        outputs=["UPDATED_FACE_LANDMARKS"],
    )
    return [packet.payload for packet in run.outputs["UPDATED_FACE_LANDMARKS"]]


def test_landmarks_of_the_eyes_replace_those_of_the_face():
    face = landmarks(np.zeros((468, 2)), presence=0.5)
    eyes = landmarks([(i + 1, 2 * i) for i in range(142)], z=7, visibility=0.25)

    (found,) = updated(face, eyes)

    changed = {index: i for i, index in enumerate((*LEFT_EYE, *RIGHT_EYE))}
    for index, point in enumerate(found.landmark):
        i = changed.get(index)
        numbers = (point.x, point.y, point.z, point.visibility, point.presence)
        assert numbers == ((0, 0, 0, 0, 0.5) if i is None else (i + 1, 2 * i, 7, 0.25, 0.5))
        assert point.HasField("visibility") == (i is not None)
    assert face.landmark[33].x == 0


def test_eyes_alone_and_a_face_alone_give_nothing():
    assert updated(NormalizedLandmarkList(), None) == updated(None, NormalizedLandmarkList()) == []


@pytest.mark.parametrize(
    ("face", "eyes", "wanted"), [(467, 142, "467 landmarks, but must hold 468"), (468, 71, "71 .* 142")]
)
def test_other_numbers_of_landmarks_are_refused(face, eyes, wanted):
    with pytest.raises(GraphRunError, match=wanted):
        updated(landmarks(np.zeros((face, 2))), landmarks(np.zeros((eyes, 2))))


# --- IrisToRenderDataCalculator ----------------------------------------------------------------------


def drawing(points=IRISES, size=SIZE, depths=(None, None), **options):
    feeds = {"IRIS": [(1, landmarks(points))], "IMAGE_SIZE": [(1, size)] if size else []}
    for tag, depth in zip(("LEFT_IRIS_DEPTH_MM", "RIGHT_IRIS_DEPTH_MM"), depths, strict=True):
        feeds[tag] = [] if depth is None else [(1, depth)]
    run = run_calculator(
        IrisToRenderDataCalculator,
        feeds,
        outputs=["RENDER_DATA"],
        options=IrisToRenderDataCalculatorOptions(**options),
    )
    return list(run.outputs["RENDER_DATA"][0].payload.render_annotations)


def diameter(first):
    _, right, top, left, bottom = IRISES[first : first + 5].astype(float) * SIZE
    return (math.dist(left, right) + math.dist(top, bottom)) / 2


def test_each_iris_is_an_oval_with_its_points():
    found = drawing(oval_color={"r": 1}, oval_thickness=4, landmark_color={"b": 2}, landmark_thickness=3)

    assert len(found) == 12
    for i, order in ((0, (0, 2, 4, 3, 1)), (5, (5, 7, 9, 6, 8))):
        oval, *points = found[i // 5 * 6 : i // 5 * 6 + 6]
        sides, radius = oval.oval.rectangle, diameter(i) / 2
        x, y = IRISES[i]
        assert (oval.scene_tag, oval.color.r, oval.thickness, sides.normalized) == ("OVAL", 1, 4, True)
        edges = [sides.left, sides.right, sides.top, sides.bottom]
        wanted = [x - radius / 640, x + radius / 640, y - radius / 480, y + radius / 480]
        assert edges == pytest.approx(wanted, abs=1e-6)
        assert [(one.point.x, one.point.y) for one in points] == [tuple(IRISES[k].tolist()) for k in order]
        assert {(one.color.b, one.thickness, one.point.normalized) for one in points} == {(2, 3, True)}


@pytest.mark.parametrize(("location", "first"), [("TOP_LEFT", 7 + 32), ("BOTTOM_LEFT", 7 + 480 - 64)])
def test_depths_are_written_in_whole_centimetres(location, first):
    options = {"font_height_px": 21, "vertical_offset_px": 7, "horizontal_offset_px": 5, "font_face": 2}
    found = drawing(depths=(534.9, 525.0), location=location, **options)

    texts = [one.text for one in found[12:]]
    assert [text.display_text for text in texts] == ["Left : :53 cm", "Right : :53 cm"]
    assert [text.baseline for text in texts] == [first, first + 32]
    assert {(text.left, text.font_height, text.font_face) for text in texts} == {(5, 21, 2)}
    assert {(one.thickness, one.color.r, one.color.g) for one in found[12:]} == {(5, 255, 0)}


def test_a_depth_that_is_infinite_is_not_written():
    found = drawing(depths=(math.inf, 100.0))

    assert [one.text.display_text for one in found[12:]] == ["Right : :10 cm"]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"points": IRISES[:5]}, "holds 5 landmarks, but must hold 10"),
        ({"size": ()}, "but an image's size is"),
    ],
)
def test_irises_that_cannot_be_drawn_are_refused(given, words):
    with pytest.raises(GraphRunError, match=words):
        drawing(**given)


# --- IrisToDepthCalculator ---------------------------------------------------------------------------


class Properties:
    """What an ImageFilePropertiesCalculator found."""

    focal_length_pixels = 1000.0


def depths(series, sides, outputs=("LEFT_IRIS_DEPTH_MM", "RIGHT_IRIS_DEPTH_MM"), **options):
    run = run_calculator(
        IrisToDepthCalculator,
        {
            "IRIS": [(t, landmarks(points)) for t, points in enumerate(series)],
            "IMAGE_SIZE": [(t, SIZE) for t in range(len(series))],
        },
        outputs=list(outputs),
        side_packets=sides,
        options=IrisToDepthCalculatorOptions(**options),
    )
    return [[packet.payload for packet in run.outputs[tag]] for tag in outputs]


def distance(first, focal=1000.0):
    off = math.dist((320, 240), IRISES[first].astype(float) * SIZE)
    return 11.8 * math.hypot(focal, off) / diameter(first)


@pytest.mark.parametrize("sides", [{"FOCAL_LENGTH": 1000.0}, {"IMAGE_FILE_PROPERTIES": Properties()}])
def test_an_iris_is_as_far_as_its_size_says(sides):
    (left,), (right,) = depths([IRISES], sides)

    assert (left, right) == pytest.approx((distance(0), distance(5)), rel=1e-6)


def test_a_new_estimate_counts_a_tenth():
    other = IRISES * 2 - IRISES[0]  # twice as large around the left centre

    ((first, second, third),) = depths(
        [IRISES, other, IRISES], {"FOCAL_LENGTH": 1000.0}, ["LEFT_IRIS_DEPTH_MM"]
    )

    assert second == pytest.approx(0.9 * first + 0.1 * first / 2, rel=1e-6)
    assert third == pytest.approx(0.9 * second + 0.1 * first, rel=1e-6)


def test_after_an_iris_without_a_size_the_estimate_begins_again():
    point = np.tile(IRISES[0], (10, 1))

    ((nothing, again),) = depths([point, IRISES], {"FOCAL_LENGTH": 1000.0}, ["LEFT_IRIS_DEPTH_MM"])

    assert nothing == math.inf
    assert again == pytest.approx(distance(0), rel=1e-6)


@pytest.mark.parametrize("sides", [{}, {"FOCAL_LENGTH": 0.0}])
def test_without_a_focal_length_nothing_is_sent(sides):
    assert depths([IRISES], sides) == [[], []]


def test_the_options_say_which_landmark_is_what():
    swapped = IRISES[[5, 6, 7, 8, 9, 0, 1, 2, 3, 4]]
    numbers = {"center": 0, "top": 2, "bottom": 4, "left": 3, "right": 1}
    options = {f"left_iris_{part}_index": 5 + i for part, i in numbers.items()}
    options |= {f"right_iris_{part}_index": i for part, i in numbers.items()}

    assert depths([swapped], {"FOCAL_LENGTH": 9.0}, **options) == depths([IRISES], {"FOCAL_LENGTH": 9.0})


def test_focal_lengths_and_indices_that_do_not_fit_are_refused():
    both = {"FOCAL_LENGTH": 1.0, "IMAGE_FILE_PROPERTIES": Properties()}
    with pytest.raises(GraphConfigError, match="the focal length comes in one way only"):
        depths([], both)
    with pytest.raises(GraphRunError, match="is a 'str' without focal_length_pixels"):
        depths([], {"IMAGE_FILE_PROPERTIES": "none"})
    with pytest.raises(GraphRunError, match="an index of an iris is 10, but must be 0 to 9"):
        depths([IRISES], {"FOCAL_LENGTH": 1.0}, left_iris_top_index=10)
