"""The calculators of one line that MediaPipe has for series: each makes one matrix of each matrix."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from penstock.errors import InvalidArgumentError
from penstock_audio.series.series_operation import OneChannel, OneSample, SeriesOperation, one_sample
from penstock_audio.series.time_series import check_count

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from penstock import Input
    from penstock_formats import TimeSeriesHeader

#: A loudness below this is not raised.
_SILENCE: Final = 1e-8


class SumTimeSeriesAcrossChannelsCalculator(OneChannel):
    """Adds up the channels.

    The only input (Matrix, channels by samples, a series) to the only output (Matrix, 1 by samples). The
    header has `num_channels` 1.

    Raises in `open`: InvalidArgumentError for a missing header. In `process`: the same for a matrix that has
    another shape than the header says, or no elements. Timestamp offset 0.

    Source of the behaviour: MediaPipe `calculators/audio/basic_time_series_calculators.cc`.

    Example config::

        node {
          calculator: "SumTimeSeriesAcrossChannelsCalculator"
          input_stream: "filterbank"
          output_stream: "sum_of_bands"
        }
    """

    def made_of(self, matrix: NDArray[Any]) -> Any:
        """Return the matrix."""
        return matrix.sum(axis=0, keepdims=True)


class AverageTimeSeriesAcrossChannelsCalculator(OneChannel):
    """Averages the channels: stereo becomes mono.

    The only input (Matrix, channels by samples, a series) to the only output (Matrix, 1 by samples). The
    header has `num_channels` 1.

    Raises in `open`: InvalidArgumentError for a missing header. In `process`: the same for a matrix that has
    another shape than the header says, or no elements. Timestamp offset 0.

    Source of the behaviour: MediaPipe `calculators/audio/basic_time_series_calculators.cc`.

    Example config::

        node {
          calculator: "AverageTimeSeriesAcrossChannelsCalculator"
          input_stream: "stereo"
          output_stream: "mono"
        }
    """

    def made_of(self, matrix: NDArray[Any]) -> Any:
        """Return the matrix."""
        return matrix.mean(axis=0, keepdims=True)


class SummarySaiToPitchogramCalculator(SeriesOperation):
    """Swaps channels and samples of a series with one channel: a packet becomes one sample.

    The only input (Matrix, 1 by samples, a series) to the only output (Matrix, samples by 1). The header has
    `num_channels` of the samples of a packet, `num_samples` 1, and as `sample_rate` the `packet_rate`.
    InvalidArgumentError in `open` too for several channels.

    Raises in `open`: InvalidArgumentError for a missing header. In `process`: the same for a matrix that has
    another shape than the header says, or no elements. Timestamp offset 0.

    Source of the behaviour: MediaPipe `calculators/audio/basic_time_series_calculators.cc`.

    Example config::

        node {
          calculator: "SummarySaiToPitchogramCalculator"
          input_stream: "summary"
          output_stream: "pitchogram"
        }
    """

    def change_header(self, header: TimeSeriesHeader, port: Input) -> None:
        """Swap the two numbers."""
        if header.num_channels != 1:
            raise InvalidArgumentError(
                f"stream {port.name!r} has {header.num_channels} channels, but "
                "SummarySaiToPitchogramCalculator takes one; put a SumTimeSeriesAcrossChannelsCalculator "
                "before it",
                stream=port.name,
            )
        header.num_channels = header.num_samples
        one_sample(header)

    def made_of(self, matrix: NDArray[Any]) -> Any:
        """Return the matrix."""
        return matrix.T


class ReverseChannelOrderCalculator(SeriesOperation):
    """Puts the last channel first.

    The only input (Matrix, channels by samples, a series) to the only output (Matrix of the same shape). The
    header is forwarded.

    Raises in `open`: InvalidArgumentError for a missing header. In `process`: the same for a matrix that has
    another shape than the header says, or no elements. Timestamp offset 0.

    Source of the behaviour: MediaPipe `calculators/audio/basic_time_series_calculators.cc`.

    Example config::

        node {
          calculator: "ReverseChannelOrderCalculator"
          input_stream: "filterbank"
          output_stream: "bands_from_high_to_low"
        }
    """

    def made_of(self, matrix: NDArray[Any]) -> Any:
        """Return the matrix."""
        return matrix[::-1]


class FlattenPacketCalculator(SeriesOperation):
    """Puts the samples of a packet below each other: a packet becomes one sample.

    The only input (Matrix, channels by samples, a series) to the only output (Matrix, channels times samples
    by 1), the channels of the first sample first. The header has `num_channels` of the product, `num_samples`
    1, and as `sample_rate` the `packet_rate`.

    Raises in `open`: InvalidArgumentError for a missing header. In `process`: the same for a matrix that has
    another shape than the header says, or no elements. Timestamp offset 0.

    Source of the behaviour: MediaPipe `calculators/audio/basic_time_series_calculators.cc`.

    Example config::

        node {
          calculator: "FlattenPacketCalculator"
          input_stream: "frames"
          output_stream: "vectors"
        }
    """

    def change_header(self, header: TimeSeriesHeader, port: Input) -> None:  # noqa: ARG002  # the interface
        """Multiply the two numbers."""
        product = header.num_channels * header.num_samples
        header.num_channels = check_count("num_channels times num_samples", product, 0)
        one_sample(header)

    def made_of(self, matrix: NDArray[Any]) -> Any:
        """Return the matrix."""
        return matrix.reshape((-1, 1), order="F")


class SubtractMeanCalculator(SeriesOperation):
    """Subtracts from each channel its mean in the packet.

    The only input (Matrix, channels by samples, a series) to the only output (Matrix of the same shape). The
    header is forwarded.

    Raises in `open`: InvalidArgumentError for a missing header. In `process`: the same for a matrix that has
    another shape than the header says, or no elements. Timestamp offset 0.

    Source of the behaviour: MediaPipe `calculators/audio/basic_time_series_calculators.cc`.

    Example config::

        node {
          calculator: "SubtractMeanCalculator"
          input_stream: "frames"
          output_stream: "frames_around_zero"
        }
    """

    def made_of(self, matrix: NDArray[Any]) -> Any:
        """Return the matrix."""
        return matrix - matrix.mean(axis=1, keepdims=True)


class SubtractMeanAcrossChannelsCalculator(SeriesOperation):
    """Subtracts the mean of all numbers of the packet.

    The only input (Matrix, channels by samples, a series) to the only output (Matrix of the same shape). The
    header is forwarded.

    Raises in `open`: InvalidArgumentError for a missing header. In `process`: the same for a matrix that has
    another shape than the header says, or no elements. Timestamp offset 0.

    Source of the behaviour: MediaPipe `calculators/audio/basic_time_series_calculators.cc`.

    Example config::

        node {
          calculator: "SubtractMeanAcrossChannelsCalculator"
          input_stream: "frames"
          output_stream: "frames_around_zero"
        }
    """

    def made_of(self, matrix: NDArray[Any]) -> Any:
        """Return the matrix."""
        return matrix - matrix.mean()


class DivideByMeanAcrossChannelsCalculator(SeriesOperation):
    """Divides by the mean of all numbers of the packet; where that is 0, all become 1.

    The only input (Matrix, channels by samples, a series) to the only output (Matrix of the same shape). It
    is meant for numbers of at least 0, such as power. The header is forwarded.

    Raises in `open`: InvalidArgumentError for a missing header. In `process`: the same for a matrix that has
    another shape than the header says, or no elements. Timestamp offset 0.

    Source of the behaviour: MediaPipe `calculators/audio/basic_time_series_calculators.cc`.

    Example config::

        node {
          calculator: "DivideByMeanAcrossChannelsCalculator"
          input_stream: "power"
          output_stream: "relative_power"
        }
    """

    def made_of(self, matrix: NDArray[Any]) -> Any:
        """Return the matrix."""
        mean = matrix.mean()
        return matrix / mean if mean != 0 else np.ones_like(matrix)


class MeanCalculator(OneSample):
    """Averages each channel over the packet.

    The only input (Matrix, channels by samples, a series) to the only output (Matrix, channels by 1). The
    header has `num_samples` 1, and as `sample_rate` the `packet_rate`.

    Raises in `open`: InvalidArgumentError for a missing header. In `process`: the same for a matrix that has
    another shape than the header says, or no elements. Timestamp offset 0.

    Source of the behaviour: MediaPipe `calculators/audio/basic_time_series_calculators.cc`.

    Example config::

        node {
          calculator: "MeanCalculator"
          input_stream: "frames"
          output_stream: "means"
        }
    """

    def made_of(self, matrix: NDArray[Any]) -> Any:
        """Return the matrix."""
        return matrix.mean(axis=1, keepdims=True)


class StandardDeviationCalculator(OneSample):
    """Computes the standard deviation of each channel in the packet.

    The only input (Matrix, channels by samples, a series) to the only output (Matrix, channels by 1): the
    root of the mean square of the distances from the mean. The header has `num_samples` 1, and as
    `sample_rate` the `packet_rate`.

    Raises in `open`: InvalidArgumentError for a missing header. In `process`: the same for a matrix that has
    another shape than the header says, or no elements. Timestamp offset 0.

    Source of the behaviour: MediaPipe `calculators/audio/basic_time_series_calculators.cc`.

    Example config::

        node {
          calculator: "StandardDeviationCalculator"
          input_stream: "frames"
          output_stream: "deviations"
        }
    """

    def made_of(self, matrix: NDArray[Any]) -> Any:
        """Return the matrix."""
        return matrix.std(axis=1, keepdims=True)


class CovarianceCalculator(SeriesOperation):
    """Computes the covariances of the channels in the packet.

    The only input (Matrix, channels by samples, a series) to the only output (Matrix, channels by channels):
    of the distances from the means the mean products. The header has `num_samples` of the channels.

    Raises in `open`: InvalidArgumentError for a missing header. In `process`: the same for a matrix that has
    another shape than the header says, or no elements. Timestamp offset 0.

    Source of the behaviour: MediaPipe `calculators/audio/basic_time_series_calculators.cc`.

    Example config::

        node {
          calculator: "CovarianceCalculator"
          input_stream: "frames"
          output_stream: "covariances"
        }
    """

    def change_header(self, header: TimeSeriesHeader, port: Input) -> None:  # noqa: ARG002  # the interface
        """Say that a matrix is square."""
        header.num_samples = header.num_channels

    def made_of(self, matrix: NDArray[Any]) -> Any:
        """Return the matrix."""
        centred = matrix - matrix.mean(axis=1, keepdims=True)
        return centred @ centred.T / matrix.shape[1]


class L2NormCalculator(OneChannel):
    """Computes the length of each column: the root of the sum of squares.

    The only input (Matrix, channels by samples, a series) to the only output (Matrix, 1 by samples). The
    header has `num_channels` 1.

    Raises in `open`: InvalidArgumentError for a missing header. In `process`: the same for a matrix that has
    another shape than the header says, or no elements. Timestamp offset 0.

    Source of the behaviour: MediaPipe `calculators/audio/basic_time_series_calculators.cc`.

    Example config::

        node {
          calculator: "L2NormCalculator"
          input_stream: "features"
          output_stream: "lengths"
        }
    """

    def made_of(self, matrix: NDArray[Any]) -> Any:
        """Return the matrix."""
        return np.sqrt(np.square(matrix).sum(axis=0, keepdims=True))


class L2NormalizeColumnCalculator(SeriesOperation):
    """Divides each column by its length; a column of zeros stays.

    The only input (Matrix, channels by samples, a series) to the only output (Matrix of the same shape). The
    header is forwarded.

    Raises in `open`: InvalidArgumentError for a missing header. In `process`: the same for a matrix that has
    another shape than the header says, or no elements. Timestamp offset 0.

    Source of the behaviour: MediaPipe `calculators/audio/basic_time_series_calculators.cc`.

    Example config::

        node {
          calculator: "L2NormalizeColumnCalculator"
          input_stream: "features"
          output_stream: "unit_features"
        }
    """

    def made_of(self, matrix: NDArray[Any]) -> Any:
        """Return the matrix."""
        lengths = np.sqrt(np.square(matrix).sum(axis=0, keepdims=True))
        return matrix / np.where(lengths > 0, lengths, 1)


class L2NormalizeCalculator(SeriesOperation):
    """Divides by the root of the mean square of the packet, if that is above 1e-8.

    The only input (Matrix, channels by samples, a series) to the only output (Matrix of the same shape). The
    header is forwarded.

    Raises in `open`: InvalidArgumentError for a missing header. In `process`: the same for a matrix that has
    another shape than the header says, or no elements. Timestamp offset 0.

    Source of the behaviour: MediaPipe `calculators/audio/basic_time_series_calculators.cc`.

    Example config::

        node {
          calculator: "L2NormalizeCalculator"
          input_stream: "samples"
          output_stream: "samples_of_equal_power"
        }
    """

    def made_of(self, matrix: NDArray[Any]) -> Any:
        """Return the matrix."""
        power = np.sqrt(np.square(matrix).mean())
        return matrix / power if power > _SILENCE else matrix


class PeakNormalizeCalculator(SeriesOperation):
    """Divides by the largest absolute value of the packet, if that is above 1e-8.

    The only input (Matrix, channels by samples, a series) to the only output (Matrix of the same shape). The
    header is forwarded.

    Raises in `open`: InvalidArgumentError for a missing header. In `process`: the same for a matrix that has
    another shape than the header says, or no elements. Timestamp offset 0.

    Source of the behaviour: MediaPipe `calculators/audio/basic_time_series_calculators.cc`.

    Example config::

        node {
          calculator: "PeakNormalizeCalculator"
          input_stream: "samples"
          output_stream: "samples_up_to_one"
        }
    """

    def made_of(self, matrix: NDArray[Any]) -> Any:
        """Return the matrix."""
        peak = np.abs(matrix).max()
        return matrix / peak if peak > _SILENCE else matrix


class ElementwiseSquareCalculator(SeriesOperation):
    """Squares each number.

    The only input (Matrix, channels by samples, a series) to the only output (Matrix of the same shape). The
    header is forwarded.

    Raises in `open`: InvalidArgumentError for a missing header. In `process`: the same for a matrix that has
    another shape than the header says, or no elements. Timestamp offset 0.

    Source of the behaviour: MediaPipe `calculators/audio/basic_time_series_calculators.cc`.

    Example config::

        node {
          calculator: "ElementwiseSquareCalculator"
          input_stream: "samples"
          output_stream: "power"
        }
    """

    def made_of(self, matrix: NDArray[Any]) -> Any:
        """Return the matrix."""
        return np.square(matrix)


class FirstHalfSlicerCalculator(SeriesOperation):
    """Keeps the first half of the samples of the packet, rounded down.

    The only input (Matrix, channels by samples, a series) to the only output (Matrix, channels by half the
    samples). The header has half the `num_samples`.

    Raises in `open`: InvalidArgumentError for a missing header. In `process`: the same for a matrix that has
    another shape than the header says, or no elements. Timestamp offset 0.

    Source of the behaviour: MediaPipe `calculators/audio/basic_time_series_calculators.cc`.

    Example config::

        node {
          calculator: "FirstHalfSlicerCalculator"
          input_stream: "frames"
          output_stream: "first_halves"
        }
    """

    def change_header(self, header: TimeSeriesHeader, port: Input) -> None:  # noqa: ARG002  # the interface
        """Halve the number of samples."""
        header.num_samples //= 2

    def made_of(self, matrix: NDArray[Any]) -> Any:
        """Return the matrix."""
        return matrix[:, : matrix.shape[1] // 2]
