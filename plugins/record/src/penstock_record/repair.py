"""Makes a whole recording of one that was cut off, as by a process that was killed."""

from __future__ import annotations

import os
from typing import IO, TYPE_CHECKING, Any, Final

import attrs
from mcap.records import Channel, Message, Metadata, Schema
from mcap.writer import CompressionType, Writer

from penstock.errors import InvalidArgumentError
from penstock_record.recording_reader import RawRecords
from penstock_record.recording_writer import ABOUT, CHUNK, EVENT, EVENTS

if TYPE_CHECKING:
    from pathlib import Path


@attrs.frozen
class Repaired:
    """What was saved."""

    #: Packets, headers and side packets with their events.
    packets: int
    #: Payloads whose events were not in the file any more.
    lost: int
    #: Whether the file had its end, so that nothing was to be done; it is as it was.
    was_whole: bool


def repair(path: Path, target: Path | None = None) -> Repaired:
    """Write what can be read of a recording into a whole file.

    Args:
        path: the recording.
        target: the new file; None replaces `path`, when the new one is finished.

    Raises:
        OSError: a file cannot be read or written; `path` is as it was.
        InvalidArgumentError: it is no recording of ours, not even its beginning.
    """
    partial = (target or path).with_name(f".{(target or path).name}.{os.getpid()}.partial")
    try:
        done = _copied(path, partial)
        if done.was_whole and target is None:
            return done
        partial.replace(target or path)
    finally:
        partial.unlink(missing_ok=True)
    return done


def _copied(path: Path, partial: Path) -> Repaired:
    with partial.open("wb") as file:
        copy = _Copy(file)
        records = RawRecords(path)
        for record in records:
            copy.add(record)
        if not copy.is_ours:
            raise InvalidArgumentError(
                f"{path} cannot be repaired: it is no recording of penstock-record, nor the beginning of one"
            )
        return copy.finish(was_whole=records.is_whole)


class _Copy:
    """A recording that gets the records of another one, payloads without events excepted."""

    def __init__(self, file: IO[bytes]) -> None:
        self._writer: Final = Writer(file, chunk_size=CHUNK, compression=CompressionType.ZSTD)
        self._writer.start(profile="penstock", library="penstock-record")
        self._schemas: Final[dict[int, int]] = {}
        self._channels: Final[dict[int, int]] = {}
        self._story = -1
        self._pending: Final[dict[int, Message]] = {}
        self._packets = 0
        self.is_ours = False

    def add(self, record: Any) -> None:
        """Take a record."""
        if isinstance(record, Metadata):
            self.is_ours |= record.name == ABOUT
            self._writer.add_metadata(record.name, dict(record.metadata))
        elif isinstance(record, Schema):
            if record.id not in self._schemas:
                number = self._writer.register_schema(record.name, record.encoding, record.data)
                self._schemas[record.id] = number
        elif isinstance(record, Channel):
            self._add_channel(record)
        elif isinstance(record, Message) and record.channel_id in self._channels:
            self._add_message(record)

    def _add_channel(self, channel: Channel) -> None:
        if channel.id in self._channels:
            return
        self._channels[channel.id] = self._writer.register_channel(
            channel.topic,
            channel.message_encoding,
            self._schemas.get(channel.schema_id, 0),
            dict(channel.metadata),
        )
        if channel.topic == EVENTS:
            self._story = channel.id

    def _add_message(self, message: Message) -> None:
        if message.channel_id != self._story:
            self._pending[message.sequence] = message
            return
        for *_, number in EVENT.iter_unpack(message.data):
            if number in self._pending:
                self._write(self._pending.pop(number))
                self._packets += 1
        self._write(message)

    def _write(self, message: Message) -> None:
        number = self._channels[message.channel_id]
        self._writer.add_message(
            number, message.log_time, message.data, message.publish_time, message.sequence
        )

    def finish(self, *, was_whole: bool) -> Repaired:
        """Finish the file."""
        self._writer.finish()  # type: ignore[no-untyped-call]  # the library's
        return Repaired(self._packets, len(self._pending), was_whole)
