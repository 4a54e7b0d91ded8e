"""TensorsDequantizationCalculator: what quantized numbers stand for."""

from __future__ import annotations

import numpy as np
import pytest

from penstock.errors import GraphRunError, StatusCode
from penstock_formats import Tensor
from penstock_tensors.outputs.tensors_dequantization import TensorsDequantizationCalculator
from penstock_testing import run_calculator

FOUR_ULPS = 4 * 2.0**-23
FACTOR = float(np.float32(1) / np.float32(127))


def dequantized(*tensors):
    done = run_calculator(
        TensorsDequantizationCalculator, {"TENSORS": [(0, list(tensors))]}, outputs=["TENSORS"]
    )
    (packet,) = done.outputs["TENSORS"]
    return [tensor.array for tensor in packet.payload]


@pytest.mark.parametrize(
    ("dtype", "values", "quantized", "expected"),
    [
        pytest.param(
            np.uint8, [0, 127, 255], (FACTOR, 127), [-1, 0, 1.007874],
            marks=pytest.mark.reference(
                "calculators/tensor/tensors_dequantization_calculator_test.cc",
                "TensorsDequantizationCalculatorTest.SucceedsWithUInt8Tensors",
            ),
        ),
        pytest.param(
            np.int8, [-128, 0, 127], (FACTOR, 0), [-1.007874, 0, 1],
            marks=pytest.mark.reference(
                "calculators/tensor/tensors_dequantization_calculator_test.cc",
                "TensorsDequantizationCalculatorTest.SucceedsWithInt8Tensors",
            ),
        ),
        pytest.param(
            np.bool_, [True, False, True], (1, 0), [1, 0, 1],
            marks=pytest.mark.reference(
                "calculators/tensor/tensors_dequantization_calculator_test.cc",
                "TensorsDequantizationCalculatorTest.SucceedsWithBoolTensors",
            ),
        ),
    ],
)  # fmt: skip
def test_numbers_are_scaled_from_the_zero_point(dtype, values, quantized, expected):
    scale, zero_point = quantized

    (found,) = dequantized(Tensor(np.array(values, dtype), scale=scale, zero_point=zero_point))

    assert found.dtype == np.float32
    np.testing.assert_allclose(found, np.float32(expected), rtol=FOUR_ULPS)


@pytest.mark.parametrize(
    "dtype",
    [
        pytest.param(
            np.float32,
            marks=pytest.mark.reference(
                "calculators/tensor/tensors_dequantization_calculator_test.cc",
                "TensorsDequantizationCalculatorTest.FailsWithFloatTensors",
            ),
        ),
        pytest.param(
            np.int32,
            marks=pytest.mark.reference(
                "calculators/tensor/tensors_dequantization_calculator_test.cc",
                "TensorsDequantizationCalculatorTest.FailsWithInt32Tensors",
            ),
        ),
    ],
)
def test_other_element_types_are_an_invalid_argument(dtype):
    with pytest.raises(GraphRunError, match="but dequantization takes only uint8, int8, bool") as caught:
        dequantized(Tensor(np.array([0, 1], dtype)))

    assert caught.value.code == StatusCode.INVALID_ARGUMENT


def test_each_tensor_of_a_list_keeps_its_shape():
    first, second = dequantized(
        Tensor(np.full((2, 3), 4, np.int8), scale=0.5), Tensor(np.full((1, 1), 4, np.uint8), zero_point=10)
    )

    assert first.tolist() == [[2] * 3] * 2
    assert second.tolist() == [[-6]]


def test_an_empty_list_is_refused():
    with pytest.raises(GraphRunError, match="holds no quantized tensors"):
        dequantized()
