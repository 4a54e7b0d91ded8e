"""FrameAnnotationToRectCalculator: makes a rectangle around each object of a frame."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

import numpy as np

import penstock
from penstock.errors import InvalidArgumentError
from penstock_formats import FrameAnnotation, NormalizedRect
from penstock_vision.geometry.single_precision import GREATEST, SMALLEST, TWO, direction, f32
from penstock_vision.messages.frame_annotation_to_rect_pb2 import FrameAnnotationToRectCalculatorOptions

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from penstock import CalculatorContext, CalculatorContract
    from penstock_formats import ObjectAnnotation
    from penstock_vision.geometry.single_precision import Float32

_Y, _Z = 1, 2
_NUMBERS: Final = {"rotation": 9, "translation": 3}


class FrameAnnotationToRectCalculator(penstock.Calculator):
    """Makes a rectangle around the points of each object, rotated so that the object is upright in it.

    Input FRAME_ANNOTATION (FrameAnnotation, with rotation and translation, as
    Lift2DFrameAnnotationTo3DCalculator sends it); output NORM_RECTS (list[NormalizedRect]), one for each
    object, in order. Timestamp offset 0.

    An object that is seen from the side has its y axis upright in the rectangle, one that is seen from
    above its z axis. It is seen from above while the angle `acos(rotation[2][1])` is less than a threshold;
    the threshold depends on how the object before was seen, in this or an earlier frame. As in the
    reference the right and the lower edge are found by a search that starts just above 0.

    Options `FrameAnnotationToRectCalculatorOptions`, in degrees: `off_threshold` (40) while the object
    before was seen from the side, `on_threshold` (41) while from above.

    Raises in `open`: InvalidArgumentError where off_threshold is above on_threshold. In `process`: the same
    for an object without rotation or translation.

    Source of the behaviour: MediaPipe `modules/objectron/calculators/frame_annotation_to_rect_calculator.cc`.
    The results were not compared with the reference: its wheel does not have the models.

    Config::

        node {
          calculator: "FrameAnnotationToRectCalculator"
          input_stream: "FRAME_ANNOTATION:objects_in_space"
          output_stream: "NORM_RECTS:rects"
        }
    """

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Declare an annotation in, rectangles out."""
        cc.inputs["FRAME_ANNOTATION"].set(FrameAnnotation, "objects in space")
        cc.outputs["NORM_RECTS"].set(list[NormalizedRect], "where each is in the image")
        cc.set_timestamp_offset(0)
        cc.declare(may_skip=False, stateless=True)

    def open(self, cc: CalculatorContext) -> None:
        """Check the thresholds.

        Raises:
            InvalidArgumentError: off_threshold is above on_threshold.
        """
        options = cc.options(FrameAnnotationToRectCalculatorOptions)
        if not options.off_threshold <= options.on_threshold:
            raise InvalidArgumentError(
                f"the annotations' off_threshold is {options.off_threshold:g} and on_threshold "
                f"{options.on_threshold:g}, but for a rect the first must not be above the second; change "
                "them in the options"
            )
        self._thresholds = {False: options.off_threshold, True: options.on_threshold}
        self._from_above = False

    def process(self, cc: CalculatorContext) -> None:
        """Make the rectangles of one frame."""
        if cc.input.is_empty():
            return
        cc.output.add([self._rect(one) for one in cc.input.payload.annotations], cc.stamp)

    def _rect(self, annotation: ObjectAnnotation) -> NormalizedRect:
        xs = [one.point_2d.x for one in annotation.keypoints]
        ys = [one.point_2d.y for one in annotation.keypoints]
        left, right = f32(min([GREATEST, *xs])), f32(max([SMALLEST, *xs]))
        top, bottom = f32(min([GREATEST, *ys])), f32(max([SMALLEST, *ys]))
        return NormalizedRect(
            x_center=float((left + right) / TWO),
            y_center=float((top + bottom) / TWO),
            width=float(right - left),
            height=float(bottom - top),
            rotation=float(self._rotation(annotation)),
        )

    def _rotation(self, annotation: ObjectAnnotation) -> Float32:
        for name, wanted in _NUMBERS.items():
            found = len(getattr(annotation, name))
            if found != wanted:
                raise InvalidArgumentError(
                    f"the {name} of an object has {found} numbers, but {wanted} are needed; put a "
                    "Lift2DFrameAnnotationTo3DCalculator before"
                )
        rotation = np.array(annotation.rotation, np.float32).reshape(3, 3)
        translation = np.array(annotation.translation, np.float32)
        upright = rotation[2, 1]
        # not a number beyond -1 and 1, which a map that is no rotation can have: then it is the side
        degrees = f32(math.acos(upright)) * f32(180) / f32(math.pi) if abs(upright) <= 1 else f32(math.nan)
        self._from_above = bool(degrees < f32(self._thresholds[self._from_above]))
        return _upright(rotation[:, _Z if self._from_above else _Y], translation)


def _upright(axis: NDArray[np.float32], translation: NDArray[np.float32]) -> Float32:
    """Return the rotation in radians that makes an axis of an object upright in the image.

    Args:
        axis: its direction, before the camera.
        translation: where the object is.
    """
    plus, minus = translation + axis, translation - axis
    along = minus[2] * minus[0] - plus[2] * plus[0]
    across = minus[2] * minus[1] - plus[2] * plus[1]
    return f32(math.pi / 2 - float(direction(along, across)))
