"""Boxes with labels, laid over images: sizes follow the image, and colours are told apart by all people."""

from __future__ import annotations

import zlib
from math import isfinite
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import cv2

import penstock
from penstock.errors import InvalidArgumentError
from penstock_formats import Detection, ImageFrame, LocationData
from penstock_vision.drawing.drawable import drawable, pass_drawn_header
from penstock_vision.messages.detection_overlay_pb2 import DetectionOverlayCalculatorOptions

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from penstock import CalculatorContext, CalculatorContract

#: Colours that people with any kind of colour blindness tell apart, red, green, blue. Source: M. Okabe and
#: K. Ito, "Color Universal Design" (2008), without black.
PALETTE: Final = (
    (230, 159, 0),
    (86, 180, 233),
    (0, 158, 115),
    (240, 228, 66),
    (0, 114, 178),
    (213, 94, 0),
    (204, 121, 167),
)
_FONT: Final = cv2.FONT_HERSHEY_SIMPLEX
#: Height of its capital letters at scale 1, in pixels. Source: OpenCV's `getTextSize`.
_FONT_HEIGHT: Final = 21
#: Width of the strokes of letters, and the margin around a text, as shares of the height of letters.
_STROKE: Final = 1 / 9
_MARGIN: Final = 0.45
#: From this brightness on (BT.601, 0 to 255) letters on a plate are black, else white.
_BRIGHT: Final = 128
_BLACK, _WHITE = (0, 0, 0), (255, 255, 255)


class _Sizes(NamedTuple):
    """What is drawn how large in an image, in pixels."""

    letters: int
    stroke: int
    line: int
    margin: int


class DetectionOverlayCalculator(penstock.Calculator):
    """Draw a box around each detection, and what it is on a plate above the box.

    Inputs: IMAGE (ImageFrame, SRGB, SRGBA or GRAY8), DETECTIONS (list[Detection], places of the format
    RELATIVE_BOUNDING_BOX or BOUNDING_BOX). Output: IMAGE (ImageFrame, new memory, of the image's size and
    format, but SRGB for GRAY8); an image without detections is copied, and nothing is sent for detections
    without an image. A plate that does not fit above its box is in its upper edge. The text is the first
    display_name, label or label_id, and its score with two digits. All detections with one label have one
    of seven colours, in every run: the one that the label's CRC-32 chooses. OpenCV's fonts have ASCII
    letters only; others are "?". The stream header of IMAGE is forwarded, with format SRGB for GRAY8.
    Timestamp offset 0. OpenCV runs without the GIL.

    Options `DetectionOverlayCalculatorOptions`: `text_height` (0.028) and `line_width` (0.004), shares of the
    image's height, at least 6 and 2 pixels; `show_score` (true); `show_id` (false: true, for detections that
    a TrackerCalculator follows, the detection_id stands behind the name, and chooses the colour).

    Raises in `open`: InvalidArgumentError for a share that is not above 0. In `process`: the same for an
    image of another format, or a detection without a box.

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
            share = getattr(options, name)
            if not (isfinite(share) and share > 0):
                raise InvalidArgumentError(
                    f"{name} is {share}, but must be above 0; change it in the options"
                )
        self._text_height, self._line_width = options.text_height, options.line_width
        self._shows_score, self._shows_id = options.show_score, options.show_id
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
            sizes = self._sizes(pixels.shape[0])
            detections: list[Detection] = port.payload
            boxes = [_box(one, pixels, port.name) for one in detections]
            for one, box in zip(detections, boxes, strict=True):
                left, top, right, bottom = box
                cv2.rectangle(pixels, (left, top), (right, bottom), self._color(one), sizes.line)
            for one, box in zip(detections, boxes, strict=True):  # above all boxes
                if text := self._text(one):
                    _write_plate(pixels, text, box, self._color(one), sizes)
        cc.outputs["IMAGE"].add(ImageFrame(pixels, image_format), cc.stamp)

    def _sizes(self, height: int) -> _Sizes:
        letters = max(6, round(self._text_height * height))
        return _Sizes(
            letters,
            max(1, round(_STROKE * letters)),
            max(2, round(self._line_width * height)),
            round(_MARGIN * letters),
        )

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
            "but a box is drawn; give it a RELATIVE_BOUNDING_BOX or BOUNDING_BOX"
        )
    if not all(map(isfinite, sides)):
        raise InvalidArgumentError(
            f"input {port!r}: the box of a detection is {sides}, which cannot be drawn"
        )
    left, top = _within(sides[0], width), _within(sides[1], height)
    return left, top, _within(sides[0] + sides[2], width), _within(sides[1] + sides[3], height)


def _within(place: float, size: int) -> int:
    """Return a place in pixels; one that is far outside is just outside, where OpenCV can count."""
    return round(min(max(place, -size), 2.0 * size))


def _write_plate(
    pixels: NDArray[Any],
    text: str,
    box: tuple[int, int, int, int],
    color: tuple[int, int, int, int],
    sizes: _Sizes,
) -> None:
    """Fill a plate on the upper edge of a box, and write a text on it."""
    scale = sizes.letters / _FONT_HEIGHT
    (width, _), tail = cv2.getTextSize(text, _FONT, scale, sizes.stroke)
    plate_width, plate_height = width + 2 * sizes.margin, sizes.letters + tail + 2 * sizes.margin
    left = max(0, min(box[0] - sizes.line // 2, pixels.shape[1] - plate_width))
    top = box[1] - plate_height if box[1] >= plate_height else max(0, box[1])
    cv2.rectangle(pixels, (left, top), (left + plate_width, top + plate_height), color, cv2.FILLED)
    red, green, blue, _ = color
    letters = _BLACK if 0.299 * red + 0.587 * green + 0.114 * blue >= _BRIGHT else _WHITE
    at = (left + sizes.margin, top + sizes.margin + sizes.letters)
    cv2.putText(pixels, text, at, _FONT, scale, (*letters, 255), sizes.stroke, cv2.LINE_AA)
