"""DetectorInputCalculator: images as the tensor that a detector takes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import cv2
import numpy as np

import penstock
from penstock.errors import InvalidArgumentError
from penstock_detect.detector_input_options import Axes, DetectorInputCalculatorOptions
from penstock_detect.resizing import place_of, resized, usual_interpolation
from penstock_formats import Image, ImageFormat, ImageFrame, Tensor, check_frame_size
from penstock_formats.api import format_converter

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from penstock import CalculatorContext, CalculatorContract

_FORMATS: Final = (ImageFormat.SRGB, ImageFormat.SRGBA, ImageFormat.GRAY8)
_GREY, _COLOURS = 1, 3
#: Format and channels of the model → OpenCV's conversion; None: none is needed.
_CONVERSIONS: Final = {
    (ImageFormat.SRGB, _COLOURS): None,
    (ImageFormat.SRGBA, _COLOURS): cv2.COLOR_RGBA2RGB,
    (ImageFormat.GRAY8, _COLOURS): cv2.COLOR_GRAY2RGB,
    (ImageFormat.SRGB, _GREY): cv2.COLOR_RGB2GRAY,
    (ImageFormat.SRGBA, _GREY): cv2.COLOR_RGBA2GRAY,
    (ImageFormat.GRAY8, _GREY): None,
}


class DetectorInputCalculator(penstock.Calculator):
    """Makes of each image the tensor that a detector takes: resized, its values mapped, its axes in order.

    Input: IMAGE (Image or ImageFrame; SRGB, SRGBA or GRAY8). Outputs: TENSORS (list[Tensor]: one of 1 x
    channels x height x width, or 1 x height x width x channels with `axes: NHWC`; with `gives_size` a second
    one, int64 1 x 2: width and height). LETTERBOX_PADDING (4 floats): left, top, right, bottom of the tensor
    that is beside the image, in fractions of the tensor; 0 with `resize: STRETCH`, and negative where CROP
    has cut off a part of the image. Timestamp offset 0.

    LETTERBOX keeps the aspect ratio: the sides of the resized image are rounded to whole pixels, and where an
    odd number of pixels is left, the right or lower edge gets one more. CROP resizes the image until its
    shorter side has `short_side` pixels, and takes the middle, as torchvision's Resize and CenterCrop do; of
    an image that is more than 32 times as long as what is kept, the middle is resized alone. `interpolation`:
    LINEAR takes the four pixels around a place, as OpenCV does; ANTIALIAS averages all pixels that become
    one, and ANTIALIAS_CUBIC weighs them by a cubic curve, as Pillow's BILINEAR and BICUBIC do, with the same
    results. A value v of a pixel, 0 to 255, becomes (v * scale - mean) / std, computed in double precision
    and rounded to the element type.

    Options `DetectorInputCalculatorOptions`: `width`, `height` (required, pixels), `channels` (3), `resize`
    (LETTERBOX, LETTERBOX_TOP_LEFT, STRETCH, CROP), `interpolation` (USUAL: ANTIALIAS with CROP, else LINEAR),
    `short_side` (0: that of the input; with CROP alone), `pad_value` (114), `axes` (NCHW, NHWC), `bgr`
    (false), `scale` (1/255), `mean` and `std` (0 and 1; a number for each channel in the model's order, or
    one for all), `element_type` ("float32", "float16", "uint8": the values of pixels as they are),
    `gives_size` (false).

    Raises InvalidArgumentError in `get_contract` for options that do not fit together, ResourceExhaustedError
    for more pixels than `penstock_formats.check_frame_size` allows. In `process`: the latter for an image
    that is resized to more of them before its middle is taken; InvalidArgumentError for an image of another
    format. OpenCV and Pillow resize without the GIL.

    Config::

        node {
          calculator: "DetectorInputCalculator"
          input_stream: "IMAGE:frame"
          output_stream: "TENSORS:tensors"
          output_stream: "LETTERBOX_PADDING:padding"
          node_options {
            [type.googleapis.com/penstock_detect.DetectorInputCalculatorOptions] { width: 640 height: 640 }
          }
        }
    """

    Options = DetectorInputCalculatorOptions

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Declare the ports; check the options.

        Raises:
            PenstockError: as the class says.
        """
        options = cc.options(DetectorInputCalculatorOptions)
        check_frame_size(options.width, options.height, "width and height")
        check_frame_size(options.short_side, options.short_side, "short_side")
        cc.inputs["IMAGE"].set_one_of(Image, ImageFrame, description="the image")
        cc.outputs["TENSORS"].set(list[Tensor], "what the model takes")
        cc.outputs["LETTERBOX_PADDING"].set(tuple, "left, top, right, bottom: 4 floats").optional()
        cc.set_timestamp_offset(0)
        cc.declare(may_skip=False, stateless=True)

    def open(self, cc: CalculatorContext) -> None:
        """Compute what each value of a pixel becomes."""
        self._options = options = cc.options(DetectorInputCalculatorOptions)
        self._size = (options.width, options.height)
        self._interpolation = usual_interpolation(options.interpolation, options.resize)
        self._fill = (options.pad_value,) * options.channels
        self._tables = None if options.element_type == "uint8" else tables_of(options)
        size = np.array([self._size], np.int64)
        self._further = [Tensor(size)] if options.gives_size else []
        self._has_padding = "LETTERBOX_PADDING" in cc.outputs
        #: Of which size the image was that was placed last, and where.
        self._placed_for: tuple[int, int] | None = None

    def process(self, cc: CalculatorContext) -> None:
        """Make one tensor."""
        port = cc.inputs["IMAGE"]
        if port.is_empty():
            return
        payload = port.payload
        frame: ImageFrame = payload if isinstance(payload, ImageFrame) else payload.frame
        if frame.format not in _FORMATS:
            raise InvalidArgumentError(
                f"stream {port.name!r} has an image of format {frame.format.name}, but the detector takes "
                f"SRGB, SRGBA and GRAY8; convert it before, say with a {format_converter(frame.format)}"
            )
        options = self._options
        if self._placed_for != (frame.width, frame.height):
            self._placed_for = (frame.width, frame.height)
            self._place = place_of(options.resize, *self._placed_for, *self._size, options.short_side)
            check_frame_size(*self._place.scaled, "the resized image, whose middle is taken")
        pixels = self._resized(frame)
        made = self._mapped(pixels)
        cc.outputs["TENSORS"].add([Tensor(made), *self._further], cc.stamp)
        if self._has_padding:
            cc.outputs["LETTERBOX_PADDING"].add(self._place.padding, cc.stamp)

    def _resized(self, frame: ImageFrame) -> NDArray[np.uint8]:
        """Return the image in the size of the input, (H, W, channels) or (H, W)."""
        pixels: Any = frame.array
        conversion = _CONVERSIONS[frame.format, self._options.channels]
        if conversion is not None:
            pixels = cv2.cvtColor(pixels, conversion)
        return resized(pixels, self._place, self._size, self._interpolation, self._fill)

    def _mapped(self, pixels: NDArray[np.uint8]) -> NDArray[Any]:
        """Return the values that the model takes, in its order of axes; new memory."""
        options = self._options
        planes = [pixels] if pixels.ndim == 2 else list(cv2.split(pixels))  # noqa: PLR2004  # grey
        if options.bgr:
            planes.reverse()
        if self._tables is not None:
            planes = [cv2.LUT(plane, table) for plane, table in zip(planes, self._tables, strict=True)]
        if options.axes == Axes.NHWC:
            made = np.asarray(cv2.merge(planes)) if len(planes) > 1 else planes[0][..., None]
        else:
            made = np.stack(planes)
        return made[None].astype(options.element_type, copy=False)


def tables_of(options: DetectorInputCalculatorOptions) -> list[NDArray[np.float32]]:
    """Return for each channel of the model what the 256 values of a pixel become, (1, 256)."""
    values = np.arange(256) * options.scale
    count = options.channels
    return [
        ((values - mean) / std).astype(np.float32).reshape(1, 256)
        for mean, std in zip(_each(options.mean, 0.0, count), _each(options.std, 1.0, count), strict=True)
    ]


def _each(given: Sequence[float], usual: float, count: int) -> Sequence[float]:
    """Return a number for each channel."""
    return given if len(given) == count else [*(given or (usual,))] * count
