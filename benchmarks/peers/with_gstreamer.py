"""GStreamer: buffers from `appsrc` through `identity` elements to `appsink`, all in C, driven from Python."""

from __future__ import annotations

try:
    import gi

    gi.require_version("Gst", "1.0")
    gi.require_version("GstApp", "1.0")
except ValueError as error:  # gi is installed, GStreamer is not
    raise ImportError(str(error)) from error
from gi.repository import Gst, GstApp  # noqa: F401  # GstApp: for the methods of appsrc and appsink
from streams import chain_figures, latencies

Gst.init(None)
VERSIONS = {"GStreamer": ".".join(map(str, Gst.version()[:3]))}
#: A pipeline without output for this time is an error.
PATIENCE_NS = 30 * Gst.SECOND


class _Chain:
    """A buffer's presentation time is its number; its bytes are eight zeros."""

    def __init__(self, nodes: int, *, collect: bool) -> None:
        self.seen: list[int] = []
        middle = " ! ".join(["identity"] * nodes)
        self._pipeline = Gst.parse_launch(
            f"appsrc name=source format=time block=true ! {middle} ! appsink name=sink sync=false "
            f"emit-signals={'true' if collect else 'false'}"
        )
        self._source = self._pipeline.get_by_name("source")
        self._sink = self._pipeline.get_by_name("sink")
        if collect:
            self._sink.connect("new-sample", self._notice)
        self._pipeline.set_state(Gst.State.PLAYING)

    def _notice(self, sink: Gst.Element) -> Gst.FlowReturn:
        self.seen.append(sink.pull_sample().get_buffer().pts)
        return Gst.FlowReturn.OK

    def feed(self, number: int) -> None:
        buffer = Gst.Buffer.new_wrapped(bytes(8))
        buffer.pts = number
        self._source.push_buffer(buffer)

    def ask(self, number: int) -> None:
        self.feed(number)
        self.seen.append(self._sink.try_pull_sample(PATIENCE_NS).get_buffer().pts)

    def end(self) -> None:
        self._source.end_of_stream()
        if not self._sink.get_property("emit-signals"):
            self._sink.try_pull_sample(PATIENCE_NS)  # None at the end of the stream
        kinds = Gst.MessageType.EOS | Gst.MessageType.ERROR
        message = self._pipeline.get_bus().timed_pop_filtered(PATIENCE_NS, kinds)
        self._pipeline.set_state(Gst.State.NULL)
        if message is None or message.type is not Gst.MessageType.EOS:
            raise RuntimeError(
                f"the pipeline ended with {message and message.type}, expected its end of stream"
            )


def chain(nodes: int, packets: int) -> dict[str, float]:
    """Time a chain."""
    return chain_figures(lambda: _Chain(nodes, collect=True), nodes, packets)


def latency(nodes: int, packets: int) -> dict[str, float]:
    """Time one packet through a chain."""
    return latencies(lambda: _Chain(nodes, collect=False), packets)
