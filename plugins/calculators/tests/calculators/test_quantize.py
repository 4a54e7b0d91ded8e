"""Expected values from the reference's description, and its arithmetic done again in fractions."""

from __future__ import annotations

import struct
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock import GraphConfigError, GraphRunError
from penstock_calculators.messages.quantize_pb2 import (
    DequantizeByteArrayCalculatorOptions,
    QuantizeFloatVectorCalculatorOptions,
)
from penstock_calculators.values.quantize import DequantizeByteArrayCalculator, QuantizeFloatVectorCalculator
from penstock_testing import run_calculator

WIDE = {"max_quantized_value": 64, "min_quantized_value": -64}
FAMILY = [
    (QuantizeFloatVectorCalculator, QuantizeFloatVectorCalculatorOptions, "FLOAT_VECTOR", "ENCODED"),
    (DequantizeByteArrayCalculator, DequantizeByteArrayCalculatorOptions, "ENCODED", "FLOAT_VECTOR"),
]


def quantized(numbers, **bounds):
    run = run_calculator(
        QuantizeFloatVectorCalculator,
        {"FLOAT_VECTOR": [(1, numbers)]},
        outputs=["ENCODED"],
        options=QuantizeFloatVectorCalculatorOptions(**bounds),
    )
    return run.outputs["ENCODED"][0].payload


def dequantized(data, **bounds):
    run = run_calculator(
        DequantizeByteArrayCalculator,
        {"ENCODED": [(1, data)]},
        outputs=["FLOAT_VECTOR"],
        options=DequantizeByteArrayCalculatorOptions(**bounds),
    )
    return run.outputs["FLOAT_VECTOR"][0].payload


def float32(number):
    return struct.unpack("f", struct.pack("f", number))[0]


@pytest.mark.reference(
    "calculators/core/quantize_float_vector_calculator_test.cc",
    "QuantizeFloatVectorCalculatorTest.TestNonEmptyVector",
)
def test_numbers_become_the_bytes_that_the_reference_gives():
    assert quantized([0.0, -64.0, 64.0, -32.0, 32.0], **WIDE).hex(" ") == "7f 00 ff 3f bf"


@pytest.mark.reference(
    "calculators/core/quantize_float_vector_calculator_test.cc",
    "QuantizeFloatVectorCalculatorTest.TestSaturation",
)
def test_numbers_beyond_the_range_become_the_nearer_end():
    assert quantized([-65.0, 65.0], **WIDE) == bytes([0, 255])
    encoded = quantized([-65, 65, float("-inf"), float("inf"), 1e300, -1e300], **WIDE)

    assert encoded == bytes([0, 255, 0, 255, 255, 0])


def test_bytes_become_numbers_about_the_middle_of_their_interval():
    numbers = dequantized(bytes.fromhex("7f00ff3fbf"), max_quantized_value=2, min_quantized_value=-2)

    assert numbers == pytest.approx([0, -2, 2, -1, 1], abs=0.0125)
    assert numbers[1] == -2 + 4 / 512
    assert all(type(number) is float and number == float32(number) for number in numbers)


@pytest.mark.reference(
    "calculators/core/quantize_float_vector_calculator_test.cc",
    "QuantizeFloatVectorCalculatorTest.TestEmptyVector",
)
def test_empty_lists_become_empty_bytes_and_back():
    assert quantized([], **WIDE) == b""
    assert quantized([], max_quantized_value=1, min_quantized_value=-1) == b""
    assert dequantized(b"", **WIDE) == []


@pytest.mark.reference(
    "calculators/core/dequantize_byte_array_calculator_test.cc",
    "DequantizeByteArrayCalculatorTest.TestDequantization",
)
def test_bytes_become_the_numbers_that_the_reference_gives():
    numbers = dequantized(bytes.fromhex("7fff0001"), max_quantized_value=2, min_quantized_value=-2)

    assert numbers == pytest.approx([0, 2, -2, -1.976], abs=0.01)


@given(data=st.binary(max_size=30))
def test_dequantized_numbers_become_the_same_bytes_again(data):
    # Half a step of 512 is within a step of 255, so rounding down gives the byte back; except for 255,
    # whose number is beyond the range.
    assert quantized(dequantized(data, **WIDE), **WIDE) == data


