"""`LogLines`: the newest log records about the nodes of a graph."""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from typing import TYPE_CHECKING, Final

import attrs

from penstock.access import redacted
from penstock.log import ROOT, get_logger

if TYPE_CHECKING:
    from collections.abc import Collection

#: Lines of one node that are kept, and characters of one.
_KEPT: Final = 50
_LONGEST: Final = 1000


@attrs.frozen
class LogLine:
    """A log record."""

    #: Seconds since the epoch.
    at_s: float
    #: As "WARNING".
    level: str
    #: Addresses in it have no passwords.
    words: str

    @property
    def is_warning(self) -> bool:
        """Whether it is one, or worse."""
        return self.level in {"WARNING", "ERROR", "CRITICAL"}


class LogLines(logging.Handler):
    """Keeps the newest records of Penstock's loggers that name a node of the graph, until it is closed.

    It changes no level: what the application has not let through (INFO, unless it says so) is not here. Two
    graphs of one process whose nodes have the same names share the lines of these.

    Args:
        nodes: names of the graph's nodes.
    """

    def __init__(self, nodes: Collection[str]) -> None:
        super().__init__()
        self._guard: Final = threading.Lock()
        self._lines: Final = {node: deque[LogLine](maxlen=_KEPT) for node in nodes}
        get_logger(ROOT).addHandler(self)

    def emit(self, record: logging.LogRecord) -> None:
        """Keep a record."""
        lines = self._lines.get(getattr(record, "node", None) or "")
        if lines is None:
            return
        try:
            words = redacted(record.getMessage())[:_LONGEST]
        except Exception:  # noqa: BLE001  # foreign arguments may raise anything; `handleError` reports it
            self.handleError(record)
            return
        with self._guard:
            lines.append(LogLine(record.created, record.levelname, words))

    def of(self, node: str) -> list[LogLine]:
        """Return the lines of a node, the oldest first; none for a node that there is not."""
        with self._guard:
            return list(self._lines.get(node, ()))

    def newest_warning(self, node: str, within_s: float) -> str:
        """Return the words of a node's newest warning or error of the last seconds; "" for none."""
        oldest_s = time.time() - within_s
        for line in reversed(self.of(node)):
            if line.at_s < oldest_s:
                break
            if line.is_warning:
                return line.words
        return ""

    def close(self) -> None:
        """Take no more records. May be called again."""
        get_logger(ROOT).removeHandler(self)
        super().close()
