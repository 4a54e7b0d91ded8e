"""SpectrogramCalculator: the numbers of spectra, their layout, headers and times."""

from __future__ import annotations

import numpy as np
import pytest

from penstock.errors import GraphRunError
from penstock_audio.messages.spectrogram_pb2 import SpectrogramCalculatorOptions as Options
from penstock_audio.spectra.spectrogram import SpectrogramCalculator, SpectrogramFloatCalculator
from penstock_formats import Matrix, MultiStreamTimeSeriesHeader, TimeSeriesHeader
from penstock_testing import run_calculator

RATE = 4000.0
BOTH = pytest.mark.parametrize("calculator", [SpectrogramCalculator, SpectrogramFloatCalculator])
WINDOWS = {
    "HANN": lambda x: 0.5 - 0.5 * np.cos(2 * np.pi * x),
    "HAMMING": lambda x: 0.54 - 0.46 * np.cos(2 * np.pi * x),
    "COSINE": lambda x: np.sin(np.pi * x),
    "SQRT_HANN": lambda x: np.sqrt(0.5 - 0.5 * np.cos(2 * np.pi * x)),
}


def options(length=100, overlap=60, **fields):
    """Return options for windows of so many samples."""
    return Options(frame_duration_seconds=length / RATE, frame_overlap_seconds=overlap / RATE, **fields)


