"""MatrixToTensorCalculator and TensorToMatrixCalculator."""

from __future__ import annotations

import numpy as np
import pytest

from penstock.errors import GraphRunError
from penstock_formats import Matrix, Tensor, TimeSeriesHeader
from penstock_tensors.conversions.matrix_to_tensor import MatrixToTensorCalculator
from penstock_tensors.conversions.tensor_to_matrix import TensorToMatrixCalculator
from penstock_tensors.messages.matrix_to_tensor_pb2 import MatrixToTensorCalculatorOptions
from penstock_tensors.messages.tensor_to_matrix_pb2 import TensorToMatrixCalculatorOptions
from penstock_testing import run_calculator

TIME = 1234
SIZES = [(1, 1), (12, 1), (1, 9), (2, 2), (5, 3), (7, 13), (16, 32), (101, 2)]


# --- matrices become tensors --------------------------------------------------------------------------


def tensor_of(matrix, header=None, **options):
    run = run_calculator(
        MatrixToTensorCalculator,
        {0: [(0, Matrix(matrix))]},
        outputs=[0],
        options=MatrixToTensorCalculatorOptions(**options),
        headers=None if header is None else {0: header},
    )
    (packet,) = run.outputs[0]
    assert (packet.timestamp, packet.payload.element_type) == (0, "float32")
    return packet.payload, run.headers[0]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize(
    ("options", "expected"),
    [
        pytest.param(
            {},
            lambda matrix: matrix,
            marks=pytest.mark.reference(
                "calculators/tensorflow/matrix_to_tensor_calculator_test.cc",
                "MatrixToTensorCalculatorTest.RandomMatrix",
            ),
        ),
        pytest.param(
            {"transpose": True},
            lambda matrix: matrix.T,
            marks=pytest.mark.reference(
                "calculators/tensorflow/matrix_to_tensor_calculator_test.cc",
                "MatrixToTensorCalculatorTest.RandomMatrixTranspose",
            ),
        ),
        pytest.param(
            {"add_trailing_dimension": True},
            lambda matrix: matrix[:, :, None],
            marks=pytest.mark.reference(
                "calculators/tensorflow/matrix_to_tensor_calculator_test.cc",
                "MatrixToTensorCalculatorTest.RandomMatrixAddDimension",
            ),
        ),
    ],
)
def test_random_matrices_become_tensors(size, options, expected):
    matrix = np.random.default_rng(1234).uniform(0, 1, size).astype(np.float32)

    tensor, _ = tensor_of(matrix, **options)

    assert tensor.shape == expected(matrix).shape
    assert np.array_equal(tensor.array, expected(matrix))


@pytest.mark.parametrize(
    ("header", "stays"),
    [
        (TimeSeriesHeader(sample_rate=16, num_channels=2), True),
        (TimeSeriesHeader(sample_rate=16), False),
        (TimeSeriesHeader(sample_rate=-1, num_channels=2), False),
        ("another", False),
    ],
)
def test_the_header_of_a_series_is_forwarded(header, stays):
    assert tensor_of(np.ones((2, 2), np.float32), header)[1] == (header if stays else None)


# --- tensors become matrices --------------------------------------------------------------------------


def matrix_of(array, *, reference=None, packets=(), **options):
    inputs = {"TENSOR": [] if array is None else [(TIME, Tensor(array))]}
    if reference is not None:
        inputs["REFERENCE"] = list(packets)
    run = run_calculator(
        TensorToMatrixCalculator,
        inputs,
        outputs=["MATRIX"],
        options=TensorToMatrixCalculatorOptions(**options),
        headers=None if reference is None else {"REFERENCE": reference},
    )
    (packet,) = run.outputs["MATRIX"]
    assert packet.timestamp == TIME
    return packet.payload.array, run.headers["MATRIX"]


def powers(*shape) -> np.ndarray:
    return np.array([1 << i for i in range(int(np.prod(shape)))], np.float32).reshape(shape)


