"""TensorToVectorFloatCalculator, TensorToVectorIntCalculator, TensorToVectorStringCalculator."""

from __future__ import annotations

import numpy as np
import pytest

from penstock.errors import GraphConfigError, GraphRunError, StatusCode
from penstock_formats import Tensor
from penstock_tensors.conversions.tensor_to_vector import (
    TensorToVectorFloatCalculator,
    TensorToVectorIntCalculator,
    TensorToVectorStringCalculator,
)
from penstock_tensors.messages.tensor_to_vector_pb2 import (
    TensorToVectorFloatCalculatorOptions,
    TensorToVectorIntCalculatorOptions,
    TensorToVectorStringCalculatorOptions,
)
from penstock_testing import run_calculator

TIME = 1234
FLOAT = (TensorToVectorFloatCalculator, TensorToVectorFloatCalculatorOptions)
INT = (TensorToVectorIntCalculator, TensorToVectorIntCalculatorOptions)
STRING = (TensorToVectorStringCalculator, TensorToVectorStringCalculatorOptions)


def lists(how, arrays, **options) -> list:
    calculator, cls = how
    payloads = [array if array.dtype.kind == "U" else Tensor(array) for array in arrays]
    run = run_calculator(
        calculator,
        {0: [(TIME + i, payload) for i, payload in enumerate(payloads)]},
        outputs=[0],
        options=cls(**options),
    )
    assert [packet.timestamp for packet in run.outputs[0]] == [TIME + i for i in range(len(arrays))]
    return [packet.payload for packet in run.outputs[0]]


def powers(kind, *shape) -> np.ndarray:
    return np.array([1 << i for i in range(int(np.prod(shape)))], kind).reshape(shape)


def texts(*shape) -> np.ndarray:
    return np.array([f"foo{i}" for i in range(int(np.prod(shape)))]).reshape(shape)


@pytest.mark.parametrize(
    ("how", "array", "options", "expected"),
    [
        pytest.param(
            FLOAT,
            powers(np.float32, 5),
            {},
            [1.0, 2.0, 4.0, 8.0, 16.0],
            marks=pytest.mark.reference(
                "calculators/tensorflow/tensor_to_vector_float_calculator_test.cc",
                "TensorToVectorFloatCalculatorTest.ConvertsToVectorFloat",
            ),
        ),
        pytest.param(
            FLOAT,
            powers(np.float32, 1, 5),
            {"tensor_is_2d": True},
            [[1.0, 2.0, 4.0, 8.0, 16.0]],
            marks=pytest.mark.reference(
                "calculators/tensorflow/tensor_to_vector_float_calculator_test.cc",
                "TensorToVectorFloatCalculatorTest.ConvertsBatchedToVectorVectorFloat",
            ),
        ),
        pytest.param(
            FLOAT,
            powers(np.float32, 2, 2, 2),
            {"flatten_nd": True},
            [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0],
            marks=pytest.mark.reference(
                "calculators/tensorflow/tensor_to_vector_float_calculator_test.cc",
                "TensorToVectorFloatCalculatorTest.FlattenShouldTakeAllDimensions",
            ),
        ),
        pytest.param(
            INT,
            powers(np.int64, 5),
            {},
            [1, 2, 4, 8, 16],
            marks=pytest.mark.reference(
                "calculators/tensorflow/tensor_to_vector_int_calculator_test.cc",
                "TensorToVectorIntCalculatorTest.ConvertsToVectorInt",
            ),
        ),
        pytest.param(
            INT,
            powers(np.int32, 5),
            {},
            [1, 2, 4, 8, 16],
            marks=pytest.mark.reference(
                "calculators/tensorflow/tensor_to_vector_int_calculator_test.cc",
                "TensorToVectorIntCalculatorTest.ConvertsToVectorFromInt32",
            ),
        ),
        pytest.param(
            INT,
            np.array([0, 0, 1, 1, 0], np.int32),
            {"tensor_is_token": True},
            [3, 4],
            marks=pytest.mark.reference(
                "calculators/tensorflow/tensor_to_vector_int_calculator_test.cc",
                "TensorToVectorIntCalculatorTest.ConvertsToVectorToken",
            ),
        ),
        pytest.param(
            INT,
            powers(np.int64, 1, 5),
            {"tensor_is_2d": True},
            [[1, 2, 4, 8, 16]],
            marks=pytest.mark.reference(
                "calculators/tensorflow/tensor_to_vector_int_calculator_test.cc",
                "TensorToVectorIntCalculatorTest.ConvertsBatchedToVectorVectorInt",
            ),
        ),
        pytest.param(
            INT,
            powers(np.int64, 2, 2, 2),
            {"flatten_nd": True},
            [1, 2, 4, 8, 16, 32, 64, 128],
            marks=pytest.mark.reference(
                "calculators/tensorflow/tensor_to_vector_int_calculator_test.cc",
                "TensorToVectorIntCalculatorTest.FlattenShouldTakeAllDimensions",
            ),
        ),
        (INT, np.array([0, 3, 2], np.int64), {"tensor_is_token": True, "token_threshold": 2}, [2]),
        pytest.param(
            STRING,
            texts(5),
            {},
            ["foo0", "foo1", "foo2", "foo3", "foo4"],
            marks=pytest.mark.reference(
                "calculators/tensorflow/tensor_to_vector_string_calculator_test.cc",
                "TensorToVectorStringCalculatorTest.ConvertsToVectorFloat",
            ),
        ),
        pytest.param(
            STRING,
            texts(1, 5),
            {"tensor_is_2d": True},
            [["foo0", "foo1", "foo2", "foo3", "foo4"]],
            marks=pytest.mark.reference(
                "calculators/tensorflow/tensor_to_vector_string_calculator_test.cc",
                "TensorToVectorStringCalculatorTest.ConvertsBatchedToVectorVectorFloat",
            ),
        ),
        pytest.param(
            STRING,
            texts(2, 2, 2),
            {"flatten_nd": True},
            [f"foo{i}" for i in range(8)],
            marks=pytest.mark.reference(
                "calculators/tensorflow/tensor_to_vector_string_calculator_test.cc",
                "TensorToVectorStringCalculatorTest.FlattenShouldTakeAllDimensions",
            ),
        ),
    ],
)
def test_tensors_become_lists(how, array, options, expected):
    (found,) = lists(how, [array], **options)

    assert found == expected
    inner = found[0] if isinstance(found[0], list) else found
    assert type(inner[0]) in {float, int, str}


