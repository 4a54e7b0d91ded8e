"""TensorsToAudioCalculator: sound of Fourier transforms."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

import penstock
from penstock.errors import InvalidArgumentError
from penstock_audio.messages.tensors_to_audio_pb2 import TensorsToAudioCalculatorOptions
from penstock_audio.series.windows import hann
from penstock_audio.spectra.fourier_tensor import check_format, check_gain, check_size, spectrum_of
from penstock_formats import Matrix, Tensor

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from penstock import CalculatorContext, CalculatorContract


class TensorsToAudioCalculator(penstock.Calculator):
    """Makes sound of the transforms that an AudioToTensorCalculator has made, or a model of them.

    Inputs: TENSORS (list[Tensor] of one tensor, float32, with the numbers of a transform) and DC_AND_NYQUIST
    (tuple of two floats: its first and last number, where the tensor lacks them). Output: AUDIO (Matrix, 1 by
    samples, without a header). Where one of the inputs has no packet, the output has none. The timestamp
    offset is 0.

    The transform back is multiplied by the inverse of the Hann window, for windows that overlap by half. With
    `num_overlapping_samples` a packet has the samples up to the next window, and the end of the window before
    is added to them; else each packet is a whole window.

    Options: `fft_size`, which must be given; `num_samples` and `num_overlapping_samples`; `dft_tensor_format`
    (WITH_NYQUIST), `volume_gain_db`.

    Raises in `get_contract`: InvalidArgumentError for options that are missing or cannot be. In `process`:
    the same for a tensor with other numbers, and for several.

    Source of the behaviour: MediaPipe `calculators/tensor/tensors_to_audio_calculator.cc`.

    Example config::

        node {
          calculator: "TensorsToAudioCalculator"
          input_stream: "TENSORS:tensors"
          input_stream: "DC_AND_NYQUIST:ends"
          output_stream: "AUDIO:samples"
          options {
            [penstock.TensorsToAudioCalculatorOptions.ext] {
              fft_size: 320 num_samples: 320 num_overlapping_samples: 160
            }
          }
        }
    """

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Declare the ports.

        Raises:
            InvalidArgumentError: an option is missing or cannot be.
            ResourceExhaustedError: fft_size is too large.
        """
        cc.inputs["TENSORS"].set(list[Tensor], "a transform")
        cc.inputs["DC_AND_NYQUIST"].set(tuple[float, float], "its first and last number")
        cc.outputs["AUDIO"].set(Matrix, "samples")
        _check(cc.options(TensorsToAudioCalculatorOptions))
        cc.set_timestamp_offset(0)
        cc.declare(may_skip=False, stateless=False)

    def open(self, cc: CalculatorContext) -> None:
        """Prepare the window."""
        options = self._options = cc.options(TensorsToAudioCalculatorOptions)
        self._window = _inverse(hann(options.fft_size))
        self._step = options.fft_size - options.num_overlapping_samples
        self._before = np.zeros(options.fft_size)
        self._gain = 10 ** (options.volume_gain_db / 20)

    def process(self, cc: CalculatorContext) -> None:
        """Send the samples of a window.

        Raises:
            InvalidArgumentError: there are several tensors, or one that is no transform of this size.
        """
        source, ends = cc.inputs["TENSORS"], cc.inputs["DC_AND_NYQUIST"]
        if source.is_empty() or ends.is_empty():
            return
        tensors: list[Tensor] = source.payload
        if len(tensors) != 1 or tensors[0].element_type != "float32":
            raise InvalidArgumentError(
                f"stream {source.name!r} holds {tensors!r}, but audio is made of one tensor of float32; "
                "split the list before",
                stream=source.name,
                timestamp=cc.stamp,
            )
        options = self._options
        spectrum = spectrum_of(tensors[0].array, options.fft_size, options.dft_tensor_format, ends.payload)
        samples = np.fft.irfft(spectrum, options.fft_size) * self._window
        sent = samples
        if options.num_overlapping_samples:
            sent = samples[: self._step].copy()
            sent[: options.num_overlapping_samples] += self._before[self._step :]
            self._before = samples
        cc.outputs["AUDIO"].add(Matrix((self._gain * sent).astype(np.float32)[None]), cc.stamp)


def _inverse(window: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return what makes the product with a window, added to the next one's half a window later, 1."""
    half = len(window) // 2
    squares = window**2
    return window / np.tile(squares[:half] + squares[half:], 2)


def _check(options: TensorsToAudioCalculatorOptions) -> None:
    """Check the options.

    Raises:
        InvalidArgumentError: one is missing or cannot be.
        ResourceExhaustedError: fft_size is too large.
    """
    if not options.HasField("fft_size"):
        raise InvalidArgumentError(
            "to make audio of tensors, fft_size is needed; set that of the AudioToTensorCalculator"
        )
    size = check_size(options.fft_size)
    check_format(options.dft_tensor_format)
    check_gain(options.volume_gain_db)
    if not options.HasField("num_overlapping_samples"):
        return
    samples, overlap = options.num_samples, options.num_overlapping_samples
    if samples != size or not 0 < overlap <= size // 2:
        raise InvalidArgumentError(
            f"to make audio of tensors, num_samples is {samples} and num_overlapping_samples is {overlap}; "
            f"they must be fft_size, which is {size}, and from 1 to half of it"
        )
