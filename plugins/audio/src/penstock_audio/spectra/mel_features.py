"""MelSpectrumCalculator and MfccCalculator: features of sound from its spectrogram."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any, Final

import numpy as np

import penstock
from penstock import Packet
from penstock.errors import InvalidArgumentError
from penstock_audio.messages.mel_features_pb2 import MelSpectrumCalculatorOptions, MfccCalculatorOptions
from penstock_audio.series.time_series import check_channels, check_count, series_header
from penstock_audio.spectra.mel_filterbank import MOST_WEIGHTS, mel_weights
from penstock_formats import Matrix

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from penstock import CalculatorContext, CalculatorContract

#: Smaller magnitudes count as this in a logarithm.
_FLOOR: Final = 1e-12


class _OfSpectra(penstock.Calculator):
    """Makes of each column, which is a spectrum, another column. The timestamp offset is 0."""

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Take a series and give one."""
        cc.inputs[0].set(Matrix, "squared magnitudes, as a SpectrogramCalculator sends them")
        cc.outputs[0].set(Matrix, "features, a column for each column of the input")
        cc.set_timestamp_offset(0)
        cc.declare(may_skip=False, stateless=True)

    def open(self, cc: CalculatorContext) -> None:
        """Prepare for spectra of the size and rate that the header says, and send the header.

        Raises:
            InvalidArgumentError: there is no header, or it does not say of which rate the sound was.
        """
        header = series_header(cc.inputs[0])
        if not (header.HasField("audio_sample_rate") and header.audio_sample_rate > 0):
            raise InvalidArgumentError(
                f"stream {cc.inputs[0].name!r} has a header without audio_sample_rate, but mel features "
                "follow from it; put a SpectrogramCalculator before it",
                stream=cc.inputs[0].name,
            )
        self._bins = header.num_channels
        header.num_channels = self._prepare(cc, self._bins, header.audio_sample_rate)
        cc.outputs[0].set_header(Packet(header))

    def process(self, cc: CalculatorContext) -> None:
        """Send the features of a packet.

        Raises:
            InvalidArgumentError: the matrix has other rows than the header says, or a number below 0.
        """
        port = cc.inputs[0]
        spectra = check_channels(port, self._bins, cc.stamp).array
        if not (spectra >= 0).all():
            raise InvalidArgumentError(
                f"stream {port.name!r}: {spectra[~(spectra >= 0)][0]} is no squared magnitude for mel "
                "features, which is at least 0; connect a SpectrogramCalculator with output_type "
                "SQUARED_MAGNITUDE",
                stream=port.name,
                timestamp=cc.stamp,
            )
        features = self._features(np.sqrt(spectra.astype(np.float64)))
        cc.outputs[0].add(Matrix(features.astype(np.float32)), cc.stamp)

    @abstractmethod
    def _prepare(self, cc: CalculatorContext, bins: int, rate: float) -> int:
        """Prepare for spectra, and return how many features there will be."""

    @abstractmethod
    def _features(self, magnitudes: NDArray[np.float64]) -> Any:
        """Return the features of each column."""


class MelSpectrumCalculator(_OfSpectra):
    """Sums the magnitudes of a spectrum in triangular bands, at equal distances on the mel scale.

    The only input (Matrix, frequencies by spectra, squared magnitudes, with a TimeSeriesHeader that has
    `audio_sample_rate`, as SpectrogramCalculator sends them) to the only output (Matrix, bands by spectra,
    float32, not squared). The header has `num_channels` of the bands. The timestamp offset is 0. Computed in
    float64. The log tells of bands between two frequencies: too many for the length of the windows.

    Options: `channel_count` (20), `min_frequency_hertz` (125), `max_frequency_hertz` (3800).

    Raises in `open`: InvalidArgumentError for a missing header or bands that cannot be; a range above half
    the sample rate too, with which the reference writes no numbers. In `process`: the same for numbers that
    are no squares, and for another number of rows.

    Source of the behaviour: MediaPipe `calculators/audio/mfcc_mel_calculators.cc`; of the bands,
    multichannel-audio-tools `audio/dsp/mfcc/mel_filterbank.cc`.

    Example config::

        node {
          calculator: "MelSpectrumCalculator"
          input_stream: "spectra"
          output_stream: "mel_spectra"
          options {
            [penstock.MelSpectrumCalculatorOptions.ext] {
              channel_count: 64 min_frequency_hertz: 125 max_frequency_hertz: 7500
            }
          }
        }
    """

    def _prepare(self, cc: CalculatorContext, bins: int, rate: float) -> int:
        self._weights = mel_weights(bins, rate, cc.options(MelSpectrumCalculatorOptions), cc.node_name)
        return len(self._weights)

    def _features(self, magnitudes: NDArray[np.float64]) -> Any:
        return self._weights @ magnitudes


class MfccCalculator(_OfSpectra):
    """Computes the mel-frequency cepstral coefficients of spectra.

    The only input (Matrix, frequencies by spectra, squared magnitudes, with a TimeSeriesHeader that has
    `audio_sample_rate`, as SpectrogramCalculator sends them) to the only output (Matrix, coefficients by
    spectra, float32). They are the discrete cosine transform (type 2, times sqrt(2 / bands)) of the natural
    logarithms of the mel bands, of which those below 1e-12 count as that. The header has `num_channels` of
    the coefficients. The timestamp offset is 0. Computed in float64.

    Options: `mel_spectrum_params`, as of MelSpectrumCalculator; `mfcc_count` (13), at most the number of
    bands.

    Raises: as MelSpectrumCalculator, and InvalidArgumentError for another `mfcc_count`.

    Source of the behaviour: MediaPipe `calculators/audio/mfcc_mel_calculators.cc`; of the numbers,
    multichannel-audio-tools `audio/dsp/mfcc`.

    Example config::

        node {
          calculator: "MfccCalculator"
          input_stream: "spectra"
          output_stream: "coefficients"
          options {
            [penstock.MfccCalculatorOptions.ext] {
              mel_spectrum_params { channel_count: 20 min_frequency_hertz: 125 max_frequency_hertz: 3800 }
              mfcc_count: 13
            }
          }
        }
    """

    def _prepare(self, cc: CalculatorContext, bins: int, rate: float) -> int:
        options = cc.options(MfccCalculatorOptions)
        count = check_count("mfcc_count", options.mfcc_count, 1)
        bands = options.mel_spectrum_params.channel_count
        words = f"the product of {count} coefficients and {bands} bands"
        check_count(words, max(count * bands, 1), 1, MOST_WEIGHTS)
        self._weights = mel_weights(bins, rate, options.mel_spectrum_params, cc.node_name)
        if count > bands:
            raise InvalidArgumentError(
                f"mfcc_count of the mel features is {count}, but must be at most channel_count, "
                f"which is {bands}"
            )
        angles = np.pi / bands * np.arange(count)[:, None] * (np.arange(bands) + 0.5)
        self._cosines = np.sqrt(2 / bands) * np.cos(angles)
        return count

    def _features(self, magnitudes: NDArray[np.float64]) -> Any:
        return self._cosines @ np.log(np.maximum(self._weights @ magnitudes, _FLOOR))
