"""The counts of lines and zones, which ZonesCalculator sends."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs

if TYPE_CHECKING:
    from collections.abc import Mapping

    from penstock_detect.zones.geometry import Point


@attrs.frozen(kw_only=True)
class LineCount:
    """How often a line was crossed."""

    name: str
    #: The ends, in fractions of the image.
    start: Point
    end: Point
    #: The names of the ways from left to right, seen from start to end, and back.
    directions: tuple[str, str]
    #: Class → how often it went in each of the directions.
    by_label: Mapping[str, tuple[int, int]]

    @property
    def totals(self) -> tuple[int, int]:
        """How often the line was crossed in each of the directions."""
        ways = self.by_label.values()
        return sum(way[0] for way in ways), sum(way[1] for way in ways)


@attrs.frozen(kw_only=True)
class ZoneCount:
    """Who is in a zone, and who was."""

    name: str
    #: The corners, in fractions of the image.
    points: tuple[Point, ...]
    #: Class → how many are there now.
    present: Mapping[str, int]
    #: Class → how many have entered.
    entered: Mapping[str, int]
    #: How many have left, and how long these were there together, in microseconds.
    left: int
    dwell_us: int

    @property
    def mean_dwell_s(self) -> float | None:
        """How long the ones that have left were there, on average; None where nobody has left."""
        return self.dwell_us / self.left / 1e6 if self.left else None


@attrs.frozen(kw_only=True)
class ZoneCounts:
    """The counts of all lines and zones, since the run began."""

    lines: tuple[LineCount, ...] = ()
    zones: tuple[ZoneCount, ...] = ()

    def as_data(self) -> dict[str, Any]:
        """Return the counts as JSON has them."""
        lines = {
            one.name: {
                direction: {label: ways[i] for label, ways in one.by_label.items() if ways[i]}
                for i, direction in enumerate(one.directions)
            }
            for one in self.lines
        }
        zones = {
            one.name: {
                "present": dict(one.present),
                "entered": dict(one.entered),
                "mean_dwell_s": one.mean_dwell_s,
            }
            for one in self.zones
        }
        return {"lines": lines, "zones": zones}
