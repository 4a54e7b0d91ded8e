"""Counts tracks at lines and in zones: the rules, without streams.

A track's path is the straight moves between the points at which it was seen, so that a missing frame changes
nothing. What it did counts when it is certain: the point is `margin` away from the line or edge, or the track
has stayed on the other side for `hold_us`, or it was lost there. A track that only trembles on a line is not
counted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import attrs

from penstock_detect.zones.counts import LineCount, ZoneCount, ZoneCounts
from penstock_detect.zones.events import ZoneEvent, ZoneEventKind
from penstock_detect.zones.geometry import crossing, distance, distance_to_edge, is_inside

if TYPE_CHECKING:
    from collections.abc import Iterable

    from penstock_detect.zones.geometry import Point
    from penstock_detect.zones.lines_and_zones import Line, Places, Zone


class Seen(NamedTuple):
    """A track in one frame."""

    track: int
    #: "" where the detection names no class.
    label: str
    score: float
    point: Point
    speed: float | None = None


@attrs.frozen(kw_only=True)
class Rules:
    """When something is certain."""

    #: In fractions of the image.
    margin: float
    hold_us: int
    #: A track that was not seen for longer is lost.
    lost_us: int


class _AtLine:
    """A track and a line."""

    __slots__ = ("counted", "passed", "point", "since")

    def __init__(self) -> None:
        #: Crossings to the right - crossings to the left: of the path, and of the ones that were counted.
        self.passed = 0
        self.counted = 0
        #: When and where the two began to differ.
        self.since = 0
        self.point: Point = (0.0, 0.0)


class _InZone:
    """A track and a zone."""

    __slots__ = ("entered", "is_counted", "is_in", "label", "point", "since")

    def __init__(self) -> None:
        #: Whether the track is inside, and whether that is counted.
        self.is_in = False
        self.is_counted = False
        #: When and where the two began to differ.
        self.since = 0
        self.point: Point = (0.0, 0.0)
        #: When it has entered, and the class it had then.
        self.entered = 0
        self.label = ""


class _Track:
    """What is known of a track that is not lost."""

    __slots__ = ("labels", "lines", "point", "seen", "speed", "zones")

    def __init__(self, point: Point, lines: int, zones: int) -> None:
        self.point = point
        self.seen = 0
        self.speed: float | None = None
        #: Class → the sum of its scores.
        self.labels: dict[str, float] = {}
        self.lines: Final = [_AtLine() for _ in range(lines)]
        self.zones: Final = [_InZone() for _ in range(zones)]

    def label(self) -> str:
        """Return the class with the largest sum of scores, the first of equal ones."""
        return max(self.labels, key=self.labels.__getitem__)


class _LineTally:
    """The counts of a line, while they grow."""

    def __init__(self, line: Line) -> None:
        self.line: Final = line
        self.by_label: Final[dict[str, list[int]]] = {}

    def frozen(self) -> LineCount:
        line = self.line
        ways = {label: (way[0], way[1]) for label, way in self.by_label.items()}
        return LineCount(
            name=line.name, start=line.start, end=line.end, directions=line.directions, by_label=ways
        )


class _ZoneTally:
    """The counts of a zone, while they grow."""

    def __init__(self, zone: Zone) -> None:
        self.zone: Final = zone
        self.present: Final[dict[str, int]] = {}
        self.entered: Final[dict[str, int]] = {}
        self.left = 0
        self.dwell_us = 0

    def frozen(self) -> ZoneCount:
        return ZoneCount(
            name=self.zone.name,
            points=self.zone.points,
            present={label: count for label, count in self.present.items() if count},
            entered=dict(self.entered),
            left=self.left,
            dwell_us=self.dwell_us,
        )


class Counter:
    """Counts for one run.

    Args:
        places: with coordinates in fractions of the image.
        rules: when something counts.
    """

    def __init__(self, places: Places, rules: Rules) -> None:
        self._rules: Final = rules
        self._lines: Final = [_LineTally(line) for line in places.lines]
        self._zones: Final = [_ZoneTally(zone) for zone in places.zones]
        self._tracks: Final[dict[int, _Track]] = {}
        self._events: list[ZoneEvent] = []
        self._counts = self._frozen()

    @property
    def counts(self) -> ZoneCounts:
        """What was counted so far."""
        return self._counts

    def step(self, timestamp: int, seen: Iterable[Seen]) -> list[ZoneEvent]:
        """Take in one frame, later than the one before, and return what is certain now.

        Args:
            timestamp: of the frame, in microseconds.
            seen: each track at most once.
        """
        self._events = []
        for number, track in list(self._tracks.items()):
            if timestamp - track.seen > self._rules.lost_us:
                self._lose(number, track)
        for one in seen:
            self._follow(one, timestamp)
        if self._events:
            self._counts = self._frozen()
        return self._events

    def _follow(self, one: Seen, timestamp: int) -> None:
        track = self._tracks.get(one.track)
        if track is None:
            track = self._tracks[one.track] = _Track(one.point, len(self._lines), len(self._zones))
        track.labels[one.label] = track.labels.get(one.label, 0.0) + one.score
        before, track.point = track.point, one.point
        track.seen = timestamp
        track.speed = one.speed
        for at_line, line in zip(track.lines, self._lines, strict=True):
            moved = crossing(line.line.start, line.line.end, before, one.point)
            if moved:
                if at_line.passed == at_line.counted:
                    at_line.since, at_line.point = timestamp, one.point
                at_line.passed += moved
            if at_line.passed != at_line.counted and self._is_certain(
                at_line.since, timestamp, distance(line.line.start, line.line.end, one.point)
            ):
                self._count_line(one.track, track, at_line, line)
        for in_zone, zone in zip(track.zones, self._zones, strict=True):
            is_in = is_inside(zone.zone.points, one.point)
            if is_in != in_zone.is_in:
                in_zone.is_in = is_in
                in_zone.since, in_zone.point = timestamp, one.point
            if is_in != in_zone.is_counted and self._is_certain(
                in_zone.since, timestamp, distance_to_edge(zone.zone.points, one.point)
            ):
                self._count_zone(one.track, track, in_zone, zone)

    def _is_certain(self, since: int, timestamp: int, away: float) -> bool:
        return away >= self._rules.margin or timestamp - since >= self._rules.hold_us

    def _lose(self, number: int, track: _Track) -> None:
        """Forget a track; what it did last counts, and it leaves the zones when it was seen last."""
        for at_line, line in zip(track.lines, self._lines, strict=True):
            self._count_line(number, track, at_line, line)
        for in_zone, zone in zip(track.zones, self._zones, strict=True):
            if in_zone.is_in != in_zone.is_counted:
                self._count_zone(number, track, in_zone, zone)
            if in_zone.is_counted:
                in_zone.is_in = False
                in_zone.since, in_zone.point = track.seen, track.point
                self._count_zone(number, track, in_zone, zone)
        del self._tracks[number]

    def _count_line(self, number: int, track: _Track, at_line: _AtLine, tally: _LineTally) -> None:
        """Count the crossings that the path has made."""
        line = tally.line
        label = track.label()
        way = 0 if at_line.passed > at_line.counted else 1
        for _ in range(abs(at_line.passed - at_line.counted)):
            if line.classes and label not in line.classes:
                break
            tally.by_label.setdefault(label, [0, 0])[way] += 1
            self._add(
                ZoneEventKind.CROSS,
                line.name,
                number,
                track,
                (at_line.since, at_line.point, label),
                direction=line.directions[way],
            )
        at_line.counted = at_line.passed

    def _count_zone(self, number: int, track: _Track, in_zone: _InZone, tally: _ZoneTally) -> None:
        """Count that a track has entered or left."""
        zone = tally.zone
        if in_zone.is_in:
            label = track.label()
            if zone.classes and label not in zone.classes:
                return
            in_zone.entered, in_zone.label = in_zone.since, label
            tally.present[label] = tally.present.get(label, 0) + 1
            tally.entered[label] = tally.entered.get(label, 0) + 1
            when = (in_zone.since, in_zone.point, label)
            self._add(ZoneEventKind.ENTER, zone.name, number, track, when)
        else:
            dwell = in_zone.since - in_zone.entered
            tally.present[in_zone.label] -= 1
            tally.left += 1
            tally.dwell_us += dwell
            when = (in_zone.since, in_zone.point, in_zone.label)
            self._add(ZoneEventKind.LEAVE, zone.name, number, track, when, dwell_us=dwell)
        in_zone.is_counted = in_zone.is_in

    def _add(  # noqa: PLR0913  # what an event says
        self,
        kind: ZoneEventKind,
        place: str,
        number: int,
        track: _Track,
        when: tuple[int, Point, str],
        *,
        direction: str = "",
        dwell_us: int | None = None,
    ) -> None:
        timestamp, (x, y), label = when
        self._events.append(
            ZoneEvent(
                kind=kind,
                place=place,
                timestamp=timestamp,
                track=number,
                label=label,
                x=x,
                y=y,
                direction=direction,
                dwell_us=dwell_us,
                speed=track.speed,
            )
        )

    def _frozen(self) -> ZoneCounts:
        return ZoneCounts(
            lines=tuple(one.frozen() for one in self._lines),
            zones=tuple(one.frozen() for one in self._zones),
        )
