"""One bag that is read: its topics, and its messages in the order of their log times.

rosbags makes Python code of the message definitions that a bag brings, so their names are checked before.
Whatever is wrong with a file is an InvalidArgumentError.
"""

from __future__ import annotations

import bz2
import re
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

import attrs
import lz4.frame  # type: ignore[import-untyped]  # it has no types
from rosbags.interfaces import MessageDefinitionFormat, Nodetype
from rosbags.rosbag1 import Reader as Reader1
from rosbags.rosbag1.reader import decompressors
from rosbags.rosbag2 import Reader as Reader2
from rosbags.typesys import Stores, get_types_from_idl, get_types_from_msg, get_typestore

from penstock.errors import InvalidArgumentError, PenstockError, ResourceExhaustedError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator
    from pathlib import Path

    from rosbags.interfaces import Connection
    from rosbags.interfaces.typing import Typesdict
    from rosbags.typesys.store import Typestore

#: A chunk of a bag may be so many times as large as the largest message.
CHUNK: Final = 4
_TYPE: Final = re.compile(r"[A-Za-z]\w*(/[A-Za-z]\w*){1,4}", re.ASCII)
_FIELD: Final = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_BASE: Final = re.compile(r"bool|byte|char|octet|wchar|w?string|u?int(8|16|32|64)|float(32|64|128)")
#: rosbags registers types under one name of `sys.modules`.
_REGISTERING: Final = threading.Lock()


@attrs.frozen
class Topic:
    """A topic of a bag."""

    name: str
    #: Such as "sensor_msgs/msg/Image".
    type: str
    count: int


@attrs.frozen
class Entry:
    """One message of a bag."""

    topic: str
    #: When it was written into the bag, in nanoseconds.
    log_ns: int
    #: As rosbags makes it of its definition.
    message: Any


class Bag:
    """A bag that is open. Close it.

    Args:
        path: a file or folder that may be read.
        limit: bytes that a message has at most.

    Raises:
        InvalidArgumentError: it is no bag that can be read, or a definition in it has a wrong name.
        ResourceExhaustedError: a chunk of it is too large.
        OSError: the system does not open it.
    """

    def __init__(self, path: Path, limit: int) -> None:
        self._path: Final = path
        self._limit: Final = limit
        self._is_first: Final = path.suffix == ".bag"
        with self._told("cannot be read as a bag"):
            self._reader: Final[Reader1 | Reader2] = Reader1(path) if self._is_first else Reader2(path)
            self._reader.open()
            try:
                self._limit_chunks()
                self._types: Final = self._typestore()
            except BaseException:
                self._reader.close()
                raise

    @property
    def topics(self) -> dict[str, Topic]:
        """The topics by name.

        Raises:
            InvalidArgumentError: one has messages of several types.
        """
        found: dict[str, Topic] = {}
        for one in self._reader.connections:
            known = found.get(one.topic)
            if known is not None and known.type != one.msgtype:
                raise InvalidArgumentError(
                    f"cannot read the ROS bag {self._path}: topic {one.topic} has messages of the types "
                    f"{known.type} and {one.msgtype}"
                )
            found[one.topic] = Topic(one.topic, one.msgtype, one.msgcount + (known.count if known else 0))
        return found

    @property
    def span_ns(self) -> tuple[int, int]:
        """The log times of the first message and of the last, in nanoseconds; (0, 0) where there is none."""
        begin, end = self._reader.start_time, self._reader.end_time
        return (begin, max(begin, end - 1)) if end > 0 else (0, 0)

    def messages(
        self, topics: Collection[str], start_ns: int | None = None, stop_ns: int | None = None
    ) -> Iterator[Entry]:
        """Yield the messages of topics, from a log time on and before another.

        Raises:
            InvalidArgumentError: the bag is damaged.
            ResourceExhaustedError: a message is too large.
        """
        chosen = [one for one in self._reader.connections if one.topic in topics]
        if not chosen:
            return
        raw = self._reader.messages(chosen, start_ns, stop_ns)
        while True:
            with self._told("is damaged"):
                found = next(raw, None)
                if found is None:
                    return
                connection, log_ns, data = found
                entry = Entry(connection.topic, log_ns, self._decoded(connection, data))
            yield entry

    def close(self) -> None:
        """Close its files."""
        self._reader.close()

    def _decoded(self, connection: Connection, data: bytes) -> Any:
        if len(data) > self._limit:
            raise ResourceExhaustedError(
                f"cannot read the ROS bag {self._path}: topic {connection.topic} has a message of "
                f"{len(data)} bytes, more than the limit max_message_bytes of {self._limit}"
            )
        if self._is_first:
            return self._types.deserialize_ros1(data, connection.msgtype)
        return self._types.deserialize_cdr(data, connection.msgtype)

    @contextmanager
    def _told(self, what: str) -> Iterator[None]:
        """Turn what rosbags raises about a file into an error of ours."""
        try:
            yield
        except (PenstockError, OSError):
            raise
        except Exception as error:  # a damaged file makes rosbags raise nearly anything
            kind = "" if type(error).__name__.endswith("Error") and str(error) else f"{type(error).__name__} "
            raise InvalidArgumentError(f"{self._path} {what}: {kind}{error}") from error

    # --- what a hostile bag may do --------------------------------------------------------------

    def _limit_chunks(self) -> None:
        """Let no chunk become larger than the limit.

        Raises:
            ResourceExhaustedError: one says that it is.
        """
        limit = self._limit * CHUNK
        if isinstance(self._reader, Reader1):
            ways = {decompressors["bz2"]: _bz2(limit), decompressors["lz4"]: _lz4(limit)}
            for pos, chunk in self._reader.chunks.items():
                way = ways.get(chunk.decompressor, chunk.decompressor)
                self._reader.chunks[pos] = chunk._replace(decompressor=way)
            return
        storages = getattr(self._reader.storage, "storages", [self._reader.storage])
        sizes = [one.uncompressed_size for each in storages for one in getattr(each, "chunks", ())]
        if sizes and max(sizes) > limit:
            raise _too_large(limit)

    def _typestore(self) -> Any:
        """Return the types that the bag defines; where it defines none, ROS's own."""
        types: Typesdict = {}
        with_definition = [
            one for one in self._reader.connections if one.msgdef.format != MessageDefinitionFormat.NONE
        ]
        for one in with_definition:
            if one.msgdef.format == MessageDefinitionFormat.MSG:
                types.update(get_types_from_msg(one.msgdef.data, one.msgtype))
            else:
                for text in _idl_parts(one.msgdef.data):
                    types.update(get_types_from_idl(text))
        if not with_definition:
            return get_typestore(Stores.LATEST)
        store = get_typestore(Stores.EMPTY)
        register(store, types)
        return store