@given(numbers=st.lists(st.floats(-70, 70, width=32), max_size=20))
def test_a_byte_is_the_number_of_whole_steps_above_the_lower_end(numbers):
    wanted = [int((Fraction(min(max(number, -64), 64)) + 64) * 255 / 128) for number in numbers]

    got = list(quantized(numbers, **WIDE))

    # the reference subtracts in float32, which may carry a number over the next step
    assert all(have - want in (0, 1) for have, want in zip(got, wanted, strict=True))
    assert len(got) == len(numbers)


def test_nan_ends_the_run():
    with pytest.raises(GraphRunError, match="stream 'in_0': element 1 of the list to quantize is NaN"):
        quantized([0.0, float("nan")], **WIDE)


def test_an_element_that_is_not_a_number_ends_the_run():
    with pytest.raises(GraphRunError, match="element 0 of the list is a 'str', not a 'float'"):
        quantized(["0"], **WIDE)


@pytest.mark.parametrize("missing", sorted(WIDE))
@pytest.mark.parametrize(("calculator", "options", "source", "target"), FAMILY)
def test_both_ends_of_the_range_are_required(calculator, options, source, target, missing):
    given_ends = options(**{field: 1 for field in WIDE if field != missing})

    with pytest.raises(
        GraphConfigError, match=f"option {missing} is missing; to quantize, both ends of the range are"
    ):
        run_calculator(calculator, {source: []}, outputs=[target], options=given_ends)


@pytest.mark.parametrize("top", [-64.0, -65.0, float("nan")])
@pytest.mark.parametrize(("calculator", "options", "source", "target"), FAMILY)
def test_an_empty_range_is_refused(calculator, options, source, target, top):
    ends = options(max_quantized_value=top, min_quantized_value=-64)

    with pytest.raises(
        GraphConfigError, match=f"max_quantized_value is {top}, min_quantized_value -64.0; the"
    ):
        run_calculator(calculator, {source: []}, outputs=[target], options=ends)


@pytest.mark.parametrize(
    ("family", "ends", "message"),
    [
        pytest.param(
            FAMILY[0],
            {"min_quantized_value": 1},
            "option max_quantized_value is missing",
            marks=pytest.mark.reference(
                "calculators/core/quantize_float_vector_calculator_test.cc",
                "QuantizeFloatVectorCalculatorTest.WrongConfig",
            ),
        ),
        pytest.param(
            FAMILY[0],
            {"max_quantized_value": -1, "min_quantized_value": 1},
            "the first must be the larger",
            marks=pytest.mark.reference(
                "calculators/core/quantize_float_vector_calculator_test.cc",
                "QuantizeFloatVectorCalculatorTest.WrongConfig2",
            ),
        ),
        pytest.param(
            FAMILY[0],
            {"max_quantized_value": 1, "min_quantized_value": 1},
            "the first must be the larger",
            marks=pytest.mark.reference(
                "calculators/core/quantize_float_vector_calculator_test.cc",
                "QuantizeFloatVectorCalculatorTest.WrongConfig3",
            ),
        ),
        pytest.param(
            FAMILY[1],
            {"max_quantized_value": 2},
            "option min_quantized_value is missing",
            marks=pytest.mark.reference(
                "calculators/core/dequantize_byte_array_calculator_test.cc",
                "QuantizeFloatVectorCalculatorTest.WrongConfig",
            ),
        ),
        pytest.param(
            FAMILY[1],
            {"max_quantized_value": -2, "min_quantized_value": 2},
            "the first must be the larger",
            marks=pytest.mark.reference(
                "calculators/core/dequantize_byte_array_calculator_test.cc",
                "QuantizeFloatVectorCalculatorTest.WrongConfig2",
            ),
        ),
        pytest.param(
            FAMILY[1],
            {"max_quantized_value": 1, "min_quantized_value": 1},
            "the first must be the larger",
            marks=pytest.mark.reference(
                "calculators/core/dequantize_byte_array_calculator_test.cc",
                "QuantizeFloatVectorCalculatorTest.WrongConfig3",
            ),
        ),
    ],
)
def test_ranges_that_the_reference_refuses_are_refused(family, ends, message):
    calculator, options, source, target = family

    with pytest.raises(GraphConfigError, match=message):
        run_calculator(
            calculator,
            {source: [(0, [] if source == "FLOAT_VECTOR" else b"")]},
            outputs=[target],
            options=options(**ends),
        )
