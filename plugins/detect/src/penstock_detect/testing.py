"""Random payloads of this pack's types, for `penstock_testing.check_calculator`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from penstock_detect.zones.counts import LineCount, ZoneCount, ZoneCounts
from penstock_detect.zones.events import ZoneEvent, ZoneEventKind
from penstock_detect.zones.track_speed import TrackSpeed

if TYPE_CHECKING:
    from collections.abc import Callable
    from random import Random

    from penstock import Timestamp


def _event(random: Random, at: Timestamp) -> ZoneEvent:
    """Return an event of this moment."""
    kind = random.choice(list(ZoneEventKind))
    return ZoneEvent(
        kind=kind,
        place=random.choice(["gate", "yard"]),
        timestamp=int(at),
        track=random.randrange(1, 9),
        label=random.choice(["", "car", "person"]),
        x=random.random(),
        y=random.random(),
        direction="in" if kind is ZoneEventKind.CROSS else "",
        dwell_us=random.randrange(10**7) if kind is ZoneEventKind.LEAVE else None,
        speed=random.choice([None, random.uniform(0, 30)]),
    )


def _counts(random: Random, at: Timestamp) -> ZoneCounts:  # noqa: ARG001  # what every maker gets
    """Return the counts of a line and a zone."""
    line = LineCount(
        name="gate",
        start=(0.1, 0.5),
        end=(0.9, 0.5),
        directions=("in", "out"),
        by_label={"car": (random.randrange(9), random.randrange(9))},
    )
    zone = ZoneCount(
        name="yard",
        points=((0.2, 0.6), (0.8, 0.6), (0.8, 0.9)),
        present={"car": random.randrange(3)},
        entered={"car": random.randrange(3, 9)},
        left=3,
        dwell_us=random.randrange(10**7),
    )
    return ZoneCounts(lines=(line,), zones=(zone,))


def _speed(random: Random, at: Timestamp) -> TrackSpeed:  # noqa: ARG001  # what every maker gets
    """Return the speed of one of a few tracks, along one axis."""
    speed = random.uniform(0, 30)
    return TrackSpeed(track=random.randrange(1, 4), speed=speed, x=speed, y=0.0)


#: Type → the function that makes a payload from a random generator and a timestamp.
PAYLOADS: Final[dict[type, Callable[[Random, Timestamp], Any]]] = {
    TrackSpeed: _speed,
    ZoneCounts: _counts,
    ZoneEvent: _event,
}
