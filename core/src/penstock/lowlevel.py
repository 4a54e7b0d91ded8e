"""The public names for those who write input stream handlers, executors and layers.

Calculators and applications need none of them: their names are in `penstock`. Packs of tools find more in
`penstock.types`, `penstock.readers`, `penstock.runs` and `penstock.packs`.

Ports
    `Ports` finds a port by "TAG", number or ("TAG", number), which together are a `PortKey`; `PortSpecs` and
    `PortSpec` are what a contract holds. `TagMap` reads the ports of a node (`"TAG:0:name"`) into `Port`s,
    `parse_tag_index` and `parse_tag_index_name` read one; `is_name` checks a name. `port_id` and `port_name`
    turn a key into tag and number, and into the words of errors.
Streams and packets
    What an input stream handler works on: `InputStream`, its `Node`, and `NOTHING`, the value of an empty
    packet. `Stop` is the type of `penstock.STOP`, `Outcome` of all that a calculator's methods may return.
Timestamps as plain ints
    Policies and tools see plain ints, not `Timestamp`s. `UNSET`, `UNSTARTED`, `PRESTREAM`, `MIN`, `MAX`,
    `POSTSTREAM`, `ONE_OVER_POSTSTREAM` and `DONE` are the special values, from the smallest to the largest.
    `next_allowed`, `shifted` and `show` calculate with them and write them.
Calls, for executors
    `OPEN`, `PROCESS` and `CLOSE` are the methods. A `Plan` is a checked graph, a `NodePlan` one of its nodes.
Layers around a node's calculator
    A `Layer` stands between the steps of a node and its calculator; together they are its `Invoker`. Layers
    have one order, see `penstock.engine.invoker`: `STEER` is one of its levels. A layer may answer for the
    `NodeOptions` that the node's calls see. A `Guard` is the layer that decides about failed calls, with the
    verdicts `FAIL`, `SKIP` and `AGAIN`. Where a layer calls another method within a step, `show_method` lets
    the step show that method; a `ShownCall` is what the step showed before. A `StandIn` stands innermost for
    a calculator that an executor has placed elsewhere.
Layers between a graph and its nodes
    `FailureLayer` makes a `FailurePlan` of the field `failure` of a node (`GuardedNode`). The plan makes a
    guard for each run, and `Placing` makes calculators for the guard. `SteeringLayer` changes nodes of a
    graph that lives, by a `Steering` that it gives to the graph's `penstock.runs.Starter`. A pack registers
    each layer as a component of the kind "layer".
Services and names
    `CLOCK` is the key of a graph's clock. `Resources` reads files below given directories only.
    `default_registry` has what the installed plugins bring. `late_names` makes the names of a package load
    when they are first used.
Words of errors
    `printable` escapes control characters; `shown` writes a payload in a few characters; `quoted` and
    `clipped` write a value of a graph file, of which an error must not repeat megabytes. `near_names` finds
    the names that a misspelt one may mean, `did_you_mean` writes them.
"""
# A name is loaded when it is first used. Type checkers read the stub beside this file: scripts/stubs.py.

from typing import Final

from penstock.late_names import late_names as _late_names

#: Module → the names that it has.
_HOMES: Final = {
    "penstock.check.failures": "FailureLayer GuardedNode",
    "penstock.contract": "PortSpec PortSpecs",
    "penstock.engine.calculator": "CLOSE OPEN Outcome PROCESS Stop",
    "penstock.engine.guard": "AGAIN FAIL Guard SKIP",
    "penstock.engine.invoker": "Invoker Layer NodeOptions STEER",
    "penstock.engine.node": "Node",
    "penstock.engine.packet": "NOTHING",
    "penstock.engine.shown_call": "ShownCall show_method",
    "penstock.engine.stand_in": "StandIn",
    "penstock.engine.stream": "InputStream",
    "penstock.late_names": "late_names",
    "penstock.near_names": "did_you_mean near_names",
    "penstock.plan": "FailurePlan NodePlan Placing Plan",
    "penstock.plugins.default_registry": "default_registry",
    "penstock.port_collection": "PortKey Ports port_id port_name",
    "penstock.resources": "Resources",
    "penstock.runtime.steering": "Steering",
    "penstock.runtime.steering_layer": "SteeringLayer",
    "penstock.services": "CLOCK",
    "penstock.shown": "clipped printable quoted shown",
    "penstock.tags": "Port TagMap is_name parse_tag_index parse_tag_index_name",
    "penstock.timestamp": (
        "DONE MAX MIN ONE_OVER_POSTSTREAM POSTSTREAM PRESTREAM UNSET UNSTARTED next_allowed shifted show"
    ),
}

__all__, __getattr__, __dir__ = _late_names(__name__, _HOMES)
