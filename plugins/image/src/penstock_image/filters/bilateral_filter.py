"""Noise smoothed away without blurring edges: the bilateral filter."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import cv2

import penstock
from penstock.errors import InvalidArgumentError
from penstock_formats import ImageFormat, ImageFrame
from penstock_formats.api import pass_header
from penstock_image.frame_checks import expect_format, refuse_gpu
from penstock_image.messages.bilateral_filter_pb2 import BilateralFilterCalculatorOptions

if TYPE_CHECKING:
    from penstock import CalculatorContext, CalculatorContract

_FORMATS: Final = (ImageFormat.GRAY8, ImageFormat.SRGB, ImageFormat.LAB8, ImageFormat.VEC32F1)
#: Of a channel of 8 bits; sigma_color is a share of it.
_RANGE: Final = 255.0
#: The work for a pixel grows with the square of the radius: at 100 a frame of 1280x720 takes many seconds.
_WIDEST: Final = 100.0


class BilateralFilterCalculator(penstock.Calculator):
    """Smooth each frame, but not across edges: each pixel becomes a mean of similar ones near it.

    Input: IMAGE (ImageFrame, GRAY8, SRGB, LAB8 or VEC32F1). Output: IMAGE (ImageFrame, format and size of the
    input, new memory). The stream header is forwarded. Timestamp offset 0. OpenCV runs without the GIL.
    IMAGE_GPU needs a GPU pack's calculator, and so does GUIDE: the joint filter is in none of the OpenCV that
    this pack requires, nor in the reference in main memory.

    Options `BilateralFilterCalculatorOptions`: `sigma_color`, how different colours may be that are mixed, as
    a share of 255; `sigma_space`, the radius in pixels, at most 100: the neighbourhood is `2 * sigma_space`
    pixels wide, cut off to a whole number, or follows from OpenCV's rule where that is 0. The time for a
    frame grows with the square of the radius.

    Raises when the graph is loaded: InvalidArgumentError if GUIDE is connected. In `open`: the same for an
    option below 0, or a larger `sigma_space`. In `process`: the same for a frame of another format.

    Source of the behaviour: MediaPipe `calculators/image/bilateral_filter_calculator.cc`; the results equal
    those of OpenCV `bilateralFilter` bit by bit.

    Config::

        node {
          calculator: "BilateralFilterCalculator"
          input_stream: "IMAGE:frame"
          output_stream: "IMAGE:smooth"
          node_options {
            [type.googleapis.com/penstock.BilateralFilterCalculatorOptions] {
              sigma_color: 0.1
              sigma_space: 3
            }
          }
        }
    """

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Declare the frames.

        Raises:
            InvalidArgumentError: GUIDE, or an image on the GPU, is connected.
        """
        refuse_gpu(cc)
        if "GUIDE" in cc.inputs:
            raise InvalidArgumentError(
                f"node {cc.node_name!r}: GUIDE is connected, but there is no joint filter in main memory; "
                "leave GUIDE out"
            )
        cc.inputs["IMAGE"].set(ImageFrame, "frames (GRAY8, SRGB, LAB8, VEC32F1)")
        cc.outputs["IMAGE"].set(ImageFrame, "smooth frames")
        cc.set_timestamp_offset(0)
        cc.declare(may_skip=False, stateless=True)

    def open(self, cc: CalculatorContext) -> None:
        """Check the options; forward the stream header."""
        options = cc.options(BilateralFilterCalculatorOptions)
        if not (options.sigma_color >= 0 and 0 <= options.sigma_space <= _WIDEST):
            raise InvalidArgumentError(
                f"the filter's sigma_color is {options.sigma_color:g} and sigma_space "
                f"{options.sigma_space:g}, but both must be 0 or more, and sigma_space at most {_WIDEST:g}; "
                "change the options"
            )
        self._color = options.sigma_color * _RANGE
        self._space = options.sigma_space
        pass_header(cc.inputs["IMAGE"], cc.outputs["IMAGE"])

    def process(self, cc: CalculatorContext) -> None:
        """Filter one frame."""
        frame: ImageFrame | None = cc.inputs["IMAGE"].payload
        if frame is None:
            return
        expect_format(frame, _FORMATS, "IMAGE", "put a ColorConvertCalculator before")
        smooth = cv2.bilateralFilter(frame.array, int(self._space * 2), self._color, self._space)
        cc.outputs["IMAGE"].add(ImageFrame(smooth, frame.format), cc.stamp)
