"""Graphs that record, and graphs that play a recording in the place of some of their nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from penstock.config import CalculatorGraphConfig, build_plan, read_graph, to_text
from penstock.error_text import did_you_mean, quoted
from penstock.errors import InvalidArgumentError, NotFoundError
from penstock.packs import default_registry
from penstock.readers import numbered_nodes
from penstock_formats import ImageFrame
from penstock_record.codec import Codecs
from penstock_record.options import Compression, Pictures
from penstock_record.recording_reader import RecordingReader, changes_in
from penstock_steering import apply_change

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence
    from pathlib import Path

    from penstock import CalculatorGraph, Registry
    from penstock_steering import Change

_SINK: Final = "McapSinkCalculator"
_SOURCE: Final = "McapSourceCalculator"


def recording_graph(  # noqa: PLR0913  # what to record, and how
    graph: Any,
    path: Path,
    streams: Sequence[str] | None = None,
    *,
    side_packets: Sequence[str] = (),
    compression: Compression | None = None,
    pictures: Pictures = Pictures.LOSSLESS,
    registry: Registry | None = None,
) -> CalculatorGraphConfig:
    """Return a graph with a node that records.

    Args:
        graph: what `CalculatorGraph` takes.
        path: the file that a run writes; an existing one is replaced.
        streams: names of streams of the graph itself; None for the graph inputs and all that its sources
            write.
        side_packets: names of input side packets to record.
        compression: of the file; None compresses it unless a stream has images, which are compressed one by
            one.
        pictures: how images are written; LOSSLESS and RAW keep them exactly.
        registry: finds readers of graphs and codecs; None for the default one.

    Raises:
        NotFoundError: the graph has no such stream or side packet; says what is near.
        GraphParseError: it is no graph.
        GraphConfigError: it cannot run.
        InvalidArgumentError: no codec takes payloads of a stream's type.
    """
    registry = default_registry() if registry is None else registry
    config = _copy(read_graph(graph, registry))
    known = all_streams(config)
    wanted = list(source_streams(config) if streams is None else streams)
    for name in wanted:
        if name not in known:
            raise NotFoundError(
                f"the recording's graph has no stream {quoted(name)}{did_you_mean(name, known, 1)}"
            )
    sides = [_name(entry) for entry in config.input_side_packet]
    for name in side_packets:
        if name not in sides:
            words = f"the graph has no input side packet {quoted(name)}{did_you_mean(name, sides, 1)}"
            raise NotFoundError(words)
    plan = build_plan(config, registry)
    codecs = Codecs(registry)
    for name in wanted:
        stream = plan.streams[plan.stream_ids[name]]
        if not codecs.may_take(stream.classes):
            raise InvalidArgumentError(
                f"the recording's graph has stream {quoted(name)} of type {stream.type_name}, which no codec "
                "takes; record other streams, or register a codec for it"
            )
    if compression is None:
        has_images = any(
            issubclass(kind, ImageFrame)
            for name in wanted
            for kind in plan.streams[plan.stream_ids[name]].classes or ()
        )
        compression = Compression.NONE if has_images else Compression.ZSTD
    text = to_text(config, registry)
    node = config.node.add(calculator=_SINK, name=_free_name(config, "recording"))
    node.input_stream.extend(wanted)
    node.input_side_packet.extend(f"SIDE:{i}:{name}" for i, name in enumerate(side_packets))
    said = {"path": str(path), "graph": text, "side_packets": list(side_packets)}
    _set_options(node, registry, {**said, "compression": compression.name, "pictures": pictures.name})
    return config


def replay_graph(
    graph: Any,
    path: Path,
    streams: Sequence[str] | None = None,
    *,
    speed: float = 0.0,
    registry: Registry | None = None,
) -> CalculatorGraphConfig:
    """Return a graph in which a recording takes the place of what wrote its streams.

    Nodes that nothing needs any more are left out, such as the decoder of a video whose frames were recorded.

    Args:
        graph: what `CalculatorGraph` takes; None for the graph that is in the file.
        path: the recording.
        streams: those of the recording that are played; None for all that the graph has.
        speed: of `McapSourceCalculatorOptions`.
        registry: as in `recording_graph`.

    Raises:
        NotFoundError: the recording or the graph has no such stream.
        InvalidArgumentError: the file is no recording; or a node writes some streams that are played, and
            others that are needed and not recorded.
        OSError: the file cannot be read.
    """
    registry = default_registry() if registry is None else registry
    with RecordingReader(path, registry, is_cut=True) as reader:
        about = reader.about
    if graph is None and not about.graph:
        raise InvalidArgumentError(f"recording graph: {path} holds no graph; name one")
    config = _copy(read_graph(about.graph if graph is None else graph, registry))
    _keep_numbers(config)
    known = all_streams(config)
    for name in streams or ():
        if name not in about.streams:
            meant = did_you_mean(name, about.streams, 1)
            raise NotFoundError(
                f"{path} has no stream {quoted(name)}{meant} for a recording graph to play; it has "
                f"{', '.join(about.streams)}"
            )
        if name not in known:
            raise NotFoundError(
                f"the recording's graph has no stream {quoted(name)}{did_you_mean(name, known, 1)}"
            )
    played = [name for name in about.streams if name in (known if streams is None else streams)]
    if not played:
        raise NotFoundError(
            f"the recording's graph has none of the streams of {path}: {', '.join(about.streams)}"
        )
    _take_out(config, set(played))
    node = config.node.add(calculator=_SOURCE, name=_free_name(config, "replay"))
    node.output_stream.extend(played)
    _set_options(node, registry, {"path": str(path), "speed": speed})
    return config


def replay_changes(graph: CalculatorGraph, path: Path) -> tuple[Change, ...]:
    """Let the next run of a graph change its nodes at the timestamps at which the recorded run did.

    Changes of nodes that the graph does not have, since the recording replaces them, are left out.

    Args:
        graph: of `replay_graph`; no run is under way.
        path: the recording.

    Returns:
        The changes that will be made.

    Raises:
        OSError: the file cannot be read.
        InvalidArgumentError: a change in it is none.
        PenstockError: a node does not take a change, as `graph.set_options` and `graph.swap` say.
    """
    made = []
    for change in changes_in(path):
        try:
            apply_change(graph, change)
        except NotFoundError as error:
            if error.node != change.node:
                raise
            continue
        made.append(change)
    return tuple(made)


def _keep_numbers(config: CalculatorGraphConfig) -> None:
    """Give nodes whose names have a number that name, which they keep when others are taken out."""
    bases = [node.name or node.calculator for node in config.node]
    for node, base, name in zip(config.node, bases, numbered_nodes(bases), strict=True):
        if name != base:
            node.name = name


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
    """Leave the nodes between the played streams and the ends of the graph, and what they need besides.

    Ends are nodes without outputs, and those that write outputs of the graph; where the streams lead to none,
    all nodes that they lead to.
    """
    nodes = list(config.node)
    replaced = {i for i, node in enumerate(nodes) if played.intersection(_names(node.output_stream))}
    behind = _behind(nodes, played, replaced)
    outputs = _names(config.output_stream)
    ends = {
        i
        for i in behind
        if not nodes[i].output_stream or outputs.intersection(_names(nodes[i].output_stream))
    }
    kept = _with_what_they_need(nodes, ends or behind, played, replaced)
    left = [nodes[i] for i in sorted(kept)]
    del config.node[:]
    config.node.extend(left)
    read = {name for node in left for name in _names(node.input_stream)} - played
    written = {name for node in left for name in _names(node.output_stream)} | played | read
    sides = {name for node in left for name in _names(node.input_side_packet)}
    made = {name for node in left for name in _names(node.output_side_packet)} | sides
    for entries, wanted in (
        (config.input_stream, read),
        (config.output_stream, written),
        (config.input_side_packet, sides),
        (config.output_side_packet, made),
    ):
        those = [entry for entry in entries if _name(entry) in wanted]
        del entries[:]
        entries.extend(those)


def _with_what_they_need(
    nodes: Sequence[Any], ends: Collection[int], played: Collection[str], replaced: Collection[int]
) -> set[int]:
    """Return some nodes, and those that make their streams and side packets, but for the played streams.

    Raises:
        InvalidArgumentError: one of these is replaced.
    """
    kept = set(ends)
    while True:
        streams = {name for i in kept for name in _names(nodes[i].input_stream)}.difference(played)
        sides = {name for i in kept for name in _names(nodes[i].input_side_packet)}
        new = {
            i
            for i, node in enumerate(nodes)
            if i not in kept
            and (
                streams.intersection(_names(node.output_stream))
                or sides.intersection(_names(node.output_side_packet))
            )
        }
        for i in new.intersection(replaced):
            missing = streams.intersection(_names(nodes[i].output_stream))
            missing |= sides.intersection(_names(nodes[i].output_side_packet))
            raise InvalidArgumentError(
                f"the graph's node {nodes[i].name or nodes[i].calculator!r} would be replaced by the "
                f"recording, and writes {', '.join(sorted(missing))}, which is needed; record what is "
                "behind it, or that too"
            )
        if not new:
            return kept
        kept |= new


def _behind(nodes: Sequence[Any], played: Iterable[str], replaced: Collection[int]) -> set[int]:
    """Return the nodes that some streams lead to, but not through nodes that are replaced."""
    found: set[int] = set()
    lead_on = set(played)
    while True:
        new = {
            i
            for i, node in enumerate(nodes)
            if i not in found and i not in replaced and lead_on.intersection(_names(node.input_stream))
        }
        if not new:
            return found
        found |= new
        lead_on.update(name for i in new for name in _names(nodes[i].output_stream))


def _names(entries: Iterable[str]) -> set[str]:
    return set(map(_name, entries))


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
    from penstock.types import message_class

    options = registry.find("calculator", node.calculator).Options  # type: ignore[attr-defined]
    node.node_options.add().Pack(message_class(options)(**values))
