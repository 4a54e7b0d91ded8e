"""Draws RenderData on an image with OpenCV, as the reference does, pixel by pixel.

Source of the behaviour: MediaPipe `util/annotation_renderer.cc`.
"""

from __future__ import annotations

from math import cos, hypot, isnan, pi, sin, trunc
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import cv2
import numpy as np

from penstock.errors import InvalidArgumentError
from penstock_vision.drawing.gradient_line import draw_gradient_line

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from penstock_formats import Color, RenderAnnotation, RenderData

    _Color: TypeAlias = tuple[int, int, int, int]
    _Point: TypeAlias = tuple[int, int]

#: OpenCV's MAX_THICKNESS.
_THICKEST: Final = 32767
#: Places farther away, in pixels, are taken as this far away: OpenCV computes with 32 bits.
_FARTHEST: Final = 1 << 30
_HALF: Final = 0.5
_FILLED: Final = -1
_LINE_TYPES: Final = (cv2.LINE_4, cv2.LINE_8, cv2.LINE_AA)
#: The sides of an arrow's head, as a share of the arrow along both axes.
_ARROW_HEAD: Final = 0.2
#: Font → how high its glyphs are, from the lowest line to the highest, in OpenCV's units.
_GLYPH_HEIGHTS: Final = {
    cv2.FONT_HERSHEY_SIMPLEX: 21.0,
    cv2.FONT_HERSHEY_PLAIN: 9.0,
    cv2.FONT_HERSHEY_DUPLEX: 21.0,
    cv2.FONT_HERSHEY_COMPLEX: 21.0,
    cv2.FONT_HERSHEY_TRIPLEX: 21.0,
    cv2.FONT_HERSHEY_COMPLEX_SMALL: 13.0,
    cv2.FONT_HERSHEY_SCRIPT_SIMPLEX: 21.0,
    cv2.FONT_HERSHEY_SCRIPT_COMPLEX: 21.0,
}


