"""From events of the Trace Event Format to Perfetto's own: a file that is smaller, and read faster.

Only the few fields are written that a trace of ours needs, by hand: making protobuf messages of a million
events takes longer, and needs Perfetto's schema of 280 kB. Names are written once and then stand as numbers.
A packet is a flow from the slice that wrote it to a slice that read it; a flow whose packet nobody read has
a beginning only, which Perfetto does not show. Times are nanoseconds since the earliest event.

Source of the field numbers: Perfetto's public schema, `protos/perfetto/trace/track_event/*.proto`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

# Keys of fields: the number of the field, and how its value is written.
_VARINT, _FIXED64, _BYTES = 0, 1, 2


def _varint(value: int) -> bytes:
    """Return a number of at most 64 bits; a negative one as its two's complement."""
    value &= 0xFFFF_FFFF_FFFF_FFFF
    if value < 0x80:  # noqa: PLR2004  # seven bits
        return bytes((value,))
    out = bytearray()
    while value >= 0x80:  # noqa: PLR2004
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def _key(field: int, kind: int) -> bytes:
    return _varint(field << 3 | kind)


def _bytes(key: bytes, value: bytes) -> bytes:
    return key + _varint(len(value)) + value


_PACKET: Final = _key(1, _BYTES)

# TracePacket
_TIMESTAMP: Final = _key(8, _VARINT)
_EVENT: Final = _key(11, _BYTES)
_INTERNED: Final = _key(12, _BYTES)
_DESCRIPTOR: Final = _key(60, _BYTES)
#: All packets are of sequence 1; the first says that no name is known, the others that they use names.
_FIRST: Final = _key(10, _VARINT) + b"\1" + _key(13, _VARINT) + b"\1"
_LATER: Final = _key(10, _VARINT) + b"\1" + _key(13, _VARINT) + b"\2"

# TrackDescriptor, ProcessDescriptor
_UUID: Final = _key(1, _VARINT)
_TRACK_NAME: Final = _key(2, _BYTES)
_PROCESS: Final = _key(3, _BYTES)
_PARENT: Final = _key(5, _VARINT)
_COUNTER: Final = _key(8, _BYTES) + b"\0"
_ORDER_EXPLICIT: Final = _key(11, _VARINT) + b"\3"
_RANK: Final = _key(12, _VARINT)
_PID: Final = _key(1, _VARINT)
_PROCESS_NAME: Final = _key(6, _BYTES)

# TrackEvent
_ANNOTATION: Final = _key(4, _BYTES)
_BEGIN: Final = _key(9, _VARINT) + b"\1"
_END: Final = _key(9, _VARINT) + b"\2"
_INSTANT: Final = _key(9, _VARINT) + b"\3"
_COUNT: Final = _key(9, _VARINT) + b"\4"
_NAME_IID: Final = _key(10, _VARINT)
_TRACK: Final = _key(11, _VARINT)
_VALUE: Final = _key(30, _VARINT)
_FLOW: Final = _key(47, _FIXED64)
_FLOW_ENDS: Final = _key(48, _FIXED64)

# DebugAnnotation, and the interned names of events (2) and of annotations (3)
_ANNOTATION_IID: Final = _key(1, _VARINT)
_INT: Final = _key(4, _VARINT)
_STRING: Final = _key(6, _BYTES)
_EVENT_NAMES: Final = _key(2, _BYTES)
_ANNOTATION_NAMES: Final = _key(3, _BYTES)
_IID: Final = _key(1, _VARINT)
_INTERNED_NAME: Final = _key(2, _BYTES)

#: Arguments of a slice that become flows, or stand in its name.
_LEFT_OUT: Final = ("inputs", "outputs", "method")


class _Names:
    """Names that stand as numbers."""

    def __init__(self, key: bytes) -> None:
        self._key: Final = key
        self._numbers: Final[dict[str, bytes]] = {}
        #: What has to be written before the next packet: the names that are new.
        self.new = b""

    def number(self, name: str) -> bytes:
        found = self._numbers.get(name)
        if found is None:
            found = self._numbers[name] = _varint(len(self._numbers) + 1)
            self.new += _bytes(self._key, _IID + found + _bytes(_INTERNED_NAME, name.encode()))
        return found


