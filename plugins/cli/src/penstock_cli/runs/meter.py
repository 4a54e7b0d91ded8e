"""Numbers of a run for the progress line: packets, their rate, and the lengths of queues."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from penstock_cli.wording import amount, clock, plural, rate

if TYPE_CHECKING:
    from penstock.explain import Snapshot, StreamState

#: The rate is measured over this time, to show the current one.
_WINDOW_S: Final = 2.0
#: How many queues a line names, the fullest first.
_NAMED_QUEUES: Final = 3


@dataclass(frozen=True)
class Reading:
    """A run at one moment, in numbers."""

    #: Seconds since its start.
    elapsed_s: float
    #: Written to all streams so far.
    packets: int
    #: Name of the stream with the most packets, "" before the first packet.
    busiest: str
    #: Packets per second on that stream, in the last seconds.
    per_second: float
    #: `queued`, `queued_bytes`: packets that wait at nodes, and the bytes of their payloads.
    queued: int
    queued_bytes: int
    #: (stream, packets waiting, limit or None) of streams with waiting packets, fullest first.
    queues: tuple[tuple[str, int, int | None], ...]
    #: Packets that were dropped because their reader had closed.
    dropped: int

    def __str__(self) -> str:
        parts = [clock(self.elapsed_s), plural(self.packets, "packet")]
        if self.busiest:
            parts.append(f"{rate(self.per_second)} on {self.busiest!r}")
        parts.append(f"queued {self.queued} ({amount(self.queued_bytes)}){self._depths()}")
        parts.append(f"packets dropped {self.dropped}")
        return "  ".join(parts)

    def _depths(self) -> str:
        named = [
            f"{name} {depth}" if limit is None else f"{name} {depth}/{limit}"
            for name, depth, limit in self.queues[:_NAMED_QUEUES]
        ]
        return f" {', '.join(named)}" if named else ""


class Meter:
    """Reads snapshots of one run, in the order in which they were taken."""

    def __init__(self) -> None:
        self._past: deque[tuple[float, tuple[int, ...]]] = deque()

    def read(self, snapshot: Snapshot, elapsed_s: float) -> Reading:
        """Return the reading of a snapshot taken `elapsed_s` seconds after the run's start."""
        streams = snapshot.streams
        waiting = [stream for stream in streams if stream.queued]
        waiting.sort(key=_fullness, reverse=True)
        top = busiest(snapshot)
        return Reading(
            elapsed_s=elapsed_s,
            packets=sum(stream.added for stream in streams),
            busiest="" if top is None else top.name,
            per_second=self._rate(snapshot, elapsed_s, top),
            queued=sum(stream.queued for stream in waiting),
            queued_bytes=sum(stream.queued_bytes for stream in waiting),
            queues=tuple((stream.name, stream.queued, stream.limit) for stream in waiting),
            dropped=sum(stream.dropped for stream in streams),
        )

    def _rate(self, snapshot: Snapshot, now: float, top: StreamState | None) -> float:
        past = self._past
        if not past:
            past.append((0.0, (0,) * len(snapshot.streams)))
        past.append((now, tuple(stream.added for stream in snapshot.streams)))
        while len(past) > 2 and now - past[1][0] >= _WINDOW_S:  # noqa: PLR2004  # the newest and one before
            past.popleft()
        then, counts = past[0]
        if top is None or now <= then:
            return 0.0
        return (top.added - counts[snapshot.streams.index(top)]) / (now - then)


def busiest(snapshot: Snapshot) -> StreamState | None:
    """Return the stream with the most packets, the first of equals; None before any packet."""
    top = max(snapshot.streams, key=lambda stream: stream.added, default=None)
    return top if top is not None and top.added else None


def _fullness(stream: StreamState) -> tuple[float, int]:
    return (stream.queued / stream.limit if stream.limit else 0.0, stream.queued)
