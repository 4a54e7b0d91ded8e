"""Edges of a grey image by the Sobel filter, in main memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import cv2

import penstock
from penstock_formats import ImageFormat, ImageFrame
from penstock_formats.api import pass_header
from penstock_image.frame_checks import expect_format

if TYPE_CHECKING:
    from penstock import CalculatorContext, CalculatorContract

_FORMATS: Final = (ImageFormat.GRAY8,)


class SobelEdgesCalculatorCpu(penstock.Calculator):
    """Compute the strength of the edges in each frame, as SobelEdgesCalculator does on the GPU.

    Input: VIDEO, or a single untagged stream (ImageFrame, GRAY8). Output: VIDEO or untagged (ImageFrame,
    GRAY8, new memory, of the same size: the length of the gradient by the Sobel filter of 3 x 3 pixels,
    rounded, at most 255). Beyond the border the outermost pixels are repeated. It differs from
    SobelEdgesCalculator of penstock-gpu in its types, and in that the result has one channel; values differ
    by at most 1 of 255. The stream header is forwarded. Timestamp offset 0. OpenCV runs without the GIL.

    Raises in `process`: InvalidArgumentError for a frame of another format.

    Source of the behaviour: MediaPipe `calculators/image/sobel_edges_calculator.cc`; OpenCV `Sobel` and
    `magnitude`.

    Config::

        node {
          calculator: "SobelEdgesCalculatorCpu"
          input_stream: "VIDEO:gray"
          output_stream: "VIDEO:edges"
        }
    """

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Declare the input and the output, each VIDEO or untagged."""
        cc.inputs["VIDEO" if "VIDEO" in cc.inputs else 0].set(ImageFrame, "grey frames (GRAY8)")
        cc.outputs["VIDEO" if "VIDEO" in cc.outputs else 0].set(ImageFrame, "strength of edges (GRAY8)")
        cc.set_timestamp_offset(0)
        cc.declare(may_skip=False, stateless=True)

    def open(self, cc: CalculatorContext) -> None:
        """Forward the stream header."""
        pass_header(cc.input, cc.output, format=ImageFormat.GRAY8)

    def process(self, cc: CalculatorContext) -> None:
        """Filter one frame."""
        frame: ImageFrame | None = cc.input.payload
        if frame is None:
            return
        expect_format(frame, _FORMATS, cc.input.name, "put a LuminanceCalculatorCpu before")
        across = cv2.Sobel(frame.array, cv2.CV_32F, 1, 0, borderType=cv2.BORDER_REPLICATE)
        down = cv2.Sobel(frame.array, cv2.CV_32F, 0, 1, borderType=cv2.BORDER_REPLICATE)
        edges = cv2.convertScaleAbs(cv2.magnitude(across, down, magnitude=across))
        cc.output.add(ImageFrame(edges, ImageFormat.GRAY8), cc.stamp)
