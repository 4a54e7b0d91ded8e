"""The calculators of one line: their numbers, their headers, and what they refuse."""

from __future__ import annotations

import numpy as np
import pytest

from penstock.errors import GraphRunError
from penstock_audio.series import basic_time_series
from penstock_formats import TimeSeriesHeader

BLOCK = [[1.0, -2.0, 3.0, 5.0], [2.0, 0.0, -4.0, 8.0]]
ROOT = np.sqrt
#: Calculator → rows that it makes of BLOCK, worked out by hand; what it changes in the header.
MADE = {
    "SumTimeSeriesAcrossChannels": ([[3, -2, -1, 13]], {"num_channels": 1}),
    "AverageTimeSeriesAcrossChannels": ([[1.5, -1, -0.5, 6.5]], {"num_channels": 1}),
    "ReverseChannelOrder": ([BLOCK[1], BLOCK[0]], {}),
    "FlattenPacket": (
        [[1], [2], [-2], [0], [3], [-4], [5], [8]],
        {"num_channels": 8, "num_samples": 1, "sample_rate": 25},
    ),
    "SubtractMean": ([[-0.75, -3.75, 1.25, 3.25], [0.5, -1.5, -5.5, 6.5]], {}),
    "SubtractMeanAcrossChannels": ((np.array(BLOCK) - 13 / 8).tolist(), {}),
    "DivideByMeanAcrossChannels": ((np.array(BLOCK) * 8 / 13).tolist(), {}),
    "Mean": ([[1.75], [1.5]], {"num_samples": 1, "sample_rate": 25}),
    "StandardDeviation": (
        [
            [ROOT((0.75**2 + 3.75**2 + 1.25**2 + 3.25**2) / 4)],
            [ROOT((0.5**2 + 1.5**2 + 5.5**2 + 6.5**2) / 4)],
        ],
        {"num_samples": 1, "sample_rate": 25},
    ),
    "Covariance": (
        [
            [(0.75**2 + 3.75**2 + 1.25**2 + 3.25**2) / 4, (-0.375 + 5.625 - 6.875 + 21.125) / 4],
            [(-0.375 + 5.625 - 6.875 + 21.125) / 4, (0.5**2 + 1.5**2 + 5.5**2 + 6.5**2) / 4],
        ],
        {"num_samples": 2},
    ),
    "L2Norm": ([[ROOT(5), 2, 5, ROOT(89)]], {"num_channels": 1}),
    "L2NormalizeColumn": (
        [[1 / ROOT(5), -1, 0.6, 5 / ROOT(89)], [2 / ROOT(5), 0, -0.8, 8 / ROOT(89)]],
        {},
    ),
    "L2Normalize": ((np.array(BLOCK) / ROOT(123 / 8)).tolist(), {}),
    "PeakNormalize": ((np.array(BLOCK) / 8).tolist(), {}),
    "ElementwiseSquare": ([[1, 4, 9, 25], [4, 0, 16, 64]], {}),
    "FirstHalfSlicer": ([[1, -2], [2, 0]], {"num_samples": 2}),
}
HEADER = {
    "sample_rate": 100,
    "num_channels": 2,
    "num_samples": 4,
    "packet_rate": 25,
    "audio_sample_rate": 8000,
}
ALL = [*MADE, "SummarySaiToPitchogram"]


def find(name):
    return getattr(basic_time_series, f"{name}Calculator")


def test_all_of_them_are_tried_here():
    there = {
        name.removesuffix("Calculator") for name in vars(basic_time_series) if name.endswith("Calculator")
    }

    assert there == set(ALL)


@pytest.mark.parametrize("name", MADE)
def test_what_becomes_of_a_packet(through, name):
    rows, changed = MADE[name]

    made = through(find(name), [BLOCK], header=TimeSeriesHeader(**HEADER), stamps=[77])

    (matrix,) = made.arrays
    assert matrix == pytest.approx(np.array(rows), rel=1e-6, abs=1e-6)
    assert (matrix.dtype, made.stamps) == (np.float32, [77])
    assert made.header == TimeSeriesHeader(**(HEADER | changed))


def test_a_summary_becomes_one_sample(through):
    header = HEADER | {"num_channels": 1}

    made = through(find("SummarySaiToPitchogram"), [[[1, 2, 3, 4]]], header=TimeSeriesHeader(**header))

    assert made.arrays[0].tolist() == [[1], [2], [3], [4]]
    assert made.header == TimeSeriesHeader(
        **(HEADER | {"num_channels": 4, "num_samples": 1, "sample_rate": 25})
    )
    with pytest.raises(
        GraphRunError, match="'in_0' has 2 channels, but SummarySaiToPitchogramCalculator takes one;"
    ):
        through(find("SummarySaiToPitchogram"), [BLOCK], header=TimeSeriesHeader(**HEADER))


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("DivideByMeanAcrossChannels", 1),
        ("L2NormalizeColumn", 0),
        ("L2Normalize", 0),
        ("PeakNormalize", 0),
        ("StandardDeviation", 0),
    ],
)
def test_silence_is_no_division_by_zero(through, name, expected):
    made = through(find(name), [np.zeros((2, 3))])

    assert (made.arrays[0] == expected).all()


