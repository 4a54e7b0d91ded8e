"""Draws landmarks, detections and axes over an image; needs OpenCV, and `plot_landmarks` needs matplotlib.

Images are NumPy arrays of blue, green and red, as OpenCV has them, and are drawn on in place.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

import cv2
import numpy as np

from penstock.errors import InvalidArgumentError
from penstock_formats import LocationData
from penstock_mediapipe.python_errors import behind

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from penstock_formats import Detection, NormalizedLandmarkList

WHITE_COLOR: Final = (224, 224, 224)
BLACK_COLOR: Final = (0, 0, 0)
RED_COLOR: Final = (0, 0, 255)
GREEN_COLOR: Final = (0, 128, 0)
BLUE_COLOR: Final = (255, 0, 0)

_PRESENCE: Final = 0.5
_VISIBILITY: Final = 0.5
_BGR_CHANNELS: Final = 3
_COLOR_DIMENSIONS: Final = 3
_BORDER: Final = 1.2


@dataclass
class DrawingSpec:
    """How a point or line is drawn."""

    #: Blue, green, red, 0 to 255.
    color: tuple[int, int, int] = WHITE_COLOR
    #: The thickness of lines, in pixels; negative for a filled circle.
    thickness: int = 2
    #: The circle radius of points, in pixels.
    circle_radius: int = 2


_WHITE: Final = DrawingSpec()
_RED: Final = DrawingSpec(color=RED_COLOR)
_PLOT_POINTS: Final = DrawingSpec(color=RED_COLOR, thickness=5)
_PLOT_LINES: Final = DrawingSpec(color=BLACK_COLOR, thickness=5)


def draw_detection(
    image: NDArray[Any],
    detection: Detection,
    keypoint_drawing_spec: DrawingSpec = _RED,
    bbox_drawing_spec: DrawingSpec = _WHITE,
) -> None:
    """Draw the box and the points of a detection.

    A point or corner outside the image is drawn in its upper left corner, as the reference does.

    Raises:
        ValueError: the image does not have three channels, or the detection's location is not relative.
    """
    height, width = _size_of(image)
    location = detection.location_data
    if location.format != LocationData.RELATIVE_BOUNDING_BOX:
        ours = (
            f"the detection's location has the format {LocationData.Format.Name(location.format)}, but only "
            "a RELATIVE_BOUNDING_BOX can be drawn; divide its numbers by the width and height of the image"
        )
        words = "LocationData must be relative for this drawing funtion to work."  # its spelling
        raise InvalidArgumentError(behind(words, ours))
    spec = keypoint_drawing_spec
    for point in location.relative_keypoints:
        center = _pixel(point.x, point.y, width, height) or (0, 0)
        cv2.circle(image, center, spec.circle_radius, spec.color, spec.thickness)
    if not location.HasField("relative_bounding_box"):
        return
    box = location.relative_bounding_box
    begin = _pixel(box.xmin, box.ymin, width, height) or (0, 0)
    end = _pixel(box.xmin + box.width, box.ymin + box.height, width, height) or (0, 0)
    cv2.rectangle(image, begin, end, bbox_drawing_spec.color, bbox_drawing_spec.thickness)


def draw_landmarks(  # noqa: PLR0913, PLR0917  # the reference's signature
    image: NDArray[Any],
    landmark_list: NormalizedLandmarkList | None,
    connections: Iterable[tuple[int, int]] | None = None,
    landmark_drawing_spec: DrawingSpec | Mapping[int, DrawingSpec] | None = _RED,
    connection_drawing_spec: DrawingSpec | Mapping[tuple[int, int], DrawingSpec] = _WHITE,
    is_drawing_landmarks: bool = True,  # noqa: FBT001, FBT002
) -> None:
    """Draw landmarks as circles, and the connections between them as lines.

    Landmarks outside the image, and those with a visibility or presence below 0.5, are left out with their
    connections. Without a list nothing is drawn.

    Args:
        image: is drawn on.
        landmark_list: the landmarks.
        connections: pairs of numbers of landmarks.
        landmark_drawing_spec: for all landmarks, or number → for that landmark; None draws no landmarks.
        connection_drawing_spec: for all connections, or pair → for that connection.
        is_drawing_landmarks: False draws the connections only.

    Raises:
        ValueError: the image does not have three channels, or a connection names a landmark that is not in
            the list.
        KeyError: a mapping lacks a landmark or connection that is drawn.
    """
    if landmark_list is None:
        return
    height, width = _size_of(image)
    pixels = {}
    for number, landmark in _visible(landmark_list):
        pixel = _pixel(landmark.x, landmark.y, width, height)
        if pixel is not None:
            pixels[number] = pixel
    for connection in _checked(connections, landmark_list):
        first, second = connection
        if first in pixels and second in pixels:
            line = (
                connection_drawing_spec[connection]
                if isinstance(connection_drawing_spec, Mapping)
                else connection_drawing_spec
            )
            cv2.line(image, pixels[first], pixels[second], line.color, line.thickness)
    if not is_drawing_landmarks or not landmark_drawing_spec:
        return
    for number, pixel in pixels.items():
        spec = (
            landmark_drawing_spec[number]
            if isinstance(landmark_drawing_spec, Mapping)
            else landmark_drawing_spec
        )
        border = max(spec.circle_radius + 1, int(spec.circle_radius * _BORDER))
        cv2.circle(image, pixel, border, WHITE_COLOR, spec.thickness)
        cv2.circle(image, pixel, spec.circle_radius, spec.color, spec.thickness)


def draw_axis(  # noqa: PLR0913, PLR0917  # the reference's signature
    image: NDArray[Any],
    rotation: NDArray[Any],
    translation: NDArray[Any],
    focal_length: tuple[float, float] = (1.0, 1.0),
    principal_point: tuple[float, float] = (0.0, 0.0),
    axis_length: float = 0.1,
    axis_drawing_spec: DrawingSpec = _WHITE,
) -> None:
    """Draw the axes of an object in space: x red, y green, z blue.

    Args:
        image: is drawn on.
        rotation: 3 x 3, from the object to the camera.
        translation: 3 numbers, from the object to the camera.
        focal_length: of the camera along x and y, in parts of half the image.
        principal_point: of the camera, likewise.
        axis_length: in the units of `translation`.
        axis_drawing_spec: its thickness counts.

    Raises:
        ValueError: the image does not have three channels.
    """
    height, width = _size_of(image)
    ends = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], np.float32)
    x, y, z = (np.matmul(rotation, axis_length * ends.T).T + translation).T
    (fx, fy), (px, py) = focal_length, principal_point
    right = np.clip(-fx * x / (z + 1e-5) + px, -1.0, 1.0)
    up = np.clip(-fy * y / (z + 1e-5) + py, -1.0, 1.0)
    columns = ((1 + right) * 0.5 * width).astype(np.int32).tolist()
    rows = ((1 - up) * 0.5 * height).astype(np.int32).tolist()
    origin, *tips = zip(columns, rows, strict=True)
    for tip, color in zip(tips, (RED_COLOR, GREEN_COLOR, BLUE_COLOR), strict=True):
        cv2.arrowedLine(image, origin, tip, color, axis_drawing_spec.thickness)


def plot_landmarks(  # noqa: PLR0913, PLR0917  # the reference's signature
    landmark_list: NormalizedLandmarkList | None,
    connections: Iterable[tuple[int, int]] | None = None,
    landmark_drawing_spec: DrawingSpec = _PLOT_POINTS,
    connection_drawing_spec: DrawingSpec = _PLOT_LINES,
    elevation: int = 10,
    azimuth: int = 10,
) -> None:
    """Show landmarks and their connections in space, in a window of matplotlib.

    Args:
        landmark_list: the landmarks; None shows nothing.
        connections: pairs of numbers of landmarks.
        landmark_drawing_spec: color and thickness of the points.
        connection_drawing_spec: color and thickness of the lines.
        elevation: from how far above the landmarks are seen, in degrees.
        azimuth: from which side, in degrees.

    Raises:
        ImportError: matplotlib is not installed.
        ValueError: a connection names a landmark that is not in the list.
    """
    if landmark_list is None:
        return
    try:
        pyplot = import_module("matplotlib.pyplot")
    except ImportError as error:
        raise ImportError(
            "drawing by plot_landmarks needs matplotlib, which cannot be imported; run pip install matplotlib"
        ) from error
    pyplot.figure(figsize=(10, 10))
    axes = pyplot.axes(projection="3d")
    axes.view_init(elev=elevation, azim=azimuth)
    points = {}
    for number, landmark in _visible(landmark_list):
        points[number] = point = (-landmark.z, landmark.x, -landmark.y)
        xs, ys, zs = ([one] for one in point)
        spec = landmark_drawing_spec
        axes.scatter3D(xs=xs, ys=ys, zs=zs, color=_fractions(spec.color), linewidth=spec.thickness)
    for first, second in _checked(connections, landmark_list):
        if first in points and second in points:
            x, y, z = zip(points[first], points[second], strict=True)
            spec = connection_drawing_spec
            axes.plot3D(xs=x, ys=y, zs=z, color=_fractions(spec.color), linewidth=spec.thickness)
    pyplot.show()


def _size_of(image: NDArray[Any]) -> tuple[int, int]:
    """Return height and width."""
    if image.ndim != _COLOR_DIMENSIONS or image.shape[2] != _BGR_CHANNELS:
        ours = (
            f"the image has the shape {image.shape}, but only an image of shape (height, width, 3) can be "
            "drawn on: blue, green and red; convert it, for example with cv2.cvtColor"
        )
        raise InvalidArgumentError(behind("Input image must contain three channel bgr data.", ours))
    return image.shape[0], image.shape[1]


def _pixel(x: float, y: float, width: int, height: int) -> tuple[int, int] | None:
    """Return column and row of a point that is given in parts of the image; None outside of it."""
    if not (_is_part(x) and _is_part(y)):
        return None
    return min(math.floor(x * width), width - 1), min(math.floor(y * height), height - 1)


def _is_part(number: float) -> bool:
    return (number > 0 or math.isclose(0, number)) and (number < 1 or math.isclose(1, number))


def _visible(landmark_list: NormalizedLandmarkList) -> Iterable[tuple[int, Any]]:
    """Yield the number of each landmark that is seen, and the landmark."""
    for number, landmark in enumerate(landmark_list.landmark):
        hidden = landmark.HasField("visibility") and landmark.visibility < _VISIBILITY
        if not hidden and not (landmark.HasField("presence") and landmark.presence < _PRESENCE):
            yield number, landmark


def _checked(
    connections: Iterable[tuple[int, int]] | None, landmark_list: NormalizedLandmarkList
) -> Iterable[tuple[int, int]]:
    count = len(landmark_list.landmark)
    for first, second in connections or ():
        if not (0 <= first < count and 0 <= second < count):
            words = (
                "Landmark index is out of range. Invalid connection from landmark "
                f"#{first:d} to landmark #{second:d}."
            )
            ours = f"the list has {count} landmarks, counted from 0; use the connections of its solution"
            raise InvalidArgumentError(behind(words, ours))
        yield first, second


def _fractions(color: tuple[int, int, int]) -> tuple[float, ...]:
    """Return red, green and blue from 0 to 1."""
    return tuple(value / 255.0 for value in reversed(color))
