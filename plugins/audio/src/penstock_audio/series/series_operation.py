"""The base of calculators that make one matrix of each matrix of a series."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any

import numpy as np

import penstock
from penstock import Packet
from penstock.errors import InvalidArgumentError
from penstock_audio.series.time_series import check_fits, series_header
from penstock_formats import Matrix, TimeSeriesHeader

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from penstock import CalculatorContext, CalculatorContract, Input


class SeriesOperation(penstock.Calculator):
    """Makes one matrix of each matrix of a series, at the same timestamp, in float32.

    A subclass says what becomes of the header and of a matrix. The timestamp offset is 0.
    """

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Take a series and give one."""
        cc.inputs[0].set(Matrix, "a series")
        cc.outputs[0].set(Matrix, "a matrix of each matrix, a series")
        cc.set_timestamp_offset(0)
        cc.declare(may_skip=False, stateless=True)

    def open(self, cc: CalculatorContext) -> None:
        """Send the header.

        Raises:
            InvalidArgumentError: there is no header, or it says that the series is not of the right kind.
        """
        port = cc.inputs[0]
        self._header = series_header(port)
        made = TimeSeriesHeader()
        made.CopyFrom(self._header)
        self.change_header(made, port)
        cc.outputs[0].set_header(Packet(made))

    def process(self, cc: CalculatorContext) -> None:
        """Send what becomes of a matrix.

        Raises:
            InvalidArgumentError: the matrix has no elements, or another shape than the header says.
        """
        port = cc.inputs[0]
        matrix = check_fits(port, self._header, cc.stamp)
        if not matrix.array.size:
            raise InvalidArgumentError(
                f"series operation: stream {port.name!r} has a matrix of {matrix.rows}x{matrix.columns}, "
                "which has no elements; leave out such packets",
                stream=port.name,
                timestamp=cc.stamp,
            )
        with np.errstate(all="ignore"):  # numbers that are too large become inf, and that is all
            made = self.made_of(matrix.array)
        cc.outputs[0].add(Matrix(made.astype(np.float32, copy=False)), cc.stamp)

    def change_header(self, header: TimeSeriesHeader, port: Input) -> None:
        """Change the header, a copy of the input's, to the output's; by default they are the same."""

    @abstractmethod
    def made_of(self, matrix: NDArray[Any]) -> Any:
        """Return what becomes of a matrix, (channels, samples) float32, not empty. It is borrowed."""


class OneChannel(SeriesOperation):
    """Makes one channel of all."""

    def change_header(self, header: TimeSeriesHeader, port: Input) -> None:  # noqa: ARG002  # the interface
        """Say that there is one channel."""
        header.num_channels = 1


class OneSample(SeriesOperation):
    """Makes one sample of all that a packet has."""

    def change_header(self, header: TimeSeriesHeader, port: Input) -> None:  # noqa: ARG002  # the interface
        """Say that a packet is one sample."""
        one_sample(header)


def one_sample(header: TimeSeriesHeader) -> None:
    """Make the header say that a packet is one sample of a series, whose rate is the rate of packets."""
    header.num_samples = 1
    header.sample_rate = header.packet_rate
