"""ImageProperties, ToImage, FromImage: what is known of an image, and its handle."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import penstock
from penstock.errors import InternalError, InvalidArgumentError
from penstock_formats import Image, ImageFrame
from penstock_vision.ports import only_one

if TYPE_CHECKING:
    from penstock import CalculatorContext, CalculatorContract, Input
    from penstock_formats import GpuImage

_IMAGES: Final = ("IMAGE", "IMAGE_CPU", "IMAGE_GPU")


class ImagePropertiesCalculator(penstock.Calculator):
    """Say how large each image is.

    Input, exactly one: IMAGE (Image or ImageFrame), IMAGE_CPU (ImageFrame) or IMAGE_GPU (GpuBuffer of
    penstock-gpu). Output: SIZE (tuple of width and height in pixels). Timestamp offset 0.

    Raises in `get_contract`: InvalidArgumentError for no input or several. In `process`: the same for a
    packet of IMAGE_GPU that is no image on the GPU.

    Source of the behaviour: MediaPipe `calculators/image/image_properties_calculator.cc`.

    Config::

        node {
          calculator: "ImagePropertiesCalculator"
          input_stream: "IMAGE:image"
          output_stream: "SIZE:image_size"
        }
    """

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Declare one image, and its size."""
        _declare_image(cc)
        cc.outputs["SIZE"].set(tuple, "width and height in pixels")
        cc.set_timestamp_offset(0)
        cc.declare(may_skip=False, stateless=True)

    def open(self, cc: CalculatorContext) -> None:
        """Find the input."""
        self._tag = next(tag for tag in _IMAGES if tag in cc.inputs)

    def process(self, cc: CalculatorContext) -> None:
        """Send the size of one image."""
        source = cc.inputs[self._tag]
        if not source.is_empty():
            image = gpu_image(source) if self._tag == "IMAGE_GPU" else source.payload
            cc.outputs["SIZE"].add((image.width, image.height), cc.stamp)


class ToImageCalculator(penstock.Calculator):
    """Make an Image of an ImageFrame or a GpuBuffer; an Image is forwarded as it is.

    Input, exactly one: IMAGE (Image or ImageFrame), IMAGE_CPU (ImageFrame) or IMAGE_GPU (GpuBuffer of
    penstock-gpu). Output: IMAGE (Image, which shares the pixels: a frame must not be written after it was
    sent). Timestamp offset 0.

    Raises in `get_contract`: InvalidArgumentError for no input or several. In `process`: the same for a
    packet of IMAGE_GPU that is no image on the GPU.

    Source of the behaviour: MediaPipe `calculators/util/to_image_calculator.cc`.

    Config::

        node {
          calculator: "ToImageCalculator"
          input_stream: "IMAGE_CPU:frame"
          output_stream: "IMAGE:image"
        }
    """

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Declare one image in and one out."""
        _declare_image(cc)
        cc.outputs["IMAGE"].set(Image, "the same, not copied")
        cc.set_timestamp_offset(0)
        cc.declare(may_skip=False, stateless=True)

    def open(self, cc: CalculatorContext) -> None:
        """Find the input."""
        self._tag = next(tag for tag in _IMAGES if tag in cc.inputs)

    def process(self, cc: CalculatorContext) -> None:
        """Convert one image."""
        source = cc.inputs[self._tag]
        if source.is_empty():
            return
        if isinstance(source.payload, Image):
            cc.outputs["IMAGE"].add_packet(source.packet)
        else:
            image = gpu_image(source) if self._tag == "IMAGE_GPU" else source.payload
            cc.outputs["IMAGE"].add(Image(image), cc.stamp)


class FromImageCalculator(penstock.Calculator):
    """Take an ImageFrame or a GpuBuffer out of an Image.

    Input: IMAGE (Image). Outputs: at most one of IMAGE_CPU (ImageFrame, which shares the pixels; of an
    image on the GPU a copy) and IMAGE_GPU (GpuBuffer of penstock-gpu); SOURCE_ON_GPU (bool, optional: where
    the pixels are). Timestamp offset 0.

    Raises in `get_contract`: InternalError if both images are connected. In `process`: InvalidArgumentError
    for IMAGE_GPU and an image in main memory, which an ImageFrameToGpuBufferCalculator uploads.

    Source of the behaviour: MediaPipe `calculators/util/from_image_calculator.cc`.

    Config::

        node {
          calculator: "FromImageCalculator"
          input_stream: "IMAGE:image"
          output_stream: "IMAGE_CPU:frame"
        }
    """

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Declare one image in and one out.

        Raises:
            InternalError: both images are connected.
        """
        cc.inputs["IMAGE"].set(Image, "an image, wherever it is")
        cc.outputs["IMAGE_CPU"].set(ImageFrame, "it in main memory").optional()
        cc.outputs["IMAGE_GPU"].set_any("it on the GPU, a GpuBuffer").optional()
        cc.outputs["SOURCE_ON_GPU"].set(bool, "whether it is on the GPU").optional()
        if "IMAGE_CPU" in cc.outputs and "IMAGE_GPU" in cc.outputs:
            raise InternalError(
                "outputs IMAGE_CPU and IMAGE_GPU are both connected, but only one can be; use two nodes"
            )
        cc.set_timestamp_offset(0)
        cc.declare(may_skip=False, stateless=True)

    def process(self, cc: CalculatorContext) -> None:
        """Convert one image."""
        source = cc.inputs["IMAGE"]
        if source.is_empty():
            return
        image: Image = source.payload
        if "IMAGE_CPU" in cc.outputs:
            cc.outputs["IMAGE_CPU"].add(image.frame, cc.stamp)
        if "IMAGE_GPU" in cc.outputs:
            if not image.uses_gpu:
                raise InvalidArgumentError(
                    f"the handle {image!r} at input {source.name!r} is in main memory; connect IMAGE_CPU, "
                    "and an ImageFrameToGpuBufferCalculator behind it"
                )
            cc.outputs["IMAGE_GPU"].add(image.held, cc.stamp)
        if "SOURCE_ON_GPU" in cc.outputs:
            cc.outputs["SOURCE_ON_GPU"].add(image.uses_gpu, cc.stamp)


def _declare_image(cc: CalculatorContract) -> None:
    """Declare the one image that a node reads.

    Raises:
        InvalidArgumentError: there is none, or there are several.
    """
    tag = only_one(cc.inputs, _IMAGES, "input")
    if tag == "IMAGE":
        cc.inputs[tag].set_one_of(Image, ImageFrame, description="an image")
    elif tag == "IMAGE_CPU":
        cc.inputs[tag].set(ImageFrame, "an image in main memory")
    else:
        cc.inputs[tag].set_any("an image on the GPU, a GpuBuffer")


def gpu_image(port: Input, taker: str = "IMAGE_GPU", instead: str = "connect IMAGE or IMAGE_CPU") -> GpuImage:
    """Return the image on the GPU that an input holds; its type is another pack's, which may be missing.

    Args:
        port: the input, which has a packet.
        taker: what takes images on the GPU, for the error.
        instead: what to do with other images, for the error.

    Raises:
        InvalidArgumentError: it holds something else.
    """
    image: GpuImage = port.payload
    if not hasattr(type(image), "read_view"):
        raise InvalidArgumentError(
            f"input {port.name!r} holds a {type(image).__name__!r}, but {taker} takes the handle of an "
            f"image on the GPU, such as a GpuBuffer of penstock-gpu; {instead}"
        )
    return image
