"""From records to events of the Trace Event Format, which Perfetto and Chrome read.

Each run is a process, and each thread that worked for it a track, named after the thread. A step is a slice
("X"); slices of one track do not overlap. Steps that are awaited overlap, so each
node has as many tracks of its own for them as overlap. A packet is an arrow ("s" to "f") from inside the
slice that wrote it to the beginning of each slice that read it. Lengths of queues are counters ("C");
errors, dropped packets and throttling are instants ("i"). Times are microseconds since the earliest.

Source: "Trace Event Format", the public description of this form of JSON.
"""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from penstock.lowlevel import MAX, MIN, show
from penstock.tracing import PacketAdded, PacketsDropped, QueueChanged, TracedStep
from penstock_views.traces.arrows import Writes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from penstock.tracing import Mark, TracedRun

    Event: TypeAlias = dict[str, Any]
    Record: TypeAlias = TracedStep | PacketAdded | PacketsDropped | QueueChanged

#: A packet is added in a moment, which is drawn this wide.
_MOMENT_NS: Final = 1000
#: No slice is shorter, so that an arrow can begin inside.
_SHORTEST_NS: Final = 2
_INPUTS: Final = "graph inputs"


class RunEvents:
    """The events of one run.

    Args:
        run: the run.
        records: of the run, by the time at which they began; looked at several times.
        threads: ident of a thread → its name.
        tracks: gives the numbers of tracks; shared by all runs of a file.
        zero_ns, now_ns: the origin of times, and the end of steps that have not ended.
        is_complete: whether no record was lost.
        shows_queues: whether the file has the lengths of queues.
    """

    def __init__(  # noqa: PLR0913  # made in one place only
        self,
        run: TracedRun,
        records: Iterable[Record],
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
        #: The track of each record, 0 for those without one; a million records are not too many.
        self._track_of: Final = array("q")
        #: Ends of the slices of packets that were added, in their order.
        self._input_ends: Final = array("q")
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
        ends = iter(self._input_ends)
        for record, track in zip(self._records, self._track_of, strict=True):
            if isinstance(record, TracedStep):
                yield from self._step(record, track, arrow_ids)
            elif isinstance(record, PacketAdded):
                yield self._added(record, track, next(ends))
            elif isinstance(record, PacketsDropped):
                yield self._dropped(record)
            else:
                yield from self._queue(record)

    # --- tracks -------------------------------------------------------------------------------

    def _give_tracks(self, threads: Mapping[int, str], number: Callable[[], int]) -> None:
        inputs, at_work = self._working_tracks(threads, number)
        lanes: dict[str, list[tuple[int, int]]] = {}
        for record in self._records:
            track = 0
            if isinstance(record, PacketAdded):
                track = inputs
            elif isinstance(record, TracedStep) and record.is_awaited:
                track = self._lane(record, lanes.setdefault(record.node, []), number)
            elif isinstance(record, TracedStep):
                track = at_work[record.thread]
            self._track_of.append(track)

    def _working_tracks(
        self, threads: Mapping[int, str], number: Callable[[], int]
    ) -> tuple[int, dict[int, int]]:
        """Return the track of packets that were added, 0 without any, and thread → its track.

        Threads are in the order in which they began to work. Notes the ends of the packets' slices, too.
        """
        last: PacketAdded | None = None
        at_work: dict[int, int] = {}
        for record in self._records:
            if isinstance(record, PacketAdded):
                if last is not None:
                    self._input_ends.append(max(min(last.at_ns + _MOMENT_NS, record.at_ns), last.at_ns + 1))
                last = record
            elif isinstance(record, TracedStep) and not record.is_awaited:
                at_work.setdefault(record.thread, 0)
        inputs = 0
        if last is not None:
            self._input_ends.append(last.at_ns + _MOMENT_NS)
            inputs = self._new_track(number, _INPUTS)
        for thread in at_work:
            at_work[thread] = self._new_track(number, threads.get(thread, f"thread {thread}"))
        return inputs, at_work

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
        for record, track in zip(self._records, self._track_of, strict=True):
            if isinstance(record, TracedStep):
                for mark in record.outputs:
                    yield mark, self._end(record) - 1, track
            elif isinstance(record, PacketAdded):
                yield record.mark, record.at_ns, track

    # --- events -------------------------------------------------------------------------------

    def _step(self, step: TracedStep, track: int, arrow_ids: Iterator[int]) -> Iterator[Event]:
        end = self._end(step)
        slice_ = self._event("X", slice_name(step), track, step.began_ns, _arguments(step))
        slice_["cat"] = step.method
        slice_["dur"] = (end - step.began_ns) / 1000
        yield slice_
        for mark in step.inputs:
            yield from self._arrow(step, track, mark, arrow_ids)
        if self._shows_queues:
            for stream, length in step.queued:
                yield from self._length(stream, step.node, length, step.began_ns)
        if step.error is not None:
            yield self._instant(f"error in {step.node}", track, end - 1, {"error": step.error})

    def _arrow(self, step: TracedStep, track: int, mark: Mark, arrow_ids: Iterator[int]) -> Iterator[Event]:
        write = self._writes.before(step.began_ns, mark, step.node)
        if write is None:
            self.loose_ends += 1
            return
        self.arrows += 1
        number = next(arrow_ids)
        stream, timestamp, _ = mark
        arguments = {"timestamp": _shown(timestamp)}
        at_ns, from_track = write
        yield {**self._event("s", stream, from_track, at_ns, arguments), "cat": "packet", "id": number}
        end = self._event("f", stream, track, step.began_ns, arguments)
        yield {**end, "cat": "packet", "id": number, "bp": "e"}

    def _added(self, added: PacketAdded, track: int, end_ns: int) -> Event:
        stream, timestamp, _ = added.mark
        slice_ = self._event("X", f"add to {stream}", track, added.at_ns, {"timestamp": _shown(timestamp)})
        slice_["cat"] = "add"
        slice_["dur"] = (end_ns - added.at_ns) / 1000
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


def slice_name(step: TracedStep) -> str:
    """Return what the slice of a step is called."""
    if step.method == TracedStep.OBSERVE:
        return f"observer of {step.node}"
    return step.node if step.method == "process" else f"{step.node} ({step.method})"


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
