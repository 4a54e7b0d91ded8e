"""The packets of a recording by rows, in any order: `RecordingRows`."""

from __future__ import annotations

from inspect import signature
from typing import TYPE_CHECKING, Any, Final, Self

from mcap.reader import McapReader, make_reader

from penstock.errors import FailedPreconditionError, InvalidArgumentError, NotFoundError
from penstock_record.codec import Codecs, Schema
from penstock_record.lossless import Reference
from penstock_record.lossy import is_key
from penstock_record.mcap_records import BROKEN
from penstock_record.pictures import NAMES, PACKED, VIDEO, PictureDecoder, decode_packed
from penstock_record.recording_reader import RecordingReader
from penstock_record.recording_writer import EVENT, EVENTS, PACKET, at_ns

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from mcap.records import Message

    from penstock import Registry
    from penstock_formats import ImageFrame

#: What mcap calls the ends of a time window: newer ones have new names, and warn of the old.
_FROM, _BEFORE = (
    ("starting_at", "ending_before")
    if "starting_at" in signature(McapReader.iter_messages).parameters
    else ("start_time", "end_time")
)
#: The most messages of a video that are decoded for one picture: key frames are nearer.
_MOST_BEFORE: Final = 1000


class RecordingRows:
    """The packets of a whole recording, those of one timestamp together. May be used in `with`.

    What happened is read when it is made, without the payloads; a payload is read when its row is asked for,
    through the index of the file. One thread at a time may use it.

    Args:
        path: the file; stays open until `close`.
        registry: has the codecs.
        streams: which are read; None for all.

    Raises:
        OSError: the file cannot be read.
        InvalidArgumentError: it is no recording, or it is broken or cut.
        NotFoundError: it has no such stream.
    """

    def __init__(self, path: Path, registry: Registry, streams: Sequence[str] | None = None) -> None:
        with RecordingReader(path, registry) as reader:
            known = reader.about.streams
        for name in streams or ():
            if name not in known:
                there = ", ".join(map(repr, known)) or "none"
                raise NotFoundError(
                    f"{path}: the recording's rows have no stream {name!r}; there are: {there}", stream=name
                )
        #: Their names.
        self.streams: Final = known if streams is None else tuple(streams)
        self._path: Final = path
        self._codecs: Final = Codecs(registry)
        self._file: Final = path.open("rb")
        try:
            self._reader: Final = make_reader(self._file)
            self._rows: Final = self._read_rows(known)
        except BROKEN as error:
            self._file.close()
            why = f"{type(error).__name__}: {error}".rstrip(": ")
            raise InvalidArgumentError(
                f"rows of recording {path} cannot be read: it is broken or cut ({why}); `penstock repair "
                f"{path}` saves what there is"
            ) from error
        except BaseException:
            self._file.close()
            raise
        #: The timestamps of the rows, increasing; at each of them at least one of the streams has a packet.
        self.timestamps: Final = tuple(sorted(self._rows))

    def __len__(self) -> int:
        """Return how many rows there are."""
        return len(self.timestamps)

    def __enter__(self) -> Self:
        """Return the object itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the file."""
        self.close()

    def close(self) -> None:
        """Close the file. Closing it again does nothing."""
        self._file.close()

    def row(self, number: int) -> dict[str, Any]:
        """Return the payloads of a row, by stream; streams without a packet there are missing.

        Raises:
            FailedPreconditionError: the file was closed.
            IndexError: there is no such row.
            InvalidArgumentError: a payload cannot be read.
        """
        if self._file.closed:
            raise FailedPreconditionError(f"{self._path}: the recording's rows were closed; open them again")
        timestamp = self.timestamps[number]
        return {
            name: self._payload(name, timestamp, message) for name, message in self._rows[timestamp].items()
        }

    def _read_rows(self, known: Sequence[str]) -> dict[int, dict[str, int]]:
        """Return timestamp → stream → number of the message."""
        rows: dict[int, dict[str, int]] = {}
        for _, _, message in self._reader.iter_messages(topics=[EVENTS], log_time_order=False):
            for kind, stream, timestamp, number in EVENT.iter_unpack(message.data):
                if kind == PACKET and known[stream] in self.streams:
                    rows.setdefault(timestamp, {})[known[stream]] = number
        return rows

    def _payload(self, name: str, timestamp: int, number: int) -> Any:
        at = at_ns(timestamp)
        # timestamps without a time of their own, such as PRESTREAM, were written at that of a neighbour
        window: dict[str, Any] = {} if at is None else {_FROM: at, _BEFORE: at + 1}
        try:
            for schema, channel, message in self._reader.iter_messages(topics=[name], **window):
                if message.sequence == number:
                    codec = channel.metadata.get("codec", "")
                    if codec in NAMES:
                        return self._picture(codec, name, timestamp, message)
                    of = (
                        Schema(channel.message_encoding)
                        if schema is None
                        else Schema(channel.message_encoding, schema.name, schema.encoding, schema.data)
                    )
                    return self._codecs.named(codec).decode(message.data, of)
        except BROKEN as error:
            why = f"{type(error).__name__}: {error}".rstrip(": ")
            raise InvalidArgumentError(
                f"rows of recording {self._path}: stream {name!r} at {timestamp}: {why}"
            ) from error
        raise InvalidArgumentError(
            f"rows of recording {self._path}: stream {name!r} at {timestamp}: the payload is missing"
        )

    def _picture(self, codec: str, name: str, timestamp: int, message: Message) -> ImageFrame:
        """Return an image, and read the messages that it depends on."""
        if codec == PACKED:
            return decode_packed(message.data, lambda number: self._reference(timestamp, number))
        decoder, frame = PictureDecoder(), None
        for one in reversed(self._since_key(name, message)) if codec == VIDEO else (message,):
            frame = decoder.decode(codec, name, one.sequence, timestamp, one.data)
        if frame is None:
            raise InvalidArgumentError(
                f"rows of recording {self._path}: message {message.sequence} has no picture"
            )
        return frame

    def _reference(self, timestamp: int, number: int) -> Reference | None:
        """Return the image of another message of a timestamp, which depends on no further one."""
        at = at_ns(timestamp)
        window: dict[str, Any] = {} if at is None else {_FROM: at, _BEFORE: at + 1}
        for _, channel, message in self._reader.iter_messages(**window):
            if message.sequence == number and channel.metadata.get("codec") == PACKED:
                frame = decode_packed(message.data, lambda _: None)
                return Reference(number, frame.array, frame.format)
        return None

    def _since_key(self, name: str, message: Message) -> list[Message]:
        """Return a message of a video and the ones before, back to a key frame."""
        found: list[Message] = []
        window: dict[str, Any] = {_BEFORE: message.log_time + 1}
        for _, channel, one in self._reader.iter_messages(topics=[name], reverse=True, **window):
            if channel.id != message.channel_id or (not found and one.sequence != message.sequence):
                continue
            found.append(one)
            if is_key(one.data):
                return found
            if len(found) > _MOST_BEFORE:
                break
        raise InvalidArgumentError(
            f"rows of recording {self._path}: message {message.sequence} has no key frame before it"
        )
