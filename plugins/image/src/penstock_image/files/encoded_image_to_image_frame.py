"""Image files in memory as frames."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import cv2
import numpy as np

import penstock
from penstock.errors import InvalidArgumentError, PenstockError, StatusCode
from penstock_formats import ImageFrame
from penstock_image.messages.encoded_image_to_image_frame_pb2 import (
    OpenCvEncodedImageToImageFrameCalculatorOptions,
)
from penstock_image.pictures.picture_decoding import FORMATS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from penstock import CalculatorContext, CalculatorContract


class OpenCvEncodedImageToImageFrameCalculator(penstock.Calculator):
    """Decode image files: JPEG, PNG, WebP, TIFF, BMP and whatever else OpenCV reads.

    Input: a single untagged stream (bytes, each packet one file). Output: untagged (ImageFrame, new memory:
    GRAY8, SRGB or SRGBA; GRAY16, SRGB48 or SRGBA64 where the file has 16 bits a channel, which the reference
    does not decode). Timestamp offset 0. OpenCV runs without the GIL.

    Options `OpenCvEncodedImageToImageFrameCalculatorOptions`: `apply_orientation_from_exif_data` (false)
    turns and flips a photo as its EXIF data say, and drops an alpha channel.

    Raises in `process`: PenstockError with the code INTERNAL, as the reference, for bytes that are no image
    which OpenCV reads, and for an image of more than 2**30 pixels, or as many as the environment variable
    OPENCV_IO_MAX_IMAGE_PIXELS says; InvalidArgumentError for one of another number of channels or type, such
    as float32.

    Source of the behaviour: MediaPipe `calculators/image/opencv_encoded_image_to_image_frame_calculator.cc`;
    the pixels are those of OpenCV `imdecode`.

    Config::

        node {
          calculator: "OpenCvEncodedImageToImageFrameCalculator"
          input_stream: "file"
          output_stream: "frame"
        }
    """

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Declare files in, frames out."""
        cc.inputs[0].set(bytes, "image files")
        cc.outputs[0].set(ImageFrame, "frames")
        cc.set_timestamp_offset(0)
        cc.declare(may_skip=False, stateless=True)

    def open(self, cc: CalculatorContext) -> None:
        """Read the option."""
        options = cc.options(OpenCvEncodedImageToImageFrameCalculatorOptions)
        is_turned = options.apply_orientation_from_exif_data
        self._flags = cv2.IMREAD_ANYCOLOR | cv2.IMREAD_ANYDEPTH if is_turned else cv2.IMREAD_UNCHANGED

    def process(self, cc: CalculatorContext) -> None:
        """Decode one file."""
        file: bytes | None = cc.input.payload
        if file is None:
            return
        pixels = self._decoded(file, cc.input.name)
        channels = 1 if pixels.ndim == 2 else pixels.shape[2]  # noqa: PLR2004  # rows and columns
        found = FORMATS.get((channels, pixels.dtype))
        if found is None:
            raise InvalidArgumentError(
                f"the encoded image of input {cc.input.name!r} has {channels} channels of {pixels.dtype}, "
                "but frames are made of 1, 3 or 4 channels of 8 or 16 bits; convert the file"
            )
        kind, code = found
        if code is not None:
            pixels = cv2.cvtColor(pixels, code)
        cc.output.add(ImageFrame(pixels, kind), cc.stamp)

    def _decoded(self, file: bytes, port: str) -> NDArray[Any]:
        """Return the pixels, in OpenCV's order of colours."""
        fault = ""
        pixels: Any = None
        if file:  # OpenCV refuses an empty one with a word about its own code
            try:
                pixels = cv2.imdecode(np.frombuffer(file, np.uint8), self._flags)
            except cv2.error as error:
                fault = f" ({error.err})"
        if pixels is None:
            raise PenstockError(
                f"the encoded image of input {port!r} is none that OpenCV {cv2.__version__} reads{fault}: "
                f"{len(file)} bytes that begin with {file[:8]!r}; look at the node that made it",
                code=StatusCode.INTERNAL,
                stream=port,
            )
        return np.asarray(pixels)
