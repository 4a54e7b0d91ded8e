"""DetectionsToRectsCalculator: makes a rectangle of each detection."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

import penstock
from penstock.errors import InvalidArgumentError
from penstock_formats import Detection, LocationData, NormalizedRect, Rect
from penstock_vision.detections.keypoints import keypoint_in_pixels, rotation_between
from penstock_vision.geometry.image_size import image_size
from penstock_vision.geometry.single_precision import GREATEST, HALF, TWO, f32
from penstock_vision.messages.detections_to_rects_pb2 import DetectionsToRectsCalculatorOptions
from penstock_vision.ports import only_one

if TYPE_CHECKING:
    from collections.abc import Callable

    from penstock import CalculatorContext, CalculatorContract
    from penstock_vision.geometry.image_size import ImageSize
    from penstock_vision.geometry.single_precision import Float32

_INPUTS: Final = ("DETECTION", "DETECTIONS")
_OUTPUTS: Final = {
    "NORM_RECT": NormalizedRect,
    "RECT": Rect,
    "NORM_RECTS": list[NormalizedRect],
    "RECTS": list[Rect],
}
_OF_ZEROS: Final[dict[str, Callable[[], object]]] = {
    "NORM_RECT": NormalizedRect,
    "RECT": Rect,
    "NORM_RECTS": lambda: [NormalizedRect()],
}
_LEAST_KEYPOINTS: Final = 2
_MOST_PIXELS: Final = 2.0**31 - 1


class DetectionsToRectsCalculator(penstock.Calculator):
    """Makes a rectangle of each detection, rotated as two of its keypoints say.

    Inputs: DETECTION (Detection) or DETECTIONS (list[Detection]); IMAGE_SIZE (tuple of width and height in
    pixels), needed for rotations and for RECT and RECTS from keypoints. Output, exactly one:
    NORM_RECT or RECT (of the first detection), NORM_RECTS or RECTS (lists, of all). RECT is in pixels.
    Timestamp offset 0. An empty list gives no packet. While rotations are asked for, no packet of
    IMAGE_SIZE gives no packet either.

    The rectangle is the bounding box, which for NORM_RECT must have the format RELATIVE_BOUNDING_BOX and
    for RECT the format BOUNDING_BOX; or the box around all keypoints, of which there must be two. The
    rotation, in radians and clockwise, turns the vector between two keypoints to an angle: that of a hand
    from the wrist to the middle finger to 90 degrees, for example, so the hand is upright in the rectangle.

    Options `DetectionsToRectsCalculatorOptions`: `conversion_mode` (DEFAULT, as USE_BOUNDING_BOX; or
    USE_KEYPOINTS); `rotation_vector_start_keypoint_index` and `rotation_vector_end_keypoint_index` (not
    set: no rotation); `rotation_vector_target_angle` in radians or `rotation_vector_target_angle_degrees`;
    `output_zero_rect_for_empty_detections` (false): an empty list gives a rectangle without values, which
    ImageToTensorCalculator ignores (NORM_RECTS: a list with it; RECTS: still no packet).

    Raises in the contract: InvalidArgumentError for no input or output, or several. In `open`: the same for a
    start without an end, without exactly one angle or without IMAGE_SIZE. In `process`: the same for
    a detection of another format, with too few keypoints, or for a size that is none; (0, 0) is one only
    without a rotation.

    Source of the behaviour: MediaPipe `calculators/util/detections_to_rects_calculator.cc`.

    Config::

        node {
          calculator: "DetectionsToRectsCalculator"
          input_stream: "DETECTION:palm"
          input_stream: "IMAGE_SIZE:image_size"
          output_stream: "NORM_RECT:palm_rect"
          options {
            [penstock.DetectionsToRectsCalculatorOptions.ext] {
              rotation_vector_start_keypoint_index: 0
              rotation_vector_end_keypoint_index: 2
              rotation_vector_target_angle_degrees: 90
            }
          }
        }
    """

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Declare one input of detections and one output of rectangles.

        Raises:
            InvalidArgumentError: there are none, or several.
        """
        tag = only_one(cc.inputs, _INPUTS, "input")
        cc.inputs[tag].set(Detection if tag == "DETECTION" else list[Detection], "what was found")
        cc.inputs["IMAGE_SIZE"].set(tuple, "width and height of the image in pixels").optional()
        tag = only_one(cc.outputs, tuple(_OUTPUTS), "output")
        cc.outputs[tag].set(_OUTPUTS[tag], "where it is")
        cc.set_timestamp_offset(0)
        cc.declare(may_skip=True, stateless=True)

    def open(self, cc: CalculatorContext) -> None:
        """Check the options.

        Raises:
            InvalidArgumentError: a start keypoint has no end, no angle, two angles, or no IMAGE_SIZE.
        """
        options = cc.options(DetectionsToRectsCalculatorOptions)
        self._is_list = "DETECTIONS" in cc.inputs
        self._output = next(tag for tag in _OUTPUTS if tag in cc.outputs)
        self._has_size = "IMAGE_SIZE" in cc.inputs
        self._zeros = options.output_zero_rect_for_empty_detections
        self._by_keypoints = options.conversion_mode == DetectionsToRectsCalculatorOptions.USE_KEYPOINTS
        self._open_rotation(options)

    def _open_rotation(self, options: DetectionsToRectsCalculatorOptions) -> None:
        """Determine whether rectangles are rotated, and by which keypoints and angle."""
        self._rotates = options.HasField("rotation_vector_start_keypoint_index")
        if not self._rotates:
            return
        if not options.HasField("rotation_vector_end_keypoint_index"):
            raise InvalidArgumentError(
                "for rotated rects rotation_vector_start_keypoint_index is set, but "
                "rotation_vector_end_keypoint_index is not; set both in the options, or neither"
            )
        in_radians = options.HasField("rotation_vector_target_angle")
        if in_radians == options.HasField("rotation_vector_target_angle_degrees"):
            raise InvalidArgumentError(
                f"{'both' if in_radians else 'neither'} of rotation_vector_target_angle and "
                "rotation_vector_target_angle_degrees are set, but a rotated rect needs exactly one; change "
                "it in the options"
            )
        if not self._has_size:
            raise InvalidArgumentError(
                "there is no input IMAGE_SIZE, but rotations of rects are computed in pixels; connect the "
                "SIZE of an ImagePropertiesCalculator"
            )
        self._start = options.rotation_vector_start_keypoint_index
        self._end = options.rotation_vector_end_keypoint_index
        degrees = options.rotation_vector_target_angle_degrees
        self._target = f32(options.rotation_vector_target_angle if in_radians else math.pi * degrees / 180.0)

    def process(self, cc: CalculatorContext) -> None:
        """Make the rectangles of one list."""
        port = cc.inputs["DETECTIONS" if self._is_list else "DETECTION"]
        if port.is_empty():
            return
        has_size = self._has_size and not cc.inputs["IMAGE_SIZE"].is_empty()
        if self._rotates and not has_size:
            return
        detections = port.payload if self._is_list else (port.payload,)
        output = self._output
        if not detections:
            if self._zeros and output in _OF_ZEROS:
                cc.outputs[output].add(_OF_ZEROS[output](), cc.stamp)
            return
        # a box of an image without pixels has none; a rotation and a square need some
        size = image_size(cc.inputs["IMAGE_SIZE"], may_be_empty=not self._rotates) if has_size else None
        make = self._normalized_rect if output.startswith("NORM") else self._rect
        made = [make(one, size) for one in detections] if output.endswith("S") else make(detections[0], size)
        cc.outputs[output].add(made, cc.stamp)

    def _normalized_rect(self, detection: Detection, size: ImageSize | None) -> NormalizedRect:
        x, y, width, height = self.place(detection, size)
        rect = NormalizedRect(x_center=float(x), y_center=float(y), width=float(width), height=float(height))
        if self._rotates and size is not None:
            rect.rotation = float(self.rotation(detection, size))
        return rect

    def _rect(self, detection: Detection, size: ImageSize | None) -> Rect:
        x, y, width, height = self.place_in_pixels(detection, size)
        rect = Rect(x_center=x, y_center=y, width=width, height=height)
        if self._rotates and size is not None:
            rect.rotation = float(self.rotation(detection, size))
        return rect

    def place(
        self,
        detection: Detection,
        size: ImageSize | None,  # noqa: ARG002  # subclasses need it
    ) -> tuple[Float32, Float32, Float32, Float32]:
        """Return x, y of the centre, width and height of a rectangle in fractions of the image's size."""
        location = detection.location_data
        if self._by_keypoints:
            return _around_keypoints(location)
        if location.format != LocationData.RELATIVE_BOUNDING_BOX:
            raise _format_error(location, "NORM_RECT", "RELATIVE_BOUNDING_BOX")
        box = location.relative_bounding_box
        width, height = f32(box.width), f32(box.height)
        return f32(box.xmin) + width * HALF, f32(box.ymin) + height * HALF, width, height

    def rotation(self, detection: Detection, size: ImageSize) -> Float32:
        """Return the rotation of a detection's rectangle in radians."""
        start = keypoint_in_pixels(detection, self._start, size)
        end = keypoint_in_pixels(detection, self._end, size)
        return rotation_between(start, end, self._target)

    def place_in_pixels(self, detection: Detection, size: ImageSize | None) -> tuple[int, int, int, int]:
        """Return x, y of the centre, width and height of a rectangle in pixels."""
        location = detection.location_data
        if not self._by_keypoints:
            if location.format != LocationData.BOUNDING_BOX:
                raise _format_error(location, "RECT", "BOUNDING_BOX")
            box = location.bounding_box
            return box.xmin + _half(box.width), box.ymin + _half(box.height), box.width, box.height
        if size is None:
            raise InvalidArgumentError(
                "there is no packet of IMAGE_SIZE, but RECT of keypoints is in pixels; connect the SIZE of "
                "an ImagePropertiesCalculator, or use NORM_RECT"
            )
        x, y, width, height = _around_keypoints(location)
        return (
            rounded(x * size.width),
            rounded(y * size.height),
            rounded(width * size.width),
            rounded(height * size.height),
        )


