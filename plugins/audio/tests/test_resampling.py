"""Resampling beside the reference's numbers, SciPy's and libsoxr's, and in pieces."""

from __future__ import annotations

import logging
import sys

import numpy as np
import pytest

from penstock.errors import GraphConfigError, GraphRunError, InvalidArgumentError
from penstock_audio.messages.resample_pb2 import (
    RationalFactorResampleCalculatorOptions as RationalOptions,
)
from penstock_audio.messages.resample_pb2 import (
    ResampleTimeSeriesCalculatorOptions as SeriesOptions,
)
from penstock_audio.series.resample import RationalFactorResampleCalculator, ResampleTimeSeriesCalculator
from penstock_audio.series.resampler import Kernel, RationalResampler
from penstock_formats import TimeSeriesHeader

#: (source, target) → numbers that MediaPipe 0.10.21 (AudioToTensorCalculator) made of `ramp`, by place.
REFERENCE = {
    (44100, 16000): {
        0: -0.4842869,
        1: -0.3079844,
        2: 0.05449183,
        17: 0.4918248,
        50: 0.7124448,
        101: -0.1102088,
        159: -0.1848513,
        162: -0.01660607,
    },
    (48000, 16000): {
        0: -0.4643936,
        1: -0.2734252,
        2: 0.05583295,
        17: -0.2385412,
        50: 0.1398158,
        101: -0.3708825,
        146: -0.06644029,
        149: -0.01579216,
    },
    (16000, 48000): {
        0: -0.9884823,
        1: -1.082082,
        2: -0.9121124,
        17: -0.2495002,
        50: -0.5038512,
        101: 0.4880313,
        1322: -0.3999884,
        1325: 0.1255492,
    },
    (8000, 44100): {
        0: -0.9884823,
        1: -1.070782,
        2: -1.077746,
        17: -0.73286,
        50: -0.7713161,
        101: 0.6308685,
        2430: -0.2631654,
        2433: 0.1005201,
    },
    (44100, 48001): {
        0: -0.9884823,
        1: -0.639435,
        2: 0.09486636,
        17: 0.2439062,
        50: 0.5466338,
        101: -0.01844472,
        479: -0.6627868,
        482: -0.03621328,
    },
}


def ramp():
    """Return 441 samples that are the same everywhere: a quadratic residue, from -1 to 1."""
    n = np.arange(441)
    return (((n * n * 7 + n * 13) % 97 - 48) / 48).astype(np.float32)[None]


def resampled(kernel, source, target, *pieces):
    made = RationalResampler(pieces[0].shape[0], source, target, kernel)
    return np.concatenate([*(made.take(piece) for piece in pieces), made.flush()], axis=1)


@pytest.mark.parametrize(("source", "target"), REFERENCE)
def test_the_numbers_are_those_of_the_reference(source, target):
    made = resampled(Kernel(), source, target, ramp())[0]

    expected = REFERENCE[source, target]
    assert made[list(expected)] == pytest.approx(list(expected.values()), abs=1e-6)


@pytest.mark.parametrize(("source", "target"), [(48000, 16000), (16000, 44100), (44100, 48000)])
def test_the_numbers_are_the_same_however_the_sound_comes(noise, cut, source, target):
    samples = noise(2, 1000)

    whole = resampled(Kernel(), source, target, samples)
    parts = resampled(Kernel(), source, target, *cut(samples, 1, 2, 3, 50, 51, 51, 700))

    assert np.array_equal(whole, parts)
    assert 0 <= whole.shape[1] - 1000 * target / source <= 2 + 5 * max(target / source, 1)


def test_scipy_makes_the_same_of_the_same_filter(peer, noise):
    signal = peer("scipy.signal")
    samples = noise(1, 600)
    # 3 / 2: the filter, sampled at the least common multiple of the rates
    radius, theta = 5 * 1.5, 0.9 / 1.5
    n = np.arange(-16, 17)
    taps = (
        theta
        * np.sinc(theta * n / 2)
        * np.where(
            np.abs(n / 2) <= radius,
            np.i0(6 * np.sqrt(np.clip(1 - (n / 2 / radius) ** 2, 0, 1))) / np.i0(6),
            0,
        )
    )

    made = resampled(Kernel(), 48000, 32000, samples)[0]

    expected = signal.upfirdn(taps, samples[0].astype(float), up=2, down=1)[16::3]
    assert made[:400] == pytest.approx(expected[:400], abs=2e-6)


