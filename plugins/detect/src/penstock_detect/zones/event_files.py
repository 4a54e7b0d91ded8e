"""Files of events: lines of JSON, a CSV table, or a SQLite database.

What a call of `write` has returned from is in the file, whole, also if the process is killed afterwards; a
call that fails leaves nothing of its events there. The path is one that `Access.writing` has returned.
"""

from __future__ import annotations

import contextlib
import csv
import errno
import io
import json
import os
import sqlite3
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final, Protocol

from penstock.errors import InvalidArgumentError, PenstockError, ResourceExhaustedError, UnavailableError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from penstock_detect.zones.events import ZoneEvent

#: Ending → kind of the file.
KINDS: Final = {
    ".jsonl": "jsonl", ".ndjson": "jsonl", ".csv": "csv",
    ".sqlite": "sqlite", ".sqlite3": "sqlite", ".db": "sqlite",
}  # fmt: skip
#: The columns of CSV and SQLite, as `ZoneEvent.as_data` names them.
COLUMNS: Final = (
    "event", "timestamp", "place", "direction", "label", "track", "x", "y", "dwell_s", "speed",
)  # fmt: skip
_FULL: Final = {getattr(errno, name) for name in ("ENOSPC", "EDQUOT", "EFBIG") if hasattr(errno, name)}
#: How long another program may hold the database.
_BUSY_S: Final = 5.0
_TABLE: Final = """
CREATE TABLE IF NOT EXISTS events (
  id INTEGER PRIMARY KEY, run TEXT NOT NULL, event TEXT NOT NULL, timestamp INTEGER NOT NULL, place TEXT NOT
  NULL, direction TEXT, label TEXT, track INTEGER NOT NULL, x REAL NOT NULL, y REAL NOT NULL, dwell_s REAL,
  speed REAL
)"""


class EventFile(Protocol):
    """A file that events are added to."""

    def write(self, events: Sequence[ZoneEvent]) -> None:
        """Add events, all or none.

        Raises:
            ResourceExhaustedError: the disk is full.
            UnavailableError: another program holds the database.
            PenstockError: writing failed otherwise.
        """

    def close(self) -> None:
        """Close the file."""


def kind_of(name: str) -> str:
    """Return "jsonl", "csv" or "sqlite", by the ending of a name.

    Raises:
        InvalidArgumentError: the ending is another one.
    """
    ending = os.path.splitext(name)[1].lower()  # noqa: PTH122  # a str
    if ending not in KINDS:
        raise InvalidArgumentError(
            f"the file of events {name!r} has the ending {ending!r}, but must have one of {', '.join(KINDS)}"
        )
    return KINDS[ending]


def open_events(path: Path, *, append: bool) -> EventFile:
    """Open a file by the ending of its name; the caller closes it.

    Args:
        path: of the file; a database that exists is always added to.
        append: whether a file of lines that exists is added to; else it is replaced.

    Raises:
        InvalidArgumentError: the ending is unknown, the folder is missing, or a database is none.
        ResourceExhaustedError, UnavailableError, PenstockError: as `EventFile.write`.
    """
    kind = kind_of(path.name)
    if not path.parent.is_dir():
        raise InvalidArgumentError(
            f"the file of events {str(path)!r} cannot be written: there is no folder "
            f"{str(path.parent)!r}; make it "
            "first"
        )
    if kind == "sqlite":
        return _Database(path)
    if kind == "csv":
        return _Lines(path, _csv_lines, append=append, first=_csv_row(COLUMNS))
    return _Lines(path, _json_lines, append=append)


def _json_lines(events: Sequence[ZoneEvent]) -> str:
    lines = (json.dumps(one.as_data(), separators=(",", ":"), ensure_ascii=False) for one in events)
    return "".join(f"{line}\n" for line in lines)


def _csv_lines(events: Sequence[ZoneEvent]) -> str:
    return "".join(_csv_row([one.as_data()[name] for name in COLUMNS]) for one in events)


