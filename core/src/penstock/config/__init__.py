"""Graphs as data: read from text, files, JSON or Python objects, checked, and written again; nothing is run.

A graph that was read is a CalculatorGraphConfig, a protobuf message; a graph that was checked is a `Plan`.
"""
# `reading` makes messages, `subgraphs` replaces nodes that stand for graphs, `options` finds the messages and
# classes of options, `writing` is the way back. `penstock.check` has the checks. Protobuf is imported when a
# graph is read, not with this package.

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from penstock.collector import PAUSE
from penstock.errors import InvalidArgumentError
from penstock.limits import override
from penstock.plan import message_of
from penstock.registry import Registry

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from penstock.config.calculator_pb2 import CalculatorGraphConfig
    from penstock.config.graph_reader import GraphDefinition, JsonReader
    from penstock.config.message import Message
    from penstock.config.options.option_types import OptionTypes
    from penstock.config.places import ReadGraph
    from penstock.plan import Plan
    from penstock.services import ServiceKey

__all__ = [
    "CalculatorGraphConfig",
    "build_plan",
    "read_definition",
    "read_graph",
    "to_binary",
    "to_json",
    "to_text",
]


def build_plan(
    graph_config: object,
    registry: Registry,
    *,
    binary_graph_path: str | Path | None = None,
    subgraphs: Mapping[str, object] | Iterable[object] = (),
    services: Mapping[ServiceKey[Any], object] | None = None,
) -> Plan:
    """Read a graph, expand its subgraphs, and check the whole graph.

    Args:
        graph_config: a `str` is graph text, a `pathlib.Path` a file (.pbtxt, .textproto, .binarypb,
            .pb, .json); or a CalculatorGraphConfig message, a `dict` as JSON has it, a `GraphTemplate`, or a
            graph from the builder (any object with `to_config()`). Text with rules is a template, which is
            expanded with its defaults. None where `binary_graph_path` is given.
        registry: finds calculators, handlers, executors and options by name.
        binary_graph_path: a file that holds a serialized graph, whatever its name ends with.
        subgraphs: name → graph, for this graph only and before those of the registry; or graphs that
            have a `type`, which is the name.
        services: what `Subgraph` classes may ask for.

    Returns:
        The checked graph. Its `config` is a message of its own.

    Raises:
        GraphParseError: `graph_config` is no graph, or has options that cannot be read; has the place.
        GraphConfigError: the graph cannot run; has all its faults, those of options among them.
        NotFoundError: there is no such file.
        UnknownNameError: the graph is a template or JSON, and no plugin that reads these is loaded.
        InvalidArgumentError: `graph_config` is none of these, or both or neither are given; or one of
            `subgraphs` has no type.
        PenstockError: the file cannot be read; the OSError is the `__cause__`.
        NameClashError, PluginError: options that the graph names cannot be imported.
        ResourceExhaustedError: the graph asks for more than a limit allows; see `penstock.limits`.
    """
    with override(), PAUSE:  # around the whole build: at its end what only the build needs is gone
        return _plan(graph_config, registry, binary_graph_path, subgraphs, services)


def _plan(
    graph_config: object,
    registry: Registry,
    binary_graph_path: str | Path | None,
    subgraphs: Mapping[str, object] | Iterable[object],
    services: Mapping[ServiceKey[Any], object] | None,
) -> Plan:
    # Protobuf costs more to import than the rest of the core.
    from penstock.check.faults import Faults
    from penstock.check.name_lookups import Names, has_subgraphs
    from penstock.check.validate import validate
    from penstock.config.options.option_types import OptionTypes
    from penstock.config.options.options import options_of
    from penstock.config.reading.graph_specs import graph_spec, in_order
    from penstock.config.reading.plain_graph import read_plain_graph
    from penstock.config.sharing import place

    kept = None
    if subgraphs:
        from penstock.config.subgraphs.expand import with_subgraphs

        registry = with_subgraphs(registry, subgraphs)
    else:
        kept = place(graph_config, binary_graph_path, registry)
        if kept is not None and (plan := kept.find()) is not None:
            return plan
    types = OptionTypes(registry)
    plain = None if binary_graph_path is not None else read_plain_graph(graph_config, types)
    message, places, unread = plain or _read(graph_config, registry, binary_graph_path, types)
    faults = Faults(places, unread)
    names = Names(registry, message.package, faults)
    origins = None
    if has_subgraphs(message, names):
        from penstock.config.subgraphs.expand import expand  # costs as much to import as all the checks

        message = message_of(message)
        message, origins = expand(message, places, registry, faults, types, names=names, services=services)
    spec = graph_spec(message, places, origins)
    plan = validate(spec, names, options_of, in_order=in_order, option_types=types)
    if kept is not None and names.is_settled and types.is_settled:
        kept.keep(plan, types.files)
    return plan


