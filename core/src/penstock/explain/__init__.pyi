# Written by scripts/stubs.py, of the table in the module.

from penstock.explain.calls import Call as Call
from penstock.explain.packet_ledger import Drop as Drop
from penstock.explain.snapshots import ExecutorState as ExecutorState
from penstock.explain.graph_view import GRAPH as GRAPH
from penstock.explain.graph_view import GraphView as GraphView
from penstock.explain.packet_ledger import Ledger as Ledger
from penstock.explain.packet_ledger import LedgerCut as LedgerCut
from penstock.explain.snapshots import NodeState as NodeState
from penstock.explain.packet_ledger import ReaderAccount as ReaderAccount
from penstock.explain.snapshots import Snapshot as Snapshot
from penstock.explain.packet_ledger import StreamAccount as StreamAccount
from penstock.explain.snapshots import StreamState as StreamState
from penstock.explain.waits import StreamWait as StreamWait
from penstock.explain.waits import Wait as Wait
from penstock.explain.waits import WaitKind as WaitKind
from penstock.explain.waits import WaitLink as WaitLink
from penstock.explain.why_search import Why as Why
from penstock.explain.calls import calls_under_way as calls_under_way
from penstock.explain.packet_ledger import ledger as ledger
from penstock.explain.snapshots import snapshot as snapshot
from penstock.explain.snapshots import snapshot_with_calls as snapshot_with_calls
from penstock.explain.calls import standing_calls as standing_calls
from penstock.explain.why_search import story as story
from penstock.explain.snapshots import weighed_snapshot as weighed_snapshot
from penstock.explain.why_search import why as why
