"""`Journal`: what has happened in the runs of a graph, and the numbers of the last minute.

The monitor gives it each reading, whether a page is open or not, so that a page that is opened late has both.
Its memory does not grow: it keeps the newest events, one sample a second, and nothing else.
"""

from __future__ import annotations

import re
import threading
from collections import Counter, deque
from time import time
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import attrs

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from penstock_live.log_lines import LogLines
    from penstock_monitor import NodeReading, Reading

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
#: Endings of the counters that sources and failure policies keep.
_RECONNECTS: Final = "-reconnects"
_FAILURES: Final = "-failures"
#: What drops of an input set that a failure policy has skipped begin with, and of one that no failure tells.
_SKIPPED: Final = "skipped: "
_NO_RESTART: Final = "skipped: no restart is left"
#: Errors of one node that are kept.
_ERRORS: Final = 20
#: Characters of one.
_LONGEST: Final = 1000
#: A log line that is so much older than a loss may still tell its reason.
_SLACK_S: Final = 1.0


@attrs.define
class Event:
    """Something that happened in a run."""

    #: Counts the events of a journal, from 1.
    number: int
    #: "drop", "stall", "outage" (while a node's source is lost), "reconnect", "failure", or "run", which is
    #: the beginning or the end of one.
    kind: str
    #: `from_s`, `to_s`: when it began and ended, in seconds since the journal began; the same for a moment.
    from_s: float
    to_s: float
    #: `node`, `stream`: what it is about; "" where there is none.
    node: str
    stream: str
    #: In a line.
    words: str
    #: How many packets were dropped, or how many times it happened. The packets of an input set that was
    #: skipped are no drops: they count once, as the failure.
    count: int = 1
    #: The journal's version when it last changed.
    version: int = 0


class _About(NamedTuple):
    """What an event is about."""

    kind: str
    node: str
    stream: str = ""
    #: Of drops.
    reason: str = ""


@attrs.frozen
class NodeError:
    """A failed call of a node, or an error that has ended the run."""

    #: Seconds since the epoch.
    at_s: float
    words: str


@attrs.frozen
class NodeSample:
    """Numbers of a node at one second."""

    steps_per_s: float
    #: None where the run is not timed.
    busy: float | None
    #: Packets in the longest of the queues before it.
    queued: int