@pytest.mark.parametrize("calculator", [RationalFactorResampleCalculator, ResampleTimeSeriesCalculator])
def test_a_tone_below_the_cut_stays_and_one_above_goes(through, cut, calculator):
    n = np.arange(48000)
    options = (RationalOptions if calculator is RationalFactorResampleCalculator else SeriesOptions)(
        target_sample_rate=16000
    )

    kept, gone = (
        through(
            calculator, cut(np.sin(2 * np.pi * hertz * n / 48000)[None], 5, 20_000), 48000.0, options=options
        ).joined[0, 100:15_900]
        for hertz in (1000, 11_000)
    )

    assert kept == pytest.approx(np.sin(2 * np.pi * 1000 * np.arange(100, 15_900) / 16000), abs=2e-3)
    assert np.abs(gone).max() < 2e-3  # 54 dB


def test_times_are_counted_and_rounded_down(through, noise, cut):
    made = through(
        RationalFactorResampleCalculator,
        cut(noise(1, 1000), 100, 400, 405),
        44100.0,
        start=500,
        options=RationalOptions(target_sample_rate=16000),
    )

    before = np.cumsum([0, *(array.shape[1] for array in made.arrays)])
    assert made.stamps == [500 + int(count / 16000 * 1e6) for count in before[:-1]]
    assert made.header == TimeSeriesHeader(sample_rate=16000, num_channels=1)


def test_the_header_keeps_nothing_that_is_not_true_any_more(through, noise):
    header = TimeSeriesHeader(
        sample_rate=1000, num_channels=2, num_samples=50, packet_rate=20, audio_sample_rate=3
    )

    made = through(
        RationalFactorResampleCalculator,
        [noise(2, 50)],
        header=header,
        options=RationalOptions(target_sample_rate=500),
    )

    assert made.header == TimeSeriesHeader(sample_rate=500, num_channels=2, audio_sample_rate=3)


def test_the_same_rate_forwards_the_samples(through, noise):
    samples = noise(2, 30)

    made = through(
        RationalFactorResampleCalculator, [samples], options=RationalOptions(target_sample_rate=1000)
    )

    assert np.array_equal(made.joined, samples)


FILTER = {"radius": 20.0, "cutoff": 6000.0, "kaiser_beta": 5.0}


def test_the_older_options_count_where_all_three_are_set(through, noise):
    samples = noise(1, 900)
    wanted = Kernel(radius_factor=20 / 3, cutoff_proportion=0.75, kaiser_beta=5.0)

    made = through(
        RationalFactorResampleCalculator,
        [samples],
        48000.0,
        options=RationalOptions(target_sample_rate=16000, resampler_rational_factor_options=FILTER),
    ).joined
    usual = through(
        RationalFactorResampleCalculator,
        [samples],
        48000.0,
        options=RationalOptions(target_sample_rate=16000, resampler_rational_factor_options={"radius": 20.0}),
    ).joined

    assert made == pytest.approx(resampled(wanted, 48000, 16000, samples), abs=1e-6)
    assert np.array_equal(usual, resampled(Kernel(), 48000, 16000, samples))


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ({}, {}),
        (FILTER, {"radius_factor": 20 / 3, "cutoff_proportion": 0.75, "kaiser_beta": 5.0}),
        ({"radius_factor": 17.0, "radius": 2.0}, {"radius_factor": 17.0}),
        (
            {"cutoff_proportion": 0.5, "cutoff": 1.0, "kaiser_beta": 8.0},
            {"cutoff_proportion": 0.5, "kaiser_beta": 8.0},
        ),
    ],
)
def test_the_newer_options_count_each_by_itself(through, noise, given, wanted):
    samples = noise(1, 900)

    made = through(
        ResampleTimeSeriesCalculator,
        [samples],
        48000.0,
        options=SeriesOptions(target_sample_rate=16000, resampler_rational_factor_options=given),
    )

    assert made.joined == pytest.approx(resampled(Kernel(**wanted), 48000, 16000, samples), abs=1e-6)


def test_a_side_packet_gives_the_rate_where_the_option_does_not(through, noise):
    for options, rate in ((SeriesOptions(), 250), (SeriesOptions(target_sample_rate=500), 500)):
        made = through(
            ResampleTimeSeriesCalculator,
            [noise(1, 50)],
            side_packets={"TARGET_SAMPLE_RATE": 250.0},
            options=options,
        )
        assert made.header.sample_rate == rate


@pytest.mark.parametrize(
    "given",
    [
        {"allow_upsampling": False, "target_sample_rate": 1001},
        {"min_source_sample_rate": 1001, "target_sample_rate": 5},
    ],
)
def test_a_source_of_a_low_rate_is_refused(through, noise, given):
    with pytest.raises(
        GraphRunError,
        match="has 1000 samples a second, but to resample at least 1001 are needed; take a better",
    ):
        through(ResampleTimeSeriesCalculator, [noise(1, 50)], options=SeriesOptions(**given))


