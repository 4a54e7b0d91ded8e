"""Merge...ToVectorCalculator: puts the packets of several streams at one timestamp into a list."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.errors import InvalidArgumentError
from penstock_calculators.lists.containers import ListOf, PerElementType

if TYPE_CHECKING:
    from penstock import CalculatorContext, CalculatorContract


class MergeToVectorCalculator(PerElementType):
    """Puts the packets of each timestamp into one list.

    One or more untagged inputs, each of single elements, to the only output (<T>): the payloads of the
    inputs that have a packet, in the order of the inputs::

        in 0  a . c
        in 1  x y .
        out   [a,x] [y] [c]

    The timestamp offset is 0; the output does not depend on the order of arrival, and no packet is
    dropped.

    Source of the behaviour: MediaPipe `calculators/core/merge_to_vector_calculator.h`.

    Example config::

        node {
          calculator: "<Name>"
          input_stream: "from_the_left"
          input_stream: "from_the_right"
          output_stream: "from_both"
        }
    """

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Take any number of single elements.

        Raises:
            InvalidArgumentError: there is no input.
        """
        if not cc.inputs.count(""):
            raise InvalidArgumentError("there is nothing to merge to a vector; connect untagged inputs")
        for i in range(cc.inputs.count("")):
            cc.inputs[i].set(cls.container.element_type, "an element")
        cc.outputs[0].set(cls.container.type, "the elements of all inputs, in their order")
        cc.set_timestamp_offset(0)
        cc.declare(may_skip=False, stateless=True)

    def process(self, cc: CalculatorContext) -> None:
        """Write the payloads as one list."""
        merged = [port.payload for port in cc.inputs if not port.is_empty()]
        cc.outputs[0].add(merged, cc.stamp)


MergeDetectionsToVectorCalculator = MergeToVectorCalculator.named(
    "MergeDetectionsToVectorCalculator", ListOf("Detection")
)
# an Image of the reference that is in main memory
MergeImagesToVectorCalculator = MergeToVectorCalculator.named(
    "MergeImagesToVectorCalculator", ListOf("ImageFrame")
)
