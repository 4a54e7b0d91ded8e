"""The alpha channel of each frame, set to one value or taken from a mask."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import cv2
import numpy as np

import penstock
from penstock.errors import InvalidArgumentError
from penstock_formats import ImageFormat, ImageFrame
from penstock_formats.api import pass_header
from penstock_image.frame_checks import expect_format, expect_same_size, refuse_gpu
from penstock_image.messages.set_alpha_pb2 import SetAlphaCalculatorOptions

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from penstock import CalculatorContext, CalculatorContract

_MOST: Final = 255
_ALPHA: Final = 3
#: Looked up once: a member of an enumeration takes as long as a call.
_SRGB, _SRGBA, _GRAY8 = ImageFormat.SRGB, ImageFormat.SRGBA, ImageFormat.GRAY8
_FORMATS: Final = (_SRGB, _SRGBA)
_MASKS: Final = (
    ImageFormat.GRAY8,
    ImageFormat.SRGB,
    ImageFormat.SRGBA,
    ImageFormat.SBGRA,
    ImageFormat.LAB8,
    ImageFormat.VEC32F1,
    ImageFormat.VEC32F2,
    ImageFormat.VEC32F4,
)


class SetAlphaCalculator(penstock.Calculator):
    """Give each frame an alpha channel, or replace the one that it has.

    Inputs: IMAGE (ImageFrame, SRGB or SRGBA), and ALPHA (optional; ImageFrame of 8 bits or float32 and of the
    same size, of which the first channel counts: 0 to 255, or 0 to 1 if it is float32). Output: IMAGE
    (ImageFrame, SRGBA, new memory). The alpha comes from either ALPHA or the option `alpha_value`. With ALPHA
    a frame at whose timestamp ALPHA has no packet gets 0 everywhere; without a frame nothing is sent. Values
    of float32 are rounded, halves up; those outside of 0 to 1 count as 0 or 1. The stream header of IMAGE is
    forwarded with the new format. Timestamp offset 0. OpenCV runs without the GIL. IMAGE_GPU needs a GPU
    pack's calculator.

    Options `SetAlphaCalculatorOptions`: `alpha_value` (-1: from ALPHA; 0 to 255, above that counts as 255).

    Raises in `open`: InvalidArgumentError for both `alpha_value` and ALPHA, or neither. In `process`: the
    same for a frame or a mask of another format, or a mask of another size.

    Source of the behaviour: MediaPipe `calculators/image/set_alpha_calculator.cc`, whose results within these
    ranges are equal bit by bit.

    Config::

        node {
          calculator: "SetAlphaCalculator"
          input_stream: "IMAGE:frame"
          input_stream: "ALPHA:mask"
          output_stream: "IMAGE:cut_out"
        }
    """

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Declare the frames and the mask."""
        refuse_gpu(cc)
        cc.inputs["IMAGE"].set(ImageFrame, "frames (SRGB, SRGBA)")
        cc.inputs["ALPHA"].set(ImageFrame, "their alpha, 0 to 255, or 0 to 1 if float32").optional()
        cc.outputs["IMAGE"].set(ImageFrame, "frames with alpha (SRGBA)")
        cc.set_timestamp_offset(0)
        cc.declare(may_skip=False, stateless=False)

    def open(self, cc: CalculatorContext) -> None:
        """Check the option; forward the stream header."""
        value = cc.options(SetAlphaCalculatorOptions).alpha_value
        has_mask = "ALPHA" in cc.inputs
        if (value >= 0) == has_mask:
            raise InvalidArgumentError(
                f"alpha_value is {value}, and input ALPHA is {'' if has_mask else 'not '}connected, "
                "but exactly one of them gives the alpha; connect ALPHA, or set alpha_value to 0 to 255"
            )
        self._value = min(max(value, 0), _MOST)
        self._plane: NDArray[Any] = np.empty((0, 0), np.uint8)
        self._has_mask = has_mask
        pass_header(cc.inputs["IMAGE"], cc.outputs["IMAGE"], format=ImageFormat.SRGBA)

    def process(self, cc: CalculatorContext) -> None:
        """Set the alpha of one frame."""
        frame: ImageFrame | None = cc.inputs["IMAGE"].payload
        if frame is None:
            return
        kind = frame.format
        if kind not in _FORMATS:
            expect_format(frame, _FORMATS, "IMAGE", "put a ColorConvertCalculator before")
        mask: ImageFrame | None = cc.inputs["ALPHA"].payload if self._has_mask else None
        alpha = self._even(frame) if mask is None else _alpha_of(mask, frame)
        image: Any
        if kind is _SRGB:
            image = cv2.cvtColor(frame.array, cv2.COLOR_RGB2RGBA)
        else:
            image = np.array(frame.array, order="C")
        cv2.insertChannel(alpha, image, _ALPHA)
        cc.outputs["IMAGE"].add(ImageFrame(image, _SRGBA), cc.stamp)

    def _even(self, frame: ImageFrame) -> NDArray[Any]:
        """Return the plane of one value, kept for the frames of the same size."""
        if self._plane.shape != (frame.height, frame.width):
            self._plane = np.full((frame.height, frame.width), self._value, np.uint8)
        return self._plane


def _alpha_of(mask: ImageFrame, frame: ImageFrame) -> NDArray[Any]:
    """Return the first channel of a mask in 8 bits."""
    kind = mask.format
    if kind not in _MASKS:
        expect_format(mask, _MASKS, "ALPHA", "make it a mask of 8 bits or float32")
    expect_same_size(mask, "ALPHA", frame, "IMAGE")
    if kind is _GRAY8:
        return mask.array
    plane: Any = mask.array if kind.channels == 1 else cv2.extractChannel(mask.array, 0)
    if plane.dtype == np.uint8:
        return np.asarray(plane)
    # OpenCV rounds halves to even numbers; a half more, cut off, rounds them up, as the reference does.
    scaled: NDArray[Any] = np.multiply(plane, np.float32(_MOST))
    np.nan_to_num(scaled, copy=False)
    np.clip(scaled, 0, _MOST, out=scaled)
    scaled += np.float32(0.5)
    rounded: NDArray[Any] = scaled.astype(np.uint8)
    return rounded
