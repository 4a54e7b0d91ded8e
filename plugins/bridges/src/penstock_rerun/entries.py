"""Payloads as what Rerun shows: the name of one of its archetypes, and the arguments to make one.

Nothing of Rerun is imported here: the process that logs makes the archetypes.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from penstock.error_text import shown
from penstock.errors import InvalidArgumentError
from penstock_formats import (
    Classification,
    ClassificationList,
    Detection,
    DetectionList,
    Image,
    ImageFormat,
    ImageFrame,
    LandmarkList,
    LocationData,
    Matrix,
    NormalizedLandmarkList,
    NormalizedRect,
    Rect,
    Tensor,
)
from penstock_rerun.options import Kind, LoggedStream
from penstock_ros import CameraInfo, Imu, PointCloud, Transforms

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

#: Messages that wait for the size of an image at most.
_WAITING: Final = 100
_MODELS: Final = {
    ImageFormat.GRAY8: "L", ImageFormat.GRAY16: "L", ImageFormat.VEC32F1: "L", ImageFormat.SRGB: "RGB",
    ImageFormat.SRGB48: "RGB", ImageFormat.SRGBA: "RGBA", ImageFormat.SRGBA64: "RGBA",
    ImageFormat.SBGRA: "BGRA",
}  # fmt: skip
#: How many units of GRAY16 a metre has.
_MILLIMETRES: Final = 1000.0


class Entry(NamedTuple):
    """What is logged at one time."""

    stamp: int
    entity: str
    #: The name of a class of Rerun.
    archetype: str
    arguments: dict[str, Any]
    #: Above 0: the image is compressed so.
    jpeg_quality: int = 0


class Entries:
    """Makes entries; keeps the size of the latest image, which boxes and landmarks in fractions need."""

    def __init__(self) -> None:
        self._size: tuple[int, int] | None = None
        self._waiting: Final[deque[tuple[int, LoggedStream, str, Any]]] = deque(maxlen=_WAITING)

    def of(self, payload: Any, stamp: int, stream: LoggedStream, name: str) -> list[Entry]:
        """Return the entries of a payload, and of payloads that have waited for this image.

        Args:
            payload: of the packet.
            stamp: its timestamp, in microseconds.
            stream: how it is shown.
            name: of the stream: its entity, if `stream` names none.

        Raises:
            InvalidArgumentError: the payload cannot be shown so.
        """
        payload = payload.held if isinstance(payload, Image) and not payload.uses_gpu else payload
        made: list[Entry] = []
        if isinstance(payload, ImageFrame) and stream.kind is Kind.AUTO and payload.format in _MODELS:
            self._size = payload.width, payload.height
            made += self._late()
        if self._size is None and stream.kind is Kind.AUTO and _is_in_fractions(payload):
            self._waiting.append((stamp, stream, name, payload))
            return made
        return [*made, *self._entries(payload, stamp, stream, stream.entity or name)]

    def rest(self) -> list[Entry]:
        """Return the entries that have waited for an image that has not come, in fractions of it."""
        self._size = (1, 1)
        return self._late()

    def _late(self) -> list[Entry]:
        found: list[Entry] = []
        while self._waiting:
            stamp, stream, name, payload = self._waiting.popleft()
            found += self._entries(payload, stamp, stream, stream.entity or name)
        return found

    def _entries(self, payload: Any, stamp: int, stream: LoggedStream, entity: str) -> Iterator[Entry]:
        if stream.kind is Kind.TEXT:
            text = payload if isinstance(payload, str) else shown(payload)
            yield Entry(stamp, entity, "TextLog", {"text": text})
            return
        if stream.kind is not Kind.AUTO:
            yield Entry(stamp, entity, *_as_kind(payload, stream.kind))
            return
        if isinstance(payload, ImageFrame):
            eight_bits = payload.format in (ImageFormat.GRAY8, ImageFormat.SRGB)
            yield Entry(stamp, entity, *_image(payload), stream.jpeg_quality if eight_bits else 0)
            return
        for below, archetype, arguments in self._parts(payload):
            yield Entry(stamp, f"{entity}/{below}" if below else entity, archetype, arguments)

    def _parts(self, payload: Any) -> list[tuple[str, str, dict[str, Any]]]:
        """Return the path below the entity, the archetype and its arguments of each part of a payload."""
        if isinstance(payload, bool | int | float | np.number | np.bool_):
            return [("", "Scalars", {"scalars": [float(payload)]})]
        if isinstance(payload, str):
            return [("", "TextLog", {"text": payload})]
        for kinds, way in (
            ((Detection, DetectionList), self._boxes),
            ((NormalizedLandmarkList,), self._landmarks),
            ((LandmarkList,), _points_in_space),
            ((Rect, NormalizedRect), self._rects),
            ((Classification, ClassificationList), _classes),
        ):
            found = _listed(payload, kinds)
            if found is not None:
                return [("", *way(found))]
        return _sensor(payload)

    def _scale(self) -> np.ndarray[Any, np.dtype[np.float64]]:
        return np.array(self._size or (1, 1), np.float64)

    def _boxes(self, found: Sequence[Any]) -> tuple[str, dict[str, Any]]:
        detections = [
            one for each in found for one in (each.detection if isinstance(each, DetectionList) else (each,))
        ]
        mins, sizes, labels = [], [], []
        for one in detections:
            location = one.location_data
            if location.format == LocationData.BOUNDING_BOX:
                box, scale = location.bounding_box, np.ones(2)
            else:
                box, scale = location.relative_bounding_box, self._scale()
            mins.append(np.array((box.xmin, box.ymin)) * scale)
            sizes.append(np.array((box.width, box.height)) * scale)
            names = one.label or [str(number) for number in one.label_id]
            score = f" {one.score[0]:.2f}" if one.score else ""
            labels.append(f"{names[0] if names else ''}{score}".strip())
        return "Boxes2D", {
            "mins": np.reshape(mins, (-1, 2)), "sizes": np.reshape(sizes, (-1, 2)), "labels": labels,
        }  # fmt: skip

    def _landmarks(self, found: Sequence[Any]) -> tuple[str, dict[str, Any]]:
        points = [(one.x, one.y) for each in found for one in each.landmark]
        return "Points2D", {"positions": np.reshape(points, (-1, 2)) * self._scale()}

    def _rects(self, found: Sequence[Any]) -> tuple[str, dict[str, Any]]:
        strips = []
        for one in found:
            scale = self._scale() if isinstance(one, NormalizedRect) else np.ones(2)
            half = np.array((one.width, one.height)) * scale / 2
            sine, cosine = np.sin(one.rotation), np.cos(one.rotation)
            corners = np.array([(-1, -1), (1, -1), (1, 1), (-1, 1), (-1, -1)]) * half
            turned = corners @ np.array([(cosine, sine), (-sine, cosine)])
            strips.append(turned + np.array((one.x_center, one.y_center)) * scale)
        return "LineStrips2D", {"strips": strips}


def _listed(payload: Any, kinds: tuple[type, ...]) -> Sequence[Any] | None:
    """Return the messages of a payload that is one of some classes, or a list of them; None for another one.

    An empty list is taken for the first that is asked: it clears what was shown before.
    """
    if isinstance(payload, kinds):
        return [payload]
    if isinstance(payload, list | tuple) and all(isinstance(one, kinds) for one in payload):
        return payload
    return None


def _is_in_fractions(payload: Any) -> bool:
    found = _listed(payload, (Detection, DetectionList, NormalizedLandmarkList, NormalizedRect))
    return found is not None and bool(found)


def _image(frame: ImageFrame) -> tuple[str, dict[str, Any]]:
    model = _MODELS.get(frame.format)
    if model is None:
        raise InvalidArgumentError(
            f"an image of {frame.format.name} cannot be a Rerun entry; convert it before, or set kind: TEXT"
        )
    return "Image", {"image": np.ascontiguousarray(frame.array), "color_model": model}


def _as_kind(payload: Any, kind: Kind) -> tuple[str, dict[str, Any]]:
    if not isinstance(payload, ImageFrame) or payload.array.ndim != 2:  # noqa: PLR2004  # one channel
        raise InvalidArgumentError(
            f"the Rerun entry's kind is {kind.name}, which takes images of one channel, not {shown(payload)}"
        )
    array = np.ascontiguousarray(payload.array)
    if kind is Kind.SEGMENTATION:
        if array.dtype.kind == "f":
            raise InvalidArgumentError(
                "the Rerun entry's kind is SEGMENTATION, which takes GRAY8 and GRAY16, not VEC32F1"
            )
        return "SegmentationImage", {"image": array}
    return "DepthImage", {"image": array, "meter": 1.0 if array.dtype.kind == "f" else _MILLIMETRES}


def _points_in_space(found: Sequence[Any]) -> tuple[str, dict[str, Any]]:
    points = [(one.x, one.y, one.z) for each in found for one in each.landmark]
    return "Points3D", {"positions": np.reshape(points, (-1, 3))}


def _classes(found: Sequence[Any]) -> tuple[str, dict[str, Any]]:
    classes = [
        one
        for each in found
        for one in (each.classification if isinstance(each, ClassificationList) else (each,))
    ]
    words = ", ".join(f"{one.label or one.index} {one.score:.2f}" for one in classes)
    return "TextLog", {"text": words or "no class"}


def _sensor(payload: Any) -> list[tuple[str, str, dict[str, Any]]]:
    if isinstance(payload, PointCloud):
        return [("", "Points3D", {"positions": payload.xyz()})]
    if isinstance(payload, Imu):
        return [
            ("angular_velocity", "Scalars", {"scalars": payload.angular_velocity}),
            ("linear_acceleration", "Scalars", {"scalars": payload.linear_acceleration}),
        ]
    if isinstance(payload, CameraInfo):
        size = [payload.width, payload.height]
        return [("", "Pinhole", {"image_from_camera": payload.k, "resolution": size})]
    if isinstance(payload, Transforms):
        return [
            (
                one.child_frame_id.strip("/"),
                "Transform3D",
                {"translation": one.translation, "quaternion": one.rotation},
            )
            for one in payload.transforms
        ]
    return [("", *_numbers(payload))]


def _numbers(payload: Any) -> tuple[str, dict[str, Any]]:
    if isinstance(payload, Tensor | Matrix):
        return "Tensor", {"data": np.asarray(payload.array)}
    if isinstance(payload, np.ndarray) and payload.dtype.kind in "bifu" and payload.size:
        if payload.ndim == 1:
            return "Scalars", {"scalars": payload.astype(np.float64)}
        return "Tensor", {"data": payload}
    raise InvalidArgumentError(f"a payload {shown(payload)} cannot be a Rerun entry; set kind: TEXT")
