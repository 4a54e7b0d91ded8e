"""What a whole image is, written into its corner: sizes follow the image."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, Final

import attrs

import penstock
from penstock.errors import InvalidArgumentError
from penstock_formats import ClassificationList, ImageFrame
from penstock_vision.drawing.drawable import drawable, pass_drawn_header
from penstock_vision.drawing.plates import PALETTE, check_share, sizes_of, write_plate

if TYPE_CHECKING:
    from penstock import CalculatorContext, CalculatorContract

#: The width of lines, a share of the image's height; a plate has none.
_LINE: Final = 0.004


@attrs.frozen(kw_only=True)
class ClassificationOverlayCalculatorOptions:
    """What is written, and how large.

    Attributes:
        text_height: of the letters, a share of the image's height.
        max_classes: at most so many are written, the first ones; 1 or more.
        show_score: whether the score stands behind the class.
    """

    text_height: float = 0.028
    max_classes: int = 5
    show_score: bool = True

    def __attrs_post_init__(self) -> None:
        check_share("text_height", self.text_height)
        if self.max_classes < 1:
            raise InvalidArgumentError(
                f"the classification overlay's max_classes is {self.max_classes}, but must be 1 or more"
            )


class ClassificationOverlayCalculator(penstock.Calculator):
    """Write what an image is on plates in its upper left corner, the first class on top.

    Inputs: IMAGE (ImageFrame, SRGB, SRGBA or GRAY8), CLASSIFICATIONS (ClassificationList). Output: IMAGE
    (ImageFrame, new memory, of the image's size and format, but SRGB for GRAY8); an image without
    classifications is copied, and nothing is sent for classifications without an image. The text is the
    display_name, label or index of a class, and its score with two digits. A class has one of seven colours,
    in every run: the one that the CRC-32 of its name chooses, as in DetectionOverlayCalculator. OpenCV's
    fonts have ASCII letters only; others are "?". The stream header of IMAGE is forwarded, with format SRGB
    for GRAY8. Timestamp offset 0. OpenCV runs without the GIL.

    Options `ClassificationOverlayCalculatorOptions`: `text_height` (0.028, a share of the image's height, at
    least 6 pixels), `max_classes` (5), `show_score` (true).

    Raises when the graph is loaded: InvalidArgumentError for numbers out of range. In `process`: the same
    for an image of another format.

    Config::

        node {
          calculator: "ClassificationOverlayCalculator"
          input_stream: "IMAGE:frames"
          input_stream: "CLASSIFICATIONS:classes"
          output_stream: "IMAGE:drawn"
        }
    """

    Options = ClassificationOverlayCalculatorOptions

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Declare images and classes in, images out."""
        cc.inputs["IMAGE"].set(ImageFrame, "images to draw on (SRGB, SRGBA, GRAY8)")
        cc.inputs["CLASSIFICATIONS"].set(ClassificationList, "what each image is, the best class first")
        cc.outputs["IMAGE"].set(ImageFrame, "images with the classes")
        cc.options(ClassificationOverlayCalculatorOptions)
        cc.set_timestamp_offset(0)
        cc.declare(may_skip=False, stateless=True)

    def open(self, cc: CalculatorContext) -> None:
        """Read the options; forward the stream header."""
        self._options = cc.options(ClassificationOverlayCalculatorOptions)
        pass_drawn_header(cc, "IMAGE")

    def process(self, cc: CalculatorContext) -> None:
        """Write on a copy of one image.

        Raises:
            InvalidArgumentError: as the class says.
        """
        if cc.inputs["IMAGE"].is_empty():
            return
        pixels, image_format = drawable(cc.inputs["IMAGE"].payload, "IMAGE")
        port = cc.inputs["CLASSIFICATIONS"]
        if not port.is_empty():
            options = self._options
            sizes = sizes_of(pixels.shape[0], options.text_height, _LINE)
            top = sizes.margin
            for one in port.payload.classification[: options.max_classes]:
                name = one.display_name or one.label or str(one.index)
                text = f"{name} {one.score:.2f}" if options.show_score else name
                color = (*PALETTE[zlib.crc32(name.encode()) % len(PALETTE)], 255)
                corner = (sizes.margin, top)
                top += write_plate(pixels, text, corner, color, sizes, is_above=False) + sizes.stroke
        cc.outputs["IMAGE"].add(ImageFrame(pixels, image_format), cc.stamp)
