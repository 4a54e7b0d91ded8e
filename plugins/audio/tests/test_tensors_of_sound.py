"""AudioToTensorCalculator beside the reference's wheel, and TensorsToAudioCalculator as its inverse."""

from __future__ import annotations

import numpy as np
import pytest

from penstock import Timestamp
from penstock.errors import GraphConfigError, GraphRunError
from penstock_audio.messages.audio_to_tensor_pb2 import AudioToTensorCalculatorOptions as ToOptions
from penstock_audio.messages.tensors_to_audio_pb2 import TensorsToAudioCalculatorOptions as FromOptions
from penstock_audio.spectra.audio_to_tensor import AudioToTensorCalculator
from penstock_audio.spectra.tensors_to_audio import TensorsToAudioCalculator
from penstock_formats import Matrix, Tensor, TimeSeriesHeader
from penstock_testing import run_calculator

MAX = int(Timestamp.MAX)
PRESTREAM = int(Timestamp.PRESTREAM)


def matrix(*rows):
    return Matrix(np.array(rows, np.float32))


def ramp(count):
    n = np.arange(count)
    return ((n * n * 7 + n * 13) % 97 - 48) / 48


def tensors(packets, rate=100.0, outputs=("TENSORS",), **options):
    """Run, with the rate beside each packet; return (timestamp, numbers in the order of memory)."""
    ran = run_calculator(
        AudioToTensorCalculator,
        {"AUDIO": packets, "SAMPLE_RATE": [(at, rate) for at, _ in packets]},
        outputs=outputs,
        options=ToOptions(**({"target_sample_rate": 100} | options)),
    )
    for packet in ran.outputs["TENSORS"]:
        (tensor,) = packet.payload
        assert tensor.shape == (options["num_channels"], options["num_samples"]) or "fft_size" in options
    return ran, [
        (int(one.timestamp), one.payload[0].array.ravel().tolist()) for one in ran.outputs["TENSORS"]
    ]


# What MediaPipe 0.10.21 made of the same packets.


def test_several_channels_come_sample_by_sample_and_the_rest_at_max_as_in_the_reference():
    _, made = tensors([(0, matrix([1, 2, 3, 4, 5], [10, 20, 30, 40, 50]))], num_channels=2, num_samples=4)

    assert made == [(0, [1, 10, 2, 20, 3, 30, 4, 40]), (MAX, [5, 50, 0, 0, 0, 0, 0, 0])]


def test_padding_overlap_and_gain_as_in_the_reference():
    _, made = tensors(
        [(0, matrix([1, 2, 3, 4, 5])), (50_000, matrix([6, 7, 8]))],
        num_channels=1,
        num_samples=3,
        num_overlapping_samples=1,
        padding_samples_before=2,
        padding_samples_after=1,
        flush_mode="PROCEED_AS_USUAL",
        volume_gain_db=20,
    )

    assert made == [
        (0, [0, 0, 10]),
        (20_000, [10, 20, 30]),
        (40_000, [30, 40, 50]),
        (60_000, [50, 60, 70]),
        (80_000, [70, 80, 0]),
        (100_000, [0, 0, 0]),
    ]


def test_recordings_of_their_own_are_mixed_and_filled_up_at_once_as_in_the_reference():
    ran, made = tensors(
        [(0, matrix([1, 2, 3, 4, 5, 6], [3, 4, 5, 6, 7, 8])), (50_000, matrix([6, 7, 8]))],
        outputs=["TENSORS", "TIMESTAMPS"],
        num_channels=1,
        num_samples=3,
        num_overlapping_samples=1,
        stream_mode=False,
    )

    assert made == [
        (0, [2, 3, 4]),
        (20_000, [4, 5, 6]),
        (40_000, [6, 7, 0]),
        (50_000, [6, 7, 8]),
        (70_000, [8, 0, 0]),
    ]
    stamps = [(int(one.timestamp), one.payload) for one in ran.outputs["TIMESTAMPS"]]
    assert stamps == [(40_000, [0, 20_000, 40_000]), (70_000, [50_000, 70_000])]


