"""`Latencies`: how long packets take through a running graph, of a few of them; see `sampling`."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Final

from penstock_monitor.reading import LatencyReading

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock_monitor.sampling import Sample
    from penstock_monitor.wiring import Wiring

#: Figures are of so many samples, the last ones.
_KEPT: Final = 500


class _Figures:
    """The samples at one exit."""

    def __init__(self) -> None:
        self._count = 0
        self._worst_s = 0.0
        self._last_s: Final[deque[float]] = deque(maxlen=_KEPT)
        self._made: LatencyReading | None = None

    def add(self, seconds: float) -> None:
        """Take one more."""
        self._count += 1
        self._worst_s = max(self._worst_s, seconds)
        self._last_s.append(seconds)
        self._made = None

    def latency(self, stream: str) -> LatencyReading:
        """Return them as data."""
        if self._made is None:
            ordered = sorted(self._last_s)
            self._made = LatencyReading(
                stream,
                self._count,
                1e3 * self._last_s[-1],
                1e3 * _quantile(ordered, 0.5),
                1e3 * _quantile(ordered, 0.99),
                1e3 * self._worst_s,
            )
        return self._made


class Latencies:
    """The figures of one run's samples."""

    def __init__(self) -> None:
        self._figures: Final[dict[str, _Figures]] = {}

    def add(self, sample: Sample) -> None:
        """Take one more."""
        for stream, seconds in sample.latencies_s.items():
            self._figures.setdefault(stream, _Figures()).add(seconds)

    def figures(self, wiring: Wiring) -> tuple[LatencyReading, ...]:
        """Return the latencies at the exits that have a sample, in the order of the plan."""
        return tuple(self._figures[name].latency(name) for name in wiring.exits if name in self._figures)


def _quantile(ordered: Sequence[float], share: float) -> float:
    """Return the smallest value that at least `share` of the values do not exceed."""
    place = -int(-share * len(ordered) // 1) - 1
    return ordered[max(0, min(place, len(ordered) - 1))]
