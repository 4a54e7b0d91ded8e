"""Two images mixed by a mask, in main memory."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Any, Final

import attrs
import cv2
import numpy as np

import penstock
from penstock.errors import PenstockError, StatusCode
from penstock_formats import ImageFormat, ImageFrame
from penstock_formats.api import pass_header
from penstock_image.frame_checks import expect_format, expect_same_size
from penstock_image.painting.shares import shares_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from penstock import CalculatorContext, CalculatorContract

_IMAGES: Final = (ImageFormat.SRGB, ImageFormat.SRGBA)
_TAGS: Final = ("MASK", "CONST_MASK")


class MaskChannel(Enum):
    """The channel that counts in a mask of several."""

    #: The first.
    RED = 1
    #: The fourth.
    ALPHA = 2


@attrs.frozen
class MaskOverlayCalculatorCpuOptions:
    """What counts in a mask.

    Attributes:
        mask_channel: of a mask of several channels.
    """

    mask_channel: MaskChannel = MaskChannel.RED


class MaskOverlayCalculatorCpu(penstock.Calculator):
    """Mix two images by a mask, as MaskOverlayCalculator does on the GPU: 0 shows the first, 1 the second.

    Inputs: VIDEO:0 and VIDEO:1 (ImageFrame, both SRGB or both SRGBA, of one size); and either MASK
    (ImageFrame, GRAY8, SRGB, SRGBA or VEC32F1; 0 to 255, or 0 to 1 if it is float32; a mask of another size
    is stretched linearly) or CONST_MASK (float, for all pixels). Output: OUTPUT (ImageFrame, new memory,
    format and size of the images; all channels are mixed). At a timestamp without a mask VIDEO:1 is
    forwarded unchanged; a mask without both images gives no output. Shares outside of 0 to 1 extrapolate,
    up to the ends of the range. The stream header of VIDEO:0 is forwarded. Timestamp offset 0. OpenCV runs
    without the GIL.

    It differs from MaskOverlayCalculator of penstock-gpu in its types, and in that images of different size
    are refused. Results differ from exact ones by at most 1 of 255.

    Options `MaskOverlayCalculatorCpuOptions`: `mask_channel`, RED (default; the first one) or ALPHA (the
    fourth).

    Raises when the graph is loaded: PenstockError with the code NOT_FOUND if neither MASK nor CONST_MASK is
    connected, and with INVALID_ARGUMENT if both are. In `process`: InvalidArgumentError for images or a mask
    of another format, images of different format or size, or a mask without the channel.

    Source of the behaviour: MediaPipe `calculators/image/mask_overlay_calculator.cc`; OpenCV `blendLinear`.

    Config::

        node {
          calculator: "MaskOverlayCalculatorCpu"
          input_stream: "VIDEO:0:background"
          input_stream: "VIDEO:1:person"
          input_stream: "MASK:mask"
          output_stream: "OUTPUT:mixed"
        }
    """

    Options = MaskOverlayCalculatorCpuOptions

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Declare two images and a mask in, one image out.

        Raises:
            PenstockError: no mask is connected (NOT_FOUND), or both are (INVALID_ARGUMENT).
        """
        cc.inputs["VIDEO", 0].set(ImageFrame, "where the mask is 0 (SRGB, SRGBA)")
        cc.inputs["VIDEO", 1].set(ImageFrame, "where the mask is 1 (SRGB, SRGBA)")
        connected = [tag for tag in _TAGS if tag in cc.inputs]
        if len(connected) != 1:
            raise PenstockError(
                f"node {cc.node_name!r}: {' and '.join(connected) or 'no mask'} is connected; connect either "
                "MASK or CONST_MASK",
                code=StatusCode.INVALID_ARGUMENT if connected else StatusCode.NOT_FOUND,
            )
        cc.inputs["MASK"].set(ImageFrame, "shares of VIDEO:1; or CONST_MASK").optional()
        cc.inputs["CONST_MASK"].set(float, "share of VIDEO:1, 0 to 1; or MASK").optional()
        cc.outputs["OUTPUT"].set(ImageFrame, "the mix")
        cc.set_timestamp_offset(0)
        cc.declare(may_skip=False, stateless=True)

    def open(self, cc: CalculatorContext) -> None:
        """Read the options; forward the stream header of VIDEO:0."""
        channel = cc.options(MaskOverlayCalculatorCpuOptions).mask_channel
        self._channel = 3 if channel is MaskChannel.ALPHA else 0
        self._mask = next(tag for tag in _TAGS if tag in cc.inputs)
        pass_header(cc.inputs["VIDEO", 0], cc.outputs["OUTPUT"])

    def process(self, cc: CalculatorContext) -> None:
        """Mix two images."""
        first, second, mask = cc.inputs["VIDEO", 0], cc.inputs["VIDEO", 1], cc.inputs[self._mask]
        if second.is_empty() or (first.is_empty() and not mask.is_empty()):
            return
        if mask.is_empty():
            cc.outputs["OUTPUT"].add_packet(second.packet)
            return
        below: ImageFrame = first.payload
        above: ImageFrame = second.payload
        expect_format(below, _IMAGES, "VIDEO:0", "put a ColorConvertCalculator before")
        expect_format(above, (below.format,), "VIDEO:1", "make both images one format")
        expect_same_size(above, "VIDEO:1", below, "VIDEO:0")
        mixed = self._mixed(below, above, mask.payload)
        cc.outputs["OUTPUT"].add(ImageFrame(mixed, below.format), cc.stamp)

    def _mixed(self, below: ImageFrame, above: ImageFrame, mask: ImageFrame | float) -> NDArray[Any]:
        if not isinstance(mask, ImageFrame):
            return np.asarray(cv2.addWeighted(below.array, 1 - mask, above.array, mask, 0))
        weight = shares_of(mask, self._channel, (below.width, below.height))
        return np.asarray(cv2.blendLinear(below.array, above.array, np.float32(1) - weight, weight))
