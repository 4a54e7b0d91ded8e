"""A region of each frame, cut out and turned upright."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import attrs
import cv2
import numpy as np

import penstock
from penstock.errors import InvalidArgumentError
from penstock_formats import ImageFrame, NormalizedRect, Rect, VideoHeader
from penstock_formats.api import pass_header
from penstock_image.frame_checks import refuse_gpu
from penstock_image.geometry import crop_region
from penstock_image.messages.image_cropping_pb2 import ImageCroppingCalculatorOptions

if TYPE_CHECKING:
    from penstock import CalculatorContext, CalculatorContract
    from penstock_image.geometry.crop_region import Region

_BORDERS: Final = {
    ImageCroppingCalculatorOptions.BORDER_ZERO: cv2.BORDER_CONSTANT,
    ImageCroppingCalculatorOptions.BORDER_REPLICATE: cv2.BORDER_REPLICATE,
}
_SIZES: Final = ("width", "height")
_SHARES: Final = ("norm_width", "norm_height")


class ImageCroppingCalculator(penstock.Calculator):
    """Cut a region out of each frame, and turn it upright.

    Inputs:
        IMAGE: ImageFrame of any format of 1 to 4 channels.
        RECT, NORM_RECT (optional): the region, a Rect in pixels or a NormalizedRect in shares of the
            frame's sides. One without area stands for the whole frame.
        WIDTH, HEIGHT (optional): int, the size of the region in pixels, above 0.
    Output: IMAGE (ImageFrame of the same format, new memory). At a timestamp without its region nothing is
        sent. The stream header is forwarded with the size of the results, or 0 x 0 where that depends on
        packets.

    The size comes from exactly one of: RECT; NORM_RECT; WIDTH and HEIGHT; the options `width` and `height`
    (pixels); the options `norm_width` and `norm_height` (shares). With RECT or NORM_RECT these also say where
    the region is; otherwise `norm_center_x` and `norm_center_y` do (both, or the frame's middle) and
    `rotation` (radians, clockwise as seen).

    Options `ImageCroppingCalculatorOptions`: those, and `border_mode`, what a region shows outside of the
    frame: BORDER_ZERO (default) black and transparent, BORDER_REPLICATE the outermost pixels;
    `output_max_width` and `output_max_height`: a larger result is scaled down, with its proportions.

    Each pixel of the result is the nearest pixel of the frame. A region that is not rotated is moved to whole
    pixels. A side of less than half a pixel counts as 1. Timestamp offset 0. OpenCV runs without the GIL.
    IMAGE_GPU needs a GPU pack's calculator.

    Raises when the graph is loaded: InvalidArgumentError for no size or several. In `open`: the same for
    another border_mode, a maximum below 1, or a size that is not above 0. In `process`: the same for such a
    size, or for a rectangle with a number that is not finite; ResourceExhaustedError for a region of more
    than 2**27 pixels, see `penstock_formats.check_frame_size`.

    Source of the behaviour: MediaPipe `calculators/image/image_cropping_calculator.cc`; OpenCV
    `warpPerspective`.

    Config::

        node {
          calculator: "ImageCroppingCalculator"
          input_stream: "IMAGE:frame"
          input_stream: "NORM_RECT:hand_rect"
          output_stream: "IMAGE:hand"
          node_options {
            [type.googleapis.com/penstock.ImageCroppingCalculatorOptions] {
              border_mode: BORDER_REPLICATE
            }
          }
        }
    """

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Declare the frames, and where the region comes from.

        Raises:
            InvalidArgumentError: IMAGE_GPU is connected; or the size of the region comes from nowhere, or
                from several places.
        """
        refuse_gpu(cc)
        cc.inputs["IMAGE"].set(ImageFrame, "frames")
        cc.inputs["RECT"].set(Rect, "the region in pixels").optional()
        cc.inputs["NORM_RECT"].set(NormalizedRect, "the region in shares of the frame").optional()
        cc.inputs["WIDTH"].set(int, "of the region, in pixels").optional()
        cc.inputs["HEIGHT"].set(int, "of the region, in pixels").optional()
        cc.outputs["IMAGE"].set(ImageFrame, "the region")
        _check_sizes(cc)
        cc.set_timestamp_offset(0)
        cc.declare(may_skip=False, stateless=True)

    def open(self, cc: CalculatorContext) -> None:
        """Check the options; forward the stream header."""
        options = cc.options(ImageCroppingCalculatorOptions)
        if options.border_mode not in _BORDERS:
            raise InvalidArgumentError(
                "the cropping's border_mode is BORDER_UNSPECIFIED, but must be BORDER_ZERO or "
                "BORDER_REPLICATE; change the options"
            )
        for name in ("output_max_width", "output_max_height", *_SIZES, *_SHARES):
            if options.HasField(name) and not getattr(options, name) > 0:
                raise InvalidArgumentError(
                    f"the cropping's {name} is {getattr(options, name):g}, but must be above 0; change the "
                    "options"
                )
        self._options = options
        self._border = _BORDERS[options.border_mode]
        self._most = (options.output_max_width, options.output_max_height)
        self._streams = [tag for tag in cc.inputs.tags() if tag != "IMAGE"]
        width, height = 0, 0
        header = cc.inputs["IMAGE"].header.payload
        if isinstance(header, VideoHeader) and not self._streams and header.width and header.height:
            region = self._region_of_options(header.width, header.height)
            width, height = crop_region.result_size(region, self._most)
        pass_header(cc.inputs["IMAGE"], cc.outputs["IMAGE"], width=width, height=height)

    def process(self, cc: CalculatorContext) -> None:
        """Cut out one region."""
        frame: ImageFrame | None = cc.inputs["IMAGE"].payload
        if frame is None or any(cc.inputs[tag].is_empty() for tag in self._streams):
            return
        region = self._region(cc, frame.width, frame.height).on_pixels()
        found = crop_region.crop(frame.array, region, self._most, self._border)
        cc.outputs["IMAGE"].add(ImageFrame(found, frame.format), cc.stamp)

    def _region(self, cc: CalculatorContext, width: int, height: int) -> Region:
        if "RECT" in self._streams:
            return crop_region.of_rect(cc.inputs["RECT"].payload, width, height)
        if "NORM_RECT" in self._streams:
            return crop_region.of_norm_rect(cc.inputs["NORM_RECT"].payload, width, height)
        region = self._region_of_options(width, height)
        if not self._streams:
            return region
        size = (cc.inputs["WIDTH"].payload, cc.inputs["HEIGHT"].payload)
        if not (size[0] > 0 and size[1] > 0):
            raise InvalidArgumentError(
                f"inputs 'WIDTH' and 'HEIGHT' hold {size[0]} and {size[1]}, but image cropping leaves at "
                "least one pixel; look at the nodes that made them"
            )
        return attrs.evolve(region, width=size[0], height=size[1])

    def _region_of_options(self, width: int, height: int) -> Region:
        """Return the region that the options say of such a frame; without a size the whole frame's."""
        options = self._options
        region = crop_region.whole(width, height)
        if options.HasField("norm_center_x") and options.HasField("norm_center_y"):
            region = attrs.evolve(
                region,
                x=np.float32(options.norm_center_x) * np.float32(width),
                y=np.float32(options.norm_center_y) * np.float32(height),
            )
        if options.HasField("width") and options.HasField("height"):
            region = attrs.evolve(region, width=options.width, height=options.height)
        elif options.HasField("norm_width") and options.HasField("norm_height"):
            region = attrs.evolve(
                region,
                width=crop_region.share(options.norm_width, width),
                height=crop_region.share(options.norm_height, height),
            )
        return attrs.evolve(region, rotation=np.float32(options.rotation))


def _check_sizes(cc: CalculatorContract) -> None:
    """Refuse a node whose region has no size, or several."""
    options = cc.options(ImageCroppingCalculatorOptions)
    given = {
        "RECT": ("RECT" in cc.inputs,),
        "NORM_RECT": ("NORM_RECT" in cc.inputs,),
        "WIDTH and HEIGHT": tuple(tag in cc.inputs for tag in ("WIDTH", "HEIGHT")),
        "the options width and height": tuple(options.HasField(name) for name in _SIZES),
        "the options norm_width and norm_height": tuple(options.HasField(name) for name in _SHARES),
    }
    half = [name for name, parts in given.items() if any(parts) and not all(parts)]
    if half:
        raise InvalidArgumentError(
            f"node {cc.node_name!r}: for cropping only one of {half[0]} is given; give both"
        )
    found = [name for name, parts in given.items() if all(parts)]
    if len(found) != 1:
        raise InvalidArgumentError(
            f"node {cc.node_name!r}: the cropping's size comes from {', '.join(found) or 'nowhere'}; give "
            f"exactly one of {', '.join(given)}"
        )
