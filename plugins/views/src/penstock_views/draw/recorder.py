"""`Recorder`: notes what the streams of a running graph carry, for a timeline."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any, Final

from penstock.errors import FailedPreconditionError
from penstock.lowlevel import DONE, NO_PAYLOAD, PRESTREAM, next_allowed, show
from penstock_views.draw.reading import drawing
from penstock_views.draw.timeline import Track

if TYPE_CHECKING:
    from collections.abc import Iterable

    from penstock import Packet


class Recorder:
    """Observes streams of a graph, from its next run on, and keeps what they carry.

    Payloads are kept as they are, not copied: record short runs. It costs what an observer of each
    stream costs, bounds included.

    Args:
        graph: a `CalculatorGraph` that does not run.
        streams: names; None for all, graph inputs included.

    Raises:
        NotFoundError: there is no such stream. Those named before it are observed all the same.
        FailedPreconditionError: a run is under way.
    """

    def __init__(self, graph: Any, streams: Iterable[str] | None = None) -> None:
        if streams is None:
            streams = [w.name for w in drawing(graph).wires() if not w.is_side and w.writer is not None]
        self._taken: Final[dict[str, list[Packet]]] = {name: [] for name in streams}
        # the graph holds the observers: with a reference back, a graph that is dropped would not end its run
        self._graph: Final = weakref.ref(graph)
        for name in self._taken:
            graph.observe_output_stream(name, self._take, observe_timestamp_bounds=True)

    def _take(self, name: str, packet: Packet) -> None:
        self._taken[name].append(packet)

    def clear(self) -> None:
        """Forget all packets; to be called before the next run."""
        for taken in self._taken.values():
            taken.clear()

    def tracks(self) -> list[Track]:
        """Return what was observed, in the order of the streams.

        During a run, the bounds are those of the moment; call `graph.wait_until_idle()` first, so that the
        observers have seen everything. After the run all streams have ended.
        """
        graph = self._graph()
        try:
            streams = () if graph is None else graph.snapshot().streams
        except FailedPreconditionError:  # there was no run
            streams = ()
        ended = {stream.name for stream in streams if stream.bound == show(DONE)}
        return [_track(name, list(taken), has_ended=name in ended) for name, taken in self._taken.items()]


def _track(name: str, taken: list[Packet], *, has_ended: bool) -> Track:
    last = max((packet.stamp for packet in taken), default=None)
    bound = PRESTREAM if last is None else next_allowed(last)
    return Track(
        name=name,
        packets=tuple((packet.stamp, packet.value) for packet in taken if packet.value is not NO_PAYLOAD),
        bound=DONE if has_ended else bound,
        settled=tuple(packet.stamp for packet in taken if packet.value is NO_PAYLOAD),
    )
