"""Detections as columns of numbers, which other libraries have, and back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import attrs
import numpy as np

from penstock.errors import InvalidArgumentError
from penstock_formats import Detection, ImageFrame, LocationData

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

_BOX: Final = 4
#: Where a `supervision.Detections` has the names of classes in its `data`.
CLASS_NAMES: Final = "class_name"


@attrs.frozen(kw_only=True)
class Columns:
    """Detections of one image, a row for each; in pixels."""

    #: (n, 4) float32: left, top, right, bottom.
    boxes: NDArray[np.float32]
    #: (n,) float32.
    scores: NDArray[np.float32]
    #: (n,) whole numbers; -1 where there is none.
    classes: NDArray[np.intp]
    #: (n,) texts; "" where there is none.
    names: list[str]
    #: (n,) whole numbers of tracks; None: not all have one.
    ids: NDArray[np.intp] | None = None
    #: (n, k, 3) float32: x, y, score; or (n, k, 2); None: there are none.
    points: NDArray[np.float32] | None = None


def columns_of(detections: Sequence[Detection], width: int, height: int) -> Columns:
    """Return the columns of detections in an image of a size in pixels.

    Raises:
        InvalidArgumentError: a detection has no relative box, or they differ in the number of key points.
    """
    boxes = np.zeros((len(detections), _BOX), np.float32)
    for row, one in zip(boxes, detections, strict=True):
        place = one.location_data
        if place.format != LocationData.RELATIVE_BOUNDING_BOX:
            raise InvalidArgumentError(
                f"a detection has a place of format {LocationData.Format.Name(place.format)}, but columns "
                "take a relative bounding box; connect what a detector of penstock-detect makes"
            )
        box = place.relative_bounding_box
        row[:] = box.xmin, box.ymin, box.xmin + box.width, box.ymin + box.height
    has_ids = bool(detections) and all(one.HasField("detection_id") for one in detections)
    return Columns(
        boxes=boxes * np.array([width, height] * 2, np.float32),
        scores=np.array([one.score[0] if one.score else 1.0 for one in detections], np.float32),
        classes=np.array([one.label_id[0] if one.label_id else -1 for one in detections], np.intp),
        names=[one.label[0] if one.label else "" for one in detections],
        ids=np.array([one.detection_id for one in detections], np.intp) if has_ids else None,
        points=_points(detections, width, height),
    )


def _points(detections: Sequence[Detection], width: int, height: int) -> NDArray[np.float32] | None:
    each = [one.location_data.relative_keypoints for one in detections]
    counts = {len(points) for points in each}
    if not counts - {0}:
        return None
    if len(counts) > 1:
        raise InvalidArgumentError(
            f"detections have {', '.join(map(str, sorted(counts)))} key points, but in columns all must have "
            "as many"
        )
    has_scores = all(point.HasField("score") for points in each for point in points)
    rows = [
        [(one.x * width, one.y * height, *((one.score,) if has_scores else ())) for one in points]
        for points in each
    ]
    return np.array(rows, np.float32)


def detections_of_columns(columns: Columns, width: int, height: int) -> list[Detection]:
    """Return a message for each row, with places in fractions of an image of a size in pixels."""
    boxes = columns.boxes / np.array([width, height] * 2, np.float32)
    made = [
        _message(box, score, number, name)
        for box, score, number, name in zip(
            boxes.tolist(), columns.scores.tolist(), columns.classes.tolist(), columns.names, strict=True
        )
    ]
    if columns.ids is not None:
        for one, number in zip(made, columns.ids.tolist(), strict=True):
            one.detection_id = number
    if columns.points is not None:
        for one, points in zip(made, columns.points.tolist(), strict=True):
            for x, y, *score in points:
                point = one.location_data.relative_keypoints.add(x=x / width, y=y / height)
                if score:
                    point.score = score[0]
    return made


def of_supervision(found: Any) -> Columns:
    """Return the columns of a `supervision.Detections`; the library is not imported.

    Raises:
        InvalidArgumentError: it is something else.
    """
    boxes = getattr(found, "xyxy", None)
    if boxes is None or not hasattr(found, "tracker_id"):
        raise InvalidArgumentError(
            f"columns are made of a supervision.Detections, but the payload is a {type(found).__name__!r}; "
            "connect what a function or a DetectionsToSupervisionCalculator makes"
        )
    count = len(boxes)
    names = (found.data or {}).get(CLASS_NAMES)
    return Columns(
        boxes=np.asarray(boxes, np.float32).reshape(count, _BOX),
        scores=np.ones(count, np.float32)
        if found.confidence is None
        else np.asarray(found.confidence, np.float32),
        classes=np.full(count, -1) if found.class_id is None else np.asarray(found.class_id, np.intp),
        names=[""] * count if names is None else [str(one) for one in names],
        ids=None if found.tracker_id is None else np.asarray(found.tracker_id, np.intp),
    )


def _message(box: Sequence[float], score: float, number: int, name: str) -> Detection:
    left, top, right, bottom = box
    made = Detection(score=[score])
    if name:
        made.label.append(name)
    if number >= 0:
        made.label_id.append(number)
    place = made.location_data
    place.format = LocationData.RELATIVE_BOUNDING_BOX
    part = place.relative_bounding_box
    part.xmin, part.ymin, part.width, part.height = left, top, right - left, bottom - top
    return made


def check_size(width: int, height: int) -> None:
    """Refuse a size that no image has.

    Raises:
        InvalidArgumentError: a side is below 1.
    """
    if width < 1 or height < 1:
        raise InvalidArgumentError(
            f"the image that the columns belong to has {width} x {height} pixels, but must have 1 x 1 or more"
        )


def size_of(image: Any) -> tuple[int, int]:
    """Return width and height of an Image or ImageFrame."""
    frame: ImageFrame = image if isinstance(image, ImageFrame) else image.frame
    return frame.width, frame.height
