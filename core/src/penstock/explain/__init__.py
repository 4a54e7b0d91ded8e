"""What a run says of itself: where it stands, why it does not go on, and where its packets went.

`graph.snapshot()` returns a `Snapshot`, `graph.why()` a `Why`, and `graph.ledger()` a `Ledger`. Every wait
that expires raises an error whose text is that of `why()`. A calculator that uses the service `GRAPH` gets
a `GraphView` of the graph that it runs in.
"""
# The functions read the engine under the run's lock and change nothing. They call no code of users, except
# where `weighed` says so. Names are loaded when they are first used: every graph imports this package.

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from penstock.late_names import late_names

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

#: Module → the names that it has.
_HOMES: Final = {
    "penstock.explain.accounts": "Drop Ledger ReaderAccount StreamAccount ledger",
    "penstock.explain.graph_view": "GRAPH GraphView",
    "penstock.explain.search": "story why",
    "penstock.explain.snapshots": (
        "ExecutorState NodeState Snapshot StreamState StreamWait snapshot waits_for weighed with_calls"
    ),
    "penstock.explain.stacks": "Call calls_under_way standing",
    "penstock.explain.waits": "Link Wait WaitKind Why",
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

__getattr__, __dir__ = late_names(__name__, _HOMES)
