"""TensorToJointsCalculator: rotations of joints."""

from __future__ import annotations

import numpy as np
import pytest

from penstock.errors import GraphConfigError, GraphRunError
from penstock_formats import Tensor
from penstock_tensors.messages.tensor_to_joints_pb2 import TensorToJointsCalculatorOptions as Options
from penstock_tensors.outputs.tensor_to_joints import TensorToJointsCalculator
from penstock_testing import run_calculator


def joints(values, dtype=np.float32, **options):
    tensor = Tensor(np.array(values, dtype).reshape(1, 1, -1, 1))
    done = run_calculator(
        TensorToJointsCalculator, {"TENSOR": [(0, tensor)]}, outputs=["JOINTS"], options=Options(**options)
    )
    (packet,) = done.outputs["JOINTS"]
    assert not any(joint.HasField("visibility") for joint in packet.payload.joint)
    return [list(joint.rotation_6d) for joint in packet.payload.joint]


@pytest.mark.reference(
    "calculators/tensor/tensor_to_joints_calculator_test.cc", "TensorToJointsTest.TensorToJointsTest"
)
@pytest.mark.parametrize(
    ("count", "values", "rotations"),
    [
        (0, [0, 0, 0], []),
        (1, [0, 0, 0, 10, 11, 12, 13, 14, 15], [[10, 11, 12, 13, 14, 15]]),
        (
            2,
            [0, 0, 0, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21],
            [[10, 11, 12, 13, 14, 15], [16, 17, 18, 19, 20, 21]],
        ),
    ],
)
def test_each_joint_has_six_numbers_behind_the_start(count, values, rotations):
    assert joints(values, num_joints=count, start_index=3) == rotations


@pytest.mark.parametrize(
    ("values", "dtype", "words"),
    [
        (
            [0] * 7,
            np.float32,
            "a tensor of 7 numbers, but by the options it has 6: 0 and 6 for each of 1 joints",
        ),
        ([0] * 6, np.int8, "but the numbers of a tensor are read as float32"),
    ],
)
def test_another_tensor_is_refused(values, dtype, words):
    with pytest.raises(GraphRunError, match=words):
        joints(values, dtype, num_joints=1)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"num_joints": -1}, "num_joints is -1, but must be 0 or more"),
        ({"start_index": -1}, "start_index is -1, but must be 0 or more"),
        ({"num_joints": 2**30}, "num_joints asks for a size of 1073741824 elements"),
    ],
)
def test_options_that_cannot_be_are_refused(options, words):
    with pytest.raises(GraphConfigError, match=words):
        joints([], **options)
