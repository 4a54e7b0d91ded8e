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
    from penstock.explain.accounts import Cut as Cut
    from penstock.explain.accounts import Drop as Drop
    from penstock.explain.accounts import Ledger as Ledger
    from penstock.explain.accounts import ReaderAccount as ReaderAccount
    from penstock.explain.accounts import StreamAccount as StreamAccount
    from penstock.explain.accounts import cuts as cuts
    from penstock.explain.accounts import ledger as ledger
    from penstock.explain.graph_view import GRAPH as GRAPH
    from penstock.explain.graph_view import GraphView as GraphView
    from penstock.explain.search import story as story
    from penstock.explain.search import why as why
    from penstock.explain.snapshots import ExecutorState as ExecutorState
    from penstock.explain.snapshots import NodeState as NodeState
    from penstock.explain.snapshots import Snapshot as Snapshot
    from penstock.explain.snapshots import StreamState as StreamState
    from penstock.explain.snapshots import StreamWait as StreamWait
    from penstock.explain.snapshots import snapshot as snapshot
    from penstock.explain.snapshots import waits_for as waits_for
    from penstock.explain.snapshots import weighed as weighed
    from penstock.explain.snapshots import with_calls as with_calls
    from penstock.explain.stacks import Call as Call
    from penstock.explain.stacks import calls_under_way as calls_under_way
    from penstock.explain.stacks import standing as standing
    from penstock.explain.waits import Link as Link
    from penstock.explain.waits import Wait as Wait
    from penstock.explain.waits import WaitKind as WaitKind
    from penstock.explain.waits import Why as Why

#: Module → the names that it has.
_HOMES: Final = {
    "penstock.explain.accounts": "Cut Drop Ledger ReaderAccount StreamAccount cuts ledger",
    "penstock.explain.graph_view": "GRAPH GraphView",
    "penstock.explain.search": "story why",
    "penstock.explain.snapshots": (
        "ExecutorState NodeState Snapshot StreamState StreamWait snapshot waits_for weighed with_calls"
    ),
    "penstock.explain.stacks": "Call calls_under_way standing",
    "penstock.explain.waits": "Link Wait WaitKind Why",
}


if not TYPE_CHECKING:  # type checkers know the imports above, and refuse every other name
    __all__, __getattr__, __dir__ = late_names(__name__, _HOMES)
