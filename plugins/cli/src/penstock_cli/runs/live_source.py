"""Changes of a graph that reads a video: a camera for a file, a flow limiter, nodes left out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from penstock_cli.loading import name_in

if TYPE_CHECKING:
    from collections.abc import Iterable

    from penstock import Registry
    from penstock.config import CalculatorGraphConfig

_DECODER_OPTIONS: Final = "penstock.VideoDecoderCalculatorOptions"
#: Packets that may wait before a node of a graph with a limiter in front. Frames wait only before an encoder
#: there; other packets may be many, and must not stop the camera.
_LIVE_QUEUE: Final = 32
_LIMITER: Final = """
node {
  calculator: "FlowLimiterCalculator"
  input_stream: "%(source)s"
  input_stream: "FINISHED:%(finished)s"
  input_stream_info { tag_index: "FINISHED" back_edge: true }
  output_stream: "%(frame)s"
  options {
    [mediapipe.FlowLimiterCalculatorOptions.ext] { max_in_flight: 1 max_in_queue: 1 }
  }
}
"""


def read_camera(config: CalculatorGraphConfig, registry: Registry, index: int, stream: str) -> None:
    """Let the decoder that sends `stream` read a camera where it has no file."""
    entry = registry.option(_DECODER_OPTIONS)
    if entry is None:  # the video pack is missing, which loading the graph reports
        return
    options: Any = entry.load()()
    node = source_of(config, stream)
    for packed in list(node.node_options):
        if packed.Unpack(options):
            node.node_options.remove(packed)
    options.ClearField("test_pattern")
    options.camera_index = index
    node.node_options.add().Pack(options)


def add_limiter(
    config: CalculatorGraphConfig, registry: Registry, stream: str, finished: str, *, pace: str = ""
) -> str:
    """Put a flow limiter behind the source of `stream`: one frame is under way, the newest one waits.

    Args:
        config: changed.
        registry: has the options of the limiter.
        stream: what the source sends, and the limiter afterwards.
        finished: has a packet for each frame that is finished.
        pace: name of a calculator between the source and the limiter, which forwards frames at their times.

    Returns:
        The name of the stream of all frames, before the limiter.
    """
    from penstock.config import read_graph  # imports protobuf

    source, captured = source_of(config, stream), f"captured_{stream}"
    sent = f"decoded_{stream}" if pace else captured
    renamed = [
        f"{entry[: -len(stream)]}{sent}" if name_in(entry) == stream else entry
        for entry in source.output_stream
    ]
    del source.output_stream[:]
    source.output_stream.extend(renamed)
    text = _LIMITER % {"source": captured, "finished": finished, "frame": stream}
    if pace:
        text += f'node {{ calculator: "{pace}" input_stream: "{sent}" output_stream: "{captured}" }}'
    config.node.extend(read_graph(text, registry).node)
    config.max_queue_size = _LIVE_QUEUE
    return captured


def leave_out(config: CalculatorGraphConfig, unused: Iterable[str], wanted: Iterable[str]) -> None:
    """Remove the nodes that read an unused stream and write none, then all whose outputs nobody reads.

    Args:
        config: changed.
        unused: streams that are only written to files.
        wanted: streams that are read from outside.
    """
    gone, kept = set(unused), set(wanted)
    for node in list(config.node):
        if not node.output_stream and gone.intersection(map(name_in, node.input_stream)):
            config.node.remove(node)
    outputs = [entry for entry in config.output_stream if name_in(entry) in kept]
    del config.output_stream[:]
    config.output_stream.extend(outputs)
    while True:
        read = kept.union(name_in(entry) for node in config.node for entry in node.input_stream)
        idle = [
            node
            for node in config.node
            if node.output_stream and read.isdisjoint(map(name_in, node.output_stream))
        ]
        if not idle:
            return
        for node in idle:
            config.node.remove(node)


def source_of(config: CalculatorGraphConfig, stream: str) -> Any:
    """Return the node that writes a stream."""
    return next(node for node in config.node if stream in map(name_in, node.output_stream))
