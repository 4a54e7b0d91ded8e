"""Sounds and their spectra for the pictures of the reference pages: tones that rise, computed."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Final

import numpy as np

from penstock_formats import Matrix

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

#: Samples a second.
RATE: Final = 16_000
#: How many packets there are, and the samples in each.
_SOUNDS: Final = 15
_SAMPLES: Final = 320
#: How long the sound is, in microseconds.
LENGTH_US: Final = 1_000_000 * _SAMPLES * _SOUNDS // RATE

#: Calculators whose sound has half as many samples a second, because they make it more.
_SLOWER: Final = {"RationalFactorResampleCalculator", "ResampleTimeSeriesCalculator"}
#: Calculator or stream → what its series is; "stereo" is not said.
_SERIES: Final[Mapping[str, str]] = {
    "SpectrogramCalculator": "mono",
    "SpectrogramFloatCalculator": "mono",
    "SummarySaiToPitchogramCalculator": "mono",
    "spectra": "spectra",
    "mel_spectra": "bands",
    "filterbank": "bands",
    "features": "bands",
    "power": "bands",
    "CovarianceCalculator": "bands",
    "MeanCalculator": "bands",
    "StandardDeviationCalculator": "bands",
    "SubtractMeanCalculator": "bands",
    "SubtractMeanAcrossChannelsCalculator": "bands",
    "FlattenPacketCalculator": "bands",
    "FirstHalfSlicerCalculator": "spectra",
}


@cache
def sound() -> NDArray[np.float32]:
    """Return two channels of 0.3 seconds: a tone that rises from 30 to 120 Hz, and one of 50 Hz."""
    return np.stack([0.8 * _rising(30, 120), 0.3 * np.sin(2 * np.pi * 50 * _times())]).astype(np.float32)


@cache
def _whistle() -> NDArray[np.float32]:
    """Return one channel of 0.3 seconds: a tone that rises from 300 to 3500 Hz."""
    return (0.8 * _rising(300, 3500)).astype(np.float32)[None]


def _times() -> NDArray[np.float64]:
    return np.arange(_SAMPLES * _SOUNDS) / RATE


def _rising(low: float, high: float) -> NDArray[np.float64]:
    """Return a tone that rises from a frequency to another, and swells in between."""
    time = _times()
    phase = low * time + ((high - low) / (2 * time[-1])) * time**2
    tone: NDArray[np.float64] = np.sin(np.pi * time / time[-1]) * np.sin(2 * np.pi * phase)
    return tone


@cache
def _spectra() -> NDArray[np.float32]:
    """Return the power of the whistle: 257 frequencies from 0 to 8000 Hz, 100 times a second."""
    mono = np.pad(_whistle()[0], (0, 400))
    windows = np.lib.stride_tricks.sliding_window_view(mono, 400)[:: RATE // 100] * np.hanning(400)
    magnitudes = np.abs(np.fft.rfft(windows, 512)).T[:, : 2 * _SOUNDS]
    return np.asarray(magnitudes**2, np.float32)


@cache
def _bands() -> NDArray[np.float32]:
    """Return how strong the whistle is in 16 bands, 100 times a second: logarithms, from 0 up."""
    power: NDArray[np.float32] = np.stack([band.sum(axis=0) for band in np.array_split(_spectra(), 16)])
    return np.log1p(power)


def series(name: str, stream: str) -> Iterator[Matrix]:
    """Yield the packets of a series."""
    kind = next((one for key, one in _SERIES.items() if key in {name, stream}), "stereo")
    whole = {"stereo": sound, "mono": _whistle, "spectra": _spectra, "bands": _bands}[kind]()
    if name in _SLOWER:
        whole = whole[:, ::2]
    count = _SOUNDS if kind in {"stereo", "mono"} else _SOUNDS // 3
    for part in np.split(whole, count, axis=1):
        yield Matrix(np.ascontiguousarray(part))


def rate_of(name: str, stream: str) -> float:
    """Return how many columns a second a series has."""
    columns: int = sum(one.array.shape[1] for one in series(name, stream))
    return columns * RATE / (_SAMPLES * _SOUNDS)
