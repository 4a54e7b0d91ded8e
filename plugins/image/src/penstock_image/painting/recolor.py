"""A colour blended into each frame by a mask."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import cv2
import numpy as np

import penstock
from penstock.errors import InvalidArgumentError
from penstock_formats import ImageFormat, ImageFrame
from penstock_formats.api import pass_header
from penstock_image.frame_checks import expect_format, refuse_gpu
from penstock_image.messages.recolor_pb2 import RecolorCalculatorOptions
from penstock_image.painting.shares import shares_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from penstock import CalculatorContext, CalculatorContract

_MOST: Final = 255
_ALPHA: Final = 3
#: Of red, green and blue in the luminance. Source: MediaPipe `calculators/image/recolor_calculator.cc`; they
#: are those of ITU-R BT.601.
_WEIGHTS: Final = (0.299, 0.587, 0.114)


class RecolorCalculator(penstock.Calculator):
    """Blend a colour into each frame where a mask says so, such as a new colour of hair.

    Inputs: IMAGE (ImageFrame, SRGB), and MASK (ImageFrame, GRAY8, SRGB, SRGBA or VEC32F1; 0 to 255, or 0 to
    1 if it is float32; a share below 0 counts as 0; a mask of another size is stretched linearly).
    Output: IMAGE (ImageFrame, SRGB, new memory). A frame without a mask at its timestamp is forwarded
    unchanged, and for a mask without a frame nothing is sent. The share of the colour in a pixel is the
    mask's value there, times the pixel's luminance (0.299 R + 0.587 G + 0.114 B, 0 to 1) unless
    `adjust_with_luminance` is false. Results differ from exact ones by at most 1 of 255. The stream header
    of IMAGE is forwarded. Timestamp offset 0. OpenCV runs without the GIL. IMAGE_GPU needs a GPU pack's
    calculator.

    Options `RecolorCalculatorOptions`: `color`, which must be set; `mask_channel`, RED (default; the first
    one) or ALPHA (the fourth) of a mask of several channels; `invert_mask` (false); `adjust_with_luminance`
    (true).

    Raises in `open`: InvalidArgumentError for a color that is missing or outside of 0 to 255. In `process`:
    the same for a frame or a mask of another format, or without the channel.

    Source of the behaviour: MediaPipe `calculators/image/recolor_calculator.cc`.

    Config::

        node {
          calculator: "RecolorCalculator"
          input_stream: "IMAGE:frame"
          input_stream: "MASK:hair_mask"
          output_stream: "IMAGE:recolored"
          node_options {
            [type.googleapis.com/penstock.RecolorCalculatorOptions] {
              color { r: 0 g: 0 b: 255 }
            }
          }
        }
    """

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Declare the frames and the mask."""
        refuse_gpu(cc)
        cc.inputs["IMAGE"].set(ImageFrame, "frames (SRGB)")
        cc.inputs["MASK"].set(ImageFrame, "share of the colour, 0 to 255, or 0 to 1 if float32")
        cc.outputs["IMAGE"].set(ImageFrame, "blended frames (SRGB)")
        cc.set_timestamp_offset(0)
        cc.declare(may_skip=False, stateless=True)

    def open(self, cc: CalculatorContext) -> None:
        """Check the options; forward the stream header."""
        options = cc.options(RecolorCalculatorOptions)
        if not options.HasField("color"):
            raise InvalidArgumentError("color is not set, but says how to recolor; set it in the options")
        self._color = (options.color.r, options.color.g, options.color.b)
        if not all(0 <= part <= _MOST for part in self._color):
            raise InvalidArgumentError(
                f"to recolor, color is {self._color}, but each part must be 0 to 255; change the options"
            )
        self._channel = _ALPHA if options.mask_channel == RecolorCalculatorOptions.ALPHA else 0
        self._inverts = options.invert_mask
        self._by_luminance = options.adjust_with_luminance
        pass_header(cc.inputs["IMAGE"], cc.outputs["IMAGE"])

    def process(self, cc: CalculatorContext) -> None:
        """Blend the colour into one frame."""
        frame: ImageFrame | None = cc.inputs["IMAGE"].payload
        if frame is None:
            return
        mask: ImageFrame | None = cc.inputs["MASK"].payload
        if mask is not None:
            expect_format(frame, (ImageFormat.SRGB,), "IMAGE", "put a ColorConvertCalculator before")
            frame = self._blended(frame, self._weight(mask, frame))
        cc.outputs["IMAGE"].add(frame, cc.stamp)

    def _weight(self, mask: ImageFrame, frame: ImageFrame) -> NDArray[Any]:
        """Return the share of the colour by the mask, (H, W) float32."""
        weight = shares_of(mask, self._channel, (frame.width, frame.height))
        return np.float32(1) - weight if self._inverts else weight

    def _blended(self, frame: ImageFrame, weight: NDArray[Any]) -> ImageFrame:
        channels = cv2.split(frame.array)  # new memory, in which the results are made
        own: Any = None
        if self._by_luminance:
            own = _luminance(channels)
            weight = np.asarray(cv2.multiply(weight, own, dst=own))
        # Results saturate above 1, as in the reference; below 0 the colour's part would lose its sign.
        weight = np.asarray(cv2.threshold(weight, 0, 0, cv2.THRESH_TOZERO, dst=own)[1])
        rest = np.float32(1) - weight
        share: Any = None
        for channel, part in zip(channels, self._color, strict=True):
            # each part is rounded by itself, as in the reference
            share = cv2.convertScaleAbs(weight, alpha=part, dst=share)
            cv2.multiply(channel, rest, dtype=cv2.CV_8U, dst=channel)
            cv2.add(channel, share, dst=channel)
        return ImageFrame(cv2.merge(channels), frame.format)


def _luminance(channels: Any) -> Any:
    """Return the luminance, (H, W) float32, 0 to 1, of red, green and blue."""
    red, green, blue = (weight / _MOST for weight in _WEIGHTS)
    light = cv2.addWeighted(channels[0], red, channels[1], green, 0, dtype=cv2.CV_32F)
    return cv2.addWeighted(light, 1, channels[2], blue, 0, dst=light, dtype=cv2.CV_32F)