@pytest.mark.parametrize(("is_stream", "last"), [(True, MAX), (False, 25_002)])
def test_resampled_sound_as_in_the_reference(is_stream, last):
    _, made = tensors(
        [(0, matrix(ramp(441)))],
        rate=16000.0,
        num_channels=1,
        num_samples=200,
        target_sample_rate=48000,
        stream_mode=is_stream,
    )

    assert [at for at, _ in made] == [0, 4167, 8334, 12_501, 16_668, 20_835, last]
    numbers = np.concatenate([numbers for _, numbers in made])
    found = numbers[[0, 1, 2, 17, 50, 101, 1322, 1325]]
    expected = [-0.9884823, -1.082082, -0.9121124, -0.2495002, -0.5038512, 0.4880313, -0.3999884, 0.1255492]
    assert found == pytest.approx(expected, abs=1e-6)
    assert not numbers[1338:].any()


TRANSFORMS = {
    "WITH_NYQUIST": (64, [-0.89836, 2.20921, -1.5094, -1.00052], [-2.91595, 0.93596, 3.84286, 0.0]),
    "WITH_DC_AND_NYQUIST": (66, [1.51403, 0.0, -0.89836, 2.20921], [-2.91595, 0.93596, 3.84286, 0.0]),
    "WITHOUT_DC_AND_NYQUIST": (
        62,
        [-0.89836, 2.20921, -1.5094, -1.00052],
        [0.93669, -0.71759, -2.91595, 0.93596],
    ),
}


@pytest.mark.parametrize("kind", TRANSFORMS)
def test_transforms_as_in_the_reference(kind):
    ran, made = tensors(
        [(0, matrix(ramp(64)))],
        outputs=["TENSORS", "DC_AND_NYQUIST"],
        num_channels=1,
        num_samples=64,
        fft_size=64,
        dft_tensor_format=kind,
    )

    ((_, numbers),) = made
    count, first, last = TRANSFORMS[kind]
    assert len(numbers) == count
    assert numbers[:4] == pytest.approx(first, abs=1e-5)
    assert numbers[-4:] == pytest.approx(last, abs=1e-5)
    assert ran.outputs["TENSORS"][0].payload[0].shape == (2, count // 2)
    assert ran.outputs["DC_AND_NYQUIST"][0].payload == pytest.approx((1.51403, 3.84286), abs=1e-5)


# Beyond what the reference does.


def test_the_rate_may_come_at_prestream_or_in_a_header_or_in_an_option(noise):
    samples = Matrix(noise(1, 60))
    options = {"num_channels": 1, "num_samples": 20, "target_sample_rate": 50}
    runs = [
        run_calculator(
            AudioToTensorCalculator,
            {"AUDIO": [(0, samples)], **inputs},
            outputs=["TENSORS"],
            headers=headers,
            options=ToOptions(**options, **more),
        )
        for inputs, headers, more in (
            ({"SAMPLE_RATE": [(PRESTREAM, 100.0)]}, None, {}),
            ({"SAMPLE_RATE": [(0, 100.0)]}, None, {}),
            ({}, {"AUDIO": TimeSeriesHeader(sample_rate=100, num_channels=1)}, {}),
            ({}, None, {"source_sample_rate": 100}),
        )
    ]

    numbers = [[one.payload[0].array.tolist() for one in run.outputs["TENSORS"]] for run in runs]
    assert len(numbers[0]) == 2
    assert all(one == numbers[0] for one in numbers)


def test_a_short_rest_is_transformed_with_zeros_behind_it():
    _, made = tensors(
        [(0, matrix(ramp(90)))],
        num_channels=1,
        num_samples=64,
        fft_size=64,
        dft_tensor_format="WITH_DC_AND_NYQUIST",
    )

    window = 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(64) / 64)
    expected = np.fft.rfft(window * np.pad(ramp(90)[64:], (0, 38)))
    assert made[1][0] == MAX
    assert made[1][1][0::2] == pytest.approx(expected.real, abs=1e-5)
    assert made[1][1][1::2] == pytest.approx(expected.imag, abs=1e-5)


