"""The sound of a file becomes the features of YouTube-8M's graph, by nodes as its graph file writes them."""

from __future__ import annotations

import av
import numpy as np
import pytest

import penstock
from penstock_audio.messages.audio_decoder_pb2 import AudioDecoderOptions

GRAPH = """
input_side_packet: "input_file"
input_side_packet: "audio_decoder_options"
output_stream: "features"
node {
  calculator: "AudioDecoderCalculator"
  input_side_packet: "INPUT_FILE_PATH:input_file"
  input_side_packet: "OPTIONS:audio_decoder_options"
  output_stream: "AUDIO:audio"
  output_stream: "AUDIO_HEADER:audio_header"
}
node {
  calculator: "AddHeaderCalculator"
  input_stream: "DATA:audio"
  input_stream: "HEADER:audio_header"
  output_stream: "media_audio"
}
node {
  calculator: "AverageTimeSeriesAcrossChannelsCalculator"
  input_stream: "media_audio"
  output_stream: "mono_waveform"
}
node {
  calculator: "RationalFactorResampleCalculator"
  input_stream: "mono_waveform"
  output_stream: "resampled_waveform"
  node_options: {
    [type.googleapis.com/mediapipe.RationalFactorResampleCalculatorOptions] { target_sample_rate: 16000.0 }
  }
}
node {
  calculator: "SpectrogramCalculator"
  input_stream: "resampled_waveform"
  output_stream: "spectra"
  node_options: {
    [type.googleapis.com/mediapipe.SpectrogramCalculatorOptions] {
      frame_duration_seconds: 0.025
      frame_overlap_seconds: 0.015
      output_type: SQUARED_MAGNITUDE
    }
  }
}
node {
  calculator: "MelSpectrumCalculator"
  input_stream: "spectra"
  output_stream: "mel_spectra"
  node_options: {
    [type.googleapis.com/mediapipe.MelSpectrumCalculatorOptions] {
      channel_count: 64
      min_frequency_hertz: 125.0
      max_frequency_hertz: 7500.0
    }
  }
}
node {
  calculator: "StabilizedLogCalculator"
  input_stream: "mel_spectra"
  output_stream: "log_mel_spectra"
  node_options: {
    [type.googleapis.com/mediapipe.StabilizedLogCalculatorOptions] { stabilizer: 0.01 }
  }
}
node {
  calculator: "TimeSeriesFramerCalculator"
  input_stream: "log_mel_spectra"
  output_stream: "features"
  node_options: {
    [type.googleapis.com/mediapipe.TimeSeriesFramerCalculatorOptions] {
      frame_duration_seconds: 0.96
      frame_overlap_seconds: -0.04
    }
  }
}
"""
SECONDS = 3


def write(path, samples, rate):
    with av.open(str(path), "w") as container:
        stream = container.add_stream("pcm_s16le", rate=rate, layout="stereo")
        frame = av.AudioFrame.from_ndarray(samples.T.reshape(1, -1), "s16", "stereo")
        frame.sample_rate, frame.pts = rate, 0
        container.mux(stream.encode(frame))
        container.mux(stream.encode(None))


def features(path):
    graph = penstock.CalculatorGraph(GRAPH)
    made = []
    graph.observe_output_stream("features", lambda _, packet: made.append(packet))
    options = AudioDecoderOptions(audio_stream=[{"stream_index": 0}])
    graph.start_run({"input_file": str(path), "audio_decoder_options": options})
    graph.wait_until_done(60)
    return [int(one.timestamp) for one in made], [one.payload.array for one in made]


def expected_of(mono):
    """Return the logarithms of the mel bands, (64, windows), by their definitions."""
    windows = [mono[at : at + 400] for at in range(0, len(mono) - 399, 160)]
    hann = 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(400) / 400)
    magnitudes = np.abs(np.fft.rfft(np.array(windows) * hann, 512, axis=1)).T
    hertz = np.arange(257) * 16_000 / 512
    edges = np.linspace(*(1127 * np.log(1 + f / 700) for f in (125, 7500)), 66)
    mel = 1127 * np.log(1 + hertz / 700)
    up, down = (
        (mel - edges[:-2, None]) / (edges[1] - edges[0]),
        (edges[2:, None] - mel) / (edges[1] - edges[0]),
    )
    weights = np.maximum(0, np.minimum(up, down)) * ((hertz > 125 + 15) & (hertz <= 7500))
    return np.log(weights @ magnitudes + 0.01)


def test_features_are_those_of_the_definitions_a_frame_each_second(tmp_path):
    samples = np.random.default_rng(3).integers(-20_000, 20_000, (2, SECONDS * 16_000), dtype=np.int16)
    write(tmp_path / "noise.wav", samples, 16_000)

    stamps, arrays = features(tmp_path / "noise.wav")

    assert stamps == [0, 1_000_000, 2_000_000]
    assert [array.shape for array in arrays] == [(64, 96)] * 3
    expected = expected_of(samples.mean(axis=0) / 2**15)
    for second, array in zip(range(2), arrays, strict=False):  # the last frame has zeros
        assert array == pytest.approx(expected[:, 100 * second : 100 * second + 96], abs=2e-4)


def test_sound_of_another_rate_has_nearly_the_same_features_below_its_cut(tmp_path):
    def tones(rate):
        seconds = np.arange(SECONDS * rate) / rate
        wave = sum(np.sin(2 * np.pi * f * seconds) for f in (220, 700, 1900, 4000))
        return (np.stack([wave, wave]) * 6000).astype(np.int16)

    for rate in (16_000, 48_000):
        write(tmp_path / f"{rate}.wav", tones(rate), rate)

    (_, (first, *_)), (stamps, (second, *_)) = (
        features(tmp_path / f"{rate}.wav") for rate in (16_000, 48_000)
    )

    assert stamps == [0, 1_000_000, 2_000_000]
    loud = first[:, 5:90] > 1
    assert loud.sum() > 800
    assert second[:, 5:90][loud] == pytest.approx(first[:, 5:90][loud], abs=0.05)
