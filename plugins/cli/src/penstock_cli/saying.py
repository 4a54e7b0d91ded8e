"""Lines on stderr while a run is shown: notes of ours and the library's log.

Written to whatever `sys.stderr` is at the moment: a live line puts itself in its place, so that what
is said stands above it.
"""

from __future__ import annotations

import logging
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

from penstock.log import FIELDS, ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator


def say(text: str) -> None:
    """Write a line to stderr, where there is one."""
    if sys.stderr is not None:
        sys.stderr.write(f"{text}\n")
        sys.stderr.flush()


class _Saying(logging.Handler):
    def __init__(self, level: int, *, in_full: bool) -> None:
        super().__init__(level)
        self._in_full = in_full

    def emit(self, record: logging.LogRecord) -> None:
        try:
            words = self.format(record)
            if self._in_full:
                words = f"{record.name}: {words}{_place(record)}"
            say(f"{record.levelname.lower()}: {words}")
        except Exception:  # noqa: BLE001  # as in every handler: the standard library decides what happens
            self.handleError(record)


def _place(record: logging.LogRecord) -> str:
    """Return what a record is about: " (node 'gate', stream 'video', at 40)", or ""."""
    fields = [(name, getattr(record, name, None)) for name in FIELDS]
    said = [
        f"at {value}" if name == "timestamp" else f"{name} {value!r}"
        for name, value in fields
        if value is not None
    ]
    return f" ({', '.join(said)})" if said else ""


@contextmanager
def log_said(level: int, *, in_full: bool = False) -> Iterator[None]:
    """Say what Penstock logs from `level` on, until the end of the block; it is silent by itself.

    Args:
        level: one of `logging`'s.
        in_full: with the logger's name and the fields of the record, else the message alone.
    """
    logger = logging.getLogger(ROOT)
    handler = _Saying(level, in_full=in_full)
    before = logger.level
    logger.addHandler(handler)
    logger.setLevel(level)
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.setLevel(before)
