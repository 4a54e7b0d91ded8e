"""`Journal`: what has happened in the runs of a graph, and the numbers of the last minute.

The monitor gives it each reading, whether a page is open or not, so that a page that is opened late has both.
Its memory does not grow: it keeps the newest events, one sample a second, and nothing else.
"""

from __future__ import annotations

import re
import threading
from collections import deque
from typing import TYPE_CHECKING, Final

import attrs

if TYPE_CHECKING:
    from collections.abc import Mapping

    from penstock_monitor import NodeReading, Reading, StreamReading

#: Events that are kept.
_KEPT: Final = 300
#: Seconds between two samples, and how many are kept: a minute.
_STEP_S: Final = 1.0
_SAMPLES: Final = 60
#: Drops of one stream for one reason are one event while no more than this many seconds lie between them.
_GAP_S: Final = 3.0
#: Samples are rounded, so that the text of a large graph stays small.
_DIGITS: Final = 3
_OF_NODE: Final = re.compile(r"\bnode '([^']+)'")
#: Endings of counters that sources and failure policies keep → the kind of their events, and the words.
_COUNTED: Final = {
    "-reconnects": ("reconnect", "the source is back"),
    "-failures": ("failure", "a call failed, and the node's failure policy decided what followed"),
}


@attrs.define
class Event:
    """Something that happened in a run."""

    #: Counts the events of a journal, from 1.
    number: int
    #: "drop", "stall", "reconnect", "failure", or "run", which is the beginning or the end of one.
    kind: str
    #: `from_s`, `to_s`: when it began and ended, in seconds since the journal began; the same for a moment.
    from_s: float
    to_s: float
    #: `node`, `stream`: what it is about; "" where there is none.
    node: str
    stream: str
    #: In a line.
    words: str
    #: How many packets were dropped, or how many times it happened.
    count: int = 1
    #: The journal's version when it last changed.
    version: int = 0


@attrs.frozen
class NodeSample:
    """Numbers of a node at one second."""

    steps_per_s: float
    #: None where the run is not timed.
    busy: float | None
    #: Packets in the longest of the queues before it.
    queued: int


