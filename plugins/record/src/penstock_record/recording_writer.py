"""Writes a recording: an MCAP file whose channels hold payloads, and one channel the exact story.

The story is a list of events in the order in which they came: a packet, a settled timestamp, a header, the
end of a stream. A payload is a message of a channel of its stream, alone, under the schema of its codec, so
that other programs understand it; its sequence number is its event's. Events are written in groups,
since a message of its own for each would cost more than the packets.

The file is a row of chunks, each given to the system when it has 64 KiB or is a quarter of a second old. What
a killed process loses is the last chunk; `repair` makes a whole file of the rest.
"""

from __future__ import annotations

import os
import struct
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from mcap.writer import CompressionType, IndexType, Writer

import penstock
from penstock_formats import ImageFrame
from penstock_record.codec import Codecs
from penstock_record.options import Compression, Pictures
from penstock_record.pictures import PictureEncoder

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from penstock import Registry
    from penstock_record.codec import Codec, Schema
    from penstock_steering import Change

#: The channel of the story, and the names of the metadata records: of the run, and of a changed node.
EVENTS: Final = "penstock/events"
ABOUT: Final = "penstock"
CHANGE: Final = "penstock/change"
#: The entry of the first that says how images are written.
PICTURES: Final = "pictures"
#: The version of this form of file.
VERSION: Final = 1
#: Kinds of events.
PACKET, SETTLED, HEADER, DONE, SIDE = range(5)
#: Kind, number of the stream, timestamp, number of the message that has the payload (0 where there is none).
EVENT: Final = struct.Struct("<BHqQ")
CHUNK: Final = 64 * 1024
#: A group of events is written when it has so many, is of so many bytes of payloads, or so many seconds old.
#: A chunk is ended at that age too.
_GROUP: Final = 256
_GROUP_BYTES: Final = CHUNK // 2
_GROUP_S: Final = 0.25
_NS_OF_US: Final = 1000
_LATEST: Final = 2**63 - 1
#: What an MCAP file begins and ends with; kind and length of a record.
_MAGIC: Final = b"\x89MCAP0\r\n"
_RECORD: Final = struct.Struct("<BQ")
#: The end of a file without an index: the records DataEnd and Footer, with nothing in them but zeros.
_END: Final = _RECORD.pack(0x0F, 4) + bytes(4) + _RECORD.pack(0x02, 20) + bytes(20) + _MAGIC
#: Sequence numbers of messages have 32 bits; one that comes again is read by then.
_MOST: Final = 2**32 - 1


class _Writer(Writer):
    """The library's, whose open chunk can be ended before it is full."""

    def end_chunk(self) -> None:
        """End the open chunk, so that a reader of the file finds what is in it."""
        self._Writer__finalize_chunk()  # type: ignore[attr-defined]  # the library has no other way


def at_ns(timestamp: int) -> int | None:
    """Return the time of a message for a timestamp; None where that is none, as of PRESTREAM."""
    return timestamp * _NS_OF_US if 0 < timestamp < _LATEST // _NS_OF_US else None