def test_times_are_not_sent_where_a_call_sends_no_tensor():
    ran, _ = tensors(
        [(0, matrix([1, 2])), (20_000, matrix([3, 4]))],
        outputs=["TENSORS", "TIMESTAMPS"],
        num_channels=1,
        num_samples=4,
    )

    assert [int(one.timestamp) for one in ran.outputs["TIMESTAMPS"]] == [0]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({}, "an audio tensor has no num_channels and no num_samples; set it in the options"),
        ({"num_channels": 0, "num_samples": 3}, "num_channels is 0, but must be at least 1"),
        ({"num_channels": 2**20, "num_samples": 2**20}, "product of 1048576 channels and 1048576 samples"),
        (
            {"num_channels": 1, "num_samples": 3, "num_overlapping_samples": 3},
            "num_overlapping_samples is 3, but must be below num_samples, which is 3",
        ),
        (
            {"num_channels": 1, "num_samples": 3, "padding_samples_after": -1},
            "padding_samples_after is -1, but",
        ),
        (
            {"num_channels": 1, "num_samples": 3, "padding_samples_before": 2**40},
            "padding_samples_before is 1099511627776, but",
        ),
        ({"num_channels": 1, "num_samples": 3, "flush_mode": "NONE"}, "flush_mode is NONE; leave it out"),
        ({"num_channels": 1, "num_samples": 3, "volume_gain_db": 1e9}, "must be from -400 to 400 decibels"),
        (
            {"num_channels": 1, "num_samples": 3, "fft_size": 100},
            "fft_size is 100, but must be 32 times a product",
        ),
        (
            {"num_channels": 1, "num_samples": 3, "fft_size": 224},
            "fft_size is 224, but must be 32 times a product",
        ),
        (
            {"num_channels": 2, "num_samples": 3, "fft_size": 64},
            "a transform takes one channel and at most fft_size",
        ),
        (
            {"num_channels": 1, "num_samples": 65, "fft_size": 64},
            "a transform takes one channel and at most fft_size",
        ),
        (
            {
                "num_channels": 1,
                "num_samples": 3,
                "fft_size": 64,
                "dft_tensor_format": "DFT_TENSOR_FORMAT_UNKNOWN",
            },
            "dft_tensor_format is DFT_TENSOR_FORMAT_UNKNOWN; leave it out",
        ),
    ],
)
def test_tensors_that_cannot_be_are_refused_when_the_graph_is_loaded(given, words):
    with pytest.raises(GraphConfigError, match=words):
        tensors([], **given)


def test_ends_of_a_transform_need_a_transform():
    with pytest.raises(
        GraphConfigError, match="the audio tensor's output DC_AND_NYQUIST needs fft_size; set it"
    ):
        tensors([], outputs=["TENSORS", "DC_AND_NYQUIST"], num_channels=1, num_samples=3)


@pytest.mark.parametrize(
    ("inputs", "header", "words"),
    [
        ({}, False, "needs a TimeSeriesHeader or the input SAMPLE_RATE, but has neither"),
        ({"SAMPLE_RATE": []}, True, "needs a TimeSeriesHeader or the input SAMPLE_RATE, but has both"),
        ({"SAMPLE_RATE": []}, False, "has a packet, but SAMPLE_RATE has had none; send one before it"),
        (
            {"SAMPLE_RATE": [(0, 9.0), (5, 10.0)]},
            False,
            "says 10 samples of audio a second, but has said 9 before; set stream",
        ),
        ({"SAMPLE_RATE": [(0, 0.0)]}, False, "sound of 0.0 Hz cannot be resampled to 9.0 Hz"),
    ],
)
def test_the_rate_is_needed_once(inputs, header, words):
    with pytest.raises(GraphRunError, match=words):
        run_calculator(
            AudioToTensorCalculator,
            {"AUDIO": [(0, matrix([1]))], **inputs},
            outputs=["TENSORS"],
            headers={"AUDIO": TimeSeriesHeader(sample_rate=9, num_channels=1)} if header else None,
            options=ToOptions(num_channels=1, num_samples=1, target_sample_rate=9),
        )


