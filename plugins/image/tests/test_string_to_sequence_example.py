"""StringToSequenceExampleCalculator: bytes of a record become the record, or the other way round."""

from __future__ import annotations

import pytest

from penstock.errors import GraphConfigError, GraphRunError
from penstock_formats import Feature, FloatList, Int64List, SequenceExample
from penstock_image.sequences.string_to_sequence_example import StringToSequenceExampleCalculator
from penstock_testing import run_calculator

#: The record below by TensorFlow's field numbers: context "a" has the number 3, step 0 of "b" has 0.5.
DATA = bytes.fromhex("0a0c0a0a0a016112051a030a0103") + bytes.fromhex("12110a0f0a0162120a0a0812060a040000003f")


def record() -> SequenceExample:
    made = SequenceExample()
    made.context.feature["a"].CopyFrom(Feature(int64_list=Int64List(value=[3])))
    made.feature_lists.feature_list["b"].feature.append(Feature(float_list=FloatList(value=[0.5])))
    return made


def converted(side_packets, made):
    return run_calculator(
        StringToSequenceExampleCalculator, side_packets=side_packets, output_side_packets=made
    ).output_side_packets


def test_bytes_become_a_record():
    assert converted({"STRING": DATA}, ["SEQUENCE_EXAMPLE"]) == {"SEQUENCE_EXAMPLE": record()}


def test_a_record_becomes_bytes():
    assert converted({"SEQUENCE_EXAMPLE": record()}, ["STRING"]) == {"STRING": DATA}


def test_keys_are_sorted():
    first, second = SequenceExample(), SequenceExample()
    for key in "abcdefgh":
        first.context.feature[key].int64_list.value.append(1)
    for key in "hgfedcba":
        second.context.feature[key].int64_list.value.append(1)

    assert converted({"SEQUENCE_EXAMPLE": first}, ["STRING"]) == converted(
        {"SEQUENCE_EXAMPLE": second}, ["STRING"]
    )


def test_other_bytes_are_refused():
    with pytest.raises(GraphRunError, match="the 3 bytes of side packet STRING are no SequenceExample"):
        converted({"STRING": b"\xff\xff\xff"}, ["SEQUENCE_EXAMPLE"])


@pytest.mark.parametrize(
    ("given", "made"),
    [
        ({}, ["STRING"]),
        ({"STRING": DATA}, ["STRING"]),
        ({"STRING": DATA}, []),
        ({"STRING": DATA, "SEQUENCE_EXAMPLE": record()}, ["STRING"]),
    ],
)
def test_one_side_packet_leads_to_the_other(given, made):
    with pytest.raises(GraphConfigError, match="STRING leads to SEQUENCE_EXAMPLE, or SEQUENCE_EXAMPLE to"):
        converted(given, made)
