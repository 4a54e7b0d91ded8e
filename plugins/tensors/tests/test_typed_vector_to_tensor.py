"""VectorFloatToTensorCalculator, VectorIntToTensorCalculator, VectorStringToTensorCalculator."""

from __future__ import annotations

import numpy as np
import pytest

from penstock.errors import GraphConfigError, GraphRunError, StatusCode
from penstock_formats import Tensor
from penstock_tensors.conversions.typed_vector_to_tensor import (
    VectorFloatToTensorCalculator,
    VectorIntToTensorCalculator,
    VectorStringToTensorCalculator,
)
from penstock_tensors.messages.typed_vector_to_tensor_pb2 import (
    VectorFloatToTensorCalculatorOptions,
    VectorIntToTensorCalculatorOptions,
    VectorStringToTensorCalculatorOptions,
)
from penstock_testing import run_calculator

TIME = 1234
FLOAT = (VectorFloatToTensorCalculator, 0, 0, VectorFloatToTensorCalculatorOptions)
STRING = (VectorStringToTensorCalculator, 0, 0, VectorStringToTensorCalculatorOptions)
INT = (VectorIntToTensorCalculator, "VECTOR_INT", "TENSOR_OUT", VectorIntToTensorCalculatorOptions)
ONE_INT = (VectorIntToTensorCalculator, "SINGLE_INT", "TENSOR_OUT", VectorIntToTensorCalculatorOptions)


def made(how, payload, **options):
    calculator, source, target, cls = how
    run = run_calculator(calculator, {source: [(TIME, payload)]}, outputs=[target], options=cls(**options))
    (packet,) = run.outputs[target]
    assert packet.timestamp == TIME
    return packet.payload


def check(found, element_type, values):
    assert isinstance(found, Tensor)
    assert (found.element_type, found.array.tolist()) == (element_type, values)


# --- floats -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data_type", "element_type"),
    [
        pytest.param(
            "DT_FLOAT",
            "float32",
            marks=pytest.mark.reference(
                "calculators/tensorflow/vector_float_to_tensor_calculator_test.cc",
                "VectorToTensorFloatCalculatorTest.ConvertsFromVectorFloat",
            ),
        ),
        pytest.param(
            "DT_DOUBLE",
            "float64",
            marks=pytest.mark.reference(
                "calculators/tensorflow/vector_float_to_tensor_calculator_test.cc",
                "VectorToTensorFloatCalculatorTest.ConvertsFromVectorFloatTypeDouble",
            ),
        ),
    ],
)
def test_a_list_of_floats(data_type, element_type):
    values = [float(1 << i) for i in range(5)]

    check(made(FLOAT, values, input_size="INPUT_1D", tensor_data_type=data_type), element_type, values)


@pytest.mark.reference(
    "calculators/tensorflow/vector_float_to_tensor_calculator_test.cc",
    "VectorToTensorFloatCalculatorTest.ConvertsFromVectorVectorFloat",
)
@pytest.mark.parametrize(("transpose", "values"), [(False, [[1, 2], [4, 8]]), (True, [[1, 4], [2, 8]])])
def test_rows_of_floats(transpose, values):
    found = made(FLOAT, [[1.0, 2.0], [4.0, 8.0]], input_size="INPUT_2D", transpose=transpose)

    check(found, "float32", values)


def test_transposing_counts_for_rows_only():
    check(made(FLOAT, [1.0, 2.0], transpose=True), "float32", [1, 2])


# --- whole numbers ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("how", "payload", "options", "element_type", "values"),
    [
        pytest.param(
            ONE_INT,
            1,
            {"tensor_data_type": "DT_INT32", "scalar_output": False},
            "int32",
            [1],
            marks=pytest.mark.reference(
                "calculators/tensorflow/vector_int_to_tensor_calculator_test.cc",
                "VectorIntToTensorCalculatorTest.TestSingleValue",
            ),
        ),
        pytest.param(
            INT,
            [0, 1, 2, 3, 4],
            {"tensor_data_type": "DT_INT32", "scalar_output": False},
            "int32",
            [0, 1, 2, 3, 4],
            marks=pytest.mark.reference(
                "calculators/tensorflow/vector_int_to_tensor_calculator_test.cc",
                "VectorIntToTensorCalculatorTest.TestOneDim",
            ),
        ),
        pytest.param(
            ONE_INT,
            1 << 31,
            {"tensor_data_type": "DT_INT64", "scalar_output": False},
            "int64",
            [1 << 31],
            marks=pytest.mark.reference(
                "calculators/tensorflow/vector_int_to_tensor_calculator_test.cc",
                "VectorIntToTensorCalculatorTest.TestInt64",
            ),
        ),
        pytest.param(
            INT,
            [0, 1, 2, 3, 4],
            {"tensor_data_type": "DT_UINT8", "scalar_output": False},
            "uint8",
            [0, 1, 2, 3, 4],
            marks=pytest.mark.reference(
                "calculators/tensorflow/vector_int_to_tensor_calculator_test.cc",
                "VectorIntToTensorCalculatorTest.TestUint8",
            ),
        ),
        pytest.param(
            ONE_INT,
            1,
            {"tensor_data_type": "DT_UINT32", "scalar_output": False},
            "uint32",
            [1],
            marks=pytest.mark.reference(
                "calculators/tensorflow/vector_int_to_tensor_calculator_test.cc",
                "VectorIntToTensorCalculatorTest.TestSingleUnsignedValue",
            ),
        ),
        pytest.param(
            ONE_INT,
            1,
            {"tensor_data_type": "DT_INT32", "scalar_output": True},
            "int32",
            1,
            marks=pytest.mark.reference(
                "calculators/tensorflow/vector_int_to_tensor_calculator_test.cc",
                "VectorIntToTensorCalculatorTest.TestSingleValueScalar",
            ),
        ),
        pytest.param(
            INT,
            [7],
            {"tensor_data_type": "DT_INT32", "scalar_output": True},
            "int32",
            7,
            marks=pytest.mark.reference(
                "calculators/tensorflow/vector_int_to_tensor_calculator_test.cc",
                "VectorIntToTensorCalculatorTest.TestOneDimToScalar",
            ),
        ),
        (INT, [258, -1], {"tensor_data_type": "DT_UINT8"}, "uint8", [2, 255]),
    ],
)
def test_whole_numbers(how, payload, options, element_type, values):
    check(made(how, payload, input_size="INPUT_1D", **options), element_type, values)


