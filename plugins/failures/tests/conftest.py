from __future__ import annotations

import sys
from pathlib import Path

import pytest

import penstock
from penstock.errors import GraphRunError
from penstock.packs import default_registry

# Workers import the calculators by name, from where the driver finds them.
sys.path.insert(0, str(Path(__file__).parent))
import trouble

PATIENCE_S = 30.0


class Driven:
    """A graph with an input "in", an output "out" and an error stream "errors"."""

    def __init__(self, text, registry):
        self.graph = penstock.CalculatorGraph(text, registry=registry)
        self.out = []
        self.errors = []
        self.error = None
        streams = self.graph.text_config
        self.graph.observe_output_stream("out", lambda _, packet: self.out.append(packet.payload))
        if "error_stream" in streams:
            self.graph.observe_output_stream("errors", self._take_error, observe_timestamp_bounds=True)

    def _take_error(self, _, packet):
        stamp = int(packet.timestamp)
        self.errors.append((stamp, None if packet.is_empty() else packet.payload))

    def run(self, *payloads, **side_packets):
        """Run the graph on payloads at 0, 10, 20 ...; return what came out. `error` has the run's error."""
        self.graph.start_run(side_packets)
        try:
            for number, payload in enumerate(payloads):
                self.graph.add_packet_to_input_stream("in", penstock.Packet(payload, 10 * number))
            self.graph.close_all_input_streams()
            self.graph.wait_until_done(PATIENCE_S)
        except penstock.PenstockError as error:
            self.error = error
            if self.graph.is_running:
                self.graph.cancel()
                with pytest.raises(GraphRunError):
                    self.graph.wait_until_done(PATIENCE_S)
        assert self.graph.ledger().adds_up
        return self.out

    def skipped(self):
        """Return what the ledger says of skipped input sets: reason → count."""
        drops = [drop for drop in self.graph.ledger().drops if drop.reason.startswith("skipped")]
        return {drop.reason: drop.count for drop in drops}

    def actions(self):
        return [str(failure.action) for failure in self.graph.failures()]


@pytest.fixture
def registry():
    found = default_registry().child()
    for one in trouble.ALL:
        found.add("calculator", one.__name__, one)
    found.add("calculator", "Doubled", trouble.doubled)
    return found


@pytest.fixture
def driven(registry):
    """Make a `Driven` of one calculator with a failure policy; it is closed with the test."""
    made = []

    def make(calculator, failure, node="", graph=""):
        text = f"""input_stream: "in" {graph}
            node {{ calculator: "{calculator}" input_stream: "in" output_stream: "out" {node}
                    failure {{ {failure} }} }}"""
        made.append(Driven(text, registry))
        return made[-1]

    yield make
    for one in made:
        one.graph.close(PATIENCE_S)


@pytest.fixture(autouse=True)
def events():
    """What calculators have done, from nothing."""
    trouble.EVENTS.clear()
    trouble.LEFT.clear()
    trouble.Camera.at = 0
    return trouble.EVENTS
