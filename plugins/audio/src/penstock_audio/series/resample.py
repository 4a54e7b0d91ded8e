"""RationalFactorResampleCalculator and ResampleTimeSeriesCalculator: another sample rate."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any

import penstock
from penstock import Packet
from penstock.errors import FailedPreconditionError, InvalidArgumentError
from penstock_audio.messages.resample_pb2 import (
    RationalFactorResampleCalculatorOptions,
    ResampleTimeSeriesCalculatorOptions,
    SoxrQuality,
)
from penstock_audio.series.resampler import Kernel, RationalResampler, SoxrResampler, check_rates
from penstock_audio.series.time_series import (
    MICROSECONDS,
    Regularity,
    check_channels,
    later,
    series_header,
    time_of,
)
from penstock_formats import Matrix

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from penstock import CalculatorContext, CalculatorContract
    from penstock_audio.series.resampler import Resampler

#: Phases of the filters: ratios of all usual rates are exact.
_PHASES = 2000


class _Resampling(penstock.Calculator):
    """Resamples a series with what a subclass reads from its options."""

    def open(self, cc: CalculatorContext) -> None:
        """Make the filter, and send the header.

        Raises:
            InvalidArgumentError: there is no header, or a rate or the filter cannot be.
            FailedPreconditionError: python-soxr is asked for and missing, or the source's rate is too low.
        """
        header = series_header(cc.inputs[0], needs_rate=True)
        self._channels, source = header.num_channels, header.sample_rate
        self._target, self._resampler, is_checked = self._prepared(cc, source, self._channels)
        header.sample_rate = self._target
        header.ClearField("packet_rate")
        header.ClearField("num_samples")
        cc.outputs[0].set_header(Packet(header))
        self._regularity = Regularity(source, cc.node_name) if is_checked else None
        self._first: int | None = None
        self._sent = 0

    def process(self, cc: CalculatorContext) -> None:
        """Send what can be computed by now.

        Raises:
            InvalidArgumentError: the matrix has other rows than the header says.
        """
        port = cc.inputs[0]
        if port.is_empty():
            return
        matrix = check_channels(port, self._channels, cc.stamp)
        if self._first is None:
            self._first = time_of(port, cc.stamp)
        if self._regularity is not None:
            self._regularity.look(port.name, cc.stamp, matrix.columns)
        self._send(cc, matrix.array if self._resampler is None else self._resampler.take(matrix.array))
        cc.outputs[0].set_next_timestamp_bound(self._stamp())

    def close(self, cc: CalculatorContext) -> None:
        """Send the rest."""
        if self._first is not None and self._resampler is not None:
            self._send(cc, self._resampler.flush())

    def _send(self, cc: CalculatorContext, samples: NDArray[np.float32]) -> None:
        if samples.shape[1]:
            cc.outputs[0].add(Matrix(samples), self._stamp())
            self._sent += samples.shape[1]

    def _stamp(self) -> int:
        """Return the time of the next sample, rounded down as in the reference."""
        return later(self._first or 0, int(self._sent / self._target * MICROSECONDS))

    @abstractmethod
    def _prepared(
        self, cc: CalculatorContext, source: float, channels: int
    ) -> tuple[float, Resampler | None, bool]:
        """Return the rate, the resampler (None: both rates are the same), and whether times are checked."""


class RationalFactorResampleCalculator(_Resampling):
    """Changes the sample rate of a series.

    The only input (Matrix, channels by samples, float32, with a TimeSeriesHeader) to the only output (Matrix,
    channels by any number of samples). The first samples coincide; a packet has the time of its first sample,
    the timestamp of the first input packet plus the samples before it, rounded down to microseconds. The last
    samples, as many as half the filter is long, come when the input ends. The header has the new
    `sample_rate`. Where the rates are the same, packets are forwarded with times that are counted.

    The filter is a sinc with a Kaiser window, and the numbers are the reference's, but for rounding; by
    default it cuts at 0.9 of half the slower rate and is 10 samples of that rate long, with 60 dB of damping.
    With `soxr_quality` python-soxr resamples, with steeper filters; its output comes in other pieces.

    Options: `target_sample_rate`; `resampler_rational_factor_options { radius cutoff kaiser_beta }`, which
    count where all three are set, as in the reference; `check_inconsistent_timestamps` (true: the log tells
    of timestamps that do not agree with the number of samples); Penstock's own `soxr_quality` (OFF; QUICK,
    LOW, MEDIUM, HIGH, VERY_HIGH).

    Raises in `open`: InvalidArgumentError for a missing header or rate, or a filter that cannot be; for rates
    of which one is more than 2000 times the other; FailedPreconditionError where python-soxr is missing. In
    `process`: InvalidArgumentError for a matrix with other rows than the header says.

    Source of the behaviour: MediaPipe `calculators/audio/rational_factor_resample_calculator.cc`; of the
    filter, multichannel-audio-tools `audio/dsp/resampler_q.cc`.

    Example config::

        node {
          calculator: "RationalFactorResampleCalculator"
          input_stream: "samples"
          output_stream: "samples_of_16_khz"
          options { [penstock.RationalFactorResampleCalculatorOptions.ext] { target_sample_rate: 16000 } }
        }
    """

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Take a series and give one.

        Raises:
            InvalidArgumentError: target_sample_rate is not above 0.
        """
        cc.inputs[0].set(Matrix, "a series")
        cc.outputs[0].set(Matrix, "the series at another rate")
        options = cc.options(RationalFactorResampleCalculatorOptions)
        check_target(options.target_sample_rate)
        cc.declare(may_skip=True, stateless=False)

    def _prepared(
        self, cc: CalculatorContext, source: float, channels: int
    ) -> tuple[float, Resampler | None, bool]:
        options = cc.options(RationalFactorResampleCalculatorOptions)
        target = options.target_sample_rate
        given = options.resampler_rational_factor_options
        kernel = Kernel(max_denominator=_PHASES)
        if all(given.HasField(name) for name in ("radius", "cutoff", "kaiser_beta")):
            kernel = Kernel(
                radius_factor=_radius_factor(given, source, target),
                cutoff_proportion=_cutoff_proportion(given, source, target),
                kaiser_beta=given.kaiser_beta,
                max_denominator=_PHASES,
            )
        made = _resampler(channels, source, target, kernel, options.soxr_quality)
        return target, made, options.check_inconsistent_timestamps