class Journal:
    """Takes readings on the monitor's thread; any thread may read it.

    Args:
        lines: tell why a source is lost; None for no reasons.
    """

    def __init__(self, lines: LogLines | None = None) -> None:
        self._lines: Final = lines
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
        #: The newest event of each kind that may go on.
        self._newest: Final[dict[_About, Event]] = {}
        self._outages: Final[dict[str, Event]] = {}
        #: Drops → how many packets so far; counter → its value.
        self._dropped: dict[_About, int] = {}
        self._counted: dict[str, int] = {}
        #: Node → its newest errors, how many there were in all, and when the newest failure was.
        self._errors: Final[dict[str, deque[NodeError]]] = {}
        self._error_counts: Final[Counter[str]] = Counter()
        self._failed_ns: Final[dict[str, int]] = {}

    @property
    def version(self) -> int:
        """Grows with each change of an event; 0 while there is none."""
        return self._version

    def take(
        self,
        reading: Reading,
        counters: Mapping[str, int],
        failures: Callable[[], Sequence[Any]] = tuple,
    ) -> None:
        """Take one more reading.

        Args:
            reading: the next one.
            counters: of the graph, at about the same time.
            failures: returns the `penstock_failures.Failure` objects of the run until now.
        """
        with self._lock:
            before = self._before
            if before is not None and _is_another_run(before, reading):
                self._base_s = self._now_s
                before = None
                self._stall = None
                self._newest.clear()
                self._outages.clear()
                self._dropped.clear()
            now_s = self._base_s + reading.elapsed_s
            self._since_s = now_s if before is None else self._now_s
            self._now_s = now_s
            self._note_state(before, reading)
            self._note_failures(before, reading)
            self._note_stall(reading)
            self._note_outages(reading)
            self._note_drops(reading)
            self._note_counters(counters, failures)
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

    def _add_counted(self, about: _About, more: int, words: str) -> None:
        """Note what happened so often more: as a part of the event before, or as another one after a pause.

        Several times are spread over the seconds since the reading before, which may have been long ago.
        """
        event = self._newest.get(about)
        if event is not None and self._since_s - event.to_s <= _GAP_S:
            event.count += more
            event.words = words
            self._goes_on(event)
            return
        event = self._newest[about] = self._add(about.kind, words, about.node, about.stream, more)
        if more > 1:
            event.from_s = self._since_s

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
                node, words = found[1] if found else "", error.partition("\n")[0]
                self._add("failure", words, node)
                self._keep_error(node, NodeError(time(), words))

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

    def _note_outages(self, reading: Reading) -> None:
        """Note which nodes have lost what they read or write, and why, as their log lines say it."""
        lost = {node.name: node.lost_s for node in reading.nodes if node.lost_s is not None}
        for name in self._outages.keys() - lost.keys():
            self._goes_on(self._outages.pop(name))  # until now
        for name, lost_s in lost.items():
            event = self._outages.get(name)
            if event is None:
                event = self._outages[name] = self._add("outage", "", name)
                event.from_s -= min(lost_s, event.from_s)
            since_s = self._now_s - min(event.from_s, self._since_s) + _SLACK_S
            event.words = (self._lines and self._lines.newest_warning(name, since_s)) or event.words
            self._goes_on(event)

    def _note_drops(self, reading: Reading) -> None:
        dropped: dict[_About, int] = {}
        for stream in reading.streams:
            for node, reasons in stream.dropped_at.items():
                for reason, count in reasons.items():
                    if not reason.startswith(_SKIPPED):
                        dropped[_About("drop", node, stream.name, reason)] = count
                    elif reason == _NO_RESTART:  # the packets of one input set are on several streams
                        about = _About("drop", node, "", reason)
                        dropped[about] = max(count, dropped.get(about, 0))
        for about, count in dropped.items():
            more = count - self._dropped.get(about, 0)
            if more > 0:
                self._add_counted(about, more, about.reason)
        self._dropped = dropped

    def _note_counters(self, counters: Mapping[str, int], failures: Callable[[], Sequence[Any]]) -> None:
        """Note what counters of nodes say: sources that came back, and failures that did not end the run."""
        found = {name: n for name, n in counters.items() if name.endswith((_RECONNECTS, _FAILURES))}
        risen = {name: n - self._counted.get(name, 0) for name, n in found.items()}
        self._counted = found
        failed = {name.removesuffix(_FAILURES): n for name, n in risen.items() if n > 0 and _FAILURES in name}
        if failed:
            self._note_failed_calls(failed, failures())
        for name, more in risen.items():
            if more > 0 and name.endswith(_RECONNECTS):
                about = _About("reconnect", name.removesuffix(_RECONNECTS))
                self._add_counted(about, more, "the source is back")

    def _note_failed_calls(self, failed: Mapping[str, int], failures: Sequence[Any]) -> None:
        words = dict.fromkeys(failed, "a call failed, and the node's failure policy decided what followed")
        new = [one for one in failures if one.at_ns > self._failed_ns.get(one.node, 0)]
        ended = Counter(one.node for one in new if one.action == "fail")  # it is an error of the run too
        for one in new:
            self._failed_ns[one.node] = one.at_ns
            if one.action != "fail":
                words[one.node] = _words(one)
                self._keep_error(one.node, NodeError(one.at_ns / 1e9, words[one.node]))
        for node, more in failed.items():
            if more > ended[node]:
                self._add_counted(_About("failure", node), more - ended[node], words[node])

    def _keep_error(self, node: str, error: NodeError) -> None:
        self._errors.setdefault(node, deque(maxlen=_ERRORS)).append(error)
        self._error_counts[node] += 1

    def errors_of(self, node: str) -> tuple[int, list[NodeError]]:
        """Return how many errors of a node there were in all, and the newest of them, the oldest first."""
        with self._lock:
            return self._error_counts[node], list(self._errors.get(node, ()))

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


def _words(failure: Any) -> str:
    """Return what a failed call said, in a line."""
    at = "" if failure.timestamp is None else f" at {failure.timestamp}"
    return f"{failure.method}() failed{at}: {' '.join(failure.error.split())[:_LONGEST]}"


def _sampled(node: NodeReading, queued: int) -> NodeSample:
    busy = None if node.busy is None else round(node.busy, _DIGITS)
    return NodeSample(round(node.steps_per_s, _DIGITS), busy, queued)
