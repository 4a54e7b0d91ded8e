"""What a media sequence says of its own data, written into its context, and regions moved to images."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

import cv2
import numpy as np

from penstock.errors import InvalidArgumentError
from penstock_formats import Feature, Int64List
from penstock_image.sequences import keys
from penstock_image.sequences.media_sequence import BYTES, FLOATS, INTS, key_of, prefix_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock_image.sequences.media_sequence import MediaSequence

_PNG: Final = b"\x89PNG"
_JPEG_BEGINS: Final = b"\xff\xd8"
_JPEG_ENDS: Final = b"\xff\xd9"
_SECOND: Final = np.float32(1_000_000)
#: Parts of regions whose lengths are the number of regions.
_LISTS: Final = (keys.REGION_XMIN, keys.REGION_POINT_X, keys.REGION_3D_POINT_X)
#: Parts of regions that have a 0 where there is no region.
_COUNTS: Final = (keys.REGION_IS_ANNOTATED, keys.REGION_NUM_REGIONS)


def reconcile(sequence: MediaSequence, *, boxes: bool, regions: bool) -> None:
    """Write into the context what the data shows.

    That is: for segments the numbers of their first and last images; for images their format, size, channels
    and rate; for features of floats their dimensions and rate.

    Args:
        sequence: is changed.
        boxes: move regions without a prefix to the nearest images.
        regions: move all regions to the nearest images without a prefix. Of two that are nearest to one image
            the nearer one stays; images without a region get an empty one.

    Raises:
        InvalidArgumentError: an image cannot be decoded, or parts that belong together have different
            lengths. The sequence is half changed then.
    """
    _number_segments(sequence)
    for prefix in {"", *_prefixes(sequence, keys.IMAGE_TIMESTAMP)}:
        _describe_images(sequence, prefix)
    for prefix in _prefixes(sequence, keys.FEATURE_FLOATS):
        _describe_floats(sequence, prefix)
    if boxes:
        _move_regions(sequence, "")
    if regions:
        for prefix in _prefixes(sequence, keys.REGION_TIMESTAMP):
            _move_regions(sequence, prefix)


def _prefixes(sequence: MediaSequence, name: str) -> list[str]:
    found = (prefix_of(key, name) for key in sequence.keys_of_steps())
    return [prefix for prefix in found if prefix is not None]


def _number_segments(sequence: MediaSequence) -> None:
    images = sequence.times(keys.IMAGE_TIMESTAMP)
    starts, ends = sequence.values(keys.SEGMENT_START), sequence.values(keys.SEGMENT_END)
    if not images or not starts:
        return
    if len(starts) != len(ends):
        raise InvalidArgumentError(
            f"the sequence cannot be reconciled: it has {len(starts)} values of {keys.SEGMENT_START!r} and "
            f"{len(ends)} of {keys.SEGMENT_END!r}, but must have as many; correct it"
        )
    for times, key in ((starts, keys.SEGMENT_START_INDEX), (ends, keys.SEGMENT_END_INDEX)):
        sequence.set(key, INTS, [_nearest(images, time) for time in times])


def _nearest(images: Sequence[int], time: int) -> int:
    return min(range(len(images)), key=lambda i: abs(images[i] - time))


def _describe_images(sequence: MediaSequence, prefix: str) -> None:
    encoded = key_of(prefix, keys.IMAGE_ENCODED)
    if not sequence.count(encoded):
        return
    file = next(iter(sequence.step(encoded, 0)), b"")
    pixels = cv2.imdecode(np.frombuffer(file, np.uint8), cv2.IMREAD_UNCHANGED) if file else None
    if pixels is None:
        raise InvalidArgumentError(
            f"the first image of {encoded!r} in the sequence, of {len(file)} bytes, cannot be decoded; store "
            "JPEG or PNG files, or set reconcile_metadata to false"
        )
    height, width, *channels = pixels.shape
    sequence.set(key_of(prefix, keys.IMAGE_FORMAT), BYTES, [_format_of(file)])
    sequence.set(key_of(prefix, keys.IMAGE_HEIGHT), INTS, [height])
    sequence.set(key_of(prefix, keys.IMAGE_WIDTH), INTS, [width])
    sequence.set(key_of(prefix, keys.IMAGE_CHANNELS), INTS, channels or [1])
    _set_rate(sequence, key_of(prefix, keys.IMAGE_TIMESTAMP), key_of(prefix, keys.IMAGE_FRAME_RATE))


def _format_of(file: bytes) -> str:
    if file.startswith(_PNG):
        return "PNG"
    return "JPEG" if file.startswith(_JPEG_BEGINS) and file.endswith(_JPEG_ENDS) else "UNKNOWN"


def _describe_floats(sequence: MediaSequence, prefix: str) -> None:
    key = key_of(prefix, keys.FEATURE_FLOATS)
    if not sequence.count(key):
        return
    found = len(sequence.step(key, 0))
    dimensions = key_of(prefix, keys.FEATURE_DIMENSIONS)
    given = sequence.values(dimensions)
    if not given:
        sequence.set(dimensions, INTS, [found])
    elif math.prod(given) != found:
        raise InvalidArgumentError(
            f"the sequence cannot be reconciled: the first step of {key!r} has {found} numbers, but "
            f"{dimensions!r} says {list(given)}; correct one of them"
        )
    _set_rate(sequence, key_of(prefix, keys.FEATURE_TIMESTAMP), key_of(prefix, keys.FEATURE_RATE))


def _set_rate(sequence: MediaSequence, times_key: str, rate_key: str) -> None:
    """Write the rate that the first two times have, computed as the reference does."""
    times = sequence.times(times_key)
    if len(times) > 1:
        with np.errstate(divide="ignore"):
            seconds = np.float32(times[1] - times[0]) / _SECOND
            sequence.set(rate_key, FLOATS, [float(np.float32(np.float64(1) / np.float64(seconds)))])


# --- regions ------------------------------------------------------------------------------------------------


def _move_regions(sequence: MediaSequence, prefix: str) -> None:
    """Move the regions of a prefix to the nearest images; see `reconcile`."""
    times = sequence.times(key_of(prefix, keys.REGION_TIMESTAMP))
    images = sequence.times(keys.IMAGE_TIMESTAMP)
    if not times or not images:
        return
    annotated_key = key_of(prefix, keys.REGION_IS_ANNOTATED)
    if not sequence.count(annotated_key):
        for _ in times:
            sequence.add_step(annotated_key, INTS, [1])
    _count_regions(sequence, prefix, len(times))
    annotated = sequence.times(annotated_key)
    _check_count(annotated_key, len(annotated), len(times))
    chosen = _chosen(times, annotated, images)
    unmodified = key_of(prefix, keys.REGION_UNMODIFIED_TIMESTAMP)
    if not sequence.count(unmodified):
        for index in chosen:
            if index is not None:
                sequence.add_step(unmodified, INTS, [times[index]])
    start = key_of(prefix, keys.REGION)
    for key in sequence.keys_of_steps():
        if key.startswith(start) and key != unmodified:
            _check_count(key, sequence.count(key), len(times))
            sequence.set_steps(key, _moved(sequence, key, key.removeprefix(start), chosen, images))


def _count_regions(sequence: MediaSequence, prefix: str, count: int) -> None:
    for name in _LISTS:
        key = key_of(prefix, name)
        steps = sequence.steps(key)
        if not steps:
            continue
        _check_count(key, len(steps), count)
        counted = key_of(prefix, keys.REGION_NUM_REGIONS)
        lengths = [len(step.float_list.value) for step in steps]
        sequence.drop_steps(counted)
        for length in lengths:
            sequence.add_step(counted, INTS, [length])


def _check_count(key: str, found: int, count: int) -> None:
    if found != count:
        raise InvalidArgumentError(
            f"the sequence has {found} steps of {key!r}, but {count} timestamps of these regions; each "
            "timestamp needs one step: correct the sequence, or set reconcile_region_annotations to false"
        )


def _chosen(times: Sequence[int], annotated: Sequence[int], images: Sequence[int]) -> list[int | None]:
    """Return for each image the number of the region that moves to it; both are sorted by time."""
    chosen: list[int | None] = [None] * len(images)
    image = 0
    for number, time in enumerate(times):
        if not annotated[number]:
            continue
        while image < len(images) - 1 and abs(images[image] - time) >= abs(images[image + 1] - time):
            image += 1
        before = chosen[image]
        if before is None or abs(images[image] - times[before]) > abs(images[image] - time):
            chosen[image] = number
    return chosen


def _moved(
    sequence: MediaSequence, key: str, name: str, chosen: Sequence[int | None], images: Sequence[int]
) -> list[Feature]:
    """Return the steps of a part of regions, one for each image."""
    whole = f"{keys.REGION}{name}"
    if whole == keys.REGION_TIMESTAMP:
        return [_number(time) for time in images]
    nothing = _number(0) if whole in _COUNTS else Feature()
    steps = sequence.steps(key)
    return [nothing if index is None else steps[index] for index in chosen]


def _number(value: int) -> Feature:
    return Feature(int64_list=Int64List(value=[value]))
