"""What a run says of itself: where it stands, why it does not go on, and where its packets went.

Reads the engine under the run's lock and changes nothing; calls no code of users but what `weighed`
says. `story` is what every wait raises with whose time-out expires.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.explain.accounts import Drop, Ledger, ReaderAccount, StreamAccount, ledger
from penstock.explain.search import why
from penstock.explain.snapshots import (
    NodeState,
    Snapshot,
    StreamState,
    snapshot,
    waits_for,
    weighed,
)
from penstock.explain.waits import Link, Wait, WaitKind, Why

if TYPE_CHECKING:
    from penstock.engine.schedule import Schedule

__all__ = [
    "Drop",
    "Ledger",
    "Link",
    "NodeState",
    "ReaderAccount",
    "Snapshot",
    "StreamAccount",
    "StreamState",
    "Wait",
    "WaitKind",
    "Why",
    "ledger",
    "snapshot",
    "story",
    "waits_for",
    "weighed",
    "why",
]


def story(schedule: Schedule) -> str:
    """Return in words why a run does not go on: for each waiting node the chain to the culprit."""
    return str(why(schedule))
