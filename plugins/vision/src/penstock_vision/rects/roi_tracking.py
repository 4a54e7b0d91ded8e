"""RoiTrackingCalculator: chooses between the rectangle of the last frame and the rectangle of this one."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, NamedTuple

import penstock
from penstock_formats import NormalizedLandmarkList, NormalizedRect
from penstock_vision.geometry.boxes import Box
from penstock_vision.geometry.image_size import image_size
from penstock_vision.geometry.single_precision import HALF, cosine, f32, sine
from penstock_vision.landmarks.landmark_table import LandmarkTable, X, Y
from penstock_vision.messages.roi_tracking_pb2 import RoiTrackingCalculatorOptions

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from penstock import CalculatorContext, CalculatorContract
    from penstock_vision.geometry.image_size import ImageSize
    from penstock_vision.geometry.single_precision import Float32

_HALF_TURN: Final = f32(180)
_FULL_TURN: Final = f32(360)
_INFINITE: Final = f32(math.inf)


class RoiTrackingCalculator(penstock.Calculator):
    """Goes on with the rectangle of the last frame while it is near that of this frame.

    A rectangle made of the last frame's landmarks is steadier than one that another model finds anew in
    each frame, until the thing moves too far. Inputs: PREV_LANDMARKS (NormalizedLandmarkList) and
    PREV_LANDMARKS_RECT (NormalizedRect) of the last frame, RECROP_RECT (NormalizedRect) of this frame,
    IMAGE_SIZE (tuple of width and height in pixels). Output TRACKING_RECT (NormalizedRect), one of the two
    packets itself. Timestamp offset 0. Without RECROP_RECT nothing is sent; without PREV_LANDMARKS_RECT it
    is RECROP_RECT; otherwise PREV_LANDMARKS_RECT if every requirement in the options holds, else
    RECROP_RECT.

    Options `RoiTrackingCalculatorOptions`, each part only where it is given:

    - `iou_requirements`: intersection over union is at least `min_iou` (0.5). **As in the reference the
      rectangles are taken as upright, with their centres as corners, and ones that do not touch hold too.**
    - `rect_requirements`: rotations differ by at most `rotation_degrees` (10); in the directions of the
      re-crop rectangle the centres differ by at most `translation` (0.1) and the sides by at most `scale`
      (0.1), both in lengths of its sides.
    - `landmarks_requirements`: all landmarks are inside the re-crop rectangle, whose sides grow by
      `recrop_rect_margin` (0; a negative one shrinks them) in lengths of these sides.

    Raises in `process`: InvalidArgumentError for rectangles without a valid IMAGE_SIZE.

    Source of the behaviour: MediaPipe `modules/holistic_landmark/calculators/roi_tracking_calculator.cc`.

    Config::

        node {
          calculator: "RoiTrackingCalculator"
          input_stream: "PREV_LANDMARKS:last_hand_landmarks"
          input_stream: "PREV_LANDMARKS_RECT:last_hand_rect"
          input_stream: "RECROP_RECT:hand_rect_of_pose"
          input_stream: "IMAGE_SIZE:image_size"
          output_stream: "TRACKING_RECT:hand_rect"
          options {
            [penstock.RoiTrackingCalculatorOptions.ext] {
              rect_requirements { rotation_degrees: 40 translation: 0.2 scale: 0.4 }
              landmarks_requirements { recrop_rect_margin: -0.1 }
            }
          }
        }
    """

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Declare what is known of the last frame and of this one, and the choice."""
        cc.inputs["PREV_LANDMARKS"].set(NormalizedLandmarkList, "landmarks of the last frame")
        cc.inputs["PREV_LANDMARKS_RECT"].set(NormalizedRect, "the rectangle made of them")
        cc.inputs["RECROP_RECT"].set(NormalizedRect, "the rectangle found in this frame")
        cc.inputs["IMAGE_SIZE"].set(tuple, "width and height of the image in pixels")
        cc.outputs["TRACKING_RECT"].set(NormalizedRect, "one of both rectangles")
        cc.set_timestamp_offset(0)
        cc.declare(may_skip=False, stateless=True)

    def open(self, cc: CalculatorContext) -> None:
        """Determine the requirements."""
        options = cc.options(RoiTrackingCalculatorOptions)
        self._iou = options.iou_requirements if options.HasField("iou_requirements") else None
        self._rect = options.rect_requirements if options.HasField("rect_requirements") else None
        landmarks = options.landmarks_requirements
        self._landmarks = landmarks if options.HasField("landmarks_requirements") else None

    def process(self, cc: CalculatorContext) -> None:
        """Choose a rectangle."""
        recrop, last = cc.inputs["RECROP_RECT"], cc.inputs["PREV_LANDMARKS_RECT"]
        if recrop.is_empty():
            return
        keeps = not last.is_empty() and self._holds(cc, last.payload, recrop.payload)
        cc.outputs["TRACKING_RECT"].add_packet(last.packet if keeps else recrop.packet)

    def _holds(self, cc: CalculatorContext, last: NormalizedRect, recrop: NormalizedRect) -> bool:
        """Return whether all requirements hold."""
        size = image_size(cc.inputs["IMAGE_SIZE"])
        if self._iou is not None and not _overlap(last, recrop, size, f32(self._iou.min_iou)):
            return False
        if self._rect is None and self._landmarks is None:
            return True
        frame = _Frame.of(recrop, size)
        if self._rect is not None and not _is_near(frame, frame.turned(last, size), self._rect):
            return False
        port = cc.inputs["PREV_LANDMARKS"]
        if self._landmarks is None or port.is_empty():
            return True
        points = LandmarkTable.of(port.payload).values
        return frame.contains(points, size, f32(self._landmarks.recrop_rect_margin))


