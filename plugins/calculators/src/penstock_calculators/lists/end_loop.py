"""EndLoop...Calculator: gathers the results of a loop's nodes for each element into one list."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from penstock import Timestamp
from penstock_calculators.lists.containers import (
    AFFINE_MATRICES,
    FRAMES,
    IMAGES,
    TENSORS,
    ListOf,
    PerElementType,
)

if TYPE_CHECKING:
    from penstock import CalculatorContext, CalculatorContract

#: The ledger's reason for an item that is in no result.
NO_BATCH_END = "no batch end followed"


class EndLoopCalculator(PerElementType):
    """Writes a <T> of the items since the last BATCH_END, at the timestamp that BATCH_END carries.

    The other end of a BeginLoop...Calculator: the items have timestamps of the loop's clock, and the list
    gets the timestamp of the list that the loop began with. If no item has come, because there were no
    elements or the loop dropped all of them, the output gets a bound instead of a list::

        ITEM       a@0 b@1 c@2   .       .       d@4
        BATCH_END  100@2         200@3           300@4
        ITERABLE   [a b c]@100   .       .       [d]@300      (bound at 200)

    Every node of the loop must settle each of the loop's timestamps, by a packet or a bound: the list waits
    for all elements up to BATCH_END. There is no offset, since outputs and inputs have different clocks.
    The output does not depend on the order of arrival. Items that no BATCH_END follows before the run ends
    appear in the ledger as "no batch end followed".

    Source of the behaviour: MediaPipe `calculators/core/end_loop_calculator.h`.

    Example config::

        node {
          calculator: "<Name>"
          input_stream: "ITEM:result_of_the_item"
          input_stream: "BATCH_END:time_of_the_items"
          output_stream: "ITERABLE:results"
        }
    """

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Declare the three ports; each must be connected."""
        cc.inputs["ITEM"].set(cls.container.element_type, "the loop's result for an element")
        cc.inputs["BATCH_END"].set(Timestamp, "the timestamp of the list, at the end of a batch")
        cc.outputs["ITERABLE"].set(cls.container.type, "the results of one list")
        cc.declare(may_skip=True, stateless=False)

    def open(self, cc: CalculatorContext) -> None:  # noqa: ARG002  # the signature of open
        """Begin without items."""
        self._items: list[Any] = []

    def process(self, cc: CalculatorContext) -> None:
        """Take an item; at the end of a batch, write the list."""
        if not cc.inputs["ITEM"].is_empty():
            self._items.append(cc.inputs["ITEM"].payload)
        if cc.inputs["BATCH_END"].is_empty():
            return
        began: Timestamp = cc.inputs["BATCH_END"].payload
        output = cc.outputs["ITERABLE"]
        if self._items:
            output.add(self.container.pack(self._items), began)
            self._items = []
        else:
            # not the next timestamp that a stream may have: after PRESTREAM it is MIN
            output.set_next_timestamp_bound(int(began) + 1)

    def close(self, cc: CalculatorContext) -> None:
        """Count the items that were not written as dropped."""
        cc.inputs["ITEM"].count_dropped(NO_BATCH_END, len(self._items))
        self._items = []


EndLoopAffineMatrixCalculator = EndLoopCalculator.named("EndLoopAffineMatrixCalculator", AFFINE_MATRICES)
EndLoopBooleanCalculator = EndLoopCalculator.named("EndLoopBooleanCalculator", ListOf(bool))
EndLoopClassificationListCalculator = EndLoopCalculator.named(
    "EndLoopClassificationListCalculator", ListOf("ClassificationList")
)
EndLoopDetectionCalculator = EndLoopCalculator.named("EndLoopDetectionCalculator", ListOf("Detection"))
EndLoopFloatCalculator = EndLoopCalculator.named("EndLoopFloatCalculator", ListOf(float))
EndLoopImageCalculator = EndLoopCalculator.named("EndLoopImageCalculator", IMAGES)
EndLoopImageFrameCalculator = EndLoopCalculator.named("EndLoopImageFrameCalculator", FRAMES)
# each a pair of width and height
EndLoopImageSizeCalculator = EndLoopCalculator.named("EndLoopImageSizeCalculator", ListOf(tuple[int, int]))
EndLoopLandmarkListVectorCalculator = EndLoopCalculator.named(
    "EndLoopLandmarkListVectorCalculator", ListOf("LandmarkList")
)
EndLoopMatrixCalculator = EndLoopCalculator.named("EndLoopMatrixCalculator", ListOf("Matrix"))
EndLoopNormalizedLandmarkListVectorCalculator = EndLoopCalculator.named(
    "EndLoopNormalizedLandmarkListVectorCalculator", ListOf("NormalizedLandmarkList")
)
EndLoopNormalizedRectCalculator = EndLoopCalculator.named(
    "EndLoopNormalizedRectCalculator", ListOf("NormalizedRect")
)
EndLoopRenderDataCalculator = EndLoopCalculator.named("EndLoopRenderDataCalculator", ListOf("RenderData"))
EndLoopTensorCalculator = EndLoopCalculator.named("EndLoopTensorCalculator", TENSORS)
EndLoopTfLiteTensorCalculator = EndLoopCalculator.named("EndLoopTfLiteTensorCalculator", TENSORS)
