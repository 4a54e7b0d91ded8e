"""StabilizedLog, TwoTapFirFilter, AddAudioHeader and Energy."""

from __future__ import annotations

import numpy as np
import pytest

from penstock.errors import GraphRunError, OptionError, StatusCode
from penstock_audio.messages.add_audio_header_pb2 import AddAudioHeaderCalculatorOptions
from penstock_audio.messages.stabilized_log_pb2 import StabilizedLogCalculatorOptions
from penstock_audio.messages.two_tap_fir_filter_pb2 import TwoTapFirFilterCalculatorOptions
from penstock_audio.series.add_audio_header import AddAudioHeaderCalculator
from penstock_audio.series.energy import EnergyCalculator, EnergyCalculatorOptions, EnergyScale
from penstock_audio.series.stabilized_log import StabilizedLogCalculator
from penstock_audio.series.two_tap_fir_filter import TwoTapFirFilterCalculator
from penstock_formats import TimeSeriesHeader

# --- the logarithm ----------------------------------------------------------------------------


def test_a_logarithm_of_each_number(through, noise):
    numbers = np.abs(noise(3, 4))

    made = through(
        StabilizedLogCalculator,
        [numbers],
        stamps=[9],
        options=StabilizedLogCalculatorOptions(stabilizer=0.5, output_scale=2),
    )

    assert made.joined == pytest.approx(2 * np.log(numbers + 0.5), rel=1e-6)
    assert (made.stamps, made.joined.dtype) == ([9], np.float32)
    assert made.header == TimeSeriesHeader(sample_rate=1000, num_channels=3)


def test_by_default_silence_has_the_logarithm_of_1e_minus_5(through):
    made = through(StabilizedLogCalculator, [[[0]]], header=False)

    assert made.joined.item() == pytest.approx(np.log(1e-5), rel=1e-6)
    assert made.header is None


def test_without_a_stabilizer_silence_is_minus_infinity(through):
    made = through(StabilizedLogCalculator, [[[0]]], options=StabilizedLogCalculatorOptions(stabilizer=0))

    assert np.isneginf(made.joined.item())


def test_numbers_below_zero_are_refused_or_become_nan(through):
    with pytest.raises(
        GraphRunError, match=r"-3\.0 is below 0 and has no stabilized logarithm; square it before"
    ) as caught:
        through(StabilizedLogCalculator, [[[1, -3, -2]]])
    assert caught.value.errors[0].code is StatusCode.OUT_OF_RANGE

    made = through(
        StabilizedLogCalculator,
        [[[1, -3]]],
        options=StabilizedLogCalculatorOptions(check_nonnegativity=False),
    )
    assert np.isnan(made.joined).tolist() == [[False, True]]


def test_what_has_no_logarithm_is_refused(through):
    with pytest.raises(GraphRunError, match="NaN has no stabilized logarithm; correct what is written"):
        through(StabilizedLogCalculator, [[[1, np.nan]]])
    with pytest.raises(GraphRunError, match=r"stabilizer is -1.0, but must be at least 0"):
        through(StabilizedLogCalculator, [[[1]]], options=StabilizedLogCalculatorOptions(stabilizer=-1))


#: The header of the reference's tests of the logarithm.
TEN = TimeSeriesHeader(sample_rate=8000, num_channels=3, num_samples=10)


@pytest.mark.reference(
    "calculators/audio/stabilized_log_calculator_test.cc",
    "StabilizedLogCalculatorTest.BasicOperation",
    "StabilizedLogCalculatorTest.OutputScaleWorks",
    "StabilizedLogCalculatorTest.ZerosAreStabilized",
)
@pytest.mark.parametrize(("scale", "level"), [(1.0, 1), (2.5, 1), (1.0, 0)])
def test_each_packet_of_a_series_becomes_its_logarithms(through, scale, level):
    blocks = level * np.random.default_rng(5).uniform(0, 1, (5, 3, 10)).astype(np.float32)

    made = through(
        StabilizedLogCalculator,
        blocks,
        stamps=[i * 1_000_000 for i in range(5)],
        header=TEN,
        options=StabilizedLogCalculatorOptions(stabilizer=0.1, output_scale=scale),
    )

    assert made.header == TEN
    for matrix, block in zip(made.arrays, blocks, strict=True):
        expected = scale * np.log(block + 0.1)
        assert np.linalg.norm(matrix - expected) <= 1e-6 * np.linalg.norm(expected)


@pytest.mark.reference(
    "calculators/audio/stabilized_log_calculator_test.cc",
    "StabilizedLogCalculatorTest.NanValuesReturnError",
    "StabilizedLogCalculatorTest.NegativeValuesReturnError",
    "StabilizedLogCalculatorTest.NegativeValuesDoNotCheckFailIfCheckIsOff",
)
@pytest.mark.parametrize(
    ("number", "options", "words"),
    [
        (np.nan, {}, "NaN has no stabilized log"),
        (-1, {}, "below 0"),
        (-1, {"check_nonnegativity": False}, None),
    ],
)
def test_a_packet_that_has_no_logarithm_ends_the_run_if_it_is_looked_at(through, number, options, words):
    def run():
        return through(
            StabilizedLogCalculator,
            [np.full((3, 10), number)],
            header=TEN,
            options=StabilizedLogCalculatorOptions(stabilizer=0.1, **options),
        )

    if words is None:
        assert np.isnan(run().joined).all()
    else:
        with pytest.raises(GraphRunError, match=words):
            run()


