"""The custom operations of the face model, against formulas written in another way."""

from __future__ import annotations

import math
import os
import zipfile
from pathlib import Path

import numpy as np
import pytest

from penstock.errors import InvalidArgumentError
from penstock_tensors import Model, RunSettings, load_model, standard_operations
from penstock_tensors.models.float_math import atan2f

RANDOM = np.random.default_rng(3)


def operation(name, **attributes):
    return standard_operations().find(name, 2)(attributes)


SQUARE = {
    "subset_idxs": [0, 1, 2, 3],
    "left_rotation_idx": 0,
    "right_rotation_idx": 1,
    "target_rotation_radians": 0.0,
    "scale_x": 2.0,
    "scale_y": 2.0,
    "output_width": 10,
    "output_height": 20,
}


def test_the_matrix_takes_the_middle_of_the_patch_to_the_middle_of_the_landmarks():
    points = np.array([[[10, 10, 5], [30, 10, 5], [30, 50, 5], [10, 50, 5]]], np.float32)

    (matrix,) = operation("Landmarks2TransformMatrix", **SQUARE)([points])

    assert matrix.shape == (1, 4, 4)
    assert (matrix[0] @ [5, 10, 0, 1])[:2] == pytest.approx([20, 30])
    assert (matrix[0] @ [0, 0, 0, 1])[:2] == pytest.approx([0, -10])  # twice the box, around its middle


def test_the_matrix_turns_the_patch_as_the_two_landmarks_lie():
    angle = 0.7
    turn = np.array([[math.cos(angle), -math.sin(angle)], [math.sin(angle), math.cos(angle)]])
    box = np.array([[-10, -20], [10, -20], [10, 20], [-10, 20]]) @ turn.T + (100, 60)
    points = np.concatenate([box, np.zeros((4, 1))], axis=1)[None].astype(np.float32)

    (matrix,) = operation("Landmarks2TransformMatrix", **{**SQUARE, "scale_x": 1.0, "scale_y": 1.0})([points])

    for patch, point in zip([(0, 0), (10, 0), (10, 20), (0, 20)], box, strict=True):
        assert (matrix[0] @ (*patch, 0, 1))[:2] == pytest.approx(point, abs=1e-4)


def test_a_patch_is_interpolated_and_zero_outside():
    data = RANDOM.normal(size=(1, 6, 7, 2)).astype(np.float32)
    matrix = np.eye(4, dtype=np.float32)
    matrix[0, 3], matrix[1, 3] = 0.25, 0.5

    (made,) = operation("TransformTensorBilinear", output_width=8, output_height=6)([data, matrix[None]])

    assert made.shape == (1, 6, 8, 2)
    upper = data[0, 2, 3] * 0.75 + data[0, 2, 4] * 0.25
    lower = data[0, 3, 3] * 0.75 + data[0, 3, 4] * 0.25
    assert made[0, 2, 3] == pytest.approx((upper + lower) / 2, abs=1e-6)
    assert made[0, 0, 0] == pytest.approx(
        ((data[0, 0, 0] * 0.75 + data[0, 0, 1] * 0.25) + (data[0, 1, 0] * 0.75 + data[0, 1, 1] * 0.25)) / 2
    )
    assert not made[0, 5].any()  # row 5.5 of 6 rows
    assert not made[0, :, 6:].any()


def test_the_identity_gives_the_tensor_itself():
    data = RANDOM.normal(size=(1, 5, 4, 3)).astype(np.float32)

    (made,) = operation("TransformTensorBilinear", output_width=4, output_height=5)(
        [data, np.eye(4, dtype=np.float32)[None]]
    )

    assert np.array_equal(made, data)


@pytest.mark.parametrize("size", [2, 3])
def test_landmarks_are_moved_and_their_depth_stays(size):
    points = RANDOM.normal(size=(1, 5, size)).astype(np.float32)
    before = points.copy()
    matrix = RANDOM.normal(size=(1, 4, 4)).astype(np.float32)

    (made,) = operation("TransformLandmarks")([points, matrix])

    for own, old in zip(made[0], points[0], strict=True):
        assert own[0] == pytest.approx(matrix[0, 0, :2] @ old[:2] + matrix[0, 0, 3], abs=1e-5)
        assert own[1] == pytest.approx(matrix[0, 1, :2] @ old[:2] + matrix[0, 1, 3], abs=1e-5)
        assert np.array_equal(own[2:], old[2:])
    assert np.array_equal(points, before)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"left_rotation_idx": -1}, "left_rotation_idx -1, but needs 0 or more"),
        ({"scale_x": 0.0}, "scale_x 0, but needs one above 0"),
        ({"output_width": 0}, "output_width 0, but needs one above 0"),
        ({"subset_idxs": []}, "has no subset_idxs"),
    ],
)
def test_attributes_out_of_range_are_refused_when_the_model_is_loaded(changed, message):
    with pytest.raises(InvalidArgumentError, match=message):
        operation("Landmarks2TransformMatrix", **{**SQUARE, **changed})


def test_the_arc_tangent_is_that_of_the_c_library_in_float32():
    for y, x in RANDOM.normal(size=(200, 2)).astype(np.float32).tolist():
        assert atan2f(y, x) == pytest.approx(math.atan2(y, x), abs=3e-7)


def test_the_face_model_with_attention_runs_in_parts():
    pytest.importorskip("ai_edge_litert.interpreter", reason="no ai-edge-litert")
    named = os.environ.get("PENSTOCK_MEDIAPIPE_MODELS", "")
    if not named.endswith(".whl") or not Path(named).is_file():
        pytest.skip("PENSTOCK_MEDIAPIPE_MODELS does not name the wheel of mediapipe==0.10.21")
    name = "mediapipe/modules/face_landmark/face_landmark_with_attention.tflite"
    with zipfile.ZipFile(named) as wheel:
        model = Model(name, wheel.read(name))

    loaded = load_model(model, RunSettings())
    made = loaded.session().run([np.zeros((1, 192, 192, 3), np.float32)])

    assert [array.size for array in made] == [1404, 160, 142, 142, 10, 10, 1]
    assert all(np.isfinite(array).all() for array in made)
