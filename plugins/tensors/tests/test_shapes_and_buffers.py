"""TensorSqueezeDimensionsCalculator and LappedTensorBufferCalculator."""

from __future__ import annotations

import numpy as np
import pytest

from penstock.errors import GraphRunError, StatusCode
from penstock_formats import Tensor
from penstock_tensors.conversions.lapped_tensor_buffer import LappedTensorBufferCalculator
from penstock_tensors.conversions.tensor_squeeze_dimensions import TensorSqueezeDimensionsCalculator
from penstock_tensors.messages.lapped_tensor_buffer_pb2 import LappedTensorBufferCalculatorOptions
from penstock_tensors.messages.tensor_squeeze_dimensions_pb2 import TensorSqueezeDimensionsCalculatorOptions
from penstock_testing import run_calculator

TIME = 1234


# --- squeezing ----------------------------------------------------------------------------------------


def squeezed(*arrays, **options) -> list[Tensor]:
    run = run_calculator(
        TensorSqueezeDimensionsCalculator,
        {0: [(TIME + i, Tensor(array)) for i, array in enumerate(arrays)]},
        outputs=[0],
        options=TensorSqueezeDimensionsCalculatorOptions(**options),
    )
    assert [packet.timestamp for packet in run.outputs[0]] == [TIME + i for i in range(len(arrays))]
    return [packet.payload for packet in run.outputs[0]]


TABLE = np.array([[i * (j + 1) for j in range(3)] for i in range(3)], np.int32)


@pytest.mark.parametrize(
    ("options", "shape"),
    [
        pytest.param(
            {"squeeze_all_single_dims": True},
            (3, 3),
            marks=pytest.mark.reference(
                "calculators/tensorflow/tensor_squeeze_dimensions_calculator_test.cc",
                "TensorSqueezeDimensionsCalculatorTest.CanSqueezeAllSingleDimensions",
            ),
        ),
        pytest.param(
            {"dim": [0, 4]},
            (3, 1, 3),
            marks=pytest.mark.reference(
                "calculators/tensorflow/tensor_squeeze_dimensions_calculator_test.cc",
                "TensorSqueezeDimensionsCalculatorTest.CanSqueezeSpecifiedDimensions",
            ),
        ),
    ],
)
def test_dimensions_of_size_1_are_left_out(options, shape):
    (found,) = squeezed(TABLE.reshape(1, 3, 1, 3, 1), **options)

    assert (found.shape, found.element_type) == (shape, "int32")
    assert found.array.reshape(3, 3).tolist() == TABLE.tolist()


def test_the_first_tensor_says_which_dimensions():
    assert [
        tensor.shape
        for tensor in squeezed(
            np.zeros((1, 2), np.int8), np.zeros((1, 1), np.int8), squeeze_all_single_dims=True
        )
    ] == [(2,), (1,)]


@pytest.mark.parametrize("options", [{}, {"squeeze_all_single_dims": True, "dim": [0]}])
def test_one_way_to_say_which_dimensions(options):
    with pytest.raises(GraphRunError, match="set exactly one of them"):
        squeezed(**options)


@pytest.mark.parametrize("dim", [1, 2, -1])
def test_there_must_be_such_a_dimension(dim):
    with pytest.raises(
        GraphRunError, match=f"<Tensor int8 1x2>, which has no dimension {dim} of size 1"
    ) as caught:
        squeezed(np.zeros((1, 2), np.int8), dim=[dim])

    assert caught.value.code == StatusCode.INVALID_ARGUMENT


# --- buffers ------------------------------------------------------------------------------------------


def lapped(count, *, outputs=(0,), arrays=None, side_packets=None, **options) -> list[list]:
    """Return the packets of each output, as (timestamp, payload)."""
    given = arrays or [np.array([i], np.float32) for i in range(count)]
    run = run_calculator(
        LappedTensorBufferCalculator,
        {0: [(i, Tensor(array)) for i, array in enumerate(given)]},
        outputs=outputs,
        options=LappedTensorBufferCalculatorOptions(**options),
        side_packets=side_packets,
    )
    return [[(int(packet.timestamp), packet.payload) for packet in run.outputs[port]] for port in outputs]