@pytest.mark.parametrize("quality", ["QUICK", "LOW", "MEDIUM", "HIGH", "VERY_HIGH"])
def test_soxr_resamples_where_it_is_asked_for(through, noise, cut, peer, quality):
    soxr = peer("soxr")
    samples = noise(2, 4000)
    names = {"QUICK": "QQ", "LOW": "LQ", "MEDIUM": "MQ", "HIGH": "HQ", "VERY_HIGH": "VHQ"}

    made = through(
        RationalFactorResampleCalculator,
        cut(samples, 1000, 1500),
        48000.0,
        options=RationalOptions(target_sample_rate=16000, soxr_quality=quality),
    )

    expected = soxr.resample(samples.T, 48000, 16000, quality=names[quality]).T
    assert made.joined.shape == expected.shape
    assert made.joined == pytest.approx(expected, abs=1e-4)
    before = np.cumsum([0, *(array.shape[1] for array in made.arrays)])
    assert made.stamps == [int(count / 16000 * 1e6) for count in before[:-1]]


def test_soxr_that_is_missing_is_said_with_the_command_that_brings_it(through, noise, monkeypatch):
    monkeypatch.setitem(sys.modules, "soxr", None)

    with pytest.raises(
        GraphRunError, match=r"soxr_quality HIGH needs python-soxr, .*; run: pip install \"penstock-a"
    ):
        through(
            ResampleTimeSeriesCalculator,
            [noise(1, 9)],
            options=SeriesOptions(target_sample_rate=5, soxr_quality="HIGH"),
        )


@pytest.mark.parametrize("is_checked", [True, False])
def test_the_log_tells_of_times_that_do_not_agree_with_the_samples(through, noise, cut, caplog, is_checked):
    with caplog.at_level(logging.WARNING, "penstock"):
        through(
            RationalFactorResampleCalculator,
            cut(noise(1, 300), 100, 200),
            stamps=[0, 100_000, 250_000],
            options=RationalOptions(target_sample_rate=500, check_inconsistent_timestamps=is_checked),
        )

    said = [record.getMessage() for record in caplog.records]
    expected = (
        "200 samples after 0 a packet should be at 200000 us, but it is at 250000; set "
        "check_inconsistent_timestamps: false where times are not exact"
    )
    assert said == is_checked * [expected]


@pytest.mark.parametrize(
    ("calculator", "options", "words"),
    [
        (
            RationalFactorResampleCalculator,
            RationalOptions(),
            "target_sample_rate, is 0.0, but must be above 0",
        ),
        (ResampleTimeSeriesCalculator, SeriesOptions(), "target_sample_rate, is 0.0, but must be above 0"),
        (
            ResampleTimeSeriesCalculator,
            SeriesOptions(target_sample_rate=5, resampler_type="UNDEFINED"),
            "resampler_type is UNDEFINED; leave it out",
        ),
    ],
)
def test_a_rate_is_needed_when_the_graph_is_loaded(through, noise, calculator, options, words):
    with pytest.raises(GraphConfigError, match=words):
        through(calculator, [noise(1, 3)], options=options)


@pytest.mark.parametrize(
    ("source", "target", "kernel", "words"),
    [
        (0, 5, {}, "sound of 0 Hz cannot be resampled to 5 Hz; rates are above 0"),
        (5, float("inf"), {}, "rates are above 0"),
        (1, 2001, {}, "one may be 2000 times the other at most"),
        (2001, 1, {}, "one may be 2000 times the other at most"),
        (5, 4, {"kaiser_beta": 0.0}, "kaiser_beta 0.0; they must be above 0"),
        (5, 4, {"cutoff_proportion": 1.5}, "cutoff_proportion at most 1"),
        (5, 4, {"radius_factor": float("nan")}, "the resampler's filter has radius_factor nan"),
    ],
)
def test_what_cannot_be_resampled_is_refused(source, target, kernel, words):
    with pytest.raises(InvalidArgumentError, match=words):
        RationalResampler(1, source, target, Kernel(**kernel))


def test_a_short_filter_that_steps_over_samples_loses_none(noise, cut):
    samples = noise(1, 500)
    short = Kernel(radius_factor=0.01)

    whole = resampled(short, 1000, 50, samples)

    assert whole.shape[1] == 26
    assert np.array_equal(whole, resampled(short, 1000, 50, *cut(samples, *range(1, 500, 3))))


# --- the series of the reference's tests: five packets of 4000 Hz, three channels, from 4 us on -------

HERTZ = 4000.0
ENDS = (10, 30, 60, 100)


def sloped():
    """Return samples that say their time, place in the packet and channel."""
    begins = (0, *ENDS)
    parts = [
        (4 + begin * 250) * 100.0 + np.arange(10 * (i + 1)) + np.arange(3)[:, None] / 10
        for i, begin in enumerate(begins)
    ]
    return np.concatenate(parts, axis=1).astype(np.float32)


