"""What a run says of itself: where it stands, why it does not go on, and where its packets went.

`graph.snapshot()` returns a `Snapshot`, `graph.why()` a `Why`, and `graph.ledger()` a `Ledger`. Every wait
that expires raises an error with the text of `why()`. A calculator that uses the service `GRAPH` gets
a `GraphView` of the graph that it runs in.
"""
# The functions read the engine under the run's lock and change nothing. They call no code of users, except
# where `weighed_snapshot` says so. Names are loaded when they are first used: every graph imports this
# package.

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from penstock.late_names import late_names

if TYPE_CHECKING:
    from penstock.explain.packet_ledger import Drop as Drop, Ledger as Ledger, LedgerCut as LedgerCut
    from penstock.explain.packet_ledger import ReaderAccount as ReaderAccount, StreamAccount as StreamAccount
    from penstock.explain.packet_ledger import ledger as ledger
    from penstock.explain.graph_view import GRAPH as GRAPH, GraphView as GraphView
    from penstock.explain.why_search import Why as Why, story as story, why as why
    from penstock.explain.snapshots import ExecutorState as ExecutorState, NodeState as NodeState
    from penstock.explain.snapshots import Snapshot as Snapshot, StreamState as StreamState
    from penstock.explain.snapshots import snapshot as snapshot
    from penstock.explain.snapshots import weighed_snapshot as weighed_snapshot
    from penstock.explain.snapshots import snapshot_with_calls as snapshot_with_calls
    from penstock.explain.calls import Call as Call, calls_under_way as calls_under_way
    from penstock.explain.calls import standing_calls as standing_calls
    from penstock.explain.waits import StreamWait as StreamWait, Wait as Wait, WaitKind as WaitKind
    from penstock.explain.waits import WaitLink as WaitLink

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


if not TYPE_CHECKING:  # type checkers know the imports above, and refuse every other name
    __all__, __getattr__, __dir__ = late_names(__name__, _HOMES)
