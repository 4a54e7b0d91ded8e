"""Landmarks of a list as one array, and back.

Reading field after field costs Python a step for each number of each landmark; a face has 478. In the bytes
of a list all landmarks have the same form as long as all have the same fields, so NumPy reads and writes
them as an array of records. Where they do not have the same fields, the fields are read one by one.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, Final, TypeAlias, TypeVar

import attrs
import numpy as np

from penstock_formats import LandmarkList, NormalizedLandmarkList

if TYPE_CHECKING:
    from numpy.typing import NDArray

    AnyLandmarks: TypeAlias = LandmarkList | NormalizedLandmarkList

L = TypeVar("L", LandmarkList, NormalizedLandmarkList)

#: The columns of a table; the number of a field is its column + 1.
FIELDS: Final = ("x", "y", "z", "visibility", "presence")
X, Y, Z, VISIBILITY, PRESENCE = range(len(FIELDS))
#: A landmark in the bytes of its list: this tag, its length, then a tag and 32 bits for each field.
_LIST_TAG: Final = 0x0A
_FIELD_TAGS: Final = bytes(8 * (column + 1) + 5 for column in range(len(FIELDS)))
_HEAD_BYTES: Final = 2
_FIELD_BYTES: Final = 5


@attrs.define(eq=False)
class LandmarkTable:
    """The landmarks of a list."""

    #: float32 of shape (landmarks, 5); columns as in FIELDS; 0 where a landmark lacks a field.
    values: NDArray[np.float32]
    #: Which columns the landmarks have: five of bool where that is the same for all, else an array of bool
    #: with the shape of `values`.
    present: tuple[bool, ...] | NDArray[np.bool_]

    @classmethod
    def of(cls, landmarks: AnyLandmarks) -> LandmarkTable:
        """Read a list; the array is a new one."""
        data = landmarks.SerializeToString()
        form = _form_of_first(data)
        if form is not None and form.fits(data):
            numbers = form.numbers(data)
            values = np.zeros((len(numbers), len(FIELDS)), np.float32)
            values[:, form.columns] = numbers
            return cls(values, form.present)
        return cls._by_field(landmarks)

    @classmethod
    def _by_field(cls, landmarks: AnyLandmarks) -> LandmarkTable:
        each = landmarks.landmark
        values = [[getattr(one, field) for field in FIELDS] for one in each]
        present = [[one.HasField(field) for field in FIELDS] for one in each]
        shape = (len(each), len(FIELDS))
        return cls(np.array(values, np.float32).reshape(shape), np.array(present, bool).reshape(shape))

    def have(self, *columns: int) -> None:
        """Make all landmarks have these fields, with the numbers in `values`."""
        if isinstance(self.present, tuple):
            self.present = _with(self.present, columns)
        else:
            self.present[:, columns] = True

    def cut(self, count: int) -> None:
        """Keep only the first landmarks."""
        self.values = self.values[:count]
        if not isinstance(self.present, tuple):
            self.present = self.present[:count]

    def make(self, kind: type[L]) -> L:
        """Return a new list."""
        if not len(self.values):
            return kind()
        if not isinstance(self.present, tuple):
            return self._make_by_field(kind, self.present)
        form = _form(self.present)
        if form is None:
            return self._make_by_field(kind, np.zeros(self.values.shape, bool))
        laid = bytearray(form.blank * len(self.values))
        form.numbers(laid)[...] = self.values[:, form.columns]
        return kind.FromString(bytes(laid))

    def _make_by_field(self, kind: type[L], present: NDArray[np.bool_]) -> L:
        made: Any = kind()
        for numbers, fields in zip(self.values.tolist(), present.tolist(), strict=True):
            landmark = made.landmark.add()
            for field, number, is_there in zip(FIELDS, numbers, fields, strict=True):
                if is_there:
                    setattr(landmark, field, number)
        return made  # type: ignore[no-any-return]  # `kind` was called


@attrs.frozen(eq=False)
class _Form:
    """How a landmark with some fields looks in the bytes of its list."""

    #: The fields that it has.
    present: tuple[bool, ...]
    #: These, as an index of a table's columns.
    columns: slice | list[int]
    #: The bytes of one, with 0 for each number.
    blank: bytes
    #: The bytes between the numbers, with their places.
    tags: tuple[tuple[int, bytes], ...]

    def fits(self, data: bytes) -> bool:
        """Return whether bytes are such landmarks and nothing else."""
        size = len(self.blank)
        count, rest = divmod(len(data), size)
        return not rest and all(data[place::size] == tag * count for place, tag in self.tags)

    def numbers(self, data: bytes | bytearray) -> NDArray[np.float32]:
        """Return the numbers in bytes that fit, as (n, fields), in their place."""
        size = len(self.blank)
        shape = (len(data) // size, (size - _HEAD_BYTES) // _FIELD_BYTES)
        return np.ndarray(shape, "<f4", data, _HEAD_BYTES + 1, (size, _FIELD_BYTES))


@cache
def _with(present: tuple[bool, ...], columns: tuple[int, ...]) -> tuple[bool, ...]:
    """Return which fields there are with some more."""
    return tuple(there or column in columns for column, there in enumerate(present))


@cache
def _form(present: tuple[bool, ...]) -> _Form | None:
    """Return the form of landmarks with these fields; None where they have none."""
    columns = [column for column, there in enumerate(present) if there]
    count = len(columns)
    if not count:
        return None
    is_prefix = columns == list(range(count))
    head = bytes((_LIST_TAG, _FIELD_BYTES * count))
    fields = [bytes((_FIELD_TAGS[column],)) for column in columns]
    places = (0, 1, *range(_HEAD_BYTES, _HEAD_BYTES + _FIELD_BYTES * count, _FIELD_BYTES))
    tags = tuple(zip(places, (head[:1], head[1:], *fields), strict=True))
    blank = head + b"".join(tag + bytes(_FIELD_BYTES - 1) for tag in fields)
    return _Form(present, slice(count) if is_prefix else columns, blank, tags)


def _form_of_first(data: bytes) -> _Form | None:
    """Return the form of the first landmark of a list's bytes; None where it has no fields, or others."""
    if len(data) <= _HEAD_BYTES:
        return None
    return _form_of_tags(data[_HEAD_BYTES : _HEAD_BYTES + data[1] : _FIELD_BYTES])


@cache
def _form_of_tags(tags: bytes) -> _Form | None:
    present = tuple(tag in tags for tag in _FIELD_TAGS)
    return _form(present) if len(tags) == sum(present) else None