class AnnotationRenderer:
    """Draws on one image, which it changes.

    Colours are written as they are, and a fourth channel as 0. Values in parts of a pixel are rounded,
    halves away from zero, where they are normalised, and cut towards zero where they are pixels.

    Args:
        image: (H, W, 3) or (H, W, 4) of uint8, writable and contiguous.
        flip_text: draw text upside down.
        thickness_scale: factor of every thickness.
    """

    def __init__(self, image: NDArray[Any], *, flip_text: bool = False, thickness_scale: float = 1.0) -> None:
        self._image = image
        self._height, self._width = image.shape[:2]
        self._flip_text = flip_text
        self._thickness_scale = thickness_scale

    def draw(self, data: RenderData) -> None:
        """Draw all annotations in order.

        Raises:
            InvalidArgumentError: an annotation has no shape, or one that cannot be drawn: an unknown font or
                line_type, an oval whose right side is left of its left side, or what OpenCV refuses.
        """
        for position, annotation in enumerate(data.render_annotations):
            kind = annotation.WhichOneof("data")
            if kind is None:
                raise InvalidArgumentError(
                    f"render annotation {position} has no shape; set one of {', '.join(_DRAWERS)}"
                )
            try:
                _DRAWERS[kind](self, annotation)
            except cv2.error as error:
                raise InvalidArgumentError(
                    f"render annotation {position}: OpenCV refuses to draw the {kind}: {error}; change it"
                ) from error

    def _thick(self, wanted: float) -> int:
        return _thickness(wanted * self._thickness_scale)

    def _rectangle(self, annotation: RenderAnnotation) -> None:
        rectangle = annotation.rectangle
        left, top, right, bottom = self._corners(rectangle)
        color, thickness = _color(annotation.color), self._thick(annotation.thickness)
        if rectangle.rotation:
            vertices = _turned(left, top, right, bottom, rectangle.rotation)
            points = [_nearest(vertex) for vertex in vertices]
            for i, point in enumerate(points):
                cv2.line(self._image, point, points[(i + 1) % len(points)], color, thickness)
        else:
            cv2.rectangle(self._image, (left, top, right - left, bottom - top), color, thickness)
        if rectangle.HasField("top_left_thickness"):
            vertices = _turned(left, top, right, bottom, rectangle.rotation)
            radius = self._thick(rectangle.top_left_thickness)
            cv2.ellipse(self._image, _nearest(vertices[1]), (radius, radius), 0, 0, 360, color, _FILLED)

    def _filled_rectangle(self, annotation: RenderAnnotation) -> None:
        rectangle = annotation.filled_rectangle.rectangle
        left, top, right, bottom = self._corners(rectangle)
        color = _color(annotation.color)
        if rectangle.rotation:
            vertices = _turned(left, top, right, bottom, rectangle.rotation)
            corners = np.array([_nearest(vertex) for vertex in vertices], np.int32)
            cv2.fillConvexPoly(self._image, corners, color)
        else:
            cv2.rectangle(self._image, (left, top, right - left, bottom - top), color, _FILLED)

    def _rounded_rectangle(self, annotation: RenderAnnotation) -> None:
        rounded = annotation.rounded_rectangle
        corners = self._corners(rounded.rectangle)
        color, thickness = _color(annotation.color), self._thick(annotation.thickness)
        radius, line_type = _rounding(rounded)
        left, top, right, bottom = corners
        for start, end in (
            ((left + radius, top), (right - radius, top)),
            ((right, top + radius), (right, bottom - radius)),
            ((left + radius, bottom), (right - radius, bottom)),
            ((left, top + radius), (left, bottom - radius)),
        ):
            cv2.line(self._image, start, end, color, thickness, line_type)
        self._round_corners(corners, radius, color, thickness, line_type)

    def _filled_rounded_rectangle(self, annotation: RenderAnnotation) -> None:
        """Fill the shape; the reference ends the process here, as it draws lines of thickness -1."""
        rounded = annotation.filled_rounded_rectangle.rounded_rectangle
        corners = self._corners(rounded.rectangle)
        color, (radius, line_type) = _color(annotation.color), _rounding(rounded)
        left, top, right, bottom = corners
        width, height = right - left, bottom - top
        cv2.rectangle(self._image, (left + radius, top, width - 2 * radius + 1, height + 1), color, _FILLED)
        cv2.rectangle(self._image, (left, top + radius, width + 1, height - 2 * radius + 1), color, _FILLED)
        self._round_corners(corners, radius, color, _FILLED, line_type)

    def _round_corners(
        self, corners: tuple[int, int, int, int], radius: int, color: _Color, thickness: int, line_type: int
    ) -> None:
        left, top, right, bottom = corners
        for x, y, angle in (
            (left + radius, top + radius, 180),
            (right - radius, top + radius, 270),
            (right - radius, bottom - radius, 0),
            (left + radius, bottom - radius, 90),
        ):
            cv2.ellipse(self._image, (x, y), (radius, radius), angle, 0, 90, color, thickness, line_type)

    def _oval(self, annotation: RenderAnnotation) -> None:
        rectangle = annotation.oval.rectangle
        left, top, right, bottom = self._corners(rectangle)
        size = trunc((right - left) / 2), trunc((bottom - top) / 2)
        if size[0] < 0 or size[1] < 0:
            raise InvalidArgumentError(
                f"an oval goes from ({left}, {top}) to ({right}, {bottom}), but its right side must not be "
                "left of its left side, nor its bottom above its top; change the annotation"
            )
        self._ellipse(rectangle, size, _color(annotation.color), self._thick(annotation.thickness))

    def _filled_oval(self, annotation: RenderAnnotation) -> None:
        rectangle = annotation.filled_oval.oval.rectangle
        left, top, right, bottom = self._corners(rectangle)
        size = max(0, trunc((right - left) / 2)), max(0, trunc((bottom - top) / 2))
        self._ellipse(rectangle, size, _color(annotation.color), _FILLED)

    def _ellipse(
        self, rectangle: RenderAnnotation.Rectangle, size: _Point, color: _Color, thickness: int
    ) -> None:
        left, top, right, bottom = self._corners(rectangle)
        center = trunc((left + right) / 2), trunc((top + bottom) / 2)
        degrees = rectangle.rotation / pi * 180
        cv2.ellipse(self._image, center, size, degrees, 0, 360, color, thickness)

    def _arrow(self, annotation: RenderAnnotation) -> None:
        arrow = annotation.arrow
        start, end = self._ends(arrow)
        color, thickness = _color(annotation.color), self._thick(annotation.thickness)
        cv2.line(self._image, start, end, color, thickness)
        length = hypot(end[0] - start[0], end[1] - start[1])
        scale = 1 / length if length else 0.0
        along = (end[0] - start[0]) * scale, (end[1] - start[1]) * scale
        across = -along[1], along[0]
        head = _ARROW_HEAD * length
        for side in (head, -head):
            tip = (
                _rounded(end[0] - head * along[0] + side * across[0]),
                _rounded(end[1] - head * along[1] + side * across[1]),
            )
            cv2.line(self._image, tip, end, color, thickness)

    def _line(self, annotation: RenderAnnotation) -> None:
        start, end = self._ends(annotation.line)
        cv2.line(self._image, start, end, _color(annotation.color), self._thick(annotation.thickness))

    def _gradient_line(self, annotation: RenderAnnotation) -> None:
        line = annotation.gradient_line
        start, end = self._ends(line)
        channels = self._image.shape[2]
        color1, color2 = _color(line.color1)[:channels], _color(line.color2)[:channels]
        draw_gradient_line(self._image, start, end, color1, color2, self._thick(annotation.thickness))

    def _point(self, annotation: RenderAnnotation) -> None:
        self._disc(annotation.point, annotation)

    def _scribble(self, annotation: RenderAnnotation) -> None:
        for point in annotation.scribble.point:
            self._disc(point, annotation)

    def _disc(self, point: RenderAnnotation.Point, annotation: RenderAnnotation) -> None:
        center = self._place(point.x, point.y, point.normalized)
        cv2.circle(self._image, center, self._thick(annotation.thickness), _color(annotation.color), _FILLED)

    def _text(self, annotation: RenderAnnotation) -> None:
        text = annotation.text
        left, baseline = self._place(text.left, text.baseline, text.normalized)
        height = _rounded(text.font_height * self._height) if text.normalized else _cut(text.font_height)
        thickness = self._thick(annotation.thickness)
        face = text.font_face
        if face not in _GLYPH_HEIGHTS:
            raise InvalidArgumentError(
                f"font_face of a text is {face}, but must be one of OpenCV's fonts, 0 to 7; change the "
                "annotation"
            )
        scale = (height - (thickness + 1) / 2) / _GLYPH_HEIGHTS[face]
        words = text.display_text
        (width, above), _ = cv2.getTextSize(words, face, scale, thickness)
        if text.center_horizontally:
            left -= trunc(width / 2)
        if text.center_vertically:
            baseline += trunc(above / 2)
        place = (left, baseline)
        if text.outline_thickness > 0:
            around = self._thick(annotation.thickness + 2 * text.outline_thickness)
            self._write(words, place, face, scale, _color(text.outline_color), around)
        self._write(words, place, face, scale, _color(annotation.color), thickness)

    def _write(  # noqa: PLR0913, PLR0917  # what OpenCV asks for
        self, words: str, place: _Point, face: int, scale: float, color: _Color, thickness: int
    ) -> None:
        cv2.putText(self._image, words, place, face, scale, color, thickness, cv2.LINE_8, self._flip_text)

    def _place(self, x: float, y: float, is_normalized: bool) -> _Point:  # noqa: FBT001  # of a point
        if is_normalized:
            return _rounded(x * self._width), _rounded(y * self._height)
        return _cut(x), _cut(y)

    def _corners(self, rectangle: RenderAnnotation.Rectangle) -> tuple[int, int, int, int]:
        """Return left, top, right, bottom in pixels."""
        is_normalized = rectangle.normalized
        return (
            *self._place(rectangle.left, rectangle.top, is_normalized),
            *self._place(rectangle.right, rectangle.bottom, is_normalized),
        )

    def _ends(
        self, line: RenderAnnotation.Line | RenderAnnotation.GradientLine | RenderAnnotation.Arrow
    ) -> tuple[_Point, _Point]:
        is_normalized = line.normalized
        return (
            self._place(line.x_start, line.y_start, is_normalized),
            self._place(line.x_end, line.y_end, is_normalized),
        )


