"""The options of the calculators of lines and zones."""

from __future__ import annotations

from enum import Enum
from math import isfinite
from typing import TYPE_CHECKING, Final

import attrs

from penstock.access import ACCESS, Searched
from penstock.errors import InvalidArgumentError
from penstock_detect.detector_options import check_least, check_share
from penstock_detect.zones.anchors import Anchor
from penstock_detect.zones.lines_and_zones import (
    DIRECTIONS,
    Ground,
    Line,
    Places,
    Zone,
    check_places,
    read_places,
)
from penstock_tensors import RESOURCES

if TYPE_CHECKING:
    from penstock import CalculatorContext, CalculatorContract
    from penstock_detect.zones.geometry import Point

_CORNERS: Final = 3
_FOUR: Final = 4
_MOST_CELLS: Final = 4096
_MOST_SPREAD: Final = 100


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
class GroundOptions:
    """Four points of the image, and where they are on the ground.

    Attributes:
        image: x and y of four points of the image, no three of them on a line.
        meters: x and y of the same points on the ground, in metres from any origin.
    """

    image: tuple[float, ...] = ()
    meters: tuple[float, ...] = ()

    def ground(self) -> Ground:
        """Return the points.

        Raises:
            InvalidArgumentError: these are not four and four.
        """
        return Ground(
            image=pairs(self.image, "ground.image", _FOUR, _FOUR),
            meters=pairs(self.meters, "ground.meters", _FOUR, _FOUR),
        )


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


@attrs.frozen(kw_only=True)
class TrackSpeedCalculatorOptions:
    """Where the ground is, and how speeds are smoothed.

    Attributes:
        zones_path: a file of JSON whose "ground" has the points; instead of `ground`.
        ground: four points of the image, and of the ground.
        is_pixels: the points of `ground.image` are pixels of the size that IMAGE_SIZE says.
        anchor: the point of a box that stands on the ground; a file may say another one.
        window_ms: a speed is the slope of the straight line through the positions of so long a time.
        least_ms: it is measured when a track was followed for so long.
        lost_ms: a track that was not seen for longer begins again.
    """

    zones_path: str = ""
    ground: GroundOptions | None = None
    is_pixels: bool = False
    anchor: Anchor = Anchor.BOTTOM_CENTER
    window_ms: int = 1000
    least_ms: int = 200
    lost_ms: int = 2000

    def __attrs_post_init__(self) -> None:
        check_least("window_ms", self.window_ms, 1)
        check_least("least_ms", self.least_ms, 1)
        check_least("lost_ms", self.lost_ms, 0)
        if self.least_ms > self.window_ms:
            raise InvalidArgumentError(
                f"zone option least_ms is {self.least_ms}, but must be at most window_ms, {self.window_ms}"
            )
        if bool(self.zones_path) == (self.ground is not None):
            raise InvalidArgumentError(
                f"zone options: {'both' if self.zones_path else 'neither'} of zones_path and ground are set; "
                "give exactly one"
            )
        if self.ground is not None:
            self.ground.ground()

    def written(self) -> Places:
        """Return what is written in the options themselves."""
        ground = None if self.ground is None else self.ground.ground()
        return Places(ground=ground, is_pixels=self.is_pixels)


def searched(cc: CalculatorContract, path: str) -> list[Searched]:
    """Return what is read for a file of zones, and ask for the service that finds it; none for ""."""
    if not path:
        return []
    cc.use_service(RESOURCES)
    return [Searched(path)]


def places_of(cc: CalculatorContext, options: ZonesCalculatorOptions | TrackSpeedCalculatorOptions) -> Places:
    """Return the places of a file, or of the options.

    Raises:
        InvalidArgumentError: as `read_places`, or a file has neither lines nor zones.
        NotFoundError, PermissionDeniedError, ResourceExhaustedError: for the file.
    """
    if not options.zones_path:
        return options.written()
    found = cc.service(RESOURCES).find(options.zones_path, cc.service(ACCESS))
    return read_places(options.zones_path, found.data)


class HeatColors(Enum):
    """The colours of a heat map, as ColorMapCalculator has them."""

    TURBO = 0
    VIRIDIS = 1
    INFERNO = 2


@attrs.frozen(kw_only=True)
class HeatMapCalculatorOptions:
    """The cells of a heat map, and how it is drawn.

    Attributes:
        columns: cells across, 1 to 4096.
        rows: cells down, 1 to 4096.
        spread: how far a detection warms the cells around it, in cells: the standard deviation; 0: its own
            cell only.
        half_life_ms: after so long half of the heat is left; 0: it stays.
        gap_ms: a pause between frames that is longer counts as so long.
        anchor: the point of a box that stands for it.
        colors: the colours of the drawing.
        maximum: heat that has the last colour, in seconds; 0: the hottest cell of each moment.
        opacity: of the hottest colour over the image, 0 to 1.
    """

    columns: int = 80
    rows: int = 45
    spread: float = 1.5
    half_life_ms: int = 0
    gap_ms: int = 1000
    anchor: Anchor = Anchor.BOTTOM_CENTER
    colors: HeatColors = HeatColors.TURBO
    maximum: float = 0.0
    opacity: float = 0.6

    def __attrs_post_init__(self) -> None:
        for name in ("columns", "rows"):
            check_least(name, getattr(self, name), 1)
            if getattr(self, name) > _MOST_CELLS:
                raise InvalidArgumentError(
                    f"option {name} is {getattr(self, name)}, but must be at most {_MOST_CELLS}"
                )
        if not 0 <= self.spread <= _MOST_SPREAD:
            raise InvalidArgumentError(
                f"the option spread is {self.spread:g}, but must be from 0 to {_MOST_SPREAD}"
            )
        check_least("half_life_ms", self.half_life_ms, 0)
        check_least("gap_ms", self.gap_ms, 0)
        check_share("opacity", self.opacity)
        if not (isfinite(self.maximum) and self.maximum >= 0):
            raise InvalidArgumentError(f"the option maximum is {self.maximum:g}, but must be 0 or more")


@attrs.frozen(kw_only=True)
class ZonesToRenderDataCalculatorOptions:
    """How lines, zones and counts are drawn.

    Attributes:
        thickness: of lines, in pixels.
        font_height: of counts, as a part of the image's height.
        shows_counts: whether names and counts are written.
        shows_labels: whether counts are written for each class too.
    """

    thickness: float = 2.0
    font_height: float = 0.035
    shows_counts: bool = True
    shows_labels: bool = False

    def __attrs_post_init__(self) -> None:
        if not (isfinite(self.thickness) and self.thickness > 0):
            raise InvalidArgumentError(f"zone option thickness is {self.thickness:g}, but must be above 0")
        if not 0 < self.font_height <= 1:
            raise InvalidArgumentError(
                f"zone option font_height is {self.font_height:g}, but must be above 0, at most 1"
            )
