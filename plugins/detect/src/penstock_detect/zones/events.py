"""What the calculators of zones send: events, counts and speeds."""

from __future__ import annotations

import json
from enum import Enum
from typing import TYPE_CHECKING, Any

import attrs

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from penstock_detect.zones.geometry import Point


class ZoneEventKind(Enum):
    """What has happened."""

    ENTER = "enter"
    LEAVE = "leave"
    CROSS = "cross"


@attrs.frozen(kw_only=True)
class ZoneEvent:
    """A track has entered or left a zone, or has crossed a line."""

    kind: ZoneEventKind
    #: The name of the zone or line.
    place: str
    #: When it happened, in microseconds: of the first frame that shows it. The packet may be later, since an
    #: event is sent when it is certain.
    timestamp: int
    #: The track's ID, from 1.
    track: int
    #: The class that most of the track's detections have, by their scores; "" where they name none.
    label: str
    #: Where the anchor of the box was, in fractions of the image.
    x: float
    y: float
    #: The name of the direction in which a line was crossed; "" for zones.
    direction: str = ""
    #: How long the track was in the zone that it has left, in microseconds; else None.
    dwell_us: int | None = None
    #: Metres a second, where speeds are measured; else None.
    speed: float | None = None

    def as_data(self) -> dict[str, Any]:
        """Return the event as JSON has it; every event has the same names, None where there is no value."""
        return {
            "event": self.kind.value,
            "timestamp": self.timestamp,
            "place": self.place,
            "direction": self.direction or None,
            "label": self.label or None,
            "track": self.track,
            "x": round(self.x, 5),
            "y": round(self.y, 5),
            "dwell_s": None if self.dwell_us is None else self.dwell_us / 1e6,
            "speed": None if self.speed is None else round(self.speed, 3),
        }


def json_of(events: Iterable[ZoneEvent]) -> str:
    """Return events as the text of a JSON array."""
    return json.dumps([one.as_data() for one in events], separators=(",", ":"), ensure_ascii=False)


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


@attrs.frozen(kw_only=True)
class TrackSpeed:
    """How fast a track moves over the ground."""

    track: int
    #: Metres a second, 0 or more.
    speed: float
    #: Its parts along the axes of the ground, metres a second.
    x: float
    y: float