def evenly():
    return np.random.default_rng(11).uniform(-1, 1, (3, 150)).astype(np.float32)


@pytest.mark.reference(
    "calculators/audio/rational_factor_resample_calculator_test.cc",
    "RationalFactorResampleCalculatorTest.Upsample",
    "RationalFactorResampleCalculatorTest.Downsample",
    "RationalFactorResampleCalculatorTest.UsesRationalFactorResampler",
)
@pytest.mark.reference(
    "calculators/audio/resample_time_series_calculator_test.cc",
    "ResampleTimeSeriesCalculatorTest.Upsample",
    "ResampleTimeSeriesCalculatorTest.Downsample",
    "ResampleTimeSeriesCalculatorTest.UsesRationalFactorResampler",
)
@pytest.mark.parametrize(
    ("calculator", "options", "samples"),
    [
        (RationalFactorResampleCalculator, RationalOptions, sloped()),
        (ResampleTimeSeriesCalculator, SeriesOptions, evenly()),
    ],
)
@pytest.mark.parametrize("factor", [1.9, 1 / 1.9, 2])
def test_packets_become_what_the_whole_becomes(through, cut, calculator, options, samples, factor):  # noqa: PLR0913, PLR0917  # one case
    target = HERTZ * factor

    made = through(
        calculator, cut(samples, *ENDS), HERTZ, start=4, options=options(target_sample_rate=target)
    )

    assert 0 <= made.joined.shape[1] - np.ceil(150 * factor) <= 11
    before = np.cumsum([0, *(array.shape[1] for array in made.arrays)])[:-1]
    assert made.stamps == pytest.approx(4 + before / target * 1e6, abs=1)
    assert made.header == TimeSeriesHeader(sample_rate=target, num_channels=3)
    whole = resampled(Kernel(), HERTZ, target, samples)
    assert made.joined == pytest.approx(whole, rel=5e-7, abs=5e-7)


@pytest.mark.reference(
    "calculators/audio/rational_factor_resample_calculator_test.cc",
    "RationalFactorResampleCalculatorTest.PassthroughIfSampleRateUnchanged",
    "RationalFactorResampleCalculatorTest.FailsOnBadTargetRate",
    "RationalFactorResampleCalculatorTest.DoesNotDieOnEmptyInput",
)
@pytest.mark.reference(
    "calculators/audio/resample_time_series_calculator_test.cc",
    "ResampleTimeSeriesCalculatorTest.PassthroughIfSampleRateUnchanged",
    "ResampleTimeSeriesCalculatorTest.FailsOnBadTargetRate",
    "ResampleTimeSeriesCalculatorTest.DoesNotDieOnEmptyInput",
)
@pytest.mark.parametrize(
    ("calculator", "options"),
    [(RationalFactorResampleCalculator, RationalOptions), (ResampleTimeSeriesCalculator, SeriesOptions)],
)
def test_the_same_rate_a_bad_rate_and_no_packets(through, cut, calculator, options):
    samples, same = sloped(), options(target_sample_rate=HERTZ)

    made = through(calculator, cut(samples, *ENDS), HERTZ, start=4, options=same)

    assert np.array_equal(made.joined, samples)
    with pytest.raises(GraphConfigError, match=r"target_sample_rate, is -999\.9, but must be above 0"):
        through(calculator, [samples], HERTZ, options=options(target_sample_rate=-999.9))
    header = TimeSeriesHeader(sample_rate=HERTZ, num_channels=3)
    assert through(calculator, [], header=header, options=same).arrays == []


@pytest.mark.reference(
    "calculators/audio/resample_time_series_calculator_test.cc",
    "ResampleTimeSeriesCalculatorTest.CustomQResamplerKernel",
    "ResampleTimeSeriesCalculatorTest.CustomLegacyKernel",
)
@pytest.mark.parametrize(
    "given",
    [
        {"radius_factor": 11.0, "cutoff_proportion": 0.85},
        {"radius": 11.0 * HERTZ / (HERTZ * 0.7), "cutoff": 0.5 * 0.85 * HERTZ * 0.7},
    ],
)
def test_a_filter_can_be_given_in_the_newer_and_the_older_way(through, cut, given):
    samples, target = evenly(), HERTZ * 0.7

    made = through(
        ResampleTimeSeriesCalculator,
        cut(samples, *ENDS),
        HERTZ,
        start=4,
        options=SeriesOptions(target_sample_rate=target, resampler_rational_factor_options=given),
    )

    wanted = Kernel(radius_factor=11.0, cutoff_proportion=0.85)
    assert made.joined == pytest.approx(resampled(wanted, HERTZ, target, samples), abs=5e-7)
