"""Conversion between colour formats of 8 bits. Tags name both formats, such as RGB_IN and GRAY_OUT."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import cv2

import penstock
from penstock.errors import InvalidArgumentError
from penstock_formats import ImageFormat, ImageFrame
from penstock_formats.api import pass_header
from penstock_image.frame_checks import expect_format

if TYPE_CHECKING:
    from penstock import CalculatorContext, CalculatorContract

#: The format that each tag stands for. BGR has no format of its own: a frame at BGR_IN has format SRGB,
#: and its first channel is taken as blue.
_INPUTS: Final = {
    "RGBA_IN": ImageFormat.SRGBA,
    "RGB_IN": ImageFormat.SRGB,
    "BGR_IN": ImageFormat.SRGB,
    "BGRA_IN": ImageFormat.SBGRA,
    "GRAY_IN": ImageFormat.GRAY8,
}
_OUTPUTS: Final = {
    "RGBA_OUT": ImageFormat.SRGBA,
    "RGB_OUT": ImageFormat.SRGB,
    "BGRA_OUT": ImageFormat.SBGRA,
    "GRAY_OUT": ImageFormat.GRAY8,
}
#: OpenCV's conversion for each pair of tags; None where the frame itself is forwarded.
_CODES: Final[dict[tuple[str, str], int | None]] = {
    ("RGBA_IN", "RGBA_OUT"): None,
    ("RGBA_IN", "RGB_OUT"): cv2.COLOR_RGBA2RGB,
    ("RGBA_IN", "BGRA_OUT"): cv2.COLOR_RGBA2BGRA,
    ("RGBA_IN", "GRAY_OUT"): cv2.COLOR_RGBA2GRAY,
    ("RGB_IN", "RGBA_OUT"): cv2.COLOR_RGB2RGBA,
    ("RGB_IN", "RGB_OUT"): None,
    ("RGB_IN", "BGRA_OUT"): cv2.COLOR_RGB2BGRA,
    ("RGB_IN", "GRAY_OUT"): cv2.COLOR_RGB2GRAY,
    ("BGR_IN", "RGBA_OUT"): cv2.COLOR_BGR2RGBA,
    ("BGR_IN", "RGB_OUT"): cv2.COLOR_BGR2RGB,
    ("BGR_IN", "BGRA_OUT"): cv2.COLOR_BGR2BGRA,
    ("BGR_IN", "GRAY_OUT"): cv2.COLOR_BGR2GRAY,
    ("BGRA_IN", "RGBA_OUT"): cv2.COLOR_BGRA2RGBA,
    ("BGRA_IN", "RGB_OUT"): cv2.COLOR_BGRA2RGB,
    ("BGRA_IN", "BGRA_OUT"): None,
    ("BGRA_IN", "GRAY_OUT"): cv2.COLOR_BGRA2GRAY,
    ("GRAY_IN", "RGBA_OUT"): cv2.COLOR_GRAY2RGBA,
    ("GRAY_IN", "RGB_OUT"): cv2.COLOR_GRAY2RGB,
    ("GRAY_IN", "BGRA_OUT"): cv2.COLOR_GRAY2BGRA,
    ("GRAY_IN", "GRAY_OUT"): None,
}


class ColorConvertCalculator(penstock.Calculator):
    """Convert each frame to another colour format.

    Inputs, exactly one: RGBA_IN, RGB_IN, BGR_IN, BGRA_IN or GRAY_IN (ImageFrame of SRGBA, SRGB,
    SRGB with blue first, SBGRA, GRAY8). Outputs, exactly one: RGBA_OUT, RGB_OUT, BGRA_OUT or GRAY_OUT
    (ImageFrame, new memory; the frame itself where both tags mean the same format). Grey is the BT.601
    luma 0.299 R + 0.587 G + 0.114 B, rounded, as OpenCV computes it; a new alpha channel is 255. A
    stream header is forwarded with the new format. Timestamp offset 0. OpenCV runs without the GIL.

    Raises in `process`: InvalidArgumentError for a frame of another format than the input's tag names.

    Config::

        node {
          calculator: "ColorConvertCalculator"
          input_stream: "RGB_IN:frame"
          output_stream: "GRAY_OUT:gray"
        }
    """

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Declare the one input and the one output.

        Raises:
            InvalidArgumentError: there is not exactly one port at a side, or its tag names no format.
        """
        for specs, known, side in ((cc.inputs, _INPUTS, "input"), (cc.outputs, _OUTPUTS, "output")):
            tags = [tag if index == 0 else f"{tag}:{index}" for tag, index in specs.ids()]
            if len(tags) != 1 or tags[0] not in known:
                given = ", ".join(repr(tag) for tag in tags) or "none"
                raise InvalidArgumentError(
                    f"node {cc.node_name!r}: its color conversion's {side}s are {given}; connect exactly "
                    f"one of {', '.join(known)}"
                )
            specs[tags[0]].set(ImageFrame, f"frames of {known[tags[0]].name}")
        cc.set_timestamp_offset(0)
        cc.declare(may_skip=False, stateless=True)

    def open(self, cc: CalculatorContext) -> None:
        """Look up the conversion; forward the stream header."""
        (self._source, _), (target, _) = cc.inputs.ids()[0], cc.outputs.ids()[0]
        self._expected = _INPUTS[self._source]
        self._format = _OUTPUTS[target]
        self._code = _CODES[self._source, target]
        pass_header(cc.input, cc.output, format=self._format)

    def process(self, cc: CalculatorContext) -> None:
        """Convert one frame."""
        frame: ImageFrame | None = cc.input.payload
        if frame is None:
            return
        if frame.format is not self._expected:
            expect_format(frame, (self._expected,), self._source, "use the tag that fits, or convert before")
        if self._code is not None:
            frame = ImageFrame(cv2.cvtColor(frame.array, self._code), self._format)
        cc.output.add(frame, cc.stamp)