def _csv_row(values: Sequence[Any]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerow(values)
    return text.getvalue()


class _Lines:
    """A file of lines, written without a buffer."""

    def __init__(
        self, path: Path, lines: Callable[[Sequence[ZoneEvent]], str], *, append: bool, first: str = ""
    ) -> None:
        self._path: Final = path
        self._lines: Final = lines
        try:
            self._file: Final = path.open("r+b" if append and path.exists() else "w+b", buffering=0)
        except OSError as error:
            raise _failed(path, error) from error
        try:
            self._size = self._file.seek(0, os.SEEK_END)
            if not self._size:
                self._add(first.encode())
            elif self._last() != b"\n":  # a program was killed in the middle of a line
                self._add(b"\n")
        except BaseException:
            self._file.close()
            raise

    def _last(self) -> bytes:
        self._file.seek(-1, os.SEEK_END)
        return self._file.read(1)

    def write(self, events: Sequence[ZoneEvent]) -> None:
        self._add(self._lines(events).encode())

    def _add(self, data: bytes) -> None:
        left = memoryview(data)
        try:
            while left:
                left = left[self._file.write(left) :]
        except OSError as error:
            with contextlib.suppress(OSError):  # a device has no size
                self._file.truncate(self._size)
                self._file.seek(self._size)
            raise _failed(self._path, error) from error
        self._size += len(data)

    def close(self) -> None:
        self._file.close()


class _Database:
    """A SQLite database with the table `events`; each call of `write` is a transaction."""

    def __init__(self, path: Path) -> None:
        self._path: Final = path
        self._run: Final = datetime.now(UTC).isoformat()
        marks = ", ".join("?" * (1 + len(COLUMNS)))
        names = ", ".join(COLUMNS)
        self._insert: Final = f"INSERT INTO events (run, {names}) VALUES ({marks})"  # noqa: S608  # ours
        try:
            # calls come from several threads, one after another
            self._base: Final = sqlite3.connect(
                path, timeout=_BUSY_S, isolation_level=None, check_same_thread=False
            )
        except sqlite3.Error as error:
            raise self._failure(error) from error
        try:
            self._base.execute(_TABLE)
            there = {row[1] for row in self._base.execute("PRAGMA table_info(events)")}
            if missing := [name for name in ("run", *COLUMNS) if name not in there]:
                raise InvalidArgumentError(  # noqa: TRY301  # what was opened is closed
                    f"the database {str(path)!r} has a table 'events' without the columns "
                    f"{', '.join(missing)}; name another file"
                )
        except sqlite3.Error as error:
            self._base.close()
            raise self._failure(error) from error
        except BaseException:
            self._base.close()
            raise

    def write(self, events: Sequence[ZoneEvent]) -> None:
        rows = [(self._run, *(one.as_data()[name] for name in COLUMNS)) for one in events]
        try:
            self._base.execute("BEGIN IMMEDIATE")
            try:
                self._base.executemany(self._insert, rows)
                self._base.execute("COMMIT")
            except BaseException:
                if self._base.in_transaction:
                    self._base.execute("ROLLBACK")
                raise
        except sqlite3.Error as error:
            raise self._failure(error) from error

    def close(self) -> None:
        self._base.close()

    def _failure(self, error: sqlite3.Error) -> PenstockError:
        name = getattr(error, "sqlite_errorname", "") or ""
        words = f"the event file {str(self._path)!r}, a database, cannot be written: {error}"
        if name.startswith("SQLITE_FULL"):
            return ResourceExhaustedError(f"{words}; make room on the disk for the events")
        if name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
            return UnavailableError(
                f"{words} for {_BUSY_S:g} s; end the other program's transaction in the event file"
            )
        if name.startswith("SQLITE_NOTADB"):
            return InvalidArgumentError(f"{words}; name another file for the events")
        return PenstockError(f"{words}; check folder, permissions and disk of the events")


def _failed(path: Path, error: OSError) -> PenstockError:
    words = f"the file of events {str(path)!r} cannot be written: {error.strerror}"
    if error.errno in _FULL:
        return ResourceExhaustedError(f"{words}; make room on the disk for the events")
    return PenstockError(f"{words}; check folder, permissions and disk of the events")
