from __future__ import annotations

import contextlib
import gc
import multiprocessing
import sys
import threading
from pathlib import Path

import pytest

import penstock
from penstock.errors import GraphRunError
from penstock.lowlevel import default_registry

# Workers import the calculators by name, from where the driver finds them.
sys.path.insert(0, str(Path(__file__).parent))
import elsewhere

PATIENCE_S = 30.0


class Driven:
    """A graph with one input "in" and one output "out", and what came out."""

    def __init__(self, graph):
        self.graph = graph
        self.got = []
        graph.observe_output_stream("out", lambda _, packet: self.got.append(packet.payload))

    def run(self, *payloads):
        """Run the graph on payloads; return what came out."""
        self.got = []
        self.graph.start_run()
        self.add(*payloads)
        self.graph.close_all_input_streams()
        self.graph.wait_until_done(PATIENCE_S)
        return self.got

    def add(self, *payloads, start=0):
        for number, payload in enumerate(payloads, start):
            self.graph.add_packet_to_input_stream("in", penstock.Packet(payload, number * 100))


def descriptors():
    """Return how many files this process has open."""
    return len(list(Path("/proc/self/fd").iterdir()))


def text_of(nodes, options):
    """Return the text of a chain of nodes, each (calculator, what else stands in it), on workers."""
    names = ["in", *(f"s{n}" for n in range(1, len(nodes))), "out"]
    lines = [
        'input_stream: "in" executor { name: "workers" type: "ProcessExecutor"',
        f"options {{ [penstock_processes.ProcessExecutorOptions.ext] {{ {options} }} }} }}",
    ]
    lines += [
        f'node {{ calculator: "{calculator}" executor: "workers" input_stream: "{names[n]}" '
        f'output_stream: "{names[n + 1]}" {more} }}'
        for n, (calculator, more) in enumerate(nodes)
    ]
    return "\n".join(lines)


@pytest.fixture
def registry():
    found = default_registry().child()
    for one in elsewhere.ALL:
        found.add("calculator", one.__name__, one)
    found.add("calculator", "Doubled", elsewhere.doubled)
    return found


@pytest.fixture
def driven(registry):
    """Make a `Driven` of a chain of calculators on workers; it is closed with the test."""
    made = []

    def make(*nodes, options="num_processes: 2 cancel_grace_s: 0.2"):
        whole = [(one, "") if isinstance(one, str) else one for one in nodes]
        made.append(Driven(penstock.CalculatorGraph(text_of(whole, options), registry=registry)))
        return made[-1]

    yield make
    for one in made:
        if one.graph.is_running:
            one.graph.cancel()
        with contextlib.suppress(GraphRunError):
            one.graph.close(PATIENCE_S)


@pytest.fixture
def nothing_left():
    """Check that a test leaves no process, thread or descriptor behind."""
    # What multiprocessing starts once and keeps: the server that forks, and the resource tracker.
    multiprocessing.get_context("forkserver").Process(target=int).start()
    for child in multiprocessing.active_children():
        child.join(PATIENCE_S)
    gc.collect()
    before = (descriptors(), threading.enumerate())
    yield
    gc.collect()
    assert not multiprocessing.active_children()
    assert (descriptors(), threading.enumerate()) == before