def read_graph(
    graph_config: object, registry: Registry, *, binary_graph_path: str | Path | None = None
) -> CalculatorGraphConfig:
    """Read a graph without checking whether it can run. Arguments and errors as `build_plan`."""
    message: CalculatorGraphConfig = _read(graph_config, registry, binary_graph_path).message
    return message


def read_definition(
    graph_config: object,
    registry: Registry,
    *,
    label: str | None = None,
    types: OptionTypes | None = None,
) -> ReadGraph | GraphDefinition:
    """Read a graph and where its parts stand; or a template, whose graph depends on its arguments.

    Args:
        graph_config: as for `read_graph`.
        registry: finds the options, and the readers of templates and JSON.
        label: what stands for the file's name in errors where `graph_config` is no file.
        types: made from the registry; with it, options that cannot be read are no error: they are left out,
            and `ReadGraph.unread` has them.

    Raises:
        PenstockError: as `read_graph`.
    """
    from penstock.config.reading import parse  # protobuf

    return parse.read_definition(graph_config, registry, label=label, types=types)


def to_text(config: Message, options: Registry | OptionTypes | None = None) -> str:
    """Return a CalculatorGraphConfig as graph text.

    Args:
        config: a graph, or a part of one.
        options: finds the messages of its options; None for protobuf messages that are imported, and no
            others. Options of unknown type are written as bytes, and can be read back.

    Raises:
        NameClashError, PluginError: options in the graph cannot be imported.
    """
    from penstock.config import writing  # protobuf

    return writing.to_text(config, _option_types(options))


def to_json(config: Message, options: Registry | OptionTypes | None = None) -> str:
    """Return a CalculatorGraphConfig as JSON, with the field names of graph text. Arguments as `to_text`.

    Raises:
        InvalidArgumentError: the graph has packed options of an unknown type.
        UnknownNameError: no installed pack writes JSON; says what to install.
        NameClashError, PluginError: as `to_text`.
    """
    from penstock.config import writing  # protobuf
    from penstock.plugins.default_registry import find_component  # loads the plugins

    types = _option_types(options)
    reader: JsonReader = find_component("graph reader", "json", types.registry, "penstock.config.to_json: ")
    return reader.to_json(config, writing.pool_for(config, types))


def to_binary(config: Message) -> bytes:
    """Return a serialized CalculatorGraphConfig, as a .binarypb file holds it."""
    from penstock.config import writing  # protobuf

    return writing.to_binary(config)


def _option_types(options: Registry | OptionTypes | None) -> OptionTypes:
    from penstock.config.options.option_types import OptionTypes  # protobuf

    return options if isinstance(options, OptionTypes) else OptionTypes(options or Registry())


def _read(
    graph_config: object,
    registry: Registry,
    binary_graph_path: str | Path | None,
    types: OptionTypes | None = None,
) -> ReadGraph:
    from penstock.config.reading import parse  # protobuf

    if (graph_config is None) == (binary_graph_path is None):
        given = "both" if graph_config is not None else "neither"
        raise InvalidArgumentError(f"penstock.config: {given} given; pass graph_config or binary_graph_path")
    if binary_graph_path is not None:
        return parse.read_binary_graph(binary_graph_path, registry, types)
    return parse.read_graph(graph_config, registry, types=types)


def __getattr__(name: str) -> object:
    """Import the message class on first use."""
    if name == "CalculatorGraphConfig":
        from penstock.config.calculator_pb2 import CalculatorGraphConfig  # protobuf

        return CalculatorGraphConfig
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