class PerfettoPackets:
    """Makes the packets of a file; each is a piece of the file.

    Args:
        readers: run and stream → the names of the slices that read packets of the stream.
    """

    def __init__(self, readers: Mapping[tuple[int, str], Collection[str]]) -> None:
        self._readers: Final = readers
        self._names: Final = _Names(_EVENT_NAMES)
        self._annotations: Final = _Names(_ANNOTATION_NAMES)
        self._counters: Final[dict[tuple[int, str], bytes]] = {}
        self._ranks: Final[dict[int, bytes]] = {}
        self._is_first = True

    def of(self, events: Iterable[dict[str, Any]]) -> Iterator[bytes]:
        """Yield the packets of events, which are those of `RunEvents.events`, of all runs in turn."""
        slice_: dict[str, Any] | None = None
        ends: list[str] = []
        for event in events:
            kind = event["ph"]
            if kind == "f":
                ends.append(event["name"])
                continue
            if kind == "s":
                continue
            if slice_ is not None:
                yield from self._slice(slice_, ends)
                slice_, ends = None, []
            if kind == "X":
                slice_ = event
            elif kind == "M":
                yield from self._track(event)
            elif kind == "C":
                yield from self._count(event)
            else:
                track = event.get("tid", _process(event["pid"]))
                yield self._event(event, _INSTANT + _TRACK + _varint(track), event["name"])
        if slice_ is not None:
            yield from self._slice(slice_, ends)

    # --- events -------------------------------------------------------------------------------

    def _slice(self, event: dict[str, Any], ends: Iterable[str]) -> Iterator[bytes]:
        """Yield the beginning and the end of a slice; `ends` are the streams of its known packets."""
        run, name, arguments = event["pid"], event["name"], event["args"]
        flows = b""
        if event["cat"] == "add":
            written = {name.removeprefix("add to "): [arguments["timestamp"]]}
        else:
            written = arguments.get("outputs", {})
        for stream, timestamps in written.items():
            for reader in self._readers.get((run, stream), ()):
                for timestamp in timestamps:
                    flows += _FLOW + _flow(run, stream, timestamp, reader)
        known = set(ends)
        for stream, timestamps in arguments.get("inputs", {}).items():
            if stream in known:
                for timestamp in timestamps:
                    flows += _FLOW_ENDS + _flow(run, stream, timestamp, name)
        track = _TRACK + _varint(event["tid"])
        yield self._event(event, _BEGIN + track + flows, name)
        end = _ns(event["ts"] + event["dur"])
        yield self._packet(_TIMESTAMP + _varint(end) + _bytes(_EVENT, _END + track))

    def _count(self, event: dict[str, Any]) -> Iterator[bytes]:
        key = event["pid"], event["name"]
        track = self._counters.get(key)
        if track is None:
            track = self._counters[key] = _varint((2 << 40) + len(self._counters))
            described = _UUID + track + _PARENT + _varint(_process(event["pid"])) + _COUNTER
            yield self._packet(_bytes(_DESCRIPTOR, described + _bytes(_TRACK_NAME, event["name"].encode())))
        value = _COUNT + _TRACK + track + _VALUE + _varint(event["args"]["packets"])
        yield self._packet(_TIMESTAMP + _varint(_ns(event["ts"])) + _bytes(_EVENT, value))

    def _event(self, event: dict[str, Any], body: bytes, name: str) -> bytes:
        body += _NAME_IID + self._names.number(name)
        for key, value in event["args"].items():
            if key in _LEFT_OUT or (key == "calculator" and value == name):  # of a node without a name
                continue
            written = (
                _INT + _varint(int(value))
                if isinstance(value, int)
                else _bytes(_STRING, str(value).encode("utf-8", "replace"))
            )
            body += _bytes(_ANNOTATION, _ANNOTATION_IID + self._annotations.number(key) + written)
        return self._packet(_TIMESTAMP + _varint(_ns(event["ts"])) + _bytes(_EVENT, body))

    # --- tracks -------------------------------------------------------------------------------

    def _track(self, event: dict[str, Any]) -> Iterator[bytes]:
        """Yield the description of a process or a thread; what sorts them comes with the name."""
        run, name = event["pid"], event["args"].get("name", "").encode()
        if event["name"] == "process_name":
            described = _UUID + _varint(_process(run)) + _ORDER_EXPLICIT
            described += _bytes(_PROCESS, _PID + _varint(run) + _bytes(_PROCESS_NAME, name))
            yield self._packet(_bytes(_DESCRIPTOR, described))
        elif event["name"] == "thread_name":
            self._ranks[event["tid"]] = name
        elif event["name"] == "thread_sort_index":
            described = _UUID + _varint(event["tid"]) + _PARENT + _varint(_process(run))
            described += _bytes(_TRACK_NAME, self._ranks.pop(event["tid"]))
            described += _RANK + _varint(event["args"]["sort_index"])
            yield self._packet(_bytes(_DESCRIPTOR, described))

    def _packet(self, body: bytes) -> bytes:
        new = self._names.new + self._annotations.new
        if new:
            body += _bytes(_INTERNED, new)
            self._names.new = self._annotations.new = b""
        body += _FIRST if self._is_first else _LATER
        self._is_first = False
        return _bytes(_PACKET, body)


def _process(run: int) -> int:
    """Return the number of the track of a run; threads have small ones."""
    return (1 << 40) + run


def _ns(us: float) -> int:
    return round(us * 1000)


def _flow(run: int, stream: str, timestamp: int | str, reader: str) -> bytes:
    """Return the number of the flow of a packet to a reader: the same where it begins and where it ends."""
    return (hash((run, stream, timestamp, reader)) & 0xFFFF_FFFF_FFFF_FFFF or 1).to_bytes(8, "little")