#: Field of RenderAnnotation's shape → what draws it.
_DRAWERS: Final[dict[str, Callable[[AnnotationRenderer, RenderAnnotation], None]]] = {
    "rectangle": AnnotationRenderer._rectangle,  # noqa: SLF001  # this class's own
    "filled_rectangle": AnnotationRenderer._filled_rectangle,  # noqa: SLF001
    "rounded_rectangle": AnnotationRenderer._rounded_rectangle,  # noqa: SLF001
    "filled_rounded_rectangle": AnnotationRenderer._filled_rounded_rectangle,  # noqa: SLF001
    "oval": AnnotationRenderer._oval,  # noqa: SLF001
    "filled_oval": AnnotationRenderer._filled_oval,  # noqa: SLF001
    "text": AnnotationRenderer._text,  # noqa: SLF001
    "point": AnnotationRenderer._point,  # noqa: SLF001
    "line": AnnotationRenderer._line,  # noqa: SLF001
    "gradient_line": AnnotationRenderer._gradient_line,  # noqa: SLF001
    "arrow": AnnotationRenderer._arrow,  # noqa: SLF001
    "scribble": AnnotationRenderer._scribble,  # noqa: SLF001
}


def _rounding(rounded: RenderAnnotation.RoundedRectangle) -> tuple[int, int]:
    """Return corner_radius and line_type.

    Raises:
        InvalidArgumentError: one of them is not possible.
    """
    radius, line_type = rounded.corner_radius, rounded.line_type
    if radius < 0:
        raise InvalidArgumentError(
            f"corner_radius of a rounded rectangle is {radius}, but must be 0 or more; change the annotation"
        )
    if line_type not in _LINE_TYPES:
        raise InvalidArgumentError(
            f"line_type of a rounded rectangle is {line_type}, but must be 4, 8 or 16; change the annotation"
        )
    return radius, line_type