class Journal:
    """Takes readings on the monitor's thread; any thread may read it."""

    def __init__(self) -> None:
        self._lock: Final = threading.Lock()
        self._events: Final[deque[Event]] = deque(maxlen=_KEPT)
        self._samples: Final[deque[tuple[float, dict[str, NodeSample]]]] = deque(maxlen=_SAMPLES)
        self._version = 0
        self._count = 0
        self._now_s = 0.0
        #: When the reading before was taken: what is new in this one has happened since.
        self._since_s = 0.0
        self._before: Reading | None = None
        #: `elapsed_s` of the reading at which the run before had ended.
        self._base_s = 0.0
        self._stall: Event | None = None
        self._drops: Final[dict[tuple[str, str], Event]] = {}
        #: Counter → what it was, and the newest event of it.
        self._counted: dict[str, int] = {}
        self._of_counters: Final[dict[str, Event]] = {}

    @property
    def version(self) -> int:
        """Grows with each change of an event; 0 while there is none."""
        return self._version

    def take(self, reading: Reading, counters: Mapping[str, int]) -> None:
        """Take one more reading, and the counters of the graph at about the same time."""
        with self._lock:
            before = self._before
            if before is not None and _is_another_run(before, reading):
                self._base_s = self._now_s
                before = None
                self._stall = None
                self._drops.clear()
                self._of_counters.clear()
            now_s = self._base_s + reading.elapsed_s
            self._since_s = now_s if before is None else self._now_s
            self._now_s = now_s
            self._note_state(before, reading)
            self._note_failures(before, reading)
            self._note_stall(reading)
            self._note_drops(before, reading)
            self._note_counters(counters)
            self._sample(reading)
            self._before = reading

    def since(self, version: int) -> tuple[int, float, list[Event]]:
        """Return the version, the time in seconds since the journal began, and events changed after one."""
        with self._lock:
            changed = [attrs.evolve(one) for one in self._events if one.version > version]
            return self._version, self._now_s, changed

    def minute(self) -> tuple[float, list[tuple[float, dict[str, NodeSample]]]]:
        """Return the time in seconds since the journal began, and the last minute's samples with theirs."""
        with self._lock:
            return self._now_s, list(self._samples)

    # --- what has happened ------------------------------------------------------------------------

    def _add(self, kind: str, words: str, node: str = "", stream: str = "", count: int = 1) -> Event:
        self._count += 1
        self._version += 1
        event = Event(self._count, kind, self._now_s, self._now_s, node, stream, words, count, self._version)
        self._events.append(event)
        return event

    def _add_counted(
        self, event: Event | None, more: int, kind: str, words: str, node: str, stream: str = ""
    ) -> Event:
        """Return what happened so often more: a part of the event before, or another one after a pause.

        Several times are spread over the seconds since the reading before, which may have been long ago.
        """
        if event is not None and self._since_s - event.to_s <= _GAP_S:
            event.count += more
            self._goes_on(event)
            return event
        event = self._add(kind, words, node, stream, more)
        if more > 1:
            event.from_s = self._since_s
        return event

    def _goes_on(self, event: Event) -> None:
        self._version += 1
        event.version = self._version
        event.to_s = self._now_s

    def _note_state(self, before: Reading | None, reading: Reading) -> None:
        state = None if before is None else before.state
        if reading.state in {state, "not started"}:
            return
        words = {"running": "the run goes on" if state == "paused" else "the run begins"}
        self._add("run", words.get(reading.state, f"the run is {reading.state}"))

    def _note_failures(self, before: Reading | None, reading: Reading) -> None:
        known = () if before is None else before.errors
        for error in reading.errors:
            if error not in known:
                found = _OF_NODE.search(error)
                self._add("failure", error.partition("\n")[0], found[1] if found else "")

    def _note_stall(self, reading: Reading) -> None:
        stall = reading.stall
        if stall is None:
            self._stall = None
            return
        if self._stall is None:
            culprit = stall.culprits[0] if stall.culprits else None
            words = culprit.words if culprit else stall.story.partition("\n")[0]
            self._stall = self._add(
                "stall", words, culprit.node if culprit else "", culprit.stream if culprit else ""
            )
            self._stall.from_s -= min(stall.since_s, self._stall.from_s)
        self._goes_on(self._stall)

    def _note_drops(self, before: Reading | None, reading: Reading) -> None:
        known = (
            {} if before is None else {stream.name: stream.drops for stream in before.streams if stream.drops}
        )
        for stream in reading.streams:
            for reason, count in stream.drops.items():
                more = count - known.get(stream.name, {}).get(reason, 0)
                if more > 0:
                    self._note_drop(stream, reason, more)

    def _note_drop(self, stream: StreamReading, reason: str, more: int) -> None:
        key = stream.name, reason
        self._drops[key] = self._add_counted(
            self._drops.get(key), more, "drop", reason, stream.writer, stream.name
        )

    def _note_counters(self, counters: Mapping[str, int]) -> None:
        """Note what counters of nodes say: sources that came back, and failures that did not end the run."""
        found = {name: count for name, count in counters.items() if name.endswith(tuple(_COUNTED))}
        for name, count in found.items():
            more = count - self._counted.get(name, 0)
            if more > 0:
                self._note_counter(name, more)
        self._counted = found

    def _note_counter(self, name: str, more: int) -> None:
        ending = next(one for one in _COUNTED if name.endswith(one))
        kind, words = _COUNTED[ending]
        node = name.removesuffix(ending)
        self._of_counters[name] = self._add_counted(self._of_counters.get(name), more, kind, words, node)

    # --- numbers ----------------------------------------------------------------------------------

    def _sample(self, reading: Reading) -> None:
        if reading.state == "not started" or (self._samples and self._now_s - self._samples[-1][0] < _STEP_S):
            return
        queued: dict[str, int] = {}
        for stream in reading.streams:
            for node in stream.readers:
                queued[node] = max(queued.get(node, 0), stream.queued)
        self._samples.append(
            (self._now_s, {node.name: _sampled(node, queued.get(node.name, 0)) for node in reading.nodes})
        )


def _is_another_run(before: Reading, reading: Reading) -> bool:
    begins_again = before.state == "over" and reading.state != "over"
    return begins_again or reading.elapsed_s < before.elapsed_s


def _sampled(node: NodeReading, queued: int) -> NodeSample:
    busy = None if node.busy is None else round(node.busy, _DIGITS)
    return NodeSample(round(node.steps_per_s, _DIGITS), busy, queued)
