"""Loggers of modules that every graph imports: they import `logging` only where a handler could exist.

Where no module has imported `logging`, nobody has configured it, and every record would go to the
`NullHandler` of "penstock". Importing it takes a tenth of the time of the first small graph.
"""

from __future__ import annotations

import sys
from functools import partialmethod
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping


def place(
    node: str | None = None, stream: str | None = None, timestamp: int | None = None
) -> dict[str, object]:
    """Return what `penstock.log.place` returns."""
    return {"node": node, "stream": stream, "timestamp": None if timestamp is None else int(timestamp)}


class LateLogger:
    """Logs as the logger `get_logger(name)` would, with these of its methods.

    Args:
        name: below "penstock".
    """

    __slots__ = ("_name",)

    def __init__(self, name: str) -> None:
        self._name: Final = name

    def _say(
        self, method: str, words: str, *values: object, extra: Mapping[str, object] | None = None
    ) -> None:
        if "logging" not in sys.modules:
            return
        from penstock.log import get_logger  # what this module is for

        # one call up: the caller of `info`, since a partial method is no call of its own
        getattr(get_logger(self._name), method)(words, *values, extra=extra, stacklevel=2)

    debug = partialmethod(_say, "debug")
    info = partialmethod(_say, "info")
    warning = partialmethod(_say, "warning")
    exception = partialmethod(_say, "exception")
