"""StabilizedLogCalculator: the logarithm of each number of a matrix."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

import penstock
from penstock import Packet
from penstock.errors import InvalidArgumentError, StatusCode
from penstock_audio.messages.stabilized_log_pb2 import StabilizedLogCalculatorOptions
from penstock_audio.series.time_series import series_header
from penstock_formats import Matrix

if TYPE_CHECKING:
    from penstock import CalculatorContext, CalculatorContract


class StabilizedLogCalculator(penstock.Calculator):
    """Takes the natural logarithm of each number, plus a small one.

    The only input (Matrix, float32) to the only output (Matrix of the same shape): `output_scale` times
    ln(x + `stabilizer`). A TimeSeriesHeader is forwarded; none is needed. The timestamp offset is 0, which
    the reference does not promise.

    Options: `stabilizer` (0.00001), `check_nonnegativity` (true), `output_scale` (1).

    Raises in `open`: InvalidArgumentError for a stabilizer below 0, or another header. In `process`: the same
    for NaN, and for a number below 0, with the code OUT_OF_RANGE; without `check_nonnegativity` the logarithm
    of a number below 0 is NaN.

    Source of the behaviour: MediaPipe `calculators/audio/stabilized_log_calculator.cc`.

    Example config::

        node {
          calculator: "StabilizedLogCalculator"
          input_stream: "mel_spectra"
          output_stream: "log_mel_spectra"
          options { [penstock.StabilizedLogCalculatorOptions.ext] { stabilizer: 0.01 } }
        }
    """

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Take a matrix and give one."""
        cc.inputs[0].set(Matrix, "numbers")
        cc.outputs[0].set(Matrix, "their logarithms")
        cc.set_timestamp_offset(0)
        cc.declare(may_skip=False, stateless=True)

    def open(self, cc: CalculatorContext) -> None:
        """Look at the options, and forward the header.

        Raises:
            InvalidArgumentError: the stabilizer is below 0, or the header is none of a series.
        """
        options = self._options = cc.options(StabilizedLogCalculatorOptions)
        if not options.stabilizer >= 0:
            raise InvalidArgumentError(f"stabilizer is {options.stabilizer}, but must be at least 0")
        if not cc.inputs[0].header.is_empty():
            cc.outputs[0].set_header(Packet(series_header(cc.inputs[0])))

    def process(self, cc: CalculatorContext) -> None:
        """Take the logarithms.

        Raises:
            InvalidArgumentError: a number is NaN, or below 0.
        """
        port = cc.inputs[0]
        matrix: Matrix = port.payload
        numbers = matrix.array
        if np.isnan(numbers).any():
            raise InvalidArgumentError(
                f"stream {port.name!r}: NaN has no stabilized logarithm; correct what is written to the "
                "stream",
                stream=port.name,
                timestamp=cc.stamp,
            )
        if self._options.check_nonnegativity and (numbers < 0).any():
            raise InvalidArgumentError(
                f"stream {port.name!r}: {numbers.min()} is below 0 and has no stabilized logarithm; square "
                "it before, or set check_nonnegativity: false for NaN",
                code=StatusCode.OUT_OF_RANGE,
                stream=port.name,
                timestamp=cc.stamp,
            )
        with np.errstate(divide="ignore", invalid="ignore"):  # the logarithm of 0 is -inf
            logarithms = np.log(numbers + np.float32(self._options.stabilizer))
        scaled = self._options.output_scale * logarithms
        cc.outputs[0].add(Matrix(scaled.astype(np.float32)), cc.stamp)
