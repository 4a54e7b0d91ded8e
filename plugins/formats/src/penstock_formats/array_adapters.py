"""Adapters between images and what other libraries have: NumPy arrays, and tensors by DLPack.

A graph takes such payloads wherever it takes an `ImageFrame` or an `Image`, and hands an image as an array
to a calculator that reads `numpy.ndarray`. The shape says what an array is: (H, W) uint8 is GRAY8,
(H, W, 3) uint8 SRGB, (H, W, 4) uint8 SRGBA, (H, W) uint16 GRAY16; see `ImageFrame` for the rest. Nothing is
copied, and nothing is guessed: the first of three channels is red. Where blue is first the graph says so, by
the option `colours`.

Each is a calculator too, for graphs that want the option. The adapters for Pillow are in
`penstock_formats.pillow`.
"""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray  # the calculators' annotations are read when they are decorated

import penstock
from penstock.errors import InvalidArgumentError
from penstock_formats.image import Image
from penstock_formats.image_frame import ImageFrame

RGB = "RGB"
BGR = "BGR"
#: Channels that have colours: red, green, blue, and perhaps how opaque the pixel is.
_COLOURED = (3, 4)


@runtime_checkable
class DlpackTensor(Protocol):
    """A tensor that hands out its memory: see DLPack, "Python Specification"."""

    def __dlpack__(self, **request: Any) -> object:
        """Return the memory, with its shape and element type."""

    def __dlpack_device__(self) -> tuple[int, int]:
        """Return the device that has the memory."""


@penstock.calculator("ArrayToImageFrameCalculator")
def array_to_image_frame(array: NDArray[Any], *, colours: str = RGB) -> ImageFrame:
    """Make images of NumPy arrays: (H, W), (H, W, 1), (H, W, 2), (H, W, 3) or (H, W, 4).

    The frame borrows the array's memory, so the array must not be written to once it is in a packet. With BGR
    the frame has a copy whose colours are in the usual order.

    Args:
        array: uint8, uint16 or float32; see `ImageFrame` for the format that each shape has.
        colours: "RGB" where the first channel is red, "BGR" where it is blue, as OpenCV reads images.

    Raises:
        InvalidArgumentError: no image has this shape and element type, or `colours` is neither.

    Example:
        node {
          calculator: "ArrayToImageFrameCalculator"
          input_stream: "array"
          output_stream: "image"
        }
    """
    if colours not in {RGB, BGR}:
        raise InvalidArgumentError(f'the array adapter\'s colours is {colours!r}, but must be "RGB" or "BGR"')
    return ImageFrame(array if colours == RGB else _turned(array))


@penstock.calculator("ArrayToImageCalculator")
def array_to_image(array: NDArray[Any], *, colours: str = RGB) -> Image:
    """Make images of NumPy arrays, for calculators that take an `Image`. As `ArrayToImageFrameCalculator`.

    Example:
        node {
          calculator: "ArrayToImageCalculator"
          input_stream: "array"
          output_stream: "image"
        }
    """
    return Image(array_to_image_frame(array, colours=colours))


@penstock.calculator("ImageFrameToArrayCalculator")
def image_frame_to_array(image: ImageFrame, *, colours: str = RGB) -> NDArray[Any]:
    """Make NumPy arrays of images: (H, W) for one channel, else (H, W, channels).

    The array is read-only and shares the memory of the image; with BGR it is a copy, which may be written to.

    Args:
        image: of any format.
        colours: "RGB" for the image's own order of channels, "BGR" to have blue first, as OpenCV has it.

    Raises:
        InvalidArgumentError: `colours` is neither.

    Example:
        node {
          calculator: "ImageFrameToArrayCalculator"
          input_stream: "image"
          output_stream: "array"
        }
    """
    if colours not in {RGB, BGR}:
        raise InvalidArgumentError(f'the array adapter\'s colours is {colours!r}, but must be "RGB" or "BGR"')
    return image.array if colours == RGB else _turned(image.array)


@penstock.calculator("ImageToArrayCalculator")
def image_to_array(image: Image, *, colours: str = RGB) -> NDArray[Any]:
    """Make NumPy arrays of images that are an `Image`; one on the GPU is copied from there.

    As `ImageFrameToArrayCalculator`.

    Example:
        node {
          calculator: "ImageToArrayCalculator"
          input_stream: "image"
          output_stream: "array"
        }
    """
    return image_frame_to_array(image.frame, colours=colours)


@penstock.calculator("DlpackToImageFrameCalculator")
def dlpack_to_image_frame(tensor: DlpackTensor, *, colours: str = RGB) -> ImageFrame:
    """Make images of tensors of other libraries, PyTorch's say: whatever has `__dlpack__`.

    The frame borrows the memory, as of an array. The channels come last: (H, W, 3). A tensor (3, H, W)
    goes in as `tensor.permute(1, 2, 0)`.

    Args:
        tensor: in main memory.
        colours: as of `ArrayToImageFrameCalculator`.

    Raises:
        InvalidArgumentError: the memory is elsewhere or is not handed out, or no image has this shape and
            element type.

    Example:
        node {
          calculator: "DlpackToImageFrameCalculator"
          input_stream: "tensor"
          output_stream: "image"
        }
    """
    return array_to_image_frame(_array_of(tensor), colours=colours)


@penstock.calculator("DlpackToImageCalculator")
def dlpack_to_image(tensor: DlpackTensor, *, colours: str = RGB) -> Image:
    """Make images of tensors, for calculators that take an `Image`: see `DlpackToImageFrameCalculator`.

    Example:
        node {
          calculator: "DlpackToImageCalculator"
          input_stream: "tensor"
          output_stream: "image"
        }
    """
    return Image(dlpack_to_image_frame(tensor, colours=colours))


def _array_of(tensor: Any) -> NDArray[Any]:
    try:
        return np.from_dlpack(tensor)
    except (AttributeError, BufferError, RuntimeError, TypeError, ValueError) as error:
        raise InvalidArgumentError(
            f"the memory of this {type(tensor).__name__} cannot be read by the adapter as an array: {error}; "
            "copy it to main memory first (tensor.detach().cpu() in PyTorch)"
        ) from error


def _turned(array: NDArray[Any]) -> NDArray[Any]:
    """Return a copy with the first and third channel exchanged."""
    channels = array.shape[2] if array.ndim == len("HWC") else 0
    if channels not in _COLOURED:
        raise InvalidArgumentError(
            f"an array of {array.shape} has no colours for an adapter to turn round; BGR is for (H, W, 3) "
            "and (H, W, 4)"
        )
    return np.ascontiguousarray(array[:, :, [2, 1, 0, 3][:channels]])
