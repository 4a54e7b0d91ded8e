"""VectorToTensorCalculator: numbers of each type, and what are none."""

from __future__ import annotations

import numpy as np
import pytest

from penstock.errors import GraphRunError, StatusCode
from penstock_formats import Tensor
from penstock_tensors import TensorInfo
from penstock_tensors.inference.inference import InferenceCalculatorCpu
from penstock_tensors.inputs.vector_to_tensor import VectorToTensorCalculator
from penstock_tensors.messages.vector_to_tensor_pb2 import VectorToTensorCalculatorOptions as Options
from penstock_testing import run_calculator


def tensor(payload, **options):
    done = run_calculator(
        VectorToTensorCalculator, {"VECTOR": [(3, payload)]}, outputs=["TENSOR"], options=Options(**options)
    )
    (packet,) = done.outputs["TENSOR"]
    assert packet.timestamp == 3
    assert type(packet.payload) is Tensor
    return packet.payload.array


@pytest.mark.reference(
    "calculators/tensor/vector_to_tensor_calculator_test.cc",
    "VectorToTensorCalculatorTest.ShouldConvertVectorToTensor",
    "VectorToTensorCalculatorTest.ShouldCreateDynamicTensor",
)
@pytest.mark.parametrize("is_dynamic", [False, True])
@pytest.mark.parametrize(
    ("payload", "element_type"),
    [
        (np.arange(123, dtype=np.float32), "float32"),
        ([float(i) for i in range(123)], "float32"),
        (np.arange(123, dtype=np.uint8), "uint8"),
        (np.arange(123, dtype=np.int8), "int8"),
        (np.arange(123, dtype=np.int32), "int32"),
        (list(range(123)), "int32"),
        (bytes(range(123)), "int8"),
        (np.arange(123).astype(bool), "bool"),
        ([bool(i) for i in range(123)], "bool"),
    ],
)
def test_numbers_of_each_type_are_a_row(payload, element_type, is_dynamic):
    made = tensor(payload, output_dynamic_tensor_shape=is_dynamic)

    assert (made.shape, made.dtype) == ((1, 123), element_type)
    assert made[0].tolist() == list(payload)


@pytest.mark.reference(  # the case of int64
    "calculators/tensor/vector_to_tensor_calculator_test.cc",
    "VectorToTensorCalculatorTest.ShouldConvertVectorToTensor",
)
def test_ints_of_64_bits_are_an_invalid_argument():
    with pytest.raises(GraphRunError, match=r"holds an array of int64 and shape .* convert it") as caught:
        tensor(np.arange(123, dtype=np.int64))

    assert caught.value.code == StatusCode.INVALID_ARGUMENT


@pytest.mark.reference(
    "calculators/tensor/vector_to_tensor_calculator_test.cc",
    "VectorToTensorCalculatorTest.ShouldFailOnEmptyInputVector",
)
@pytest.mark.parametrize(
    "payload", [[], b"", *(np.array([], kind) for kind in ("float32", "uint8", "int8", "int32", "bool"))]
)
def test_no_numbers_are_refused(payload):
    with pytest.raises(GraphRunError, match="holds no numbers, but a tensor has one at least"):
        tensor(payload)


@pytest.mark.reference(  # what a dynamic tensor is for: there is no flag on ours
    "calculators/tensor/vector_to_tensor_calculator_test.cc",
    "VectorToTensorCalculatorTest.ShouldCreateDynamicTensor",
)
@pytest.mark.parametrize("is_dynamic", [False, True])
def test_a_model_with_an_open_size_takes_the_tensor(doubling, double, monkeypatch, is_dynamic):
    for side in ("inputs", "outputs"):
        monkeypatch.setattr(doubling, side, (TensorInfo("x", (1, -1), "float32"),))
    monkeypatch.setattr(type(doubling.session()), "run", lambda session, inputs: [inputs[0] * 2])
    numbers = np.arange(123, dtype=np.float32)
    made = Tensor(tensor(numbers, output_dynamic_tensor_shape=is_dynamic))

    done = run_calculator(
        InferenceCalculatorCpu,
        {"TENSOR": [(0, made)]},
        outputs=["TENSOR"],
        side_packets={"MODEL": double},
    )

    (packet,) = done.outputs["TENSOR"]
    assert packet.payload.array.tolist() == [(numbers * 2).tolist()]


def test_the_tensor_has_memory_of_its_own():
    numbers = np.arange(3, dtype=np.float32)

    made = tensor(numbers)

    assert not np.shares_memory(made, numbers)


def test_a_list_with_one_float_becomes_floats():
    assert tensor([1, 2.5]).tolist() == [[1, 2.5]]


@pytest.mark.parametrize(
    "payload", [[1, 2**31], [2**70], ["a"], [[1], [1, 2]], [[1], [2]], np.zeros((1, 2), np.float32), [None]]
)
def test_what_is_no_row_of_numbers_is_refused(payload):
    with pytest.raises(GraphRunError, match=r"a vector has one dimension|is no vector of numbers"):
        tensor(payload)
