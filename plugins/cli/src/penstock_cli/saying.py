"""Prints lines to stderr during a run: the command's own notes and the library's log.

The functions look up `sys.stderr` at each call, because a live line replaces it to print text above
itself.
"""

from __future__ import annotations

import logging
import sys
from contextlib import contextmanager
from datetime import datetime
from typing import TYPE_CHECKING

from penstock.error_text import printable
from penstock.log import FIELDS, ROOT
from penstock_cli.machine.environment import in_this_environment

if TYPE_CHECKING:
    from collections.abc import Iterator


def say(text: str) -> None:
    """Write a line to stderr, if the process has one."""
    if sys.stderr is not None:
        sys.stderr.write(f"{printable(in_this_environment(text))}\n")
        sys.stderr.flush()


class _Saying(logging.Handler):
    def __init__(self, level: int, *, in_full: bool) -> None:
        super().__init__(level)
        self._in_full = in_full

    def emit(self, record: logging.LogRecord) -> None:
        try:
            words = self.format(record)
            level = record.levelname.lower()
            if self._in_full:
                when = datetime.fromtimestamp(record.created).isoformat(" ", "milliseconds")  # noqa: DTZ006  # local
                say(f"{when} {level}: {record.name}: {words}{_place(record)}")
            else:
                say(f"{level}: {words}")
        except Exception:  # noqa: BLE001  # as in every handler: the standard library decides what happens
            self.handleError(record)


def _place(record: logging.LogRecord) -> str:
    """Return the place that a record concerns: " (node 'gate', stream 'video', at 40)", or ""."""
    fields = [(name, getattr(record, name, None)) for name in FIELDS]
    said = [
        f"at {value}" if name == "timestamp" else f"{name} {value!r}"
        for name, value in fields
        if value is not None
    ]
    return f" ({', '.join(said)})" if said else ""


@contextmanager
def log_said(level: int, *, in_full: bool = False) -> Iterator[None]:
    """Print Penstock's log from `level` on to stderr, until the end of the block.

    Args:
        level: one of `logging`'s.
        in_full: print the local time, the logger's name and the fields of the record too, else only the
            message.
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
