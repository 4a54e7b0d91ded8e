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
@pytest.mark.parametrize("calculator", [SpectrogramCalculator, SpectrogramFloatCalculator])
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


def test_a_later_impulse_has_more_phase_as_in_the_reference(through):
    samples = np.zeros((1, 200), np.float32)
    samples[0, 49] = samples[0, 150] = 1

    made = through(
        SpectrogramCalculator, [samples], rate=RATE, options=options(100, 0, output_type="COMPLEX")
    )

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

    # 180 samples complete windows at 0, 40 and 80; 310 those at 120, 160 and 200; the zeros that at 240
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
        GraphRunError, match="has 2 channels, but one is taken; set allow_multichannel_input, or put"
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
