"""Boxes with labels, laid over images: sizes follow the image, and colours are told apart by all people."""

from __future__ import annotations

import zlib
from math import isfinite
from typing import TYPE_CHECKING, Any, Final

import cv2
import numpy as np

import penstock
from penstock.errors import InvalidArgumentError
from penstock_formats import Detection, ImageFormat, ImageFrame, LocationData
from penstock_vision.drawing.drawable import drawable, pass_drawn_header
from penstock_vision.drawing.plates import PALETTE, Sizes, check_share, sizes_of, write_plate
from penstock_vision.messages.detection_overlay_pb2 import DetectionOverlayCalculatorOptions

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from penstock import CalculatorContext, CalculatorContract

#: From this value of a mask on, a pixel is inside.
_INSIDE: Final = 128
#: The rim of key points.
_EDGE: Final = (0, 0, 0, 255)


class DetectionOverlayCalculator(penstock.Calculator):
    """Draw a box around each detection, and what it is on a plate above the box; its mask and key points too.

    Inputs: IMAGE (ImageFrame, SRGB, SRGBA or GRAY8), DETECTIONS (list[Detection], places of the format
    RELATIVE_BOUNDING_BOX or BOUNDING_BOX), MASKS (optional, list[ImageFrame], GRAY8 of any size, a mask of
    the whole image for each detection: from 128 on a pixel is inside, and is tinted). Output: IMAGE
    (ImageFrame, new memory, of the image's size and format, but SRGB for GRAY8); an image without detections
    is copied, and nothing is sent for detections without an image. A plate that does not fit above its box is
    in its upper edge. The text is the first display_name, label or label_id, and its score with two digits.
    All detections with one label have one of seven colours, in every run: the one that the label's CRC-32
    chooses. OpenCV's fonts have ASCII letters only; others are "?". The stream header of IMAGE is forwarded,
    with format SRGB for GRAY8. Timestamp offset 0. OpenCV runs without the GIL.

    Options `DetectionOverlayCalculatorOptions`: `text_height` (0.028) and `line_width` (0.004), shares of the
    image's height, at least 6 and 2 pixels; `show_score` (true); `show_id` (false: true, for detections that
    a TrackerCalculator follows, the detection_id stands behind the name, and chooses the colour);
    `show_keypoints` (false: true, relative key points are dots), `keypoint_connections` (pairs of numbers of
    key points, which lines join), `min_keypoint_score` (0.5: key points with a lower score are left out);
    `mask_opacity` (0.45, from 0 to 1).

    Raises in `open`: InvalidArgumentError for a share that is not above 0, an opacity that is not from 0 to
    1, and connections that are no pairs. In `process`: the same for an image or mask of another format, a
    detection without a box, another number of masks than detections, and a connection of a key point that a
    detection with key points does not have.

    Config::

        node {
          calculator: "DetectionOverlayCalculator"
          input_stream: "IMAGE:frames"
          input_stream: "DETECTIONS:detections"
          output_stream: "IMAGE:drawn"
        }
    """

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Declare images and detections in, images out."""
        cc.inputs["IMAGE"].set(ImageFrame, "images to draw on (SRGB, SRGBA, GRAY8)")
        cc.inputs["DETECTIONS"].set(list[Detection], "boxes with labels")
        cc.inputs["MASKS"].set(list[ImageFrame], "a mask for each detection").optional()
        cc.outputs["IMAGE"].set(ImageFrame, "images with the boxes")
        cc.set_timestamp_offset(0)
        cc.declare(may_skip=False, stateless=True)

    def open(self, cc: CalculatorContext) -> None:
        """Check the options; forward the stream header.

        Raises:
            InvalidArgumentError: as the class says.
        """
        options = cc.options(DetectionOverlayCalculatorOptions)
        for name in ("text_height", "line_width"):
            check_share(name, getattr(options, name))
        if not 0 <= options.mask_opacity <= 1:
            raise InvalidArgumentError(
                f"the detection overlay's mask_opacity is {options.mask_opacity}, but must be from 0 to 1; "
                "change it in the options"
            )
        self._text_height, self._line_width = options.text_height, options.line_width
        self._shows_score, self._shows_id = options.show_score, options.show_id
        self._skeleton = None
        if options.show_keypoints:
            self._skeleton = Skeleton(options.keypoint_connections, options.min_keypoint_score)
        self._has_masks, self._opacity = "MASKS" in cc.inputs, options.mask_opacity
        pass_drawn_header(cc, "IMAGE")

    def process(self, cc: CalculatorContext) -> None:
        """Draw on a copy of one image.

        Raises:
            InvalidArgumentError: as the class says.
        """
        if cc.inputs["IMAGE"].is_empty():
            return
        pixels, image_format = drawable(cc.inputs["IMAGE"].payload, "IMAGE")
        port = cc.inputs["DETECTIONS"]
        if not port.is_empty():
            detections: list[Detection] = port.payload
            boxes = [_box(one, pixels, port.name) for one in detections]
            if self._has_masks and not cc.inputs["MASKS"].is_empty():
                self._tint(pixels, detections, cc.inputs["MASKS"].payload)
            self._draw(pixels, detections, boxes, port.name)
        cc.outputs["IMAGE"].add(ImageFrame(pixels, image_format), cc.stamp)

    def _draw(
        self,
        pixels: NDArray[Any],
        detections: Sequence[Detection],
        boxes: Sequence[tuple[int, int, int, int]],
        port: str,
    ) -> None:
        """Draw boxes, above them key points, and above these plates."""
        sizes = sizes_of(pixels.shape[0], self._text_height, self._line_width)
        for one, box in zip(detections, boxes, strict=True):
            left, top, right, bottom = box
            cv2.rectangle(pixels, (left, top), (right, bottom), self._color(one), sizes.line)
        if self._skeleton is not None:
            for one in detections:
                self._skeleton.draw(pixels, one, self._color(one), sizes, port)
        for one, box in zip(detections, boxes, strict=True):
            if text := self._text(one):
                write_plate(pixels, text, box[:2], self._color(one), sizes, is_above=True)

    def _tint(
        self, pixels: NDArray[Any], detections: Sequence[Detection], masks: Sequence[ImageFrame]
    ) -> None:
        """Give what is inside of masks the colour of their detections."""
        if len(masks) != len(detections):
            raise InvalidArgumentError(
                f"there are {len(masks)} masks for the overlay, but {len(detections)} detections; give one "
                "for each"
            )
        for one, mask in zip(detections, masks, strict=True):
            tint(pixels, mask, self._color(one), self._opacity)

    def _text(self, detection: Detection) -> str:
        name = name_of(detection)
        if self._shows_id and detection.detection_id:
            name = f"{name} #{detection.detection_id}".lstrip()
        if self._shows_score and detection.score:
            return f"{name} {detection.score[0]:.2f}".lstrip()
        return name

    def _color(self, detection: Detection) -> tuple[int, int, int, int]:
        if self._shows_id and detection.detection_id:
            return (*PALETTE[detection.detection_id % len(PALETTE)], 255)
        return color_of(detection)


class Skeleton:
    """Draws the key points of detections, and lines between them.

    Args:
        connections: pairs of numbers of key points.
        least: key points with a lower score are left out.

    Raises:
        InvalidArgumentError: the numbers are no pairs, or negative.
    """

    def __init__(self, connections: Sequence[int], least: float) -> None:
        numbers = list(connections)
        if len(numbers) % 2 or min(numbers, default=0) < 0:
            raise InvalidArgumentError(
                f"the detection overlay's keypoint_connections has {len(numbers)} numbers, {numbers[:20]}, "
                "but must have pairs of numbers of key points, 0 or more; change them in the options"
            )
        self._pairs: Final = list(zip(numbers[::2], numbers[1::2], strict=True))
        self._most: Final = max(numbers, default=-1)
        self._least: Final = least

    def draw(
        self,
        pixels: NDArray[Any],
        detection: Detection,
        color: tuple[int, int, int, int],
        sizes: Sizes,
        port: str,
    ) -> None:
        """Draw the key points of one detection; nothing where it has none.

        Raises:
            InvalidArgumentError: it has fewer than the connections name.
        """
        given = detection.location_data.relative_keypoints
        if given and self._most >= len(given):
            raise InvalidArgumentError(
                f"input {port!r}: the detection overlay's keypoint_connections names key point "
                f"{self._most}, but a detection has {len(given)}; change it in the options"
            )
        places = [self._place(point, pixels) for point in given]
        for first, second in self._pairs if given else ():
            start, end = places[first], places[second]
            if start is not None and end is not None:
                cv2.line(pixels, start, end, color, sizes.line, cv2.LINE_AA)
        for place in places:
            if place is not None:
                cv2.circle(pixels, place, sizes.line + 1, _EDGE, cv2.FILLED, cv2.LINE_AA)
                cv2.circle(pixels, place, sizes.line, color, cv2.FILLED, cv2.LINE_AA)

    def _place(self, point: Any, pixels: NDArray[Any]) -> tuple[int, int] | None:
        """Return where a key point is, in pixels; None where it is not drawn."""
        if point.HasField("score") and not point.score >= self._least:
            return None
        if not (isfinite(point.x) and isfinite(point.y)):
            return None
        height, width = pixels.shape[:2]
        return _within(point.x * width, width), _within(point.y * height, height)


def tint(pixels: NDArray[Any], mask: ImageFrame, color: tuple[int, int, int, int], opacity: float) -> None:
    """Mix a colour into what is inside of a mask, which is stretched to the image.

    Raises:
        InvalidArgumentError: the mask is not GRAY8.
    """
    if mask.format is not ImageFormat.GRAY8:
        raise InvalidArgumentError(
            f"a detection's mask has the format {mask.format.name}, but the overlay draws GRAY8; convert it "
            "before"
        )
    height, width = pixels.shape[:2]
    left, top, across, down = cv2.boundingRect(mask.array)  # most masks are a small part of the image
    if not across:
        return
    x, y = left * width // mask.width, top * height // mask.height
    right = -(-(left + across) * width // mask.width)
    bottom = -(-(top + down) * height // mask.height)
    part = mask.array[top : top + down, left : left + across]
    inside = cv2.resize(part, (right - x, bottom - y), interpolation=cv2.INTER_LINEAR) >= _INSIDE
    place = pixels[y:bottom, x:right]
    channels = pixels.shape[2]
    mixed = cv2.addWeighted(place, 1 - opacity, np.full_like(place, color[:channels]), opacity, 0)
    np.copyto(place, mixed, where=inside[..., None])


def name_of(detection: Detection) -> str:
    """Return what a detection is: its first display_name, label or label_id; "" where it has none."""
    if detection.display_name or detection.label:
        return (detection.display_name or detection.label)[0]
    return str(detection.label_id[0]) if detection.label_id else ""


def color_of(detection: Detection) -> tuple[int, int, int, int]:
    """Return the colour of a detection: red, green, blue and an alpha of 255."""
    return (*PALETTE[zlib.crc32(name_of(detection).encode()) % len(PALETTE)], 255)


def _box(detection: Detection, pixels: NDArray[Any], port: str) -> tuple[int, int, int, int]:
    """Return left, top, right and bottom of the box of a detection, in pixels."""
    place = detection.location_data
    height, width = pixels.shape[:2]
    if place.format == LocationData.RELATIVE_BOUNDING_BOX:
        box: Any = place.relative_bounding_box
        sides = (box.xmin * width, box.ymin * height, box.width * width, box.height * height)
    elif place.format == LocationData.BOUNDING_BOX:
        box = place.bounding_box
        sides = (box.xmin, box.ymin, box.width, box.height)
    else:
        raise InvalidArgumentError(
            f"input {port!r}: a detection has a place of format {LocationData.Format.Name(place.format)}, "
            "but the overlay draws a box; give it a RELATIVE_BOUNDING_BOX or BOUNDING_BOX"
        )
    if not all(map(isfinite, sides)):
        raise InvalidArgumentError(
            f"input {port!r}: the box of a detection is {sides}, which the overlay cannot draw"
        )
    left, top = _within(sides[0], width), _within(sides[1], height)
    return left, top, _within(sides[0] + sides[2], width), _within(sides[1] + sides[3], height)


def _within(place: float, size: int) -> int:
    """Return a place in pixels; one that is far outside is just outside, where OpenCV can count."""
    return round(min(max(place, -size), 2.0 * size))
