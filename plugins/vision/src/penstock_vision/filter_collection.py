"""Filter...CollectionCalculator: the elements of a list for which a second list says true."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.errors import InvalidArgumentError
from penstock_formats import ClassificationList, LandmarkList, NormalizedLandmarkList, NormalizedRect
from penstock_vision.element_types import ListCalculator

if TYPE_CHECKING:
    from penstock import CalculatorContext, CalculatorContract


class FilterCollectionCalculator(ListCalculator):
    """Keep the elements of a list for which a second list says true.

    Inputs: ITERABLE (list[<T>]) and CONDITION (list[bool], as long). Output: ITERABLE (list[<T>], the same
    objects, in order). Where one of the inputs has no packet, nothing is sent. Timestamp offset 0.

    Raises in `process`: InvalidArgumentError if the lists are not as long as each other.

    Source of the behaviour: MediaPipe `calculators/util/filter_collection_calculator.h`.

    Config::

        node {
          calculator: "<Name>"
          input_stream: "ITERABLE:found"
          input_stream: "CONDITION:is_good"
          output_stream: "ITERABLE:good"
        }
    """

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Take a list and a condition, give a list."""
        elements = list[cls.element]  # type: ignore[name-defined]  # known at run time
        cc.inputs["ITERABLE"].set(elements, "the list")
        cc.inputs["CONDITION"].set(list[bool], "which of its elements are kept")
        cc.outputs["ITERABLE"].set(elements, "these elements")
        cc.set_timestamp_offset(0)
        cc.declare(may_skip=False, stateless=True)

    def process(self, cc: CalculatorContext) -> None:
        """Filter one list."""
        source, condition = cc.inputs["ITERABLE"], cc.inputs["CONDITION"]
        if source.is_empty() or condition.is_empty():
            return
        if len(source.payload) != len(condition.payload):
            raise InvalidArgumentError(
                f"input {source.name!r} holds {len(source.payload)} elements and {condition.name!r} "
                f"{len(condition.payload)}, but the filter of a collection needs a condition for each; look "
                "at the nodes that made them"
            )
        pairs = zip(source.payload, condition.payload, strict=True)
        cc.outputs["ITERABLE"].add([element for element, is_kept in pairs if is_kept], cc.stamp)


FilterUInt64CollectionCalculator = FilterCollectionCalculator.named("FilterUInt64CollectionCalculator", int)
FilterNormalizedRectCollectionCalculator = FilterCollectionCalculator.named(
    "FilterNormalizedRectCollectionCalculator", NormalizedRect
)
FilterLandmarkListCollectionCalculator = FilterCollectionCalculator.named(
    "FilterLandmarkListCollectionCalculator", LandmarkList
)
FilterNormalizedLandmarkListCollectionCalculator = FilterCollectionCalculator.named(
    "FilterNormalizedLandmarkListCollectionCalculator", NormalizedLandmarkList
)
FilterClassificationListCollectionCalculator = FilterCollectionCalculator.named(
    "FilterClassificationListCollectionCalculator", ClassificationList
)
