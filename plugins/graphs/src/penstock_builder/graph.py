"""`Graph`: a graph that is being written in Python, to and from the config that files hold."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from penstock.config import read_graph, to_text
from penstock_builder.draft import Draft
from penstock_builder.feedback import Feedback, remembered, unremembered
from penstock_builder.reading import fill
from penstock_builder.writing import config_of

if TYPE_CHECKING:
    from penstock import Registry
    from penstock_builder.wires import Stream


class Graph(Draft):
    """Nodes, streams and side packets as objects; `CalculatorGraph(graph)` runs it.

    A call that raises has changed nothing. One thread at a time may write a graph.

    Args:
        registry: where names are looked up; None for what the installed plugins provide.
        max_queue_size: packets that each input stream's queue holds; -1 for no limit, 0 for the default.
        num_threads: of the default executor; 0 leaves it to the framework.
        report_deadlock: whether full queues that wait for one another end the run.
        package: where names are looked up first.
        type: the name of the graph as a subgraph.

    Attributes:
        registry: see above.
        nodes: in the order in which they were made.
        settings: the config without its nodes and its own streams and side packets: what has no name here
            may be set in it.
        inputs, outputs, input_side_packets, output_side_packets: of the graph itself.
        stream_names, side_packet_names: the wire of each name.
    """

    _hints: ClassVar = {**Draft._hints, Feedback: "; read its .stream"}  # noqa: SLF001  # of its base class

    @classmethod
    def from_config(cls, source: object, registry: Registry | None = None) -> Graph:
        """Return the graph of a config, to look at, to change, and to write again without loss.

        Args:
            source: what `CalculatorGraph` takes: graph text as a `str`, a file as a `pathlib.Path`, a
                CalculatorGraphConfig, a `dict` as JSON has it, another builder graph.
            registry: as for `Graph`.

        Raises:
            GraphParseError, NotFoundError, PenstockError: it cannot be read; as `CalculatorGraph` raises.
            InvalidArgumentError: its wires cannot be drawn: an entry is no port, a port is connected
                twice, or a stream has two writers. All else is checked when the graph is loaded.
        """
        graph = cls(registry)
        fill(graph, read_graph(source, graph.registry))
        return graph

    def feedback(self, tick: Stream | None = None, initial: object = None) -> Feedback:
        """Return a loop: read its `stream` now, `connect` it later with one that is written below.

        Args:
            tick: None: `stream` is the connected stream itself, read as a back edge; some node of the loop
                must then answer without having read it, or the loop waits for itself. With a stream, the
                loop gives at each packet of it what came round for the packet before: a memory.
            initial: what a memory gives at the first tick: a bool, int, float or str, or a side packet.
                None: nothing comes at the first tick.

        Raises:
            InvalidArgumentError: an initial value without `tick`, or of another type.
            UnknownNameError: the calculators that a memory consists of are not installed.
        """
        return remembered(self, tick, initial) if tick is not None else unremembered(self, initial)

    def to_config(self) -> Any:
        """Return the graph as a CalculatorGraphConfig of its own.

        Raises:
            FailedPreconditionError: a loop that is read is not connected, or a port has an index while
                one below it is not connected.
        """
        return config_of(self)

    def to_text(self) -> str:
        """Return the graph as text, for a .pbtxt file. Raises as `to_config`."""
        return to_text(self.to_config(), self.registry)

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:  # noqa: ARG002
        """Return what a notebook shows: the graph drawn; see `penstock_views.draw`. Never raises."""
        from penstock_views.api import mimebundle  # for notebooks only
        from penstock_views.draw import read_drawing

        return mimebundle(lambda: read_drawing(self.to_config(), self.registry), repr(self))
