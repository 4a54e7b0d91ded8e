"""What a run says of itself: where it stands, why it does not go on, and where its packets went.

`graph.snapshot()` returns a `Snapshot`, `graph.why()` a `Why`, and `graph.ledger()` a `Ledger`. Every wait
that expires raises an error with the text of `why()`. A calculator that uses the service `GRAPH` gets
a `GraphView` of the graph that it runs in.
"""
# The functions read the engine under the run's lock and change nothing. They call no code of users, except
# where `weighed_snapshot` says so. Names are loaded when they are first used: every graph imports this
# package.

from __future__ import annotations

from typing import Final

from penstock.late_names import late_names

#: Module → the names that it has.
_HOMES: Final = {
    "penstock.explain.packet_ledger": "Drop Ledger LedgerCut ReaderAccount StreamAccount ledger",
    "penstock.explain.graph_view": "GRAPH GraphView",
    "penstock.explain.why_search": "Why story why",
    "penstock.explain.snapshots": (
        "ExecutorState NodeState Snapshot StreamState snapshot snapshot_with_calls weighed_snapshot"
    ),
    "penstock.explain.calls": "Call calls_under_way standing_calls",
    "penstock.explain.waits": "StreamWait Wait WaitKind WaitLink",
}

__all__, __getattr__, __dir__ = late_names(__name__, _HOMES)
