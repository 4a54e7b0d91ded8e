"""Frames as JPEG files in memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import cv2

import penstock
from penstock.errors import InvalidArgumentError
from penstock_formats import ImageFormat, ImageFrame
from penstock_image.frame_checks import expect_format
from penstock_image.messages.image_encoder_pb2 import (
    OpenCvImageEncoderCalculatorOptions,
    OpenCvImageEncoderCalculatorResults,
)

if TYPE_CHECKING:
    from penstock import CalculatorContext, CalculatorContract

_FORMATS: Final = (ImageFormat.GRAY8, ImageFormat.SRGB)
#: OpenCV's own.
_QUALITY: Final = 95
_QUALITIES: Final = range(1, 101)
#: What libjpeg can write, `JPEG_MAX_DIMENSION` of its `jmorecfg.h`.
_LONGEST: Final = 65500


class OpenCvImageEncoderCalculator(penstock.Calculator):
    """Encode each frame as JPEG.

    Input: a single untagged stream (ImageFrame, GRAY8 or SRGB). Output: untagged
    (OpenCvImageEncoderCalculatorResults: `encoded_image`, a JPEG file; `width` and `height` in pixels;
    `colorspace`, GRAYSCALE or RGB). Timestamp offset 0. OpenCV runs without the GIL.

    Options `OpenCvImageEncoderCalculatorOptions`: `quality`, 1 to 100. Unless set it is 95, as in OpenCV; the
    reference then takes 0, its worst.

    Raises in `open`: InvalidArgumentError for another quality. In `process`: the same for a frame of another
    format, or with a side of more than 65500 pixels.

    Source of the behaviour: MediaPipe `calculators/image/opencv_image_encoder_calculator.cc`; the file is
    that of OpenCV `imencode`, byte by byte.

    Config::

        node {
          calculator: "OpenCvImageEncoderCalculator"
          input_stream: "frame"
          output_stream: "jpeg"
          node_options {
            [type.googleapis.com/penstock.OpenCvImageEncoderCalculatorOptions] { quality: 80 }
          }
        }
    """

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Declare frames in, files out."""
        cc.inputs[0].set(ImageFrame, "frames (GRAY8, SRGB)")
        cc.outputs[0].set(OpenCvImageEncoderCalculatorResults, "JPEG files")
        cc.set_timestamp_offset(0)
        cc.declare(may_skip=False, stateless=True)

    def open(self, cc: CalculatorContext) -> None:
        """Check the quality."""
        options = cc.options(OpenCvImageEncoderCalculatorOptions)
        self._quality = options.quality if options.HasField("quality") else _QUALITY
        if self._quality not in _QUALITIES:
            raise InvalidArgumentError(
                f"the encoder's quality is {self._quality}, but must be 1 to 100; change it in the options"
            )

    def process(self, cc: CalculatorContext) -> None:
        """Encode one frame."""
        frame: ImageFrame | None = cc.input.payload
        if frame is None:
            return
        name = cc.input.name
        expect_format(frame, _FORMATS, name, "put a ColorConvertCalculator with RGB_OUT before")
        if max(frame.width, frame.height) > _LONGEST:
            raise InvalidArgumentError(
                f"input {name!r} holds {frame!r}, but an encoded JPEG has at most {_LONGEST} pixels on a "
                "side; scale the frame down before the encoder"
            )
        is_gray = frame.format is ImageFormat.GRAY8
        pixels = frame.array if is_gray else cv2.cvtColor(frame.array, cv2.COLOR_RGB2BGR)
        _, file = cv2.imencode(".jpg", pixels, (cv2.IMWRITE_JPEG_QUALITY, self._quality))
        results = OpenCvImageEncoderCalculatorResults
        made = results(
            encoded_image=file.tobytes(),
            width=frame.width,
            height=frame.height,
            colorspace=results.GRAYSCALE if is_gray else results.RGB,
        )
        cc.output.add(made, cc.stamp)
