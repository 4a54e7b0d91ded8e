"""Split...Calculator: writes parts of a list, by position, each to its own stream."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Any, ClassVar

from penstock.errors import InvalidArgumentError
from penstock_calculators.lists.containers import (
    AFFINE_MATRICES,
    FRAMES,
    IMAGES,
    TENSORS,
    ListOf,
    MessageOf,
    PerElementType,
)
from penstock_calculators.messages.split_pb2 import SplitVectorCalculatorOptions

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock import CalculatorContext, CalculatorContract


class SplitCalculator(PerElementType):
    """Writes the elements at given positions of a <T>, each range of them to its own stream.

    Output i has the elements of the i-th of the `ranges`, from its `begin` up to but not including its
    `end`, counted from 0. The input must reach as far as the furthest range. With ranges 0-1 and 1-3::

        in   [a b c d]
        0    [a]
        1    [b c]

    Options: `ranges`: see above; `element_only` (default false): every range has size 1, and the outputs
    are the elements themselves; `combine_outputs` (default false): there is one output, with the elements
    of all ranges in the order of the ranges, which then must not overlap.

    The timestamp offset is 0, and the output does not depend on the order of arrival.

    Source of the behaviour: MediaPipe `calculators/core/split_vector_calculator.h`.

    Example config::

        node {
          calculator: "<Name>"
          input_stream: "all"
          output_stream: "the_first"
          output_stream: "the_next_two"
          options {
            [penstock.SplitVectorCalculatorOptions.ext] {
              ranges { begin: 0 end: 1 }
              ranges { begin: 1 end: 3 }
            }
          }
        }
    """

    #: Whether ranges must not overlap: in the reference each element is moved to its only output.
    moves: ClassVar[bool] = False

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Declare an output for each range.

        Raises:
            InvalidArgumentError: the ranges do not fit the outputs, or one another.
        """
        options = cc.options(SplitVectorCalculatorOptions)
        _check_ranges(options, cc.outputs.count(""), cls.moves)
        single = options.element_only and not options.combine_outputs
        cc.inputs[0].set(cls.container.type, "the list to take apart")
        for i in range(max(cc.outputs.count(""), 1)):
            cc.outputs[i].set(
                cls.container.element_type if single else cls.container.type, "the elements of the range"
            )
        cc.set_timestamp_offset(0)
        cc.declare(may_skip=False, stateless=True)

    def open(self, cc: CalculatorContext) -> None:
        """Read the options."""
        options = cc.options(SplitVectorCalculatorOptions)
        self._ranges = [(one.begin, one.end) for one in options.ranges]
        self._furthest = max((end for _, end in self._ranges), default=0)
        self._combines = options.combine_outputs
        self._single = options.element_only

    def process(self, cc: CalculatorContext) -> None:
        """Cut out the ranges.

        Raises:
            InvalidArgumentError: the input does not reach as far as the furthest range.
            PacketTypeError: an element of a list has another type than the calculator's name says.
        """
        if cc.input.is_empty():
            return
        elements = self.container.elements(cc.input)
        if len(elements) < self._furthest:
            raise InvalidArgumentError(
                f"the list to split has {len(elements)} elements, but a range ends at {self._furthest}; give "
                "longer inputs, or leave out the range"
            )
        parts = [elements[begin:end] for begin, end in self._ranges]
        if self._combines:
            cc.output.add(self.container.pack([one for part in parts for one in part]), cc.stamp)
            return
        for output, part in zip(cc.outputs, parts, strict=True):
            output.add(self._made(part), cc.stamp)

    def _made(self, part: Sequence[Any]) -> object:
        return part[0] if self._single else self.container.pack(part)


class MovableSplitCalculator(SplitCalculator):
    """Writes the elements at given positions of a <T>, each range of them to its own stream.

    Like the Split...Calculators, but ranges must not overlap: an element goes to at most one output.
    Output i has the elements of the i-th of the `ranges`, from its `begin` up to but not including its
    `end`, counted from 0. The input must reach as far as the furthest range.

    Options: `ranges`: see above; `element_only` (default false): every range has size 1, and the outputs
    are the elements themselves; `combine_outputs` (default false): there is one output, with the elements
    of all ranges in the order of the ranges.

    The timestamp offset is 0, and the output does not depend on the order of arrival.

    Source of the behaviour: MediaPipe `calculators/core/split_vector_calculator.h`.

    Example config::

        node {
          calculator: "<Name>"
          input_stream: "all"
          output_stream: "the_first"
          output_stream: "the_third"
          options {
            [penstock.SplitVectorCalculatorOptions.ext] {
              ranges { begin: 0 end: 1 }
              ranges { begin: 2 end: 3 }
              element_only: true
            }
          }
        }
    """

    moves = True