# --- the filter -------------------------------------------------------------------------------


@pytest.mark.parametrize("pieces", [(), (1, 1, 2, 9)])
def test_each_sample_gets_the_one_before_it_over_packets_too(through, noise, cut, pieces):
    samples = noise(2, 20)

    made = through(
        TwoTapFirFilterCalculator,
        cut(samples, *pieces),
        tags=("INPUT", "OUTPUT"),
        stamps=range(9),
        options=TwoTapFirFilterCalculatorOptions(gain_now=2, gain_prev=-0.97),
    )

    expected = [np.convolve(row, [2, -0.97])[:20] for row in samples]
    assert made.joined == pytest.approx(np.array(expected), abs=1e-6)
    assert made.header == TimeSeriesHeader(sample_rate=1000, num_channels=2)


@pytest.mark.reference(
    "calculators/audio/two_tap_fir_filter_calculator_test.cc",
    "TwoTapFirFilterCalculatorTest.ShoudldKeepImpulse",
    "TwoTapFirFilterCalculatorTest.ShoudldDelayImpulseByOneSample",
)
@pytest.mark.parametrize(("gains", "place"), [((1, 0), 0), ((0, 1), 1)])
def test_an_impulse_stays_or_comes_a_sample_later(through, gains, place):
    impulse = np.zeros((2, 128))
    impulse[:, 0] = 1

    made = through(
        TwoTapFirFilterCalculator,
        [impulse],
        48000.0,
        tags=("INPUT", "OUTPUT"),
        options=TwoTapFirFilterCalculatorOptions(gain_now=gains[0], gain_prev=gains[1]),
    )

    (matrix,) = made.arrays
    assert matrix.shape == (2, 128)
    assert np.array_equal(matrix, np.roll(impulse, place, axis=1))


# --- the header -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "rate", "channels"),
    [({}, 48000, 1), ({"sample_rate": 16000}, 16000, 1), ({"num_channels": 5}, 48000, 5)],
)
def test_a_header_is_put_on_the_same_packets(through, noise, given, rate, channels):
    samples = noise(1, 3)

    made = through(
        AddAudioHeaderCalculator,
        [samples],
        header=False,
        stamps=[8],
        options=AddAudioHeaderCalculatorOptions(**given),
    )

    assert np.array_equal(made.joined, samples)
    assert made.stamps == [8]
    assert made.header == TimeSeriesHeader(sample_rate=rate, num_channels=channels)


@pytest.mark.reference(
    "calculators/audio/add_audio_header_calculator_test.cc",
    "AddAudioHeaderCalculatorTest.AddsHeaderWithOptions",
    "AddAudioHeaderCalculatorTest.AddsHeaderWithDefaults",
)
@pytest.mark.parametrize(
    ("given", "shape", "rate"),
    [({"sample_rate": 16000, "num_channels": 2}, (2, 160), 16000), ({}, (1, 480), 48000)],
)
def test_the_header_fits_to_the_samples_of_the_reference(through, noise, given, shape, rate):
    samples = noise(*shape)

    made = through(
        AddAudioHeaderCalculator, [samples], header=False, options=AddAudioHeaderCalculatorOptions(**given)
    )

    (matrix,) = made.arrays
    assert np.array_equal(matrix, samples)
    assert made.header == TimeSeriesHeader(sample_rate=rate, num_channels=shape[0])


@pytest.mark.parametrize("given", [{"sample_rate": -1}, {"num_channels": -1}, {"sample_rate": float("nan")}])
def test_a_header_below_zero_is_refused(through, given):
    with pytest.raises(
        GraphRunError, match=r"sample_rate is .* and num_channels is .*; both must be at least 0"
    ):
        through(AddAudioHeaderCalculator, [[[1]]], options=AddAudioHeaderCalculatorOptions(**given))


# --- energy -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("scale", "expected"),
    [
        (EnergyScale.MEAN_SQUARE, [[0.5], [1], [0]]),
        (EnergyScale.RMS, [[0.5**0.5], [1], [0]]),
        (EnergyScale.DECIBELS, [[-3.0103], [0], [-90]]),
    ],
)
def test_how_loud_a_packet_is(through, scale, expected):
    sine = np.sin(2 * np.pi * np.arange(100) / 20)
    header = TimeSeriesHeader(sample_rate=1000, num_channels=3, num_samples=100, packet_rate=10)

    made = through(
        EnergyCalculator,
        [np.stack([sine, np.sign(sine + 0.001), np.full(100, 1e-9)])],
        header=header,
        options=EnergyCalculatorOptions(scale=scale, floor_db=-90),
    )

    assert made.joined == pytest.approx(np.array(expected), abs=1e-4)
    assert made.header == TimeSeriesHeader(sample_rate=10, num_channels=3, num_samples=1, packet_rate=10)


def test_a_floor_that_is_no_number_is_refused():
    with pytest.raises((OptionError, ValueError), match="floor_db is -inf, but must be from"):
        EnergyCalculatorOptions(floor_db=float("-inf"))