class RecordingWriter:
    """A recording that is being written. Not for several threads at once.

    Args:
        path: the file; an existing one is replaced.
        registry: has the codecs.
        streams: the names of the streams, in order; events name them by number.
        about: text about the run: the graph, versions.
        compression: of the chunks.
        pictures: how images are written.

    Raises:
        OSError: the file cannot be opened.
        InvalidArgumentError: images cannot be written so here; no file is made.
    """

    def __init__(  # noqa: PLR0913, PLR0917  # what is written, and how
        self,
        path: Path,
        registry: Registry,
        streams: Sequence[str],
        about: Mapping[str, str],
        compression: Compression = Compression.ZSTD,
        pictures: Pictures = Pictures.LOSSLESS,
    ) -> None:
        self._pictures: Final = None if pictures is Pictures.RAW else PictureEncoder(pictures)
        self._codecs: Final = Codecs(registry)
        self._streams: Final = tuple(streams)
        self._path: Final = path
        self._file: Final = path.open("wb")
        self._channels: Final[dict[tuple[str, str, str], int]] = {}
        #: The codec that took the last payload of each stream, and type of that: most streams have one type.
        self._usual: Final[dict[int, tuple[type, str, Codec, int]]] = {}
        self._schemas: Final[dict[Schema, int]] = {}
        self._events = bytearray()
        self._group_from = self._chunk_from = time.monotonic()
        self._number = 0
        #: Bytes of payloads whose events are not written yet: without them they are lost.
        self._unsaid = 0
        self._at = 0
        try:
            self._writer: Final = _Writer(
                self._file,
                chunk_size=CHUNK,
                compression=CompressionType[compression.name],
                index_types=IndexType.ALL,
            )
            self._writer.start(profile="penstock", library=f"penstock-record {penstock.__version__}")
            names = {f"stream/{i}": name for i, name in enumerate(self._streams)}
            self._writer.add_metadata(
                ABOUT, {"version": str(VERSION), PICTURES: pictures.value, **names, **about}
            )
            schema = self._writer.register_schema("penstock.Events", "", b"")
            self._story: Final = self._writer.register_channel(EVENTS, "penstock-events", schema)
            self._file.flush()
        except BaseException:
            self._file.close()
            raise

    def packet(self, stream: int, timestamp: int, payload: object) -> None:
        """Write a packet.

        Raises:
            InvalidArgumentError: no codec takes the payload; nothing is written.
            OSError: the file cannot be written.
        """
        self._payload(PACKET, stream, timestamp, payload, self._streams[stream])

    def header(self, stream: int, payload: object) -> None:
        """Write the header of a stream. As `packet`."""
        self._payload(HEADER, stream, 0, payload, f"penstock/header/{self._streams[stream]}")

    def side_packet(self, name: str, payload: object) -> None:
        """Write a side packet. As `packet`."""
        self._payload(SIDE, 0, 0, payload, f"penstock/side/{name}")

    def settled(self, stream: int, timestamp: int) -> None:
        """Write that no packet comes at this timestamp any more, or before it."""
        self._event(SETTLED, stream, timestamp, 0)

    def done(self, stream: int) -> None:
        """Write that a stream has ended."""
        self._event(DONE, stream, 0, 0)

    def change(self, change: Change) -> None:
        """Write that a node was changed, at once.

        Raises:
            OSError: the file cannot be written.
        """
        self._writer.add_metadata(CHANGE, {name: str(value) for name, value in change.as_dict().items()})
        self._file.flush()

    def close(self) -> None:
        """Finish the file.

        Raises:
            OSError: the file cannot be written; it is closed.
        """
        try:
            self._write_events(time.monotonic())
            self._writer.finish()  # type: ignore[no-untyped-call]  # the library's
            self._file.flush()
        finally:
            self._file.close()

    def abandon(self) -> int:
        """Close a file that cannot be written any more, as when the disk is full; return its size.

        It ends behind its last whole chunk, and so plays, without an index.
        """
        with suppress(OSError):  # what was not written is lost, which is why it is abandoned
            self._file.close()
        with suppress(OSError):  # then `penstock repair` reads it
            _end_early(self._path)
        return self._path.stat().st_size

    # --- inside -------------------------------------------------------------------------------

    def _payload(self, kind: int, stream: int, timestamp: int, payload: object, topic: str) -> None:
        self._number = self._number % _MOST + 1
        if kind == PACKET and self._pictures is not None and type(payload) is ImageFrame:
            coded = self._pictures.encode(stream, self._number, timestamp, at_ns(timestamp), payload)
            channel = self._channel_of(topic, coded.name, coded.schema)
            self._message(kind, stream, timestamp, channel, coded.data)
            return
        usual = self._usual.get(stream) if kind == PACKET else None
        if usual is not None and usual[0] is type(payload) and usual[2].takes(payload):
            _, _, codec, channel = usual
        else:
            name, codec = self._codecs.of(payload)
            channel = self._channel(topic, name, codec, payload)
            if kind == PACKET:
                self._usual[stream] = (type(payload), name, codec, channel)
        self._message(kind, stream, timestamp, channel, codec.encode(payload))

    def _message(self, kind: int, stream: int, timestamp: int, channel: int, data: bytes) -> None:
        """Write the message that has the present number, and its event."""
        now = time.time_ns()
        at = at_ns(timestamp)
        if at is not None:
            self._at = max(self._at, at) if kind != PACKET else at
        self._writer.add_message(channel, self._at, data, now, self._number)
        self._unsaid += len(data)
        self._event(kind, stream, timestamp, self._number)

    def _event(self, kind: int, stream: int, timestamp: int, number: int) -> None:
        self._events += EVENT.pack(kind, stream, timestamp, number)
        now = time.monotonic()
        is_large = len(self._events) >= _GROUP * EVENT.size or self._unsaid >= _GROUP_BYTES
        if is_large or now - self._group_from > _GROUP_S:
            self._write_events(now)
            self._group_from = now

    def _write_events(self, now: float) -> None:
        if self._events:
            self._writer.add_message(self._story, self._at, bytes(self._events), time.time_ns())
            self._events.clear()
            self._unsaid = 0
        if now - self._chunk_from > _GROUP_S:
            self._writer.end_chunk()
            self._chunk_from = now
        self._file.flush()

    def _channel(self, topic: str, name: str, codec: Codec, payload: object) -> int:
        return self._channel_of(topic, name, codec.schema(payload))

    def _channel_of(self, topic: str, name: str, schema: Schema) -> int:
        key = (topic, name, schema.name)
        found = self._channels.get(key)
        if found is None:
            number = self._schemas.get(schema)
            if number is None:
                number = self._schemas[schema] = self._writer.register_schema(
                    schema.name, schema.encoding, schema.data
                )
            found = self._channels[key] = self._writer.register_channel(
                topic, schema.message_encoding, number, {"codec": name}
            )
        return found


def _end_early(path: Path) -> None:
    """End a cut file behind the last record that has room for the end after it."""
    with path.open("r+b") as file:
        size = file.seek(0, os.SEEK_END)
        ends = [len(_MAGIC)]
        while ends[-1] + _RECORD.size <= size:
            file.seek(ends[-1])
            _, length = _RECORD.unpack(file.read(_RECORD.size))
            ends.append(ends[-1] + _RECORD.size + length)
        # The file cannot grow, so its last record may have to make room.
        end = max((one for one in ends if one + len(_END) <= size), default=size)
        file.seek(end)
        file.write(_END)
        file.truncate()
