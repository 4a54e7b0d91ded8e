"""TensorsToFloatsCalculator: one number or all of them."""

from __future__ import annotations

import numpy as np
import pytest

from penstock.errors import GraphConfigError, GraphRunError
from penstock_formats import Tensor
from penstock_tensors.messages.tensors_to_floats_pb2 import TensorsToFloatsCalculatorOptions
from penstock_tensors.outputs.tensors_to_floats import TensorsToFloatsCalculator
from penstock_testing import run_calculator


def floats(tensors, output="FLOATS", **options):
    run = run_calculator(
        TensorsToFloatsCalculator,
        {"TENSORS": [(3, tensors)]},
        outputs=[output],
        options=TensorsToFloatsCalculatorOptions(**options),
    )
    (packet,) = run.outputs[output]
    assert packet.timestamp == 3
    return packet.payload


def tensor(*values, shape=(1, -1)):
    return Tensor(np.array(values, np.float32).reshape(shape))


def test_one_number():
    found = floats([tensor(0.1)], "FLOAT")

    assert (found, type(found)) == (float(np.float32(0.1)), float)


def test_all_numbers_of_the_first_tensor_row_by_row():
    assert floats([tensor(1, 2, 3, 4, shape=(1, 2, 2)), tensor(9)]) == [1, 2, 3, 4]


def test_a_sigmoid():
    found = floats([tensor(0, 100, -200)], activation="SIGMOID")

    assert found == [0.5, 1, 0]


@pytest.mark.parametrize(
    ("tensors", "output", "words"),
    [
        ([], "FLOATS", "holds an empty list, but the numbers of its first tensor are"),
        ([tensor(1, 2)], "FLOAT", "a tensor of 2 elements, but FLOAT takes one; connect the output FLOATS"),
        (
            [Tensor(np.zeros(1, np.int8))],
            "FLOATS",
            "holds <Tensor int8 1>, but the numbers of a tensor are read as float32",
        ),
    ],
)
def test_other_tensors_are_refused(tensors, output, words):
    with pytest.raises(GraphRunError, match=words):
        floats(tensors, output)


@pytest.mark.parametrize("outputs", [[], ["FLOAT", "FLOATS"]])
def test_exactly_one_output_is_connected(outputs):
    with pytest.raises(GraphConfigError, match="connect exactly one of the outputs FLOAT and FLOATS"):
        run_calculator(TensorsToFloatsCalculator, {"TENSORS": []}, outputs=outputs)


@pytest.mark.parametrize(
    ("values", "output", "options", "expected"),
    [
        pytest.param(
            [0.5], "FLOAT", {}, 0.5,
            marks=pytest.mark.reference(
                "calculators/tensor/tensors_to_floats_calculator_test.cc",
                "TensorsToFloatsCalculatorTest.SingleValue",
            ),
        ),
        pytest.param(
            [0.5], "FLOATS", {}, [0.5],
            marks=pytest.mark.reference(
                "calculators/tensor/tensors_to_floats_calculator_test.cc",
                "TensorsToFloatsCalculatorTest.SingleValueAsVector",
            ),
        ),
        pytest.param(
            [0, 0.5, 1], "FLOATS", {}, [0, 0.5, 1],
            marks=pytest.mark.reference(
                "calculators/tensor/tensors_to_floats_calculator_test.cc",
                "TensorsToFloatsCalculatorTest.FloatVector",
            ),
        ),
        pytest.param(
            [-1, 0, 1], "FLOATS", {"activation": "SIGMOID"}, [0.269, 0.5, 0.731],
            marks=pytest.mark.reference(
                "calculators/tensor/tensors_to_floats_calculator_test.cc",
                "TensorsToFloatsCalculatorTest.FloatVectorWithSigmoid",
            ),
        ),
    ],
)  # fmt: skip
def test_numbers_as_in_the_reference(values, output, options, expected):
    found = floats([tensor(*values, shape=(1, 1, -1, 1))], output, **options)

    assert found == pytest.approx(expected, abs=1e-2 if options else 0)
