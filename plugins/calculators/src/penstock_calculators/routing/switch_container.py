"""SwitchContainer: several parts of a graph in one place, one of which is active at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import penstock
from penstock.config import CalculatorGraphConfig
from penstock.errors import InvalidArgumentError
from penstock.limits import check
from penstock.ports import parse_tag_index, port_name
from penstock_calculators.messages.switch_container_pb2 import SwitchContainerOptions
from penstock_calculators.routing.switch_channels import CONTROLS, channel_tag

if TYPE_CHECKING:
    from penstock import SubgraphContext
    from penstock.ports import TaggedPort, TagMap

#: As a byte of a node that takes the place of a subgraph counts.
_TEXT_OF_BYTE: Final = 3


class SwitchContainer(penstock.Subgraph):
    """Holds calculators or subgraphs with the same ports, and sends packets through the one that is active.

    Each `contained_node` is a channel: the first is 0, the next 1, and so on. Input packets go to the
    channel that is active at their timestamp, and its outputs are those of the container; the other
    channels get no packets. The contained nodes name no streams: each gets ports with the tags and indexes
    of the container's.

    SELECT gives the number of the active channel, ENABLE the same as a bool (false: 0, true: 1). One of
    them is connected, as a side packet or as a stream, or set as an option. A stream changes the channel
    while the graph runs; before its first packet side packet or option apply. Without any, channel 0 is
    active. A command applies from its own timestamp on, so packets wait until the control stream has
    settled their timestamp::

        SELECT         . 0 . 1 .
        VIDEO          a b c d e
        contained 0    a b c . .
        contained 1    . . . d e

    With `async_selection` no packet waits for commands: a command applies to the timestamps after those
    that have arrived before it.

    It consists of a SwitchDemuxCalculator, the contained nodes, a SwitchMuxCalculator, and for a control
    stream a PacketSequencerCalculator; their docstrings say how they treat headers, side packets and
    bounds. Stream `x` of channel 1 is called `c1__x` inside. When all inputs have ended, so have the
    outputs; an observer of bounds then sees an empty packet at Timestamp.MAX.

    With `async_selection` the timestamp from which a command applies depends on arrival, by design; nothing
    else does.

    Options: `contained_node`; `select` or `enable`, the channel that is active at first; `synchronize_io`,
    whether the inputs wait for each other; `tick_input_stream`, the inputs whose timestamps commands are
    brought into step with, as "TAG", "TAG:index" or ":index" (default: all); `async_selection`, whether a
    command applies when it arrives instead of from its timestamp on.

    Source of the behaviour: MediaPipe `framework/tool/switch_container.cc`.

    Example config::

        node {
          calculator: "SwitchContainer"
          input_stream: "ENABLE:is_wanted"
          input_stream: "VIDEO:frames"
          output_stream: "VIDEO:annotated_frames"
          options {
            [penstock.SwitchContainerOptions.ext] {
              contained_node { calculator: "BypassCalculator" }
              contained_node { calculator: "PassThroughCalculator" }
            }
          }
        }
    """

    @classmethod
    def get_config(cls, sc: SubgraphContext) -> CalculatorGraphConfig:
        """Return demux, contained nodes and mux, and the node that brings commands into step.

        Raises:
            InvalidArgumentError: there is no contained node; ENABLE and SELECT are both given, as options, as
                streams or as side packets; or `tick_input_stream` names no input.
        """
        options = sc.options(SwitchContainerOptions)
        if not options.contained_node:
            raise InvalidArgumentError(
                "the switch container has no contained_node; give one for each channel"
            )
        if options.HasField("select") and options.HasField("enable"):
            raise InvalidArgumentError(
                "the switch container's options select and enable are both given; give one of them only"
            )
        graph = _Switch(options)
        graph.connect("stream", sc.inputs, sc.outputs)
        graph.connect("side_packet", sc.input_side_packets, sc.output_side_packets)
        return graph.config()


class _Switch:
    """Builds the graph: first all streams are connected, then all side packets."""

    def __init__(self, options: SwitchContainerOptions) -> None:
        """Make the nodes; demux and mux get the options without the contained nodes."""
        self._options = options
        self._graph = CalculatorGraphConfig()
        self._sequencer: Any = None
        self._demux, self._mux = (
            CalculatorGraphConfig.Node(calculator=name)
            for name in ("SwitchDemuxCalculator", "SwitchMuxCalculator")
        )
        own = SwitchContainerOptions()
        own.CopyFrom(options)
        del own.contained_node[:]
        for node in (self._demux, self._mux):
            node.options.Extensions[SwitchContainerOptions.ext].CopyFrom(own)
        self._channels = list(options.contained_node)

    def config(self) -> CalculatorGraphConfig:
        """Return the whole graph, upstream nodes first."""
        for node in (self._sequencer, self._demux, *self._channels, self._mux):
            if node is not None:
                self._graph.node.append(node)
        return self._graph

    def connect(self, kind: str, inputs: TagMap, outputs: TagMap) -> None:
        """Connect the container's ports of a kind, "stream" or "side_packet", to those of the nodes.

        Raises:
            InvalidArgumentError: two ports control the switch, or `tick_input_stream` names no input.
            ResourceExhaustedError: the names inside would be too long.
        """
        names = _UniqueNames()
        taken, made = f"input_{kind}", f"output_{kind}"  # as fields of a node and of a graph
        control = _control(inputs, taken)
        outside = inside = ""
        if control is not None:
            outside = inside = names.take(f"gate_{control.tag.lower()}")
            if kind == "stream":
                inside = names.take(f"{outside}_timed")
            for message, name in ((self._graph, outside), (self._demux, inside), (self._mux, inside)):
                _add(message, taken, control.tag, 0, name)
        sources = [(port, names.take(port.name)) for port in inputs if port is not control]
        targets = [(port, names.take(port.name)) for port in outputs]
        self._check_names([name for _, name in (*sources, *targets)])
        if inside != outside:
            self._add_sequencer(outside, inside, sources)
        for field, end, ports in ((taken, self._demux, sources), (made, self._mux, targets)):
            for port, name in ports:
                _add(self._graph, field, port.tag, port.index, name)
                _add(end, field, port.tag, port.index, name)
        for channel, node in enumerate(self._channels):
            for port, name in sources:
                inner = names.take(f"c{channel}__{name}")
                _add(self._demux, made, channel_tag(port.tag, channel), port.index, inner)
                _add(node, taken, port.tag, port.index, inner)
            for port, name in targets:
                inner = names.take(f"c{channel}__{name}")
                _add(node, made, port.tag, port.index, inner)
                _add(self._mux, taken, channel_tag(port.tag, channel), port.index, inner)

    def _check_names(self, names: list[str]) -> None:
        """Check how long the names of streams are together, before they are made.

        Raises:
            ResourceExhaustedError: longer than the nodes inside of subgraphs may be.
        """
        length = len(self._channels) * sum(2 * (len(name) + len("c0__")) for name in names)
        words = f"the streams of {len(self._channels)} contained nodes have too long names"
        check("text", _TEXT_OF_BYTE * length, words)

    def _add_sequencer(self, control: str, timed: str, sources: list[tuple[TaggedPort, str]]) -> None:
        """Bring the control stream into step with the tick inputs.

        Raises:
            InvalidArgumentError: `tick_input_stream` names no input.
        """
        ticks = {(port.tag, port.index): name for port, name in sources}
        if self._options.tick_input_stream:
            wanted = [parse_tag_index(text) for text in self._options.tick_input_stream]
            missing = next((key for key in wanted if key not in ticks), None)
            if missing is not None:
                connected = ", ".join(port_name(*key) for key in ticks) or "none"
                raise InvalidArgumentError(
                    f"tick_input_stream of the switch container names {port_name(*missing)}, but there is no "
                    f"such input; connected are: {connected}"
                )
            ticks = {key: ticks[key] for key in wanted}
        node = self._sequencer = CalculatorGraphConfig.Node(calculator="PacketSequencerCalculator")
        _add(node, "input_stream", "INPUT", 0, control)
        for i, name in enumerate(ticks.values()):
            _add(node, "input_stream", "TICK", i, name)
        _add(node, "output_stream", "OUTPUT", 0, timed)
        if not self._options.async_selection:
            node.input_stream_handler.input_stream_handler = "DefaultInputStreamHandler"


class _UniqueNames:
    """Makes unique names, each as close as possible to the requested one."""

    def __init__(self) -> None:
        self._taken: set[str] = set()

    def take(self, name: str) -> str:
        """Return `name`, or, if it is taken, `name` with the first free number from 2 on as a suffix."""
        unique, number = name, 1
        while unique in self._taken:
            number += 1
            unique = f"{name}_{number}"
        self._taken.add(unique)
        return unique


def _control(inputs: TagMap, what: str) -> TaggedPort | None:
    """Return the port that selects the active channel, or None.

    Raises:
        InvalidArgumentError: there are several.
    """
    found = [port for port in inputs if port.tag in CONTROLS]
    if len(found) > 1:
        names = " and ".join(port_name(port.tag, port.index) for port in found)
        raise InvalidArgumentError(
            f"{names} are both connected as {what} of the switch container; connect one of them only"
        )
    return found[0] if found else None


def _add(message: Any, field: str, tag: str, index: int, name: str) -> None:
    """Add a port to a field of a node or a graph."""
    place = f"{tag}:{index}:" if index else f"{tag}:"
    getattr(message, field).append(f"{place if tag else ''}{name}")
