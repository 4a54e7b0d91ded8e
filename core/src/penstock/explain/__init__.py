"""What a run says of itself: where it stands, why it does not go on, and where its packets went.

Reads the engine under the run's lock and changes nothing; calls no code of users but what `weighed`
says. Stacks of threads are looked at by `standing`, without the lock. What every wait raises with whose
time-out expires is `str()` of a `Why` that has both.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.explain.accounts import Drop, Ledger, ReaderAccount, StreamAccount, ledger
from penstock.explain.search import why
from penstock.explain.snapshots import (
    ExecutorState,
    NodeState,
    Snapshot,
    StreamState,
    StreamWait,
    snapshot,
    waits_for,
    weighed,
    with_calls,
)
from penstock.explain.standing import Call, calls_under_way, standing
from penstock.explain.waits import Link, Wait, WaitKind, Why

if TYPE_CHECKING:
    from penstock.engine.schedule import Schedule

__all__ = [
    "Call",
    "Drop",
    "ExecutorState",
    "Ledger",
    "Link",
    "NodeState",
    "ReaderAccount",
    "Snapshot",
    "StreamAccount",
    "StreamState",
    "StreamWait",
    "Wait",
    "WaitKind",
    "Why",
    "calls_under_way",
    "ledger",
    "snapshot",
    "standing",
    "story",
    "waits_for",
    "weighed",
    "why",
    "with_calls",
]


def story(schedule: Schedule) -> str:
    """Return in words why a run does not go on: for each waiting node the chain to the culprit."""
    return str(why(schedule))
