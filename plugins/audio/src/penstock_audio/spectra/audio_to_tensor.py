"""AudioToTensorCalculator: sound as tensors for models."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

import penstock
from penstock import Timestamp
from penstock.errors import InvalidArgumentError, StatusCode
from penstock.lowlevel import MAX, PRESTREAM
from penstock_audio.messages.audio_to_tensor_pb2 import AudioToTensorCalculatorOptions
from penstock_audio.series.resampler import Kernel, RationalResampler, check_rates
from penstock_audio.series.time_series import (
    Regularity,
    check_count,
    later,
    microseconds_of,
    series_header,
    time_of,
)
from penstock_audio.series.windows import hann
from penstock_audio.spectra.fourier_tensor import check_format, check_gain, check_size, numbers_of
from penstock_formats import Matrix, Tensor

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from penstock import CalculatorContext, CalculatorContract

_OPTIONS: Final = AudioToTensorCalculatorOptions
_NEEDED: Final = ("num_channels", "num_samples", "target_sample_rate")


class AudioToTensorCalculator(penstock.Calculator):
    """Makes tensors of a fixed number of samples of sound, for models, or Fourier transforms of them.

    Inputs: AUDIO (Matrix, channels by samples, float32); SAMPLE_RATE (float, optional): of each packet, or at
    PRESTREAM of all, where AUDIO has no header. Either AUDIO has a TimeSeriesHeader, or SAMPLE_RATE is
    connected, or the option `source_sample_rate` is set.

    Outputs: TENSORS, list[Tensor] with one tensor, float32, (num_channels, num_samples). As in the reference
    the numbers of several channels come sample by sample, although the shape says channels by samples. With
    `fft_size` the tensor is (2, n): the transform of the samples times a periodic Hann window, real and
    imaginary parts by turns, frequency by frequency, without DC, and by `dft_tensor_format` with DC or
    without the last frequency. DC_AND_NYQUIST (tuple of two floats, optional, with `fft_size`): its first and
    last number. TIMESTAMPS (list[Timestamp], optional): the times of the tensors that a call has sent, at the
    last of them.

    A tensor has the time of its first sample, counted from the first packet. With `stream_mode: false` each
    packet is a recording of its own: it is counted from its own timestamp, and its rest is filled up with
    zeros at once. Else the rest comes when the input ends: in one tensor at Timestamp.MAX, which drops what
    does not fit into it, or with `flush_mode: PROCEED_AS_USUAL` as all before.

    Options: `num_channels`, `num_samples` and `target_sample_rate`, which must be given;
    `num_overlapping_samples` (0), `stream_mode` (true), `check_inconsistent_timestamps` (true), `fft_size`,
    `padding_samples_before` and `padding_samples_after` (0, in stream mode), `flush_mode`,
    `dft_tensor_format` (WITH_NYQUIST), `volume_gain_db`, `source_sample_rate`. With `num_channels: 1`
    channels are mixed by their mean.

    Raises in `get_contract`: InvalidArgumentError for options that are missing or cannot be. In `open`: the
    same where the rate is given twice or not at all. In `process`: the same for a packet with other channels,
    or a rate that changes in stream mode.

    Source of the behaviour: MediaPipe `calculators/tensor/audio_to_tensor_calculator.cc`. Numbers agree with
    those of its wheel within 1e-6. It fails where TIMESTAMPS is connected and a call sends nothing,
    transforms old samples behind a short rest, and does not resample with `source_sample_rate` in stream
    mode.

    Example config::

        node {
          calculator: "AudioToTensorCalculator"
          input_stream: "AUDIO:samples"
          output_stream: "TENSORS:tensors"
          options {
            [penstock.AudioToTensorCalculatorOptions.ext] {
              num_channels: 1 num_samples: 15600 target_sample_rate: 16000
            }
          }
        }
    """

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Declare the ports.

        Raises:
            InvalidArgumentError: an option is missing or cannot be.
            ResourceExhaustedError: an option asks for too much.
        """
        cc.inputs["AUDIO"].set(Matrix, "samples")
        cc.inputs["SAMPLE_RATE"].set(float, "samples a second").optional()
        cc.outputs["TENSORS"].set(list[Tensor], "one tensor in each packet")
        cc.outputs["DC_AND_NYQUIST"].set(tuple[float, float], "the ends of the transform").optional()
        cc.outputs["TIMESTAMPS"].set(list[Timestamp], "when the tensors of a call were sent").optional()
        options = cc.options(AudioToTensorCalculatorOptions)
        _check(options)
        if "DC_AND_NYQUIST" in cc.outputs and not options.HasField("fft_size"):
            raise InvalidArgumentError(
                "the audio tensor's output DC_AND_NYQUIST needs fft_size; set it, or leave the output out"
            )
        if not options.stream_mode:
            cc.set_timestamp_offset(0)
        cc.declare(may_skip=True, stateless=False)

    def open(self, cc: CalculatorContext) -> None:
        """Find out the sample rate, if it is known by now.

        Raises:
            InvalidArgumentError: the rate is given twice, or not at all.
        """
        options = self._options = cc.options(AudioToTensorCalculatorOptions)
        self._step = options.num_samples - options.num_overlapping_samples
        self._gain = np.float32(10 ** (options.volume_gain_db / 20))
        self._window = hann(options.fft_size).astype(np.float32) if options.HasField("fft_size") else None
        self._stamp: int | None = None
        self._rate: float | None = None
        self._resampler: RationalResampler | None = None
        self._regularity: Regularity | None = None
        self._node = cc.node_name
        self._waiting = np.zeros((options.num_channels, options.padding_samples_before), np.float32)
        if options.HasField("source_sample_rate"):
            self._set_rate(options.source_sample_rate)
            return
        has_header = not cc.inputs["AUDIO"].header.is_empty()
        if has_header == ("SAMPLE_RATE" in cc.inputs):
            what = "both" if has_header else "neither"
            raise InvalidArgumentError(
                f"audio stream {cc.inputs['AUDIO'].name!r} needs a TimeSeriesHeader or the input "
                f"SAMPLE_RATE, but has {what}; give one of them"
            )
        if has_header:
            self._set_rate(series_header(cc.inputs["AUDIO"], needs_rate=True).sample_rate)

    def process(self, cc: CalculatorContext) -> None:
        """Send the tensors that are complete.

        Raises:
            InvalidArgumentError: the packet has other channels, or no rate, or another one.
        """
        if "SAMPLE_RATE" in cc.inputs and not cc.inputs["SAMPLE_RATE"].is_empty():
            self._see_rate(cc.inputs["SAMPLE_RATE"].payload, cc)
        port = cc.inputs["AUDIO"]
        if port.is_empty() or cc.stamp == PRESTREAM:
            return
        samples = self._mixed(port.payload, port.name, cc.stamp)
        stamp = time_of(port, cc.stamp)
        if not self._options.stream_mode:
            self._stamp = stamp
            self._send(cc, self._whole(samples), is_end=True)
            return
        if self._stamp is None:
            self._stamp = stamp
        if self._regularity is not None:
            self._regularity.look(port.name, stamp, samples.shape[1])
        if self._resampler is not None:
            samples = self._resampler.take(samples)
        self._waiting = self._send(cc, np.concatenate([self._waiting, samples], axis=1), is_end=False)
        for output in cc.outputs:
            if output.bound < self._stamp:
                output.set_next_timestamp_bound(self._stamp)

    def close(self, cc: CalculatorContext) -> None:
        """In stream mode, send the rest."""
        options = self._options
        if not options.stream_mode or self._stamp is None:
            return
        zeros = np.zeros((options.num_channels, options.padding_samples_after), np.float32)
        rest = (
            [self._waiting, zeros]
            if self._resampler is None
            else [self._waiting, self._resampler.flush(), zeros]
        )
        self._send(cc, np.concatenate(rest, axis=1), is_end=True)

    # --- the sound --------------------------------------------------------------------------------

    def _set_rate(self, rate: float) -> None:
        """Take the rate of the sound from now on.

        Raises:
            InvalidArgumentError: it cannot be resampled to the target.
        """
        options = self._options
        check_rates(rate, options.target_sample_rate)
        self._rate = rate
        if options.stream_mode:
            if options.check_inconsistent_timestamps:
                self._regularity = Regularity(rate, self._node)
            if rate != options.target_sample_rate:
                self._resampler = RationalResampler(
                    options.num_channels, rate, options.target_sample_rate, Kernel()
                )

    def _see_rate(self, rate: float, cc: CalculatorContext) -> None:
        if rate == self._rate:
            return
        if self._rate is not None and self._options.stream_mode:
            raise InvalidArgumentError(
                f"stream {cc.inputs['SAMPLE_RATE'].name!r} says {rate:g} samples of audio a second, but has "
                f"said {self._rate:g} before; set stream_mode: false where packets are recordings of their "
                "own",
                stream=cc.inputs["SAMPLE_RATE"].name,
                timestamp=cc.stamp,
            )
        self._set_rate(rate)

    def _mixed(self, matrix: Matrix, stream: str, stamp: int) -> NDArray[np.float32]:
        """Return the samples with the channels that are wanted, and louder."""
        wanted = self._options.num_channels
        if self._rate is None:
            raise InvalidArgumentError(
                f"audio stream {stream!r} has a packet, but SAMPLE_RATE has had none; send one before it, "
                "or at PRESTREAM",
                stream=stream,
                timestamp=stamp,
            )
        samples = matrix.array
        if wanted not in {1, matrix.rows} or not matrix.rows:
            raise InvalidArgumentError(
                f"audio stream {stream!r}: a matrix of {matrix.rows}x{matrix.columns} has {matrix.rows} "
                f"channels, but the model takes {wanted}; set num_channels, or mix them before",
                stream=stream,
                timestamp=stamp,
            )
        if wanted != matrix.rows:
            samples = samples.mean(axis=0, keepdims=True)
        return samples if self._gain == 1 else samples * self._gain

    def _whole(self, samples: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return a recording of its own in the target's rate."""
        source, target = self._rate, self._options.target_sample_rate
        if source is None or source == target:
            return samples
        resampler = RationalResampler(samples.shape[0], source, target, Kernel())
        return np.concatenate([resampler.take(samples), resampler.flush()], axis=1)

    # --- tensors ----------------------------------------------------------------------------------

    def _send(
        self, cc: CalculatorContext, samples: NDArray[np.float32], *, is_end: bool
    ) -> NDArray[np.float32]:
        """Send tensors of samples, and return the samples that are left."""
        options, begin, sent = self._options, 0, list[int]()
        tail_only = (
            is_end and options.stream_mode and options.flush_mode == _OPTIONS.ENTIRE_TAIL_AT_TIMESTAMP_MAX
        )
        while not tail_only and begin + options.num_samples <= samples.shape[1]:
            sent.append(self._send_one(cc, samples[:, begin : begin + options.num_samples], self._stamp or 0))
            self._stamp = later(self._stamp or 0, microseconds_of(self._step, options.target_sample_rate))
            begin += self._step
        if is_end and begin < samples.shape[1]:
            stamp = MAX if tail_only else self._stamp or 0
            sent.append(self._send_one(cc, samples[:, begin : begin + options.num_samples], stamp))
        if sent and "TIMESTAMPS" in cc.outputs:
            cc.outputs["TIMESTAMPS"].add([Timestamp(stamp) for stamp in sent], sent[-1])
        return samples[:, begin:].copy()

    def _send_one(self, cc: CalculatorContext, samples: NDArray[np.float32], stamp: int) -> int:
        options = self._options
        padded = np.zeros((options.num_samples, options.num_channels), np.float32)
        padded[: samples.shape[1]] = samples.T
        if self._window is None:
            numbers = padded.reshape(options.num_channels, options.num_samples)
        else:
            windowed = padded[:, 0] * self._window[: options.num_samples]
            spectrum = np.fft.rfft(windowed, options.fft_size)
            numbers = numbers_of(spectrum, options.dft_tensor_format)
            if "DC_AND_NYQUIST" in cc.outputs:
                ends = float(np.float32(spectrum[0].real)), float(np.float32(spectrum[-1].real))
                cc.outputs["DC_AND_NYQUIST"].add(ends, stamp)
        cc.outputs["TENSORS"].add([Tensor(numbers)], stamp)
        return stamp


def _check(options: AudioToTensorCalculatorOptions) -> None:
    """Check what does not depend on the sound.

    Raises:
        InvalidArgumentError: an option is missing or cannot be.
        ResourceExhaustedError: an option asks for too much.
    """
    missing = [name for name in _NEEDED if not options.HasField(name)]
    if missing:
        raise InvalidArgumentError(
            f"an audio tensor has no {' and no '.join(missing)}; set it in the options"
        )
    channels = check_count("num_channels", options.num_channels, 1)
    samples = check_count("num_samples", options.num_samples, 1)
    check_count(f"the product of {channels} channels and {samples} samples", channels * samples, 1)
    overlap = check_count("num_overlapping_samples", options.num_overlapping_samples, 0)
    if overlap >= samples:
        raise InvalidArgumentError(
            f"the audio tensor's num_overlapping_samples is {overlap}, but must be below num_samples, which "
            f"is {samples}"
        )
    for name in ("padding_samples_before", "padding_samples_after"):
        padding = check_count(name, getattr(options, name), 0)
        check_count(f"the product of {channels} channels and {name}", channels * padding, 0)
    if options.flush_mode == _OPTIONS.NONE:
        raise InvalidArgumentError(
            "the audio tensor's flush_mode is NONE; leave it out, or choose one of the others"
        )
    check_gain(options.volume_gain_db)
    if options.HasField("fft_size"):
        check_format(options.dft_tensor_format)
        size = check_size(options.fft_size)
        if channels != 1 or samples > size:
            raise InvalidArgumentError(
                f"the audio tensor's fft_size is {size} with num_channels {channels} and num_samples "
                f"{samples}; a transform takes one channel and at most fft_size samples",
                code=StatusCode.INTERNAL,  # as in the reference
            )
