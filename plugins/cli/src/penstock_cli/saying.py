"""Lines on stderr while a run is shown: notes of ours and the library's log.

Written to whatever `sys.stderr` is at the moment: a live line puts itself in its place, so that what
is said stands above it.
"""

from __future__ import annotations

import logging
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

from penstock.log import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator


def say(text: str) -> None:
    """Write a line to stderr, where there is one."""
    if sys.stderr is not None:
        sys.stderr.write(f"{text}\n")
        sys.stderr.flush()


class _Saying(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        try:
            say(f"{record.levelname.lower()}: {self.format(record)}")
        except Exception:  # noqa: BLE001  # as in every handler: the standard library decides what happens
            self.handleError(record)


@contextmanager
def log_said(level: int) -> Iterator[None]:
    """Say what Penstock logs from `level` on, until the end of the block; it is silent by itself."""
    logger = logging.getLogger(ROOT)
    handler = _Saying(level)
    before = logger.level
    logger.addHandler(handler)
    logger.setLevel(level)
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.setLevel(before)
