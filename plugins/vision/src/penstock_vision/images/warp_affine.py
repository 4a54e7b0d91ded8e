"""WarpAffineCalculator, for main memory and for images on the GPU: masks that follow the image."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final

import cv2
import numpy as np

import penstock
from penstock.errors import InvalidArgumentError
from penstock_formats import Image, ImageFrame
from penstock_vision.geometry.matrix_input import matrix_at
from penstock_vision.images.image_handles import gpu_image
from penstock_vision.messages.warp_affine_pb2 import (
    WarpAffineCalculatorOptions,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from penstock import CalculatorContext, CalculatorContract, Input

#: Those of the 4 x 4 numbers that move pixels of a plane.
_COLUMNS: Final = (0, 1, 3)
_METHODS: Final[dict[int, int]] = {
    WarpAffineCalculatorOptions.INTER_CUBIC: cv2.INTER_CUBIC,
    WarpAffineCalculatorOptions.INTER_NEAREST: cv2.INTER_NEAREST,
}


class WarpAffineCalculatorCpu(penstock.Calculator):
    """Move, turn, scale and shear an image by a matrix.

    The matrix maps the output to the input, both in fractions of their sizes.

    Inputs: IMAGE (ImageFrame, any format of 1, 3 or 4 channels of 8 bits or float32); MATRIX (tuple of 16
    numbers, row after row; rows and columns 0, 1 and 3 count); OUTPUT_SIZE (tuple of width and height in
    pixels). Output: IMAGE (ImageFrame, new memory, the format of the input). Timestamp offset 0; where one
    input is empty nothing is sent.

    Options `WarpAffineCalculatorOptions`: `border_mode` (BORDER_REPLICATE; BORDER_ZERO), `interpolation`
    (INTER_LINEAR; INTER_CUBIC, INTER_NEAREST), `gpu_origin` (has no effect: row 0 of each image is its top).

    Raises in `process`: InvalidArgumentError for a size or a matrix that is none.

    Source of the behaviour: MediaPipe `calculators/image/warp_affine_calculator.cc`; OpenCV `warpAffine`,
    which runs without the GIL.

    Config::

        node {
          calculator: "WarpAffineCalculatorCpu"
          input_stream: "IMAGE:crop"
          input_stream: "MATRIX:image_to_crop"
          input_stream: "OUTPUT_SIZE:image_size"
          output_stream: "IMAGE:image"
        }
    """

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Declare an image in and one out, the matrix and the size."""
        cls._declare_images(cc)
        cc.inputs["MATRIX"].set(tuple, "16 numbers: maps the output to the input")
        cc.inputs["OUTPUT_SIZE"].set(tuple, "width and height in pixels")
        cc.set_timestamp_offset(0)
        cc.declare(may_skip=False, stateless=True)

    def open(self, cc: CalculatorContext) -> None:
        """Look at the options."""
        options = cc.options(WarpAffineCalculatorOptions)
        is_zero = options.border_mode == WarpAffineCalculatorOptions.BORDER_ZERO
        self._border = cv2.BORDER_CONSTANT if is_zero else cv2.BORDER_REPLICATE
        method = _METHODS.get(options.interpolation, cv2.INTER_LINEAR)
        self._flags = method | cv2.WARP_INVERSE_MAP

    def process(self, cc: CalculatorContext) -> None:
        """Warp one image."""
        source = cc.inputs["IMAGE"]
        if source.is_empty() or cc.inputs["MATRIX"].is_empty() or cc.inputs["OUTPUT_SIZE"].is_empty():
            return
        matrix, size = matrix_at(cc.inputs["MATRIX"]), _size(cc.inputs["OUTPUT_SIZE"])
        cc.outputs["IMAGE"].add(self._result(source, matrix, size), cc.stamp)

    @classmethod
    def _declare_images(cls, cc: CalculatorContract) -> None:
        cc.inputs["IMAGE"].set(ImageFrame, "what is warped")
        cc.outputs["IMAGE"].set(ImageFrame, "the warped image")

    def _result(self, source: Input, matrix: NDArray[np.float32], size: tuple[int, int]) -> object:
        """Return what is sent for an image."""
        return self._warped(source.payload, matrix, size)

    def _warped(self, frame: ImageFrame, matrix: NDArray[np.float32], size: tuple[int, int]) -> ImageFrame:
        # from fractions to pixels of the input, then of the output: each product is rounded in this order
        of_input, of_output = _pixels(frame.width, frame.height, *size)
        rows = matrix[:2].take(_COLUMNS, axis=1) * of_input * of_output
        found = cv2.warpAffine(frame.array, rows, size, flags=self._flags, borderMode=self._border)
        return ImageFrame(found, frame.format)


