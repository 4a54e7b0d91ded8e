"""ImageToTensorCalculator: a region of an image as a tensor of a size and a range of values."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import cv2
import numpy as np

import penstock
from penstock.errors import InvalidArgumentError, StatusCode
from penstock_formats import Image, ImageFormat, ImageFrame, NormalizedRect, Tensor, check_frame_size
from penstock_tensors.inputs.image_region import (
    NO_PADDING,
    check_region,
    cut_out,
    padded,
    region_matrix,
    region_of,
    region_transform,
    tensor_corners,
)
from penstock_tensors.inputs.input_frames import frame_of
from penstock_tensors.messages.image_to_tensor_pb2 import ImageToTensorCalculatorOptions

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from penstock import CalculatorContext, CalculatorContract

_FORMATS: Final = (ImageFormat.SRGB, ImageFormat.SRGBA, ImageFormat.GRAY8)
_SIZES: Final = ("output_tensor_width", "output_tensor_height")
#: Field of the range → the smallest and the largest value that its elements can have.
_LIMITS: Final = {
    "output_tensor_float_range": (-math.inf, math.inf),
    "output_tensor_int_range": (-128, 127),
    "output_tensor_uint_range": (0, 255),
}


class ImageToTensorCalculator(penstock.Calculator):
    """Makes a tensor of a region of each image: crops, rotates, resizes, and maps the values.

    Inputs: IMAGE (Image or ImageFrame; SRGB, SRGBA or GRAY8) or IMAGE_GPU (an image on the GPU, which is
    copied to main memory): exactly one of them. NORM_RECT (NormalizedRect, optional): the region; without
    it the whole image. Nothing is sent where NORM_RECT is connected and empty, or has width 0 and height 0.

    Outputs: TENSORS (a list of one Tensor) or TENSOR (the Tensor): exactly one of them. The tensor is
    1 x height x width x 3; of a GRAY8 image 1 x height x width x 1. MATRIX (optional, 16 floats, row after
    row): from positions in the tensor to positions in the image, both from 0 to 1. LETTERBOX_PADDING
    (optional, 4 floats): left, top, right, bottom of the tensor that is outside of the region, in fractions
    of the tensor; 0 without keep_aspect_ratio. The timestamp offset is 0.

    Options `ImageToTensorCalculatorOptions`: `output_tensor_width` and `output_tensor_height` (pixels; by
    default the image's); `keep_aspect_ratio` (false: the region is stretched; true: it grows around its
    centre to the ratio of the tensor); one of `output_tensor_float_range` (float32),
    `output_tensor_int_range` (int8, or uint8 where min is 0 or more) and `output_tensor_uint_range`
    (uint8): the values that 0 and 255 become, required; an image on the GPU becomes float32 with each of
    them. `border_mode` (BORDER_REPLICATE, the nearest pixel, or BORDER_ZERO): what is outside of the image.
    `gpu_origin` has no effect.

    Raises InvalidArgumentError in `get_contract`: a size is below 1, no range is set, its min is not below
    its max or it does not fit the elements. In `process`: for an image of another format, or a region that is
    not finite or has a side of 0 or below. OpenCV runs without the GIL.

    Source of the behaviour: MediaPipe `calculators/tensor/image_to_tensor_calculator.cc` and
    `image_to_tensor_converter_opencv.cc`; the tensors are equal to its tensors bit by bit.

    Config::

        node {
          calculator: "ImageToTensorCalculator"
          input_stream: "IMAGE:image"
          input_stream: "NORM_RECT:hand"
          output_stream: "TENSORS:tensors"
          output_stream: "LETTERBOX_PADDING:padding"
          options {
            [penstock.ImageToTensorCalculatorOptions.ext] {
              output_tensor_width: 224
              output_tensor_height: 224
              keep_aspect_ratio: true
              output_tensor_float_range { min: 0.0 max: 1.0 }
            }
          }
        }
    """

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Declare the ports; check the options.

        Raises:
            InvalidArgumentError: as the class says.
        """
        _check_options(cc.options(ImageToTensorCalculatorOptions))
        if ("IMAGE" in cc.inputs) == ("IMAGE_GPU" in cc.inputs):
            raise InvalidArgumentError(
                f"the image to become a tensor comes by {_which(cc.inputs, 'IMAGE', 'IMAGE_GPU')}; connect "
                "exactly one of them"
            )
        if ("TENSORS" in cc.outputs) == ("TENSOR" in cc.outputs):
            raise InvalidArgumentError(
                f"the image's tensor goes to {_which(cc.outputs, 'TENSORS', 'TENSOR')}; connect exactly one "
                "of them"
            )
        cc.inputs["IMAGE"].set_one_of(Image, ImageFrame, description="the image").optional()
        cc.inputs["IMAGE_GPU"].set_any("the image, on the GPU").optional()
        cc.inputs["NORM_RECT"].set(NormalizedRect, "the region").optional()
        cc.outputs["TENSORS"].set(list[Tensor], "one tensor").optional()
        cc.outputs["TENSOR"].set(Tensor, "the tensor").optional()
        cc.outputs["MATRIX"].set(tuple, "from the tensor to the image: 16 floats").optional()
        cc.outputs["LETTERBOX_PADDING"].set(tuple, "left, top, right, bottom: 4 floats").optional()
        cc.set_timestamp_offset(0)
        cc.declare(may_skip=False, stateless=False)

    def open(self, cc: CalculatorContext) -> None:
        """Compute the table of values."""
        options = cc.options(ImageToTensorCalculatorOptions)
        self._values = _Values(options)
        self._values_on_gpu = _Values(options, always_float=True)
        self._keeps_ratio = options.keep_aspect_ratio
        is_black = options.border_mode == ImageToTensorCalculatorOptions.BORDER_ZERO
        self._border = cv2.BORDER_CONSTANT if is_black else cv2.BORDER_REPLICATE
        self._width = options.output_tensor_width
        self._height = options.output_tensor_height
        check_frame_size(self._width, self._height, "output_tensor_width and output_tensor_height")
        self._input = cc.inputs["IMAGE" if "IMAGE" in cc.inputs else "IMAGE_GPU"].name
        self._on_gpu = "IMAGE_GPU" in cc.inputs
        self._has_rect = "NORM_RECT" in cc.inputs
        self._is_list = "TENSORS" in cc.outputs
        self._has_padding = "LETTERBOX_PADDING" in cc.outputs
        self._has_matrix = "MATRIX" in cc.outputs
        self._size = (0, 0)
        #: Of which size the image was whose whole was taken last.
        self._whole_of: tuple[int, int] | None = None

    def process(self, cc: CalculatorContext) -> None:
        """Make one tensor."""
        source = cc.inputs["IMAGE_GPU" if self._on_gpu else "IMAGE"]
        if source.is_empty():
            return
        rect = None
        if self._has_rect:
            port = cc.inputs["NORM_RECT"]
            if port.is_empty():
                return
            rect = port.payload
            if rect.width == 0 and rect.height == 0:
                return
        payload = source.payload
        frame = frame_of(payload, source.name, _FORMATS)
        width, height = frame.width, frame.height
        size = (self._width or width, self._height or height)
        if rect is not None:
            place = self._place(rect, width, height, size)
        else:
            if (width, height) != self._whole_of:  # most images have the size of the one before
                self._whole, self._whole_of = self._place(None, width, height, size), (width, height)
            place = self._whole
        outputs, stamp = cc.outputs, cc.stamp
        if self._has_padding:
            outputs["LETTERBOX_PADDING"].add(place.padding, stamp)
        if place.matrix is not None:
            outputs["MATRIX"].add(place.matrix, stamp)
        pixels = cut_out(frame.array, place.transform, size, self._border)
        on_gpu = self._on_gpu or (isinstance(payload, Image) and payload.uses_gpu)
        tensor = Tensor((self._values_on_gpu if on_gpu else self._values).of(pixels))
        if self._is_list:
            outputs["TENSORS"].add([tensor], stamp)
        else:
            outputs["TENSOR"].add(tensor, stamp)

    def _place(self, rect: NormalizedRect | None, width: int, height: int, size: tuple[int, int]) -> _Place:
        """Return where in an image a tensor of some size is taken from."""
        region, padding = region_of(rect, width, height), NO_PADDING
        check_region(region)
        if self._keeps_ratio:
            region, padding = padded(region, *size)
        if size != self._size:
            self._size, self._to = size, tensor_corners(*size)
        matrix = region_matrix(region, width, height) if self._has_matrix else None
        return _Place(padding, matrix, region_transform(region, self._to))