def register(store: Typestore, types: Typesdict) -> None:
    """Add definitions to types.

    Raises:
        InvalidArgumentError: a name in them is none.
    """
    check_names(types)
    with _REGISTERING:
        store.register(types)


def check_names(types: Typesdict) -> None:
    """Refuse definitions whose names are no names, before code is made of them.

    Raises:
        InvalidArgumentError: one is not.
    """
    for name, (constants, fields) in types.items():
        wrong: list[object] = [] if _TYPE.fullmatch(name) else [name]
        wrong += [one[1] for one in constants if not _BASE.fullmatch(str(one[1]))]
        wrong += [one[0] for one in (*constants, *fields) if not _FIELD.fullmatch(str(one[0]))]
        wrong += [one for one in (_named(field[1]) for field in fields) if one and not _is_known(one)]
        if wrong:
            raise InvalidArgumentError(
                f"cannot read the ROS bag: its definition of the type {name!r} has the name "
                f"{wrong[0]!r}, which is none"
            )


def _named(described: Any) -> str:
    """Return the type that the description of a field names."""
    kind, what = described
    if kind in (Nodetype.ARRAY, Nodetype.SEQUENCE):
        return _named(what[0])
    return str(what[0] if kind == Nodetype.BASE else what)


def _is_known(name: str) -> bool:
    return bool(_BASE.fullmatch(name) or _TYPE.fullmatch(name))


def _idl_parts(text: str) -> list[str]:
    rule = "=" * 80 + "\n"
    if not text.startswith(f"{rule}IDL: "):
        return [text]
    return [part.partition("\n")[2] for part in text.split(rule)[1:]]


def _too_large(limit: int) -> ResourceExhaustedError:
    return ResourceExhaustedError(
        f"cannot read the ROS bag: a chunk is larger than {limit} bytes, {CHUNK} times max_message_bytes"
    )


def _bz2(limit: int) -> Callable[[bytes], bytes]:
    def decompress(data: bytes) -> bytes:
        found = bz2.BZ2Decompressor().decompress(data, limit + 1)
        if len(found) > limit:
            raise _too_large(limit)
        return found

    return decompress


def _lz4(limit: int) -> Callable[[bytes], bytes]:
    def decompress(data: bytes) -> bytes:
        found = bytes(lz4.frame.LZ4FrameDecompressor().decompress(data, limit + 1))
        if len(found) > limit:
            raise _too_large(limit)
        return found

    return decompress
