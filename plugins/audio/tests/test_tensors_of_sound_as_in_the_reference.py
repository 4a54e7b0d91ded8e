"""The sounds of MediaPipe's own tests of AudioToTensorCalculator and TensorsToAudioCalculator."""

from __future__ import annotations

import numpy as np
import pytest

from penstock import Timestamp
from penstock.errors import GraphConfigError, StatusCode
from penstock_audio.messages.audio_to_tensor_pb2 import AudioToTensorCalculatorOptions as ToOptions
from penstock_audio.messages.tensors_to_audio_pb2 import TensorsToAudioCalculatorOptions as FromOptions
from penstock_audio.series.resampler import Kernel, RationalResampler
from penstock_audio.spectra.audio_to_tensor import AudioToTensorCalculator
from penstock_audio.spectra.tensors_to_audio import TensorsToAudioCalculator
from penstock_formats import Matrix
from penstock_testing import run_calculator

MAX = int(Timestamp.MAX)
SECOND = 1_000_000
RATE = 10_000.0
#: Four times the distance of two float32 numbers at 1, by which gtest's numbers may differ.
FOUR_ULPS = 4 * 2.0**-23


def sound(samples, at=0):
    """Return two channels that tell sample, channel and time."""
    column, row = np.arange(samples), np.arange(2)[:, None]
    return (at // 10_000 + column + row / 100).astype(np.float32)


def resampled(array, factor):
    if factor == 1:
        return array
    resampler = RationalResampler(len(array), 1, factor, Kernel())
    return np.concatenate([resampler.take(array), resampler.flush()], axis=1)


def sent(blocks, outputs=("TENSORS",), factor=1.0, rate=RATE, **options):
    packets = list(zip(range(0, SECOND * len(blocks), SECOND), map(Matrix, blocks), strict=True))
    ran = run_calculator(
        AudioToTensorCalculator,
        {"AUDIO": packets, "SAMPLE_RATE": [(at, rate) for at, _ in packets]},
        outputs=outputs,
        options=ToOptions(**({"num_channels": 2, "target_sample_rate": rate * factor} | options)),
    )
    return ran.outputs


def numbers(packet):
    (tensor,) = packet.payload
    return tensor.array.ravel()


def part(array, begin, count):
    """Return numbers of samples in the order of memory, and zeros behind the last."""
    whole = np.concatenate([array.T.ravel(), np.zeros(count, np.float32)])
    return whole[begin : begin + count]


@pytest.mark.parametrize(
    ("samples", "frame", "overlap", "factor", "channels", "stamps"),
    [
        pytest.param(
            8, 4, 0, 1, 2, [0, 400],
            marks=pytest.mark.reference(
                "calculators/tensor/audio_to_tensor_calculator_test.cc",
                "AudioToTensorCalculatorNonStreamingModeTest.ConvertToNoOverlappingFp32Tensors",
            ),
        ),
        pytest.param(
            8, 4, 2, 1, 2, [0, 200, 400, 600],
            marks=pytest.mark.reference(
                "calculators/tensor/audio_to_tensor_calculator_test.cc",
                "AudioToTensorCalculatorNonStreamingModeTest.ConvertToOverlappingFp32Tensors",
            ),
        ),
        pytest.param(
            7, 4, 2, 1, 2, [0, 200, 400],
            marks=pytest.mark.reference(
                "calculators/tensor/audio_to_tensor_calculator_test.cc",
                "AudioToTensorCalculatorNonStreamingModeTest.TensorsWithZeroPadding",
            ),
        ),
        pytest.param(
            8, 4, 2, 1, 1, [0, 200, 400, 600],
            marks=pytest.mark.reference(
                "calculators/tensor/audio_to_tensor_calculator_test.cc",
                "AudioToTensorCalculatorNonStreamingModeTest.Mixdown",
            ),
        ),
        pytest.param(
            1024, 256, 0, 0.5, 2, [0, 51_200, 102_400],
            marks=pytest.mark.reference(
                "calculators/tensor/audio_to_tensor_calculator_test.cc",
                "AudioToTensorCalculatorNonStreamingModeTest.Downsampling",
            ),
        ),
        pytest.param(
            1024, 256, 64, 0.5, 2, [0, 38_400, 76_800],
            marks=pytest.mark.reference(
                "calculators/tensor/audio_to_tensor_calculator_test.cc",
                "AudioToTensorCalculatorNonStreamingModeTest.DownsamplingWithOverlapping",
            ),
        ),
        pytest.param(
            1024, 256, 0, 2, 2, [12_800 * i for i in range(9)],
            marks=pytest.mark.reference(
                "calculators/tensor/audio_to_tensor_calculator_test.cc",
                "AudioToTensorCalculatorNonStreamingModeTest.Upsampling",
            ),
        ),
        pytest.param(
            256, 256, 64, 2, 2, [0, 9600, 19_200],
            marks=pytest.mark.reference(
                "calculators/tensor/audio_to_tensor_calculator_test.cc",
                "AudioToTensorCalculatorNonStreamingModeTest.UpsamplingWithOverlapping",
            ),
        ),
    ],
)  # fmt: skip
def test_each_of_ten_recordings_is_cut_alone(samples, frame, overlap, factor, channels, stamps):  # noqa: PLR0913, PLR0917  # a case has six parts
    found = sent(
        [sound(samples)] * 10,
        ["TENSORS", "TIMESTAMPS"],
        factor,
        num_channels=channels,
        num_samples=frame,
        num_overlapping_samples=overlap,
        stream_mode=False,
    )

    expected = resampled(sound(samples), factor)
    if channels == 1:
        expected = expected.mean(axis=0, keepdims=True)
    assert len(found["TENSORS"]) == 10 * len(stamps)
    for i, packet in enumerate(found["TENSORS"]):
        begin = i % len(stamps) * (frame - overlap) * channels
        expected_numbers = part(expected, begin, frame * channels)
        np.testing.assert_allclose(numbers(packet), expected_numbers, rtol=FOUR_ULPS)
    for i, packet in enumerate(found["TIMESTAMPS"]):
        assert [int(stamp) for stamp in packet.payload] == [i * SECOND + stamp for stamp in stamps]
        assert packet.timestamp == packet.payload[-1]
    assert len(found["TIMESTAMPS"]) == 10


@pytest.mark.parametrize(
    ("samples", "frame", "overlap", "factor", "padding", "interval", "is_last_at_max"),
    [
        pytest.param(
            10, 5, 0, 1, (0, 0), 500, False,
            marks=pytest.mark.reference(
                "calculators/tensor/audio_to_tensor_calculator_test.cc",
                "AudioToTensorCalculatorStreamingModeTest.OutputNoOverlappingFp32Tensors",
            ),
        ),
        pytest.param(
            10, 6, 0, 1, (0, 0), 600, True,
            marks=pytest.mark.reference(
                "calculators/tensor/audio_to_tensor_calculator_test.cc",
                "AudioToTensorCalculatorStreamingModeTest.OutputRemainingInCloseMethod",
            ),
        ),
        pytest.param(
            12, 10, 2, 1, (0, 0), 800, True,
            marks=pytest.mark.reference(
                "calculators/tensor/audio_to_tensor_calculator_test.cc",
                "AudioToTensorCalculatorStreamingModeTest.OutputOverlappingFp32Tensors",
            ),
        ),
        pytest.param(
            1000, 256, 0, 0.5, (0, 0), 51_200, True,
            marks=pytest.mark.reference(
                "calculators/tensor/audio_to_tensor_calculator_test.cc",
                "AudioToTensorCalculatorStreamingModeTest.Downsampling",
            ),
        ),
        pytest.param(
            1024, 256, 64, 0.5, (0, 0), 38_400, True,
            marks=pytest.mark.reference(
                "calculators/tensor/audio_to_tensor_calculator_test.cc",
                "AudioToTensorCalculatorStreamingModeTest.DownsamplingWithOverlapping",
            ),
        ),
        pytest.param(
            1000, 256, 0, 2, (0, 0), 12_800, True,
            marks=pytest.mark.reference(
                "calculators/tensor/audio_to_tensor_calculator_test.cc",
                "AudioToTensorCalculatorStreamingModeTest.Upsampling",
            ),
        ),
        pytest.param(
            1024, 256, 64, 2, (0, 0), 9600, True,
            marks=pytest.mark.reference(
                "calculators/tensor/audio_to_tensor_calculator_test.cc",
                "AudioToTensorCalculatorStreamingModeTest.UpsamplingWithOverlapping",
            ),
        ),
        pytest.param(
            1024, 256, 64, 2, (13, 999), 9600, False,
            marks=pytest.mark.reference(
                "calculators/tensor/audio_to_tensor_calculator_test.cc",
                "AudioToTensorCalculatorStreamingModeTest.UpsamplingWithOverlappingAndPadding",
            ),
        ),
    ],
)  # fmt: skip
def test_a_stream_of_ten_packets_is_cut_as_one(  # noqa: PLR0913, PLR0917  # a case has seven parts
    samples, frame, overlap, factor, padding, interval, is_last_at_max
):
    blocks = [sound(samples, i * SECOND) for i in range(10)]
    found = sent(
        blocks,
        factor=factor,
        num_samples=frame,
        num_overlapping_samples=overlap,
        padding_samples_before=padding[0],
        padding_samples_after=padding[1],
        flush_mode="PROCEED_AS_USUAL" if any(padding) else "ENTIRE_TAIL_AT_TIMESTAMP_MAX",
    )["TENSORS"]

    expected = np.pad(resampled(np.concatenate(blocks, axis=1), factor), ((0, 0), padding))
    step = frame - overlap
    stamps = [i * interval for i in range(-(-expected.shape[1] // step))]
    if is_last_at_max:
        stamps[-1] = MAX
    assert [int(packet.timestamp) for packet in found] == stamps
    for i, packet in enumerate(found):
        expected_numbers = part(expected, i * step * 2, frame * 2)
        np.testing.assert_allclose(numbers(packet), expected_numbers, rtol=0, atol=0.001)
        assert not numbers(packet)[max(expected.size - i * step * 2, 0) :].any()


@pytest.mark.reference(
    "calculators/tensor/audio_to_tensor_calculator_test.cc",
    "AudioToTensorCalculatorStreamingModeTest.OnlyOutputInCloseIfNoSufficientSamples",
)
def test_a_stream_shorter_than_a_tensor_comes_at_its_end():
    (packet,) = sent([sound(10)], factor=0.5, num_samples=8)["TENSORS"]

    assert packet.timestamp == Timestamp.MAX
    np.testing.assert_allclose(numbers(packet), part(resampled(sound(10), 0.5), 0, 16), rtol=0, atol=0.001)


@pytest.mark.reference(
    "calculators/tensor/audio_to_tensor_calculator_test.cc",
    "AudioToTensorCalculatorStreamingModeTest.NegativePaddingUnsupported",
)
def test_negative_padding_is_refused():
    with pytest.raises(GraphConfigError, match="padding_samples_after is -3, but"):
        sent(
            [],
            factor=2,
            num_samples=256,
            num_overlapping_samples=64,
            padding_samples_before=13,
            padding_samples_after=-3,
            flush_mode="PROCEED_AS_USUAL",
        )


@pytest.mark.parametrize(
    ("channels", "size", "words"),
    [
        pytest.param(
            1, 103, "fft_size is 103, but must be 32 times a product of 2, 3 and 5",
            marks=pytest.mark.reference(
                "calculators/tensor/audio_to_tensor_calculator_test.cc",
                "AudioToTensorCalculatorFftTest.TestInvalidFftSize",
            ),
        ),
        pytest.param(
            3, 256, "a transform takes one channel",
            marks=pytest.mark.reference(
                "calculators/tensor/audio_to_tensor_calculator_test.cc",
                "AudioToTensorCalculatorFftTest.TestInvalidNumChannels",
            ),
        ),
    ],
)  # fmt: skip
def test_transforms_that_cannot_be_have_the_code_of_the_reference(channels, size, words):
    with pytest.raises(GraphConfigError, match=words) as caught:
        sent(
            [],
            ["TENSORS", "DC_AND_NYQUIST"],
            rate=16_000,
            num_channels=channels,
            num_samples=320,
            num_overlapping_samples=160,
            fft_size=size,
        )

    assert caught.value.code == StatusCode.INTERNAL


def test_an_impulse_has_the_same_power_at_all_frequencies():
    """The first tensor of MediaPipe's TestImpulseSignal; its second holds what was in the memory before."""
    impulse = np.zeros((1, 320), np.float32)
    impulse[0, 160] = 1

    found = sent(
        [impulse],
        ["TENSORS", "DC_AND_NYQUIST"],
        rate=16_000,
        num_channels=1,
        num_samples=320,
        num_overlapping_samples=160,
        fft_size=320,
    )

    assert found["DC_AND_NYQUIST"][0].payload == pytest.approx((1, 1), rel=FOUR_ULPS)
    pairs = numbers(found["TENSORS"][0]).reshape(160, 2)
    np.testing.assert_allclose((pairs**2).sum(axis=1), 1, rtol=FOUR_ULPS)


# --- back to sound ------------------------------------------------------------------------------


def there_and_back(array, **options):
    made = sent(
        [array], ["TENSORS", "DC_AND_NYQUIST"], rate=16_000, num_channels=1, num_samples=320, **options
    )
    (packet,) = run_calculator(
        TensorsToAudioCalculator,
        {tag: list(made[tag]) for tag in ("TENSORS", "DC_AND_NYQUIST")},
        outputs=["AUDIO"],
        options=FromOptions(**options),
    ).outputs["AUDIO"]
    return packet.payload.array


@pytest.mark.parametrize(
    ("place", "kind", "factor"),
    [
        pytest.param(
            160, "WITH_NYQUIST", 1,
            marks=pytest.mark.reference(
                "calculators/tensor/tensors_to_audio_calculator_test.cc",
                "TensorsToAudioCalculatorFftTest.TestImpulseSignalAtTheCenter",
            ),
        ),
        pytest.param(
            80, "WITH_NYQUIST", 0.5,
            marks=pytest.mark.reference(
                "calculators/tensor/tensors_to_audio_calculator_test.cc",
                "TensorsToAudioCalculatorFftTest.TestWindowedImpulseSignal",
            ),
        ),
        pytest.param(
            0, "WITH_NYQUIST", 0,
            marks=pytest.mark.reference(
                "calculators/tensor/tensors_to_audio_calculator_test.cc",
                "TensorsToAudioCalculatorFftTest.TestImpulseSignalAtBeginning",
            ),
        ),
        pytest.param(
            160, "WITH_DC_AND_NYQUIST", 1,
            marks=pytest.mark.reference(
                "calculators/tensor/tensors_to_audio_calculator_test.cc",
                "TensorsToAudioCalculatorFftTest.TestDftTensorWithDCAndNyquist",
            ),
        ),
        pytest.param(
            160, "WITHOUT_DC_AND_NYQUIST", 1,
            marks=pytest.mark.reference(
                "calculators/tensor/tensors_to_audio_calculator_test.cc",
                "TensorsToAudioCalculatorFftTest.TestDftTensorWithoutDCAndNyquist",
            ),
        ),
    ],
)  # fmt: skip
def test_an_impulse_comes_back_as_both_windows_make_it(place, kind, factor):
    impulse = np.zeros((1, 320), np.float32)
    impulse[0, place] = 1

    back = there_and_back(impulse, fft_size=320, dft_tensor_format=kind)

    # Zeros may be zeros but for the rounding of the transforms.
    np.testing.assert_allclose(back, impulse * np.float32(factor), rtol=0, atol=1e-16)


@pytest.mark.reference(
    "calculators/tensor/tensors_to_audio_calculator_test.cc",
    "TensorsToAudioCalculatorFftTest.TestInvalidFftSize",
)
def test_a_transform_back_of_a_size_that_cannot_be_has_the_code_of_the_reference():
    with pytest.raises(GraphConfigError, match="fft_size is 103, but must be 32 times") as caught:
        run_calculator(
            TensorsToAudioCalculator,
            {"TENSORS": [], "DC_AND_NYQUIST": []},
            outputs=["AUDIO"],
            options=FromOptions(fft_size=103, dft_tensor_format="WITH_NYQUIST"),
        )

    assert caught.value.code == StatusCode.INTERNAL