@pytest.mark.reference(
    "calculators/tensorflow/tensor_to_vector_float_calculator_test.cc",
    "TensorToVectorFloatCalculatorTest.AcceptsUnalignedTensors",
)
def test_a_part_of_another_tensor():
    whole = np.zeros((2, 5), np.float32)
    whole[1] = [0, 1, 2, 3, 4]

    assert lists(FLOAT, [whole[1]]) == [[0, 1, 2, 3, 4]]
    packed = np.frombuffer(b"\0" + whole[1].tobytes(), np.uint8)[1:].view(np.float32)
    assert not packed.flags.aligned
    assert lists(FLOAT, [packed]) == [[0, 1, 2, 3, 4]]


@pytest.mark.reference(
    "calculators/tensorflow/tensor_to_vector_int_calculator_test.cc",
    "TensorToVectorIntCalculatorTest.Overlap",
)
def test_what_overlaps_is_left_out():
    arrays = [powers(np.int64, 5) + time for time in range(3)]

    assert lists(INT, arrays, overlap=2) == [[1, 2, 4, 8, 16], [5, 9, 17], [6, 10, 18]]


def test_rows_overlap_too():
    assert lists(INT, [powers(np.int64, 2, 3)], overlap=2, tensor_is_2d=True) == [[[1, 2, 4], [32]]]


@pytest.mark.parametrize(
    ("how", "array", "options", "words"),
    [
        (FLOAT, np.zeros(2, np.int32), {}, "a tensor of int32, but to become a vector it must be of float32"),
        (
            INT,
            np.zeros(2, np.float32),
            {},
            "a tensor of float32, but to become a vector it must be of int32 or int64",
        ),
        (
            FLOAT,
            np.zeros((2, 2), np.float32),
            {},
            "of 2 dimensions, but the calculator reads 1; set flatten_nd",
        ),
        (INT, np.zeros(2, np.int64), {"tensor_is_2d": True}, "of 1 dimensions, but the calculator reads 2"),
        (STRING, texts(2, 2), {}, "of 2 dimensions, but the calculator reads 1"),
    ],
)
def test_other_tensors_are_refused(how, array, options, words):
    with pytest.raises(GraphRunError, match=words) as caught:
        lists(how, [array], **options)

    assert caught.value.code == StatusCode.INVALID_ARGUMENT


def test_an_array_of_numbers_has_no_texts():
    with pytest.raises(
        GraphRunError, match="a tensor of float64, but to become a vector it must be of texts"
    ):
        run_calculator(TensorToVectorStringCalculator, {0: [(0, np.zeros(2))]}, outputs=[0])


@pytest.mark.parametrize("how", [FLOAT, INT, STRING])
def test_one_list_or_rows(how):
    with pytest.raises(
        GraphConfigError,
        match="for a tensor to become a vector, tensor_is_2d asks for a list of rows and flatten_nd for one",
    ):
        lists(how, [], tensor_is_2d=True, flatten_nd=True)
