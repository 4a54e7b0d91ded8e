"""Logging: the standard library's, under "penstock.*", silent unless the application configures it.

The logger "penstock" has a `NullHandler` and nothing else: no level, no format. An application
that wants to see what happens says so itself::

    logging.basicConfig(level=logging.INFO)

Each record carries the place in a graph that it is about as data, in the attributes `node`, `stream`
and `timestamp` (an int, microseconds by convention), None where one does not apply. A format that
shows them needs defaults, because records of other libraries do not have them::

    logging.Formatter("%(name)s %(node)s: %(message)s", defaults={"node": None})

Nothing is logged for a packet, and nothing while a lock is held.
"""

from __future__ import annotations

import logging
from typing import Final, TypedDict

#: Name of the logger that all others of Penstock are below.
ROOT: Final = "penstock"

logging.getLogger(ROOT).addHandler(logging.NullHandler())


#: The attributes that each record has.
FIELDS: Final = ("node", "stream", "timestamp")


class Place(TypedDict):
    """The `extra` of a record about a place in a graph."""

    node: str | None
    stream: str | None
    timestamp: int | None


def _add_fields(record: logging.LogRecord) -> bool:
    """Add the fields that the writer of a record has left out, and let the record pass."""
    for field in FIELDS:
        if field not in record.__dict__:
            setattr(record, field, None)
    return True


def get_logger(name: str) -> logging.Logger:
    """Return the logger of a module or pack, below "penstock". Its records have all `FIELDS`.

    Args:
        name: "plugins" for "penstock.plugins"; a name that is below "penstock" already is kept, so
            that `get_logger(__name__)` works in the core. A pack's "penstock_image.color" becomes
            "penstock.penstock_image.color".
    """
    below = name == ROOT or name.startswith(f"{ROOT}.")
    logger = logging.getLogger(name if below else f"{ROOT}.{name}")
    logger.addFilter(_add_fields)  # once, however often it is added
    return logger


def place(node: str | None = None, stream: str | None = None, timestamp: int | None = None) -> Place:
    """Return what to pass to a log call as `extra`.

    For example `logger.warning("max_in_flight is ignored", extra=place(node="camera"))`.
    """
    return {"node": node, "stream": stream, "timestamp": None if timestamp is None else int(timestamp)}
