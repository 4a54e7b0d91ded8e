"""Conformance: what the reference does, scenario by scenario, as Penstock's decisions amend it.

Every test is one small graph, written as text, with its inputs and all that has to come out. Names begin
with the number of the scenario (`test_s17_...`), or with the number of a behaviour that is easily got wrong
(`test_quirk12_...`); `test_table.py` lists both, with the reasons of those that are left out. Where Penstock
differs on purpose, the test shows its behaviour, and its docstring names the decision.

The files, by theme: `test_names_and_packets.py`, `test_bounds.py`, `test_stream_errors.py`,
`test_handlers.py`, `test_mux.py`, `test_arrival.py`, `test_layers_and_throttling.py`, `test_endings.py`,
`test_side_packets.py`, `test_structure.py`, `test_whole_graphs.py`, `test_decisions.py`, and
`test_quirks_*.py`. `test_reference_*.py` has graphs of the reference's own tests.

All runs use the installed packs through the default registry. A test that takes `bench` runs on the default
thread pool, on one thread, and on the application's own thread, since its result must not depend on that.
Every run that was waited for is checked for a ledger that adds up.
"""

from __future__ import annotations

import contextlib

import pytest

import penstock
from penstock import STOP, CalculatorGraph, GraphRunError, Packet, PenstockError
from penstock.plugins.default_registry import default_registry
from penstock_testing import calculator

#: Seconds after which a wait of a test has failed; long, since a loaded machine is no fault of it.
PATIENCE_S = 30.0

#: What stands before a graph text, by the way it is run.
EXECUTORS = {
    "pool": "",
    "one-thread": "num_threads: 1\n",
    "application": 'executor { type: "ApplicationThreadExecutor" }\n',
}


# --- small calculators ---------------------------------------------------------------------------


def pass_each(cc):
    for source, target in zip(cc.inputs, cc.outputs, strict=True):
        if not source.is_empty():
            target.add_packet(source.packet)


def merge(cc):
    parts = ["empty" if port.is_empty() else str(port.payload) for port in cc.inputs]
    cc.output.add(f"{cc.input_timestamp}: {' '.join(parts)}", cc.input_timestamp)


def add_up(cc):
    cc.output.add(sum(port.packet.get(int) for port in cc.inputs), cc.input_timestamp)


def multiply(cc):
    product = 1
    for port in cc.inputs:
        product *= port.packet.get(int)
    cc.output.add(product, cc.input_timestamp)


def delay(cc):
    cc.output.add_packet(cc.input.packet.at(cc.input_timestamp.next_allowed_in_stream()))


def say_settled(cc):
    for port in cc.inputs:
        at = port.packet.timestamp
        if at == cc.input_timestamp and at >= cc.outputs[0].bound:
            cc.outputs[0].add(int(at), at)


class Emit(penstock.Calculator):
    """A source: each call writes one of its side packet's (payload, timestamp); the last one stops."""

    @classmethod
    def get_contract(cls, cc):
        cc.input_side_packets[0].set(list)
        cc.outputs[0].set_any()

    def open(self, cc):
        self.left = list(cc.input_side_packets[0].payload)

    def process(self, cc):
        cc.output.add(*self.left.pop(0))
        return None if self.left else STOP


class Endless(penstock.Calculator):
    """A source that writes i at i and never stops by itself."""

    @classmethod
    def get_contract(cls, cc):
        cc.outputs[0].set(int)

    def open(self, cc):
        self.sent = 0

    def process(self, cc):
        cc.output.add(self.sent, self.sent)
        self.sent += 1

    def close(self, cc):
        cc.counter("closes").increment()


class Sink(penstock.Calculator):
    """Appends (timestamp, payload) of each packet to its side packet, a list."""

    @classmethod
    def get_contract(cls, cc):
        cc.inputs[0].set_any()
        cc.input_side_packets[0].set(list)

    def process(self, cc):
        cc.input_side_packets[0].payload.append((cc.input_timestamp, cc.input.payload))


