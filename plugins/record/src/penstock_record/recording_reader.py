"""Reads a recording: what it says of itself, and its events in order."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Self

import attrs
from mcap.records import Channel, Message, Metadata
from mcap.records import Schema as McapSchema

from penstock.errors import InvalidArgumentError, ResourceExhaustedError
from penstock.packs import default_registry
from penstock_record.codec import Codecs, Schema
from penstock_record.mcap_records import BROKEN, records_of
from penstock_record.pictures import NAMES, PictureDecoder
from penstock_record.recording_writer import (
    ABOUT,
    CHANGE,
    EVENT,
    EVENTS,
    HEADER,
    PACKET,
    PICTURES,
    SIDE,
    VERSION,
)
from penstock_steering import Change

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from penstock import Registry


class Event(NamedTuple):
    """What happened to a stream."""

    #: PACKET, SETTLED, HEADER, DONE or SIDE of `recording_writer`.
    kind: int
    #: Name of the stream, or of the side packet.
    stream: str
    #: The timestamp of a packet, or settled.
    timestamp: int = 0
    #: The payload of a packet, header or side packet; None else.
    payload: Any = None
    #: When it was written, in nanoseconds since 1970; 0 where there is no payload.
    at_ns: int = 0


@attrs.frozen
class About:
    """What a recording says of itself."""

    #: The names of its streams.
    streams: tuple[str, ...]
    #: Text of the graph that was recorded; "" where it is not known.
    graph: str
    #: All other entries: versions.
    more: Mapping[str, str]

    @property
    def lossy(self) -> str:
        """How images of GRAY8 and SRGB were changed: "jpeg" or "h264"; "" where they are what they were."""
        kind = self.more.get(PICTURES, "")
        return kind if kind in {"jpeg", "h264"} else ""


class RecordingReader:
    """A recording, read from its beginning to its end. May be used in `with`.

    Args:
        path: the file.
        registry: has the codecs; None for the default one.
        is_cut: whether a file that ends early is read as far as it goes, as one of a process that was killed;
            `is_whole` then says whether it had its end.

    Raises:
        OSError: the file cannot be read.
        InvalidArgumentError: it is no recording of ours, or of a later version.
        ResourceExhaustedError: it wants more than a limit of `penstock_record.mcap_records`.
    """

    def __init__(self, path: str | Path, registry: Registry | None = None, *, is_cut: bool = False) -> None:
        path = Path(path)
        self._path: Final = path
        self._codecs: Final = Codecs(default_registry() if registry is None else registry)
        self._is_cut: Final = is_cut
        self.is_whole = True
        self._file: Final = path.open("rb")
        try:
            self._records = self._read()
            self.about: Final = self._read_about()
        except BaseException:
            self._file.close()
            raise

    def __enter__(self) -> Self:
        """Return the reader."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the file."""
        self._file.close()

    def events(self, decoded: Collection[int] = (PACKET, HEADER, SIDE)) -> Iterator[Event]:
        """Yield all events, once. A payload whose event was not written any more is left out.

        Args:
            decoded: kinds of events whose payloads are decoded; those of others are (codec's name, schema,
            bytes).

        Raises:
            InvalidArgumentError: the file is broken.
        """
        schemas: dict[int, McapSchema] = {}
        channels: dict[int, tuple[Channel, Schema]] = {}
        pending: dict[int, tuple[int, bytes, int, int]] = {}
        pictures = PictureDecoder()
        for record in self._records:
            if isinstance(record, McapSchema):
                schemas[record.id] = record
            elif isinstance(record, Channel):
                of = schemas.get(record.schema_id)
                if of is None:
                    raise self._broken(
                        f"the recording reader found channel {record.topic!r} without a schema"
                    )
                channels[record.id] = (
                    record,
                    Schema(record.message_encoding, of.name, of.encoding, of.data),
                )
            elif isinstance(record, Message):
                if record.channel_id not in channels:
                    raise self._broken(
                        f"the recording reader found message {record.sequence} without a channel"
                    )
                if channels[record.channel_id][0].topic == EVENTS:
                    for kind, stream, timestamp, number in EVENT.iter_unpack(self._whole(record.data)):
                        message = pending.pop(number, None)
                        decoder = pictures if kind in decoded else None
                        yield self._event(kind, stream, timestamp, message, channels, decoder)
                else:
                    number = record.sequence
                    pending[number] = (record.channel_id, record.data, record.publish_time, number)

    def _event(  # noqa: PLR0913, PLR0917  # the parts of an event
        self,
        kind: int,
        stream: int,
        timestamp: int,
        message: tuple[int, bytes, int, int] | None,
        channels: Mapping[int, tuple[Channel, Schema]],
        pictures: PictureDecoder | None,
    ) -> Event:
        if kind not in (PACKET, HEADER, SIDE):
            return Event(kind, self._stream(stream), timestamp)
        if message is None:
            raise self._broken(
                f"the recording cannot be read: it has an event of stream {stream} without a payload"
            )
        of, data, at_ns, number = message
        channel, schema = channels[of]
        name = channel.topic.removeprefix("penstock/side/") if kind == SIDE else self._stream(stream)
        codec = channel.metadata.get("codec", "")
        payload: Any = (codec, schema, data)
        if pictures is not None:
            try:
                if codec in NAMES:
                    payload = pictures.decode(codec, name, number, timestamp, data)
                else:
                    payload = self._codecs.named(codec).decode(data, schema)
            except ResourceExhaustedError as error:
                raise ResourceExhaustedError(
                    f"cannot read the recording {self._path}: stream {name!r} at {timestamp}: {error}"
                ) from error
            except InvalidArgumentError as error:
                raise self._broken(f"stream {name!r} at {timestamp}: {error}") from error
        return Event(kind, name, timestamp, payload, at_ns)

    def _stream(self, number: int) -> str:
        if number >= len(self.about.streams):
            raise self._broken(f"the recording cannot be read: it has no stream {number}")
        return self.about.streams[number]

    def _whole(self, data: bytes) -> bytes:
        if len(data) % EVENT.size:
            raise self._broken("the recording reader found a group of events that ends within an event")
        return data

    def _read_about(self) -> About:
        for record in self._records:
            if isinstance(record, Metadata) and record.name == ABOUT:
                said = dict(record.metadata)
                version = said.pop("version", "")
                if version != str(VERSION):
                    raise self._broken(
                        f"the recording has version {version!r}, and this penstock-record reads "
                        f"version {VERSION}"
                    )
                streams: list[str] = []
                while (name := said.pop(f"stream/{len(streams)}", None)) is not None:
                    streams.append(name)
                return About(tuple(streams), said.pop("graph", ""), said)
            if isinstance(record, Message):
                break
        raise InvalidArgumentError(f"{self._path} cannot be read: it is no recording of penstock-record")

    def _read(self) -> Iterator[Any]:
        try:
            yield from records_of(self._file, self._path)
        except ResourceExhaustedError:
            raise
        except BROKEN as error:
            if not self._is_cut:
                why = f"{type(error).__name__}: {error}".rstrip(": ")
                raise self._broken(
                    f"the recording cannot be read: it is broken or cut ({why}); `penstock repair "
                    f"{self._path}` saves what there is"
                ) from error
            self.is_whole = False

    def _broken(self, words: str) -> InvalidArgumentError:
        return InvalidArgumentError(f"{self._path}: {words}")


