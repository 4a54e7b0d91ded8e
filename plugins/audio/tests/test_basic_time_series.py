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
    with pytest.raises(GraphRunError, match="'in_0' has 2 channels, but one is needed; put a Sum"):
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
        GraphRunError, match="a matrix of 1x2 has 2 columns, but the header says num_samples 3"
    ):
        through(find(name), [[[1, 2]]], header=header)
    with pytest.raises(GraphRunError, match="a matrix of 2x3 has 2 rows, but the header says num_channels 1"):
        through(find(name), [np.zeros((2, 3))], header=header)
    with pytest.raises(GraphRunError, match="a matrix of 1x0 has no elements; leave out such packets"):
        through(find(name), [np.zeros((1, 0))])
    with pytest.raises(GraphRunError, match="has no header"):
        through(find(name), [[[1, 2]]], header=False)
