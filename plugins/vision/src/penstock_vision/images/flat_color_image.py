"""FlatColorImageCalculator: images of one colour."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

import penstock
from penstock.errors import InvalidArgumentError
from penstock_formats import Color, Image, ImageFormat, ImageFrame, check_frame_size
from penstock_vision.messages.flat_color_image_pb2 import FlatColorImageCalculatorOptions

if TYPE_CHECKING:
    from penstock import CalculatorContext, CalculatorContract


class FlatColorImageCalculator(penstock.Calculator):
    """Makes images of one colour, of the size of others or of one that is set.

    Inputs, optional: IMAGE (Image: only its size counts) unless the size is set; COLOR (Color) unless the
    colour is set. Output IMAGE (Image, SRGB, new memory), or output side packet IMAGE, for which size and
    colour are set. Where an input has no packet, nothing is sent. Timestamp offset 0. Parts of a colour are
    cut to 0 and 255.

    Options `FlatColorImageCalculatorOptions`: `output_width`, `output_height` (pixels), `color`.

    Raises in the contract: InvalidArgumentError if size or colour comes in two ways or none, if not exactly
    one output is connected, or if it is the side packet and size or colour are not set. In `open`: the same
    for a size below 1, ResourceExhaustedError for one above the limits of images.

    Source of the behaviour: MediaPipe `calculators/util/flat_color_image_calculator.cc`.

    Config::

        node {
          calculator: "FlatColorImageCalculator"
          input_stream: "IMAGE:image"
          output_stream: "IMAGE:blank_image"
          options { [penstock.FlatColorImageCalculatorOptions.ext] { color { r: 255 g: 255 b: 255 } } }
        }
    """

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Declare the ports.

        Raises:
            InvalidArgumentError: as the class says.
        """
        options = cc.options(FlatColorImageCalculatorOptions)
        has_size = options.HasField("output_width") or options.HasField("output_height")
        for tag, is_set, what in (
            ("IMAGE", has_size, "output_width and output_height"),
            ("COLOR", options.HasField("color"), "color"),
        ):
            if (tag in cc.inputs) == is_set:
                found = f"{what} and the input {tag}" if is_set else f"neither {what} nor the input {tag}"
                raise InvalidArgumentError(f"the flat color image has {found}; exactly one of them is needed")
        sides = cc.output_side_packets
        if ("IMAGE" in cc.outputs) == ("IMAGE" in sides):
            raise InvalidArgumentError(
                "connect the flat color's IMAGE either as an output or as an output side packet"
            )
        if "IMAGE" in sides and len(cc.inputs):
            raise InvalidArgumentError(
                "the flat image at the output side packet IMAGE is made before any packet comes; set "
                "output_width, output_height and color in the options, and connect no input"
            )
        cc.inputs["IMAGE"].set(Image, "has the size").optional()
        cc.inputs["COLOR"].set(Color, "the colour").optional()
        cc.outputs["IMAGE"].set(Image, "the image").optional()
        sides["IMAGE"].set(Image, "the image").optional()
        cc.set_timestamp_offset(0)
        cc.declare(may_skip=False, stateless=True)

    def open(self, cc: CalculatorContext) -> None:
        """Take what is set; give the side packet.

        Raises:
            InvalidArgumentError: the size is below 1.
            ResourceExhaustedError: the size is above the limits of images.
        """
        options = cc.options(FlatColorImageCalculatorOptions)
        self._size: tuple[int, int] | None = None
        if "IMAGE" not in cc.inputs:
            self._size = (options.output_width, options.output_height)
            if min(self._size) < 1:
                raise InvalidArgumentError(
                    f"the flat image's output_width is {options.output_width} and output_height "
                    f"{options.output_height}, but both must be 1 or more; set them in the options"
                )
            check_frame_size(*self._size, "output_width and output_height")
        self._color = options.color if "COLOR" not in cc.inputs else None
        if "IMAGE" in cc.output_side_packets and self._size and self._color:
            cc.output_side_packets["IMAGE"].set(_flat(self._size, self._color))

    def process(self, cc: CalculatorContext) -> None:
        """Make one image."""
        if "IMAGE" not in cc.outputs or any(port.is_empty() for port in cc.inputs):
            return
        size, color = self._size, self._color
        if size is None:
            given = cc.inputs["IMAGE"].payload
            size = (given.width, given.height)
        if color is None:
            color = cc.inputs["COLOR"].payload
        cc.outputs["IMAGE"].add(_flat(size, color), cc.stamp)


def _flat(size: tuple[int, int], color: Color) -> Image:
    width, height = size
    pixels = np.empty((height, width, 3), np.uint8)
    pixels[:] = np.clip((color.r, color.g, color.b), 0, 255)
    return Image(ImageFrame(pixels, ImageFormat.SRGB))