KIT = [
    calculator(merge, name="Merge"),
    calculator(add_up, name="Adder", offset=0),
    calculator(multiply, name="Mult", offset=0),
    calculator(delay, name="UnitDelay", open=lambda cc: cc.output.add(0, 0)),
    calculator(lambda cc: cc.set_next_timestamp_bound(cc.input_timestamp + 1), name="Bound"),
    calculator(name="OffsetOnly", offset=0),
    calculator(lambda cc: cc.output.add_packet(cc.input.packet.at(cc.input_timestamp + 3)), name="Future"),
    calculator(say_settled, name="Ts", process_bounds=True),
    calculator(lambda cc: cc.counter("calls").increment(), name="Counting"),
    calculator(pass_each, name="PlainPass"),
    Emit,
    Endless,
    Sink,
]


def short(timestamp):
    """Return a timestamp as `Bench.calls` has it: "5", "max", "unstarted"."""
    return str(timestamp).removeprefix("Timestamp::").removesuffix("()").lower()


class Seen(penstock.Calculator):
    """Writes down what each call sees in `bench.calls`, and does what the test wants in that call.

    A call reads "5: a=x b@4 c=y@7": a has x at the input timestamp 5, b is empty and settled at 4, c has
    y at 7; at the end "close". The number of the call, from 1, is written to the output if there is one.
    """

    bench: Bench

    @classmethod
    def get_contract(cls, cc):
        for port in (*cc.inputs, *cc.outputs):
            port.set_any()

    def open(self, cc):
        self.number = 0

    def process(self, cc):
        self.number += 1
        self.bench.calls.append(
            f"{short(cc.input_timestamp)}: "
            + " ".join(self._words(port, cc.input_timestamp) for port in cc.inputs)
        )
        self.write(cc)
        return self.bench.during.get(self.number, lambda: None)()

    def write(self, cc):
        for output in cc.outputs:
            output.add(self.number, self.number)

    def close(self, cc):
        self.bench.calls.append("close")

    @staticmethod
    def _words(port, now) -> str:
        at = port.packet.timestamp
        if port.is_empty():
            return f"{port.name}@{short(at)}"
        return f"{port.name}={port.payload}" + (f"@{short(at)}" if at != now else "")


class SeenBounds(Seen):
    """Is called for settled timestamps too."""

    @classmethod
    def get_contract(cls, cc):
        super().get_contract(cc)
        cc.set_process_timestamp_bounds()


class SeenPass(Seen):
    """Hands its inputs on, with an offset of 0."""

    @classmethod
    def get_contract(cls, cc):
        super().get_contract(cc)
        cc.set_timestamp_offset(0)

    def write(self, cc):
        pass_each(cc)


# --- graphs under test ---------------------------------------------------------------------------


