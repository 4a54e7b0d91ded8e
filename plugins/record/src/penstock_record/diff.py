"""Compares two recordings: the packets and headers of their streams."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

import attrs

from penstock.error_text import did_you_mean, quoted
from penstock.errors import NotFoundError
from penstock.lowlevel import show
from penstock.packs import default_registry
from penstock_formats import payload_difference
from penstock_record.recording_reader import RecordingReader
from penstock_record.recording_writer import HEADER, PACKET

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from penstock import Registry
    from penstock_record.recording_reader import Event


@attrs.frozen
class Difference:
    """The first difference of a stream."""

    #: Its name.
    stream: str
    #: What differs, and where.
    words: str


def differences(
    one: Path,
    other: Path,
    *,
    streams: Sequence[str] | None = None,
    tolerances: Mapping[str, float] | None = None,
    registry: Registry | None = None,
) -> list[Difference]:
    """Return the first difference of each stream; [] where the packets are the same.

    Packets are compared in the order of each stream, by timestamp, type and payload. When packets came, and
    what was settled when, is not compared: that differs from run to run.

    Args:
        one: a recording.
        other: another one.
        streams: those to compare; None for all that both have. A stream that only one has is a difference.
        tolerances: stream → how much numbers of its payloads may differ: those of images, matrices and
            arrays, and plain ints and floats.
        registry: has the codecs; None for the default one.

    Raises:
        NotFoundError: a recording has no such stream.
        OSError, InvalidArgumentError: a file cannot be read.
    """
    registry = default_registry() if registry is None else registry
    tolerances = tolerances or {}
    with RecordingReader(one, registry) as first, RecordingReader(other, registry) as second:
        names = _compared(first, second, streams, tolerances)
        found = [
            Difference(name, f"only {path} has it")
            for name in sorted(set(first.about.streams) ^ set(second.about.streams))
            if streams is None
            for path in (one if name in first.about.streams else other,)
        ]
        found += _of_streams(first, second, names, tolerances)
    return found


def _compared(
    first: RecordingReader,
    second: RecordingReader,
    streams: Sequence[str] | None,
    tolerances: Mapping[str, float],
) -> set[str]:
    both = set(first.about.streams) & set(second.about.streams)
    for name in (*(streams or ()), *tolerances):
        if name not in both:
            raise NotFoundError(
                f"no diff of stream {quoted(name)}{did_you_mean(name, both, 1)}: not both recordings have it"
            )
    return both if streams is None else set(streams)


def _of_streams(
    first: RecordingReader, second: RecordingReader, names: set[str], tolerances: Mapping[str, float]
) -> list[Difference]:
    """Compare while reading: what the other file has of the stream waits."""
    found: dict[str, Difference] = {}
    waiting: defaultdict[str, list[list[Event]]] = defaultdict(lambda: [[], []])
    left: list[Iterator[Event] | None] = [_payloads(first, names), _payloads(second, names)]
    turn = 0
    while any(one is not None for one in left):
        reader = left[turn]
        event = None if reader is None else next(reader, None)
        if event is None:
            left[turn] = None  # it has ended
        elif event.stream not in found:
            mine, others = waiting[event.stream][turn], waiting[event.stream][1 - turn]
            if others:
                pair = (event, others.pop(0)) if turn == 0 else (others.pop(0), event)
                words = _difference(*pair, tolerances.get(event.stream, 0.0))
                if words:
                    found[event.stream] = Difference(event.stream, words)
            else:
                mine.append(event)
        turn = 1 - turn
    for name, (mine, others) in waiting.items():
        if name not in found and (mine or others):
            which, rest = ("first", mine) if mine else ("second", others)
            words = f"only the {which} recording has {_named(rest[0])}, and {len(rest) - 1} more behind it"
            found[name] = Difference(name, words)
    return [found[name] for name in sorted(found)]


def _payloads(reader: RecordingReader, names: set[str]) -> Iterator[Event]:
    return (event for event in reader.events() if event.kind in (PACKET, HEADER) and event.stream in names)


def _difference(one: Event, other: Event, tolerance: float) -> str:
    if (one.kind, one.timestamp) != (other.kind, other.timestamp):
        return f"the first recording has {_named(one)}, the second {_named(other)}"
    found = payload_difference(one.payload, other.payload, tolerance)
    return f"{_named(one)}: {found.words}" if found is not None else ""


def _named(event: Event) -> str:
    return "a header" if event.kind == HEADER else f"a packet at {show(event.timestamp)}"
