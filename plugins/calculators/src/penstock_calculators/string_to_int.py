"""StringTo...Calculator: a side packet of digits as a number, checked against the range of its C++ type.

What Python has as one `int` has six names here, because graphs say by the name which range they allow.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, ClassVar, Final

import penstock
from penstock.errors import InvalidArgumentError

if TYPE_CHECKING:
    from penstock import CalculatorContext, CalculatorContract

#: Decimal digits, at most one sign, ASCII white space around; `int` alone takes underscores and
#: the digits of other scripts too.
_DECIMAL: Final = re.compile(r"[ \t\n\v\f\r]*([+-]?[0-9]+)[ \t\n\v\f\r]*")
#: Of 2**64 - 1. A longer number, leading zeros aside, is out of every range, and may be too long for `int`.
_MOST_DIGITS: Final = 20


class _StringToInteger(penstock.Calculator):
    """Reads a str side packet as a decimal number and hands it on as an int side packet.

    Subclasses say which range is allowed, and so whether there may be a minus.
    """

    bits: ClassVar[int]
    is_signed: ClassVar[bool]

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Declare a str, and an int made of it."""
        cc.input_side_packets[0].set(str, "decimal digits")
        cc.output_side_packets[0].set(int, "the number")

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
    """Return the number that a text is; None where it is none, or has too many digits."""
    match = _DECIMAL.fullmatch(text)
    if match is None:
        return None
    digits = match[1].lstrip("+-").lstrip("0")
    if len(digits) > _MOST_DIGITS:
        return None
    return -int(digits or "0") if match[1].startswith("-") else int(digits or "0")


class StringToInt32Calculator(_StringToInteger):
    """Reads a str side packet as a decimal number between -2**31 and 2**31 - 1, an int side packet.

    ASCII white space around it and one sign are allowed, and nothing else: no underscores, no "0x".
    A str that is no such number ends the run with INVALID_ARGUMENT when the node opens. There are no
    streams, so nothing depends on arrival. Of the same kind are `StringToIntCalculator` (the same
    range), `StringToInt64Calculator` (64 bits), and, without a minus, not even "-0",
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

    The same as `StringToInt32Calculator`, where the rules stand.

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
