"""The times of pictures, in microseconds: by a rate, by a table, or by EXIF data."""

from __future__ import annotations

import csv
import io
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, Final

from penstock.errors import InvalidArgumentError
from penstock_image.pictures.exif import time_taken
from penstock_image.pictures.picture_paths import text_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from penstock.access import Access
    from penstock_image.pictures.picture_paths import Found, Picture

MICROSECONDS: Final = 1_000_000
#: Names of the second column of a table → one of its units in microseconds.
_UNITS: Final = {"time": MICROSECONDS, "time_s": MICROSECONDS, "time_us": 1}
_COLUMNS: Final = 2
#: Times that a stream can have.
_FARTHEST_S: Final = 2**62 // MICROSECONDS


def by_rate(pictures: Iterable[Picture], fps: float) -> list[tuple[Picture, int]]:
    """Return each picture with its time: the first at 0, then `fps` a second."""
    return [(picture, round(index * MICROSECONDS / fps)) for index, picture in enumerate(pictures)]


def by_table(found: Found, path: Path, access: Access) -> list[tuple[Picture, int]]:
    """Return the pictures of a table, in its order, with its times.

    Args:
        found: the pictures that it may name.
        path: of a CSV file whose rows are the name of a picture and its time in seconds. A first row "name,
            time_us" says that times are whole microseconds.
        access: of the graph.

    Raises:
        InvalidArgumentError: names file and line: a row is none, its picture does not exist or its time is
            not later than the one before.
    """
    known = _by_name(found)
    timed: list[tuple[Picture, int]] = []
    for line, name, time in _rows(path, access):
        place = f"{path}, line {line}"
        picture = known.get(name)
        if picture is None:
            raise InvalidArgumentError(
                f"{place}: there is no picture {name!r} in {found.what}; correct the row of times, or "
                "take it out"
            )
        if timed and time <= timed[-1][1]:
            raise InvalidArgumentError(
                f"{place}: picture {name!r} is at {time} us, which is not later than the picture before, at "
                f"{timed[-1][1]} us; sort the rows by time, each time once"
            )
        timed.append((picture, time))
    if not timed:
        raise InvalidArgumentError(
            f"picture table {str(path)!r} has no row; write name and time of each picture"
        )
    return timed


def by_exif(
    found: Found, access: Access, skip: Callable[[Picture, str], None] | None
) -> list[tuple[Picture, int]]:
    """Return the pictures in the order in which they were taken, with their times since 1970.

    Args:
        found: the pictures. Only their headers matter, but each file is read.
        access: of the graph.
        skip: is called with a picture that has no time of its own, and why; None: that is an error.

    Raises:
        InvalidArgumentError: a picture has no time, or that of another one.
    """
    timed: list[tuple[Picture, int]] = []
    for picture in found.pictures:
        try:
            with access.open(picture.path) as file:
                time = time_taken(file.read())
            why = "its EXIF data have no DateTimeOriginal"
        except (OSError, ValueError) as error:
            time, why = None, str(error)
        if time is not None:
            timed.append((picture, time))
        elif skip is not None:
            skip(picture, why)
        else:
            raise InvalidArgumentError(
                f"picture {picture} has no time: {why}; give times by rate or by a table, or set broken: SKIP"
            )
    timed.sort(key=lambda one: one[1])
    return list(_increasing(timed, skip))


def _increasing(
    timed: list[tuple[Picture, int]], skip: Callable[[Picture, str], None] | None
) -> Iterator[tuple[Picture, int]]:
    last: tuple[Picture, int] | None = None
    for picture, time in timed:
        if last is None or time > last[1]:
            last = (picture, time)
            yield last
            continue
        why = f"it was taken at the same time as {last[0]}"
        if skip is None:
            raise InvalidArgumentError(
                f"picture {picture}: {why}, by its EXIF data; give times by rate or by a table, or set "
                "broken: SKIP"
            )
        skip(picture, why)


def _rows(path: Path, access: Access) -> Iterator[tuple[int, str, int]]:
    """Yield line, name and time in microseconds of each row."""
    reader = csv.reader(io.StringIO(text_of(path, access, f"picture table {str(path)!r}")), strict=True)
    unit = MICROSECONDS
    is_first = True
    try:
        for row in reader:
            cells = [cell.strip() for cell in row]
            if not any(cells):
                continue
            place = f"{path}, line {reader.line_num}"
            if len(cells) != _COLUMNS:
                raise InvalidArgumentError(
                    f"{place}: the row of times has {len(cells)} columns, but must have two: name, time in "
                    "seconds"
                )
            if is_first and cells[1].casefold() in _UNITS:
                unit = _UNITS[cells[1].casefold()]
            else:
                yield reader.line_num, cells[0], _time(cells[1], unit, place)
            is_first = False
    except csv.Error as error:
        raise InvalidArgumentError(
            f"{path}, line {reader.line_num}: {error}; correct the row of times"
        ) from error


def _time(text: str, unit: int, place: str) -> int:
    try:
        time = Decimal(text) * unit
        if time.is_finite() and abs(time) < _FARTHEST_S * MICROSECONDS:
            return round(time)
    except InvalidOperation:
        pass
    kind = "seconds, such as 0.04" if unit > 1 else "microseconds, such as 40000"
    raise InvalidArgumentError(f"{place}: the picture's time is {text!r}, but must be a number of {kind}")


def _by_name(found: Found) -> dict[str, Picture]:
    """Return the pictures by every name that a table may call them: the file's, and its path."""
    names = {picture.path.name: picture for picture in reversed(found.pictures)}
    for picture in found.pictures:
        names[str(picture.path)] = picture
        if picture.path.is_relative_to(found.folder):
            names[str(picture.path.relative_to(found.folder))] = picture
    return names
