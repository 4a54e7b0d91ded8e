"""TimeSeriesFramerCalculator: which samples are in which frame, and when."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.lib.stride_tricks import sliding_window_view

from penstock.config import build_plan
from penstock.errors import GraphConfigError, GraphRunError
from penstock_audio.messages.time_series_framer_pb2 import TimeSeriesFramerCalculatorOptions
from penstock_audio.series.time_series_framer import TimeSeriesFramerCalculator
from penstock_formats import Matrix, TimeSeriesHeader
from penstock_testing import ScheduleHarness, testing_registry


def options(length, overlap=0.0, **fields):
    """Return options for frames of so many samples at 1000 Hz."""
    return TimeSeriesFramerCalculatorOptions(
        frame_duration_seconds=length / 1000, frame_overlap_seconds=overlap / 1000, **fields
    )


@pytest.mark.parametrize("pieces", [(), (1, 2, 3), (10, 11), (40,)])
@pytest.mark.parametrize("frame", [(5, 0), (5, 3), (7, 6), (4, -3)])
def test_frames_are_the_windows_of_the_series_however_it_comes(through, cut, noise, pieces, frame):
    length, overlap = frame
    samples = noise(2, 50)
    step = length - overlap

    made = through(
        TimeSeriesFramerCalculator,
        cut(samples, *pieces),
        start=123,
        options=options(length, overlap, pad_final_packet=False),
    )

    expected = sliding_window_view(samples, length, axis=1)[:, ::step].transpose(1, 0, 2)
    assert np.array_equal(np.stack(made.arrays), expected)
    assert made.stamps == [123 + 1000 * step * i for i in range(len(expected))]


def test_the_last_frame_is_filled_up_with_zeros(through, cut, noise):
    samples = noise(1, 13)

    made = through(TimeSeriesFramerCalculator, cut(samples, 6), options=options(5, 1))

    assert made.arrays[-1].tolist() == [[*samples[0, 12:].tolist(), 0, 0, 0, 0]]
    assert made.stamps == [0, 4000, 8000, 12000]


def test_samples_between_frames_that_are_left_out_make_no_last_frame(through, noise):
    made = through(TimeSeriesFramerCalculator, [noise(1, 12)], options=options(4, -3))

    assert made.stamps == [0, 7000]
    made = through(TimeSeriesFramerCalculator, [noise(1, 11)], options=options(4, -7))
    assert made.stamps == [0]


def test_the_header_says_how_long_frames_are_and_how_often_they_come(through, noise):
    made = through(TimeSeriesFramerCalculator, [noise(2, 20)], options=options(5, 3))

    assert made.header == TimeSeriesHeader(sample_rate=1000, num_channels=2, num_samples=5, packet_rate=500)


def test_a_step_of_parts_of_samples_is_kept_in_the_mean_and_has_no_packet_rate(through, cut, noise):
    samples = noise(1, 100)
    header = TimeSeriesHeader(sample_rate=1000, num_channels=1, packet_rate=77)

    made = through(
        TimeSeriesFramerCalculator,
        cut(samples, 33),
        header=header,
        options=options(4, 1.5, emulate_fractional_frame_overlap=True, pad_final_packet=False),
    )

    # rounded as C does: a half goes away from zero
    begins = [int(2.5 * i + 0.5) for i in range(39)]
    assert [array[0].tolist() for array in made.arrays] == [samples[0, i : i + 4].tolist() for i in begins]
    assert made.stamps == [1000 * i for i in begins]
    assert not made.header.HasField("packet_rate")


@pytest.mark.parametrize(("window", "scipys"), [("HANN", (0.5, 0.5)), ("HAMMING", (0.54, 0.46))])
def test_frames_are_multiplied_by_a_periodic_window_but_the_one_with_zeros(through, window, scipys):
    made = through(TimeSeriesFramerCalculator, [np.ones((1, 12))], options=options(8, window_function=window))

    high, low = scipys
    expected = [high - low * np.cos(2 * np.pi * n / 8) for n in range(8)]
    assert made.arrays[0][0] == pytest.approx(expected, abs=1e-7)
    assert made.arrays[1].tolist() == [[1, 1, 1, 1, 0, 0, 0, 0]]  # as in the reference


def test_local_timestamps_are_those_of_the_last_samples_in_their_packets(through, cut, noise):
    made = through(
        TimeSeriesFramerCalculator,
        cut(noise(1, 15), 6),
        stamps=[0, 50_000],
        options=options(4, use_local_timestamp=True),
    )

    # sample 3 of the first packet; samples 1, 5 and 8 of the second
    assert made.stamps == [3000, 51_000, 55_000, 58_000]


def test_a_frame_is_promised_as_soon_as_the_one_before_is_there(noise):
    registry = testing_registry()
    registry.add("calculator", "TimeSeriesFramerCalculator", TimeSeriesFramerCalculator)
    registry.add_option(
        "penstock.TimeSeriesFramerCalculatorOptions",
        "penstock.CalculatorOptions",
        50631621,
        "penstock_audio.messages.time_series_framer_pb2:TimeSeriesFramerCalculatorOptions",
    )
    plan = build_plan(
        'input_stream: "in" node { calculator: "TimeSeriesFramerCalculator" '
        'input_stream: "in" output_stream: "out" '
        "options { [penstock.TimeSeriesFramerCalculatorOptions.ext] { frame_duration_seconds: 0.01 } } }",
        registry,
    )
    harness = ScheduleHarness(plan)
    harness.start({"in": TimeSeriesHeader(sample_rate=1000, num_channels=1)})

    harness.add("in", Matrix(noise(1, 25)), 7)
    harness.run()

    assert harness.stream("out").bound == 7 + 20_000
    harness.finish()


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({}, "frame_duration_seconds is 0.0, but must be above 0; set it"),
        ({"frame_duration_seconds": float("nan")}, "frame_duration_seconds is nan, but must be above 0"),
        (
            {"frame_duration_seconds": 0.1, "frame_overlap_seconds": 0.1},
            "frame_overlap_seconds is 0.1, but must be below frame_duration_seconds, which is 0.1",
        ),
    ],
)
def test_frames_that_cannot_be_are_refused_when_the_graph_is_loaded(through, noise, given, words):
    with pytest.raises(GraphConfigError, match=words):
        through(TimeSeriesFramerCalculator, [noise(1, 3)], options=TimeSeriesFramerCalculatorOptions(**given))


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (options(0.1), "the number of samples in 0.0001 s at 1000.0 Hz is 0, but must be at least 1"),
        (options(1e12), "the number of samples in .* is 1000000000000, but at most 16777216 are allowed"),
        (options(5, 4.7), "step by less than a sample at 1000.0 Hz; make frame_overlap_seconds"),
    ],
)
def test_frames_that_do_not_go_with_the_rate_are_refused(through, noise, given, words):
    with pytest.raises(GraphRunError, match=words):
        through(TimeSeriesFramerCalculator, [noise(1, 3)], options=given)


@pytest.mark.parametrize(
    ("header", "words"),
    [
        (
            False,
            "stream 'in_0' has no header, but a TimeSeriesHeader is needed; put an AddAudioHeaderCalculator",
        ),
        ("words", "has a 'str' as header, but a TimeSeriesHeader is needed"),
        (TimeSeriesHeader(sample_rate=5), "has a time series header without num_channels"),
        (TimeSeriesHeader(num_channels=5), "has a time series header without sample_rate"),
        (
            TimeSeriesHeader(sample_rate=-5, num_channels=1),
            "stream 'in_0' has a time series header with sample_rate -5.0, which must be at least 0",
        ),
        (
            TimeSeriesHeader(sample_rate=0, num_channels=1),
            "sample_rate 0, but the time between samples is needed",
        ),
        (
            TimeSeriesHeader(sample_rate=5, num_channels=2**30),
            "num_channels in the header .* at most 16777216",
        ),
    ],
)
def test_a_header_is_needed_and_checked(through, noise, header, words):
    with pytest.raises(GraphRunError, match=words):
        through(TimeSeriesFramerCalculator, [noise(1, 3)], header=header, options=options(2))


def test_a_matrix_with_other_rows_than_the_header_says_is_refused(through, noise):
    with pytest.raises(
        GraphRunError, match="a matrix of 1x3 has 1 rows, but the time series header says num_channels 2"
    ):
        through(
            TimeSeriesFramerCalculator,
            [noise(1, 3)],
            header=TimeSeriesHeader(sample_rate=5, num_channels=2),
            options=options(2000),
        )


# --- the series of the reference's tests: 4000 Hz, three channels, the first sample after 4 us --------

HERTZ = 4000.0


def at_4khz(length, overlap=0.0, **fields):
    """Return options for frames of so many samples at 4000 Hz."""
    return TimeSeriesFramerCalculatorOptions(
        frame_duration_seconds=length / HERTZ, frame_overlap_seconds=overlap / HERTZ, **fields
    )


def instants(count):
    """Return the times of the first samples in microseconds, in three channels a tenth apart."""
    times = np.round((4e-6 + np.arange(count) / HERTZ) * 1e6)
    return (times + np.array([[0], [0.1], [0.2]])).astype(np.float32)


@pytest.mark.reference(
    "calculators/audio/time_series_framer_calculator_test.cc",
    "TimeSeriesFramerCalculatorTest.IntegerSampleDurationNoOverlap",
    "TimeSeriesFramerCalculatorTest.IntegerSampleDurationNoOverlapHammingWindow",
    "TimeSeriesFramerCalculatorTest.IntegerSampleDurationNoOverlapHannWindow",
    "TimeSeriesFramerCalculatorTest.IntegerSampleDurationAndOverlap",
    "TimeSeriesFramerCalculatorTest.NonintegerSampleDurationAndOverlap",
    "TimeSeriesFramerCalculatorTest.NegativeOverlapExactFrames",
    "TimeSeriesFramerCalculatorTest.NegativeOverlapExactFramesLessSkip",
    "TimeSeriesFramerCalculatorTest.NegativeOverlapWithPadding",
    "TimeSeriesFramerCalculatorTest.FixedFrameOverlap",
    "TimeSeriesFramerCalculatorTest.VariableFrameOverlap",
    "TimeSeriesFramerCalculatorTest.VariableFrameSkip",
    "TimeSeriesFramerCalculatorTest.NoFinalPacketPadding",
)
@pytest.mark.parametrize(
    ("given", "length", "step", "packet_rate", "count"),
    [
        (at_4khz(100), 100, 100, 40, 11),
        (at_4khz(100, window_function="HAMMING"), 100, 100, 40, 11),
        (at_4khz(100, window_function="HANN"), 100, 100, 40, 11),
        (at_4khz(100, 40), 100, 60, HERTZ / 60, 18),
        (at_4khz(98.5, 38.4), 99, 61, HERTZ / 61, 18),
        (at_4khz(100, -10), 100, 110, HERTZ / 110, 10),
        (at_4khz(100, -100), 100, 200, 20, 6),
        (at_4khz(30, 30.0 - 11.4), 30, 11, HERTZ / 11, 99),
        (at_4khz(30, 30 - 11.4, emulate_fractional_frame_overlap=True), 30, 11.4, None, 95),
        (at_4khz(30, 30 - 41.4, emulate_fractional_frame_overlap=True), 30, 41.4, None, 27),
        (at_4khz(98.5, pad_final_packet=False), 99, 99, HERTZ / 99, 11),
    ],
)
def test_frames_are_those_of_the_reference(through, cut, given, length, step, packet_rate, count):  # noqa: PLR0913, PLR0917  # one case
    series = instants(1100)

    made = through(
        TimeSeriesFramerCalculator,
        cut(series, *np.cumsum(np.arange(1, 10) * 20)),
        HERTZ,
        start=4,
        options=given,
    )

    begins = [int(step * i + 0.5) for i in range(count)]
    padded = np.pad(series, ((0, 0), (0, length)))
    high = {"HANN": 0.5, "HAMMING": 0.54}.get(
        TimeSeriesFramerCalculatorOptions.WindowFunction.Name(given.window_function), 1.0
    )
    window = high - (1 - high) * np.cos(2 * np.pi * np.arange(length) / length)
    assert len(made.arrays) == count
    for array, begin in zip(made.arrays, begins, strict=True):
        frame = padded[:, begin : begin + length]
        expected = frame * window if begin + length <= 1100 else frame
        assert array.shape == (3, length)
        assert np.linalg.norm(array - expected) <= 1e-6 * np.linalg.norm(expected)
    header = TimeSeriesHeader(sample_rate=HERTZ, num_channels=3, num_samples=length)
    if packet_rate:
        header.packet_rate = packet_rate
    assert made.header == header


@pytest.mark.reference(
    "calculators/audio/time_series_framer_calculator_test.cc",
    "TimeSeriesFramerCalculatorTest.FrameRateHigherThanSampleRate_FrameDurationTooLow",
    "TimeSeriesFramerCalculatorTest.FrameRateHigherThanSampleRate_FrameStepTooLow",
)
@pytest.mark.parametrize(
    ("given", "words"),
    [(at_4khz(0.1), r"is 0, but must be at least 1"), (at_4khz(10, 9.9), "step by less than a sample")],
)
def test_more_frames_than_samples_are_refused(through, given, words):
    with pytest.raises(GraphRunError, match=words):
        through(TimeSeriesFramerCalculator, [instants(1100)], HERTZ, start=4, options=given)


@pytest.mark.reference(
    "calculators/audio/time_series_framer_calculator_test.cc",
    "TimeSeriesFramerCalculatorWindowingSanityTest.NoWindowSanityCheck",
    "TimeSeriesFramerCalculatorWindowingSanityTest.HammingWindowSanityCheck",
    "TimeSeriesFramerCalculatorWindowingSanityTest.HannWindowSanityCheck",
)
@pytest.mark.parametrize(("window", "mean"), [("NONE", 1), ("HAMMING", 0.54), ("HANN", 0.5)])
def test_the_mean_of_a_window(through, window, mean):
    made = through(
        TimeSeriesFramerCalculator,
        [np.ones((1, 100))],
        HERTZ,
        start=4,
        options=at_4khz(100, window_function=window),
    )

    (frame,) = made.arrays
    assert frame.sum() == pytest.approx(mean * 100, abs=1e-3)


@pytest.mark.reference(
    "calculators/audio/time_series_framer_calculator_test.cc",
    "TimeSeriesFramerCalculatorTimestampingTest.UseLocalTimeStamp",
    "TimeSeriesFramerCalculatorTimestampingTest.UseCumulativeTimeStamp",
)
@pytest.mark.parametrize(("is_local", "gap"), [(True, 1_000_000), (False, 0)])
def test_times_of_frames_with_and_without_pauses_between_packets(through, is_local, gap):
    made = through(
        TimeSeriesFramerCalculator,
        [np.zeros((3, 50))] * 10,
        HERTZ,
        stamps=[4 + i * (12_500 + gap) for i in range(10)],
        options=at_4khz(100, use_local_timestamp=is_local),
    )

    if is_local:  # of the last sample, which is in every second packet
        expected = [4 + last * 250 + (last // 50) * gap for last in range(99, 500, 100)]
    else:
        expected = [4 + first * 250 for first in range(0, 500, 100)]
    assert made.stamps == expected
