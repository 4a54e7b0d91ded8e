"""FeedbackTensorsCalculator: zeros at first, then what came back; where it stands and what it must be."""

from __future__ import annotations

import numpy as np
import pytest

from penstock.errors import GraphConfigError, GraphRunError
from penstock_formats import Tensor
from penstock_tensors.inputs.feedback_tensors import FeedbackTensorsCalculator
from penstock_tensors.messages.feedback_tensors_pb2 import FeedbackTensorsCalculatorOptions as Options
from penstock_testing import run_calculator

UP = [[1, 2, 3, 4], [5, 6, 7, 8]]
DOWN = [[8, 7, 6, 5], [4, 3, 2, 1]]
BACK = [-1, -2, -3, -4, -5, -6]


def joined(dtype, back, *, inputs=((1, UP), (2, DOWN)), **options):
    """Return the arrays of each packet."""
    done = run_calculator(
        FeedbackTensorsCalculator,
        {
            "INPUT_TENSORS": [(at, [Tensor(np.array(numbers, dtype))]) for at, numbers in inputs],
            "FEEDBACK_TENSORS": [] if back is None else [(2, back)],
        },
        outputs=["TENSORS"],
        options=Options(**options),
    )
    return [[tensor.array for tensor in packet.payload] for packet in done.outputs["TENSORS"]]


def back_of(*shape):
    return [Tensor(np.array(BACK, np.float32).reshape(shape))]


@pytest.mark.parametrize(
    ("location", "dtype", "shape"),
    [
        pytest.param(
            "APPENDED", np.int32, (2, 3),
            marks=pytest.mark.reference(
                "calculators/tensor/feedback_tensors_calculator_test.cc",
                "FeedbackTensorsCalculatorTest.AppendsFeedback",
            ),
        ),
        pytest.param(
            "PREPENDED", np.int8, (3, 2),
            marks=pytest.mark.reference(
                "calculators/tensor/feedback_tensors_calculator_test.cc",
                "FeedbackTensorsCalculatorTest.PrependsFeedback",
            ),
        ),
    ],
)  # fmt: skip
def test_feedback_stands_where_the_option_says(location, dtype, shape):
    found = joined(dtype, back_of(*shape), location=location, feedback_tensor_shape={"dims": shape})

    if location == "PREPENDED":
        found = [[own, back] for back, own in found]
    (first, zeros), (second, back) = found
    assert (first.tolist(), second.tolist(), first.dtype) == (UP, DOWN, dtype)
    assert (zeros.shape, zeros.dtype, zeros.any()) == (shape, np.float32, False)
    assert (back.shape, back.ravel().tolist()) == (shape, BACK)


@pytest.mark.reference(
    "calculators/tensor/feedback_tensors_calculator_test.cc", "FeedbackTensorsCalculatorTest.NoFeedback"
)
def test_without_a_location_feedback_is_left_out():
    found = joined(np.uint8, back_of(2, 3), location="NONE", feedback_tensor_shape={"dims": [3, 4]})

    assert [[array.tolist() for array in arrays] for arrays in found] == [[UP], [DOWN]]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        pytest.param(
            {"num_feedback_tensors": 2, "feedback_tensor_shape": {"dims": [2, 3]}, "location": "PREPENDED"},
            "holds 1 tensors, but num_feedback_tensors is 2; feed back as many",
            marks=pytest.mark.reference(
                "calculators/tensor/feedback_tensors_calculator_test.cc",
                "FeedbackTensorsCalculatorTest.ChecksTensorNumber",
            ),
        ),
        pytest.param(
            {"feedback_tensor_shape": {"dims": [3, 4]}, "location": "APPENDED"},
            r"a tensor of shape \(2, 3\), but feedback_tensor_shape is \[3, 4\]",
            marks=pytest.mark.reference(
                "calculators/tensor/feedback_tensors_calculator_test.cc",
                "FeedbackTensorsCalculatorTest.ChecksShape",
            ),
        ),
    ],
)  # fmt: skip
def test_other_feedback_is_refused(options, words):
    with pytest.raises(GraphRunError, match=words):
        joined(np.uint8, back_of(2, 3), **options)


def test_after_the_first_time_feedback_must_come():
    with pytest.raises(GraphRunError, match="holds 0 tensors, but num_feedback_tensors is 1"):
        joined(np.uint8, None, feedback_tensor_shape={"dims": [2, 3]})


def test_feedback_without_inputs_gives_nothing():
    found = joined(np.uint8, back_of(2, 3), inputs=[(1, UP)], feedback_tensor_shape={"dims": [2, 3]})

    assert len(found) == 1


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"feedback_tensor_shape": {"dims": [2, -3]}}, "none may be below 0"),
        ({"num_feedback_tensors": -1}, "none may be below 0"),
        ({"feedback_tensor_shape": {"dims": [2**15, 2**15]}}, "asks for a size of 1073741824 elements, but"),
        ({"feedback_tensor_shape": {"dims": [0]}, "num_feedback_tensors": 2**30}, "asks for a size of"),
    ],
)
def test_sizes_that_cannot_be_are_refused_when_the_graph_is_loaded(options, words):
    with pytest.raises(GraphConfigError, match=words):
        joined(np.uint8, None, **options)