def _around_keypoints(location: LocationData) -> tuple[Float32, Float32, Float32, Float32]:
    """Return centre and size of the box around all keypoints."""
    keypoints = location.relative_keypoints
    if len(keypoints) < _LEAST_KEYPOINTS:
        raise InvalidArgumentError(
            f"a detection has {len(keypoints)} keypoints, but a box around keypoints needs "
            f"{_LEAST_KEYPOINTS} or more; use the bounding box (USE_BOUNDING_BOX)"
        )
    xs, ys = [one.x for one in keypoints], [one.y for one in keypoints]
    left, right = f32(min(GREATEST, *xs)), f32(max(-GREATEST, *xs))
    top, bottom = f32(min(GREATEST, *ys)), f32(max(-GREATEST, *ys))
    return (left + right) / TWO, (top + bottom) / TWO, right - left, bottom - top


def _half(number: int) -> int:
    """Return half of a number, rounded towards 0."""
    return int(number / 2)


def rounded(number: Float32) -> int:
    """Return the nearest integer; of two the one that is farther from 0.

    Raises:
        InvalidArgumentError: it does not fit into 32 bits, or is NaN.
    """
    if not abs(number) < _MOST_PIXELS:
        raise InvalidArgumentError(
            f"a rectangle of keypoints has the number {number} in pixels, but it must fit into 32 bits; "
            "connect detections whose keypoints are in the image"
        )
    nearest = math.floor(abs(float(number)) + 0.5)
    return -nearest if number < 0 else nearest


def _format_error(location: LocationData, output: str, wanted: str) -> InvalidArgumentError:
    found = LocationData.Format.Name(location.format)
    return InvalidArgumentError(
        f"a detection's location has the format {found}, but output {output} is made of {wanted}; connect "
        "other detections, or another output"
    )
