"""Clip...VectorSizeCalculator: keeps the first elements of each list."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.errors import InvalidArgumentError
from penstock_calculators.lists.containers import ListOf, PerElementType
from penstock_calculators.messages.clip_vector_size_pb2 import ClipVectorSizeCalculatorOptions

if TYPE_CHECKING:
    from penstock import CalculatorContext, CalculatorContract


class ClipVectorSizeCalculator(PerElementType):
    """Keeps the first elements of each list.

    Input 0 (<T>) to output 0 (the same): a list of at most `max_vec_size` elements is
    forwarded as it is, a longer one as a new, shorter list. The side packet, an int, replaces the
    option. The timestamp offset is 0; the output does not depend on the order of arrival, and no
    packet is dropped. `graph.ledger().cuts` says how many elements were cut.

    Options: `max_vec_size`, how many elements are kept (default 1; option and side packet must be 1 or more).

    Source of the behaviour: MediaPipe `calculators/core/clip_vector_size_calculator.h`.

    Example config::

        node {
          calculator: "<Name>"
          input_stream: "found"
          output_stream: "first_two_found"
          options {
            [penstock.ClipVectorSizeCalculatorOptions.ext] { max_vec_size: 2 }
          }
        }
    """

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Take one list and give one.

        Raises:
            InvalidArgumentError: `max_vec_size` is below 1.
        """
        _check_size(cc.options(ClipVectorSizeCalculatorOptions).max_vec_size, "max_vec_size")
        cc.inputs[0].set(cls.container.type, "the list")
        cc.outputs[0].set(cls.container.type, "its first elements")
        side = cc.input_side_packets[0].set(int, "how many elements are kept, instead of max_vec_size")
        if 0 not in cc.input_side_packets:
            side.optional()
        cc.set_timestamp_offset(0)
        cc.declare(may_skip=False, stateless=True)

    def open(self, cc: CalculatorContext) -> None:
        """Determine how many elements are kept.

        Raises:
            InvalidArgumentError: the side packet is below 1.
        """
        self._size = cc.options(ClipVectorSizeCalculatorOptions).max_vec_size
        self._limit = f"max_vec_size is {self._size}"
        if 0 in cc.input_side_packets:
            self._size = cc.input_side_packets[0].get(int)
            _check_size(self._size, "the side packet")
            self._limit = f"the side packet, which replaces max_vec_size, is {self._size}"

    def process(self, cc: CalculatorContext) -> None:
        """Forward a list that is short enough, shorten a longer one."""
        source = cc.inputs[0]
        if source.is_empty():
            return
        elements = self.container.elements(source)
        if len(elements) <= self._size:
            cc.outputs[0].add_packet(source.packet)
        else:
            cc.outputs[0].add(self.container.pack(elements[: self._size]), cc.stamp)
            source.count_cut(self._limit, len(elements) - self._size)


def _check_size(size: int, what: str) -> None:
    if size < 1:
        raise InvalidArgumentError(
            f"{what} is {size}, but at least one element of a clipped vector is kept; make it 1 or more"
        )


ClipDetectionVectorSizeCalculator = ClipVectorSizeCalculator.named(
    "ClipDetectionVectorSizeCalculator", ListOf("Detection")
)
ClipNormalizedRectVectorSizeCalculator = ClipVectorSizeCalculator.named(
    "ClipNormalizedRectVectorSizeCalculator", ListOf("NormalizedRect")
)
