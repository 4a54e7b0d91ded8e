"""What differs between two payloads, in words and as a number: for tools that compare runs or calculators."""

from __future__ import annotations

import math
from typing import Any, Final

import attrs
import numpy as np
from google.protobuf.message import Message

from penstock_formats.image_frame import ImageFrame
from penstock_formats.matrix import Matrix

_LONGEST: Final = 60


@attrs.frozen
class PayloadDifference:
    """What differs between two payloads."""

    #: What differs, and where.
    words: str
    #: The largest difference between two numbers of the payloads; None where they are not numbers or arrays
    #: of numbers of one shape and type, or where one of a pair is no number (NaN).
    largest: float | None = None


def payload_difference(one: Any, other: Any, tolerance: float = 0.0) -> PayloadDifference | None:
    """Compare two payloads of a stream.

    Args:
        one: anything. Messages count as equal when they serialize to the same bytes, two NaNs are equal, and
            other values when `==` says so.
        other: likewise; another type is a difference.
        tolerance: how much numbers may differ: those of images, matrices and arrays, and plain ints and
            floats.

    Returns:
        None where they do not differ. Neither is changed or kept.
    """
    if type(one) is not type(other) and not (isinstance(one, Message) and isinstance(other, Message)):
        return PayloadDifference(f"{type(one).__name__} and {type(other).__name__}")
    if isinstance(one, (ImageFrame, Matrix, np.ndarray)):
        return _array_difference(one, other, tolerance)
    if isinstance(one, Message):
        same = one.SerializeToString(deterministic=True) == other.SerializeToString(deterministic=True)
        return None if same else PayloadDifference(f"{_short(one)} and {_short(other)}")
    if isinstance(one, float) and math.isnan(one) and math.isnan(other):
        return None
    is_number = isinstance(one, (int, float)) and not isinstance(one, bool)
    if one == other or (is_number and tolerance and abs(one - other) <= tolerance):
        return None
    largest = float(abs(one - other)) if is_number else math.nan
    return PayloadDifference(f"{_short(one)} and {_short(other)}", None if math.isnan(largest) else largest)


def _array_difference(one: Any, other: Any, tolerance: float) -> PayloadDifference | None:
    if isinstance(one, ImageFrame) and one.format != other.format:
        return PayloadDifference(f"images of format {one.format.name} and {other.format.name}")
    first, second = (
        payload if isinstance(payload, np.ndarray) else payload.array for payload in (one, other)
    )
    if first.shape != second.shape or first.dtype != second.dtype:
        return PayloadDifference(f"{first.shape} {first.dtype} and {second.shape} {second.dtype}")
    equal = first == second
    is_numeric = first.dtype.kind in "iufc"
    if first.dtype.kind in "fc":
        equal |= np.isnan(first) & np.isnan(second)
    if is_numeric and tolerance:
        equal |= _distances(first, second) <= tolerance
    if equal.all():
        return None
    place = tuple(int(i) for i in np.argwhere(~equal)[0])
    count = int((~equal).sum())
    largest = float(_distances(first, second)[~equal].max()) if is_numeric else math.nan
    return PayloadDifference(
        f"{count:,} of {equal.size:,} elements differ, first at {place}: {first[place]} and {second[place]}",
        None if math.isnan(largest) else largest,
    )


def _distances(first: Any, second: Any) -> Any:
    """Return how far apart the elements are, without overflow of small types."""
    wide = np.complex128 if first.dtype.kind == "c" else np.float64
    return np.abs(first.astype(wide) - second.astype(wide))


def _short(payload: object) -> str:
    text = " ".join(repr(payload).split())
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."
