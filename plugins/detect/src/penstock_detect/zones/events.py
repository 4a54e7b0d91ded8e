"""What the zone counter sends of single tracks: events."""

from __future__ import annotations

import json
from enum import Enum
from typing import TYPE_CHECKING, Any

import attrs

if TYPE_CHECKING:
    from collections.abc import Iterable


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
