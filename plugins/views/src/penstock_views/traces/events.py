"""From records to events of the Trace Event Format, which Perfetto and Chrome read.

Each run is a process, and each thread that worked for it a track, named after the thread. A step is a slice
("X"); slices of one track do not overlap. Steps that are awaited overlap, so each
node has as many tracks of its own for them as overlap. A packet is an arrow ("s" to "f") from inside the
slice that wrote it to the beginning of each slice that read it. Lengths of queues are counters ("C");
errors, dropped packets and throttling are instants ("i"). Times are microseconds since the earliest.

Source: "Trace Event Format", the public description of this form of JSON.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from penstock.lowlevel import MAX, MIN, OBSERVE, show
from penstock.tracing import PacketAdded, PacketsDropped, QueueChanged, TracedStep
from penstock_views.traces.arrows import Writes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from penstock.tracing import Mark, TracedRun

    Event: TypeAlias = dict[str, Any]
    Record: TypeAlias = TracedStep | PacketAdded | PacketsDropped | QueueChanged

#: A packet is added in a moment, which is drawn this wide.
_MOMENT_NS: Final = 1000
#: No slice is shorter, so that an arrow can begin inside.
_SHORTEST_NS: Final = 2
_INPUTS: Final = "graph inputs"


def began(record: Record) -> int:
    """Return when a record begins, in nanoseconds."""
    return record.began_ns if isinstance(record, TracedStep) else record.at_ns


class RunEvents:
    """The events of one run.

    Args:
        run: the run.
        records: of the run, by the time at which they began.
        threads: ident of a thread → its name.
        tracks: gives the numbers of tracks; shared by all runs of a file.
        zero_ns, now_ns: the origin of times, and the end of steps that have not ended.
        is_complete: whether no record was lost.
        shows_queues: whether the file has the lengths of queues.
    """

    def __init__(  # noqa: PLR0913  # made in one place only
        self,
        run: TracedRun,
        records: Sequence[Record],
        threads: Mapping[int, str],
        *,
        tracks: Callable[[], int],
        zero_ns: int,
        now_ns: int,
        is_complete: bool,
        shows_queues: bool,
    ) -> None:
        self._run: Final = run
        self._records: Final = records
        self._zero: Final = zero_ns
        self._now: Final = now_ns
        self._shows_queues: Final = shows_queues
        self._lengths: Final[dict[tuple[str, str], int]] = {}
        #: Number → name of each track, in the order in which they are shown.
        self._tracks: Final[dict[int, str]] = {}
        self._track_of: Final[dict[int, int]] = {}
        self._input_ends: Final[dict[int, int]] = {}
        self._give_tracks(threads, tracks)
        self._writes: Final = Writes(self._written(), is_complete=is_complete)
        #: Arrows so far, and packets that were read but whose write is not among the records.
        self.arrows = 0
        self.loose_ends = 0

    def events(self, arrow_ids: Iterator[int]) -> Iterator[Event]:
        """Return the events: the names of the tracks, then what happened, by its beginning."""
        yield self._about("process_name", 0, {"name": f"{self._run.graph}, run {self._run.number}"})
        for order, (track, name) in enumerate(self._tracks.items()):
            yield self._about("thread_name", track, {"name": name})
            yield self._about("thread_sort_index", track, {"sort_index": order})
        for record in self._records:
            if isinstance(record, TracedStep):
                yield from self._step(record, arrow_ids)
            elif isinstance(record, PacketAdded):
                yield self._added(record)
            elif isinstance(record, PacketsDropped):
                yield self._dropped(record)
            else:
                yield from self._queue(record)

    # --- tracks -------------------------------------------------------------------------------

    def _give_tracks(self, threads: Mapping[int, str], number: Callable[[], int]) -> None:
        added = [record for record in self._records if isinstance(record, PacketAdded)]
        if added:
            track = self._new_track(number, _INPUTS)
            self._track_of.update((id(one), track) for one in added)
            for one, following in pairwise(added):
                self._input_ends[id(one)] = max(min(one.at_ns + _MOMENT_NS, following.at_ns), one.at_ns + 1)
        steps = [record for record in self._records if isinstance(record, TracedStep)]
        at_work = dict.fromkeys(step.thread for step in steps if not step.is_awaited)
        of_thread = {
            thread: self._new_track(number, threads.get(thread, f"thread {thread}")) for thread in at_work
        }
        lanes: dict[str, list[tuple[int, int]]] = {}
        for step in steps:
            if step.is_awaited:
                self._track_of[id(step)] = self._lane(step, lanes.setdefault(step.node, []), number)
            else:
                self._track_of[id(step)] = of_thread[step.thread]

    def _lane(self, step: TracedStep, lanes: list[tuple[int, int]], number: Callable[[], int]) -> int:
        """Return a track of the node on which no step is awaited any more when `step` begins."""
        for i, (track, until) in enumerate(lanes):
            if until <= step.began_ns:
                lanes[i] = (track, self._end(step))
                return track
        name = f"{step.node}, awaited" + (f" ({len(lanes) + 1})" if lanes else "")
        lanes.append((self._new_track(number, name), self._end(step)))
        return lanes[-1][0]

    def _new_track(self, number: Callable[[], int], name: str) -> int:
        track = number()
        self._tracks[track] = name
        return track

    def _written(self) -> Iterator[tuple[Mark, int, int]]:
        for record in self._records:
            if isinstance(record, TracedStep):
                for mark in record.outputs:
                    yield mark, self._end(record) - 1, self._track_of[id(record)]
            elif isinstance(record, PacketAdded):
                yield record.mark, record.at_ns, self._track_of[id(record)]

    # --- events -------------------------------------------------------------------------------

    def _step(self, step: TracedStep, arrow_ids: Iterator[int]) -> Iterator[Event]:
        track, end = self._track_of[id(step)], self._end(step)
        name = step.node if step.method == "process" else f"{step.node} ({step.method})"
        if step.method == OBSERVE:
            name = f"observer of {step.node}"
        slice_ = self._event("X", name, track, step.began_ns, _arguments(step))
        slice_["cat"] = step.method
        slice_["dur"] = (end - step.began_ns) / 1000
        yield slice_
        for mark in step.inputs:
            yield from self._arrow(step, mark, arrow_ids)
        if self._shows_queues:
            for stream, length in step.queued:
                yield from self._length(stream, step.node, length, step.began_ns)
        if step.error is not None:
            yield self._instant(f"error in {step.node}", track, end - 1, {"error": step.error})

    def _arrow(self, step: TracedStep, mark: Mark, arrow_ids: Iterator[int]) -> Iterator[Event]:
        write = self._writes.before(step.began_ns, mark, step.node)
        if write is None:
            self.loose_ends += 1
            return
        self.arrows += 1
        number = next(arrow_ids)
        stream, timestamp, _ = mark
        arguments = {"timestamp": _shown(timestamp)}
        at_ns, track = write
        yield {**self._event("s", stream, track, at_ns, arguments), "cat": "packet", "id": number}
        end = self._event("f", stream, self._track_of[id(step)], step.began_ns, arguments)
        yield {**end, "cat": "packet", "id": number, "bp": "e"}

    def _added(self, added: PacketAdded) -> Event:
        stream, timestamp, _ = added.mark
        track = self._track_of[id(added)]
        slice_ = self._event("X", f"add to {stream}", track, added.at_ns, {"timestamp": _shown(timestamp)})
        slice_["cat"] = "add"
        slice_["dur"] = (self._input_ends.get(id(added), added.at_ns + _MOMENT_NS) - added.at_ns) / 1000
        return slice_

    def _dropped(self, dropped: PacketsDropped) -> Event:
        arguments = {"stream": dropped.stream, "packets": dropped.count, "reason": dropped.reason}
        return self._instant(f"dropped at {dropped.node}", None, dropped.at_ns, arguments)

    def _queue(self, changed: QueueChanged) -> Iterator[Event]:
        reader = changed.node or "a poller"
        what = "throttled by" if changed.is_full else "no longer throttled by"
        arguments = {"packets": changed.length}
        yield self._instant(f"{what} {changed.stream} at {reader}", None, changed.at_ns, arguments)
        if self._shows_queues:
            yield from self._length(changed.stream, reader, changed.length, changed.at_ns)

    def _length(self, stream: str, reader: str, length: int, at_ns: int) -> Iterator[Event]:
        if self._lengths.get((stream, reader)) == length:
            return
        self._lengths[stream, reader] = length
        yield self._event("C", f"queue of {stream} at {reader}", None, at_ns, {"packets": length})

    def _instant(self, name: str, track: int | None, at_ns: int, arguments: Mapping[str, object]) -> Event:
        event = self._event("i", name, track, at_ns, arguments)
        event["s"] = "p" if track is None else "t"
        return event

    def _event(
        self, kind: str, name: str, track: int | None, at_ns: int, arguments: Mapping[str, object]
    ) -> Event:
        event: Event = {"ph": kind, "name": name, "pid": self._run.number}
        if track is not None:
            event["tid"] = track
        event["ts"] = (at_ns - self._zero) / 1000
        event["args"] = arguments
        return event

    def _about(self, what: str, track: int, arguments: dict[str, object]) -> Event:
        return {"ph": "M", "name": what, "pid": self._run.number, "tid": track, "args": arguments}

    def _end(self, step: TracedStep) -> int:
        return max(step.ended_ns or self._now, step.began_ns + _SHORTEST_NS)


def _arguments(step: TracedStep) -> dict[str, object]:
    """Return the arguments of the slice of a step."""
    found: dict[str, object] = {"method": step.method}
    if step.calculator:
        found["calculator"] = step.calculator
    if step.timestamp is not None:
        found["timestamp"] = _shown(step.timestamp)
    for what, marks in (("inputs", step.inputs), ("outputs", step.outputs)):
        if marks:
            found[what] = _by_stream(marks)
    if step.error is not None:
        found["error"] = step.error
    if not step.ended_ns:
        found["unfinished"] = True
    return found


def _by_stream(marks: Iterable[Mark]) -> dict[str, list[int | str]]:
    found: dict[str, list[int | str]] = {}
    for stream, timestamp, _ in marks:
        found.setdefault(stream, []).append(_shown(timestamp))
    return found


def _shown(timestamp: int) -> int | str:
    """Return a timestamp as it is, a special one by its name."""
    return timestamp if MIN < timestamp < MAX else show(timestamp)
