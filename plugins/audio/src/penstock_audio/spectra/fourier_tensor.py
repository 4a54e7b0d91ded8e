"""Fourier transforms of real sound as tensors of numbers, and back.

A tensor of (2, n) holds real and imaginary parts by turns, frequency by frequency: the order of the
reference's memory, whatever the shape says.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from penstock.errors import InvalidArgumentError, StatusCode
from penstock_audio.messages.audio_to_tensor_pb2 import AudioToTensorCalculatorOptions
from penstock_audio.series.time_series import check_count

if TYPE_CHECKING:
    from numpy.typing import NDArray

_WITHOUT: Final = AudioToTensorCalculatorOptions.WITHOUT_DC_AND_NYQUIST
_WITH_NYQUIST: Final = AudioToTensorCalculatorOptions.WITH_NYQUIST
_WITH_BOTH: Final = AudioToTensorCalculatorOptions.WITH_DC_AND_NYQUIST
#: Sizes are this times a product of the primes: those of PFFFT, the library of the reference.
_UNIT: Final = 32
_PRIMES: Final = (2, 3, 5)
#: The largest gain: louder ones leave float32.
_LOUDEST_DB: Final = 400


def check_size(size: int) -> int:
    """Return the size of a transform, if the reference has it too.

    Raises:
        InvalidArgumentError: it is not 32 times a product of 2, 3 and 5; with the code INTERNAL, as in the
            reference.
        ResourceExhaustedError: it is too large.
    """
    rest, odd = divmod(check_count("fft_size", size, 1), _UNIT)
    for prime in _PRIMES:
        while rest and rest % prime == 0:
            rest //= prime
    if odd or rest != 1:
        raise InvalidArgumentError(
            f"the Fourier transform's fft_size is {size}, but must be 32 times a product of 2, 3 and 5; "
            "256, 320 or 512, say",
            code=StatusCode.INTERNAL,
        )
    return size


def check_format(kind: int) -> int:
    """Return which parts of a transform a tensor holds, if that is one of the three ways.

    Raises:
        InvalidArgumentError: it is DFT_TENSOR_FORMAT_UNKNOWN.
    """
    if kind not in {_WITHOUT, _WITH_NYQUIST, _WITH_BOTH}:
        raise InvalidArgumentError(
            "the Fourier tensor's dft_tensor_format is DFT_TENSOR_FORMAT_UNKNOWN; leave it out, or choose "
            "one of the others"
        )
    return kind


def check_gain(volume_gain_db: float) -> None:
    """Accept a gain that sound in float32 can have.

    Raises:
        InvalidArgumentError: it is larger than 400 dB, or smaller than -400 dB.
    """
    if not abs(volume_gain_db) <= _LOUDEST_DB:
        raise InvalidArgumentError(
            f"the Fourier tensor's volume_gain_db is {volume_gain_db}, but must be from -{_LOUDEST_DB} to "
            f"{_LOUDEST_DB} decibels"
        )


def numbers_of(spectrum: NDArray[np.complexfloating[Any]], kind: int) -> NDArray[np.float32]:
    """Return the numbers of a tensor, (2, n) float32.

    Args:
        spectrum: (size / 2 + 1,), from DC to half the rate.
        kind: the DftTensorFormat.
    """
    kept = spectrum[slice(0 if kind == _WITH_BOTH else 1, -1 if kind == _WITHOUT else None)]
    numbers = np.stack([kept.real, kept.imag], axis=1).astype(np.float32)
    return numbers.reshape(2, len(kept))


def spectrum_of(
    numbers: NDArray[np.float32], size: int, kind: int, ends: tuple[float, float]
) -> NDArray[np.complex128]:
    """Return the spectrum, (size / 2 + 1,), that a tensor holds.

    Args:
        numbers: the tensor, of any shape.
        size: of the transform.
        kind: the DftTensorFormat.
        ends: DC and half the rate, for kinds of tensors that lack them.

    Raises:
        InvalidArgumentError: the tensor has not as many numbers as the transform.
    """
    pairs = numbers.astype(np.float64).reshape(-1)
    expected = size + 2 * (kind == _WITH_BOTH) - 2 * (kind == _WITHOUT)
    if pairs.size != expected:
        raise InvalidArgumentError(
            f"a Fourier tensor has {pairs.size} numbers, but a transform of {size} points has {expected} in "
            "this dft_tensor_format; use the options of the AudioToTensorCalculator that made it"
        )
    values = pairs[0::2] + 1j * pairs[1::2]
    if kind != _WITH_BOTH:
        values = np.concatenate([[ends[0]], values])
    if kind == _WITHOUT:
        values = np.concatenate([values, [ends[1]]])
    return values
