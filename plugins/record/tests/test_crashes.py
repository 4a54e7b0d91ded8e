"""What a node was given when it failed is in the recording: the replay fails in the same call."""

from __future__ import annotations

import random
import threading

import numpy as np
import pytest

import penstock
from penstock import Packet
from penstock.errors import CalculatorError, GraphRunError
from penstock.packs import default_registry
from penstock_record import RecordingReader, recording_graph, replay_graph
from penstock_record.recording_writer import PACKET

TIMEOUT = 60.0


class CrashesCalculator(penstock.Calculator):
    """Passes arrays on; raises where the first number of an array is 1."""

    @classmethod
    def get_contract(cls, cc):
        cc.inputs[0].set(np.ndarray)
        cc.outputs[0].set(np.ndarray)

    def process(self, cc):
        if cc.input.payload[0]:
            raise ValueError("this one")
        cc.output.add_packet(cc.input.packet)


class HoldsCalculator(penstock.Calculator):
    """Waits in `process` until the test lets it go on; says when it is there."""

    reached = threading.Event()
    leave = threading.Event()

    @classmethod
    def get_contract(cls, cc):
        cc.inputs[0].set(np.ndarray)

    def process(self, _cc):
        self.reached.set()
        assert self.leave.wait(TIMEOUT)


@pytest.fixture
def registry():
    found = default_registry().child()
    found.add("calculator", "CrashesCalculator", CrashesCalculator)
    found.add("calculator", "HoldsCalculator", HoldsCalculator)
    return found


def text_of(length, threads):
    """Return the text of a chain of nodes that may crash."""
    nodes = [
        f'node {{ name: "n{n}" calculator: "CrashesCalculator" '
        f'input_stream: "s{n}" output_stream: "s{n + 1}" }}'
        for n in range(length)
    ]
    return f'num_threads: {threads} input_stream: "s0"\n' + "\n".join(nodes)


def fed(graph, packets):
    """Feed a graph, and wait for its end."""
    for packet in packets:
        graph.add_packet_to_input_stream("s0", packet, timeout=TIMEOUT)
    graph.close_all_packet_sources()
    graph.wait_until_done(TIMEOUT)


def failure_of(graph, run):
    """Run a graph that fails; return the node, the timestamp and the words of its error."""
    graph.start_run()
    with pytest.raises(GraphRunError) as caught:
        run(graph)
    (error,) = caught.value.errors
    assert isinstance(error, CalculatorError)
    return error.node, error.timestamp, str(error)


@pytest.mark.parametrize("seed", range(25))
def test_the_replay_of_a_crash_fails_in_the_same_call(seed, tmp_path, registry):
    chance = random.Random(seed)  # noqa: S311  # a test's order
    path = tmp_path / "crash.mcap"
    text = text_of(chance.randrange(1, 4), chance.randrange(1, 5))
    at = chance.randrange(1, 40)
    arrays = [np.full(chance.choice((10, 60_000)), n == at, np.uint8) for n in range(60)]
    config = recording_graph(text, path, registry=registry)

    packets = [Packet(one, n * 10) for n, one in enumerate(arrays)]
    failed = failure_of(
        penstock.CalculatorGraph(config, registry=registry), lambda graph: fed(graph, packets)
    )
    replay = penstock.CalculatorGraph(replay_graph(None, path, registry=registry), registry=registry)
    again = failure_of(replay, lambda graph: graph.wait_until_done(TIMEOUT))

    assert failed[:2] == ("n0", at * 10)
    assert again == failed


@pytest.mark.parametrize("count", [1, 40])
def test_what_waits_when_a_run_is_cancelled_is_in_the_recording(count, tmp_path, registry, monkeypatch):
    monkeypatch.setattr(HoldsCalculator, "reached", threading.Event())
    monkeypatch.setattr(HoldsCalculator, "leave", threading.Event())
    path = tmp_path / "cancelled.mcap"
    text = 'num_threads: 1 input_stream: "s0" node { calculator: "HoldsCalculator" input_stream: "s0" }'
    graph = penstock.CalculatorGraph(recording_graph(text, path, registry=registry), registry=registry)
    graph.start_run()
    for n in range(count):
        graph.add_packet_to_input_stream("s0", Packet(np.zeros(3, np.uint8), n), timeout=TIMEOUT)
    assert HoldsCalculator.reached.wait(TIMEOUT)
    graph.cancel()
    HoldsCalculator.leave.set()
    with pytest.raises(GraphRunError, match="cancelled"):
        graph.wait_until_done(TIMEOUT)

    with RecordingReader(path, registry) as reader:
        stamps = [event.timestamp for event in reader.events() if event.kind == PACKET]
    assert stamps == list(range(count))
    assert graph.ledger().adds_up


def test_packets_that_wait_stay_for_the_node_until_it_closes(registry):
    taken = []

    class Takes(penstock.Calculator):
        @classmethod
        def get_contract(cls, cc):
            cc.inputs[0].set_any()

        def process(self, cc):
            taken.extend(cc.input.take_waiting())
            seen.append(cc.input.payload)

        def close(self, cc):
            taken.extend(cc.input.take_waiting())

    seen = []
    registry.add("calculator", "Takes", Takes)
    graph = penstock.CalculatorGraph(
        'input_stream: "in" node { calculator: "Takes" input_stream: "in" }', registry=registry
    )
    graph.start_run()
    for n in range(5):
        graph.add_packet_to_input_stream("in", Packet(n, n))
    graph.wait_until_idle(TIMEOUT)
    graph.swap("Takes", calculator="Takes")
    for n in range(5, 9):
        graph.add_packet_to_input_stream("in", Packet(n, n))
    graph.close_all_packet_sources()
    graph.wait_until_done(TIMEOUT)

    assert (seen, taken) == (list(range(9)), [])


def test_a_recording_is_read_by_a_str_and_with_the_default_codecs(tmp_path, registry):
    path = tmp_path / "some.mcap"
    text = 'input_stream: "s0" node { calculator: "HoldsCalculator" input_stream: "s0" }'
    graph = penstock.CalculatorGraph(recording_graph(text, path, registry=registry), registry=registry)
    graph.start_run()
    graph.close_all_packet_sources()
    graph.wait_until_done(TIMEOUT)

    with RecordingReader(str(path)) as reader:
        assert reader.about.streams == ("s0",)
