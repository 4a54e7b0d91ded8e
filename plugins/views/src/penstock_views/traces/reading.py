"""Reads a trace file back: the calls of each run, the packets that went between them, and full queues."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

import attrs

from penstock.errors import InvalidArgumentError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path
    from typing import TypeAlias

    #: Stream and timestamp; a stream has one packet at a timestamp.
    PacketId: TypeAlias = tuple[str, int | str]

_ADD: Final = "add to "
_CALLS: Final = ("open", "process", "close")
_FULL, _FREE = "throttled by ", "no longer throttled by "


@attrs.frozen(eq=False)
class ReadStep:
    """A call of a node, or a packet that was added to a graph input."""

    #: Its name; "" where a packet was added.
    node: str
    #: "open", "process" or "close"; "add".
    method: str
    #: The track of the file: a thread, or a row of awaited calls.
    track: int
    #: `began_us`, `ended_us`: when, in microseconds since the first event of the file.
    began_us: float
    ended_us: float
    #: `inputs`, `outputs`: the packets that it took and wrote.
    inputs: tuple[PacketId, ...]
    outputs: tuple[PacketId, ...]


@attrs.frozen(eq=False)
class ReadRun:
    """One run of a graph."""

    #: As the file calls it: "graph.pbtxt, run 1".
    name: str
    #: In the order in which they began.
    steps: tuple[ReadStep, ...]
    #: (stream, reader) → the spans in which that full queue throttled sources, as pairs of times.
    queues: Mapping[tuple[str, str], tuple[tuple[float, float], ...]]
    #: (stream, reader) → the most packets that lay in the queue.
    longest: Mapping[tuple[str, str], int]
    #: (stream, node, reason) → how many packets.
    dropped: Mapping[tuple[str, str, str], int]
    #: When the last call ended.
    ended_us: float


@attrs.frozen(eq=False)
class ReadTrace:
    """A trace file."""

    #: In the order of their numbers.
    runs: tuple[ReadRun, ...]
    #: What the file says of itself: its clock, `lost_records`, and what `penstock run` adds.
    about: Mapping[str, Any]


def read_trace(file: Path) -> ReadTrace:
    """Read a file that `ChromeTracer.write` or `penstock run --trace` has written.

    Raises:
        OSError: the file cannot be read.
        InvalidArgumentError: it is no such file; says what is wrong.
    """
    try:
        whole = json.loads(file.read_text(encoding="utf-8"))
        by_run: dict[int, list[dict[str, Any]]] = {}
        for event in whole["traceEvents"]:
            by_run.setdefault(event["pid"], []).append(event)
        runs = tuple(_run(events) for _, events in sorted(by_run.items()))
        return ReadTrace(runs, whole.get("otherData", {}))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        why = f"{type(error).__name__}: {error}"
        words = f"{file} is no trace that `penstock run --trace FILE.json` writes: {why}"
        raise InvalidArgumentError(words) from error


def _run(events: list[dict[str, Any]]) -> ReadRun:
    steps = sorted(_steps(events), key=lambda step: step.began_us)
    end = max((step.ended_us for step in steps), default=0.0)
    queues: dict[tuple[str, str], list[tuple[float, float]]] = {}
    full: dict[tuple[str, str], float] = {}
    longest: dict[tuple[str, str], int] = {}
    dropped: dict[tuple[str, str, str], int] = {}
    name = ""
    for event in events:
        what, arguments = event["name"], event.get("args", {})
        if event["ph"] == "M" and what == "process_name":
            name = arguments["name"]
        elif event["ph"] == "C":
            key = _queue(what.removeprefix("queue of "))
            longest[key] = max(longest.get(key, 0), arguments["packets"])
        elif event["ph"] == "i" and what.startswith(_FULL):
            full.setdefault(_queue(what.removeprefix(_FULL)), event["ts"])
        elif event["ph"] == "i" and what.startswith(_FREE):
            key = _queue(what.removeprefix(_FREE))
            if key in full:
                queues.setdefault(key, []).append((full.pop(key), event["ts"]))
        elif event["ph"] == "i" and "reason" in arguments:
            drop = (arguments["stream"], what.removeprefix("dropped at "), arguments["reason"])
            dropped[drop] = dropped.get(drop, 0) + arguments["packets"]
    for key, since in full.items():  # until the end
        queues.setdefault(key, []).append((since, max(end, since)))
    spans = {key: tuple(found) for key, found in queues.items()}
    return ReadRun(name, tuple(steps), spans, longest, dropped, end)


def _queue(words: str) -> tuple[str, str]:
    """Return stream and reader of "STREAM at READER"; names have no blanks."""
    stream, _, reader = words.partition(" at ")
    return stream, reader


def _steps(events: list[dict[str, Any]]) -> Iterator[ReadStep]:
    for event in events:
        if event["ph"] != "X":
            continue
        arguments, kind = event["args"], event.get("cat")
        began = float(event["ts"])
        if kind == "add":
            packet = (event["name"].removeprefix(_ADD), arguments["timestamp"])
            yield ReadStep("", "add", event["tid"], began, began, (), (packet,))
        elif kind in _CALLS:
            node = event["name"] if kind == "process" else event["name"].removesuffix(f" ({kind})")
            packets = (_packets(arguments.get("inputs", {})), _packets(arguments.get("outputs", {})))
            yield ReadStep(node, kind, event["tid"], began, began + event["dur"], *packets)


def _packets(by_stream: Mapping[str, list[int | str]]) -> tuple[PacketId, ...]:
    return tuple((stream, timestamp) for stream, timestamps in by_stream.items() for timestamp in timestamps)
