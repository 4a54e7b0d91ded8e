"""Get...VectorItemCalculator: takes one element out of each list."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.errors import InvalidArgumentError
from penstock_calculators.lists.containers import ListOf, PerElementType
from penstock_calculators.messages.get_vector_item_pb2 import GetVectorItemCalculatorOptions

if TYPE_CHECKING:
    from penstock import CalculatorContext, CalculatorContract


class GetVectorItemCalculator(PerElementType):
    """Takes one element out of each list.

    VECTOR (<T>) to ITEM (an element). Its index is the packet of INDEX (an int, from 0) at
    the same timestamp, or else the option `item_index`; without either there is no packet::

        VECTOR  abc abc  .  abc
        INDEX   2    .   0   .       (item_index: 1)
        ITEM    c    b   .   b

    A negative index is an error, and so is one past the last element unless `output_empty_on_oob` is set.
    Unused packets appear in the ledger: of VECTOR as "no index" and "index out of range", of INDEX as "no
    list". The timestamp offset is 0; the output does not depend on the order of arrival.

    Options: `item_index` (no default); `output_empty_on_oob`: write no packet for an index past the last
    element (default false). There must be an INDEX or an `item_index`.

    Source of the behaviour: MediaPipe `calculators/core/get_vector_item_calculator.h`.

    Example config::

        node {
          calculator: "<Name>"
          input_stream: "VECTOR:found"
          input_stream: "INDEX:which"
          output_stream: "ITEM:chosen"
          options {
            [penstock.GetVectorItemCalculatorOptions.ext] { item_index: 0 output_empty_on_oob: true }
          }
        }
    """

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Take a list and an optional index.

        Raises:
            InvalidArgumentError: neither INDEX nor `item_index` is given, or `item_index` is negative.
        """
        options = cc.options(GetVectorItemCalculatorOptions)
        if "INDEX" not in cc.inputs and not options.HasField("item_index"):
            raise InvalidArgumentError(
                "neither input INDEX nor the option item_index is given; connect INDEX, or set item_index"
            )
        if options.item_index < 0:
            raise InvalidArgumentError(
                f"item_index is {options.item_index}, but elements of the vector count from 0"
            )
        cc.inputs["VECTOR"].set(cls.container.type, "the list")
        cc.inputs["INDEX"].set(int, "index of the element, from 0").optional()
        cc.outputs["ITEM"].set(cls.container.element_type, "that element")
        cc.set_timestamp_offset(0)
        cc.declare(may_skip=True, stateless=True)

    def open(self, cc: CalculatorContext) -> None:
        """Read the options."""
        options = cc.options(GetVectorItemCalculatorOptions)
        self._has_index = "INDEX" in cc.inputs
        self._usual: int | None = options.item_index if options.HasField("item_index") else None
        self._may_miss = options.output_empty_on_oob

    def process(self, cc: CalculatorContext) -> None:
        """Write the element, if there are a list and an index.

        Raises:
            InvalidArgumentError: the index is negative, or past the last element and not allowed.
        """
        source = cc.inputs["VECTOR"]
        given = cc.inputs["INDEX"] if self._has_index else None
        if given is not None and given.is_empty():
            given = None
        if source.is_empty():
            if given is not None:
                given.count_dropped("no list")
            return
        index = self._usual if given is None else given.payload
        if index is None:
            source.count_dropped("no index")
            return
        elements = source.payload
        if index < 0 or (index >= len(elements) and not self._may_miss):
            raise InvalidArgumentError(
                f"stream {source.name!r}: the index is {index}, but the vector has {len(elements)} elements; "
                "elements count from 0, and output_empty_on_oob allows an index past the last",
                stream=source.name,
                timestamp=cc.stamp,
            )
        if index < len(elements):
            cc.outputs["ITEM"].add(elements[index], cc.stamp)
        else:
            source.count_dropped("index out of range")


GetClassificationListVectorItemCalculator = GetVectorItemCalculator.named(
    "GetClassificationListVectorItemCalculator", ListOf("ClassificationList")
)
GetDetectionVectorItemCalculator = GetVectorItemCalculator.named(
    "GetDetectionVectorItemCalculator", ListOf("Detection")
)
GetLandmarkListVectorItemCalculator = GetVectorItemCalculator.named(
    "GetLandmarkListVectorItemCalculator", ListOf("LandmarkList")
)
GetNormalizedLandmarkListVectorItemCalculator = GetVectorItemCalculator.named(
    "GetNormalizedLandmarkListVectorItemCalculator", ListOf("NormalizedLandmarkList")
)
GetNormalizedRectVectorItemCalculator = GetVectorItemCalculator.named(
    "GetNormalizedRectVectorItemCalculator", ListOf("NormalizedRect")
)
GetRectVectorItemCalculator = GetVectorItemCalculator.named("GetRectVectorItemCalculator", ListOf("Rect"))
