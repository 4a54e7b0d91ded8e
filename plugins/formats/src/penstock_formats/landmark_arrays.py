"""Lists of landmarks from and to arrays, hundreds of points at once.

A message of hundreds of points costs a microsecond for each field that Python sets. So the bytes of the
whole list are laid out in NumPy and parsed by protobuf at once: points of one list have the same fields,
and so the same length.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Final, TypeVar

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from penstock_formats.messages.landmark_pb2 import LandmarkList, NormalizedLandmarkList

    List = TypeVar("List", LandmarkList, NormalizedLandmarkList)

#: Of a point, in the order of their numbers: x, y, z, visibility, presence.
LANDMARK_FIELDS: Final = 5
#: The first byte of field 1 of a list, a message.
_POINT_KEY: Final = 0x0A
#: The first byte of field 1 of a point, a float; the next field's is 8 more.
_FIRST_KEY: Final = 0x0D
_KEY_STEP: Final = 8
#: Bytes before the fields of a point: the key and the size.
_HEAD_SIZE: Final = 2
#: Bytes of a field: its key and the number.
_FIELD_SIZE: Final = 5


def landmark_list(kind: type[List], points: NDArray[np.float32]) -> List:
    """Return a message with a point for each row.

    Args:
        kind: LandmarkList or NormalizedLandmarkList.
        points: (n, 1 to 5) float32: x, y, z, visibility, presence. Fields without a column are not set.
    """
    count, width = points.shape
    if not count:
        return kind()
    laid = bytearray(_blank(width) * count)
    _numbers(laid, count, width)[...] = points
    return kind.FromString(bytes(laid))


def landmark_array(landmarks: LandmarkList | NormalizedLandmarkList) -> NDArray[np.float32]:
    """Return (n, 5) float32: x, y, z, visibility, presence of each point; 0 where a field is not set."""
    data = landmarks.SerializeToString()
    count = len(landmarks.landmark)
    if not count:
        return np.zeros((0, LANDMARK_FIELDS), np.float32)
    width = (len(data) // count - _HEAD_SIZE) // _FIELD_SIZE
    if 0 < width <= LANDMARK_FIELDS:
        blank = _blank(width)
        if len(data) == count * len(blank):
            laid = bytearray(data)
            numbers = _numbers(laid, count, width)
            found = np.zeros((count, LANDMARK_FIELDS), np.float32)
            found[:, :width] = numbers
            numbers[...] = 0
            if laid == blank * count:
                return found
    rows = [(one.x, one.y, one.z, one.visibility, one.presence) for one in landmarks.landmark]
    return np.array(rows, np.float32)


@cache
def _blank(width: int) -> bytes:
    """Return the bytes of a point with that many fields, with 0 for each number."""
    keys = range(_FIRST_KEY, _FIRST_KEY + width * _KEY_STEP, _KEY_STEP)
    fields = b"".join(bytes((key, *bytes(_FIELD_SIZE - 1))) for key in keys)
    return bytes((_POINT_KEY, len(fields))) + fields


def _numbers(data: bytearray, count: int, width: int) -> NDArray[np.float32]:
    """Return the numbers of points with that many fields, (count, width), in their place in the bytes."""
    return np.ndarray((count, width), "<f4", data, _HEAD_SIZE + 1, (len(_blank(width)), _FIELD_SIZE))
