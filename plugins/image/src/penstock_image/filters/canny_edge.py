"""Edges of a grey image: the Canny filter."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import cv2
import numpy as np

import penstock
from penstock.errors import InvalidArgumentError
from penstock_formats import ImageFormat, ImageFrame
from penstock_formats.api import pass_header
from penstock_image.frame_checks import expect_format
from penstock_image.messages.canny_edge_pb2 import CannyEdgeCalculatorOptions

if TYPE_CHECKING:
    from penstock import CalculatorContext, CalculatorContract

_FORMATS: Final = (ImageFormat.GRAY8,)
_APERTURES: Final = (3, 5, 7)
#: Wider lines would fill the frame; the square that draws them takes width * width bytes.
_WIDEST: Final = 999


class CannyEdgeCalculator(penstock.Calculator):
    """Find the edges of each frame.

    Input: VIDEO, or a single untagged stream (ImageFrame, GRAY8). Output: VIDEO or untagged
    (ImageFrame, GRAY8, new memory, of the same size: 255 on an edge, 0 elsewhere). A stream header
    is forwarded. Timestamp offset 0. OpenCV runs without the GIL.

    Options `CannyEdgeCalculatorOptions`: `low_threshold` (100) and `high_threshold` (200) of the
    gradient, `aperture_size` (3; 5 or 7) of the Sobel kernel, `l2_gradient` (false), `line_width`
    (1; 3, 5, ... 999 pixels). They may change while the graph runs (`graph.set_options`).

    Raises in `open` and `options_changed`: InvalidArgumentError for another aperture_size, a negative
    low_threshold, one above high_threshold, or a line_width that is not odd or above 999. In `process`: the
    same for a frame that is not GRAY8.

    Source: OpenCV `Canny`, and `dilate` with a square for wider lines; the results equal its results bit
    by bit.

    Config::

        node {
          calculator: "CannyEdgeCalculator"
          input_stream: "VIDEO:gray"
          output_stream: "VIDEO:edges"
          node_options {
            [type.googleapis.com/penstock.CannyEdgeCalculatorOptions] {
              low_threshold: 100
              high_threshold: 200
              line_width: 3
            }
          }
        }
    """

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Declare the input and the output, each VIDEO or untagged."""
        cc.inputs["VIDEO" if "VIDEO" in cc.inputs else 0].set(ImageFrame, "grey frames (GRAY8)")
        cc.outputs["VIDEO" if "VIDEO" in cc.outputs else 0].set(ImageFrame, "edges: 255, else 0 (GRAY8)")
        cc.set_timestamp_offset(0)
        cc.declare(may_skip=False, stateless=True)

    def open(self, cc: CalculatorContext) -> None:
        """Check the options; forward the stream header."""
        self.options_changed(cc)
        pass_header(cc.input, cc.output, format=ImageFormat.GRAY8)

    def options_changed(self, cc: CalculatorContext) -> None:
        """Use other options from the coming frame on; see `graph.set_options`.

        Raises:
            InvalidArgumentError: as `open`, which the class describes.
        """
        options = cc.options(CannyEdgeCalculatorOptions)
        if options.aperture_size not in _APERTURES:
            raise InvalidArgumentError(
                f"the Canny filter's aperture_size is {options.aperture_size}, but must be 3, 5 or 7; change "
                "it in the options"
            )
        if not 0 <= options.low_threshold <= options.high_threshold:
            raise InvalidArgumentError(
                f"the Canny filter's low_threshold is {options.low_threshold:g} and high_threshold "
                f"{options.high_threshold:g}, but the low one must be 0 or more and not above the high one; "
                "change them in the options"
            )
        width = options.line_width
        if not 1 <= width <= _WIDEST or width % 2 == 0:
            raise InvalidArgumentError(
                f"the Canny filter's line_width is {width}, but must be an odd number from 1 to {_WIDEST}; "
                "change it in the options"
            )
        self._options = options
        self._square = None if width == 1 else np.ones((width, width), np.uint8)

    def process(self, cc: CalculatorContext) -> None:
        """Filter one frame."""
        frame: ImageFrame | None = cc.input.payload
        if frame is None:
            return
        expect_format(frame, _FORMATS, cc.input.name, "put a ColorConvertCalculator with GRAY_OUT before")
        options = self._options
        edges = cv2.Canny(
            frame.array,
            options.low_threshold,
            options.high_threshold,
            apertureSize=options.aperture_size,
            L2gradient=options.l2_gradient,
        )
        if self._square is not None:
            edges = cv2.dilate(edges, self._square)
        cc.output.add(ImageFrame(edges, ImageFormat.GRAY8), cc.stamp)
