"""TimeSeriesFramerCalculator: frames of a fixed length, which may overlap."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

import numpy as np

import penstock
from penstock import Packet
from penstock.errors import InvalidArgumentError
from penstock_audio.messages.time_series_framer_pb2 import TimeSeriesFramerCalculatorOptions
from penstock_audio.series.sample_buffer import SampleBuffer
from penstock_audio.series.time_series import (
    check_channels,
    check_count,
    later,
    microseconds_of,
    rounded,
    samples_in,
    series_header,
    time_of,
)
from penstock_audio.series.windows import hamming, hann
from penstock_formats import Matrix

if TYPE_CHECKING:
    from penstock import CalculatorContext, CalculatorContract

_WINDOWS: Final = {
    TimeSeriesFramerCalculatorOptions.HAMMING: hamming,
    TimeSeriesFramerCalculatorOptions.HANN: hann,
}


class TimeSeriesFramerCalculator(penstock.Calculator):
    """Cuts a series into frames of a fixed length, which may overlap.

    The only input (Matrix, channels by any number of samples, float32, with a TimeSeriesHeader) to the only
    output (Matrix, channels by the samples of a frame, in fresh memory). The header of the output has
    `num_samples`, and `packet_rate` where the step from frame to frame is always the same.

    A frame has the time of its first sample: the timestamp of the first packet, plus the samples before the
    frame at the header's rate. With `use_local_timestamp` it has the time of its last sample, counted from
    the packet in which this sample came. The bound of the output is the time of the next frame; with
    `use_local_timestamp` none is promised. The last frame, filled up with zeros, comes when the input ends;
    as in the reference it is not multiplied by the window.

    Options: `frame_duration_seconds`; `frame_overlap_seconds` (default 0; below 0 samples between frames are
    left out); `emulate_fractional_frame_overlap` (false); `pad_final_packet` (true); `window_function` (NONE;
    HAMMING or HANN, periodic); `use_local_timestamp` (false).

    Raises in `open`: InvalidArgumentError for a missing header, a frame without a sample, or a step of less
    than one sample; ResourceExhaustedError for a frame of more than 2**24. In `process`: the same for a
    matrix with other rows than the header says.

    Source of the behaviour: MediaPipe `calculators/audio/time_series_framer_calculator.cc`.

    Example config::

        node {
          calculator: "TimeSeriesFramerCalculator"
          input_stream: "samples"
          output_stream: "frames"
          options {
            [penstock.TimeSeriesFramerCalculatorOptions.ext] {
              frame_duration_seconds: 0.025 frame_overlap_seconds: 0.015
            }
          }
        }
    """

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Take a series and give one.

        Raises:
            InvalidArgumentError: the frame has no length, or does not grow.
        """
        cc.inputs[0].set(Matrix, "a series")
        cc.outputs[0].set(Matrix, "its frames, a series")
        options = cc.options(TimeSeriesFramerCalculatorOptions)
        duration, overlap = options.frame_duration_seconds, options.frame_overlap_seconds
        if not 0 < duration < math.inf:
            raise InvalidArgumentError(
                f"the framer's frame_duration_seconds is {duration}, but must be above 0; set it"
            )
        if not -math.inf < overlap < duration:
            raise InvalidArgumentError(
                f"the framer's frame_overlap_seconds is {overlap}, but must be below frame_duration_seconds, "
                f"which is {duration}"
            )
        cc.declare(may_skip=True, stateless=False)

    def open(self, cc: CalculatorContext) -> None:
        """Count the samples of a frame and of a step, and send the header.

        Raises:
            InvalidArgumentError: there is no header, or a frame or a step is shorter than a sample.
        """
        options = cc.options(TimeSeriesFramerCalculatorOptions)
        header = series_header(cc.inputs[0], needs_rate=True)
        self._rate = rate = header.sample_rate
        self._channels = header.num_channels
        duration, overlap = options.frame_duration_seconds, options.frame_overlap_seconds
        self._length = samples_in(duration, rate)
        check_count(f"the number of samples in {duration} s at {rate} Hz", self._length, 1)
        if options.emulate_fractional_frame_overlap:
            samples_in(overlap, rate)  # raises where there are too many
            self._step = (duration - overlap) * rate
        else:
            self._step = float(self._length - samples_in(overlap, rate))
        if self._step < 1:
            raise InvalidArgumentError(
                f"frames of {duration} s that overlap by {overlap} s step by less than a sample at {rate} "
                "Hz; make frame_overlap_seconds of the framer smaller"
            )
        header.num_samples = self._length
        if self._step.is_integer():
            header.packet_rate = rate / self._step
        else:
            header.ClearField("packet_rate")
        cc.outputs[0].set_header(Packet(header))
        window = _WINDOWS.get(options.window_function)
        self._window = None if window is None else window(self._length).astype(np.float32)
        self._is_local = options.use_local_timestamp
        self._pads = options.pad_final_packet
        self._buffer = SampleBuffer(self._channels, rate)
        self._first: int | None = None
        self._frames = self._passed = self._to_drop = 0

    def process(self, cc: CalculatorContext) -> None:
        """Send the frames that are complete.

        Raises:
            InvalidArgumentError: the matrix has other rows than the header says.
        """
        port, output = cc.inputs[0], cc.outputs[0]
        if port.is_empty():
            return
        matrix = check_channels(port, self._channels, cc.stamp)
        if self._first is None:
            self._first = time_of(port, cc.stamp)
        self._buffer.push(matrix.array, cc.stamp)
        while self._buffer.count >= self._length + self._to_drop:
            self._buffer.drop(self._to_drop)
            frame, last = self._buffer.copy(self._length)
            if self._window is not None:
                frame *= self._window
            output.add(Matrix(frame), self._stamp(last))
            self._frames += 1
            passed = rounded(self._frames * self._step)
            self._to_drop, self._passed = passed - self._passed, passed
        if not self._is_local:
            output.set_next_timestamp_bound(self._stamp(None))

    def close(self, cc: CalculatorContext) -> None:
        """Send the samples that are left, with zeros behind them."""
        self._buffer.drop(self._to_drop)
        if self._buffer.count and self._pads:
            frame, last = self._buffer.copy(self._length)
            cc.outputs[0].add(Matrix(frame), self._stamp(last))

    def _stamp(self, last: int | None) -> int:
        """Return the time of the next frame, whose last sample has the time `last`."""
        if self._is_local and last is not None:
            return last
        return later(self._first or 0, microseconds_of(self._passed, self._rate))