@pytest.mark.parametrize(
    ("array", "expected"),
    [
        pytest.param(
            powers(5),
            [[1], [2], [4], [8], [16]],
            marks=pytest.mark.reference(
                "calculators/tensorflow/tensor_to_matrix_calculator_test.cc",
                "TensorToMatrixCalculatorTest.Converts1DTensorToMatrix",
            ),
        ),
        pytest.param(
            powers(1, 4),
            [[1], [2], [4], [8]],
            marks=pytest.mark.reference(
                "calculators/tensorflow/tensor_to_matrix_calculator_test.cc",
                "TensorToMatrixCalculatorTest.Converts2DTensorofWidthOneToMatrix",
            ),
        ),
        pytest.param(
            np.array([[i * j for j in range(4)] for i in range(3)], np.float32),
            [[i * j for j in range(3)] for i in range(4)],
            marks=pytest.mark.reference(
                "calculators/tensorflow/tensor_to_matrix_calculator_test.cc",
                "TensorToMatrixCalculatorTest.Converts2DTensorToMatrix",
            ),
        ),
    ],
)
def test_rows_of_a_tensor_become_columns(array, expected):
    matrix, header = matrix_of(array)

    assert matrix.tolist() == expected
    assert header is None


@pytest.mark.parametrize(
    ("channels", "options"),
    [
        pytest.param(
            5,
            {},
            marks=pytest.mark.reference(
                "calculators/tensorflow/tensor_to_matrix_calculator_test.cc",
                "TensorToMatrixCalculatorTest.ConvertsWithReferenceTimeSeriesHeader",
            ),
        ),
        pytest.param(
            7,
            {"time_series_header_overrides": {"num_channels": 5}},
            marks=pytest.mark.reference(
                "calculators/tensorflow/tensor_to_matrix_calculator_test.cc",
                "TensorToMatrixCalculatorTest.TimeSeriesOverridesWork",
            ),
        ),
    ],
)
def test_the_header_comes_from_the_reference_and_the_options(channels, options):
    reference = TimeSeriesHeader(sample_rate=1, num_channels=channels, num_samples=1, packet_rate=1)

    matrix, header = matrix_of(powers(5), reference=reference, **options)

    assert matrix.tolist() == [[1], [2], [4], [8], [16]]
    assert header.num_channels == 5


def test_the_packet_rate_becomes_the_sample_rate():
    reference = TimeSeriesHeader(sample_rate=1, num_channels=5, num_samples=1, packet_rate=25)

    _, header = matrix_of(powers(5), reference=reference, time_series_header_overrides={"num_samples": 1})

    assert header.sample_rate == 25


def test_a_given_sample_rate_stays():
    overrides = {"sample_rate": 8, "num_samples": 2, "packet_rate": 4, "num_channels": 2}

    _, header = matrix_of(powers(2, 2), time_series_header_overrides=overrides)

    assert header == TimeSeriesHeader(**overrides)


def test_a_header_without_channels_does_not_count():
    _, header = matrix_of(
        powers(5),
        reference=TimeSeriesHeader(sample_rate=1),
        time_series_header_overrides={"num_channels": 5, "packet_rate": 1, "num_samples": 1},
    )

    assert header is None


SERIES = TimeSeriesHeader(sample_rate=1, num_channels=5, num_samples=1)


@pytest.mark.parametrize(
    ("array", "reference", "options", "words"),
    [
        (powers(4), SERIES, {}, "becomes a matrix of 4x1, but the header of the series says num_channels 5"),
        (
            powers(2, 5),
            SERIES,
            {},
            "becomes a matrix of 5x2, but the header of the series says num_samples 1",
        ),
        (
            powers(1, 1, 1),
            None,
            {},
            "holds <Tensor float32 1x1x1>, but a matrix is made of a tensor of float32 of one",
        ),
        (np.zeros(2, np.int32), None, {}, "holds <Tensor int32 2>, but"),
        (
            powers(5),
            SERIES,
            {"num_samples": 1},
            "its series needs a packet_rate; set it in time_series_header_overrides",
        ),
        (powers(5), SERIES, {"num_samples": 2, "packet_rate": 1}, "has 2 samples in each packet, but"),
    ],
)
def test_what_does_not_fit(array, reference, options, words):
    given = {"time_series_header_overrides": options} if options else {}

    with pytest.raises(GraphRunError, match=words):
        matrix_of(array, reference=reference, **given)


def test_a_reference_without_a_tensor():
    with pytest.raises(GraphRunError, match="has no packet where REFERENCE has one, but needs one at each"):
        matrix_of(powers(5), reference=SERIES, packets=[(3, Matrix(np.ones((5, 1), np.float32)))])
