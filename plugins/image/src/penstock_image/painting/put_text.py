"""A line of text as an image."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import cv2
import numpy as np

import penstock
from penstock_formats import ImageFormat, ImageFrame

if TYPE_CHECKING:
    from penstock import CalculatorContext, CalculatorContract

#: Source of all numbers: MediaPipe `calculators/image/opencv_put_text_calculator.cc`.
_SIDE: Final = 640
_PLACE: Final = (15, 70)
_SCALE: Final = 3
_YELLOW: Final = (255, 255, 0, 255)
_THICKNESS: Final = 4


class OpenCvPutTextCalculator(penstock.Calculator):
    """Draw each text in yellow on an image that is transparent otherwise.

    Input: a single untagged stream (str; OpenCV 4 draws characters of ASCII, others as question marks;
    OpenCV 5 has other letters, smooth ones). Output: untagged (ImageFrame, SRGBA, 640 x 640 pixels, new
    memory: the text begins 15 pixels from the left, its line is 70 pixels from the top, and what is too
    long is cut). Timestamp offset 0. OpenCV runs without the GIL.

    Source of the behaviour: MediaPipe `calculators/image/opencv_put_text_calculator.cc`; OpenCV `putText`.

    Config::

        node {
          calculator: "OpenCvPutTextCalculator"
          input_stream: "text"
          output_stream: "image"
        }
    """

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Declare texts in, images out."""
        cc.inputs[0].set(str, "what to draw")
        cc.outputs[0].set(ImageFrame, "it, yellow on transparent (SRGBA)")
        cc.set_timestamp_offset(0)
        cc.declare(may_skip=False, stateless=True)

    def process(self, cc: CalculatorContext) -> None:
        """Draw one text."""
        if cc.input.is_empty():
            return
        image = np.zeros((_SIDE, _SIDE, 4), np.uint8)
        cv2.putText(image, cc.input.payload, _PLACE, cv2.FONT_HERSHEY_PLAIN, _SCALE, _YELLOW, _THICKNESS)
        cc.output.add(ImageFrame(image, ImageFormat.SRGBA), cc.stamp)
