"""A bank of triangular filters, at equal distances on the mel scale, over the frequencies of a spectrum."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from penstock.errors import InvalidArgumentError
from penstock.log import get_logger, place
from penstock_audio.series.time_series import check_count

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from penstock_audio.messages.mel_features_pb2 import MelSpectrumCalculatorOptions

#: The most weights: four arrays of them are made on the way, 32 MiB each.
MOST_WEIGHTS: Final = 2**22
#: A band whose weights have a smaller sum lies between two frequencies.
_LEAST_WEIGHT: Final = 0.5
_logger = get_logger(__name__)


def mel(hertz: NDArray[np.floating[Any]] | float) -> NDArray[np.float64]:
    """Return frequencies on the mel scale, 1127 ln(1 + f / 700)."""
    return np.asarray(1127.0 * np.log1p(np.asarray(hertz, np.float64) / 700.0))


def mel_weights(
    bins: int, rate: float, options: MelSpectrumCalculatorOptions, node: str
) -> NDArray[np.float64]:
    """Return the weights of the magnitudes of a spectrum in each band.

    Band k rises from the middle of band k - 1 to its own and falls to that of band k + 1, in straight lines
    on the mel scale; the first one begins at min_frequency_hertz, and the last one ends at
    max_frequency_hertz. DC is in no band, as in HTK. The log tells of bands between two frequencies, which
    are always about 0.

    Args:
        bins: frequencies of the spectrum, from 0 to half the rate.
        rate: samples a second of the sound.
        options: number and range of the bands.
        node: for the log.

    Returns:
        (channel_count, bins).

    Raises:
        InvalidArgumentError: there are fewer than two frequencies or no band, or the range is none, or not
            below half the rate.
        ResourceExhaustedError: there are too many bands.

    Source: multichannel-audio-tools `audio/dsp/mfcc/mel_filterbank.cc`.
    """
    low, high = options.min_frequency_hertz, options.max_frequency_hertz
    count = check_count("channel_count", options.channel_count, 1)
    check_count(f"the product of {count} bands and {bins} frequencies", count * bins, 0, MOST_WEIGHTS)
    if bins < 2:  # noqa: PLR2004  # 0 Hz alone is no spectrum
        raise InvalidArgumentError(
            f"a spectrum of {bins} rows is too small for a mel filterbank, it must have at least 2; put a "
            "SpectrogramCalculator before it"
        )
    if not 0 <= low < high:
        raise InvalidArgumentError(
            f"the mel filterbank's min_frequency_hertz is {low} and max_frequency_hertz is {high}; they must "
            "grow, from 0 on"
        )
    width = rate / (2 * (bins - 1))
    first, last = int(1.5 + low / width), int(high / width)
    if last >= bins:
        raise InvalidArgumentError(
            f"the mel filterbank's max_frequency_hertz is {high}, but sound with {rate:g} samples a second "
            f"has frequencies up to {rate / 2:g}; make it lower, or the sample rate higher"
        )
    edges = np.linspace(mel(low), mel(high), count + 2)
    place_of = mel(np.arange(bins) * width)
    rising = (place_of - edges[:-2, None]) / (edges[1] - edges[0])
    weights: NDArray[np.float64] = np.clip(np.minimum(rising, 2 - rising), 0, None)
    weights[:, :first] = 0
    weights[:, last + 1 :] = 0
    empty = np.flatnonzero(weights.sum(axis=1) < _LEAST_WEIGHT)
    if len(empty):
        _logger.warning(
            "%d of %d mel bands, from band %d on, lie between two frequencies of the spectrum and are about "
            "0; make channel_count smaller, or the windows of the spectrum longer",
            len(empty), count, empty[0],
            extra=place(node=node),
        )  # fmt: skip
    return weights
