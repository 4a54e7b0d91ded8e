"""The records of an MCAP file, in order, with limits of the time and memory that a file may cost."""

from __future__ import annotations

import struct
from typing import IO, TYPE_CHECKING, Any, Final

import zstandard
from mcap.exceptions import McapError
from mcap.records import (
    Channel,
    Chunk,
    ChunkIndex,
    Message,
    MessageIndex,
    Metadata,
    Schema,
    SummaryOffset,
)
from mcap.stream_reader import StreamReader, breakup_chunk

from penstock.errors import ResourceExhaustedError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

#: The most bytes of a record, and of the unpacked content of a chunk.
MOST_RECORD_BYTES: Final = 1 << 30
#: The most records that say nothing of use, such as records of unknown kinds; and the most schemas, channels,
#: and pieces of metadata.
MOST_IDLE_RECORDS: Final = 100_000
#: What the libraries raise for files that are broken, or end early.
BROKEN: Final = (
    McapError,
    struct.error,
    zstandard.ZstdError,
    EOFError,
    ValueError,
    KeyError,
    TypeError,
    IndexError,
    MemoryError,
    OverflowError,
    RuntimeError,  # of lz4
)


#: Records that a long recording has many of.
_MANY: Final = (Chunk, Message, MessageIndex, ChunkIndex, SummaryOffset)


class _Records(StreamReader):
    """Also counts the records that say nothing, which the library passes over."""

    def __init__(self, file: IO[bytes], path: Path) -> None:
        super().__init__(file, emit_chunks=True, validate_crcs=True, record_size_limit=MOST_RECORD_BYTES)
        self._path: Final = path
        self._idle = 0

    def _read_record(self, *place: int) -> Any:
        record = super()._read_record(*place)
        if not isinstance(record, _MANY):
            self._idle += 1
            if self._idle > MOST_IDLE_RECORDS:
                raise _too_much(self._path, f"more than {MOST_IDLE_RECORDS} records without a message")
        return record


def records_of(file: IO[bytes], path: Path, *, in_chunks: bool = True) -> Iterator[Any]:
    """Yield the records of a file, and the records in its chunks or, without `in_chunks`, the chunks.

    Raises:
        ResourceExhaustedError: the file wants more than a limit of this module; names it.
        Exception: one of `BROKEN`: the file is broken or cut.
    """
    count = 0
    for record in _Records(file, path).records:
        if not isinstance(record, Chunk) or not in_chunks:
            yield record
            continue
        size = _size_of(record)
        if size > MOST_RECORD_BYTES:
            raise _too_much(path, f"a chunk of records of {size} bytes, above {MOST_RECORD_BYTES}")
        for packed in breakup_chunk(record, validate_crc=True):
            if isinstance(packed, (Schema, Channel, Metadata)):
                count += 1
                if count > MOST_IDLE_RECORDS:
                    raise _too_much(
                        path, f"more than {MOST_IDLE_RECORDS} MCAP schemas and channels without records"
                    )
            yield packed


def _size_of(chunk: Chunk) -> int:
    """Return how many bytes a chunk says that it holds: itself, or in the frame that is unpacked."""
    claimed = chunk.uncompressed_size
    if chunk.compression == "zstd":
        claimed = max(claimed, zstandard.frame_content_size(chunk.data))
    return claimed


def _too_much(path: Path, words: str) -> ResourceExhaustedError:
    return ResourceExhaustedError(
        f"recording {path}: the MCAP file has {words}: it is broken, or made to cost much"
    )
