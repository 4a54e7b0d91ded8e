"""Detections with relative boxes from and to plain numbers, all of a detection at once.

Protobuf takes most of a microsecond for each field that Python sets or reads. A detection with one score, a
box and k keypoints always has the same bytes between its numbers, so all its numbers are packed, or
unpacked, at once.
"""

from __future__ import annotations

from functools import cache, lru_cache
from struct import Struct
from typing import TYPE_CHECKING, Final, NamedTuple

from google.protobuf.message import DecodeError

from penstock_formats.messages.detection_pb2 import Detection

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

#: Columns of a row of numbers; the last one is the first keypoint's x.
TABLE_SCORE, TABLE_XMIN, TABLE_YMIN, TABLE_WIDTH, TABLE_HEIGHT, TABLE_KEYPOINTS = range(6)
#: Before a score: the key of the scores, and the size of one.
_SCORE_KEY: Final = b"\x1a\x04"
#: The key of the location, before its size.
_LOCATION_KEY: Final = b"\x22"
#: Before the numbers of a box: RELATIVE_BOUNDING_BOX, a message of 20 bytes, and the key of each number.
_BOX_KEYS: Final = (b"\x08\x02\x1a\x14\x0d", b"\x15", b"\x1d", b"\x25")
#: Before the numbers of a keypoint: a message of 10 bytes, and the key of each number.
_POINT_KEYS: Final = (b"\x2a\x0a\x0d", b"\x15")
#: Bytes of a box, and of a keypoint.
_BOX_SIZE: Final = 24
_POINT_SIZE: Final = 12
#: What a byte of a size holds in protobuf, and the mark that another one follows.
_SEVEN_BITS, _MORE = 0x7F, 0x80


class DetectionTable(NamedTuple):
    """Detections of one score, one label or label_id or both, a relative box, keypoints, and nothing else."""

    #: The bytes of the label and label_id of each, as protobuf writes them.
    labels: Sequence[bytes]
    #: float32 numbers of each: the score, xmin, ymin, width and height of the box, then x and y of each
    #: keypoint; all rows have as many.
    rows: Sequence[Sequence[float]]


@lru_cache(maxsize=1024)
def label_bytes(label_id: int) -> bytes:
    """Return the bytes of a label_id, for `DetectionTable.labels`."""
    return bytes(Detection(label_id=[label_id]).SerializeToString())


def detections_of(labels: Iterable[bytes], rows: Sequence[Sequence[float]]) -> list[Detection]:
    """Return a message for each row. Arguments as the attributes of `DetectionTable`."""
    if not rows:
        return []
    keys, layout = _layout((len(rows[0]) - TABLE_KEYPOINTS) // 2)
    parts: list[bytes | float] = [*keys, *keys]
    parts[::2] = keys
    made = []
    for label, row in zip(labels, rows, strict=True):
        parts[1::2] = row
        made.append(Detection.FromString(label + layout.pack(*parts)))
    return made


def table_of(detections: Sequence[Detection]) -> DetectionTable | None:
    """Return the labels and numbers of detections.

    Args:
        detections: one at least.

    Returns:
        None where one of them is of another form, or they differ in the number of keypoints.
    """
    keys, layout = _layout(len(detections[0].location_data.relative_keypoints))
    labels, rows = [], []
    for one in detections:
        data = one.SerializeToString()
        start = len(data) - layout.size
        if start < 0:
            return None
        found = layout.unpack_from(data, start)
        label = data[:start]
        if found[::2] != keys or not _is_one_label(label):
            return None
        labels.append(label)
        rows.append(found[1::2])
    return DetectionTable(labels, rows)


@lru_cache(maxsize=1024)
def _is_one_label(data: bytes) -> bool:
    """Return whether bytes before a score are a label, a label_id, or one of both."""
    try:
        made = Detection.FromString(data)
    except DecodeError:  # they end within a field
        return False
    labels, ids = made.label, made.label_id
    is_one = max(len(labels), len(ids)) == 1
    return is_one and bool(data == Detection(label=labels, label_id=ids).SerializeToString())


@cache
def _layout(keypoints: int) -> tuple[tuple[bytes, ...], Struct]:
    """Return the bytes before each number from the score on, and how both are packed in turns."""
    location = _LOCATION_KEY + _size_bytes(_BOX_SIZE + keypoints * _POINT_SIZE)
    keys = (_SCORE_KEY, location + _BOX_KEYS[0], *_BOX_KEYS[1:], *(_POINT_KEYS * keypoints))
    return keys, Struct("<" + "".join(f"{len(key)}sf" for key in keys))


def _size_bytes(size: int) -> bytes:
    """Return a size as protobuf writes it: 7 bits in each byte, the lowest first."""
    found = bytearray()
    while size > _SEVEN_BITS:
        found.append(size & _SEVEN_BITS | _MORE)
        size >>= 7
    found.append(size)
    return bytes(found)
