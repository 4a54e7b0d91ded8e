"""CountingSourceCalculator: a source of ascending ints, for tests and examples."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import penstock
from penstock.errors import InternalError, InvalidArgumentError, NotFoundError
from penstock.lowlevel import MAX, MIN

if TYPE_CHECKING:
    from penstock import CalculatorContext, CalculatorContract
    from penstock.lowlevel import Stop

#: int side packet → its description, its smallest and its largest value. A batch is in memory as a whole.
_NUMBERS: Final = {
    "MAX_COUNT": ("after how many batches to end", 0, MAX),
    "ERROR_COUNT": ("after how many batches to fail", 0, MAX),
    "BATCH_SIZE": ("packets in a batch, at most 1000000; default 1", 1, 1_000_000),
    "INITIAL_VALUE": ("the first number; default 0", MIN, MAX),
    "INCREMENT": ("from one number to the next; default 1", 1, MAX),
}


class CountingSourceCalculator(penstock.Calculator):
    """Writes INITIAL_VALUE, INITIAL_VALUE + INCREMENT, ..., each at the timestamp of the same number.

    Each call writes BATCH_SIZE packets. After MAX_COUNT batches the source ends; after ERROR_COUNT
    batches it fails instead, with INTERNAL; where both are equal it fails. One of the two must be
    connected. All are int side packets; those that the node does not connect have their defaults:
    BATCH_SIZE 1, INITIAL_VALUE 0, INCREMENT 1. If the bool side packet ERROR_ON_OPEN is true, the node
    fails when it opens, with NOT_FOUND. There are no inputs, so nothing depends on arrival.

    Source of the behaviour: MediaPipe `calculators/core/counting_source_calculator.cc`.

    Example config::

        node {
          calculator: "CountingSourceCalculator"
          input_side_packet: "MAX_COUNT:count"
          output_stream: "numbers"
        }
    """

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Declare the side packets; a connected one must be given.

        Raises:
            InvalidArgumentError: neither MAX_COUNT nor ERROR_COUNT is connected.
        """
        cc.outputs[0].set(int, "the numbers, each at its own timestamp")
        sides = cc.input_side_packets
        for tag, (description, *_) in _NUMBERS.items():
            sides[tag].set(int, description)
        sides["ERROR_ON_OPEN"].set(bool, "whether to fail when the node opens; default false")
        for tag in (*_NUMBERS, "ERROR_ON_OPEN"):
            if tag not in sides:
                sides[tag].optional()
        if "MAX_COUNT" not in sides and "ERROR_COUNT" not in sides:
            raise InvalidArgumentError(
                "neither the counting source's side packet MAX_COUNT nor ERROR_COUNT is connected, so there "
                "would be no end; connect one of them"
            )
        cc.declare(may_skip=False, stateless=False)

    def open(self, cc: CalculatorContext) -> None:
        """Read the side packets.

        Raises:
            InternalError: one is too small.
            InvalidArgumentError: one is too large.
            NotFoundError: ERROR_ON_OPEN is true.
        """
        sides = cc.input_side_packets
        if "ERROR_ON_OPEN" in sides and sides["ERROR_ON_OPEN"].get(bool):
            raise NotFoundError("the counting source fails as asked: side packet ERROR_ON_OPEN is true")
        self._batches_to_end = _number(cc, "MAX_COUNT")
        self._batches_to_error = _number(cc, "ERROR_COUNT")
        self._batch_size = _number(cc, "BATCH_SIZE", 1)
        self._next = _number(cc, "INITIAL_VALUE", 0)
        self._increment = _number(cc, "INCREMENT", 1)
        self._batches = 0

    def process(self, cc: CalculatorContext) -> Stop | None:
        """Write a batch, end, or fail.

        Raises:
            InternalError: ERROR_COUNT batches are written.
        """
        if self._batches == self._batches_to_error:
            raise InternalError(f"expected error: side packet ERROR_COUNT is {self._batches}")
        if self._batches == self._batches_to_end:
            return penstock.STOP
        for _ in range(self._batch_size):
            cc.output.add(self._next, self._next)
            self._next += self._increment
        self._batches += 1
        return None


def _number(cc: CalculatorContext, tag: str, default: int = -1) -> int:
    """Return an int side packet, or the default where it is not connected."""
    if tag not in cc.input_side_packets:
        return default
    number = cc.input_side_packets[tag].get(int)
    _, smallest, largest = _NUMBERS[tag]
    if number < smallest:
        raise InternalError(
            f"side packet {tag} of the counting source is {number}, but must be at least {smallest}"
        )
    if number > largest:
        raise InvalidArgumentError(
            f"side packet {tag} of the counting source is {number}, but must be at most {largest}"
        )
    return number