@pytest.mark.parametrize("name", ["L2Normalize", "PeakNormalize"])
@pytest.mark.parametrize(("level", "is_raised"), [(0.9e-8, False), (1.1e-8, True)])
def test_what_is_too_quiet_stays_as_it_is(through, name, level, is_raised):
    made = through(find(name), [np.full((1, 3), level)])

    assert made.arrays[0] == pytest.approx(1 if is_raised else level, rel=1e-6)


@pytest.mark.parametrize("name", ALL)
def test_a_packet_of_another_shape_or_without_elements_is_refused(through, name):
    header = TimeSeriesHeader(sample_rate=1, num_channels=1, num_samples=3)
    with pytest.raises(
        GraphRunError, match="a matrix of 1x2 has 2 columns, but the time series header says num_samples 3"
    ):
        through(find(name), [[[1, 2]]], header=header)
    with pytest.raises(
        GraphRunError, match="a matrix of 2x3 has 2 rows, but the time series header says num_channels 1"
    ):
        through(find(name), [np.zeros((2, 3))], header=header)
    with pytest.raises(GraphRunError, match="a matrix of 1x0, which has no elements; leave out such packets"):
        through(find(name), [np.zeros((1, 0))])
    with pytest.raises(GraphRunError, match="has no header"):
        through(find(name), [[[1, 2]]], header=False)


#: One channel of noise, and the channels of two samples.
MONO = np.random.default_rng(3).uniform(-1, 1, (1, 5))
FIVES = np.array([[1, 2, 3, 4, 5], [-1, -2, -3, -4, -5]]).T
SIXES = np.array([[1, 2, 3], [4, 5, 6]]).T
SHARES = np.array([[0.3, 0.4, 0.8], [0.5, 0.9, 0.8]])
PAIRS = np.array([[3, 5, 8], [4, 12, -15]])
SUMMED = np.array([[10, -1, -1, 0, 0], [20, -2, 0, 1, 0], [30, -3, 1, 0, 12]])
COUNTED = np.array([[0, 1, 2, 3, 4], [5, 6, 7, 8, 9]]).T
SIGNS = np.array([1, -1] * 7 + [1]).reshape(3, 5)


def sent(packet):
    """Return a packet, its double, and one with 3.5 more everywhere."""
    return [packet, 2 * packet, packet + 3.5]


