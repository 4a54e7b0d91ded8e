"""...VectorHasMinSizeCalculator: whether a list has enough elements."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.errors import InvalidArgumentError
from penstock_formats import ClassificationList, NormalizedLandmarkList, NormalizedRect
from penstock_vision.element_types import ListCalculator
from penstock_vision.messages.has_min_size_pb2 import CollectionHasMinSizeCalculatorOptions

if TYPE_CHECKING:
    from penstock import CalculatorContext, CalculatorContract


class HasMinSizeCalculator(ListCalculator):
    """Say whether a list has a number of elements, or more.

    Input: ITERABLE (list[<T>]). Side packet 0 (int, optional, in place of the option). Output 0 (bool).
    Timestamp offset 0; without a list nothing is sent.

    Options `CollectionHasMinSizeCalculatorOptions`: `min_size` (0).

    Raises in `open`: InvalidArgumentError for a negative size.

    Source of the behaviour: MediaPipe `calculators/util/collection_has_min_size_calculator.h`.

    Config::

        node {
          calculator: "<Name>"
          input_stream: "ITERABLE:tracked"
          input_side_packet: "most"
          output_stream: "has_enough"
        }
    """

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Take a list, give a bool."""
        cc.inputs["ITERABLE"].set(list[cls.element], "the list")  # type: ignore[name-defined]  # known at run time
        cc.outputs[0].set(bool, "whether it has enough elements")
        side = cc.input_side_packets[0].set(int, "how many are enough, instead of min_size")
        if 0 not in cc.input_side_packets:
            side.optional()
        cc.set_timestamp_offset(0)
        cc.declare(may_skip=False, stateless=True)

    def open(self, cc: CalculatorContext) -> None:
        """Determine how many elements are enough."""
        sides = cc.input_side_packets
        least = cc.options(CollectionHasMinSizeCalculatorOptions).min_size
        self._least = sides[0].get(int) if 0 in sides else least
        if self._least < 0:
            raise InvalidArgumentError(f"the least size is {self._least}, but must be 0 or more")

    def process(self, cc: CalculatorContext) -> None:
        """Count the elements of one list."""
        source = cc.inputs["ITERABLE"]
        if not source.is_empty():
            cc.outputs[0].add(len(source.payload) >= self._least, cc.stamp)


NormalizedRectVectorHasMinSizeCalculator = HasMinSizeCalculator.named(
    "NormalizedRectVectorHasMinSizeCalculator", NormalizedRect
)
NormalizedLandmarkListVectorHasMinSizeCalculator = HasMinSizeCalculator.named(
    "NormalizedLandmarkListVectorHasMinSizeCalculator", NormalizedLandmarkList
)
ClassificationListVectorHasMinSizeCalculator = HasMinSizeCalculator.named(
    "ClassificationListVectorHasMinSizeCalculator", ClassificationList
)
