# Written by scripts/stubs.py, of the table in the module.

from penstock.runtime.counters import Counters as Counters
from penstock.plan import ExecutorPlan as ExecutorPlan
from penstock.runtime.graph_runs import GraphRuns as GraphRuns
from penstock.plan import HandlerPlan as HandlerPlan
from penstock.runtime.event_loops.lazy_loop import LazyLoop as LazyLoop
from penstock.engine.methods import METHODS as METHODS
from penstock.runtime.new_run import NewRun as NewRun
from penstock.engine.node import OPENED as OPENED
from penstock.engine.stream import OutputStream as OutputStream
from penstock.plan import PortPlan as PortPlan
from penstock.engine.run_state import RUNNING as RUNNING
from penstock.runtime.runner.runner import Runner as Runner
from penstock.engine.schedule import Schedule as Schedule
from penstock.services import ServiceScope as ServiceScope
from penstock.plan import SidePortPlan as SidePortPlan
from penstock.engine.step import Step as Step
from penstock.engine.stream import StreamObserver as StreamObserver
from penstock.plan import StreamPlan as StreamPlan
from penstock.engine.run_state import TERMINATED as TERMINATED
from penstock.runtime.side_packets import as_side_packets as as_side_packets
from penstock.runtime.side_packets import checked_side_packets as checked_side_packets
from penstock.runtime.node_services import find_services as find_services
from penstock.runtime.new_run import new_run as new_run
from penstock.plan import plan_throttling as plan_throttling
from penstock.runtime.graph import runs_of as runs_of
