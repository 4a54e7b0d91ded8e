"""The public names for those who write input stream handlers, executors, packs of tools, or tests of them.

Calculators and applications need none of them: their names are in `penstock`. A pack imports `penstock`,
`penstock.errors`, `.config`, `.explain`, `.limits`, `.log`, `.tracing` and this module of the core only.

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
Types of payloads
    `PayloadType` is what a port may declare. `is_type`, `is_any`, `members`, `agree`, `runtime_classes`,
    `type_name` and `type_names` answer questions about it. `hints_of` evaluates annotations, `HintParts`
    takes one apart. `shown` writes a payload in a few characters; `quoted` and `clipped` write a value of a
    graph file, of which an error must not repeat megabytes.
Services
    `CLOCK` is the key of a graph's clock. `Resources` reads files below given directories only.
Names and plugins
    `default_registry` has what the installed plugins bring, `plugin_host` holds these plugins as a
    `PluginHost`; it describes each as `Discovered`. `plugins_renewed` reads them again, for a test. `KINDS`
    are the kinds of names, `check_name` checks one, `official_packs` lists those of the official packs;
    `OptionEntry` is one declared options message, `spelling` the module and name of an object,
    `calculator_of` the class behind what a registry holds. `engine_form` says whether the engine is compiled.
    `late_names` makes the names of a package load when they are first used.
    `near_names` finds the names that a misspelt one may mean, `did_you_mean` writes them for an error.
Options
    `Options` finds the options of a node by their class; `OptionTypes` finds classes by their names, and
    `unpacked` takes a message out of an Any.
    `is_options_class`, `options_classes`, `full_name`, `fields_of` (`ClassField`), `classes_inside` and
    `enum_numbers` describe attrs classes, `can_be_option` checks the type of a field. `message_class`,
    `extension_class` and `inner_classes` derive protobuf messages from them. `has_no_default`, `default_of`
    and `converted` say what the class makes of a field.
Graphs
    `numbered_nodes` gives nodes their canonical names, `where` writes a place in a graph file. `expand` puts
    the subgraphs of a graph in, `prefix_of` is what the names of their nodes begin with. A `Plan` is a
    checked graph; it consists of `NodePlan`, `StreamPlan`, `PortPlan`, `SidePortPlan`, `HandlerPlan` and
    `ExecutorPlan`, and `sources_above` computes `Plan.throttled`.
Readers of graphs in other forms
    A `GraphReader` makes a `Definition` of text or of a `Message`, with `ReaderFindType` and `ReaderMerge` at
    hand, and raises `DefinitionTextError`. A `ReadGraph` is a graph with its `Places`, which have a `Spot`
    for each part of the file. `Faults` takes what is wrong, `definition_as_graph` makes a graph of a
    definition without arguments. `tokens_of` reads text into `Token`s, `end_of_field` finds where a field of
    it ends, `own_name` writes the name of one of our messages. A `JsonReader` fills in a graph, with
    `ReaderLoad` at hand. A `FieldPath` leads to a part of one, `spelled` writes it; `snake_case` writes the
    name of a field. `with_near_fields` words what protobuf says of a field that does not exist,
    `right_options` what to write instead of an option outside of its message.
Calls from elsewhere, for nodes that work in other processes
    `OPEN`, `PROCESS` and `CLOSE` are the methods; `Counters` adds up what nodes count, a `LazyLoop` awaits
    their coroutines on a thread that it starts when there is one. A `ServiceScope` says who shares a service.
    `OPENED` is a node's state.
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
    graph that lives: it gives a `Steering` to the graph's `Starter`, which `starter_of` finds, and which
    starts a `Runner` for each run. A pack registers each layer as a component of the kind "layer".
Runs, for test kits
    `new_run` puts a run together, not started (`NewRun`); `as_side_packets` makes packets of what users give.
    `Schedule` is the state machine of a run, in one of the states `RUNNING` and `TERMINATED` among others;
    `Step` is one call of a calculator's method, by number in `METHODS` (`PROCESS`); a `TracedStep` of an
    observer has the method `OBSERVE`. `OutputStream` and `Observer` are what it writes to.
"""
# A name is loaded when it is first used.

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from penstock.late_names import late_names as late_names

