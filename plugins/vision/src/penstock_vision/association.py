"""AssociationNormRectCalculator: joins lists of rectangles so that the same thing appears once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal

import penstock
from penstock.errors import InternalError, InvalidArgumentError
from penstock_formats import NormalizedRect
from penstock_vision.association_calculator_pb2 import AssociationCalculatorOptions
from penstock_vision.boxes import Box, intersection_over_union
from penstock_vision.single_precision import f32

if TYPE_CHECKING:
    from penstock import CalculatorContext, CalculatorContract

_NEEDED: Final[tuple[Literal["x_center", "y_center", "width", "height"], ...]] = (
    "x_center",
    "y_center",
    "width",
    "height",
)


class AssociationNormRectCalculator(penstock.Calculator):
    """Joins lists of rectangles; where two overlap, the later one stays.

    Inputs 0, 1, ... (list[NormalizedRect]), in order of rising priority; PREV (the same type) is accepted
    as in the reference, where it gives ids to elements that have them, which rectangles do not: it changes
    nothing. Output 0 (list[NormalizedRect]): the rectangles of all inputs without those
    that a later one overlaps. Timestamp offset 0. Whenever an input has a packet, a list is sent, maybe an
    empty one.

    Each rectangle, in order, removes all before it whose intersection over union with it is above
    `min_similarity_threshold`. Rotations do not count: a rectangle is compared as if it were upright.
    The first rectangle of the first list that is not empty is not checked.

    Options `AssociationCalculatorOptions`: `min_similarity_threshold` (1, so nothing is removed), 0 to 1.

    Raises in the contract: InvalidArgumentError without an untagged input. In `open`: the same for a
    negative threshold. In `process`: InternalError for a rectangle without centre or
    size.

    Source of the behaviour: MediaPipe `calculators/util/association_calculator.h` and
    `calculators/util/association_norm_rect_calculator.cc`.

    Config::

        node {
          calculator: "AssociationNormRectCalculator"
          input_stream: "rects_found"
          input_stream: "rects_tracked"
          output_stream: "rects"
          options {
            [penstock.AssociationCalculatorOptions.ext] { min_similarity_threshold: 0.5 }
          }
        }
    """

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Declare the lists that are joined, and the result.

        Raises:
            InvalidArgumentError: no untagged input is connected.
        """
        count = cc.inputs.count("")
        if not count:
            raise InvalidArgumentError("there are 0 untagged inputs; connect at least one list of rectangles")
        for i in range(count):
            cc.inputs[i].set(list[NormalizedRect], "wins over the inputs before" if i else "rectangles")
        cc.inputs["PREV"].set(list[NormalizedRect], "changes nothing").optional()
        cc.outputs[0].set(list[NormalizedRect], "all, without those that a later one overlaps")
        cc.set_timestamp_offset(0)
        cc.declare(may_skip=False, stateless=True)

    def open(self, cc: CalculatorContext) -> None:
        """Check the threshold.

        Raises:
            InvalidArgumentError: it is negative.
        """
        self._threshold = f32(cc.options(AssociationCalculatorOptions).min_similarity_threshold)
        if not self._threshold >= 0:
            raise InvalidArgumentError(
                f"min_similarity_threshold is {self._threshold:g}, but must be 0 to 1; change it in the "
                "options"
            )
        self._inputs = [cc.inputs[i] for i in range(cc.inputs.count(""))]

    def process(self, cc: CalculatorContext) -> None:
        """Join the lists of one timestamp."""
        kept: list[tuple[Box | None, NormalizedRect]] = []
        for port in self._inputs:
            if port.is_empty():
                continue
            for rect in port.payload:
                if kept:
                    self._add(rect, kept)
                else:
                    kept.append((None, rect))
        cc.outputs[0].add([rect for _, rect in kept], cc.stamp)

    def _add(self, rect: NormalizedRect, kept: list[tuple[Box | None, NormalizedRect]]) -> None:
        """Remove what `rect` overlaps, and append it."""
        box = _box(rect)
        kept[:] = [
            (other_box, other)
            for other_box, other in ((found or _box(one), one) for found, one in kept)
            if not intersection_over_union(box, other_box) > self._threshold
        ]
        kept.append((box, rect))


def _box(rect: NormalizedRect) -> Box:
    missing = ", ".join(name for name in _NEEDED if not rect.HasField(name))
    if missing:
        raise InternalError(
            f"a rectangle has no {missing}, so it cannot be compared with others; set all of x_center, "
            "y_center, width and height",
        )
    return Box.of(rect.x_center - rect.width / 2, rect.y_center - rect.height / 2, rect.width, rect.height)