@pytest.mark.parametrize(
    ("count", "options", "expected"),
    [
        pytest.param(
            3,
            {"buffer_size": 1, "overlap": 0},
            [[0], [1], [2]],
            marks=pytest.mark.reference(
                "calculators/tensorflow/lapped_tensor_buffer_calculator_test.cc",
                "LappedTensorBufferCalculatorTest.OneToOne",
            ),
        ),
        pytest.param(
            3,
            {"buffer_size": 2, "overlap": 1},
            [[0, 1], [1, 2]],
            marks=pytest.mark.reference(
                "calculators/tensorflow/lapped_tensor_buffer_calculator_test.cc",
                "LappedTensorBufferCalculatorTest.OneToTwo",
            ),
        ),
        pytest.param(
            3,
            {"buffer_size": 3, "overlap": 2},
            [[0, 1, 2]],
            marks=pytest.mark.reference(
                "calculators/tensorflow/lapped_tensor_buffer_calculator_test.cc",
                "LappedTensorBufferCalculatorTest.OneToThree",
            ),
        ),
        pytest.param(
            3,
            {"buffer_size": 3, "overlap": 1},
            [[0, 1, 2]],
            marks=pytest.mark.reference(
                "calculators/tensorflow/lapped_tensor_buffer_calculator_test.cc",
                "LappedTensorBufferCalculatorTest.OneToThreeSkip",
            ),
        ),
        pytest.param(
            7,
            {"buffer_size": 3, "overlap": -1},
            [[0, 1, 2], [4, 5, 6]],
            marks=pytest.mark.reference(
                "calculators/tensorflow/lapped_tensor_buffer_calculator_test.cc",
                "LappedTensorBufferCalculatorTest.OneToThreeNegativeOverlap",
            ),
        ),
        pytest.param(
            3,
            {"buffer_size": 3, "overlap": 2, "add_batch_dim_to_tensors": True},
            [[[0], [1], [2]]],
            marks=pytest.mark.reference(
                "calculators/tensorflow/lapped_tensor_buffer_calculator_test.cc",
                "LappedTensorBufferCalculatorTest.OneToThreeBatch",
            ),
        ),
        (5, {"buffer_size": 3, "overlap": 1}, [[0, 1, 2], [2, 3, 4]]),
        (
            5,
            {"buffer_size": 3, "overlap": 2, "padding": 1, "timestamp_offset": 1},
            [[0, 0, 1], [0, 1, 2], [1, 2, 3], [2, 3, 4], [4, 4, 4]],
        ),
        (2, {"buffer_size": 4, "overlap": 2, "padding": 1}, [[0, 1, 1, 1]]),
    ],
)
def test_tensors_are_put_together(count, options, expected):
    (found,) = lapped(count, **options)

    assert [tensor.array.tolist() for _, tensor in found] == expected


BATCH = {"buffer_size": 16, "overlap": 15, "add_batch_dim_to_tensors": True}


@pytest.mark.reference(
    "calculators/tensorflow/lapped_tensor_buffer_calculator_test.cc",
    "LappedTensorBufferCalculatorTest.OneToThreeBatchTimestampOffset",
)
def test_an_output_has_the_time_of_one_of_its_tensors():
    (found,) = lapped(20, timestamp_offset=7, **BATCH)

    assert [time for time, _ in found] == [7, 8, 9, 10, 11]


