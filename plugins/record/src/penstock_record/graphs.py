"""Graphs that record, and graphs that play a recording in the place of some of their nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from penstock.config import CalculatorGraphConfig, read_graph
from penstock.errors import InvalidArgumentError, NotFoundError
from penstock.lowlevel import default_registry, did_you_mean, quoted
from penstock_record.reading import RecordingReader

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from pathlib import Path

    from penstock import Registry

_SINK: Final = "McapSinkCalculator"
_SOURCE: Final = "McapSourceCalculator"


def recording_graph(
    graph: Any,
    path: Path,
    streams: Sequence[str] | None = None,
    *,
    side_packets: Sequence[str] = (),
    registry: Registry | None = None,
) -> CalculatorGraphConfig:
    """Return a graph with a node that records.

    Args:
        graph: what `CalculatorGraph` takes.
        path: the file that a run writes; an existing one is replaced.
        streams: names of streams of the graph itself; None for all that it feeds from outside, or all that its
            sources write.
        side_packets: names of input side packets to record.
        registry: finds readers of graphs and codecs; None for the default one.

    Raises:
        NotFoundError: the graph has no such stream or side packet; says what is near.
        GraphParseError, InvalidArgumentError: it is no graph.
    """
    registry = default_registry() if registry is None else registry
    config = _copy(read_graph(graph, registry))
    known = all_streams(config)
    wanted = list(source_streams(config) if streams is None else streams)
    for name in wanted:
        if name not in known:
            raise NotFoundError(f"the graph has no stream {quoted(name)}{did_you_mean(name, known, 1)}")
    sides = [_name(entry) for entry in config.input_side_packet]
    for name in side_packets:
        if name not in sides:
            words = f"the graph has no input side packet {quoted(name)}{did_you_mean(name, sides, 1)}"
            raise NotFoundError(words)
    text = str(config)
    node = config.node.add(calculator=_SINK, name=_free_name(config, "recording"))
    node.input_stream.extend(wanted)
    node.input_side_packet.extend(f"SIDE:{i}:{name}" for i, name in enumerate(side_packets))
    _set_options(node, registry, {"path": str(path), "graph": text, "side_packets": list(side_packets)})
    return config


def replay_graph(
    graph: Any,
    path: Path,
    streams: Sequence[str] | None = None,
    *,
    speed: float = 0.0,
    registry: Registry | None = None,
) -> CalculatorGraphConfig:
    """Return a graph in which a recording takes the place of the graph inputs and nodes that wrote its streams.

    Nodes that nothing needs any more are left out, such as the decoder of a video whose frames were recorded.

    Args:
        graph: what `CalculatorGraph` takes; None for the graph that is in the file.
        path: the recording.
        streams: those of the recording that are played; None for all that the graph has.
        speed: of `McapSourceCalculatorOptions`.
        registry: as in `recording_graph`.

    Raises:
        NotFoundError: the recording or the graph has no such stream.
        InvalidArgumentError: the file is no recording; or a node writes some streams that are played, and others
            that are needed and not recorded.
        OSError: the file cannot be read.
    """
    registry = default_registry() if registry is None else registry
    with RecordingReader(path, registry, is_cut=True) as reader:
        about = reader.about
    if graph is None and not about.graph:
        raise InvalidArgumentError(f"{path} holds no graph; name one")
    config = _copy(read_graph(about.graph if graph is None else graph, registry))
    known = all_streams(config)
    for name in streams or ():
        if name not in about.streams:
            meant = did_you_mean(name, about.streams, 1)
            raise NotFoundError(f"{path} has no stream {quoted(name)}{meant}; it has {', '.join(about.streams)}")
        if name not in known:
            raise NotFoundError(f"the graph has no stream {quoted(name)}{did_you_mean(name, known, 1)}")
    played = [name for name in about.streams if name in (known if streams is None else streams)]
    if not played:
        raise NotFoundError(f"the graph has none of the streams of {path}: {', '.join(about.streams)}")
    _take_out(config, set(played))
    node = config.node.add(calculator=_SOURCE, name=_free_name(config, "replay"))
    node.output_stream.extend(played)
    _set_options(node, registry, {"path": str(path), "speed": speed})
    return config


def all_streams(config: CalculatorGraphConfig) -> list[str]:
    """Return the names of the graph's own streams: graph inputs, then those of its nodes."""
    entries = [*config.input_stream, *(entry for node in config.node for entry in node.output_stream)]
    return list(dict.fromkeys(map(_name, entries)))


