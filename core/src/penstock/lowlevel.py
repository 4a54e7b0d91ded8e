"""The public names for those who write input stream handlers, executors and layers.

Calculators and applications need none of them: their names are in `penstock`. The ports of a node are in
`penstock.ports`, what writes errors in `penstock.error_text`. Packs of tools find more in `penstock.types`,
`penstock.readers`, `penstock.runs` and `penstock.packs`.

Streams and packets
    What an input stream handler works on: `InputStream`, its `Node`, and `NO_PAYLOAD`, the value of an empty
    packet. `Stop` is the type of `penstock.STOP`, `Outcome` of all that a calculator's methods may return.
Timestamps as plain ints
    Policies and tools see plain ints, not `Timestamp`s. `UNSET`, `UNSTARTED`, `PRESTREAM`, `MIN`, `MAX`,
    `POSTSTREAM`, `ONE_OVER_POSTSTREAM` and `DONE` are the special values, from the smallest to the largest.
    `next_allowed`, `shifted` and `show` calculate with them and write them.
Calls, for executors
    `OPEN`, `PROCESS` and `CLOSE` are the methods. A `Plan` is a checked graph, a `NodePlan` one of its nodes.
    `interrupt_in` finds a Ctrl-C behind the error that starting a thread has raised.
Layers around a node's calculator
    A `Layer` stands between the steps of a node and its calculator; together they are its `Invoker`. Layers
    have one order, that of `LayerLevel`. A layer may answer for the options that the node's calls see, with
    `LayerOptions`. A `Guard` is the layer that decides about failed calls, with the
    verdicts `FAIL`, `SKIP` and `AGAIN`. Where a layer calls another method within a step, `show_method` lets
    the step show that method; a `ShownCall` is what the step showed before. A `StandIn` stands innermost for
    a calculator that an executor has placed elsewhere.
Layers between a graph and its nodes
    `FailureLayer` makes a `FailurePlan` of the field `failure` of a node (`FailureLayerNode`). The plan makes
    a guard for each run, and `Placing` makes calculators for the guard. `SteeringLayer` changes nodes of a
    graph that lives, by a `Steering` that it gives to its `penstock.runs.GraphRuns`. A pack registers
    each layer as a component of the kind "layer".
Services
    `CLOCK` is the key of a graph's clock. `Resources` reads files below given directories only.
"""
# A name is loaded when it is first used. Type checkers read the stub beside this file: scripts/stubs.py.

from typing import Final

from penstock.late_names import late_names as _late_names

#: Module → the names that it has.
_HOMES: Final = {
    "penstock.check.failure_layer": "FailureLayer FailureLayerNode",
    "penstock.engine.guard": "AGAIN FAIL Guard SKIP",
    "penstock.engine.invoker": "Invoker",
    "penstock.engine.layer": "Layer LayerLevel LayerOptions",
    "penstock.engine.methods": "CLOSE OPEN PROCESS",
    "penstock.engine.node": "Node",
    "penstock.engine.outcome": "Outcome Stop",
    "penstock.engine.packet": "NO_PAYLOAD",
    "penstock.engine.shown_call": "ShownCall show_method",
    "penstock.engine.stand_in": "StandIn",
    "penstock.engine.stream": "InputStream",
    "penstock.plan": "FailurePlan NodePlan Placing Plan",
    "penstock.resources": "Resources",
    "penstock.runtime.steering": "Steering",
    "penstock.runtime.steering_layer": "SteeringLayer",
    "penstock.runtime.threads": "interrupt_in",
    "penstock.services": "CLOCK",
    "penstock.timestamp": (
        "DONE MAX MIN ONE_OVER_POSTSTREAM POSTSTREAM PRESTREAM UNSET UNSTARTED next_allowed shifted show"
    ),
}

__all__, __getattr__, __dir__ = _late_names(__name__, _HOMES)
