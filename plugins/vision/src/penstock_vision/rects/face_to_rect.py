"""FaceToRectCalculator: makes a square around a face of its eyes and its mouth."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from penstock.errors import InvalidArgumentError
from penstock_vision.detections.detections_to_rects import DetectionsToRectsCalculator, rounded
from penstock_vision.detections.keypoints import keypoint_in_pixels
from penstock_vision.geometry.single_precision import HALF, ZERO, direction, f32, normalized_angle, root
from penstock_vision.messages.face_to_rect_pb2 import FaceToRectCalculatorOptions

if TYPE_CHECKING:
    from penstock import CalculatorContext
    from penstock_formats import Detection
    from penstock_vision.detections.keypoints import Point
    from penstock_vision.geometry.image_size import ImageSize
    from penstock_vision.geometry.single_precision import Float32

#: What a number of the options is where it is 0 or not set.
_DEFAULTS: Final = FaceToRectCalculatorOptions(
    eye_landmark_size=2,
    mouth_landmark_size=2,
    eye_to_mouth_mix=0.1,
    eye_to_mouth_scale=3.6,
    eye_to_eye_scale=4.0,
)
_ONE: Final = f32(1)


class FaceToRectCalculator(DetectionsToRectsCalculator):
    """Makes a rotated square around a face, by the keypoints of its eyes and its mouth.

    Ports and timestamps are as in DetectionsToRectsCalculator; IMAGE_SIZE is needed. The first keypoints of a
    detection are the left eye's, then come as many of the right eye, the nose's, which do not count, and the
    mouth's; more may follow. Eyes and mouth are the means of their keypoints in pixels.

    The centre is on the way from between the eyes to the mouth, at `eye_to_mouth_mix`. The side is
    `eye_to_mouth_scale` times the distance of eyes and mouth, or `eye_to_eye_scale` times the distance of
    both eyes, whichever is greater. Both are rounded to whole pixels, for NORM_RECT and NORM_RECTS too. The
    rotation, in radians and clockwise, is how far the face is turned, by its eyes and its mouth together.

    Options `FaceToRectCalculatorOptions`: `eye_landmark_size` (2), `nose_landmark_size` (0),
    `mouth_landmark_size` (2), `eye_to_mouth_mix` (0.1), `eye_to_mouth_scale` (3.6), `eye_to_eye_scale` (4). A
    number that is set to 0 has the value in brackets.

    Raises in `open`: InvalidArgumentError without IMAGE_SIZE, or for a negative number of keypoints. In
    `process`: the same for a detection with too few keypoints, or for a size that is none.

    Source of the behaviour: MediaPipe `calculators/util/face_to_rect_calculator.cc`.

    Config::

        node {
          calculator: "FaceToRectCalculator"
          input_stream: "DETECTION:face"
          input_stream: "IMAGE_SIZE:image_size"
          output_stream: "NORM_RECT:face_rect"
          node_options {
            [type.googleapis.com/penstock.FaceToRectCalculatorOptions] {
              eye_landmark_size: 1
              nose_landmark_size: 2
              mouth_landmark_size: 1
            }
          }
        }
    """

    def open(self, cc: CalculatorContext) -> None:
        """Check the options.

        Raises:
            InvalidArgumentError: there is no IMAGE_SIZE, or a number of keypoints is negative.
        """
        super().open(cc)
        if not self._has_size:
            raise InvalidArgumentError(
                "there is no input IMAGE_SIZE, but the face's square is computed in pixels; connect the "
                "SIZE of an ImagePropertiesCalculator"
            )
        self._rotates = True
        options = FaceToRectCalculatorOptions()
        options.MergeFrom(_DEFAULTS)
        options.MergeFrom(cc.options(FaceToRectCalculatorOptions))
        for name in ("eye_landmark_size", "nose_landmark_size", "mouth_landmark_size"):
            count = getattr(options, name)
            if count < 0:
                raise InvalidArgumentError(
                    f"the face's {name} is {count}, but must be 0 or more; change it in the options"
                )
        self._eye, self._mouth = options.eye_landmark_size, options.mouth_landmark_size
        self._before_mouth = 2 * self._eye + options.nose_landmark_size
        self._mix = f32(options.eye_to_mouth_mix)
        self._scales = f32(options.eye_to_mouth_scale), f32(options.eye_to_eye_scale)

    def place(
        self, detection: Detection, size: ImageSize | None
    ) -> tuple[Float32, Float32, Float32, Float32]:
        """Return x, y of the centre and the sides of the square, in fractions of the image's size."""
        assert size is not None  # noqa: S101  # without a size `process` has returned, since rects are rotated
        x, y, width, height = map(f32, self.place_in_pixels(detection, size))
        across, down = _ONE / size.width, _ONE / size.height
        return x * across, y * down, width * across, height * down

    def place_in_pixels(self, detection: Detection, size: ImageSize | None) -> tuple[int, int, int, int]:
        """Return x, y of the centre and the sides of the square in pixels."""
        assert size is not None  # noqa: S101  # as above
        eyes, to_eye, to_mouth = self._lines(detection, size)
        x, y = eyes[0] + to_mouth[0] * self._mix, eyes[1] + to_mouth[1] * self._mix
        side = rounded(max(_length(to_mouth) * self._scales[0], _length(to_eye) * self._scales[1]))
        return rounded(x), rounded(y), side, side

    def rotation(self, detection: Detection, size: ImageSize) -> Float32:
        """Return the rotation of the face in radians."""
        _, to_eye, to_mouth = self._lines(detection, size)
        return normalized_angle(direction(to_eye[0] + to_mouth[1], to_eye[1] - to_mouth[0]))

    def _lines(self, detection: Detection, size: ImageSize) -> tuple[Point, Point, Point]:
        """Return the point between the eyes, the way from left to right eye, and that from it to the mouth.

        Raises:
            InvalidArgumentError: the detection has too few keypoints.
        """
        found, needed = len(detection.location_data.relative_keypoints), self._before_mouth + self._mouth
        if found < needed:
            raise InvalidArgumentError(
                f"the detection of a face has {found} keypoints, but two eyes, nose and mouth have {needed} "
                "by the options; change the numbers there, or connect detections of another model"
            )
        left = _mean(detection, 0, self._eye, size)
        right = _mean(detection, self._eye, self._eye, size)
        mouth = _mean(detection, self._before_mouth, self._mouth, size)
        eyes = (left[0] + right[0]) * HALF, (left[1] + right[1]) * HALF
        return eyes, (right[0] - left[0], right[1] - left[1]), (mouth[0] - eyes[0], mouth[1] - eyes[1])


def _mean(detection: Detection, first: int, count: int, size: ImageSize) -> Point:
    """Return the mean of some keypoints in pixels."""
    x = y = ZERO
    for index in range(first, first + count):
        point = keypoint_in_pixels(detection, index, size)
        x, y = x + point[0], y + point[1]
    return x / f32(count), y / f32(count)


def _length(line: Point) -> Float32:
    return root(line[0] * line[0] + line[1] * line[1])
