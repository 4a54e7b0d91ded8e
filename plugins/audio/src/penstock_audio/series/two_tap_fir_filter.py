"""TwoTapFirFilterCalculator: a filter over a sample and the one before it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

import penstock
from penstock import Packet
from penstock_audio.messages.two_tap_fir_filter_pb2 import TwoTapFirFilterCalculatorOptions
from penstock_audio.series.time_series import check_channels, series_header
from penstock_formats import Matrix

if TYPE_CHECKING:
    from penstock import CalculatorContext, CalculatorContract


class TwoTapFirFilterCalculator(penstock.Calculator):
    """Adds to each sample the one before it, each with a gain: y[n] = gain_now x[n] + gain_prev x[n - 1].

    INPUT (Matrix, channels by samples, float32, with a TimeSeriesHeader) to OUTPUT (Matrix of the same
    shape). The first sample has 0 before it; before the first sample of a later packet is the last one of the
    packet before. The header is forwarded, and the timestamp offset is 0. With `gain_now: 1 gain_prev: -0.97`
    it is the pre-emphasis of HTK.

    Options, for `node_options`: `gain_now` and `gain_prev` (both 0).

    Raises in `open`: InvalidArgumentError for a missing header. In `process`: the same for a matrix with
    other rows than the header says.

    Source of the behaviour: MediaPipe `calculators/audio/two_tap_fir_filter_calculator.cc`.

    Example config::

        node {
          calculator: "TwoTapFirFilterCalculator"
          input_stream: "INPUT:samples"
          output_stream: "OUTPUT:emphasized"
          node_options {
            [type.googleapis.com/penstock.TwoTapFirFilterCalculatorOptions] { gain_now: 1 gain_prev: -0.97 }
          }
        }
    """

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Take a series and give one."""
        cc.inputs["INPUT"].set(Matrix, "a series")
        cc.outputs["OUTPUT"].set(Matrix, "the series, filtered")
        cc.set_timestamp_offset(0)
        cc.declare(may_skip=False, stateless=False)

    def open(self, cc: CalculatorContext) -> None:
        """Forward the header.

        Raises:
            InvalidArgumentError: there is none.
        """
        options = cc.options(TwoTapFirFilterCalculatorOptions)
        self._now, self._before = np.float32(options.gain_now), np.float32(options.gain_prev)
        header = series_header(cc.inputs["INPUT"])
        self._channels = header.num_channels
        self._last = np.zeros((self._channels, 1), np.float32)
        cc.outputs["OUTPUT"].set_header(Packet(header))

    def process(self, cc: CalculatorContext) -> None:
        """Filter a packet.

        Raises:
            InvalidArgumentError: the matrix has other rows than the header says.
        """
        port = cc.inputs["INPUT"]
        samples = check_channels(port, self._channels, cc.stamp).array
        before = np.concatenate([self._last, samples], axis=1)
        self._last = before[:, -1:].copy()
        cc.outputs["OUTPUT"].add(Matrix(self._now * samples + self._before * before[:, :-1]), cc.stamp)
