"""StringTo...Calculator: turns a side packet of digits into a number in the range of a C++ type.

There are six calculators for the one `int` of Python, because a graph names the range by the calculator.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, ClassVar, Final

import penstock
from penstock.errors import InvalidArgumentError

if TYPE_CHECKING:
    from penstock import CalculatorContext, CalculatorContract

#: Decimal digits, at most one sign, ASCII white space around them. `int` would also accept underscores
#: and the digits of other scripts.
_DECIMAL: Final = re.compile(r"[ \t\n\v\f\r]*([+-]?[0-9]+)[ \t\n\v\f\r]*")
#: The digits of 2**64 - 1. A number with more, without leading zeros, is out of every range.
_MOST_DIGITS: Final = 20


class _StringToInteger(penstock.Calculator):
    """Reads a str side packet as a decimal number and writes it as an int side packet.

    Subclasses set the allowed range, and so whether a minus is allowed.
    """

    bits: ClassVar[int]
    is_signed: ClassVar[bool]

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Declare a str, and the int in it."""
        cc.input_side_packets[0].set(str, "decimal digits")
        cc.output_side_packets[0].set(int, "the number")
        cc.declare(may_skip=False, stateless=True)

    def open(self, cc: CalculatorContext) -> None:
        """Read the number.

        Raises:
            InvalidArgumentError: there is no number, or it is out of range; no side packet is made then.
        """
        text = cc.input_side_packets[0].get(str)
        lowest = -(2 ** (self.bits - 1)) if self.is_signed else 0
        highest = 2 ** (self.bits - 1 if self.is_signed else self.bits) - 1
        number = _parsed(text)
        if number is None or not lowest <= number <= highest or ("-" in text and not self.is_signed):
            shown = text if len(text) <= 2 * _MOST_DIGITS else f"{text[: 2 * _MOST_DIGITS]}..."
            raise InvalidArgumentError(
                f"the string {shown!r} could not be parsed as an integer; {type(self).__name__} takes "
                f"decimal digits between {lowest} and {highest}"
            )
        cc.output_side_packets[0].set(number)


def _parsed(text: str) -> int | None:
    """Return the number in a text; None if it is not a number, or has too many digits."""
    match = _DECIMAL.fullmatch(text)
    if match is None:
        return None
    digits = match[1].lstrip("+-").lstrip("0")
    if len(digits) > _MOST_DIGITS:
        return None
    return -int(digits or "0") if match[1].startswith("-") else int(digits or "0")


class StringToInt32Calculator(_StringToInteger):
    """Reads a str side packet as a decimal number between -2**31 and 2**31 - 1, an int side packet.

    ASCII white space around it and one sign are allowed; underscores and "0x" are not. A str that is not
    such a number ends the run with INVALID_ARGUMENT when the node opens. There are no streams, so nothing
    depends on arrival. The others of this kind are `StringToIntCalculator` (the same range),
    `StringToInt64Calculator` (64 bits), and, where any minus is an error, even "-0",
    `StringToUintCalculator` and `StringToUint32Calculator` (0 to 2**32 - 1) and
    `StringToUint64Calculator` (0 to 2**64 - 1).

    Source of the behaviour: MediaPipe `calculators/core/string_to_int_calculator.cc`, and runs of it.

    Example config::

        node {
          calculator: "StringToInt32Calculator"
          input_side_packet: "camera_text"
          output_side_packet: "camera"
        }
    """

    bits = 32
    is_signed = True


class StringToIntCalculator(StringToInt32Calculator):
    """Reads a str side packet as a decimal number between -2**31 and 2**31 - 1, an int side packet.

    The same as `StringToInt32Calculator`, which documents the rules.

    Example config::

        node {
          calculator: "StringToIntCalculator"
          input_side_packet: "camera_text"
          output_side_packet: "camera"
        }
    """


class StringToUint32Calculator(_StringToInteger):
    """Reads a str side packet as a decimal number between 0 and 2**32 - 1, an int side packet.

    The rules of `StringToInt32Calculator` hold, but any minus is an error.

    Example config::

        node {
          calculator: "StringToUint32Calculator"
          input_side_packet: "limit_text"
          output_side_packet: "limit"
        }
    """

    bits = 32
    is_signed = False


class StringToUintCalculator(StringToUint32Calculator):
    """Reads a str side packet as a decimal number between 0 and 2**32 - 1, an int side packet.

    The same as `StringToUint32Calculator`; its rules are those of `StringToInt32Calculator`, but any
    minus is an error.

    Example config::

        node {
          calculator: "StringToUintCalculator"
          input_side_packet: "limit_text"
          output_side_packet: "limit"
        }
    """


class StringToInt64Calculator(_StringToInteger):
    """Reads a str side packet as a decimal number between -2**63 and 2**63 - 1, an int side packet.

    The rules of `StringToInt32Calculator` hold, in a wider range.

    Example config::

        node {
          calculator: "StringToInt64Calculator"
          input_side_packet: "start_text"
          output_side_packet: "start_us"
        }
    """

    bits = 64
    is_signed = True


class StringToUint64Calculator(_StringToInteger):
    """Reads a str side packet as a decimal number between 0 and 2**64 - 1, an int side packet.

    The rules of `StringToInt32Calculator` hold, but any minus is an error.

    Example config::

        node {
          calculator: "StringToUint64Calculator"
          input_side_packet: "seed_text"
          output_side_packet: "seed"
        }
    """

    bits = 64
    is_signed = False
