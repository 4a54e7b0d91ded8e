"""Detections, rectangles and landmarks as lines, dots and labels in shares of an image's sides."""

from __future__ import annotations

from math import cos, sin
from typing import TYPE_CHECKING, Any, Final

import attrs

from penstock_formats import (
    Detection,
    DetectionList,
    FrameAnnotation,
    LandmarkList,
    LocationData,
    NormalizedLandmarkList,
    NormalizedRect,
    Rect,
    TimedBoxProtoList,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

#: Landmarks that are joined by a line: those of a hand.
_BONES: Final = tuple(
    (0 if joint == 0 else 4 * finger + joint, 4 * finger + joint + 1)
    for finger in range(5)
    for joint in range(4)
)
_HAND: Final = 21
#: Corners that are joined by a line: those of a box in space, whose centre is point 0.
_EDGES: Final = tuple(
    (i, i + step) for step, of in ((1, 2), (2, 4), (4, 8)) for i in range(1, 9) if (i - 1) % of < step
)
_BOX: Final = 9


@attrs.define
class Shapes:
    """What is drawn."""

    #: What it is, in a line or a few.
    text: str
    #: Points that a line joins, in shares of the image's sides.
    lines: list[Sequence[tuple[float, float]]] = attrs.Factory(list)
    #: Points.
    dots: list[tuple[float, float]] = attrs.Factory(list)
    #: Text, and where its top left corner is.
    labels: list[tuple[str, float, float]] = attrs.Factory(list)


def shapes_of(payload: object, size: tuple[int, int]) -> Shapes | None:
    """Return the shapes of a payload, or of a list of such; None for other payloads.

    Args:
        payload: what a stream carried.
        size: (width, height) of the image in pixels.
    """
    things: list[Any] = payload if isinstance(payload, list) else [payload]
    if len(things) == 1 and isinstance(things[0], DetectionList):
        things = list(things[0].detection)
    kinds = {type(one) for one in things}
    if len(kinds) != 1 or (kind := kinds.pop()) not in _SHAPES:
        return None
    found = Shapes(_count(len(things), kind.__name__))
    for one in things:
        _SHAPES[kind](one, found, size)
    if len(things) == 1 and kind in {NormalizedLandmarkList, LandmarkList}:
        found.text = f"{kind.__name__} with {_some(len(things[0].landmark), 'landmark')}"
    return found


def _count(count: int, name: str) -> str:
    return f"{count} x {name}" if count != 1 else f"1 {name}"


def _some(count: int, word: str, words: str = "") -> str:
    return f"1 {word}" if count == 1 else f"{count} {words or f'{word}s'}"


def _of_detection(one: Detection, found: Shapes, size: tuple[int, int]) -> None:
    place = one.location_data
    if place.format == LocationData.BOUNDING_BOX:
        box: Any = place.bounding_box
        left, top, width, height = (
            box.xmin / size[0],
            box.ymin / size[1],
            box.width / size[0],
            box.height / size[1],
        )
    else:
        box = place.relative_bounding_box
        left, top, width, height = box.xmin, box.ymin, box.width, box.height
    found.lines.append(_closed(_box(left, top, width, height)))
    found.dots += [(point.x, point.y) for point in place.relative_keypoints]
    names = list(one.label) or [f"class {number}" for number in one.label_id]
    said = [f"{name} {score:.2g}" for name, score in zip(names, one.score, strict=False)]
    if one.HasField("detection_id"):
        said.append(f"#{one.detection_id}")
    found.labels.append((" ".join(said), left, top))


def _of_rect(one: NormalizedRect, found: Shapes, size: tuple[int, int]) -> None:
    found.lines.append(_turned((one.x_center, one.y_center), (one.width, one.height), one.rotation, size))
    label = f"#{one.rect_id}" if one.HasField("rect_id") else ""
    found.labels.append((label, one.x_center, one.y_center))
    found.text += f"\n{label or 'it'} is {one.width:.3g} x {one.height:.3g}, turned by {one.rotation:.3g} rad"


def _of_pixel_rect(one: Rect, found: Shapes, size: tuple[int, int]) -> None:
    wide, high = size
    middle, sides = (one.x_center / wide, one.y_center / high), (one.width / wide, one.height / high)
    found.lines.append(_turned(middle, sides, one.rotation, size))


def _of_landmarks(one: NormalizedLandmarkList, found: Shapes, _: tuple[int, int]) -> None:
    _points([(point.x, point.y) for point in one.landmark], found)


def _of_world(one: LandmarkList, found: Shapes, size: tuple[int, int]) -> None:
    """Add landmarks in metres: the frame is 0.4 m high, and its middle is the origin."""
    wide, high = 0.4 * size[0] / size[1], 0.4
    _points([(0.5 + point.x / wide, 0.5 + point.y / high) for point in one.landmark], found)


def _of_annotation(one: FrameAnnotation, found: Shapes, _: tuple[int, int]) -> None:
    for thing in one.annotations:
        _points([(key.point_2d.x, key.point_2d.y) for key in thing.keypoints], found)
    found.text = f"FrameAnnotation with {_some(len(one.annotations), 'object')}"


def _of_boxes(one: TimedBoxProtoList, found: Shapes, size: tuple[int, int]) -> None:
    for box in one.box:
        middle = (box.left + box.right) / 2, (box.top + box.bottom) / 2
        sides = box.right - box.left, box.bottom - box.top
        found.lines.append(_turned(middle, sides, box.rotation, size))
        found.labels.append((f"{box.label} #{box.id}".strip(), box.left, box.top))
    found.text = f"TimedBoxProtoList with {_some(len(one.box), 'box', 'boxes')}"


def _points(points: Sequence[tuple[float, float]], found: Shapes) -> None:
    """Add points, and the lines of a hand or a box in space where they are one."""
    joined: Iterable[tuple[int, int]] = {_HAND: _BONES, _BOX: _EDGES}.get(len(points), ())
    found.lines += [(points[start], points[end]) for start, end in joined]
    found.dots += points


def _box(left: float, top: float, width: float, height: float) -> list[tuple[float, float]]:
    return [(left, top), (left + width, top), (left + width, top + height), (left, top + height)]


def _closed(corners: list[tuple[float, float]]) -> list[tuple[float, float]]:
    return [*corners, corners[0]]


def _turned(
    middle: tuple[float, float], sides: tuple[float, float], radians: float, size: tuple[int, int]
) -> list[tuple[float, float]]:
    """Return the outline of a rectangle that is turned clockwise, as seen, in pixels."""
    return _closed([*_corners(middle, sides, radians, size)])


def _corners(
    middle: tuple[float, float], sides: tuple[float, float], radians: float, size: tuple[int, int]
) -> Iterator[tuple[float, float]]:
    for x, y in ((-0.5, -0.5), (0.5, -0.5), (0.5, 0.5), (-0.5, 0.5)):
        across, down = x * sides[0] * size[0], y * sides[1] * size[1]
        yield (
            middle[0] + (across * cos(radians) - down * sin(radians)) / size[0],
            middle[1] + (across * sin(radians) + down * cos(radians)) / size[1],
        )


_SHAPES: Final[Mapping[type, Callable[[Any, Shapes, tuple[int, int]], None]]] = {
    Detection: _of_detection,
    NormalizedRect: _of_rect,
    Rect: _of_pixel_rect,
    NormalizedLandmarkList: _of_landmarks,
    LandmarkList: _of_world,
    FrameAnnotation: _of_annotation,
    TimedBoxProtoList: _of_boxes,
}
