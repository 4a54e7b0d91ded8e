"""Reads a trace file and checks it: for tests of code that writes or uses traces.

Knows only the Trace Event Format, not how the file was written: the things that Perfetto and Chrome need to
show slices, arrows and counters in their places.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable

    Event = dict[str, Any]


@attrs.frozen(eq=False)
class Slice:
    """One slice of a track."""

    #: `process`, `track`: their names.
    process: str
    track: str
    #: `name`, `kind`: of the slice, and its category.
    name: str
    kind: str
    #: `start`, `end`: microseconds.
    start: float
    end: float
    #: Its arguments.
    about: dict[str, Any]


@attrs.frozen(eq=False)
class Arrow:
    """One packet from a slice to another."""

    #: The arrow's name.
    stream: str
    #: `source`, `target`: the slices that it begins and ends in.
    source: Slice
    target: Slice
    #: Its arguments.
    about: dict[str, Any]


@attrs.frozen(eq=False)
class Trace:
    """A trace that was read and is correct."""

    #: `slices`, `arrows`: in the order of the file.
    slices: list[Slice]
    arrows: list[Arrow]
    #: (process, counter) → values with their moments, in order of time.
    counters: dict[tuple[str, str], list[tuple[float, float]]]
    #: (process, track or "", name, arguments), in the order of the file.
    instants: list[tuple[str, str, str, dict[str, Any]]]
    #: Names, in the order of the file.
    processes: list[str]
    #: The `otherData` of the file.
    about: dict[str, Any]


def read_trace(path: str | os.PathLike[str]) -> Trace:
    """Read a trace file and check it.

    Raises:
        AssertionError: an event would not be shown, or in the wrong place; has the event.
        json.JSONDecodeError: it is no JSON.
    """
    content = json.loads(Path(path).read_text(encoding="utf-8"))
    return _Reader(content["traceEvents"]).read(content.get("otherData", {}))


class _Reader:
    def __init__(self, events: Iterable[Event]) -> None:
        self._of_kind: dict[str, list[Event]] = {}
        for event in events:
            self._of_kind.setdefault(event["ph"], []).append(event)
        unknown = self._of_kind.keys() - set("MXsfCi")
        _check(not unknown, f"unknown kinds of events: {sorted(unknown)}", {})
        self._processes = self._named("process_name", ("pid",))
        self._tracks = self._named("thread_name", ("pid", "tid"))
        self._on_track: dict[tuple[int, ...], list[tuple[float, float, Slice]]] = {}

    def read(self, about: dict[str, Any]) -> Trace:
        slices = [self._slice(event) for event in self._of_kind.get("X", ())]
        self._check_nesting()
        return Trace(
            slices,
            self._arrows(),
            self._counters(),
            [self._instant(event) for event in self._of_kind.get("i", ())],
            list(self._processes.values()),
            about,
        )

    def _named(self, what: str, keys: tuple[str, ...]) -> dict[tuple[int, ...], str]:
        found: dict[tuple[int, ...], str] = {}
        for event in self._of_kind.get("M", ()):
            if event["name"] == what:
                key = tuple(event[part] for part in keys)
                _check(key not in found, f"two of {what}", event)
                found[key] = event["args"]["name"]
        return found

    def _place(self, event: Event) -> tuple[str, str]:
        process, track = self._processes.get((event["pid"],)), self._tracks.get((event["pid"], event["tid"]))
        _check(
            process is not None and track is not None, "no process or thread of this event has a name", event
        )
        return str(process), str(track)

    def _slice(self, event: Event) -> Slice:
        process, track = self._place(event)
        start, length = event["ts"], event["dur"]
        _check(start >= 0 and length > 0, "a slice begins at 0 or later and takes some time", event)
        found = Slice(
            process, track, event["name"], event["cat"], start, start + length, event.get("args", {})
        )
        self._on_track.setdefault((event["pid"], event["tid"]), []).append((start, start + length, found))
        return found

    def _check_nesting(self) -> None:
        """Refuse slices of one track of which one begins inside another and ends behind it."""
        for track in self._on_track.values():
            track.sort(key=lambda one: (one[0], -one[1]))
            open_until: list[float] = []
            for start, end, found in track:
                while open_until and open_until[-1] <= start + _SAME:
                    open_until.pop()
                _check(
                    not open_until or end <= open_until[-1] + _SAME,
                    "a slice begins inside another one of its track and ends behind it",
                    attrs.asdict(found),
                )
                open_until.append(end)

    def _around(self, event: Event) -> Slice:
        self._place(event)
        at = event["ts"]
        around = [
            found
            for start, end, found in self._on_track.get((event["pid"], event["tid"]), ())
            if start <= at < end
        ]
        _check(bool(around), "an arrow does not begin or end inside a slice", event)
        return around[-1]

    def _arrows(self) -> list[Arrow]:
        starts: dict[object, Event] = {}
        for event in self._of_kind.get("s", ()):
            _check(event["id"] not in starts, "two arrows have one id", event)
            starts[event["id"]] = event
        arrows = []
        for event in self._of_kind.get("f", ()):
            start = starts.pop(event["id"], None)
            _check(start is not None, "an arrow ends that did not begin, or ends twice", event)
            assert start is not None  # for the types  # noqa: S101
            _check(event.get("bp") == "e", "the end of an arrow is not bound to the slice around it", event)
            _check(start["ts"] <= event["ts"], "an arrow points back in time", event)
            _check(
                all(start[key] == event[key] for key in ("name", "cat")), "the ends of an arrow differ", event
            )
            arrows.append(Arrow(event["name"], self._around(start), self._around(event), event["args"]))
        _check(not starts, "arrows that do not end", starts)
        return arrows

    def _counters(self) -> dict[tuple[str, str], list[tuple[float, float]]]:
        found: dict[tuple[str, str], list[tuple[float, float]]] = {}
        for event in self._of_kind.get("C", ()):
            _check((event["pid"],) in self._processes, "the process of a counter has no name", event)
            (value,) = event["args"].values()
            _check(value >= 0, "a queue cannot be shorter than empty", event)
            key = self._processes[event["pid"],], event["name"]
            found.setdefault(key, []).append((event["ts"], value))
        for values in found.values():
            values.sort(key=lambda one: one[0])
        return found

    def _instant(self, event: Event) -> tuple[str, str, str, dict[str, Any]]:
        process = self._processes.get((event["pid"],))
        _check(process is not None, "the process of an instant has no name", event)
        if event["s"] == "t":
            return (*self._place(event), event["name"], event["args"])
        _check(event["s"] == "p", "an instant is of a thread or a process", event)
        return str(process), "", event["name"], event["args"]


#: Microseconds: less than the difference of two moments that were written as different, so rounding.
_SAME = 1e-4


def _check(is_right: bool, words: str, event: object) -> None:  # noqa: FBT001  # as assert
    if not is_right:
        raise AssertionError(f"{words}: {event}")
