"""Relative boxes and keypoints of locations from and to plain numbers, all of one location at once.

Protobuf takes most of a microsecond for each field that Python sets or reads. A location with a box and k
keypoints always has the same bytes between its numbers, so all its numbers are packed, or unpacked, at once.
"""

from __future__ import annotations

from functools import cache
from struct import Struct
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock_formats.location_data_pb2 import LocationData

#: Numbers of a box: xmin, ymin, width, height.
_BOX: Final = 4
#: Before the numbers of a box: RELATIVE_BOUNDING_BOX, a message of 20 bytes, and the key of each number.
_BOX_KEYS: Final = (b"\x08\x02\x1a\x14\x0d", b"\x15", b"\x1d", b"\x25")
#: Before the numbers of a keypoint: a message of 10 bytes, and the key of each number.
_POINT_KEYS: Final = (b"\x2a\x0a\x0d", b"\x15")
#: Bytes of a box, and of a keypoint.
_BOX_SIZE: Final = 24
_POINT_SIZE: Final = 12


def set_numbers(location: LocationData, numbers: Sequence[float]) -> None:
    """Make a location that is empty a relative box with keypoints.

    Args:
        location: without any field.
        numbers: xmin, ymin, width and height of the box, then x and y of each keypoint; float32 numbers.
    """
    keys, layout = _layout((len(numbers) - _BOX) // 2)
    parts: list[bytes | float] = [*keys, *keys]
    parts[::2] = keys
    parts[1::2] = numbers
    location.MergeFromString(layout.pack(*parts))


def numbers_of(location: LocationData) -> tuple[float, ...] | None:
    """Return what `set_numbers` takes; None for a location of another format, or with other fields."""
    data = location.SerializeToString()
    keys, layout = _layout(max(len(data) - _BOX_SIZE, 0) // _POINT_SIZE)
    if len(data) != layout.size:
        return None
    found = layout.unpack(data)
    return found[1::2] if found[::2] == keys else None


@cache
def _layout(keypoints: int) -> tuple[tuple[bytes, ...], Struct]:
    """Return the bytes before each number, and how both are packed in turns."""
    keys = (*_BOX_KEYS, *(_POINT_KEYS * keypoints))
    return keys, Struct("<" + "".join(f"{len(key)}sf" for key in keys))
