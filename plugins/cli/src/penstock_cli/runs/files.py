"""Finds the files that a run has written, among those that its side packets name."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


class NamedFiles:
    """Files whose paths are given in side packets, whether they exist yet or not.

    Args:
        payloads: of side packets, before the run. A payload that is not a str or Path is ignored.
    """

    def __init__(self, payloads: Iterable[object]) -> None:
        paths = [Path(payload) for payload in payloads if isinstance(payload, (str, Path)) and payload]
        self._before = {path: _look(path) for path in paths}

    def written(self) -> list[tuple[Path, int]]:
        """Return the files that are new or have changed since, each with its size in bytes."""
        now = {path: _look(path) for path in self._before}
        return [
            (path, look[0]) for path, look in now.items() if look is not None and look != self._before[path]
        ]


def _look(path: Path) -> tuple[int, int, int] | None:
    """Return size, time of the last change and inode of a file, or None if there is no such file."""
    try:
        found = path.stat()
        return (found.st_size, found.st_mtime_ns, found.st_ino) if path.is_file() else None
    except (OSError, ValueError):  # a str that is not a path
        return None
