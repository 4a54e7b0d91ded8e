"""QuantizeFloatVectorCalculator and DequantizeByteArrayCalculator: numbers as single bytes.

Both calculate in float32 and float64 where the reference does, so bytes and numbers are the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from penstock import Calculator
from penstock.errors import InvalidArgumentError
from penstock_calculators.lists.containers import ListOf
from penstock_calculators.messages.quantize_pb2 import (
    DequantizeByteArrayCalculatorOptions,
    QuantizeFloatVectorCalculatorOptions,
)

if TYPE_CHECKING:
    from penstock import CalculatorContext, CalculatorContract

_NUMBERS: Final = ListOf(float)
_LARGEST_BYTE: Final = 255.0
#: A dequantized number is this part of the range above the start of its byte's interval: about the middle.
_HALF_STEP: Final = 1 / 512
_EPSILON: Final = np.finfo(np.float32).eps


class QuantizeFloatVectorCalculator(Calculator):
    """Writes each list of numbers as bytes, one for each number.

    FLOAT_VECTOR (list of float) to ENCODED (bytes): byte 0 is `min_quantized_value`, 255 is
    `max_quantized_value`, numbers between them are scaled linearly and rounded down, numbers beyond
    become the nearer of the two. With -64 and 64: 0, -64, 64, -32, 32 become 7F 00 FF 3F BF. NaN is an
    error. There is no timestamp offset; the output does not depend on the order of arrival, and no packet
    is dropped.

    Options: `max_quantized_value` and `min_quantized_value`, both required, the first above the second
    by 1.2e-7 at least.

    Source of the behaviour: MediaPipe `calculators/core/quantize_float_vector_calculator.cc`.

    Example config::

        node {
          calculator: "QuantizeFloatVectorCalculator"
          input_stream: "FLOAT_VECTOR:features"
          output_stream: "ENCODED:bytes"
          options {
            [penstock.QuantizeFloatVectorCalculatorOptions.ext] {
              max_quantized_value: 64
              min_quantized_value: -64
            }
          }
        }
    """

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Check the range.

        Raises:
            InvalidArgumentError: an end of the range is missing, or the range is empty.
        """
        _bounds(cc.options(QuantizeFloatVectorCalculatorOptions))
        cc.inputs["FLOAT_VECTOR"].set(list[float], "numbers")
        cc.outputs["ENCODED"].set(bytes, "a byte for each")
        cc.declare(may_skip=False, stateless=True)

    def open(self, cc: CalculatorContext) -> None:
        """Read the range."""
        self._min, self._max = _bounds(cc.options(QuantizeFloatVectorCalculatorOptions))
        self._scale = _LARGEST_BYTE / float(self._max - self._min)

    def process(self, cc: CalculatorContext) -> None:
        """Write the bytes.

        Raises:
            PacketTypeError: an element is not a number.
            InvalidArgumentError: one is NaN.
        """
        source = cc.inputs["FLOAT_VECTOR"]
        numbers = np.array(_NUMBERS.elements(source), np.float64)
        missing = np.flatnonzero(np.isnan(numbers))
        if missing.size:
            raise InvalidArgumentError(
                f"stream {source.name!r}: element {missing[0]} of the list to quantize is NaN, but there is "
                "no byte for it; remove NaN from the list",
                stream=source.name,
                timestamp=cc.stamp,
            )
        above = np.clip(numbers, self._min, self._max).astype(np.float32) - self._min
        cc.outputs["ENCODED"].add((above * np.float64(self._scale)).astype(np.uint8).tobytes(), cc.stamp)


class DequantizeByteArrayCalculator(Calculator):
    """Turns bytes, as QuantizeFloatVectorCalculator writes them, into numbers.

    ENCODED (bytes) to FLOAT_VECTOR (list of float): byte b becomes
    `b * range / 255 + range / 512 + min_quantized_value`, where range is max - min: about the middle of
    the numbers that become b. The results are rounded to float32. There is no timestamp
    offset; the output does not depend on the order of arrival, and no packet is dropped.

    Options: `max_quantized_value` and `min_quantized_value`, both required, the first above the second
    by 1.2e-7 at least.

    Source of the behaviour: MediaPipe `calculators/core/dequantize_byte_array_calculator.cc`.

    Example config::

        node {
          calculator: "DequantizeByteArrayCalculator"
          input_stream: "ENCODED:bytes"
          output_stream: "FLOAT_VECTOR:features"
          options {
            [penstock.DequantizeByteArrayCalculatorOptions.ext] {
              max_quantized_value: 64
              min_quantized_value: -64
            }
          }
        }
    """

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Check the range.

        Raises:
            InvalidArgumentError: an end of the range is missing, or the range is empty.
        """
        _bounds(cc.options(DequantizeByteArrayCalculatorOptions))
        cc.inputs["ENCODED"].set(bytes, "a byte for each number")
        cc.outputs["FLOAT_VECTOR"].set(list[float], "the numbers")
        cc.declare(may_skip=False, stateless=True)

    def open(self, cc: CalculatorContext) -> None:
        """Read the range."""
        low, high = _bounds(cc.options(DequantizeByteArrayCalculatorOptions))
        width = float(high - low)
        self._scale = np.float32(width / _LARGEST_BYTE)
        self._offset = np.float32(width * _HALF_STEP + float(low))

    def process(self, cc: CalculatorContext) -> None:
        """Make the numbers."""
        encoded = np.frombuffer(cc.inputs["ENCODED"].payload, np.uint8).astype(np.float32)
        cc.outputs["FLOAT_VECTOR"].add((encoded * self._scale + self._offset).tolist(), cc.stamp)


def _bounds(
    options: QuantizeFloatVectorCalculatorOptions | DequantizeByteArrayCalculatorOptions,
) -> tuple[np.float32, np.float32]:
    """Return the ends of the range, the lower first."""
    for field in ("max_quantized_value", "min_quantized_value"):
        if not options.HasField(field):
            raise InvalidArgumentError(
                f"option {field} is missing; to quantize, both ends of the range are required"
            )
    low, high = np.float32(options.min_quantized_value), np.float32(options.max_quantized_value)
    if not (high > low and high >= low + _EPSILON):  # far from 0 the epsilon adds nothing
        raise InvalidArgumentError(
            f"max_quantized_value is {high}, min_quantized_value {low}; the first must be the larger"
        )
    return low, high