class WarpAffineCalculator(WarpAffineCalculatorCpu):
    """Move, turn, scale and shear an Image by a matrix, as `WarpAffineCalculatorCpu` does an ImageFrame.

    Inputs: IMAGE (Image; one on the GPU is copied to main memory first), MATRIX and OUTPUT_SIZE as there.
    Output: IMAGE (Image, new memory, the format of the input; on the GPU if the input is). Timestamp offset
    0.

    Options `WarpAffineCalculatorOptions`, errors and source: as there.

    Config::

        node {
          calculator: "WarpAffineCalculator"
          input_stream: "IMAGE:crop"
          input_stream: "MATRIX:image_to_crop"
          input_stream: "OUTPUT_SIZE:image_size"
          output_stream: "IMAGE:image"
        }
    """

    @classmethod
    def _declare_images(cls, cc: CalculatorContract) -> None:
        cc.inputs["IMAGE"].set(Image, "what is warped")
        cc.outputs["IMAGE"].set(Image, "the warped image")

    def _result(self, source: Input, matrix: NDArray[np.float32], size: tuple[int, int]) -> object:
        image: Image = source.payload
        warped = self._warped(image.frame, matrix, size)
        held = image.held
        return Image(warped if isinstance(held, ImageFrame) else type(held).of_frame(warped))


class WarpAffineCalculatorGpu(WarpAffineCalculatorCpu):
    """Move, turn, scale and shear an image on the GPU by a matrix, as `WarpAffineCalculatorCpu` does.

    It works in main memory: each image is copied there, and the result is uploaded where it is drawn with.

    Inputs: IMAGE (GpuBuffer of penstock-gpu), MATRIX and OUTPUT_SIZE as there. Output: IMAGE (GpuBuffer, new
    memory, the format of the input). Timestamp offset 0.

    Options `WarpAffineCalculatorOptions` and source: as there.

    Raises in `process`: as there, and InvalidArgumentError for a payload that is no image on the GPU.

    Config::

        node {
          calculator: "WarpAffineCalculatorGpu"
          input_stream: "IMAGE:crop"
          input_stream: "MATRIX:image_to_crop"
          input_stream: "OUTPUT_SIZE:image_size"
          output_stream: "IMAGE:image"
        }
    """

    @classmethod
    def _declare_images(cls, cc: CalculatorContract) -> None:
        cc.inputs["IMAGE"].set_any("what is warped, a GpuBuffer")
        cc.outputs["IMAGE"].set_any("the warped image, a GpuBuffer")

    def _result(self, source: Input, matrix: NDArray[np.float32], size: tuple[int, int]) -> object:
        image = gpu_image(source, "this calculator", "use WarpAffineCalculatorCpu")
        return type(image).of_frame(self._warped(image.frame(), matrix, size))


@lru_cache(maxsize=64)
def _pixels(
    width: int, height: int, to_width: int, to_height: int
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Return by what a matrix of shares is multiplied, one after the other, to map pixels to pixels.

    (2, 1) and (1, 3); shared by all callers, so do not write to them.
    """
    of_output = np.float32(1) / np.array([[to_width, to_height, 1]], np.float32)
    return np.array([[width], [height]], np.float32), of_output


def _size(port: Input) -> tuple[int, int]:
    try:
        width, height = port.payload
        is_size = width >= 1 and height >= 1
    except (TypeError, ValueError):
        is_size = False
    if not is_size:
        raise InvalidArgumentError(
            f"input {port.name!r} holds {port.payload!r}, but the size of a warped image is "
            "(width, height), both 1 or more"
        )
    return int(width), int(height)
