"""One bag that is written: a file beside its place first, which takes the place when it is whole."""

from __future__ import annotations

import shutil
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Final

from rosbags.rosbag1 import Writer as Writer1
from rosbags.rosbag2 import StoragePlugin
from rosbags.rosbag2 import Writer as Writer2
from rosbags.typesys import Stores, get_types_from_msg, get_typestore

from penstock.errors import AlreadyExistsError, InvalidArgumentError, UnavailableError
from penstock_ros.client.bag_reader import register
from penstock_ros.client.to_ros import Messages
from penstock_ros.options import Storage

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from penstock_ros.options import BagTopic

#: Of the metadata of folders; what ROS 2 Humble and later read.
_VERSION: Final = 8
#: The store of ROS 1 has the parts of it only.
_TF: Final = "tf2_msgs/msg/TFMessage"
_TF_TEXT: Final = "geometry_msgs/TransformStamped[] transforms\n"
_FILES: Final = {".mcap": StoragePlugin.MCAP, ".db3": StoragePlugin.SQLITE3}


class BagWriter:
    """Writes a bag. Close it, or abandon it.

    Args:
        path: where it is to be: see `Storage`. A file there is replaced when the bag is whole.
        storage: how it is kept.

    Raises:
        AlreadyExistsError: there is a folder.
        InvalidArgumentError: the path has an ending that no bag has.
        UnavailableError: the file cannot be made, and nothing is left of it.
    """

    def __init__(self, path: Path, storage: Storage) -> None:
        if path.is_dir() or (not path.suffix and path.exists()):
            raise AlreadyExistsError(
                f"cannot write the ROS bag {str(path)!r}: it exists; name another one, or remove it"
            )
        if path.suffix not in ("", ".bag", *_FILES):
            raise InvalidArgumentError(
                f"cannot write the ROS bag {str(path)!r}, which ends in {path.suffix!r}; the ending must be "
                ".bag (ROS 1), .mcap, .db3, or none for a folder of ROS 2"
            )
        self._path: Final = path
        self._is_first: Final = path.suffix == ".bag"
        #: What is written: the bag, or a folder of which one file is the bag.
        self._partial: Final = path.with_name(f"{path.name}.partial")
        _remove(self._partial)
        kept = StoragePlugin.MCAP if storage is Storage.FOLDER_OF_MCAP else StoragePlugin.SQLITE3
        plugin = _FILES.get(path.suffix, kept)
        self._writer: Final[Any] = (
            Writer1(self._partial)
            if self._is_first
            else Writer2(self._partial, version=_VERSION, storage_plugin=plugin)
        )
        self._types: Final = get_typestore(Stores.ROS1_NOETIC if self._is_first else Stores.ROS2_HUMBLE)
        if _TF not in self._types.types:
            register(self._types, get_types_from_msg(_TF_TEXT, _TF))
        self._messages: Final = Messages(self._types.types)
        #: Topic → the type of its messages, and rosbags' connection.
        self._connections: Final[dict[str, tuple[str, Any]]] = {}
        try:
            with self._told():
                self._writer.open()
        except UnavailableError:
            self.abandon()
            raise

    def write(self, topic: BagTopic, payload: Any, stamp_us: int) -> None:
        """Write a payload as a message, at a time in microseconds since 1970.

        Raises:
            InvalidArgumentError: no message of the topic can be made of it, or the time is none of ROS.
            UnavailableError: the file cannot be written.
        """
        if not 0 <= stamp_us < 2**31 * 1_000_000:
            raise InvalidArgumentError(
                f"cannot write ROS topic {topic.name}: the time {stamp_us} µs is none of ROS: from 1970 to "
                "2038; set start_us"
            )
        kind = self._messages.type_of(payload, topic)
        known, connection = self._connections.get(topic.name) or self._add(topic, kind)
        if known != kind:
            raise InvalidArgumentError(
                f"cannot write ROS topic {topic.name}: it has messages of the type {known}, and now one of "
                f"{kind}"
            )
        message = self._messages.message(payload, kind, topic, stamp_us)
        serialize = self._types.serialize_ros1 if self._is_first else self._types.serialize_cdr
        try:
            data = serialize(message, kind)
        except Exception as error:
            raise InvalidArgumentError(
                f"cannot write a {kind} to ROS topic {topic.name}: {error!r}"
            ) from error
        with self._told():
            self._writer.write(connection, stamp_us * 1000, data)

    def close(self) -> None:
        """Make the bag whole, and put it in its place.

        Raises:
            UnavailableError: it cannot be written; nothing is left of it.
        """
        try:
            with self._told():
                self._writer.close()
            if self._is_first or not self._path.suffix:
                self._partial.replace(self._path)
                if not self._is_first:
                    self._rename_inside()
            else:
                (file,) = self._partial.glob(f"*{self._path.suffix}")
                file.replace(self._path)
                _remove(self._partial)
        except BaseException:
            _remove(self._partial)
            raise

    def abandon(self) -> None:
        """Leave nothing of it."""
        try:
            with suppress(Exception):  # the file goes, in whatever state it is
                self._writer.close()
        finally:
            _remove(self._partial)

    @contextmanager
    def _told(self) -> Iterator[None]:
        """Turn what rosbags and its libraries raise about the file into an error of ours."""
        try:
            yield
        except Exception as error:
            raise UnavailableError(f"cannot write the ROS bag {str(self._path)!r}: {error}") from error

    def _add(self, topic: BagTopic, kind: str) -> tuple[str, Any]:
        with self._told():
            connection = self._writer.add_connection(topic.name, kind, typestore=self._types)
        self._connections[topic.name] = kind, connection
        return kind, connection

    def _rename_inside(self) -> None:
        """Give the files of a folder its name, as ROS does, and write that into the metadata."""
        old, new = self._partial.name, self._path.name
        for file in list(self._path.iterdir()):
            if file.name.startswith(old):
                file.rename(file.with_name(new + file.name.removeprefix(old)))
        about = self._path / "metadata.yaml"
        about.write_text(about.read_text(encoding="utf-8").replace(old, new), encoding="utf-8")


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