class _Place(NamedTuple):
    """Where in an image a tensor is taken from."""

    #: The part of the tensor that is outside of the region: left, top, right, bottom.
    padding: tuple[float, float, float, float]
    #: From the tensor to the image; None where nothing reads it.
    matrix: tuple[float, ...] | None
    #: OpenCV's, from pixels of the image to those of the tensor.
    transform: NDArray[np.float64]


class _Values:
    """What each of the 256 values of a pixel becomes."""

    def __init__(self, options: ImageToTensorCalculatorOptions, *, always_float: bool = False) -> None:
        field = options.WhichOneof("range")
        given = getattr(options, field)
        low, high = np.float32(given.min), np.float32(given.max)
        scale, offset = (high - low) / np.float32(255), low
        # One rounding for product and sum together, as the reference's fused operation.
        exact = np.arange(256) * float(scale) + float(offset)
        if always_float or field == "output_tensor_float_range":
            self._table: NDArray[Any] = exact.astype(np.float32)
        else:
            kind = np.int8 if low < 0 else np.uint8
            limits = np.iinfo(kind)
            self._table = np.rint(exact.astype(np.float32)).clip(limits.min, limits.max).astype(kind)

    def of(self, pixels: NDArray[np.uint8]) -> NDArray[Any]:
        """Return the values of pixels, (H, W[, channels]), as (1, H, W, channels); new memory."""
        if pixels.ndim == 3 and pixels.shape[2] == 4:  # noqa: PLR2004  # red, green, blue, alpha
            pixels = cv2.cvtColor(pixels, cv2.COLOR_RGBA2RGB)  # type: ignore[assignment]  # OpenCV's stubs
        # A product by NumPy takes two thirds of the time in a loop, but more after a model, which leaves
        # cold caches: the code of OpenCV is warm here.
        made: NDArray[Any] = cv2.LUT(pixels, self._table)
        return made.reshape(1, pixels.shape[0], pixels.shape[1], -1)


