"""...VectorIndicesCalculator and ...VectorSizeCalculator: how many elements each list has."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock_calculators.lists.containers import ListOf, PerElementType

if TYPE_CHECKING:
    from penstock import CalculatorContext, CalculatorContract


class VectorIndicesCalculator(PerElementType):
    """Writes the indices of each list.

    VECTOR (<T>) to INDICES (list of int): 0 to n - 1 for a list of n elements, an empty
    list for an empty one. A loop over them can take each element by its index. The timestamp offset is 0;
    the output does not depend on the order of arrival, and no packet is dropped.

    Source of the behaviour: MediaPipe `calculators/core/vector_indices_calculator.h`.

    Example config::

        node {
          calculator: "<Name>"
          input_stream: "VECTOR:values"
          output_stream: "INDICES:indices"
        }
    """

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Take a list."""
        cc.inputs["VECTOR"].set(cls.container.type, "the list")
        cc.outputs["INDICES"].set(list[int], "0 to n - 1")
        cc.set_timestamp_offset(0)
        cc.declare(may_skip=False, stateless=True)

    def process(self, cc: CalculatorContext) -> None:
        """Count the elements."""
        source = cc.inputs["VECTOR"]
        if not source.is_empty():
            count = len(self.container.elements(source))
            cc.outputs["INDICES"].add(list(range(count)), cc.stamp)


class VectorSizeCalculator(PerElementType):
    """Writes the number of elements of each list.

    VECTOR (<T>) to SIZE (int). The timestamp offset is 0; the output does not depend on
    the order of arrival, and no packet is dropped.

    Source of the behaviour: MediaPipe `calculators/core/vector_size_calculator.h`.

    Example config::

        node {
          calculator: "<Name>"
          input_stream: "VECTOR:values"
          output_stream: "SIZE:how_many"
        }
    """

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Take a list."""
        cc.inputs["VECTOR"].set(cls.container.type, "the list")
        cc.outputs["SIZE"].set(int, "how many elements it has")
        cc.set_timestamp_offset(0)
        cc.declare(may_skip=False, stateless=True)

    def process(self, cc: CalculatorContext) -> None:
        """Count the elements."""
        source = cc.inputs["VECTOR"]
        if not source.is_empty():
            cc.outputs["SIZE"].add(len(self.container.elements(source)), cc.stamp)


IntVectorIndicesCalculator = VectorIndicesCalculator.named("IntVectorIndicesCalculator", ListOf(int))
NormalizedLandmarkListVectorIndicesCalculator = VectorIndicesCalculator.named(
    "NormalizedLandmarkListVectorIndicesCalculator", ListOf("NormalizedLandmarkList")
)
Uint64tVectorIndicesCalculator = VectorIndicesCalculator.named("Uint64tVectorIndicesCalculator", ListOf(int))

ClassificationListVectorSizeCalculator = VectorSizeCalculator.named(
    "ClassificationListVectorSizeCalculator", ListOf("ClassificationList")
)
LandmarkListVectorSizeCalculator = VectorSizeCalculator.named(
    "LandmarkListVectorSizeCalculator", ListOf("LandmarkList")
)
