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
    `Options` finds the options of a node by their class; `OptionTypes` finds classes by their names.
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
    definition without arguments. `tokens_of` reads text into `Token`s, `own_name` writes the name of one of
    our messages.

Runs, for test kits
    `new_run` puts a `NewRun` together, not started; `as_side_packets` makes packets of what users give.
    `Schedule` is the state machine of a run, in one of the states `RUNNING` and `TERMINATED` among others;
    `Step` is one call of a calculator's method, by number in `METHODS` (`PROCESS`); a `TracedStep` of an
    observer has the method `OBSERVE`. `OutputStream` and `Observer` are what it writes to. `Feed` feeds the
    graph inputs of a run, `feed_packet` makes the packets for it.
"""
# A name is loaded when it is first used. Type checkers read `lowlevel.pyi`, and refuse every other name.

from __future__ import annotations

from typing import Final

from penstock.late_names import late_names as late_names

#: Module → the names that it has.
_HOMES: Final = {
    "penstock.type_hints": "HintParts hints_of",
    "penstock.check.faults": "Faults",
    "penstock.check.nodes": "numbered_nodes",
    "penstock.engine_form": "engine_form",
    "penstock.late_names": "late_names",
    "penstock.config.definition": "Definition DefinitionTextError definition_as_graph",
    "penstock.config.graph_reader": "GraphReader ReaderFindType ReaderMerge",
    "penstock.config.message": "Message",
    "penstock.config.options.message_class": "extension_class inner_classes message_class",
    "penstock.config.options.message_values": "converted default_of",
    "penstock.config.options.options": "Options",
    "penstock.config.options.types": "OptionTypes",
    "penstock.config.places": "Places ReadGraph Spot where",
    "penstock.config.reading.scan": "Token own_name tokens_of",
    "penstock.config.subgraphs.expand": "expand",
    "penstock.config.subgraphs.interface": "prefix_of",
    "penstock.contract": "PortSpec PortSpecs",
    "penstock.engine.calculator": "METHODS Outcome PROCESS Stop",
    "penstock.engine.node": "Node Step",
    "penstock.engine.packet": "NOTHING",
    "penstock.engine.schedule": "RUNNING Schedule TERMINATED",
    "penstock.engine.stream": "InputStream Observer OutputStream",
    "penstock.near_names": "did_you_mean near_names",
    "penstock.option_class": (
        "ClassField can_be_option classes_inside enum_numbers fields_of full_name has_no_default "
        "is_options_class options_classes"
    ),
    "penstock.payload_types": "PayloadType agree is_any is_type members runtime_classes type_name type_names",
    "penstock.plan": "ExecutorPlan HandlerPlan NodePlan Plan PortPlan SidePortPlan StreamPlan sources_above",
    "penstock.plugins.discovery": "Discovered PluginHost",
    "penstock.port_collection": "PortKey Ports port_id port_name",
    "penstock.registry": "KINDS official_packs",
    "penstock.registry_entries": "OptionEntry calculator_of check_name spelling",
    "penstock.resources": "Resources",
    "penstock.plugins.default_registry": "default_registry plugin_host plugins_renewed",
    "penstock.runtime.feeding": "Feed feed_packet",
    "penstock.runtime.new_run": "NewRun new_run",
    "penstock.runtime.side_packets": "as_side_packets",
    "penstock.services": "CLOCK",
    "penstock.shown": "clipped quoted shown",
    "penstock.tags": "Port TagMap is_name parse_tag_index parse_tag_index_name",
    "penstock.timestamp": (
        "DONE MAX MIN ONE_OVER_POSTSTREAM POSTSTREAM PRESTREAM UNSET UNSTARTED next_allowed shifted show"
    ),
    "penstock.tracing.tracer": "OBSERVE",
}


__all__, __getattr__, __dir__ = late_names(__name__, _HOMES)
