"""What happens to a live source: its packets on EVENTS."""

from __future__ import annotations

import enum

import attrs


class LiveEventKind(enum.Enum):
    """What has happened."""

    #: The first connection stands, and a frame has come.
    CONNECTED = "connected"
    #: No more frames come.
    LOST = "lost"
    #: Frames come again.
    RECONNECTED = "reconnected"


@attrs.frozen(kw_only=True)
class LiveEvent:
    """A change of a live source."""

    kind: LiveEventKind
    #: The address or camera, without passwords.
    source: str
    #: Why it was lost, in words; "" for other kinds.
    reason: str = ""
    #: RECONNECTED: seconds from the last frame before to the first one after.
    gap_seconds: float = 0.0
    #: How often it has come back until now.
    reconnects: int = 0
