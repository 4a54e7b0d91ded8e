"""Which files a run has written, seen from outside: those that its side packets name."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


class NamedFiles:
    """Files that exist or may come to exist under what side packets say.

    Args:
        payloads: of side packets, before the run. Whatever is no str or Path is left alone.
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
    """Return size, time of the last change and number of a file, or None where there is none."""
    try:
        found = path.stat()
        return (found.st_size, found.st_mtime_ns, found.st_ino) if path.is_file() else None
    except (OSError, ValueError):  # a str that is no path
        return None