if TYPE_CHECKING:
    from penstock.check.faults import Faults as Faults
    from penstock.check.nodes import numbered_nodes as numbered_nodes
    from penstock.check.failures import FailureLayer as FailureLayer, GuardedNode as GuardedNode
    from penstock.config.graph_reader import Definition as Definition
    from penstock.config.graph_reader import DefinitionTextError as DefinitionTextError
    from penstock.config.graph_reader import GraphReader as GraphReader, JsonReader as JsonReader
    from penstock.config.graph_reader import ReaderFindType as ReaderFindType, ReaderLoad as ReaderLoad
    from penstock.config.graph_reader import ReaderMerge as ReaderMerge
    from penstock.config.graph_reader import definition_as_graph as definition_as_graph
    from penstock.config.message import Message as Message
    from penstock.config.options.message_class import extension_class as extension_class
    from penstock.config.options.message_class import inner_classes as inner_classes
    from penstock.config.options.message_class import message_class as message_class
    from penstock.config.options.message_values import converted as converted, default_of as default_of
    from penstock.config.options.messages import spelled as spelled, unpacked as unpacked
    from penstock.config.options.options import Options as Options
    from penstock.config.options.types import OptionTypes as OptionTypes
    from penstock.config.places import FieldPath as FieldPath, Places as Places, ReadGraph as ReadGraph
    from penstock.config.places import Spot as Spot, where as where
    from penstock.config.reading.right_options import right_options as right_options
    from penstock.config.reading.scan import Token as Token, end_of_field as end_of_field
    from penstock.config.reading.scan import own_name as own_name, snake_case as snake_case
    from penstock.config.reading.scan import tokens_of as tokens_of
    from penstock.config.reading.words import with_near_fields as with_near_fields
    from penstock.config.subgraphs.expand import expand as expand
    from penstock.config.subgraphs.interface import prefix_of as prefix_of
    from penstock.contract import PortSpec as PortSpec, PortSpecs as PortSpecs
    from penstock.engine.calculator import CLOSE as CLOSE, METHODS as METHODS, OPEN as OPEN
    from penstock.engine.calculator import PROCESS as PROCESS, Outcome as Outcome, Stop as Stop
    from penstock.engine.guard import AGAIN as AGAIN, FAIL as FAIL, SKIP as SKIP, Guard as Guard
    from penstock.engine.invoker import STEER as STEER, Invoker as Invoker, Layer as Layer
    from penstock.engine.invoker import NodeOptions as NodeOptions
    from penstock.engine.node import OPENED as OPENED, Node as Node, Step as Step
    from penstock.engine.packet import NOTHING as NOTHING
    from penstock.engine.stand_in import StandIn as StandIn
    from penstock.engine.shown_call import ShownCall as ShownCall, show_method as show_method
    from penstock.engine.schedule import RUNNING as RUNNING, TERMINATED as TERMINATED, Schedule as Schedule
    from penstock.engine.stream import InputStream as InputStream, Observer as Observer
    from penstock.engine.stream import OutputStream as OutputStream
    from penstock.engine_form import engine_form as engine_form
    from penstock.near_names import did_you_mean as did_you_mean, near_names as near_names
    from penstock.option_class import ClassField as ClassField, can_be_option as can_be_option
    from penstock.option_class import classes_inside as classes_inside, enum_numbers as enum_numbers
    from penstock.option_class import fields_of as fields_of, full_name as full_name
    from penstock.option_class import has_no_default as has_no_default, is_options_class as is_options_class
    from penstock.option_class import options_classes as options_classes
    from penstock.payload_types import PayloadType as PayloadType, agree as agree, is_any as is_any
    from penstock.payload_types import is_type as is_type, members as members
    from penstock.payload_types import runtime_classes as runtime_classes, type_name as type_name
    from penstock.payload_types import type_names as type_names
    from penstock.plan import ExecutorPlan as ExecutorPlan, HandlerPlan as HandlerPlan, NodePlan as NodePlan
    from penstock.plan import FailurePlan as FailurePlan, Placing as Placing
    from penstock.plan import Plan as Plan, PortPlan as PortPlan, SidePortPlan as SidePortPlan
    from penstock.plan import StreamPlan as StreamPlan, sources_above as sources_above
    from penstock.plugins.default_registry import default_registry as default_registry
    from penstock.plugins.default_registry import plugin_host as plugin_host
    from penstock.plugins.default_registry import plugins_renewed as plugins_renewed
    from penstock.plugins.discovery import Discovered as Discovered, PluginHost as PluginHost
    from penstock.port_collection import PortKey as PortKey, Ports as Ports, port_id as port_id
    from penstock.port_collection import port_name as port_name
    from penstock.registry import KINDS as KINDS, official_packs as official_packs
    from penstock.registry_entries import OptionEntry as OptionEntry, calculator_of as calculator_of
    from penstock.registry_entries import check_name as check_name, spelling as spelling
    from penstock.resources import Resources as Resources
    from penstock.runtime.counters import Counters as Counters
    from penstock.runtime.event_loops.lazy_loop import LazyLoop as LazyLoop
    from penstock.runtime.graph import starter_of as starter_of
    from penstock.runtime.new_run import NewRun as NewRun, new_run as new_run
    from penstock.runtime.runner.runner import Runner as Runner
    from penstock.runtime.start import Starter as Starter
    from penstock.runtime.steering import Steering as Steering, SteeringLayer as SteeringLayer
    from penstock.runtime.side_packets import as_side_packets as as_side_packets
    from penstock.services import CLOCK as CLOCK, ServiceScope as ServiceScope
    from penstock.shown import clipped as clipped, quoted as quoted, shown as shown
    from penstock.tags import Port as Port, TagMap as TagMap, is_name as is_name
    from penstock.tags import parse_tag_index as parse_tag_index, parse_tag_index_name as parse_tag_index_name
    from penstock.timestamp import DONE as DONE, MAX as MAX, MIN as MIN
    from penstock.timestamp import ONE_OVER_POSTSTREAM as ONE_OVER_POSTSTREAM, POSTSTREAM as POSTSTREAM
    from penstock.timestamp import PRESTREAM as PRESTREAM, UNSET as UNSET, UNSTARTED as UNSTARTED
    from penstock.timestamp import next_allowed as next_allowed, shifted as shifted, show as show
    from penstock.tracing.tracer import OBSERVE as OBSERVE
    from penstock.type_hints import HintParts as HintParts, hints_of as hints_of

