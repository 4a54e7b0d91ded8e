"""SpectrogramCalculator and SpectrogramFloatCalculator: spectra of overlapping windows of a series."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np

import penstock
from penstock import Packet
from penstock.errors import InvalidArgumentError
from penstock_audio.messages.spectrogram_pb2 import SpectrogramCalculatorOptions
from penstock_audio.series.time_series import (
    check_channels,
    check_count,
    later,
    microseconds_of,
    samples_in,
    series_header,
    time_of,
)
from penstock_audio.series.windows import cosine, hamming, hann
from penstock_audio.spectra.short_time import ShortTimeTransform
from penstock_formats import Matrix, MultiStreamTimeSeriesHeader

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from penstock import CalculatorContext, CalculatorContract

_OPTIONS: Final = SpectrogramCalculatorOptions
_WINDOWS: Final[dict[int, Callable[[int], NDArray[np.float64]]]] = {
    _OPTIONS.HANN: hann,
    _OPTIONS.HAMMING: hamming,
    _OPTIONS.COSINE: cosine,
    _OPTIONS.SQRT_HANN: cosine,
}


class SpectrogramCalculator(penstock.Calculator):
    """Sends the spectra of overlapping windows of a series.

    The only untagged input (Matrix, channels by samples, float32, with a TimeSeriesHeader) to the only
    output: at most one packet for each input packet, with a column for each window that it completes and a
    row for each frequency, `fft_size / 2 + 1` of them, from 0 to half the sample rate. A packet that
    completes no window gives no packet. With `allow_multichannel_input` the output is a list with a matrix
    for each channel. With `output_layout: SPECTROGRAM_CHANNELS_IN_ROWS` it is a packet for each window,
    (channels, frequencies). Matrices are `Matrix`, float32; with COMPLEX they are NumPy arrays, complex64,
    read-only, with the reference's sign, exp(+2 pi i k n / N).

    Header of the output: a TimeSeriesHeader, or with a list a MultiStreamTimeSeriesHeader: `num_channels` is
    the number of frequencies, `sample_rate` that of windows, `audio_sample_rate` that of the input.

    A packet has the time of the first sample of its first window: the timestamp of the first input packet
    plus the windows before it. With `use_local_timestamp` it has the timestamp of the input packet, and the
    bound of the output follows the input. At the end of the input the rest is filled up with zeros, so that
    each sample is in a window. A packet at the input RESET (any type, optional) makes the calculator begin
    again, before a packet of the same timestamp.

    Options: `frame_duration_seconds` and `frame_overlap_seconds` (0), which the side packets FRAME_DURATION
    and FRAME_OVERLAP (float, seconds) replace; `pad_final_packet` (true); `output_type` (SQUARED_MAGNITUDE;
    LINEAR_MAGNITUDE, DECIBELS, COMPLEX); `allow_multichannel_input` (false); `window_type` (HANN; HAMMING,
    COSINE, SQRT_HANN; periodic); `output_scale` (1); `use_local_timestamp` (false); `fft_size` (0: the
    smallest power of two that a window fits into); `input_scale` (1); `sample_buffer_mode` (NONE; RESET: each
    packet starts again); `output_layout`. DECIBELS of silence are -inf.

    Raises in `open`: InvalidArgumentError for a missing header, several channels that are not allowed, and
    windows that cannot be; ResourceExhaustedError for windows of more than 2**24 samples. In `process`:
    InvalidArgumentError for a matrix with other rows than the header says. The reference goes on with most of
    these.

    Computed in float64; SpectrogramFloatCalculator computes in float32.

    Source of the behaviour: MediaPipe `calculators/audio/spectrogram_calculator.cc`, and
    `audio/dsp/spectrogram` of multichannel-audio-tools for sign and windows.

    Example config::

        node {
          calculator: "SpectrogramCalculator"
          input_stream: "samples"
          output_stream: "spectra"
          options {
            [penstock.SpectrogramCalculatorOptions.ext] {
              frame_duration_seconds: 0.025 frame_overlap_seconds: 0.015
            }
          }
        }
    """

    #: Element type of the computation.
    _dtype: ClassVar[type[np.floating[Any]]] = np.float64

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Take a series; what is sent depends on the options."""
        cc.inputs[0].set(Matrix, "a series")
        cc.inputs["RESET"].set_any("a packet here makes it start again").optional()
        for tag, what in (
            ("FRAME_DURATION", "frame_duration_seconds"),
            ("FRAME_OVERLAP", "frame_overlap_seconds"),
        ):
            cc.input_side_packets[tag].set(float, f"replaces {what}").optional()
        options = cc.options(SpectrogramCalculatorOptions)
        is_complex = options.output_type == _OPTIONS.COMPLEX
        output = cc.outputs[0]
        if _is_list(options):
            what = "for each channel its spectra, each a column"
            if is_complex:
                output.set(list[np.ndarray], what)
            else:
                output.set(list[Matrix], what)
        elif is_complex:
            output.set(np.ndarray, "spectra, (frequencies, windows) complex64")
        else:
            output.set(Matrix, "spectra, each a column")
        cc.declare(may_skip=True, stateless=False, cost="high")

    def open(self, cc: CalculatorContext) -> None:
        """Make the window, and send the header.

        Raises:
            InvalidArgumentError: there is no header, or window, step and size do not go together.
        """
        self._options = options = cc.options(SpectrogramCalculatorOptions)
        header = series_header(cc.inputs[0], needs_rate=True)
        self._rate = rate = header.sample_rate
        self._channels = channels = header.num_channels
        if channels != 1 and not options.allow_multichannel_input:
            raise InvalidArgumentError(
                f"stream {cc.inputs[0].name!r} has {channels} channels, but a spectrogram is of one; set "
                "allow_multichannel_input, or put an AverageTimeSeriesAcrossChannelsCalculator before it",
                stream=cc.inputs[0].name,
            )
        self._length, self._step = _length_and_step(cc, options, rate)
        size = check_count("fft_size", options.fft_size, 0) or 1 << (self._length - 1).bit_length()
        if size < self._length:
            raise InvalidArgumentError(
                f"the spectrogram's fft_size is {size}, but a window has {self._length} samples; make it "
                "that or more, or leave it out"
            )
        window = _WINDOWS[options.window_type](self._length).astype(self._dtype)
        self._transform = ShortTimeTransform(channels, window, self._step, size)
        header.audio_sample_rate = rate
        header.num_channels = size // 2 + 1
        header.sample_rate = rate / self._step
        header.ClearField("packet_rate")
        header.ClearField("num_samples")
        sent = MultiStreamTimeSeriesHeader(time_series_header=header, num_streams=channels)
        cc.outputs[0].set_header(Packet(sent if _is_list(options) else header))
        self._last_local: int | None = None
        #: The timestamp of the first packet since the beginning, or since RESET; and what came since.
        self._first: int | None = None
        self._samples = self._windows = self._last_count = 0

    def process(self, cc: CalculatorContext) -> None:
        """Send the spectra of the windows that are complete.

        Raises:
            InvalidArgumentError: the matrix has other rows than the header says.
        """
        if "RESET" in cc.inputs and not cc.inputs["RESET"].is_empty():
            self._begin()
        port = cc.inputs[0]
        if port.is_empty():
            return
        matrix = check_channels(port, self._channels, cc.stamp)
        if self._first is None:
            self._first = time_of(port, cc.stamp)
        self._samples += matrix.columns
        if self._options.use_local_timestamp:
            self._last_local = cc.stamp
        self._send(cc, matrix.array, cc.stamp)
        if self._options.use_local_timestamp and cc.outputs[0].bound <= cc.stamp:
            cc.outputs[0].set_next_timestamp_bound(cc.stamp + 1)

    def close(self, cc: CalculatorContext) -> None:
        """Send the spectra of the rest, with zeros behind it."""
        if not (self._samples and self._options.pad_final_packet):
            return
        missing = self._step - 1
        if self._samples < self._length:
            missing = self._length - self._samples
        local = 0
        if self._last_local is not None:
            # the time of the end is not known: after the windows that were sent last
            after = microseconds_of(self._last_count * self._step, self._rate)
            local = later(self._last_local, after)
        self._send(cc, np.zeros((self._channels, missing), np.float32), local)

    def _begin(self) -> None:
        self._transform.reset()
        self._first = None
        self._samples = self._windows = self._last_count = 0

    def _send(self, cc: CalculatorContext, samples: NDArray[np.float32], local: int) -> None:
        options, output = self._options, cc.outputs[0]
        if options.sample_buffer_mode == _OPTIONS.RESET:
            self._transform.reset()
        spectra = self._transform.take(samples * np.float32(options.input_scale))
        count = spectra.shape[1]
        if not count:
            return
        values = _values(spectra, options)
        # windows of a packet before, each a packet of its own, may be later than this packet
        stamp = max(local, output.bound) if options.use_local_timestamp else self._stamp()
        if options.output_layout == _OPTIONS.SPECTROGRAM_CHANNELS_IN_ROWS:
            for i in range(count):
                at = later(stamp, microseconds_of(i * self._step, self._rate))
                output.add(_payload(np.ascontiguousarray(values[:, i])), at)
        elif _is_list(options):
            output.add([_payload(channel.T) for channel in values], stamp)
        else:
            output.add(_payload(values[0].T), stamp)
        self._windows += count
        self._last_count = count
        if not options.use_local_timestamp:
            output.set_next_timestamp_bound(self._stamp())

    def _stamp(self) -> int:
        """Return the time of the next window."""
        return later(self._first or 0, microseconds_of(self._windows * self._step, self._rate))


