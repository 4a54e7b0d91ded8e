"""Changes the sample rate of a series that comes in pieces.

`RationalResampler` computes what the reference's QResampler does; `SoxrResampler` has libsoxr do it.
"""

from __future__ import annotations

import math
from fractions import Fraction
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, Protocol

import attrs
import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from penstock.errors import FailedPreconditionError, InvalidArgumentError
from penstock_audio.messages.resample_pb2 import SoxrQuality
from penstock_audio.series.time_series import check_count

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: Products that are computed together.
_AT_ONCE: Final = 2**20
#: The most samples of output for one of the input, or the other way round.
_MOST_RATIO: Final = 2000
#: The largest half of a filter, in samples of the slower rate.
_MOST_RADIUS: Final = 1_000_000
#: The largest shape of a Kaiser window whose weights are numbers.
_MOST_BETA: Final = 700
_SOXR: Final = {
    SoxrQuality.QUICK: "QQ",
    SoxrQuality.LOW: "LQ",
    SoxrQuality.MEDIUM: "MQ",
    SoxrQuality.HIGH: "HQ",
    SoxrQuality.VERY_HIGH: "VHQ",
}


class Resampler(Protocol):
    """Takes (channels, n) float32, returns (channels, m) float32, fresh. The first samples coincide."""

    def take(self, samples: NDArray[np.float32]) -> NDArray[np.float32]:
        """Take samples, and return what can be computed by now."""

    def flush(self) -> NDArray[np.float32]:
        """Return the rest, as if zeros came. Called once, at the end."""


@attrs.frozen(kw_only=True)
class Kernel:
    """A windowed sinc, the filter of `RationalResampler`.

    The defaults are those of QResamplerParams; the calculators that resample ask for 2000 phases.
    """

    #: Half of its length, in samples of the slower of the two rates.
    radius_factor: float = 5.0
    #: Where it begins to cut, as a part of half the slower rate; above 0, at most 1.
    cutoff_proportion: float = 0.9
    #: Shape of its Kaiser window, above 0.
    kaiser_beta: float = 6.0
    #: How exactly a ratio of rates is kept: the most phases of the filter.
    max_denominator: int = 1000

    def __attrs_post_init__(self) -> None:
        if not (
            0 < self.radius_factor <= _MOST_RADIUS
            and 0 < self.cutoff_proportion <= 1
            and 0 < self.kaiser_beta <= _MOST_BETA
        ):
            raise InvalidArgumentError(
                f"the resampler's filter has radius_factor {self.radius_factor}, cutoff_proportion "
                f"{self.cutoff_proportion} and kaiser_beta {self.kaiser_beta}; they must be above 0, "
                f"radius_factor at most {_MOST_RADIUS}, cutoff_proportion at most 1 and kaiser_beta at most "
                f"{_MOST_BETA}"
            )


