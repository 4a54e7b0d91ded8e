"""Log records of another process: sent with the node and the process that they come from, logged here."""

from __future__ import annotations

import logging
from contextvars import ContextVar, Token
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Callable

#: Values of a record that every process can read.
_PLAIN: Final = (str, int, float, type(None))
#: The name of the node whose call is under way, in threads and coroutines.
_NODE: Final[ContextVar[str | None]] = ContextVar("penstock_node", default=None)


class log_as_node:  # noqa: N801  # reads as a function; as a generator it would cost 1 us a call
    """Say that what this thread logs meanwhile comes from a node: `with log_as_node("seg"):`.

    Args:
        node: its name.
    """

    __slots__ = ("_node", "_token")

    def __init__(self, node: str) -> None:
        self._node: Final = node

    def __enter__(self) -> None:
        self._token: Token[str | None] = _NODE.set(self._node)

    def __exit__(self, *_: object) -> None:
        _NODE.reset(self._token)


class LogSender(logging.Handler):
    """Sends records, as plain data, to the driver.

    Args:
        send: takes one; called on the thread that logs.
        host: the name of this machine where it is not the driver's.
    """

    def __init__(self, send: Callable[[dict[str, Any]], None], host: str = "") -> None:
        super().__init__()
        self._send_record: Final = send
        self._host: Final = f"{host}, " if host else ""

    def emit(self, record: logging.LogRecord) -> None:
        """Send a record."""
        try:
            node = _NODE.get()
            data = {key: value for key, value in record.__dict__.items() if isinstance(value, _PLAIN)}
            place = f"{self._host}pid {record.process}"
            place = place if node is None else f"node {node!r}, {place}"
            data["node"] = data.get("node") or node
            data["msg"], data["args"] = f"[{place}] {record.getMessage()}", None
            data["exc_info"] = None
            if record.exc_info:
                data["exc_text"] = logging.Formatter().formatException(record.exc_info)
            self._send_record(data)
        except Exception:  # noqa: BLE001  # as each handler of the standard library does
            self.handleError(record)


def log_here(record: dict[str, Any]) -> None:
    """Log what a `LogSender` of another process has sent."""
    made = logging.makeLogRecord(record)
    logger = logging.getLogger(made.name)
    if logger.isEnabledFor(made.levelno):
        logger.handle(made)