def source_streams(config: CalculatorGraphConfig) -> list[str]:
    """Return the streams that a run depends on: the graph inputs, and what nodes without inputs write."""
    entries = list(config.input_stream)
    for node in config.node:
        if not node.input_stream:
            entries += node.output_stream
    return list(dict.fromkeys(map(_name, entries)))


def _take_out(config: CalculatorGraphConfig, played: set[str]) -> None:
    """Take away the graph inputs and nodes that write the streams which are played, and what only they need."""
    kept = [entry for entry in config.input_stream if _name(entry) not in played]
    del config.input_stream[:]
    config.input_stream.extend(kept)
    outputs = set(map(_name, config.output_stream))
    nodes = list(config.node)
    needed = {_name(entry) for node in nodes for entry in node.input_stream} | outputs
    for node in list(nodes):
        writes = set(map(_name, node.output_stream))
        if writes & played:
            missing = sorted((writes - played) & needed)
            if missing:
                raise InvalidArgumentError(
                    f"node {node.name or node.calculator!r} writes {', '.join(sorted(writes & played))}, which are "
                    f"played, and {', '.join(missing)}, which are not; record these too"
                )
            nodes.remove(node)
    _prune(nodes, outputs, {_name(entry) for node in config.node for entry in node.output_stream} - played)
    del config.node[:]
    config.node.extend(nodes)
    read = {_name(entry) for node in nodes for entry in node.input_stream} | outputs
    kept = [entry for entry in config.input_stream if _name(entry) in read]
    del config.input_stream[:]
    config.input_stream.extend(kept)
    sides = {_name(entry) for node in nodes for entry in node.input_side_packet}
    sides |= set(map(_name, config.output_side_packet))
    kept = [entry for entry in config.input_side_packet if _name(entry) in sides]
    del config.input_side_packet[:]
    config.input_side_packet.extend(kept)


def _prune(nodes: list[Any], outputs: Collection[str], written: Collection[str]) -> None:
    """Take away nodes none of whose streams and side packets is read any more. Those without any stay."""
    while True:
        read = {_name(entry) for node in nodes for entry in node.input_stream} | set(outputs)
        sides = {_name(entry) for node in nodes for entry in node.input_side_packet}
        idle = [
            node
            for node in nodes
            if node.output_stream
            and not {_name(entry) for entry in node.output_stream} & read & set(written)
            and not {_name(entry) for entry in node.output_side_packet} & sides
        ]
        if not idle:
            return
        for node in idle:
            nodes.remove(node)


def _copy(config: CalculatorGraphConfig) -> CalculatorGraphConfig:
    made = CalculatorGraphConfig()
    made.CopyFrom(config)
    return made


def _name(entry: str) -> str:
    return entry.rpartition(":")[2]


def _free_name(config: CalculatorGraphConfig, name: str) -> str:
    taken = {node.name or node.calculator for node in config.node}
    while name in taken:
        name += "_"
    return name


def _set_options(node: Any, registry: Registry, values: Mapping[str, object]) -> None:
    """Give a node options of its calculator's class."""
    from penstock.lowlevel import full_name, message_class

    options = registry.find("calculator", node.calculator).Options  # type: ignore[attr-defined]
    message = message_class(options)(**values)
    node.node_options.add().Pack(message)
    assert full_name(options) == message.DESCRIPTOR.full_name
