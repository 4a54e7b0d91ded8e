"""`ChromeTracer`: a trace as a file for https://ui.perfetto.dev.

During runs, records are only appended to a ring: where there are more than its capacity the oldest are
lost, and the file says how many. `events` has the form of the file. It is written under another name
first, so that its own name always has a whole trace, the new or the former one.

A record in the ring is a tuple of ints, strings and tuples of them, which the garbage collector stops
tracking when it has seen it once. As objects, 100,000 of them make each step three times as expensive (13.8
against 4.2 us, measured), because the collector looks at all of them again and again.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections import deque
from itertools import count
from pathlib import Path
from threading import RLock, current_thread, get_ident
from time import perf_counter_ns, time_ns
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import attrs

from penstock.errors import InvalidArgumentError, NotFoundError, UnavailableError
from penstock.tracing import PacketAdded, PacketsDropped, QueueChanged, TracedRun, TracedStep, Tracer
from penstock_views.traces.endings import PERFETTO_ENDINGS
from penstock_views.traces.events import RunEvents, slice_name
from penstock_views.traces.perfetto import PerfettoPackets

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    Record: TypeAlias = TracedStep | PacketAdded | PacketsDropped | QueueChanged
    #: Its number, that of its run, that of its class, what it is made from, and what is set later.
    Packed: TypeAlias = tuple[int, int, int, tuple[Any, ...], tuple[Any, ...]]

#: Records kept.
CAPACITY: Final = 100_000
_encode: Final = json.JSONEncoder(separators=(",", ":")).encode
#: With this many runs the next start looks which of them have records left.
_MANY_RUNS: Final = 64
#: The classes of records; in the ring their numbers stand for them.
_CLASSES: Final[tuple[type[Record], ...]] = (TracedStep, PacketAdded, PacketsDropped, QueueChanged)
_STEP: Final = 0
#: What `leave_out` may name.
KINDS: Final = (
    "open", "process", "close", "observe", "added", "dropped", "throttled", "unthrottled", "queues",
)  # fmt: skip


@attrs.frozen
class ChromeTraceFile:
    """A trace that was written."""

    #: The file.
    path: Path
    #: Bytes.
    size: int
    #: How many steps are in it.
    steps: int
    #: From packets written to packets read.
    arrows: int
    #: How many records had been lost, the oldest ones, because there were more than `capacity`.
    lost: int
    #: Packets that were read in it, but whose write is not in it.
    loose_ends: int


@attrs.frozen(eq=False)
class _RunNames:
    """A run, and the names of the threads that work for it."""

    run: TracedRun
    threads: dict[int, str] = attrs.field(factory=dict)


class ChromeTracer(Tracer):
    """Keeps what happened last, and writes it as JSON in the Trace Event Format.

    It may serve several runs, each of which is a process in the file. It keeps no payload alive.

    Args:
        path: a file that is written, and replaced, at the end of each run; None: only `write` writes.
        capacity: how many records (steps, packets added, packets dropped, queues full or free) are kept.
        leave_out: what is not recorded: the calls "open", "process", "close" and "observe", packets
            "added" and "dropped", "throttled" and "unthrottled", and "queues", their lengths.

    Raises:
        InvalidArgumentError: `capacity` is below 1, or `leave_out` names something else.
    """

    def __init__(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        capacity: int = CAPACITY,
        leave_out: Collection[str] = (),
    ) -> None:
        if capacity < 1:
            raise InvalidArgumentError(f"capacity {capacity} of a Chrome tracer: must be at least 1")
        for kind in leave_out:
            if kind not in KINDS:
                raise InvalidArgumentError(
                    f"a Chrome tracer cannot leave out {kind!r}; expected one of {KINDS}"
                )
        self.path: Path | None = None if path is None else Path(path)
        self.capacity: Final = capacity
        self._left_out: Final = frozenset(leave_out)
        self._ring: Final[deque[Packed]] = deque(maxlen=capacity)
        #: How many records there were.
        self._count = 0
        #: Held where the ring and the count are changed or copied: without the interpreter's lock a ring that
        #: changes cannot be copied. A destructor may do so at any point, also where this thread holds it.
        self._lock: Final = RLock()
        self._open: Final[dict[TracedStep, None]] = {}
        self._runs: Final[dict[int, _RunNames]] = {}

    # --- what happens -------------------------------------------------------------------------

    def run_started(self, run: TracedRun) -> None:
        """Expect records of this run; forget runs of which nothing is left, where there have been many."""
        if len(self._runs) >= _MANY_RUNS:
            kept = {packed[1] for packed in self._copied()}
            kept.update(step.run.number for step in list(self._open))
            for number in set(self._runs) - kept:
                self._runs.pop(number, None)
        self._runs[run.number] = _RunNames(run)

    def run_ended(self, run: TracedRun, error: str | None) -> None:  # noqa: ARG002  # failed or not
        """Write the file, where there is one to write.

        Raises:
            InvalidArgumentError, NotFoundError, UnavailableError: as `write`.
        """
        if self.path is not None:
            self.write(self.path)

    def step_started(self, step: TracedStep) -> None:
        """Note that a step is under way, and the name of its thread."""
        self._open[step] = None
        threads = self._threads(step.run)
        if step.thread not in threads:
            threads[step.thread] = current_thread().name

    def step_ended(self, step: TracedStep) -> None:
        """Keep a step."""
        if step.method not in self._left_out:
            made_from = (
                step.node, step.calculator, step.method, step.timestamp, step.thread, step.inputs,
                step.queued, step.began_ns,
            )  # fmt: skip
            later = (step.outputs, step.error, step.is_awaited, step.ended_ns)
            self._append(step.run.number, _STEP, made_from, later)
        self._open.pop(step, None)

    def packet_added(self, added: PacketAdded) -> None:
        """Keep a packet at a graph input."""
        self._keep(added, "added", (added.mark, added.at_ns))

    def packets_dropped(self, dropped: PacketsDropped) -> None:
        """Keep the packets that were dropped."""
        made_from = (dropped.stream, dropped.node, dropped.reason, dropped.count, dropped.at_ns)
        self._keep(dropped, "dropped", made_from)

    def queue_changed(self, changed: QueueChanged) -> None:
        """Keep a queue that throttles sources, or no longer does."""
        made_from = (changed.stream, changed.node, changed.length, changed.is_full, changed.at_ns)
        self._keep(changed, "throttled" if changed.is_full else "unthrottled", made_from)

    def _keep(self, record: Record, kind: str, made_from: tuple[Any, ...]) -> None:
        if kind not in self._left_out:
            number = _CLASSES.index(type(record))
            self._append(record.run.number, number, made_from, ())

    def _append(self, run: int, kind: int, made_from: tuple[Any, ...], later: tuple[Any, ...]) -> None:
        with self._lock:
            number = self._count
            self._count = number + 1
            self._ring.append((number, run, kind, made_from, later))

    def _copied(self) -> deque[Packed]:
        with self._lock:
            return self._ring.copy()

    def _threads(self, run: TracedRun) -> dict[int, str]:
        found = self._runs.get(run.number)
        if found is None:  # run_started of a later run found no record of it
            found = self._runs.setdefault(run.number, _RunNames(run))
        return found.threads

    # --- the file -----------------------------------------------------------------------------

    def write(
        self, path: str | os.PathLike[str], about: Mapping[str, object] = MappingProxyType({})
    ) -> ChromeTraceFile:
        """Write what is kept to a file; an existing one is replaced.

        The form is Perfetto's own, about a fifth of the size, where the name ends with .pftrace or
        .perfetto-trace; else JSON.

        May be called at any time, also while graphs run. Steps that have not ended last until now in the
        file, marked "unfinished".

        Args:
            path: the file.
            about: what else a file in JSON says of itself, as values that JSON has.

        Raises:
            InvalidArgumentError: the path names no file.
            NotFoundError: the directory does not exist.
            UnavailableError: the file cannot be written. A former file is left as it was.
        """
        target = Path(path)
        if not target.name or "\0" in str(target):
            raise InvalidArgumentError(
                f"the tracer cannot write a trace to {os.fspath(path)!r}, which names no file; write the "
                "path of one"
            )
        kept = _Kept(self._copied(), list(self._open), dict(self._runs), self._left_out)
        if not target.parent.is_dir():
            raise NotFoundError(
                f"the tracer cannot write trace {str(target)!r}: its directory does not exist; make it first"
            )
        partial = target.with_name(f".{target.name}.{os.getpid()}-{get_ident()}.partial")
        try:
            size = _save(partial, kept, target.suffix, about)
            partial.replace(target)
        except OSError as error:
            raise UnavailableError(f"the tracer cannot write trace {str(target)!r}: {error}") from error
        finally:
            with contextlib.suppress(OSError):  # none was made, or none can be
                partial.unlink(missing_ok=True)
        return ChromeTraceFile(target, size, kept.steps, kept.arrows, kept.lost, kept.loose_ends)


class _Kept:
    """What there is to write at one moment, and counts of it once it is written."""

    def __init__(
        self,
        ring: deque[Packed],
        open_steps: list[TracedStep],
        runs: dict[int, _RunNames],
        left_out: frozenset[str],
    ) -> None:
        self._now: Final = perf_counter_ns()
        self._now_unix: Final = time_ns()
        self._runs: Final = runs
        self._shows_queues: Final = "queues" not in left_out
        self.lost: Final = max((packed[0] for packed in ring), default=-1) + 1 - len(ring)
        kept: list[Packed | TracedStep] = [packed for packed in ring if packed[1] in runs]
        kept += [step for step in open_steps if not step.ended_ns and step.method not in left_out]
        kept.sort(key=_began)
        self._kept: Final = kept
        self._zero: Final = _began(kept[0]) if kept else self._now
        self.steps: Final = sum(isinstance(one, TracedStep) or one[2] == _STEP for one in kept)
        self.arrows = self.loose_ends = 0

    def events(self) -> Iterator[dict[str, Any]]:
        """Return all events, one run after the other."""
        of_run: dict[int, list[Packed | TracedStep]] = {}
        for one in self._kept:
            of_run.setdefault(one.run.number if isinstance(one, TracedStep) else one[1], []).append(one)
        tracks, arrows = count(1), count(1)
        for number, kept in sorted(of_run.items()):
            names = self._runs.get(number)
            records = _Records(kept, self._runs)
            run = next(iter(records)).run
            events = RunEvents(
                run,
                records,
                {} if names is None else names.threads,
                tracks=tracks.__next__,
                zero_ns=self._zero,
                now_ns=self._now,
                is_complete=not self.lost,
                shows_queues=self._shows_queues,
            )
            yield from events.events(arrows)
            self.arrows += events.arrows
            self.loose_ends += events.loose_ends

    def readers(self) -> dict[tuple[int, str], set[str]]:
        """Return run and stream → the names of the slices that read packets of the stream."""
        found: dict[tuple[int, str], set[str]] = {}
        for record in _Records(self._kept, self._runs):
            if isinstance(record, TracedStep):
                for stream, _, _ in record.inputs:
                    found.setdefault((record.run.number, stream), set()).add(slice_name(record))
        return found

    def about(self) -> dict[str, object]:
        """Return the `otherData` of the file; to be called when all events have been written."""
        return {
            "clock": "time.perf_counter_ns",
            "zero_ns": self._zero,
            "zero_unix_ns": self._now_unix - (self._now - self._zero),
            "steps": self.steps,
            "arrows": self.arrows,
            "lost_records": self.lost,
            "loose_ends": self.loose_ends,
        }


class _Records:
    """Records that are made when they are looked at: a million of them would take hundreds of megabytes."""

    def __init__(self, kept: Sequence[Packed | TracedStep], runs: Mapping[int, _RunNames]) -> None:
        self._kept: Final = kept
        self._runs: Final = runs

    def __iter__(self) -> Iterator[Record]:
        for one in self._kept:
            yield one if isinstance(one, TracedStep) else _unpacked(one, self._runs)


def _began(one: Packed | TracedStep) -> int:
    """Return when a record began: the last of what it is made from."""
    began: int = one.began_ns if isinstance(one, TracedStep) else one[3][-1]
    return began


def _unpacked(packed: Packed, runs: Mapping[int, _RunNames]) -> Record:
    _, run, number, made_from, later = packed
    record = _CLASSES[number](runs[run].run, *made_from)
    if isinstance(record, TracedStep):
        record.outputs, record.error, record.is_awaited, record.ended_ns = later
    return record


def _save(path: Path, kept: _Kept, form: str, about: Mapping[str, object]) -> int:
    """Write event after event; return the number of bytes."""
    if form in PERFETTO_ENDINGS:
        with path.open("xb") as binary:
            binary.writelines(PerfettoPackets(kept.readers()).of(kept.events()))
        return path.stat().st_size
    with path.open("x", encoding="utf-8", newline="\n") as file:
        file.write('{"displayTimeUnit":"ms","traceEvents":[')
        separator = "\n"
        for event in kept.events():
            file.write(separator)
            file.write(_encode(event))
            separator = ",\n"
        file.write(f'\n],"otherData":{_encode({**kept.about(), **about})}}}\n')
    return path.stat().st_size