class RationalResampler:
    """Resamples by a ratio of whole numbers, with a filter for each phase.

    Output j lies at the place j a / b of the input, where a / b is source / target. It is the sum of the
    input around it, weighted by the kernel, in float32. `flush` takes zeros of the filter's length, less one.

    Args:
        channels: rows of the samples.
        source: samples a second of the input.
        target: samples a second of the output.
        kernel: the filter.

    Raises:
        InvalidArgumentError: a rate is not above 0, or one is more than 2000 times the other.
        ResourceExhaustedError: the filter is too long.

    Source: multichannel-audio-tools `audio/dsp/resampler_q.cc` and
    `portable/rational_factor_resampler_kernel.c`.
    """

    def __init__(self, channels: int, source: float, target: float, kernel: Kernel) -> None:
        check_rates(source, target)
        factor = _single(source) / _single(target)
        stretch = max(1.0, factor)
        radius = _single(kernel.radius_factor) * stretch
        self._radius: Final = math.ceil(check_count("half the length of the filter", math.ceil(radius), 1))
        ratio = Fraction(factor).limit_denominator(kernel.max_denominator)
        self._step, self._phases = max(ratio.numerator, 1), ratio.denominator
        self._taps: Final = 2 * self._radius + 1
        check_count(
            f"the product of {self._phases} phases and {self._taps} weights", self._phases * self._taps, 1
        )
        offsets = np.arange(self._phases)[:, None] / self._phases + np.arange(
            self._radius, -self._radius - 1, -1
        )
        self._filters: Final = _weights(offsets, radius, stretch, kernel).astype(np.float32)
        #: Zeros before the first sample, so that the middle of the filter meets it.
        self._waiting = np.zeros((channels, self._radius), np.float32)
        #: Where the filter of the next output begins in `_waiting`, times `_phases`.
        self._place = 0

    def take(self, samples: NDArray[np.float32]) -> NDArray[np.float32]:
        """Take samples, and return what can be computed by now."""
        waiting = np.concatenate([self._waiting, samples], axis=1)
        channels, there = waiting.shape
        room = max(there - self._taps + 1, 0) * self._phases - self._place
        count = max(-(-room // self._step), 0)
        made = np.empty((channels, count), np.float32)
        if count:
            windows = sliding_window_view(waiting, self._taps, axis=1)
            together = max(_AT_ONCE // (self._taps * max(channels, 1)), 1)
            for at in range(0, count, together):
                places = self._place + self._step * np.arange(at, min(at + together, count))
                begins, phases = np.divmod(places, self._phases)
                made[:, at : at + together] = np.einsum(
                    "cnk,nk->cn", windows[:, begins], self._filters[phases]
                )
        self._place += count * self._step
        gone = min(self._place // self._phases, there)
        self._place -= gone * self._phases
        self._waiting = waiting[:, gone:].copy()
        return made

    def flush(self) -> NDArray[np.float32]:
        """Return the rest."""
        return self.take(np.zeros((self._waiting.shape[0], self._taps - 1), np.float32))


class SoxrResampler:
    """Resamples with libsoxr, whose filters are steeper.

    Args:
        channels: rows of the samples.
        source: samples a second of the input.
        target: samples a second of the output.
        quality: not OFF.

    Raises:
        InvalidArgumentError: a rate is not above 0, or one is more than 2000 times the other.
        FailedPreconditionError: python-soxr is not installed; says what to do.
    """

    def __init__(self, channels: int, source: float, target: float, quality: SoxrQuality.Quality) -> None:
        check_rates(source, target)
        try:
            soxr: Any = import_module("soxr")
        except ImportError as error:
            raise FailedPreconditionError(
                f"the resampler's soxr_quality {SoxrQuality.Quality.Name(quality)} needs python-soxr, which "
                f'cannot be imported ({error}); run: pip install "penstock-audio[soxr]"'
            ) from error
        self._channels: Final = channels
        self._stream: Final = soxr.ResampleStream(
            source, target, channels, dtype="float32", quality=_SOXR[quality]
        )

    def take(self, samples: NDArray[np.float32]) -> NDArray[np.float32]:
        """Take samples, and return what libsoxr has by now."""
        return self._next(samples, is_last=False)

    def flush(self) -> NDArray[np.float32]:
        """Return the rest."""
        return self._next(np.zeros((self._channels, 0), np.float32), is_last=True)

    def _next(self, samples: NDArray[np.float32], *, is_last: bool) -> NDArray[np.float32]:
        interleaved = np.ascontiguousarray(samples.T)
        made = np.asarray(self._stream.resample_chunk(interleaved, last=is_last), np.float32)
        return np.ascontiguousarray(made.reshape(-1, self._channels).T)


def check_rates(source: float, target: float) -> None:
    """Check two rates.

    Raises:
        InvalidArgumentError: one is not above 0, or more than 2000 times the other one.
    """
    if not (0 < source < math.inf and 0 < target < math.inf):
        raise InvalidArgumentError(
            f"sound of {source} Hz cannot be resampled to {target} Hz; rates are above 0"
        )
    if not 1 / _MOST_RATIO <= source / target <= _MOST_RATIO:
        raise InvalidArgumentError(
            f"sound of {source} Hz cannot be resampled to {target} Hz; one may be {_MOST_RATIO} times the "
            "other at most"
        )


def _single(number: float) -> float:
    """Return a number in the precision in which the reference keeps it."""
    return float(np.float32(number))


def _weights(
    offsets: NDArray[np.float64], radius: float, stretch: float, kernel: Kernel
) -> NDArray[np.float64]:
    """Return the kernel at distances, in samples of the input: a sinc times a Kaiser window."""
    theta, beta = _single(kernel.cutoff_proportion) / stretch, _single(kernel.kaiser_beta)
    inside = np.clip(1 - np.square(offsets / radius), 0, None)
    window = np.i0(beta * np.sqrt(inside)) / np.i0(beta)
    window[np.abs(offsets) > radius * (1 + 1e-14)] = 0
    return theta * np.sinc(theta * offsets) * window
