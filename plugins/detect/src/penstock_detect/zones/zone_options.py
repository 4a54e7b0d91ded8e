"""The options that say lines, zones and the ground, and what they or their file say."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING, Final

import attrs

from penstock.access import ACCESS, Searched
from penstock.errors import InvalidArgumentError
from penstock_detect.option_checks import check_least
from penstock_detect.zones.anchors import Anchor
from penstock_detect.zones.lines_and_zones import (
    DIRECTIONS,
    Line,
    Places,
    Zone,
    check_places,
)
from penstock_detect.zones.zones_file import read_places
from penstock_tensors import RESOURCES

if TYPE_CHECKING:
    from collections.abc import Callable

    from penstock import CalculatorContext, CalculatorContract
    from penstock_detect.zones.geometry import Point

_CORNERS: Final = 3


def pairs(numbers: tuple[float, ...], what: str, least: int, most: int) -> tuple[Point, ...]:
    """Return points of numbers x, y, x, y and on.

    Raises:
        InvalidArgumentError: there are too few or too many, one without the other, or one is not finite.
    """
    count = len(numbers) // 2
    if len(numbers) % 2 or not least <= count <= most or not all(map(isfinite, numbers)):
        wanted = f"{least}" if least == most else f"{least} or more"
        raise InvalidArgumentError(
            f"zone options: {what} has the numbers {list(numbers)[:20]}, but must have x and y of {wanted} "
            "points, finite"
        )
    return tuple(zip(numbers[::2], numbers[1::2], strict=True))


@attrs.frozen(kw_only=True)
class LineOptions:
    """A segment that tracks cross.

    Attributes:
        name: in events and counts.
        point: x and y of its two ends.
        direction: the names of the ways from left to right, seen from the first end to the second, and back;
            by default "in" and "out". For a line from left to right "in" is downwards.
        classes: the names of the classes that count; empty: all.
    """

    name: str = ""
    point: tuple[float, ...] = ()
    direction: tuple[str, ...] = DIRECTIONS
    classes: tuple[str, ...] = ()

    def line(self) -> Line:
        """Return the line.

        Raises:
            InvalidArgumentError: it is none.
        """
        start, end = pairs(self.point, f"the line {self.name!r}", 2, 2)
        if not self.name or len(set(self.direction)) != 2 or len(self.direction) != 2:  # noqa: PLR2004
            raise InvalidArgumentError(
                f"zone options: line {self.name!r} has the directions {list(self.direction)}, but must have "
                "a name and two different directions"
            )
        return Line(
            name=self.name,
            start=start,
            end=end,
            directions=(self.direction[0], self.direction[1]),
            classes=frozenset(self.classes),
        )


@attrs.frozen(kw_only=True)
class ZoneOptions:
    """A polygon that tracks enter and leave.

    Attributes:
        name: in events and counts.
        point: x and y of its corners, in order, three or more.
        classes: the names of the classes that count; empty: all.
    """

    name: str = ""
    point: tuple[float, ...] = ()
    classes: tuple[str, ...] = ()

    def zone(self) -> Zone:
        """Return the zone.

        Raises:
            InvalidArgumentError: it is none.
        """
        from penstock_detect.zones.lines_and_zones import MAX_POINTS

        if not self.name:
            raise InvalidArgumentError("zone options: a zone has no name; set it")
        points = pairs(self.point, f"the zone {self.name!r}", _CORNERS, MAX_POINTS)
        return Zone(name=self.name, points=points, classes=frozenset(self.classes))


@attrs.frozen(kw_only=True)
class ZonesCalculatorOptions:
    """Which lines and zones there are, and when something counts.

    Attributes:
        zones_path: a file of JSON with lines and zones, searched by the service RESOURCES: beside the graph
            file first; instead of `line` and `zone`.
        line: lines.
        zone: zones.
        is_pixels: coordinates of `line` and `zone` are pixels of the size that IMAGE_SIZE says; else
        fractions
            of the image.
        anchor: the point of a box that stands for it; a file may say another one.
        margin: what a track did counts when it is so far from the line or edge, in fractions of the image.
        hold_ms: or when it has stayed on the other side so long.
        lost_ms: a track that was not seen for longer has left.
    """

    zones_path: str = ""
    line: tuple[LineOptions, ...] = ()
    zone: tuple[ZoneOptions, ...] = ()
    is_pixels: bool = False
    anchor: Anchor = Anchor.BOTTOM_CENTER
    margin: float = 0.01
    hold_ms: int = 500
    lost_ms: int = 2000

    def __attrs_post_init__(self) -> None:
        if not 0 <= self.margin <= 1:
            raise InvalidArgumentError(f"zone option margin is {self.margin:g}, but must be from 0 to 1")
        check_least("hold_ms", self.hold_ms, 0)
        check_least("lost_ms", self.lost_ms, 0)
        if bool(self.zones_path) == bool(self.line or self.zone):
            raise InvalidArgumentError(
                f"zone options: {'both' if self.zones_path else 'none'} of zones_path, line and zone are "
                "set; name a file, or write lines and zones"
            )
        self.written()

    def written(self) -> Places:
        """Return what is written in the options themselves.

        Raises:
            InvalidArgumentError: it is wrong.
        """
        places = Places(
            lines=tuple(one.line() for one in self.line),
            zones=tuple(one.zone() for one in self.zone),
            is_pixels=self.is_pixels,
        )
        return check_places(places, "the options")


def searched(cc: CalculatorContract, path: str) -> list[Searched]:
    """Return what is read for a zones file, and ask for the service that finds it; none for ""."""
    if not path:
        return []
    cc.use_service(RESOURCES)
    return [Searched(path)]


def places_of(cc: CalculatorContext, zones_path: str, written: Callable[[], Places]) -> Places:
    """Return the places of a file, or of the options.

    Args:
        cc: of the calculator.
        zones_path: the file; "" where the options have the places.
        written: returns the places of the options.

    Raises:
        InvalidArgumentError: as `read_places`, or a file has neither lines nor zones.
        NotFoundError, PermissionDeniedError, ResourceExhaustedError: for the file.
    """
    if not zones_path:
        return written()
    found = cc.service(RESOURCES).find(zones_path, cc.service(ACCESS))
    return read_places(zones_path, found.data)
