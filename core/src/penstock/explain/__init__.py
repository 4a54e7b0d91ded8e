"""What a run says of itself: where it stands, why it does not go on, and where its packets went.

These functions read the engine under the run's lock and change nothing. They call no code of users,
except where `weighed` says so. `standing` looks at the stacks of threads, without the lock. Every wait
that expires raises an error whose text is `str()` of a `Why` that has both.

A name is loaded when it is first used: every graph imports this package, for `GRAPH`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from penstock.explain.accounts import Drop, Ledger, ReaderAccount, StreamAccount, ledger
    from penstock.explain.graph_view import GRAPH, GraphView
    from penstock.explain.search import story, why
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
    from penstock.explain.stacks import Call, calls_under_way, standing
    from penstock.explain.waits import Link, Wait, WaitKind, Why

_HOME: Final = {
    "GRAPH": "graph_view",
    "Call": "stacks",
    "Drop": "accounts",
    "ExecutorState": "snapshots",
    "GraphView": "graph_view",
    "Ledger": "accounts",
    "Link": "waits",
    "NodeState": "snapshots",
    "ReaderAccount": "accounts",
    "Snapshot": "snapshots",
    "StreamAccount": "accounts",
    "StreamState": "snapshots",
    "StreamWait": "snapshots",
    "Wait": "waits",
    "WaitKind": "waits",
    "Why": "waits",
    "calls_under_way": "stacks",
    "ledger": "accounts",
    "snapshot": "snapshots",
    "standing": "stacks",
    "story": "search",
    "waits_for": "snapshots",
    "weighed": "snapshots",
    "why": "search",
    "with_calls": "snapshots",
}

__all__ = [
    "GRAPH",
    "Call",
    "Drop",
    "ExecutorState",
    "GraphView",
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


def __getattr__(name: str) -> object:
    home = _HOME.get(name)
    if home is None:
        raise AttributeError(f"module 'penstock.explain' has no attribute {name!r}")
    value = getattr(import_module(f"penstock.explain.{home}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOME})