def _which(ports: Any, *tags: str) -> str:
    return f"both {tags[0]} and {tags[1]}" if tags[0] in ports else f"neither {tags[0]} nor {tags[1]}"


def _check_options(options: ImageToTensorCalculatorOptions) -> None:
    for field in _SIZES:
        if options.HasField(field) and getattr(options, field) < 1:
            raise InvalidArgumentError(
                f"the tensor's {field} is {getattr(options, field)}, but must be 1 or more; change it "
                "in the options, or leave it out for the size of the image"
            )
    field = options.WhichOneof("range")
    if field is None:
        raise InvalidArgumentError(
            "no range of values of the image's tensor is set; set output_tensor_float_range { min: 0.0 max: "
            "1.0 }, output_tensor_int_range or output_tensor_uint_range in the options",
            code=StatusCode.INTERNAL,  # as in the reference
        )
    given, (least, most) = getattr(options, field), _LIMITS[field]
    if not given.min < given.max:
        raise InvalidArgumentError(
            f"the tensor's {field} is from {given.min:g} to {given.max:g}, but min must be below max; "
            "change it in the options",
            code=StatusCode.INTERNAL,  # as in the reference
        )
    if given.min < least or given.max > most:
        raise InvalidArgumentError(
            f"the tensor's {field} is from {given.min:g} to {given.max:g}, but must be between {least:g} and "
            f"{most:g}; change it in the options"
        )