def _check_ranges(options: SplitVectorCalculatorOptions, outputs: int, moves: bool) -> None:  # noqa: FBT001
    """Check the ranges.

    Raises:
        InvalidArgumentError: see `SplitCalculator.get_contract`.
    """
    combines = options.combine_outputs
    wanted = 1 if combines else len(options.ranges)
    if outputs != wanted or not outputs:
        why = "combine_outputs asks for 1" if combines else f"the option ranges has {wanted}"
        raise InvalidArgumentError(f"the split has {outputs} outputs, but {why}; each range needs an output")
    for one in options.ranges:
        # an empty range is allowed in a combined output, but an output of its own would be useless
        smallest = one.begin if combines else one.begin + 1
        if one.begin < 0 or one.end < smallest:
            raise InvalidArgumentError(
                f"range {one.begin} to {one.end} of the split: must begin at 0 or later, and end after its "
                "begin"
            )
        if options.element_only and not combines and one.end != one.begin + 1:
            raise InvalidArgumentError(
                f"range {one.begin} to {one.end} of the split: with element_only every range must have size "
                "1; give one range for each element, or leave element_only out"
            )
    if combines or moves:
        _check_disjoint(options)


def _check_disjoint(options: SplitVectorCalculatorOptions) -> None:
    for one, other in combinations(options.ranges, 2):
        if one.begin <= other.begin < one.end or other.begin <= one.begin < other.end:
            raise InvalidArgumentError(
                f"ranges {one.begin} to {one.end} and {other.begin} to {other.end} overlap; in this split "
                "each element may be in only one range"
            )


_split = SplitCalculator.named

SplitAffineMatrixVectorCalculator = _split("SplitAffineMatrixVectorCalculator", AFFINE_MATRICES)
SplitClassificationListVectorCalculator = _split(
    "SplitClassificationListVectorCalculator", ListOf("ClassificationList")
)
SplitDetectionVectorCalculator = _split("SplitDetectionVectorCalculator", ListOf("Detection"))
SplitFloatVectorCalculator = _split("SplitFloatVectorCalculator", ListOf(float))
SplitImageVectorCalculator = _split("SplitImageVectorCalculator", IMAGES)
SplitLandmarkVectorCalculator = _split("SplitLandmarkVectorCalculator", ListOf("NormalizedLandmark"))
SplitMatrixVectorCalculator = _split("SplitMatrixVectorCalculator", ListOf("Matrix"))
SplitNormalizedLandmarkListVectorCalculator = _split(
    "SplitNormalizedLandmarkListVectorCalculator", ListOf("NormalizedLandmarkList")
)
SplitNormalizedRectVectorCalculator = _split("SplitNormalizedRectVectorCalculator", ListOf("NormalizedRect"))
SplitTfLiteTensorVectorCalculator = _split("SplitTfLiteTensorVectorCalculator", TENSORS)
SplitUint64tVectorCalculator = _split("SplitUint64tVectorCalculator", ListOf(int))
MovableSplitImageFrameVectorCalculator = MovableSplitCalculator.named(
    "MovableSplitImageFrameVectorCalculator", FRAMES
)
# the reference moves tensors too, although the name does not say so
SplitTensorVectorCalculator = MovableSplitCalculator.named("SplitTensorVectorCalculator", TENSORS)

SplitJointListCalculator = _split("SplitJointListCalculator", MessageOf("JointList", "joint", "Joint"))
SplitLandmarkListCalculator = _split(
    "SplitLandmarkListCalculator", MessageOf("LandmarkList", "landmark", "Landmark")
)
SplitNormalizedLandmarkListCalculator = _split(
    "SplitNormalizedLandmarkListCalculator",
    MessageOf("NormalizedLandmarkList", "landmark", "NormalizedLandmark"),
)
