"""Grey by brightness, in main memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import cv2
import numpy as np

import penstock
from penstock_formats import ImageFormat, ImageFrame
from penstock_formats.api import pass_header
from penstock_image.frame_checks import expect_format

if TYPE_CHECKING:
    from penstock import CalculatorContext, CalculatorContract

_FORMATS: Final = (ImageFormat.SRGB, ImageFormat.SRGBA, ImageFormat.GRAY8)
#: Weights of red, green and blue. Source: MediaPipe `calculators/image/luminance_calculator.cc`; they are
#: those of ITU-R BT.709, rounded.
WEIGHTS: Final = (0.2125, 0.7154, 0.0721)
#: The same for each format with colours, (1, channels): alpha counts nothing.
_MATRICES: Final = {
    ImageFormat.SRGB: np.array([WEIGHTS]),
    ImageFormat.SRGBA: np.array([(*WEIGHTS, 0)]),
}


class LuminanceCalculatorCpu(penstock.Calculator):
    """Make each frame grey by its brightness, as LuminanceCalculator of penstock-gpu does on the GPU.

    Input: VIDEO, or a single untagged stream (ImageFrame, SRGB, SRGBA or GRAY8). Output: VIDEO or untagged
    (ImageFrame, GRAY8, new memory, of the same size: 0.2125 R + 0.7154 G + 0.0721 B, rounded; the frame
    itself if it is GRAY8). It differs from LuminanceCalculator in its types, and in that the result has one
    channel and no alpha; values differ by at most 1 of 255. The weights are those of BT.709;
    ColorConvertCalculator has those of BT.601. The stream header is forwarded with the new format. Timestamp
    offset 0. OpenCV runs without the GIL.

    Raises in `process`: InvalidArgumentError for a frame of another format.

    Source of the weights: MediaPipe `calculators/image/luminance_calculator.cc`; OpenCV `transform`.

    Config::

        node {
          calculator: "LuminanceCalculatorCpu"
          input_stream: "VIDEO:frame"
          output_stream: "VIDEO:gray"
        }
    """

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Declare the input and the output, each VIDEO or untagged."""
        cc.inputs["VIDEO" if "VIDEO" in cc.inputs else 0].set(ImageFrame, "frames (SRGB, SRGBA, GRAY8)")
        cc.outputs["VIDEO" if "VIDEO" in cc.outputs else 0].set(ImageFrame, "grey frames (GRAY8)")
        cc.set_timestamp_offset(0)
        cc.declare(may_skip=False, stateless=True)

    def open(self, cc: CalculatorContext) -> None:
        """Forward the stream header."""
        pass_header(cc.input, cc.output, format=ImageFormat.GRAY8)

    def process(self, cc: CalculatorContext) -> None:
        """Make one frame grey."""
        frame: ImageFrame | None = cc.input.payload
        if frame is None:
            return
        expect_format(frame, _FORMATS, cc.input.name, "put a ColorConvertCalculator before")
        weights = _MATRICES.get(frame.format)
        if weights is not None:
            frame = ImageFrame(cv2.transform(frame.array, weights), ImageFormat.GRAY8)
        cc.output.add(frame, cc.stamp)