class Bench:
    """One graph after another, run by one kind of executor."""

    def __init__(self, before):
        self._before = before
        self._graphs = []
        #: The last one loaded.
        self.graph = None
        #: Stream → what it has carried, as (timestamp, payload); an empty packet has None.
        self.seen = {}
        #: What the node `Seen` or `SeenBounds` was shown, in order.
        self.calls = []
        #: Number of a call of that node, from 1 → what happens in it.
        self.during = {}
        #: Name → text of the subgraphs of the next graph.
        self.subgraphs = {}

    @staticmethod
    def net(inputs, *nodes, more="") -> str:
        """Write a graph as text, from graph inputs and a line for each node.

        "Merge a T:b -> out | name: 'm'" is a node of calculator Merge, with inputs a and T:b, output out,
        and the rest as it stands. Pass stands for PassThroughCalculator.
        """
        text = more + "".join(f'input_stream: "{name}"\n' for name in inputs.split())
        for line in nodes:
            ports, _, rest = line.partition(" | ")
            before, _, after = f"{ports} ".partition("->")
            kind, *reads = before.split()
            kind = "PassThroughCalculator" if kind == "Pass" else kind
            lines = [f'calculator: "{kind}"', *(f'input_stream: "{port}"' for port in reads)]
            lines += [f'output_stream: "{port}"' for port in after.split()]
            text += f"node {{ {' '.join(lines)} {rest} }}\n"
        return text

    @staticmethod
    def handler(name, options="") -> str:
        """Write the choice of an input stream handler as text; "Barrier" is BarrierInputStreamHandler."""
        name = f"{name}InputStreamHandler"
        given = f"options {{ [mediapipe.{name}Options.ext] {{ {options} }} }}" if options else ""
        return f'input_stream_handler {{ input_stream_handler: "{name}" {given} }}\n'

    def load(self, text, *calculators, watch=(), bounds=False, side_packets=None, services=None):
        """Load a graph in which these calculators have their class names, and watch streams."""
        registry = default_registry().child()
        of_mine = [type(kind.__name__, (kind,), {"bench": self}) for kind in (Seen, SeenBounds, SeenPass)]
        for kind in (*KIT, *of_mine, *calculators):
            registry.add("calculator", kind.__name__, kind)
        self.graph = CalculatorGraph(
            self._before + text,
            side_packets=side_packets,
            registry=registry,
            subgraphs=self.subgraphs,
            services=services,
        )
        self._graphs.append(self.graph)
        self.seen = {stream: [] for stream in watch}
        self.calls.clear()
        for stream in watch:
            self.graph.observe_output_stream(stream, self._saw, observe_timestamp_bounds=bounds)
        return self.graph

    def start(self, text, *calculators, sides=None, **given):
        """Load a graph, and start a run with these side packets."""
        self.load(text, *calculators, **given).start_run(sides)
        return self.graph

    def run(self, text, *calculators, sides=None, **given):
        """Run a graph without graph inputs to its end."""
        self.start(text, *calculators, sides=sides, **given)
        self.done()

    def _saw(self, stream, packet):
        self.seen[stream].append((packet.timestamp, packet.payload))

    def add(self, stream, *packets):
        """Add packets given as (timestamp, payload), or as a timestamp that is its own payload."""
        for packet in packets:
            at, payload = packet if isinstance(packet, tuple) else (packet, packet)
            self.graph.add_packet_to_input_stream(stream, Packet(payload, at))

    def add_one_by_one(self, stream, *packets):
        """Add packets, and wait after each until the graph is idle."""
        for packet in packets:
            self.add(stream, packet)
            self.idle()

    def bound(self, stream, bound):
        self.graph.set_input_stream_timestamp_bound(stream, bound)
        self.idle()

    def close(self, *streams):
        """Close graph inputs one by one, and wait after each until the graph is idle."""
        for stream in streams:
            self.graph.close_input_stream(stream)
            self.idle()

    def idle(self):
        self.graph.wait_until_idle(PATIENCE_S)

    def done(self):
        try:
            self.graph.wait_until_done(PATIENCE_S)
        finally:
            self.check_ledger()

    def end(self):
        """Close all graph inputs and wait for the end."""
        self.graph.close_all_input_streams()
        self.done()

    def failure(self, wait=None):
        """Wait for the end of a run that must fail, and return its error."""
        with pytest.raises(GraphRunError) as caught:
            (wait or self.done)()
        return caught.value

    def check_ledger(self):
        """See that each packet written in the run is delivered, dropped or waiting, at each reader."""
        ledger = self.graph.ledger()
        assert ledger.adds_up, str(ledger)

    def drops(self):
        """Return what the run has thrown away, as (stream, reason, count)."""
        return [(drop.stream, drop.reason, drop.count) for drop in self.graph.ledger().drops]

    def node(self, name):
        """Return where a node stands."""
        return next(node for node in self.graph.snapshot().nodes if node.name == name)

    def stream(self, name):
        """Return where a stream stands."""
        return next(stream for stream in self.graph.snapshot().streams if stream.name == name)

    def leave(self):
        """End what a failed test has left running."""
        for graph in self._graphs:
            with contextlib.suppress(PenstockError):  # there was no run, or it has failed
                graph.cancel()
                graph.wait_until_done(PATIENCE_S)


def _bench(executor):
    made = Bench(EXECUTORS[executor])
    yield made
    made.leave()


@pytest.fixture(params=EXECUTORS)
def bench(request):
    """Run graphs in each way."""
    yield from _bench(request.param)


@pytest.fixture
def one_thread():
    """Run graphs on one thread, in the scheduler's own order: for tests that depend on priorities."""
    yield from _bench("one-thread")


@pytest.fixture
def pool():
    """Run graphs on the default thread pool: for calculators that block."""
    yield from _bench("pool")
