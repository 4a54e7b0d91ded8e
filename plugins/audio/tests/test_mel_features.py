"""MelSpectrumCalculator and MfccCalculator beside their definitions."""

from __future__ import annotations

import logging

import numpy as np
import pytest

from penstock.errors import GraphRunError
from penstock_audio.messages.mel_features_pb2 import MelSpectrumCalculatorOptions, MfccCalculatorOptions
from penstock_audio.spectra.mel_features import MelSpectrumCalculator, MfccCalculator
from penstock_formats import TimeSeriesHeader

BINS, RATE = 257, 16000.0


def header(bins=BINS, **fields):
    fields = {"sample_rate": 100, "num_channels": bins, "audio_sample_rate": RATE} | fields
    return TimeSeriesHeader(**{name: value for name, value in fields.items() if value is not None})


def mel_of(power, bands, low, high):
    """Return the bands, one frequency after the other, as the reference computes them."""

    def mel(f):
        return 1127 * np.log(1 + f / 700)

    width = RATE / (2 * (len(power) - 1))
    spacing = (mel(high) - mel(low)) / (bands + 1)
    made = np.zeros((bands, power.shape[1]))
    for i in range(int(1.5 + low / width), int(high / width) + 1):
        position = (mel(i * width) - mel(low)) / spacing - 1
        left = int(np.ceil(position)) - 1
        weight = 1 - (position - left)
        magnitude = np.sqrt(power[i].astype(float))
        if left >= 0:
            made[left] += weight * magnitude
        if left + 1 < bands:
            made[left + 1] += (1 - weight) * magnitude
    return made


@pytest.fixture
def power(noise):
    return noise(BINS, 5) ** 2


@pytest.mark.parametrize(("bands", "low", "high"), [(20, 125, 3800), (64, 125, 7500), (1, 0, 8000)])
def test_mel_bands_are_triangles_over_the_magnitudes(through, power, bands, low, high):
    made = through(
        MelSpectrumCalculator,
        [power[:, :2], power[:, 2:]],
        header=header(),
        stamps=[5, 9],
        options=MelSpectrumCalculatorOptions(
            channel_count=bands, min_frequency_hertz=low, max_frequency_hertz=high
        ),
    )

    assert made.joined == pytest.approx(mel_of(power, bands, low, high), rel=1e-5, abs=1e-6)
    assert made.stamps == [5, 9]
    assert made.header == header(bands)


def test_the_defaults_are_twenty_bands_from_125_to_3800_hz(through, power):
    made = through(MelSpectrumCalculator, [power], header=header())

    assert made.joined == pytest.approx(mel_of(power, 20, 125, 3800), rel=1e-5, abs=1e-6)


def cepstrum(logs, count):
    """Return the cosine transform by its definition."""
    bands = len(logs)
    return np.array(
        [
            np.sqrt(2 / bands) * sum(np.cos(np.pi * i * (j + 0.5) / bands) * logs[j] for j in range(bands))
            for i in range(count)
        ]
    )


def test_coefficients_are_the_cosine_transform_of_the_logarithms(through, power):
    made = through(MfccCalculator, [power], header=header())

    logs = np.log(mel_of(power, 20, 125, 3800))
    assert made.joined == pytest.approx(cepstrum(logs, 13), rel=1e-5, abs=1e-5)
    assert made.header == header(13)


def test_scipy_has_the_same_cosine_transform_but_for_the_first_factor(through, peer, power):
    fft = peer("scipy.fft")
    given = MfccCalculatorOptions(mfcc_count=20)

    made = through(MfccCalculator, [power], header=header(), options=given)

    expected = fft.dct(np.log(mel_of(power, 20, 125, 3800)), type=2, norm="ortho", axis=0)
    expected[0] *= np.sqrt(2)
    assert made.joined == pytest.approx(expected, rel=1e-5, abs=1e-5)


def test_silence_counts_as_a_magnitude_of_1e_minus_12(through):
    made = through(MfccCalculator, [np.zeros((BINS, 1))], header=header())

    assert made.joined[0, 0] == pytest.approx(np.sqrt(2 / 20) * 20 * np.log(1e-12), rel=1e-6)
    assert made.joined[1:] == pytest.approx(0, abs=1e-4)


