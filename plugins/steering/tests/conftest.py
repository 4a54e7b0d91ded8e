from __future__ import annotations

import contextlib
import sys
from pathlib import Path

import pytest

import penstock
from penstock.packs import default_registry

# Workers import the calculators by name, from where the driver finds them.
sys.path.insert(0, str(Path(__file__).parent))
import steerable

PATIENCE_S = 30.0


class Steered:
    """A graph of one node "n" from "in" to "out"."""

    def __init__(self, calculator, registry, node="", graph=""):
        text = f"""{graph} input_stream: "in"
            node {{ calculator: "{calculator}" name: "n" input_stream: "in" output_stream: "out" {node} }}"""
        self.graph = penstock.CalculatorGraph(text, registry=registry)
        self.out = []
        self.graph.observe_output_stream("out", self._take)

    def _take(self, _, packet):
        payload = packet.payload
        self.out.append((int(packet.timestamp), payload[0] if isinstance(payload, tuple) else payload))

    def feed(self, *stamps):
        """Add packets whose payloads are their timestamps, and wait until they are through."""
        for stamp in stamps:
            self.graph.add_packet_to_input_stream("in", penstock.Packet(stamp, stamp))
        self.graph.wait_until_idle(PATIENCE_S)

    def end(self):
        """Wait for the end of the run; return what came out, and forget it."""
        self.graph.close_all_input_streams()
        self.graph.wait_until_done(PATIENCE_S)
        assert self.graph.ledger().adds_up
        out, self.out = self.out, []
        return out


@pytest.fixture
def registry():
    found = default_registry().child()
    for one in steerable.ALL:
        found.add("calculator", one.__name__, one)
    return found


@pytest.fixture
def steered(registry):
    """Make a `Steered`; it is closed with the test."""
    made = []

    def make(calculator, node="", graph=""):
        made.append(Steered(calculator, registry, node, graph))
        return made[-1]

    yield make
    for one in made:
        if one.graph.is_running:
            with contextlib.suppress(penstock.GraphRunError):
                one.graph.abandon()
        one.graph.close(PATIENCE_S)


@pytest.fixture(autouse=True)
def events():
    """What calculators have done, from nothing."""
    steerable.EVENTS.clear()
    return steerable.EVENTS