class SpectrogramFloatCalculator(SpectrogramCalculator):
    """Sends the spectra of overlapping windows of a series, computed in float32.

    Ports, options, headers, times and errors are those of SpectrogramCalculator, which computes in float64.
    (NumPy before 2.0 computes transforms in float64 in any case.)

    Source of the behaviour: MediaPipe `calculators/audio/spectrogram_float_calculator.cc`.

    Example config::

        node {
          calculator: "SpectrogramFloatCalculator"
          input_stream: "samples"
          output_stream: "spectra"
          options {
            [penstock.SpectrogramCalculatorOptions.ext] {
              frame_duration_seconds: 0.025 frame_overlap_seconds: 0.015
            }
          }
        }
    """

    _dtype = np.float32


def _is_list(options: SpectrogramCalculatorOptions) -> bool:
    in_rows = options.output_layout == _OPTIONS.SPECTROGRAM_CHANNELS_IN_ROWS
    return options.allow_multichannel_input and not in_rows


def _length_and_step(
    cc: CalculatorContext, options: SpectrogramCalculatorOptions, rate: float
) -> tuple[int, int]:
    """Return the samples of a window, and from window to window.

    Raises:
        InvalidArgumentError: there are too few.
    """
    duration, overlap = options.frame_duration_seconds, options.frame_overlap_seconds
    sides = cc.input_side_packets
    if "FRAME_DURATION" in sides:
        duration = sides["FRAME_DURATION"].get(float)
    if "FRAME_OVERLAP" in sides:
        overlap = sides["FRAME_OVERLAP"].get(float)
    if not 0 < duration < math.inf:
        raise InvalidArgumentError(
            f"the spectrogram's frame_duration_seconds is {duration}, but must be above 0; set it"
        )
    if not 0 <= overlap < duration:
        raise InvalidArgumentError(
            f"the spectrogram's frame_overlap_seconds is {overlap}, but must be from 0 to below "
            f"frame_duration_seconds, which is {duration}"
        )
    length = check_count(f"the number of samples in {duration} s at {rate} Hz", samples_in(duration, rate), 2)
    step = length - samples_in(overlap, rate)
    return length, check_count(f"the step between windows of {length} samples", step, 1)


def _values(spectra: NDArray[Any], options: SpectrogramCalculatorOptions) -> NDArray[Any]:
    """Return what is sent of spectra, of the same shape, complex64 or float32."""
    if options.output_type == _OPTIONS.COMPLEX:
        return (options.output_scale * spectra).astype(np.complex64)
    power = (spectra.real**2 + spectra.imag**2).astype(np.float32)
    if options.output_type == _OPTIONS.LINEAR_MAGNITUDE:
        power = np.sqrt(power)
    elif options.output_type == _OPTIONS.DECIBELS:
        with np.errstate(divide="ignore"):  # silence is -inf
            power = 10 * np.log10(power)
    return np.asarray(options.output_scale * power, np.float32)


def _payload(values: NDArray[Any]) -> Matrix | NDArray[Any]:
    if values.dtype == np.float32:
        return Matrix(values)
    view = values.view()
    view.flags.writeable = False
    return view
