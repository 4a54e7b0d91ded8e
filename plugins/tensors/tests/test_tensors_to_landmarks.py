"""TensorsToLandmarksCalculator: points in the model's units and in parts of its input."""

from __future__ import annotations

import numpy as np
import pytest

from penstock.errors import GraphConfigError, GraphRunError
from penstock_formats import Tensor
from penstock_formats.landmark_arrays import landmark_array
from penstock_tensors.messages.tensors_to_landmarks_pb2 import TensorsToLandmarksCalculatorOptions
from penstock_tensors.outputs.tensors_to_landmarks import TensorsToLandmarksCalculator
from penstock_testing import run_calculator


def landmarks(values, outputs=("LANDMARKS",), inputs=None, sides=None, **options):
    tensors = values if isinstance(values, list) else [Tensor(np.array(values, np.float32))]
    run = run_calculator(
        TensorsToLandmarksCalculator,
        {"TENSORS": [(3, tensors)], **{tag: [(3, flag)] for tag, flag in (inputs or {}).items()}},
        outputs=list(outputs),
        side_packets=sides or {},
        options=TensorsToLandmarksCalculatorOptions(**options),
    )
    found = []
    for output in outputs:
        (packet,) = run.outputs[output]
        assert packet.timestamp == 3
        found.append(packet.payload)
    return found[0] if len(found) == 1 else found


SIZE = {"input_image_width": 8, "input_image_height": 4}
POINTS = ((1, 2, 3, 0, 100), (5, 3, 6, 2, -200))


def test_five_numbers_are_x_y_z_visibility_and_presence():
    found = landmarks(POINTS, num_landmarks=2)

    assert landmark_array(found).tolist() == [list(map(float, row)) for row in POINTS]


def test_more_than_five_numbers_of_a_point_are_ignored():
    found = landmarks(np.arange(14).reshape(2, 7), num_landmarks=2)

    assert landmark_array(found)[1].tolist() == [7, 8, 9, 10, 11]


def test_fields_that_the_model_lacks_are_not_set():
    found, parts = landmarks(((1, 2), (3, 4)), ("LANDMARKS", "NORM_LANDMARKS"), num_landmarks=2, **SIZE)

    assert [field.name for field, _ in found.landmark[0].ListFields()] == ["x", "y"]
    assert [field.name for field, _ in parts.landmark[0].ListFields()] == ["x", "y", "z"]


def test_normalised_points_are_parts_of_the_input_and_z_by_its_width_and_the_option():
    found = landmarks(POINTS, ("NORM_LANDMARKS",), num_landmarks=2, normalize_z=0.4, **SIZE)

    z = np.float32(3) / np.float32(8) / np.float32(0.4)
    assert landmark_array(found)[0].tolist() == [0.125, 0.5, float(z), 0, 100]


def test_sigmoids_of_visibility_and_presence():
    found = landmarks(POINTS, num_landmarks=2, visibility_activation="SIGMOID", presence_activation="SIGMOID")

    assert landmark_array(found)[:, 3:].tolist() == [[0.5, 1], [float(1 / (1 + np.exp(np.float32(-2)))), 0]]


@pytest.mark.parametrize(
    ("inputs", "sides", "options", "first"),
    [
        ({}, {}, {"flip_horizontally": True}, [7, 2]),
        ({}, {}, {"flip_vertically": True}, [1, 1]),
        ({}, {"FLIP_HORIZONTALLY": True}, {}, [7, 2]),
        ({"FLIP_HORIZONTALLY": False}, {"FLIP_HORIZONTALLY": True}, {"flip_horizontally": True}, [1, 2]),
        ({"FLIP_VERTICALLY": True}, {}, {}, [1, 1]),
    ],
)
def test_flips_by_stream_before_side_packet_before_option(inputs, sides, options, first):
    height = {"input_image_width": 8, "input_image_height": 3}
    found = landmarks(((1, 2, 3),), inputs=inputs, sides=sides, num_landmarks=1, **height, **options)

    assert landmark_array(found)[0, :2].tolist() == first


def test_the_tensor_is_not_changed():
    tensor = Tensor(np.array([[8, 4, 8]], np.float32))

    landmarks([tensor], ("NORM_LANDMARKS",), num_landmarks=1, **SIZE)

    assert tensor.array.tolist() == [[8, 4, 8]]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, "num_landmarks is 0, but must be 1 or more"),
        (
            {"num_landmarks": 1},
            "input_image_width is 0 and input_image_height 0, but the landmarks' NORM_LANDMARKS and",
        ),
    ],
)
def test_options_that_lack_something_are_refused(options, words):
    with pytest.raises(GraphRunError, match=words):
        landmarks(((1, 2, 3),), ("NORM_LANDMARKS",), **options)


def test_a_tensor_with_less_numbers_than_points_is_refused():
    with pytest.raises(
        GraphRunError, match="a tensor of 3 elements, but num_landmarks of the landmarks is 21; the option"
    ):
        landmarks(((1, 2, 3),), num_landmarks=21)


def test_one_output_at_least_is_connected():
    with pytest.raises(GraphConfigError, match="connect LANDMARKS or NORM_LANDMARKS"):
        run_calculator(TensorsToLandmarksCalculator, {"TENSORS": []}, outputs=[])
