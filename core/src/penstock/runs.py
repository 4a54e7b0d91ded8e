"""A run and its parts, for test kits and for nodes that work elsewhere.

Runs
    `runs_of` finds the `GraphRuns` of a graph, which starts a `Runner` for each run. `new_run` puts a run
    together, not started (`NewRun`), from a plan, `checked_side_packets` and the services of
    `find_services`; `as_side_packets` makes packets of what users give.
    `Schedule` is the state machine of a run, in one of the states `RUNNING` and `TERMINATED` among others;
    `OPENED` is a node's state. `Step` is one call of a calculator's method, by number in `METHODS`.
    `OutputStream` and `StreamObserver` are what it writes to.
Parts of a plan
    `StreamPlan`, `PortPlan`, `SidePortPlan`, `HandlerPlan` and `ExecutorPlan`; `plan_throttling` computes
    `Plan.throttled`.
Calls from elsewhere
    `Counters` adds up what nodes count, a `LazyLoop` awaits their coroutines on a thread that it starts when
    there is one. A `ServiceScope` says who shares a service.
"""
# A name is loaded when it is first used. Type checkers read the stub beside this file: scripts/stubs.py.

from typing import Final

from penstock.late_names import late_names as _late_names

#: Module → the names that it has.
_HOMES: Final = {
    "penstock.engine.methods": "METHODS",
    "penstock.engine.node": "OPENED",
    "penstock.engine.run_state": "RUNNING TERMINATED",
    "penstock.engine.schedule": "Schedule",
    "penstock.engine.step": "Step",
    "penstock.engine.stream": "StreamObserver OutputStream",
    "penstock.plan": ("ExecutorPlan HandlerPlan PortPlan SidePortPlan StreamPlan plan_throttling"),
    "penstock.runtime.counters": "Counters",
    "penstock.runtime.event_loops.lazy_loop": "LazyLoop",
    "penstock.runtime.graph": "runs_of",
    "penstock.runtime.new_run": "NewRun new_run",
    "penstock.runtime.node_services": "find_services",
    "penstock.runtime.runner.runner": "Runner",
    "penstock.runtime.side_packets": "as_side_packets checked_side_packets",
    "penstock.runtime.graph_runs": "GraphRuns",
    "penstock.services": "ServiceScope",
}

__all__, __getattr__, __dir__ = _late_names(__name__, _HOMES)
