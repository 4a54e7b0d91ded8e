"""The founding documents as tests: what was promised when the system was first described.

Two documents hold all graphs and code: one on calculators, graphs, packets and synchronization, one on
real-time streams and timestamp bounds. Their graph texts lie unchanged in `graphs/`; their code is
transcribed line by line, and each test says what has to come out. Some texts are fragments that name
streams without a writer; a test then puts the missing `input_stream` lines before the text.

The files, in the order of the documents:

- `test_calculator_class.py`, `test_audio_video.py`: the four methods and their life; tags and indexes.
- `test_room_sensors.py`: the packet cloner, line by line, and the room with three sensors.
- `test_pass_through_chain.py`, `test_cycle.py`, `test_packets.py`: graphs, cycles, packets.
- `test_bounds.py`, `test_close_and_summary.py`, `test_live_sources.py`: the document on real time.
- `test_scenarios_*.py`: conformance scenarios that the documents lead to.

The subgraph `TwoPassThroughSubgraph` and the main graph that uses it are tested where it lives, in
`subgraphs/flow`. Examples that wait for their parts: `LuminanceCalculator`, the converters between GPU
buffers and image frames, and the overlay on the GPU.

All runs use the installed packs through the default registry, as an application would. Every test that
takes `bench` runs on the thread pool and on the inline executor under several seeds, which change the
order of steps: what comes out must not depend on it.
"""

from __future__ import annotations

import contextlib
from pathlib import Path

import pytest

from penstock import CalculatorGraph, GraphRunError, Packet, PenstockError
from penstock.plugins.default_registry import default_registry
from penstock_testing import InlineExecutor

SEEDS = range(5)
#: Seconds after which a wait of a test has failed; long, since a loaded machine is no fault of it.
PATIENCE_S = 30.0


class Bench:
    """One graph after another on the way that the test is run: threads, or a seed."""

    def __init__(self, seed):
        self._seed = seed
        self._graphs = []
        self.graph = None
        #: Stream → its packets as (timestamp, payload); an empty packet has None.
        self.seen = {}

    def load(self, text, *calculators, watch=(), bounds=False, side_packets=None):
        """Load a graph in which these calculators have their class names, and watch streams."""
        registry = default_registry().child()
        for calculator in calculators:
            registry.add("calculator", calculator.__name__, calculator)
        self.graph = CalculatorGraph(text, side_packets=side_packets, registry=registry)
        if self._seed is not None:
            self.graph.set_executor("", InlineExecutor(self._seed))
        self._graphs.append(self.graph)
        self.seen = {stream: [] for stream in watch}
        for stream in watch:
            self.graph.observe_output_stream(stream, self._saw, observe_timestamp_bounds=bounds)
        return self.graph

    def start(self, text, *calculators, **given):
        """Load a graph, and start a run."""
        self.load(text, *calculators, **given)
        self.graph.start_run()
        return self.graph

    def _saw(self, stream, packet):
        self.seen[stream].append((packet.timestamp, packet.payload))

    def add(self, stream, timestamp, payload):
        self.graph.add_packet_to_input_stream(stream, Packet(payload, timestamp))

    def idle(self):
        self.graph.wait_until_idle(PATIENCE_S)

    def done(self):
        self.graph.wait_until_done(PATIENCE_S)

    def end(self):
        """Close all graph inputs and wait for the end."""
        self.graph.close_all_input_streams()
        self.done()

    def failure(self, wait=None):
        """Wait for the end of a run that must fail, and return its error."""
        with pytest.raises(GraphRunError) as caught:
            (wait or self.done)()
        return caught.value

    def node(self, name):
        """Return where a node stands."""
        return next(node for node in self.graph.snapshot().nodes if node.name == name)

    def queued(self, stream):
        """Return how many packets wait at the reader of a stream."""
        return next(each.queued for each in self.graph.snapshot().streams if each.name == stream)

    def leave(self):
        """End what a failed test has left running."""
        for graph in self._graphs:
            with contextlib.suppress(PenstockError):  # there was no run, or it has failed
                graph.cancel()
                graph.wait_until_done(PATIENCE_S)


@pytest.fixture(params=[None, *SEEDS], ids=lambda seed: "threads" if seed is None else f"inline-{seed}")
def bench(request):
    made = Bench(request.param)
    yield made
    made.leave()


@pytest.fixture
def in_order():
    """Run on one thread in the scheduler's own order, for what depends on priorities."""
    made = Bench(None)
    load = made.load

    def load_inline(*args, **kwargs):
        graph = load(*args, **kwargs)
        graph.set_executor("", InlineExecutor())
        return graph

    made.load = load_inline
    yield made
    made.leave()


@pytest.fixture(scope="session")
def graph_text():
    """Return the text of a graph of the documents."""
    return lambda name: (Path(__file__).parent / "graphs" / f"{name}.pbtxt").read_text("utf-8")