def test_other_channels_are_refused():
    with pytest.raises(
        GraphRunError, match="a matrix of 3x1 has 3 channels, but the model takes 2; set num_channels"
    ):
        tensors([(0, matrix([1], [2], [3]))], num_channels=2, num_samples=1)


# --- back to sound ------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", TRANSFORMS)
def test_sound_comes_back_from_overlapping_transforms(noise, kind):
    samples = noise(1, 640)
    ran, _ = tensors(
        [(0, Matrix(samples))],
        outputs=["TENSORS", "DC_AND_NYQUIST"],
        num_channels=1,
        num_samples=64,
        num_overlapping_samples=32,
        fft_size=64,
        dft_tensor_format=kind,
    )

    back = run_calculator(
        TensorsToAudioCalculator,
        {tag: list(ran.outputs[tag])[:-1] for tag in ("TENSORS", "DC_AND_NYQUIST")},
        outputs=["AUDIO"],
        options=FromOptions(
            fft_size=64,
            num_samples=64,
            num_overlapping_samples=32,
            dft_tensor_format=kind,
            volume_gain_db=-20,
        ),
    )

    sound = np.concatenate([one.payload.array for one in back.outputs["AUDIO"]], axis=1)
    assert sound.shape == (1, 32 * 19)
    assert sound[:, 32:] == pytest.approx(samples[:, 32:608] / 10, abs=1e-5)
    assert [int(one.timestamp) for one in back.outputs["AUDIO"]] == [320_000 * i for i in range(19)]


def test_without_overlap_a_whole_window_is_sent_as_the_inverse_window_makes_it():
    window = 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(64) / 64)
    spectrum = np.fft.rfft(np.ones(64))
    numbers = np.stack([spectrum.real, spectrum.imag], axis=1).reshape(2, 33)

    back = run_calculator(
        TensorsToAudioCalculator,
        {"TENSORS": [(5, [Tensor(numbers.astype(np.float32))])], "DC_AND_NYQUIST": [(5, (0.0, 0.0))]},
        outputs=["AUDIO"],
        options=FromOptions(fft_size=64, dft_tensor_format="WITH_DC_AND_NYQUIST"),
    )

    ((packet),) = back.outputs["AUDIO"]
    expected = window / (window**2 + np.roll(window, 32) ** 2)
    assert packet.payload.array[0] == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({}, "to make audio of tensors, fft_size is needed; set that of the AudioToTensorCalculator"),
        ({"fft_size": 48}, "fft_size is 48, but must be 32 times"),
        (
            {"fft_size": 64, "num_overlapping_samples": 8},
            "num_samples is 0 and num_overlapping_samples is 8; they must",
        ),
        (
            {"fft_size": 64, "num_samples": 64, "num_overlapping_samples": 33},
            "which is 64, and from 1 to half of it",
        ),
        ({"fft_size": 64, "dft_tensor_format": 0}, "DFT_TENSOR_FORMAT_UNKNOWN"),
    ],
)
def test_transforms_that_cannot_be_are_refused_when_the_graph_is_loaded(given, words):
    with pytest.raises(GraphConfigError, match=words):
        run_calculator(
            TensorsToAudioCalculator,
            {"TENSORS": [], "DC_AND_NYQUIST": []},
            outputs=["AUDIO"],
            options=FromOptions(**given),
        )


@pytest.mark.parametrize(
    ("payload", "words"),
    [
        ([], r"holds \[\], but audio is made of one tensor of float32"),
        ([Tensor(np.zeros(64, np.int8))], "but audio is made of one tensor of float32"),
        (
            [Tensor(np.zeros((2, 33), np.float32))],
            "66 numbers, but a transform of 64 points has 64 in this dft_tensor",
        ),
    ],
)
def test_what_is_no_transform_is_refused(payload, words):
    with pytest.raises(GraphRunError, match=words):
        run_calculator(
            TensorsToAudioCalculator,
            {"TENSORS": [(0, payload)], "DC_AND_NYQUIST": [(0, (0.0, 0.0))]},
            outputs=["AUDIO"],
            options=FromOptions(fft_size=64),
        )
