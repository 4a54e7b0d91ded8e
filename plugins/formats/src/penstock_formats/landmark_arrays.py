"""Lists of landmarks from and to arrays, hundreds of points at once.

A message of hundreds of points costs a microsecond for each field that Python sets. So the bytes of the
whole list are laid out in NumPy and parsed by protobuf at once: points of one list have the same fields,
hence the same length.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, Final, TypeVar

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from penstock_formats.landmark_pb2 import LandmarkList, NormalizedLandmarkList

    List = TypeVar("List", LandmarkList, NormalizedLandmarkList)

#: Of a point, in the order of their numbers: x, y, z, visibility, presence.
FIELDS: Final = 5
#: The first byte of field 1 of a list, a message.
_POINT_KEY: Final = 0x0A
#: The first byte of field 1 of a point, a float; the next field's is 8 more.
_FIRST_KEY: Final = 0x0D
_KEY_STEP: Final = 8
#: Bytes of a field: its key and the number.
_FIELD_SIZE: Final = 5


def list_of(kind: type[List], points: NDArray[np.float32]) -> List:
    """Return a message with a point for each row.

    Args:
        kind: LandmarkList or NormalizedLandmarkList.
        points: (n, 1 to 5) float32: x, y, z, visibility, presence. Fields without a column are not set.
    """
    count, width = points.shape
    layout, blank = _layout(width)
    laid = np.frombuffer(bytearray(blank * count), layout)
    laid["fields"]["number"] = points
    return kind.FromString(laid.tobytes())


def array_of(landmarks: LandmarkList | NormalizedLandmarkList) -> NDArray[np.float32]:
    """Return (n, 5) float32: x, y, z, visibility, presence of each point; 0 where a field is not set."""
    data = landmarks.SerializeToString()
    count = len(landmarks.landmark)
    if not count:
        return np.zeros((0, FIELDS), np.float32)
    width = (len(data) // count - 2) // _FIELD_SIZE
    if 0 < width <= FIELDS:
        layout, blank = _layout(width)
        if len(data) == count * len(blank):
            laid = np.frombuffer(bytearray(data), layout)
            numbers = laid["fields"]["number"]
            found = np.zeros((count, FIELDS), np.float32)
            found[:, :width] = numbers
            numbers[...] = 0
            if laid.tobytes() == blank * count:
                return found
    rows = [(one.x, one.y, one.z, one.visibility, one.presence) for one in landmarks.landmark]
    return np.array(rows, np.float32)


@cache
def _layout(width: int) -> tuple[np.dtype[Any], bytes]:
    """Return how a point with that many fields is laid out, and its bytes with 0 for each number."""
    field = np.dtype([("key", "u1"), ("number", "<f4")])
    layout = np.dtype([("point", "u1"), ("size", "u1"), ("fields", field, (width,))])
    blank = np.zeros(1, layout)
    blank["point"] = _POINT_KEY
    blank["size"] = width * _FIELD_SIZE
    blank["fields"]["key"] = np.arange(_FIRST_KEY, _FIRST_KEY + width * _KEY_STEP, _KEY_STEP)
    return layout, blank.tobytes()
