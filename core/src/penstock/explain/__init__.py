"""What a run says of itself: where it stands, why it does not go on, and where its packets went.

`graph.snapshot()` returns a `Snapshot`, `graph.why()` a `Why`, and `graph.ledger()` a `Ledger`. Every wait
that expires raises an error with the text of `why()`. A calculator that uses the service `GRAPH` gets
a `GraphView` of the graph that it runs in.
"""
# The functions read the engine under the run's lock and change nothing. They call no code of users, except
# where `weighed` says so. Names are loaded when they are first used: every graph imports this package.

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from penstock.late_names import late_names

if TYPE_CHECKING:
    from penstock.explain.accounts import Cut as Cut, Drop as Drop, Ledger as Ledger
    from penstock.explain.accounts import ReaderAccount as ReaderAccount, StreamAccount as StreamAccount
    from penstock.explain.accounts import cuts as cuts, ledger as ledger
    from penstock.explain.graph_view import GRAPH as GRAPH, GraphView as GraphView
    from penstock.explain.search import story as story, why as why
    from penstock.explain.snapshots import ExecutorState as ExecutorState, NodeState as NodeState
    from penstock.explain.snapshots import Snapshot as Snapshot, StreamState as StreamState
    from penstock.explain.snapshots import StreamWait as StreamWait, snapshot as snapshot
    from penstock.explain.snapshots import weighed as weighed
    from penstock.explain.snapshots import with_calls as with_calls
    from penstock.explain.stacks import Call as Call, calls_under_way as calls_under_way, standing as standing
    from penstock.explain.waits import Link as Link, Wait as Wait, WaitKind as WaitKind, Why as Why

#: Module → the names that it has.
_HOMES: Final = {
    "penstock.explain.accounts": "Cut Drop Ledger ReaderAccount StreamAccount cuts ledger",
    "penstock.explain.graph_view": "GRAPH GraphView",
    "penstock.explain.search": "story why",
    "penstock.explain.snapshots": (
        "ExecutorState NodeState Snapshot StreamState StreamWait snapshot weighed with_calls"
    ),
    "penstock.explain.stacks": "Call calls_under_way standing",
    "penstock.explain.waits": "Link Wait WaitKind Why",
}


if not TYPE_CHECKING:  # type checkers know the imports above, and refuse every other name
    __all__, __getattr__, __dir__ = late_names(__name__, _HOMES)
