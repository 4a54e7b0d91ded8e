"""The file of JSON that lines and zones are written in, read with the place of each error."""

from __future__ import annotations

import json
from math import isfinite
from typing import TYPE_CHECKING, Any, Final, NoReturn

from penstock.errors import InvalidArgumentError, ResourceExhaustedError
from penstock_detect.zones.anchors import Anchor
from penstock_detect.zones.lines_and_zones import (
    DIRECTIONS,
    MAX_PLACES,
    MAX_POINTS,
    Ground,
    Line,
    Places,
    Zone,
    check_places,
)

if TYPE_CHECKING:
    from penstock_detect.zones.geometry import Point

#: Bytes of a file, and characters of a name.
MAX_FILE_BYTES: Final = 2**20
MAX_NAME: Final = 200
_PAIR: Final = 2
_CORNERS: Final = 3
_FOUR: Final = 4
_KEYS: Final = ("lines", "zones", "units", "size", "anchor", "ground")


def read_places(name: str, data: bytes) -> Places:
    """Return what a file of JSON says.

    Args:
        name: of the file, for errors.
        data: all its bytes.

    Raises:
        InvalidArgumentError: it is no JSON, or says something else than lines and zones; names the place.
        ResourceExhaustedError: it is larger than the limits.
    """
    if len(data) > MAX_FILE_BYTES:
        raise ResourceExhaustedError(
            f"the zones file {name!r} has {len(data)} bytes, but may have {MAX_FILE_BYTES}"
        )
    try:
        found = json.loads(data.decode("utf-8-sig"), object_pairs_hook=_once)
    except UnicodeDecodeError as error:
        raise InvalidArgumentError(f"the zones file {name!r} is no text in UTF-8: {error}") from error
    except json.JSONDecodeError as error:
        raise InvalidArgumentError(
            f"the zones file {name!r} is no JSON: line {error.lineno}, column {error.colno}: {error.msg}"
        ) from error
    except (ValueError, RecursionError) as error:
        raise InvalidArgumentError(f"the zones file {name!r} is no JSON for zones: {error}") from error
    return _Reader(name).places(found)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the member {twice!r} is there twice in the zones file")
    return found


class _Reader:
    """Makes places of a value of JSON, and says where it is wrong."""

    def __init__(self, file: str) -> None:
        self._file = file

    def places(self, value: Any) -> Places:
        members = self._members(value, "", _KEYS)
        lines = self._list(members.get("lines", []), "lines", 0, MAX_PLACES)
        zones = self._list(members.get("zones", []), "zones", 0, MAX_PLACES)
        units = members.get("units", "pixels" if "size" in members else "fractions")
        if units not in ("fractions", "pixels"):
            self._refuse("units", f"{units!r}", '"fractions" or "pixels"')
        size = self._size(members["size"]) if "size" in members else None
        if size is not None and units != "pixels":
            self._refuse("size", "given", 'left out, or "units" be "pixels"')
        places = Places(
            lines=tuple(self._line(one, f"lines[{i}]") for i, one in enumerate(lines)),
            zones=tuple(self._zone(one, f"zones[{i}]") for i, one in enumerate(zones)),
            ground=self._ground(members["ground"]) if "ground" in members else None,
            anchor=self._anchor(members["anchor"]) if "anchor" in members else None,
            is_pixels=units == "pixels",
            size=size,
        )
        return check_places(places, f"the zones file {self._file!r}")

    def _line(self, value: Any, where: str) -> Line:
        members = self._members(value, where, ("name", "points", "directions", "classes"))
        points = self._points(members.get("points"), f"{where}.points", _PAIR, _PAIR)
        given = members.get("directions", list(DIRECTIONS))
        names = self._names(given, f"{where}.directions")
        if len(names) != _PAIR or names[0] == names[1]:
            self._refuse(f"{where}.directions", json.dumps(given), "two different names")
        return Line(
            name=self._name(members.get("name"), f"{where}.name"),
            start=points[0],
            end=points[1],
            directions=(names[0], names[1]),
            classes=frozenset(self._names(members.get("classes", []), f"{where}.classes")),
        )

    def _zone(self, value: Any, where: str) -> Zone:
        members = self._members(value, where, ("name", "points", "classes"))
        return Zone(
            name=self._name(members.get("name"), f"{where}.name"),
            points=self._points(members.get("points"), f"{where}.points", _CORNERS, MAX_POINTS),
            classes=frozenset(self._names(members.get("classes", []), f"{where}.classes")),
        )

    def _ground(self, value: Any) -> Ground:
        members = self._members(value, "ground", ("image", "meters"))
        image = self._points(members.get("image"), "ground.image", _FOUR, _FOUR)
        return Ground(image=image, meters=self._points(members.get("meters"), "ground.meters", _FOUR, _FOUR))

    def _anchor(self, value: Any) -> Anchor:
        names = [one.name.lower() for one in Anchor]
        if value not in names:
            self._refuse("anchor", json.dumps(value), f"one of {', '.join(names)}")
        return Anchor[value.upper()]

    def _size(self, value: Any) -> tuple[float, float]:
        pair = self._list(value, "size", _PAIR, _PAIR)
        width, height = (self._number(one, f"size[{i}]") for i, one in enumerate(pair))
        if min(width, height) <= 0:
            self._refuse("size", json.dumps(value), "width and height in pixels, both above 0")
        return width, height

    def _points(self, value: Any, where: str, least: int, most: int) -> tuple[Point, ...]:
        found = []
        for i, one in enumerate(self._list(value, where, least, most)):
            pair = self._list(one, f"{where}[{i}]", _PAIR, _PAIR)
            x, y = (self._number(number, f"{where}[{i}][{j}]") for j, number in enumerate(pair))
            found.append((x, y))
        return tuple(found)

    def _number(self, value: Any, where: str) -> float:
        if isinstance(value, bool) or not isinstance(value, int | float) or not _is_finite(value):
            self._refuse(where, json.dumps(value)[:MAX_NAME], "a number")
        return float(value)

    def _names(self, value: Any, where: str) -> list[str]:
        return [
            self._name(one, f"{where}[{i}]") for i, one in enumerate(self._list(value, where, 0, MAX_PLACES))
        ]

    def _name(self, value: Any, where: str) -> str:
        if not isinstance(value, str) or not 0 < len(value) <= MAX_NAME:
            shown = "missing" if value is None else json.dumps(value)[:MAX_NAME]
            self._refuse(where, shown, f"a text of 1 to {MAX_NAME} characters")
        return value

    def _members(self, value: Any, where: str, known: tuple[str, ...]) -> dict[str, Any]:
        if not isinstance(value, dict):
            self._refuse(where or "the whole", json.dumps(value)[:MAX_NAME], "an object {...}")
        for name in value:
            if name not in known:
                place = f"{where}.{name}" if where else name
                self._refuse(place[:MAX_NAME], "unknown", f"one of {', '.join(known)}")
        return value

    def _list(self, value: Any, where: str, least: int, most: int) -> list[Any]:
        if not isinstance(value, list) or not least <= len(value) <= most:
            shown = f"a list of {len(value)}" if isinstance(value, list) else json.dumps(value)[:MAX_NAME]
            count = f"{least}" if least == most else f"{least} to {most}"
            self._refuse(where, "missing" if value is None else shown, f"a list of {count}")
        return value

    def _refuse(self, where: str, shown: str, wanted: str) -> NoReturn:
        raise InvalidArgumentError(f"the zones file {self._file!r}: {where} is {shown}, but must be {wanted}")


def _is_finite(value: float) -> bool:
    try:
        return isfinite(value)
    except OverflowError:  # a whole number that no float holds
        return False