def test_the_options_of_the_bands_are_those_of_the_coefficients_too(through, power):
    bands = MelSpectrumCalculatorOptions(channel_count=40, min_frequency_hertz=20, max_frequency_hertz=8000)

    made = through(
        MfccCalculator,
        [power],
        header=header(),
        options=MfccCalculatorOptions(mel_spectrum_params=bands, mfcc_count=7),
    )

    expected = cepstrum(np.log(np.maximum(mel_of(power, 40, 20, 8000), 1e-12)), 7)
    assert made.joined == pytest.approx(expected, rel=1e-4, abs=1e-4)


def test_the_log_tells_of_bands_between_two_frequencies(through, power, caplog):
    with caplog.at_level(logging.WARNING, "penstock"):
        through(
            MelSpectrumCalculator,
            [power],
            header=header(),
            options=MelSpectrumCalculatorOptions(channel_count=200),
        )

    (record,) = caplog.records
    assert "of 200 mel bands, from band 0 on, lie between two frequencies" in record.getMessage()
    assert record.node == "MelSpectrumCalculator"


@pytest.mark.parametrize(
    ("fields", "given", "words"),
    [
        (
            {"audio_sample_rate": None},
            {},
            "without audio_sample_rate, .* put a SpectrogramCalculator before it",
        ),
        ({}, {"channel_count": 0}, "channel_count is 0, but must be at least 1"),
        ({}, {"channel_count": 2**30}, "channel_count is 1073741824, but at most"),
        (
            {},
            {"channel_count": 2**20},
            "the product of 1048576 bands and 257 frequencies is .* at most 4194304",
        ),
        ({}, {"min_frequency_hertz": -1}, "min_frequency_hertz is -1.0 and .*; they must grow, from 0 on"),
        ({}, {"min_frequency_hertz": 3800}, "they must grow"),
        (
            {},
            {"max_frequency_hertz": 8100},
            "16000 samples a second has frequencies up to 8000; make it lower",
        ),
    ],
)
def test_bands_that_cannot_be_are_refused(through, power, fields, given, words):
    with pytest.raises(GraphRunError, match=words):
        through(
            MelSpectrumCalculator,
            [power],
            header=header(**fields),
            options=MelSpectrumCalculatorOptions(**given),
        )


def test_a_spectrum_of_one_row_has_no_bands(through):
    with pytest.raises(GraphRunError, match="a spectrum of 1 rows is too small for a mel filterbank"):
        through(MelSpectrumCalculator, [[[1]]], header=header(1))


@pytest.mark.parametrize("number", [-0.5, float("nan")])
def test_what_is_no_square_is_refused(through, power, number):
    power[3, 3] = number
    with pytest.raises(
        GraphRunError,
        match=f"{number} is no squared magnitude for mel features, which is at least 0; connect a Spec",
    ):
        through(MelSpectrumCalculator, [power], header=header())


@pytest.mark.parametrize(
    ("count", "words"), [(0, "mfcc_count is 0"), (21, "21, but must be at most channel_count")]
)
def test_there_are_at_most_as_many_coefficients_as_bands(through, power, count, words):
    with pytest.raises(GraphRunError, match=words):
        through(MfccCalculator, [power], header=header(), options=MfccCalculatorOptions(mfcc_count=count))


@pytest.mark.reference(
    "calculators/audio/mfcc_mel_calculators_test.cc",
    "MfccCalculatorTest.AudioSampleRateFromInputHeader",
    "MfccCalculatorTest.NoAudioSampleRate",
    "MelSpectrumCalculatorTest.AudioSampleRateFromInputHeader",
    "MelSpectrumCalculatorTest.NoAudioSampleRate",
)
@pytest.mark.parametrize(("calculator", "rows"), [(MfccCalculator, 13), (MelSpectrumCalculator, 20)])
def test_features_of_a_series_of_spectra_need_the_rate_of_the_sound(through, calculator, rows):
    blocks = np.square(np.random.default_rng(2).uniform(-1, 1, (5, 129, 20)))
    stamps = [i * 200_000 for i in range(5)]

    made = through(calculator, blocks, stamps=stamps, header=header(129, audio_sample_rate=8800))

    assert made.header == header(rows, audio_sample_rate=8800)
    assert made.stamps == stamps
    assert all(array.shape == (rows, 20) and np.square(array).sum() > 0 for array in made.arrays)
    with pytest.raises(GraphRunError, match="without audio_sample_rate"):
        through(calculator, blocks, stamps=stamps, header=header(129, audio_sample_rate=None))