def _color(color: Color) -> _Color:
    return color.r, color.g, color.b, 0


def _thickness(wanted: float) -> int:
    return min(max(_rounded(wanted), 1), _THICKEST)


def _rounded(value: float) -> int:
    """Return the nearest whole number, a half away from zero, within reach of OpenCV."""
    whole = _cut(value)
    return whole + (value - whole >= _HALF) - (whole - value >= _HALF) if abs(whole) < _FARTHEST else whole


def _cut(value: float) -> int:
    """Return the whole number towards zero, within reach of OpenCV."""
    return trunc(value) if -_FARTHEST < value < _FARTHEST else _far(value)


def _far(value: float) -> int:
    return -_FARTHEST if isnan(value) or value < 0 else _FARTHEST


def _turned(left: int, top: int, right: int, bottom: int, radians: float) -> list[tuple[float, float]]:
    """Return the corners of a rectangle turned around its centre, from the bottom left one clockwise.

    All of it is computed with the precision of the reference, in 32 bits; newer versions of OpenCV compute
    the corners in another way.
    """
    f32 = np.float32
    x, y = f32(left + right) / f32(2), f32(top + bottom) / f32(2)
    width, height = f32(right - left), f32(bottom - top)
    angle = float(f32(radians / pi * 180)) * pi / 180
    a, b = f32(sin(angle)) * f32(0.5), f32(cos(angle)) * f32(0.5)
    x0, y0 = x - a * height - b * width, y + b * height - a * width
    x1, y1 = x + a * height - b * width, y - b * height - a * width
    x2, y2 = f32(2) * x - x0, f32(2) * y - y0
    x3, y3 = f32(2) * x - x1, f32(2) * y - y1
    return [(float(px), float(py)) for px, py in ((x0, y0), (x1, y1), (x2, y2), (x3, y3))]


def _nearest(vertex: tuple[float, float]) -> _Point:
    """Return the pixel of a place as OpenCV rounds it: halves to the even one."""
    return round(vertex[0]), round(vertex[1])
