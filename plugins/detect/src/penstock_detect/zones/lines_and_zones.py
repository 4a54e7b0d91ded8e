"""Lines and zones as they are written: in options, or in a file of JSON."""

from __future__ import annotations

import json
from math import isfinite
from typing import TYPE_CHECKING, Any, Final, NoReturn

import attrs

from penstock.errors import InvalidArgumentError, ResourceExhaustedError
from penstock_detect.zones.anchors import Anchor
from penstock_detect.zones.geometry import Point, side

if TYPE_CHECKING:
    from penstock import CalculatorContext

#: Bytes of a file, lines and zones together, corners of one, and characters of a name.
MAX_FILE_BYTES: Final = 2**20
MAX_PLACES: Final = 1_000
MAX_POINTS: Final = 1_000
MAX_NAME: Final = 200
#: Names of directions that a line does not name.
DIRECTIONS: Final = ("in", "out")
_PAIR: Final = 2
_CORNERS: Final = 3
_FOUR: Final = 4
_KEYS: Final = ("lines", "zones", "units", "size", "anchor", "ground")


@attrs.frozen(kw_only=True)
class Line:
    """A segment that tracks cross."""

    name: str
    start: Point
    end: Point
    directions: tuple[str, str] = DIRECTIONS
    #: The classes that count; empty: all.
    classes: frozenset[str] = frozenset()


@attrs.frozen(kw_only=True)
class Zone:
    """A polygon that tracks enter and leave."""

    name: str
    points: tuple[Point, ...]
    classes: frozenset[str] = frozenset()


@attrs.frozen(kw_only=True)
class Ground:
    """Four points of the image, and where they are on the ground, in metres."""

    image: tuple[Point, ...]
    meters: tuple[Point, ...]


@attrs.frozen(kw_only=True)
class Places:
    """What is counted."""

    lines: tuple[Line, ...] = ()
    zones: tuple[Zone, ...] = ()
    ground: Ground | None = None
    #: Of the box; None: what the options say.
    anchor: Anchor | None = None
    #: Whether coordinates are pixels; else fractions of the image.
    is_pixels: bool = False
    #: Width and height of the image that pixels belong to; None: what IMAGE_SIZE says.
    size: tuple[float, float] | None = None

    def in_fractions(self, size: tuple[float, float] | None) -> Places:
        """Return the same with coordinates in fractions of the image.

        Args:
            size: of the image, in pixels, where this does not say it.
        """
        wanted = self.size or size
        if not self.is_pixels or wanted is None:
            return self
        width, height = wanted

        def scaled(points: tuple[Point, ...]) -> tuple[Point, ...]:
            return tuple((x / width, y / height) for x, y in points)

        return attrs.evolve(
            self,
            lines=tuple(
                attrs.evolve(one, start=start, end=end)
                for one in self.lines
                for start, end in [scaled((one.start, one.end))]
            ),
            zones=tuple(attrs.evolve(one, points=scaled(one.points)) for one in self.zones),
            ground=self.ground and attrs.evolve(self.ground, image=scaled(self.ground.image)),
            is_pixels=False,
        )


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
            f"the file of zones {name!r} has {len(data)} bytes, but may have {MAX_FILE_BYTES}"
        )
    try:
        found = json.loads(data.decode("utf-8-sig"), object_pairs_hook=_once)
    except UnicodeDecodeError as error:
        raise InvalidArgumentError(f"the file of zones {name!r} is no text in UTF-8: {error}") from error
    except json.JSONDecodeError as error:
        raise InvalidArgumentError(
            f"the file of zones {name!r} is no JSON: line {error.lineno}, column {error.colno}: {error.msg}"
        ) from error
    except (ValueError, RecursionError) as error:
        raise InvalidArgumentError(f"the file of zones {name!r} is no JSON for zones: {error}") from error
    return _Reader(name).places(found)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the member {twice!r} is there twice in the file of zones")
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
        return check_places(places, f"the file of zones {self._file!r}")

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
        raise InvalidArgumentError(
            f"the file of zones {self._file!r}: {where} is {shown}, but must be {wanted}"
        )


def _is_finite(value: float) -> bool:
    try:
        return isfinite(value)
    except OverflowError:  # a whole number that no float holds
        return False


def check_places(places: Places, what: str) -> Places:
    """Return places whose names and shapes can be counted.

    Raises:
        InvalidArgumentError: a name is there twice, a line has no length, a zone has no area, or a coordinate
            in fractions is far outside of the image.
    """
    names = [line.name for line in places.lines] + [zone.name for zone in places.zones]
    if len(names) > MAX_PLACES:
        raise ResourceExhaustedError(
            f"{what}: there are {len(names)} lines and zones, but at most {MAX_PLACES}"
        )
    for name in names:
        if names.count(name) > 1:
            raise InvalidArgumentError(
                f"{what}: two lines or zones have the name {name!r}; give each its own"
            )
    for line in places.lines:
        if line.start == line.end:
            raise InvalidArgumentError(
                f"{what}: the ends of the zone line {line.name!r} are the same point {line.start}; move one"
            )
    for zone in places.zones:
        first = zone.points[0]
        other = next((one for one in zone.points if one != first), first)
        if all(side(first, other, one) == 0 for one in zone.points):
            raise InvalidArgumentError(
                f"{what}: the corners of the zone {zone.name!r} are on one line; give three that are not"
            )
    if not places.is_pixels:
        _check_fractions(places, what)
    return places


def _check_fractions(places: Places, what: str) -> None:
    """Refuse fractions of an image that are pixels more likely."""
    given: list[tuple[str, tuple[Point, ...]]] = []
    given += [(line.name, (line.start, line.end)) for line in places.lines]
    given += [(zone.name, zone.points) for zone in places.zones]
    given += [("ground", places.ground.image)] if places.ground else []
    for name, points in given:
        for point in points:
            if max(map(abs, point)) > 10:  # noqa: PLR2004  # ten times the image
                raise InvalidArgumentError(
                    f"{what}: {name!r} has the point {point}, but coordinates of zones are fractions of the "
                    'image, 0 to 1; for pixels say "units": "pixels", or "size": [width, height]'
                )


def size_of(cc: CalculatorContext, before: tuple[float, float] | None, places: Places) -> tuple[float, float]:
    """Return what IMAGE_SIZE says.

    Raises:
        InvalidArgumentError: it is no size, or another one than before, though places are in pixels.
    """
    size: Any = cc.inputs["IMAGE_SIZE"].payload
    if len(size) != 2 or not min(size) > 0:  # noqa: PLR2004  # width, height
        raise InvalidArgumentError(
            f"input {cc.inputs['IMAGE_SIZE'].name!r} holds {size!r}, but lines and zones take an "
            "image's size (width, height), both above 0; connect the SIZE of an ImagePropertiesCalculator"
        )
    found = float(size[0]), float(size[1])
    if places.is_pixels and places.size is None and before not in (None, found):
        raise InvalidArgumentError(
            f"the size of the image changes from {before} to {found} at timestamp {cc.stamp}, but lines "
            "and zones are in pixels; write them in fractions of the image"
        )
    return found
