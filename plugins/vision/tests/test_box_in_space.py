"""Objectron's calculators: points in the image, the box in space, its rectangle.

There are no records of these: the reference's wheel does not have the models. So the box is made here, and
must be found again.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

from penstock.errors import GraphConfigError, GraphRunError
from penstock_formats import FrameAnnotation, NormalizedLandmarkList
from penstock_testing import run_calculator
from penstock_vision.messages.frame_annotation_to_rect_pb2 import FrameAnnotationToRectCalculatorOptions
from penstock_vision.messages.lift_2d_frame_annotation_to_3d_pb2 import (
    Lift2DFrameAnnotationTo3DCalculatorOptions,
)
from penstock_vision.rects.frame_annotation_to_rect import FrameAnnotationToRectCalculator
from penstock_vision.space.box_in_space import Camera, fit_box, lift
from penstock_vision.space.landmarks_to_frame_annotation import LandmarksToFrameAnnotationCalculator
from penstock_vision.space.lift_2d_frame_annotation_to_3d import Lift2DFrameAnnotationTo3DCalculator

CAMERA = Camera(2.0, 1.5, 0.1, -0.05)
SIDES = np.array([1.0, 2.0, 0.5])
CENTER = np.array([0.3, -0.2, -6.0])


def turned(yaw=0.4, pitch=-0.3):
    """Return a rotation around y, then around x."""
    cos, sin = math.cos(yaw), math.sin(yaw)
    around_y = np.array([[cos, 0, sin], [0, 1, 0], [-sin, 0, cos]])
    cos, sin = math.cos(pitch), math.sin(pitch)
    return np.array([[1, 0, 0], [0, cos, -sin], [0, sin, cos]]) @ around_y


def box(rotation, center=CENTER):
    """Return the nine points of a box in space: x is the slowest of the corners, z the fastest."""
    corners = [(x, y, z) for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)]
    return (np.array([(0, 0, 0), *corners]) * SIDES) @ rotation.T + center


def image(points, camera=CAMERA):
    """Return points in fractions of the image: the camera looks along -z, y is down in the image."""
    x = -camera.focal_x * points[:, 0] / points[:, 2] - camera.center_x
    y = -camera.focal_y * points[:, 1] / points[:, 2] - camera.center_y
    return np.column_stack([(x + 1) / 2, (1 - y) / 2])


def annotation(*lists):
    objects = [{"keypoints": [{"point_2d": {"x": x, "y": y}} for x, y in points]} for points in lists]
    return FrameAnnotation(annotations=objects)


def test_points_in_space_are_found_up_to_a_factor():
    points = box(turned())

    found = lift(image(points).astype(np.float32), CAMERA)

    assert found / found[0, 2] == pytest.approx(points / points[0, 2], abs=1e-4)
    assert found[0, 2] < 0


def test_a_box_is_found_again():
    rotation = turned()

    found = fit_box(box(rotation).astype(np.float32))

    assert found.rotation == pytest.approx(rotation, abs=1e-5)
    assert found.translation == pytest.approx(CENTER, abs=1e-5)
    assert found.scale == pytest.approx(SIDES, abs=1e-5)


def test_the_sides_are_means_of_four_edges_and_the_map_is_not_forced_to_be_a_rotation():
    points = box(np.eye(3), np.zeros(3))
    points[5:, 0] += [0.25, 0.5, 0.75, 0.5]  # the four edges along x: 1.25, 1.5, 1.75, 1.5

    found = fit_box(points.astype(np.float32))

    assert found.scale[0] == pytest.approx(
        np.mean([np.linalg.norm(points[i + 4] - points[i]) for i in range(1, 5)])
    )
    assert np.linalg.det(found.rotation) == pytest.approx(1, abs=0.2)


def lifted(frame, at=123, **options):
    run = run_calculator(
        Lift2DFrameAnnotationTo3DCalculator,
        {"FRAME_ANNOTATION": [(at, frame)]},
        outputs=["LIFTED_FRAME_ANNOTATION"],
        options=Lift2DFrameAnnotationTo3DCalculatorOptions(**options),
    )
    (packet,) = run.outputs["LIFTED_FRAME_ANNOTATION"]
    return packet.payload


OF_CAMERA = {
    "normalized_focal_x": CAMERA.focal_x,
    "normalized_focal_y": CAMERA.focal_y,
    "normalized_principal_point_x": CAMERA.center_x,
    "normalized_principal_point_y": CAMERA.center_y,
}


def test_an_object_gets_its_box_its_points_and_the_time():
    points = box(turned())

    (found,) = (frame := lifted(annotation(image(points)), **OF_CAMERA)).annotations

    factor = found.translation[2] / CENTER[2]
    assert list(found.rotation) == pytest.approx(turned().ravel(), abs=1e-3)
    assert np.array(found.scale) / factor == pytest.approx(SIDES, abs=1e-3)
    in_space = [(one.point_3d.x, one.point_3d.y, one.point_3d.z) for one in found.keypoints]
    assert np.array(in_space) / factor == pytest.approx(points, abs=1e-2)
    assert found.keypoints[1].point_2d.x == pytest.approx(image(points)[1, 0])
    assert frame.timestamp == 123


def test_without_options_the_focal_lengths_are_one():
    camera = Camera(1, 1, 0, 0)

    (found,) = lifted(annotation(image(box(turned()), camera))).annotations

    assert list(found.rotation) == pytest.approx(turned().ravel(), abs=1e-3)


def test_every_object_of_the_process_has_an_id_of_its_own():
    points = image(box(turned()))

    frames = [lifted(annotation(points, points), **OF_CAMERA) for _ in range(2)]

    ids = [one.object_id for frame in frames for one in frame.annotations]
    assert ids == list(range(ids[0], ids[0] + 4))
    assert ids[0] > 0


def test_a_given_frame_does_not_change():
    frame = annotation(image(box(turned())))
    before = frame.SerializeToString()

    lifted(frame)

    assert frame.SerializeToString() == before


def test_an_object_without_nine_points_is_refused():
    with pytest.raises(GraphRunError, match="holds an annotation with 8 points, but a box has 9"):
        lifted(annotation([(0, 0)] * 8))


def test_points_that_are_no_numbers_are_refused():
    with pytest.raises(GraphRunError, match="from which no box can be lifted to 3D"):
        lifted(annotation([(math.nan, 0)] * 9))


def of_landmarks(**feeds):
    run = run_calculator(
        LandmarksToFrameAnnotationCalculator,
        {tag: [] if payload is None else [(2, payload)] for tag, payload in feeds.items()},
        outputs=["FRAME_ANNOTATION"],
    )
    return [packet.payload for packet in run.outputs["FRAME_ANNOTATION"]]


def test_each_list_of_landmarks_becomes_an_object():
    lists = [
        NormalizedLandmarkList(landmark=[{"x": 0.25, "y": 0.5, "z": 9, "visibility": 1}]),
        NormalizedLandmarkList(),
    ]

    assert of_landmarks(MULTI_LANDMARKS=lists) == [annotation([(0.25, 0.5)], [])]


def test_a_list_of_its_own_is_the_first_object():
    one = NormalizedLandmarkList(landmark=[{"x": 1}])
    several = [NormalizedLandmarkList(landmark=[{"x": 2}])]

    assert of_landmarks(LANDMARKS=one, MULTI_LANDMARKS=several) == [annotation([(1, 0)], [(2, 0)])]
    assert of_landmarks(LANDMARKS=None, MULTI_LANDMARKS=[]) == [FrameAnnotation()]


def test_landmarks_are_needed():
    with pytest.raises(GraphConfigError, match="made of the inputs LANDMARKS and MULTI_LANDMARKS, but"):
        of_landmarks()


def tilted(degrees):
    """Return the rotation of an object that is seen under an angle from the top."""
    cos, sin = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    return [1, 0, 0, 0, sin, -cos, 0, cos, sin]


def rects(*frames, points=((0.25, 0.5), (0.75, 0.625)), translation=(0, 0, -5), **options):
    """Return the rects of frames; each frame is a list of rotations."""
    made = []
    for rotations in frames:
        frame = annotation(*[points for _ in rotations])
        for one, rotation in zip(frame.annotations, rotations, strict=True):
            one.rotation[:], one.translation[:] = rotation, translation
        made.append(frame)
    run = run_calculator(
        FrameAnnotationToRectCalculator,
        {"FRAME_ANNOTATION": list(enumerate(made))},
        outputs=["NORM_RECTS"],
        options=FrameAnnotationToRectCalculatorOptions(**options),
    )
    return [packet.payload for packet in run.outputs["NORM_RECTS"]]


def test_a_rect_is_around_the_points_of_the_object():
    ((found,),) = rects([tilted(90)])

    assert (found.x_center, found.y_center, found.width, found.height) == (0.5, 0.5625, 0.5, 0.125)


def test_the_greatest_values_are_searched_from_the_smallest_number_above_zero():
    ((found,),) = rects([tilted(90)], points=[(-1, -2), (-0.5, -1)])

    assert (found.x_center, found.y_center, found.width, found.height) == (-0.5, -1, 1, 2)


def test_an_object_that_stands_is_not_turned():
    ((found,),) = rects([tilted(90)])

    assert found.rotation == pytest.approx(0, abs=1e-6)


def test_an_object_that_leans_to_the_side_is_turned_back():
    lean = math.radians(30)
    cos, sin = math.cos(lean), math.sin(lean)

    ((found,),) = rects([[cos, sin, 0, -sin, cos, 0, 0, 0, 1]])

    # its y axis points to the upper right, at 60 degrees
    assert found.rotation == pytest.approx(lean, abs=1e-6)


def upright_axis(found):
    """Return which axis of a tilted object is upright: z of it points down in the image, y up."""
    return "y" if abs(found.rotation) < 1 else "z"


def test_what_is_seen_from_above_changes_at_two_thresholds():
    angles = [40.5, 39.5, 40.5, 41.5, 40.5]

    found = rects(*[[tilted(angle)] for angle in angles])

    assert [upright_axis(one) for (one,) in found] == ["y", "z", "z", "y", "y"]


def test_the_object_before_decides_within_a_frame_too():
    (found,) = rects([tilted(39.5), tilted(40.5)])

    assert [upright_axis(one) for one in found] == ["z", "z"]


def test_thresholds_can_be_set():
    ((found,),) = rects([tilted(50)], off_threshold=60, on_threshold=60)

    assert upright_axis(found) == "z"


def test_a_map_that_is_no_rotation_counts_as_seen_from_the_side():
    ((found,),) = rects([[1, 0, 0, 0, 1, 0, 0, 1.5, 1]])

    assert upright_axis(found) == "y"


def test_thresholds_the_wrong_way_round_are_refused():
    with pytest.raises(GraphRunError, match="off_threshold is 50 and on_threshold 41, but for a rect the"):
        rects([tilted(0)], off_threshold=50)


def test_an_object_without_a_box_is_refused():
    with pytest.raises(GraphRunError, match="the rotation of an object has 0 numbers, but 9 are needed"):
        rects([[]])
