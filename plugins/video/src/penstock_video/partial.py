"""The file that grows beside the target while a video is written, and what is left of it after a failure.

A video that is being written to `out.mp4` is `out.partial.mp4` until it is complete. After a failure, or
after the process was killed, the file stays under that name, and plays up to the last part that reached it.
"""

from __future__ import annotations

import contextlib
import errno
import itertools
import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from pathlib import Path

#: What the system answers where there is no room: on the disk, in the user's quota, under a limit of sizes.
_FULL: Final = {getattr(errno, name) for name in ("ENOSPC", "EDQUOT", "EFBIG") if hasattr(errno, name)}


class PartialFile:
    """A new file for libav to write, which becomes the target when it is complete.

    libav calls `write`, `seek` and `tell`. One thread at a time uses the file. After a write that failed, all
    later ones are ignored, so that libav cannot change what the file has.

    Args:
        target: the file that this one becomes.

    Raises:
        OSError: the file cannot be made.
    """

    def __init__(self, target: Path) -> None:
        #: The failure of a write, or None.
        self.error: OSError | None = None
        for count in itertools.count(1):
            #: Where the file grows: a name beside the target that no other file has.
            self.path = target.with_name(_name(target, count))
            with contextlib.suppress(FileExistsError):
                self._file = self.path.open("xb", buffering=0)
                break
        #: The same as a str; libav chooses the container by its ending.
        self.name = str(self.path)
        #: Bytes that were written.
        self.size = self._settled = 0
        #: Bytes that the file had when its end began; 0: it has not begun.
        self._kept = 0
        #: (place, bytes) of changes to these.
        self._changes: list[tuple[int, bytes]] = []

    def write(self, data: bytes) -> int:
        """Write all of `data` at the current place, and return the number of bytes.

        Raises:
            OSError: the disk failed. Later writes are ignored.
        """
        if self.error is None:
            try:
                self._write(memoryview(data))
            except OSError as error:
                self.error = error
                raise
        return len(data)

    def seek(self, offset: int, whence: int = 0) -> int:
        """Move the current place, as `io.RawIOBase.seek` does, and return it."""
        return self._file.seek(offset, whence)

    def tell(self) -> int:
        """Return the current place."""
        return self._file.tell()

    def settle(self) -> bool:
        """Mark the end of what plays: after a failure later, the file ends here. Return whether it grew."""
        if self.error is not None or self._settled == self.size:
            return False
        self._settled = self.size
        return True

    def begin_end(self) -> None:
        """Keep changes to the bytes that the file has by now in memory, until `complete`.

        libav ends an mp4 by a table behind the frames, and then changes the beginning so that the table is
        found. On a full disk the table fails and the change does not, and no frame would be found any more.
        """
        self._kept = self._kept or self.size

    def complete(self) -> None:
        """Make the changes that were kept in memory, and close the file.

        Raises:
            OSError: the disk failed.
        """
        self._kept = 0
        for at, data in self._changes:
            self._file.seek(at)
            self.write(data)
        self.settle()
        self._file.close()

    def publish(self, target: Path) -> None:
        """Rename the complete file to the target.

        Raises:
            OSError: the file cannot be renamed. It stays where it is.
        """
        self.path.replace(target)

    def leave(self) -> None:
        """Close the file under its own name. Where it is not complete, it ends where it was settled last."""
        with contextlib.suppress(OSError):  # the disk failed before, and that error is the one to tell
            if not self._file.closed:
                self._file.truncate(self._settled)
        with contextlib.suppress(OSError):
            self._file.close()

    def delete(self) -> None:
        """Close and delete the file."""
        with contextlib.suppress(OSError):
            self._file.close()
        with contextlib.suppress(OSError):
            self.path.unlink(missing_ok=True)

    def _write(self, data: memoryview) -> None:
        at = self._file.tell()
        if at < self._kept:
            change, data = data[: self._kept - at], data[self._kept - at :]
            self._changes.append((at, bytes(change)))
            self._file.seek(at + len(change))
        while data:  # a disk that is nearly full takes a part
            data = data[self._file.write(data) :]
        self.size = max(self.size, self._file.tell())


def is_full(error: BaseException) -> bool:
    """Return whether an error says that there is no room: on the disk, in a quota, under a limit of sizes."""
    return getattr(error, "errno", None) in _FULL


def leftovers(target: Path) -> list[Path]:
    """Return the files that earlier runs for a target left, or that other runs write now, by number."""
    form = re.compile(rf"{re.escape(target.stem)}\.partial(-\d+)?{re.escape(target.suffix)}")
    found = [path for path in target.parent.iterdir() if form.fullmatch(path.name)]
    return sorted(found, key=lambda path: (len(path.name), path.name))


def _name(target: Path, count: int) -> str:
    number = "" if count == 1 else f"-{count}"
    return f"{target.stem}.partial{number}{target.suffix}"