class ResampleTimeSeriesCalculator(_Resampling):
    """Changes the sample rate of a series, with limits on the rate of the source.

    The only input (Matrix, channels by samples, float32, with a TimeSeriesHeader) to the only output (Matrix,
    channels by any number of samples), as RationalFactorResampleCalculator. Side packet TARGET_SAMPLE_RATE
    (float, optional) counts where the option is not set.

    Options: `target_sample_rate`; `resampler_rational_factor_options { radius_factor cutoff_proportion
    kaiser_beta }`, each by itself, or the older `radius` and `cutoff`; `check_inconsistent_timestamps`
    (true); `allow_upsampling` (true), `min_source_sample_rate` (0); Penstock's own `soxr_quality` (OFF).

    Raises in `open`: as RationalFactorResampleCalculator, and FailedPreconditionError for a source of a rate
    below `min_source_sample_rate`, or without `allow_upsampling` below the target.

    Source of the behaviour: MediaPipe `calculators/audio/resample_time_series_calculator.cc`.

    Example config::

        node {
          calculator: "ResampleTimeSeriesCalculator"
          input_stream: "samples"
          output_stream: "samples_of_16_khz"
          options {
            [penstock.ResampleTimeSeriesCalculatorOptions.ext] {
              target_sample_rate: 16000
              resampler_rational_factor_options { radius_factor: 17 }
            }
          }
        }
    """

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Take a series and give one.

        Raises:
            InvalidArgumentError: target_sample_rate is not above 0, or missing; another resampler is asked
                for.
        """
        cc.inputs[0].set(Matrix, "a series")
        cc.outputs[0].set(Matrix, "the series at another rate")
        cc.input_side_packets["TARGET_SAMPLE_RATE"].set(float, "where the option is not set").optional()
        options = cc.options(ResampleTimeSeriesCalculatorOptions)
        if options.HasField("target_sample_rate") or "TARGET_SAMPLE_RATE" not in cc.input_side_packets:
            check_target(options.target_sample_rate)
        if options.resampler_type != ResampleTimeSeriesCalculatorOptions.RESAMPLER_RATIONAL_FACTOR:
            raise InvalidArgumentError("resampler_type is UNDEFINED; leave it out")
        cc.declare(may_skip=True, stateless=False)

    def _prepared(
        self, cc: CalculatorContext, source: float, channels: int
    ) -> tuple[float, Resampler | None, bool]:
        options = cc.options(ResampleTimeSeriesCalculatorOptions)
        target = options.target_sample_rate
        if not options.HasField("target_sample_rate"):
            if "TARGET_SAMPLE_RATE" not in cc.input_side_packets:
                raise InvalidArgumentError(
                    "the side packet TARGET_SAMPLE_RATE, to resample to, is not given; give it or set the "
                    "option"
                )
            target = cc.input_side_packets["TARGET_SAMPLE_RATE"].get(float)
            check_target(target)
        least = options.min_source_sample_rate if options.allow_upsampling else target
        if source < least:
            raise FailedPreconditionError(
                f"stream {cc.inputs[0].name!r} has {source:g} samples a second, but to resample at least "
                f"{least:g} are needed; take a better source, or set allow_upsampling and a lower "
                "min_source_sample_rate",
                stream=cc.inputs[0].name,
            )
        given = options.resampler_rational_factor_options
        kernel = Kernel(
            radius_factor=given.radius_factor
            if given.HasField("radius_factor") or not given.HasField("radius")
            else _radius_factor(given, source, target),
            cutoff_proportion=given.cutoff_proportion
            if given.HasField("cutoff_proportion") or not given.HasField("cutoff")
            else _cutoff_proportion(given, source, target),
            kaiser_beta=given.kaiser_beta,
            max_denominator=_PHASES,
        )
        made = _resampler(channels, source, target, kernel, options.soxr_quality)
        return target, made, options.check_inconsistent_timestamps


def check_target(rate: float) -> None:
    """Check a target_sample_rate.

    Raises:
        InvalidArgumentError: it is not above 0.
    """
    if not rate > 0:
        raise InvalidArgumentError(
            f"the rate to resample to, target_sample_rate, is {rate}, but must be above 0 (samples a "
            "second); set it"
        )


def _radius_factor(given: Any, source: float, target: float) -> float:
    """Return the older option `radius` as a radius_factor."""
    return float(given.radius * min(1.0, target / source))


def _cutoff_proportion(given: Any, source: float, target: float) -> float:
    """Return the older option `cutoff` as a cutoff_proportion."""
    return float(2 * given.cutoff / min(source, target))


def _resampler(
    channels: int, source: float, target: float, kernel: Kernel, quality: SoxrQuality.Quality
) -> Resampler | None:
    check_rates(source, target)
    if source == target:
        return None
    if quality != SoxrQuality.OFF:
        return SoxrResampler(channels, source, target, quality)
    return RationalResampler(channels, source, target, kernel)