def spectra_of(samples, length=100, step=40, size=128, window="HANN"):
    """Return the transforms of one channel by their definition, a column for each window."""
    n = np.arange(length)
    shape = WINDOWS[window](n / length)
    waves = np.exp(2j * np.pi * np.outer(np.arange(size // 2 + 1), n) / size)
    begins = range(0, len(samples) - length + 1, step)
    return np.stack([waves @ (shape * samples[at : at + length].astype(float)) for at in begins], axis=1)


@pytest.mark.parametrize("window", WINDOWS)
@BOTH
def test_spectra_are_the_squared_transforms_of_windows(through, cut, noise, calculator, window):
    samples = noise(1, 500)

    made = through(
        calculator,
        cut(samples, 120, 130, 300),
        rate=RATE,
        options=options(window_type=window, pad_final_packet=False),
    )

    expected = np.abs(spectra_of(samples[0], window=window)) ** 2
    assert made.joined.shape == (65, 11)
    assert made.joined == pytest.approx(expected, rel=2e-5, abs=1e-3)
    assert made.joined.dtype == np.float32


def test_in_float64_it_is_nearer(through, noise):
    samples = noise(1, 500) + np.float32(1000)

    errors = [
        np.abs(through(one, [samples], rate=RATE, options=options(pad_final_packet=False)).joined[40:]
               - np.abs(spectra_of(samples[0]))[40:] ** 2).max()
        for one in (SpectrogramCalculator, SpectrogramFloatCalculator)
    ]  # fmt: skip

    assert errors[0] < 1e-4
    if np.lib.NumpyVersion(np.__version__) >= "2.0.0":
        assert errors[0] < errors[1]


@pytest.mark.parametrize(
    ("output_type", "of", "tolerance"),
    [
        ("LINEAR_MAGNITUDE", np.abs, 1e-4),
        ("DECIBELS", lambda c: 20 * np.log10(np.abs(c)), 1e-3),
        ("COMPLEX", lambda c: c, 1e-4),
    ],
)
def test_other_outputs_follow_from_the_transforms(through, noise, output_type, of, tolerance):
    samples = noise(1, 180)

    made = through(
        SpectrogramCalculator,
        [samples],
        rate=RATE,
        options=options(output_type=output_type, output_scale=3, input_scale=2, pad_final_packet=False),
    )

    assert made.joined == pytest.approx(3 * of(2 * spectra_of(samples[0])), abs=tolerance)


def test_complex_spectra_are_arrays_that_cannot_be_written_to(noise):
    ran = run_calculator(
        SpectrogramCalculator,
        {0: [(0, Matrix(noise(1, 100)))]},
        outputs=[0],
        headers={0: TimeSeriesHeader(sample_rate=RATE, num_channels=1)},
        options=options(output_type="COMPLEX"),
    )

    payload = ran.outputs[0][0].payload
    assert (type(payload), payload.dtype, payload.flags.writeable) == (np.ndarray, np.complex64, False)


@pytest.mark.reference(
    "calculators/audio/spectrogram_calculator_test.cc",
    "SpectrogramCalculatorTest.ComplexOutputLooksRightForImpulses",
)
@pytest.mark.reference(
    "calculators/audio/spectrogram_float_calculator_test.cc",
    "SpectrogramFloatCalculatorTest.ComplexOutputLooksRightForImpulses",
)
@BOTH
def test_a_later_impulse_has_more_phase_as_in_the_reference(through, cut, calculator):
    samples = np.zeros((1, 200), np.float32)
    samples[0, 49] = samples[0, 150] = 1

    made = through(
        calculator,
        cut(samples, 100),
        rate=RATE,
        start=4,
        options=options(100, 0, output_type="COMPLEX", pad_final_packet=False),
    )

    assert np.abs(made.joined) ** 2 == pytest.approx(np.ones((65, 2)), abs=0.01)
    first, second = made.joined[:, 0], made.joined[:, 1]
    assert np.angle(first[1]) < np.angle(second[1])
    assert first[-1].real / second[-1].real == pytest.approx(-1, abs=0.01)


def test_silence_has_minus_infinite_decibels(through):
    made = through(
        SpectrogramCalculator, [np.zeros((1, 100))], rate=RATE, options=options(output_type="DECIBELS")
    )

    assert np.isneginf(made.joined).all()


def test_scipy_says_the_same(through, peer, noise):
    signal = peer("scipy.signal")
    samples = noise(1, 1000)

    made = through(
        SpectrogramCalculator, [samples], rate=RATE, options=options(128, 96, pad_final_packet=False)
    )

    transform = signal.ShortTimeFFT(signal.windows.hann(128, sym=False), hop=32, fs=RATE, fft_mode="onesided")
    middle = transform.stft(samples[0].astype(float), p0=2, p1=2 + made.joined.shape[1])
    assert made.joined == pytest.approx(np.abs(middle) ** 2, rel=2e-5, abs=1e-3)


def test_the_loudest_row_is_that_of_the_tone(through):
    tone = np.sin(2 * np.pi * 500 * np.arange(1000) / RATE)[None]

    made = through(SpectrogramCalculator, [tone], rate=RATE, options=options())

    assert (made.joined[:, :-1].argmax(axis=0) == 500 / (RATE / 128)).all()


def test_a_packet_that_completes_no_window_gives_no_packet_and_times_are_counted(through, cut, noise):
    made = through(
        SpectrogramCalculator, cut(noise(1, 310), 50, 90, 180), rate=RATE, start=40, options=options()
    )

    # 180 samples complete windows at 0, 40 and 80; 310 the windows at 120, 160 and 200; the zeros that at 240
    assert made.stamps == [40, 40 + 30_000, 40 + 60_000]
    assert [array.shape[1] for array in made.arrays] == [3, 3, 1]


def test_local_timestamps_are_those_of_the_inputs(through, cut, noise):
    made = through(
        SpectrogramCalculator,
        cut(noise(1, 310), 150),
        rate=RATE,
        stamps=[1000, 777_777],
        options=options(use_local_timestamp=True),
    )

    # the end has no time of its own: it comes after the four windows of the last packet
    assert made.stamps == [1000, 777_777, 777_777 + 40_000]


@pytest.mark.parametrize(("samples", "windows"), [(10, 1), (99, 1), (100, 1), (101, 2), (140, 2), (141, 3)])
def test_at_the_end_each_sample_is_in_a_window(through, noise, samples, windows):
    sound = noise(1, samples)

    made = through(SpectrogramCalculator, [sound], rate=RATE, options=options())

    padded = np.pad(sound[0], (0, 200))
    assert made.joined.shape[1] == windows
    assert made.joined == pytest.approx(np.abs(spectra_of(padded)[:, :windows]) ** 2, rel=2e-5, abs=1e-3)


def test_the_header_says_what_rows_and_columns_are(through, noise):
    made = through(
        SpectrogramCalculator,
        [noise(1, 200)],
        header=TimeSeriesHeader(sample_rate=RATE, num_channels=1, num_samples=200, packet_rate=20),
        options=options(),
    )

    assert made.header == TimeSeriesHeader(sample_rate=100, num_channels=65, audio_sample_rate=RATE)


def test_of_several_channels_it_makes_a_list(through, noise):
    samples = noise(3, 180)

    made = through(
        SpectrogramCalculator,
        [samples],
        rate=RATE,
        options=options(allow_multichannel_input=True, pad_final_packet=False),
    )

    (channels,) = made.arrays
    for channel, sound in zip(channels, samples, strict=True):
        assert channel == pytest.approx(np.abs(spectra_of(sound)) ** 2, rel=2e-5, abs=1e-3)
    assert made.header == MultiStreamTimeSeriesHeader(
        time_series_header=TimeSeriesHeader(sample_rate=100, num_channels=65, audio_sample_rate=RATE),
        num_streams=3,
    )


@pytest.mark.parametrize("output_type", ["SQUARED_MAGNITUDE", "COMPLEX"])
def test_channels_in_rows_give_a_packet_for_each_window(through, noise, output_type):
    samples = noise(2, 180)

    made = through(
        SpectrogramCalculator,
        [samples],
        rate=RATE,
        options=options(
            allow_multichannel_input=True,
            output_layout="SPECTROGRAM_CHANNELS_IN_ROWS",
            output_type=output_type,
            pad_final_packet=False,
        ),
    )

    of = (lambda c: c) if output_type == "COMPLEX" else (lambda c: np.abs(c) ** 2)
    assert made.stamps == [0, 10_000, 20_000]
    for i, window in enumerate(made.arrays):
        expected = np.stack([of(spectra_of(sound))[:, i] for sound in samples])
        assert window == pytest.approx(expected, rel=2e-5, abs=1e-3)
    assert made.header.num_channels == 65


def test_a_larger_transform_has_more_rows(through, noise):
    samples = noise(1, 100)

    made = through(SpectrogramCalculator, [samples], rate=RATE, options=options(fft_size=300))

    assert made.joined == pytest.approx(np.abs(spectra_of(samples[0], size=300)) ** 2, rel=2e-5, abs=1e-3)


def test_with_reset_each_packet_begins_anew(through, cut, noise):
    samples = noise(1, 260)

    made = through(
        SpectrogramCalculator, cut(samples, 130), rate=RATE, options=options(sample_buffer_mode="RESET")
    )

    expected = [np.abs(spectra_of(part)[:, :1]) ** 2 for part in (samples[0, :100], samples[0, 130:230])]
    assert made.joined == pytest.approx(np.concatenate(expected, axis=1), rel=2e-5, abs=1e-3)


def test_a_packet_at_reset_makes_it_begin_anew(noise):
    samples = noise(1, 200)

    ran = run_calculator(
        SpectrogramCalculator,
        {
            0: [(0, Matrix(samples[:, :90])), (1_000_000, Matrix(samples[:, 90:]))],
            "RESET": [(1_000_000, "now")],
        },
        outputs=[0],
        headers={0: TimeSeriesHeader(sample_rate=RATE, num_channels=1)},
        options=options(pad_final_packet=False),
    )

    (packet,) = ran.outputs[0]
    assert packet.timestamp == 1_000_000
    assert packet.payload.array == pytest.approx(np.abs(spectra_of(samples[0, 90:])) ** 2, rel=2e-5, abs=1e-3)


def test_side_packets_replace_the_length_and_the_overlap(through, noise):
    made = through(
        SpectrogramCalculator,
        [noise(1, 200)],
        rate=RATE,
        side_packets={"FRAME_DURATION": 50 / RATE, "FRAME_OVERLAP": 0.0},
        options=options(),
    )

    assert made.joined.shape == (33, 4 + 0)


def test_a_long_packet_is_the_same_as_many_short_ones(through, noise):
    samples = noise(1, 30_000)
    wanted = options(pad_final_packet=False)

    whole = through(SpectrogramCalculator, [samples], rate=RATE, options=wanted)
    parts = through(SpectrogramCalculator, np.split(samples, 30, axis=1), rate=RATE, options=wanted)

    assert whole.joined.shape[1] > 600  # more than are transformed at once
    assert np.array_equal(whole.joined, parts.joined)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (Options(), "frame_duration_seconds is 0.0, but must be above 0; set it"),
        (options(100, 100), "must be from 0 to below frame_duration_seconds"),
        (options(100, -1), "frame_overlap_seconds is -0.00025, but must be from 0"),
        (options(1, 0), "is 1, but must be at least 2"),
        (options(1e12, 0), "is 1000000000000, but at most 16777216 are allowed"),
        (options(100, 99.9), "the step between windows of 100 samples is 0, but must be at least 1"),
        (options(fft_size=99), "fft_size is 99, but a window has 100 samples; make it that or more"),
        (options(fft_size=-1), "fft_size is -1, but must be at least 0"),
    ],
)
def test_windows_that_cannot_be_are_refused(through, noise, given, words):
    with pytest.raises(GraphRunError, match=words):
        through(SpectrogramCalculator, [noise(1, 10)], rate=RATE, options=given)


def test_several_channels_are_refused_where_one_is_taken(through, noise):
    with pytest.raises(
        GraphRunError,
        match="has 2 channels, but a spectrogram is of one; set allow_multichannel_input, or put",
    ):
        through(SpectrogramCalculator, [noise(2, 10)], rate=RATE, options=options())


def test_windows_in_packets_of_their_own_do_not_go_back_at_local_timestamps(through, noise, cut):
    made = through(
        SpectrogramCalculator,
        cut(noise(1, 300), 180),
        rate=RATE,
        stamps=[1000, 2000],
        options=options(
            use_local_timestamp=True, output_layout="SPECTROGRAM_CHANNELS_IN_ROWS", pad_final_packet=False
        ),
    )

    # the windows of the first packet are at 1000, 11000 and 21000
    assert made.stamps == [1000, 11_000, 21_000, 21_001, 31_001, 41_001]


# --- the series of the reference's tests: constants and tones from 4 us on ----------------------------


def waves(sizes, *hertz, level=1.0, start=4):
    """Return packets of so many samples, a channel for each frequency; 0 Hz is 1 everywhere.

    As in the reference angles are float32, and the last one is that at which the next packet begins.
    """
    times = start * 1e-6 + np.cumsum([0, *sizes]) / RATE
    ends = 2 * np.pi * np.array(hertz, np.float64)[:, None] * times
    ends = ends.astype(np.float32)
    steps = np.diff(ends, axis=1) / np.maximum(np.array(sizes, np.float32) - 1, 1)
    angles = [
        ends[:, i : i + 1] + steps[:, i : i + 1] * np.arange(size, dtype=np.float32)
        for i, size in enumerate(sizes)
    ]
    return [level * np.cos(one.astype(np.float64)) for one in angles]


def header_of(size=128, step=40):
    return TimeSeriesHeader(sample_rate=RATE / step, num_channels=size // 2 + 1, audio_sample_rate=RATE)


def input_header(channels=1, **fields):
    return TimeSeriesHeader(sample_rate=RATE, num_channels=channels, **fields)


@pytest.mark.reference(
    "calculators/audio/spectrogram_calculator_test.cc",
    "SpectrogramCalculatorTest.IntegerFrameDurationNoOverlap",
    "SpectrogramCalculatorTest.IntegerFrameDurationNoOverlap2XFftSize",
    "SpectrogramCalculatorTest.IntegerFrameDurationSomeOverlap",
    "SpectrogramCalculatorTest.NonintegerFrameDurationAndOverlap",
    "SpectrogramCalculatorTest.ShortInitialPacketNoOverlap",
    "SpectrogramCalculatorTest.TrailingSamplesNoPad",
    "SpectrogramCalculatorTest.NoTrailingSamplesWithPad",
    "SpectrogramCalculatorTest.TrailingSamplesWithPad",
    "SpectrogramCalculatorTest.VeryShortInputWillPad",
    "SpectrogramCalculatorTest.VeryShortInputZeroOutputFramesIfNoPad",
    "SpectrogramCalculatorTest.ZeroOutputsForZeroInputsWithPaddingEnabled",
)
@pytest.mark.reference(
    "calculators/audio/spectrogram_float_calculator_test.cc",
    "SpectrogramFloatCalculatorTest.IntegerFrameDurationNoOverlap",
    "SpectrogramFloatCalculatorTest.IntegerFrameDurationNoOverlap2XFftSize",
    "SpectrogramFloatCalculatorTest.IntegerFrameDurationSomeOverlap",
    "SpectrogramFloatCalculatorTest.NonintegerFrameDurationAndOverlap",
    "SpectrogramFloatCalculatorTest.ShortInitialPacketNoOverlap",
    "SpectrogramFloatCalculatorTest.TrailingSamplesNoPad",
    "SpectrogramFloatCalculatorTest.NoTrailingSamplesWithPad",
    "SpectrogramFloatCalculatorTest.TrailingSamplesWithPad",
    "SpectrogramFloatCalculatorTest.VeryShortInputWillPad",
    "SpectrogramFloatCalculatorTest.VeryShortInputZeroOutputFramesIfNoPad",
    "SpectrogramFloatCalculatorTest.ZeroOutputsForZeroInputsWithPaddingEnabled",
)
@BOTH
@pytest.mark.parametrize(
    ("given", "sizes", "counts", "header"),
    [
        (options(100, 0, pad_final_packet=False), [500, 200], [5, 2], header_of(step=100)),
        (options(100, 0, pad_final_packet=False, fft_size=512), [500, 200], [5, 2], header_of(512, 100)),
        (options(pad_final_packet=False), [500, 200], [11, 5], header_of()),
        (options(98.5, 58.4, pad_final_packet=False), [500, 200], [10, 5], header_of(step=41)),
        (options(100, 0, pad_final_packet=False), [90, 100, 110], [1, 2], header_of(step=100)),
        (options(pad_final_packet=False), [140, 90], [2, 2], header_of()),
        (options(pad_final_packet=True), [140, 80], [2, 2], header_of()),
        (options(pad_final_packet=True), [140, 90], [2, 2, 1], header_of()),
        (options(pad_final_packet=True), [30], [1], header_of()),
        (options(pad_final_packet=False), [90], [], header_of()),
        (options(pad_final_packet=True), [], [], header_of()),
    ],
)
def test_how_many_windows_each_packet_has(through, calculator, given, sizes, counts, header):  # noqa: PLR0913, PLR0917  # one case
    made = through(calculator, waves(sizes, 0), rate=RATE, start=4, header=input_header(), options=given)

    assert made.header == header
    assert [array.shape for array in made.arrays] == [(header.num_channels, count) for count in counts]
    before = np.cumsum([0, *counts])[:-1][: len(counts)]
    assert made.stamps == [4 + round(n * 1e6 / header.sample_rate) for n in before]


@pytest.mark.reference(
    "calculators/audio/spectrogram_calculator_test.cc",
    "SpectrogramCalculatorTest.SquaredMagnitudeOutputLooksRight",
    "SpectrogramCalculatorTest.DefaultOutputIsSquaredMagnitude",
    "SpectrogramCalculatorTest.LinearMagnitudeOutputLooksRight",
    "SpectrogramCalculatorTest.DbMagnitudeOutputLooksRight",
    "SpectrogramCalculatorTest.InputScalingLooksRight",
    "SpectrogramCalculatorTest.OutputScalingLooksRight",
    "SpectrogramCalculatorTest.ComplexOutputLooksRight",
)
@pytest.mark.reference(
    "calculators/audio/spectrogram_float_calculator_test.cc",
    "SpectrogramFloatCalculatorTest.SquaredMagnitudeOutputLooksRight",
    "SpectrogramFloatCalculatorTest.DefaultOutputIsSquaredMagnitude",
    "SpectrogramFloatCalculatorTest.LinearMagnitudeOutputLooksRight",
    "SpectrogramFloatCalculatorTest.DbMagnitudeOutputLooksRight",
    "SpectrogramFloatCalculatorTest.InputScalingLooksRight",
    "SpectrogramFloatCalculatorTest.OutputScalingLooksRight",
    "SpectrogramFloatCalculatorTest.ComplexOutputLooksRight",
)
@BOTH
@pytest.mark.parametrize(
    ("fields", "level", "expected"),
    [
        ({"output_type": "SQUARED_MAGNITUDE"}, 1, 2500),
        ({}, 1, 2500),
        ({"output_type": "LINEAR_MAGNITUDE"}, 1, 50),
        ({"output_type": "DECIBELS"}, 1, 10 * np.log10(2500)),
        ({"output_type": "DECIBELS", "input_scale": 32768}, 32768, 214.5974),
        ({"output_type": "DECIBELS", "output_scale": 2.5}, 1, 25 * np.log10(2500)),
        ({"output_type": "COMPLEX"}, 1, 2500),
    ],
)
def test_the_first_row_of_a_constant(through, calculator, fields, level, expected):
    made = through(calculator, waves([140], 0, level=level), rate=RATE, start=4, options=options(**fields))

    assert made.header == header_of()
    assert made.stamps[0] == 4
    first = made.arrays[0][0, 0]
    assert (abs(first) ** 2 if np.iscomplexobj(first) else first) == pytest.approx(expected, rel=5e-7)


@pytest.mark.reference(
    "calculators/audio/spectrogram_calculator_test.cc",
    "SpectrogramCalculatorTest.DCSignalIsPeakBin",
    "SpectrogramCalculatorTest.A440ToneIsPeakBin",
    "SpectrogramCalculatorTest.SquaredMagnitudeOutputLooksRightForNonDC",
)
@pytest.mark.reference(
    "calculators/audio/spectrogram_float_calculator_test.cc",
    "SpectrogramFloatCalculatorTest.DCSignalIsPeakBin",
    "SpectrogramFloatCalculatorTest.A440ToneIsPeakBin",
    "SpectrogramFloatCalculatorTest.SquaredMagnitudeOutputLooksRightForNonDC",
)
@BOTH
@pytest.mark.parametrize(
    ("hertz", "size", "count", "row", "power"),
    [(0, 140, 2, 0, 2500), (440, 460, 10, 14, None), (500, 140, 2, 16, 625)],
)
def test_the_largest_row_is_that_of_the_frequency(through, calculator, hertz, size, count, row, power):  # noqa: PLR0913, PLR0917  # one case
    made = through(calculator, waves([size], hertz), rate=RATE, start=4, options=options())

    assert made.header == header_of()
    assert made.arrays[0].argmax(axis=0).tolist() == count * [row]
    if power:
        assert made.arrays[0][row, 0] == pytest.approx(power, rel=0.02)


@pytest.mark.reference(
    "calculators/audio/spectrogram_calculator_test.cc",
    "SpectrogramCalculatorTest.SampleBufferModeNone",
    "SpectrogramCalculatorTest.SampleBufferModeReset",
)
@pytest.mark.reference(
    "calculators/audio/spectrogram_float_calculator_test.cc",
    "SpectrogramFloatCalculatorTest.SampleBufferModeNone",
    "SpectrogramFloatCalculatorTest.SampleBufferModeReset",
)
@BOTH
@pytest.mark.parametrize(
    ("mode", "firsts"),
    [
        ("NONE", [(10, -60.938908), (11, -4.00845), (1, -7.70911)]),
        ("RESET", [(10, -60.938908), (10, -60.9022)]),
    ],
)
def test_what_is_left_of_a_packet_counts_or_not(through, calculator, mode, firsts):
    blocks = [*waves([460], 440), *waves([460], 440, start=5)]

    made = through(
        calculator,
        blocks,
        rate=RATE,
        stamps=[4, 5],
        options=options(output_type="DECIBELS", sample_buffer_mode=mode),
    )

    assert made.header == header_of()
    assert made.stamps == [4, 100_004, 210_004][: len(firsts)]
    assert [array.shape[1] for array in made.arrays] == [count for count, _ in firsts]
    # nearly nothing is at 0 Hz, so the digits of the cosine in float32 can be seen in the first number
    found = [array[0, 0] for array in made.arrays]
    expected = [decibels for _, decibels in firsts]
    if calculator is SpectrogramFloatCalculator:
        assert found == pytest.approx(expected, abs=0.01)
    else:
        assert found[0] == pytest.approx(expected[0], abs=3e-4)
        assert found[1:] == pytest.approx(expected[1:], rel=5e-7 if mode == "NONE" else 1e-5)


@pytest.mark.reference(
    "calculators/audio/spectrogram_calculator_test.cc",
    "SpectrogramCalculatorTest.NumChannelsIsRight",
    "SpectrogramCalculatorTest.MultichannelSpectrogramSizesAreRight",
    "SpectrogramCalculatorTest.MultichannelSpectrogramValuesAreRight",
    "SpectrogramCalculatorTest.MultichannelHandlesShortInitialPacket",
    "SpectrogramCalculatorTest.MultichannelComplexHandlesShortInitialPacket",
)
@pytest.mark.reference(
    "calculators/audio/spectrogram_float_calculator_test.cc",
    "SpectrogramFloatCalculatorTest.NumChannelsIsRight",
    "SpectrogramFloatCalculatorTest.MultichannelSpectrogramSizesAreRight",
    "SpectrogramFloatCalculatorTest.MultichannelSpectrogramValuesAreRight",
    "SpectrogramFloatCalculatorTest.MultichannelHandlesShortInitialPacket",
    "SpectrogramFloatCalculatorTest.MultichannelComplexHandlesShortInitialPacket",
)
@BOTH
@pytest.mark.parametrize(
    ("sizes", "hertz", "fields", "count"),
    [
        ([460], 3 * [440], {"pad_final_packet": False}, 10),
        ([420], 10 * [440], {"pad_final_packet": False}, 9),
        ([460], 5 * [0, 440], {}, 10),
        ([50, 50], 2 * [440], {"pad_final_packet": False}, 1),
        ([50, 50], 2 * [440], {"pad_final_packet": False, "output_type": "COMPLEX"}, 1),
    ],
)
def test_each_channel_has_its_spectra(through, calculator, sizes, hertz, fields, count):  # noqa: PLR0913, PLR0917  # one case
    made = through(
        calculator,
        waves(sizes, *hertz),
        rate=RATE,
        start=4,
        options=options(allow_multichannel_input=True, **fields),
    )

    assert made.header == MultiStreamTimeSeriesHeader(time_series_header=header_of(), num_streams=len(hertz))
    assert made.stamps == [4]
    assert [np.abs(one).argmax(axis=0).tolist() for one in made.arrays[0]] == [
        count * [14 if frequency else 0] for frequency in hertz
    ]
    assert {one.shape for one in made.arrays[0]} == {(65, count)}


@pytest.mark.reference(
    "calculators/audio/spectrogram_calculator_test.cc",
    "SpectrogramCalculatorTest.SingleChannelOutputFramesWithAllChannelsIsRight",
    "SpectrogramCalculatorTest.MultichannelOutputFramesWithAllChannelsIsRight",
)
@pytest.mark.reference(
    "calculators/audio/spectrogram_float_calculator_test.cc",
    "SpectrogramFloatCalculatorTest.SingleChannelOutputFramesWithAllChannelsIsRight",
    "SpectrogramFloatCalculatorTest.MultichannelOutputFramesWithAllChannelsIsRight",
)
@BOTH
@pytest.mark.parametrize("hertz", [[440], [0, 440, 0]])
def test_each_window_can_have_its_channels_in_rows(through, calculator, hertz):
    made = through(
        calculator,
        waves([460], *hertz),
        rate=RATE,
        start=4,
        options=options(
            pad_final_packet=False,
            allow_multichannel_input=len(hertz) > 1,
            output_layout="SPECTROGRAM_CHANNELS_IN_ROWS",
        ),
    )

    assert made.header == header_of()
    assert made.stamps == [4 + i * 10_000 for i in range(10)]
    for array in made.arrays:
        assert array.argmax(axis=1).tolist() == [14 if frequency else 0 for frequency in hertz]


@pytest.mark.reference(
    "calculators/audio/spectrogram_calculator_test.cc",
    "SpectrogramCalculatorTest.NumSamplesAndPacketRateAreCleared",
)
@pytest.mark.reference(
    "calculators/audio/spectrogram_float_calculator_test.cc",
    "SpectrogramFloatCalculatorTest.NumSamplesAndPacketRateAreCleared",
)
@BOTH
def test_the_header_says_nothing_of_packets(through, calculator):
    made = through(
        calculator,
        waves([500], 0),
        header=input_header(num_samples=500, packet_rate=1),
        options=options(100, 0, pad_final_packet=False),
    )

    assert made.header == header_of(step=100)


@pytest.mark.reference(
    "calculators/audio/spectrogram_calculator_test.cc",
    "SpectrogramCalculatorTest.ResetInput",
)
@pytest.mark.reference(
    "calculators/audio/spectrogram_float_calculator_test.cc",
    "SpectrogramFloatCalculatorTest.ResetInput",
)
@BOTH
def test_a_packet_at_reset_alone_begins_the_time_anew(calculator):
    ones = Matrix(np.ones((1, 100), np.float32))

    ran = run_calculator(
        calculator,
        {0: [(0, ones), (2_000_000, ones)], "RESET": [(1_000_000, True)]},
        outputs=[0],
        headers={0: input_header()},
        options=options(100, 0, output_type="SQUARED_MAGNITUDE"),
    )

    assert [int(one.timestamp) for one in ran.outputs[0]] == [0, 2_000_000]