def changes_in(path: Path) -> tuple[Change, ...]:
    """Return the changes of nodes in a recorded run, in the order in which they were made.

    Also of a file that ends early, as far as it goes.

    Raises:
        OSError: the file cannot be read.
        InvalidArgumentError: a change is none; names the file.
    """
    records = RawRecords(path, in_chunks=False)
    found = [one.metadata for one in records if isinstance(one, Metadata) and one.name == CHANGE]
    try:
        return tuple(Change.from_dict(one) for one in found)
    except InvalidArgumentError as error:
        raise InvalidArgumentError(f"{path}: {error}") from error


class RawRecords:
    """The records of a file, as far as it goes.

    Args:
        path: the file.
        in_chunks: whether chunks are unpacked, or yielded as they are.
    """

    def __init__(self, path: Path, *, in_chunks: bool = True) -> None:
        self._path: Final = path
        self._in_chunks: Final = in_chunks
        #: Whether the file had its end; known when all records were read.
        self.is_whole = False

    def __iter__(self) -> Iterator[Any]:
        """Yield the records.

        Raises:
            OSError: the file cannot be read.
        """
        with self._path.open("rb") as file:
            try:
                yield from records_of(file, self._path, in_chunks=self._in_chunks)
            except BROKEN:
                return
            self.is_whole = True