class _Turned(NamedTuple):
    """A rectangle in pixels; its centre is turned by the angle that makes another one upright."""

    x: Float32
    y: Float32
    width: Float32
    height: Float32
    degrees: Float32


class _Frame(NamedTuple):
    """The re-crop rectangle, turned upright around the corner of the image."""

    #: `cos`, `sin`: of the angle that turns it.
    cos: Float32
    sin: Float32
    #: It, turned.
    rect: _Turned

    @classmethod
    def of(cls, recrop: NormalizedRect, size: ImageSize) -> _Frame:
        angle = -f32(recrop.rotation)
        cos, sin = cosine(angle), sine(angle)
        return cls(cos, sin, _turned(recrop, size, cos, sin))

    def turned(self, rect: NormalizedRect, size: ImageSize) -> _Turned:
        return _turned(rect, size, self.cos, self.sin)

    def contains(self, points: NDArray[np.float32], size: ImageSize, margin: Float32) -> bool:
        """Return whether points, in fractions of the image, are all inside."""
        rect = self.rect
        grown = f32(1) + margin
        half_width, half_height = rect.width * grown * HALF, rect.height * grown * HALF
        x, y = points[:, X] * size.width, points[:, Y] * size.height
        along, across = x * self.cos - y * self.sin, x * self.sin + y * self.cos
        inside = (rect.x - half_width < along) & (along < rect.x + half_width)
        inside &= (rect.y - half_height < across) & (across < rect.y + half_height)
        return bool(inside.all())


def _turned(rect: NormalizedRect, size: ImageSize, cos: Float32, sin: Float32) -> _Turned:
    x, y = f32(rect.x_center) * size.width, f32(rect.y_center) * size.height
    return _Turned(
        x * cos - y * sin,
        x * sin + y * cos,
        f32(rect.width) * size.width,
        f32(rect.height) * size.height,
        f32(rect.rotation / math.pi * 180.0),
    )


def _is_near(
    frame: _Frame, last: _Turned, requirements: RoiTrackingCalculatorOptions.RectRequirements
) -> bool:
    recrop = frame.rect
    angle = last.degrees - recrop.degrees
    if angle > _HALF_TURN:
        angle -= _FULL_TURN
    if angle < -_HALF_TURN:
        angle += _FULL_TURN
    translation, scale = f32(requirements.translation), f32(requirements.scale)
    return not (
        abs(angle) > f32(requirements.rotation_degrees)
        or abs(last.x - recrop.x) > recrop.width * translation
        or abs(last.y - recrop.y) > recrop.height * translation
        or abs(last.width - recrop.width) > recrop.width * scale
        or abs(last.height - recrop.height) > recrop.height * scale
    )


def _overlap(last: NormalizedRect, recrop: NormalizedRect, size: ImageSize, least: Float32) -> bool:
    """Return whether the rectangles overlap enough, their centres taken as corners as in the reference."""
    one, other = _box_at_center(last, size), _box_at_center(recrop, size)
    both = one.overlap(other)
    if both is None:
        # the reference's empty rectangle has sides of minus infinity: its area is infinite
        both = _INFINITE
    return not both < (one.area() + other.area() - both) * least


def _box_at_center(rect: NormalizedRect, size: ImageSize) -> Box:
    return Box.of(
        f32(rect.x_center) * size.width,
        f32(rect.y_center) * size.height,
        f32(rect.width) * size.width,
        f32(rect.height) * size.height,
    )
