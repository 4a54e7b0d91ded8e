"""Lines and zones, as options or a file of JSON have them, and whether they can be counted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import attrs

from penstock.errors import InvalidArgumentError, ResourceExhaustedError
from penstock_detect.zones.geometry import Point, side

if TYPE_CHECKING:
    from penstock import CalculatorContext
    from penstock_detect.zones.anchors import Anchor

#: Lines and zones together, and corners of one.
MAX_PLACES: Final = 1_000
MAX_POINTS: Final = 1_000
#: Names of directions that a line does not name.
DIRECTIONS: Final = ("in", "out")


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
                    f"{what}: {name!r} has the point {point}, but lines and zones are in fractions of the "
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
            f"lines and zones are in pixels, but the size of the image changes from {before} to {found} at "
            f"timestamp {cc.stamp}; write them in fractions of the image"
        )
    return found