@pytest.mark.reference(
    "calculators/audio/basic_time_series_calculators_test.cc",
    "SumTimeSeriesAcrossChannelsCalculatorTest.IsNoOpOnSingleChannelInputs",
    "SumTimeSeriesAcrossChannelsCalculatorTest.ConstantPacket",
    "SumTimeSeriesAcrossChannelsCalculatorTest.MultiplePackets",
    "AverageTimeSeriesAcrossChannelsCalculatorTest.IsNoOpOnSingleChannelInputs",
    "AverageTimeSeriesAcrossChannelsCalculatorTest.ConstantPacket",
    "SummarySaiToPitchogramCalculatorTest.SinglePacket",
    "ReverseChannelOrderCalculatorTest.IsNoOpOnSingleChannelInputs",
    "ReverseChannelOrderCalculatorTest.SinglePacket",
    "FlattenPacketCalculatorTest.SinglePacket",
    "SubtractMeanCalculatorTest.SinglePacket",
    "SubtractMeanAcrossChannelsCalculatorTest.SinglePacket",
    "DivideByMeanAcrossChannelsCalculatorTest.SinglePacket",
    "DivideByMeanAcrossChannelsCalculatorTest.ReturnsOneForZeroMean",
    "MeanCalculatorTest.SinglePacket",
    "StandardDeviationCalculatorTest.SinglePacket",
    "CovarianceCalculatorTest.SinglePacket",
    "L2NormCalculatorTest.SinglePacket",
    "L2NormalizeColumnCalculatorTest.SinglePacket",
    "L2NormalizeCalculatorTest.SinglePacket",
    "L2NormalizeCalculatorTest.UnitMatrixStaysUnchanged",
    "PeakNormalizeCalculatorTest.SinglePacket",
    "PeakNormalizeCalculatorTest.UnitMatrixStaysUnchanged",
    "ElementwiseSquareCalculatorTest.SinglePacket",
    "FirstHalfSlicerCalculatorTest.SinglePacketEvenNumSamples",
    "FirstHalfSlicerCalculatorTest.SinglePacketOddNumSamples",
    "FirstHalfSlicerCalculatorTest.MultiplePackets",
)
@pytest.mark.parametrize(
    ("name", "rates", "blocks", "expected"),
    [
        ("SumTimeSeriesAcrossChannels", (8000, None, 8000), [MONO], [MONO]),
        ("SumTimeSeriesAcrossChannels", (8000, None, 8000), [np.ones((3, 5))], [np.full((1, 5), 3)]),
        (
            "SumTimeSeriesAcrossChannels",
            (8000, None, 8000),
            sent(SUMMED),
            [[[60, -6, 0, 1, 12]], [[120, -12, 0, 2, 24]], [[70.5, 4.5, 10.5, 11.5, 22.5]]],
        ),
        ("AverageTimeSeriesAcrossChannels", (8000, None, 8000), [MONO], [MONO]),
        (
            "AverageTimeSeriesAcrossChannels",
            (8000, None, 8000),
            [np.eye(3)[:, :1].repeat(5, axis=1)],
            [np.full((1, 5), 1 / 3)],
        ),
        ("SummarySaiToPitchogram", (8000, 5, 5), [[[3, -9, 4]]], [[[3], [-9], [4]]]),
        ("ReverseChannelOrder", (8000, None, 8000), [MONO], [MONO]),
        (
            "ReverseChannelOrder",
            (8000, None, 8000),
            [FIVES],
            [np.array([[5, 4, 3, 2, 1], [-5, -4, -3, -2, -1]]).T],
        ),
        ("FlattenPacket", (20, 10, 10), [FIVES], [[[1], [2], [3], [4], [5], [-1], [-2], [-3], [-4], [-5]]]),
        (
            "SubtractMean",
            (20, 10, 20),
            [np.array([[1, 0, 3, 0, 1], [-1, -2, -3, 4, 7]]).T],
            [np.array([[1, 1, 3, -2, -3], [-1, -1, -3, 2, 3]]).T],
        ),
        ("SubtractMeanAcrossChannels", (20, 10, 20), [SIXES], [SIXES - 3.5]),
        ("DivideByMeanAcrossChannels", (20, 10, 20), [SIXES], [SIXES / 3.5]),
        (
            "DivideByMeanAcrossChannels",
            (20, 10, 20),
            [np.array([[-3, -2, -1], [1, 2, 3]]).T],
            [np.ones((3, 2))],
        ),
        ("Mean", (20, 10, 10), [SIXES], [[[2.5], [3.5], [4.5]]]),
        ("StandardDeviation", (20, 10, 10), [np.array([[0, 2, 3], [4, 5, 8]]).T], [[[2], [1.5], [2.5]]]),
        ("Covariance", (20, 10, 20), [[[1, 3], [5, 9], [-1, -3]]], [[[1, 2, -1], [2, 4, -2], [-1, -2, 1]]]),
        ("L2Norm", (8000, 5, 8000), [PAIRS], [[[5, 13, 17]]]),
        (
            "L2NormalizeColumn",
            (8000, 5, 8000),
            [SHARES],
            [[[0.51449579, 0.40613848, 0.70710677], [0.85749292, 0.91381156, 0.70710677]]],
        ),
        (
            "L2Normalize",
            (8000, 5, 8000),
            [SHARES],
            [[[0.45661166, 0.60881555, 1.21763109], [0.76101943, 1.36983498, 1.21763109]]],
        ),
        ("L2Normalize", (8000, 5, 8000), [SIGNS], [SIGNS]),
        (
            "PeakNormalize",
            (8000, 5, 8000),
            [SHARES],
            [[[0.33333333, 0.44444444, 0.88888889], [0.55555556, 1, 0.88888889]]],
        ),
        ("PeakNormalize", (8000, 5, 8000), [SIGNS], [SIGNS]),
        ("ElementwiseSquare", (8000, 5, 8000), [PAIRS], [[[9, 25, 64], [16, 144, 225]]]),
        ("FirstHalfSlicer", (20, 10, 20), [COUNTED], [COUNTED[:, :1]]),
        ("FirstHalfSlicer", (20, 10, 20), [np.pad(COUNTED, ((0, 0), (0, 1)))], [COUNTED[:, :1]]),
        ("FirstHalfSlicer", (20, 10, 20), sent(COUNTED), sent(COUNTED[:, :1])),
    ],
)
def test_the_numbers_are_those_of_the_reference(through, name, rates, blocks, expected):
    rate, packet_rate, rate_after = rates
    fields = {"packet_rate": packet_rate} if packet_rate else {}
    channels, samples = np.shape(blocks[0])
    stamps = [i * 1_000_000 for i in range(len(blocks))]

    made = through(
        find(name),
        blocks,
        header=TimeSeriesHeader(sample_rate=rate, **fields, num_channels=channels, num_samples=samples),
        stamps=stamps,
    )

    assert made.stamps == stamps
    for matrix, wanted in zip(made.arrays, expected, strict=True):
        assert matrix.shape == np.shape(wanted)
        assert np.linalg.norm(matrix - wanted) <= 1e-6 * np.linalg.norm(wanted)
    channels, samples = np.shape(expected[0])
    assert made.header == TimeSeriesHeader(
        sample_rate=rate_after, **fields, num_channels=channels, num_samples=samples
    )