@pytest.mark.reference(
    "calculators/tensorflow/lapped_tensor_buffer_calculator_test.cc",
    "LappedTensorBufferCalculatorTest.OneToThreeBatchTimestampOffsetPadding",
)
def test_the_second_output_says_when_the_tensors_came():
    tensors, times = lapped(
        20,
        outputs=(0, 1),
        buffer_size=12,
        overlap=6,
        add_batch_dim_to_tensors=True,
        timestamp_offset=3,
        padding=0,
    )

    assert [time for time, _ in tensors] == [3, 9]
    assert times == [(3, list(range(12))), (9, list(range(6, 18)))]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        pytest.param(
            {**BATCH, "timestamp_offset": -7},
            "timestamp_offset is -7, but must be at least 0 and below buffer_size, 16",
            marks=pytest.mark.reference(
                "calculators/tensorflow/lapped_tensor_buffer_calculator_test.cc",
                "LappedTensorBufferCalculatorTest.NegativeTimestampOffsetFails",
            ),
        ),
        pytest.param(
            {**BATCH, "timestamp_offset": 16},
            "timestamp_offset is 16, but must be at least 0 and below buffer_size, 16",
            marks=pytest.mark.reference(
                "calculators/tensorflow/lapped_tensor_buffer_calculator_test.cc",
                "LappedTensorBufferCalculatorTest.OutOfRangeTimestampOffsetFails",
            ),
        ),
        ({}, "buffer_size is 0, but must be 1 to 100000"),
        ({"buffer_size": 100_001}, "buffer_size is 100001, but must be 1 to 100000"),
        ({"buffer_size": 2, "overlap": 2}, "overlap is 2, but must be below buffer_size, 2"),
        ({"buffer_size": 2, "overlap": -100_000}, "overlap is -100000, but must be at least -99998"),
        (
            {"buffer_size": 2, "padding": 2},
            "padding is 2, but must be at least 0 and below buffer_size, 2",
        ),
    ],
)
def test_numbers_out_of_their_range(options, words):
    with pytest.raises(GraphRunError, match=words):
        lapped(20, **options)


def test_side_packets_go_before_the_options():
    sides = {"BUFFER_SIZE": 2, "OVERLAP": 1, "TIMESTAMP_OFFSET": 1}

    (found,) = lapped(3, buffer_size=3, side_packets=sides)

    assert [(time, tensor.array.tolist()) for time, tensor in found] == [(1, [0, 1]), (2, [1, 2])]


def test_a_side_packet_may_have_all_options():
    options = LappedTensorBufferCalculatorOptions(buffer_size=2)

    (found,) = lapped(2, buffer_size=3, side_packets={"CALCULATOR_OPTIONS": options})

    assert [tensor.array.tolist() for _, tensor in found] == [[0, 1]]


def test_the_padded_output_at_the_end_has_the_time_of_the_tensor_that_the_offset_says():
    (found,) = lapped(5, buffer_size=4, overlap=3, padding=1, timestamp_offset=2)

    assert [(time, tensor.array.tolist()) for time, tensor in found] == [
        (1, [0, 0, 1, 2]), (2, [0, 1, 2, 3]), (3, [1, 2, 3, 4]), (4, [3, 4, 4, 4]),
    ]  # fmt: skip


def test_the_padded_output_at_the_end_is_left_out_where_its_time_has_passed():
    (found,) = lapped(2, buffer_size=3, overlap=2, padding=2, timestamp_offset=2)

    assert [(time, tensor.array.tolist()) for time, tensor in found] == [(0, [0, 0, 0]), (1, [0, 0, 1])]


@pytest.mark.parametrize(
    ("arrays", "words"),
    [
        (
            [np.float32(1)],
            "<Tensor float32 scalar>, but the buffer puts tensors together along their first dimension",
        ),
        (
            [np.zeros((1, 2), np.int8), np.zeros((1, 3), np.int8)],
            "but the tensor before was int8 1x2; in a buffer only",
        ),
        ([np.zeros(1, np.int8), np.zeros(1, np.int32)], "<Tensor int32 1>, but the tensor before was int8 1"),
    ],
)
def test_tensors_that_do_not_fit_together(arrays, words):
    with pytest.raises(GraphRunError, match=words):
        lapped(0, arrays=arrays, buffer_size=2)


def test_first_dimensions_may_differ():
    arrays = [np.array([1, 2], np.int8), np.array([3], np.int8)]

    (found,) = lapped(0, arrays=arrays, buffer_size=2)

    assert found[0][1].array.tolist() == [1, 2, 3]
