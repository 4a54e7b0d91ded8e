"""MotionDetectionCalculator: finds what moves before a still background, without a neural network."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs
import cv2
import numpy as np

import penstock
from penstock.errors import InvalidArgumentError
from penstock_formats import Detection, ImageFormat, ImageFrame, LocationData
from penstock_formats.api import format_converter
from penstock_vision.images.moving_scene import MovingScene

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from penstock import CalculatorContext, CalculatorContract


@attrs.frozen
class MotionDetectionCalculatorOptions:
    """What counts as something that moves.

    Attributes:
        width_px: wider frames are scaled down to this width, at least 16.
        min_area: the least share of the frame that an object covers, 0 to 1.
        threshold: how much a colour differs from the background's: the square of the distance in standard
            deviations, above 0.
        absorb_after_s: something that stops is part of the background after about so many seconds, by the
            timestamps, above 0.
    """

    width_px: int = attrs.field(default=320, validator=attrs.validators.ge(16))
    min_area: float = attrs.field(default=0.003, validator=[attrs.validators.ge(0), attrs.validators.le(1)])
    threshold: float = attrs.field(default=36.0, validator=attrs.validators.gt(0))
    absorb_after_s: float = attrs.field(default=10.0, validator=attrs.validators.gt(0))


class MotionDetectionCalculator(penstock.Calculator):
    """Detect what moves: the boxes around what differs from a background that is learned meanwhile.

    Input IMAGE (ImageFrame, SRGB or GRAY8). Output DETECTIONS (list[Detection]) for each frame, the largest
    object first, maybe empty: a RELATIVE_BOUNDING_BOX around each, in shares of the frame's sides, label
    "moving" and score 1. Timestamp offset 0. It keeps state: the frames that it has seen are its background,
    the first one above all. It need not see every frame: how fast it learns depends on the timestamps.

    The camera may move a little: what the first frame shows is found again in each other one (shift, turn
    and scale). Where it is not found, as after a cut, or where less than half of it is in view, the
    background is learned again, and that frame has no detections. Objects whose contours are
    nearer than 11 pixels, of the scaled frame, are one; shadows do not count.

    Options `MotionDetectionCalculatorOptions`: `width_px` (320), `min_area` (0.003), `threshold` (36),
    `absorb_after_s` (10).

    Raises when the graph is loaded: OptionsError for numbers out of range. In `process`:
    InvalidArgumentError for a frame of another format.

    Source of the background model: Z. Zivkovic, F. van der Heijden, "Efficient adaptive density estimation
    per image pixel for the task of background subtraction", 2006, as in OpenCV (MOG2). It does what
    MediaPipe's MotionAnalysisCalculator is used for in front of a tracker (camera motion, foreground), but
    none of its outputs.

    Config::

        node {
          calculator: "MotionDetectionCalculator"
          input_stream: "IMAGE:frame"
          output_stream: "DETECTIONS:moving"
          node_options {
            [type.googleapis.com/penstock_vision.MotionDetectionCalculatorOptions] { min_area: 0.01 }
          }
        }
    """

    Options = MotionDetectionCalculatorOptions

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Declare the frames and what moves in them."""
        cc.inputs["IMAGE"].set(ImageFrame, "frames (SRGB, GRAY8)")
        cc.outputs["DETECTIONS"].set(list[Detection], "what moves, the largest first")
        cc.set_timestamp_offset(0)
        cc.declare(may_skip=False, stateless=False)

    def open(self, cc: CalculatorContext) -> None:
        """Begin without a background."""
        self._options = cc.options(MotionDetectionCalculatorOptions)
        self._scene = MovingScene(self._options.threshold, self._options.absorb_after_s)
        self._last = 0

    def process(self, cc: CalculatorContext) -> None:
        """Detect what moves in one frame."""
        port = cc.inputs["IMAGE"]
        if port.is_empty():
            return
        frame: ImageFrame = port.payload
        if frame.format not in (ImageFormat.SRGB, ImageFormat.GRAY8):
            raise InvalidArgumentError(
                f"input 'IMAGE' holds {frame!r}, but motion detection takes SRGB or GRAY8; put a "
                f"{format_converter(frame.format)} before"
            )
        image = _scaled(frame.array, self._options.width_px)
        height, width = image.shape[:2]
        elapsed_s, self._last = max(cc.stamp - self._last, 0) / 1e6, cc.stamp
        least = self._options.min_area * width * height
        cc.outputs["DETECTIONS"].add(
            [
                _detection(
                    region.left / width, region.top / height, region.width / width, region.height / height
                )
                for region in self._scene.regions(image, elapsed_s)
                if region.area >= least
            ],
            cc.stamp,
        )


def _scaled(image: NDArray[np.uint8], width: int) -> NDArray[np.uint8]:
    """Return an image that is at most `width` pixels wide."""
    if image.shape[1] <= width:
        return image
    height = max(1, round(image.shape[0] * width / image.shape[1]))
    return np.asarray(cv2.resize(image, (width, height), interpolation=cv2.INTER_AREA), np.uint8)


def _detection(xmin: float, ymin: float, width: float, height: float) -> Detection:
    box = LocationData.RelativeBoundingBox(xmin=xmin, ymin=ymin, width=width, height=height)
    place = LocationData(format=LocationData.RELATIVE_BOUNDING_BOX, relative_bounding_box=box)
    return Detection(label=["moving"], score=[1.0], location_data=place)
