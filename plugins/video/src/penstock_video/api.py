"""What other packs and programs may use of this pack: the events of live sources."""

from penstock_video.live.events import LiveEvent as LiveEvent
from penstock_video.live.events import LiveEventKind as LiveEventKind

__all__ = ["LiveEvent", "LiveEventKind"]