#: Module → the names that it has.
_HOMES: Final = {
    "penstock.type_hints": "HintParts hints_of",
    "penstock.check.faults": "Faults",
    "penstock.check.nodes": "numbered_nodes",
    "penstock.engine_form": "engine_form",
    "penstock.late_names": "late_names",
    "penstock.check.failures": "FailureLayer GuardedNode",
    "penstock.config.graph_reader": (
        "Definition DefinitionTextError GraphReader JsonReader ReaderFindType ReaderLoad ReaderMerge "
        "definition_as_graph"
    ),
    "penstock.config.message": "Message",
    "penstock.config.options.message_class": "extension_class inner_classes message_class",
    "penstock.config.options.message_values": "converted default_of",
    "penstock.config.options.options": "Options",
    "penstock.config.options.messages": "spelled unpacked",
    "penstock.config.options.types": "OptionTypes",
    "penstock.config.places": "FieldPath Places ReadGraph Spot where",
    "penstock.config.reading.right_options": "right_options",
    "penstock.config.reading.scan": "Token end_of_field own_name snake_case tokens_of",
    "penstock.config.reading.words": "with_near_fields",
    "penstock.config.subgraphs.expand": "expand",
    "penstock.config.subgraphs.interface": "prefix_of",
    "penstock.contract": "PortSpec PortSpecs",
    "penstock.engine.calculator": "CLOSE METHODS OPEN Outcome PROCESS Stop",
    "penstock.engine.guard": "AGAIN FAIL Guard SKIP",
    "penstock.engine.invoker": "Invoker Layer NodeOptions STEER",
    "penstock.engine.node": "Node OPENED Step",
    "penstock.engine.packet": "NOTHING",
    "penstock.engine.stand_in": "StandIn",
    "penstock.engine.shown_call": "ShownCall show_method",
    "penstock.engine.schedule": "RUNNING Schedule TERMINATED",
    "penstock.engine.stream": "InputStream Observer OutputStream",
    "penstock.near_names": "did_you_mean near_names",
    "penstock.option_class": (
        "ClassField can_be_option classes_inside enum_numbers fields_of full_name has_no_default "
        "is_options_class options_classes"
    ),
    "penstock.payload_types": "PayloadType agree is_any is_type members runtime_classes type_name type_names",
    "penstock.plan": (
        "ExecutorPlan FailurePlan HandlerPlan NodePlan Placing Plan PortPlan SidePortPlan StreamPlan "
        "sources_above"
    ),
    "penstock.plugins.discovery": "Discovered PluginHost",
    "penstock.port_collection": "PortKey Ports port_id port_name",
    "penstock.registry": "KINDS official_packs",
    "penstock.registry_entries": "OptionEntry calculator_of check_name spelling",
    "penstock.resources": "Resources",
    "penstock.plugins.default_registry": "default_registry plugin_host plugins_renewed",
    "penstock.runtime.counters": "Counters",
    "penstock.runtime.event_loops.lazy_loop": "LazyLoop",
    "penstock.runtime.graph": "starter_of",
    "penstock.runtime.new_run": "NewRun new_run",
    "penstock.runtime.runner.runner": "Runner",
    "penstock.runtime.start": "Starter",
    "penstock.runtime.side_packets": "as_side_packets",
    "penstock.runtime.steering": "Steering SteeringLayer",
    "penstock.services": "CLOCK ServiceScope",
    "penstock.shown": "clipped quoted shown",
    "penstock.tags": "Port TagMap is_name parse_tag_index parse_tag_index_name",
    "penstock.timestamp": (
        "DONE MAX MIN ONE_OVER_POSTSTREAM POSTSTREAM PRESTREAM UNSET UNSTARTED next_allowed shifted show"
    ),
    "penstock.tracing.tracer": "OBSERVE",
}

if not TYPE_CHECKING:  # type checkers know the imports above, and refuse every other name
    __all__, __getattr__, __dir__ = late_names(__name__, _HOMES)