@pytest.mark.reference(
    "calculators/tensorflow/vector_int_to_tensor_calculator_test.cc",
    "VectorIntToTensorCalculatorTest.TestTwoDims",
)
@pytest.mark.parametrize(("transpose", "values"), [(False, [[0, 1], [2, 3]]), (True, [[0, 2], [1, 3]])])
def test_rows_of_whole_numbers(transpose, values):
    found = made(
        INT, [[0, 1], [2, 3]], input_size="INPUT_2D", tensor_data_type="DT_INT32", transpose=transpose
    )

    check(found, "int32", values)


# --- texts --------------------------------------------------------------------------------------------


@pytest.mark.reference(
    "calculators/tensorflow/vector_string_to_tensor_calculator_test.cc",
    "VectorStringToTensorCalculatorTest.ConvertsFromVectorString",
)
def test_a_list_of_texts():
    found = made(STRING, list("01234"), input_size="INPUT_1D")

    assert (found.dtype.kind, found.tolist()) == ("U", list("01234"))
    assert not found.flags.writeable


@pytest.mark.reference(
    "calculators/tensorflow/vector_string_to_tensor_calculator_test.cc",
    "VectorStringToTensorCalculatorTest.ConvertsFromVectorVectorString",
)
@pytest.mark.parametrize(
    ("transpose", "values"), [(False, [["00", "01"], ["10", "11"]]), (True, [["00", "10"], ["01", "11"]])]
)
def test_rows_of_texts(transpose, values):
    found = made(STRING, [["00", "01"], ["10", "11"]], input_size="INPUT_2D", transpose=transpose)

    assert (found.dtype.kind, found.tolist()) == ("U", values)


# --- what is refused ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("how", "payload", "options", "words"),
    [
        (FLOAT, [], {}, "holds an empty list, but the rows of a tensor need at least one element"),
        (FLOAT, [], {"input_size": "INPUT_2D"}, "holds an empty list"),
        (FLOAT, [[]], {"input_size": "INPUT_2D"}, "holds an empty list"),
        (FLOAT, [[1.0], [1.0, 2.0]], {"input_size": "INPUT_2D"}, "rows of 1 elements, but row 1 has 2"),
        (INT, [1, 2], {"scalar_output": True}, "holds a vector of 2 numbers, but scalar_output takes one"),
        (ONE_INT, 1 << 70, {}, "holds a number of more than 64 bits, which no typed vector can hold"),
        (STRING, ["a\0"], {}, "a text that ends with a NUL"),
        (STRING, [["a"], ["a\0"]], {"input_size": "INPUT_2D"}, "a text that ends with a NUL"),
    ],
)
def test_lists_that_are_no_tensor(how, payload, options, words):
    with pytest.raises(GraphRunError, match=words) as caught:
        made(how, payload, **options)

    assert caught.value.code == StatusCode.INVALID_ARGUMENT


@pytest.mark.parametrize(
    ("how", "options", "words"),
    [
        (FLOAT, {"input_size": "UNKNOWN"}, "input_size is UNKNOWN, but must be INPUT_1D or INPUT_2D"),
        (STRING, {"input_size": "UNKNOWN"}, "input_size is UNKNOWN"),
        (FLOAT, {"tensor_data_type": "DT_INT8"}, "is DT_INT8, but must be one of DT_FLOAT, DT_DOUBLE"),
        (INT, {"tensor_data_type": "DT_FLOAT"}, "is DT_FLOAT, but must be one of DT_INT32, DT_INT64,"),
        (INT, {"input_size": "INPUT_2D", "scalar_output": True}, "input_size is INPUT_2D, but scalar_output"),
        (ONE_INT, {"input_size": "INPUT_2D"}, "and the input SINGLE_INT are for INPUT_1D"),
    ],
)
def test_options_that_make_no_tensor(how, options, words):
    with pytest.raises(GraphConfigError, match=words):
        made(how, None, **options)


def test_one_input_is_connected():
    with pytest.raises(GraphConfigError, match="of the input ports SINGLE_INT, VECTOR_INT, but exactly one"):
        run_calculator(
            VectorIntToTensorCalculator, {"SINGLE_INT": [], "VECTOR_INT": []}, outputs=["TENSOR_OUT"]
        )


def test_a_float64_tensor_has_all_bits():
    assert made(FLOAT, [0.1], tensor_data_type="DT_DOUBLE").array[0] == np.float64(0.1)
