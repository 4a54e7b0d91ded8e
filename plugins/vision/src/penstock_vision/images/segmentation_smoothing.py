"""SegmentationSmoothingCalculator: masks that do not flicker."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

import penstock
from penstock.errors import InvalidArgumentError
from penstock_formats import Image, ImageFormat, ImageFrame
from penstock_vision.messages.segmentation_smoothing_pb2 import (
    SegmentationSmoothingCalculatorOptions,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from penstock import CalculatorContext, CalculatorContract, Input


#: Of a polynomial in (p - 0.5) squared: how uncertain a pixel of probability p is, 1 at 0.5. Source:
#: MediaPipe calculators/image/segmentation_smoothing_calculator.cc.
_COEFFICIENTS: Final = (5.68842, -0.748699, -57.8051, 291.309, -624.717)


class SegmentationSmoothingCalculator(penstock.Calculator):
    """Blend a mask with the one before it where it is uncertain.

    A pixel of probability 0.5 takes `combine_with_previous_ratio` of the previous mask, a certain one
    nothing.

    Inputs: MASK, MASK_PREVIOUS (Image of format VEC32F1, equal sizes). Output: MASK_SMOOTHED (Image
    VEC32F1, new memory; MASK itself where there is no MASK_PREVIOUS). Timestamp offset 0; without MASK
    nothing is sent.

    Options `SegmentationSmoothingCalculatorOptions`: `combine_with_previous_ratio` (0).

    Raises in `process`: InvalidArgumentError for another format, or sizes that differ.

    Source of the behaviour: MediaPipe `calculators/image/segmentation_smoothing_calculator.cc`.

    Config::

        node {
          calculator: "SegmentationSmoothingCalculator"
          input_stream: "MASK:mask"
          input_stream: "MASK_PREVIOUS:previous_mask"
          output_stream: "MASK_SMOOTHED:smoothed_mask"
          options {
            [penstock.SegmentationSmoothingCalculatorOptions.ext] { combine_with_previous_ratio: 0.9 }
          }
        }
    """

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Declare two masks in and one out."""
        cc.inputs["MASK"].set(Image, "a mask (VEC32F1)")
        cc.inputs["MASK_PREVIOUS"].set(Image, "the mask before it (VEC32F1)")
        cc.outputs["MASK_SMOOTHED"].set(Image, "the blended mask (VEC32F1)")
        cc.set_timestamp_offset(0)
        cc.declare(may_skip=False, stateless=True)

    def open(self, cc: CalculatorContext) -> None:
        """Take the ratio."""
        ratio = cc.options(SegmentationSmoothingCalculatorOptions).combine_with_previous_ratio
        self._ratio = np.float32(ratio)

    def process(self, cc: CalculatorContext) -> None:
        """Blend one mask."""
        source, previous = cc.inputs["MASK"], cc.inputs["MASK_PREVIOUS"]
        if source.is_empty():
            return
        if previous.is_empty():
            cc.outputs["MASK_SMOOTHED"].add_packet(source.packet)
            return
        new, old = _mask(source), _mask(previous)
        if new.shape != old.shape:
            raise InvalidArgumentError(
                f"inputs {source.name!r} and {previous.name!r} hold masks to smooth of "
                f"{new.shape[1]}x{new.shape[0]} and {old.shape[1]}x{old.shape[0]} pixels, but their sizes "
                "must be equal"
            )
        x = np.square(new - np.float32(0.5))
        sums = np.full_like(x, _COEFFICIENTS[-1])
        for factor in _COEFFICIENTS[-2::-1]:
            sums *= x
            sums += np.float32(factor)
        uncertainty = np.float32(1) - np.minimum(np.float32(1), x * sums)
        blended = new + (old - new) * (uncertainty * self._ratio)
        frame = ImageFrame(blended, ImageFormat.VEC32F1)
        cc.outputs["MASK_SMOOTHED"].add(Image(frame), cc.stamp)


def _mask(port: Input) -> NDArray[np.float32]:
    image: Image = port.payload
    if image.format is not ImageFormat.VEC32F1:
        raise InvalidArgumentError(
            f"input {port.name!r} holds {image!r}, but a mask to smooth is VEC32F1; convert it to float32 of "
            "one channel"
        )
    return image.array
