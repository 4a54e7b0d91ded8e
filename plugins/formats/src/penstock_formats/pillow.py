"""Adapters between images and images of Pillow, which this pack does not require."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

import penstock
from penstock.errors import InvalidArgumentError
from penstock_formats.image import Image
from penstock_formats.image_format import ImageFormat
from penstock_formats.image_frame import ImageFrame

try:
    import PIL.Image
    from PIL.Image import Image as PillowImage
except ImportError as error:
    raise ImportError("Pillow is not installed; pip install 'penstock-formats[pillow]'") from error

#: Mode → element type, for modes whose pixels a frame can have.
_MODES: Final[dict[str, Any]] = {
    "L": np.uint8,
    "RGB": np.uint8,
    "RGBA": np.uint8,
    "I;16": np.uint16,
    "F": np.float32,
}
#: Formats that Pillow has.
_FORMATS: Final = (
    ImageFormat.GRAY8,
    ImageFormat.SRGB,
    ImageFormat.SRGBA,
    ImageFormat.GRAY16,
    ImageFormat.VEC32F1,
)


@penstock.calculator("PillowToImageFrameCalculator")
def pillow_to_image_frame(image: PillowImage) -> ImageFrame:
    """Make images of Pillow's: mode L is GRAY8, RGB is SRGB, RGBA is SRGBA, I;16 is GRAY16, F is VEC32F1.

    The frame has a copy. A rotation in the file's EXIF data is not followed; `ImageOps.exif_transpose` does.

    Raises:
        InvalidArgumentError: the image has another mode.

    Example:
        node {
          calculator: "PillowToImageFrameCalculator"
          input_stream: "pillow_image"
          output_stream: "image"
        }
    """
    if image.mode not in _MODES:
        raise InvalidArgumentError(
            f"a Pillow image of mode {image.mode!r} is no frame, only {', '.join(_MODES)} are; "
            "image.convert('RGB') makes one"
        )
    return ImageFrame(np.array(image, dtype=_MODES[image.mode]))


@penstock.calculator("PillowToImageCalculator")
def pillow_to_image(image: PillowImage) -> Image:
    """Make images of Pillow's, for calculators that take an `Image`: see `PillowToImageFrameCalculator`.

    Example:
        node {
          calculator: "PillowToImageCalculator"
          input_stream: "pillow_image"
          output_stream: "image"
        }
    """
    return Image(pillow_to_image_frame(image))


@penstock.calculator("ImageFrameToPillowCalculator")
def image_frame_to_pillow(image: ImageFrame) -> PillowImage:
    """Make images of Pillow; the other way of `PillowToImageFrameCalculator`. They are copies.

    Raises:
        InvalidArgumentError: Pillow has no mode for the format.

    Example:
        node {
          calculator: "ImageFrameToPillowCalculator"
          input_stream: "image"
          output_stream: "pillow_image"
        }
    """
    if image.format not in _FORMATS:
        raise InvalidArgumentError(
            f"Pillow has no mode for {image.format.name}; convert it to SRGB (ColorConvertCalculator)"
        )
    return PIL.Image.fromarray(image.array.copy())


@penstock.calculator("ImageToPillowCalculator")
def image_to_pillow(image: Image) -> PillowImage:
    """Make images of Pillow of an `Image`. As `ImageFrameToPillowCalculator`.

    Example:
        node {
          calculator: "ImageToPillowCalculator"
          input_stream: "image"
          output_stream: "pillow_image"
        }
    """
    return image_frame_to_pillow(image.frame)
