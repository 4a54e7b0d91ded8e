"""That payloads die as soon as nobody wants them, and never under the lock of the run."""

from __future__ import annotations

import pytest

import penstock
from penstock import Packet
from penstock_executors.thread_pool import ThreadPoolExecutor

TIMEOUT = 20


class Payload:
    """Notes whether the run is locked by the thread on which it dies."""

    def __init__(self, graph, deaths):
        self._graph, self._deaths = graph, deaths

    def __del__(self):
        self._deaths.append(self._graph._starter.runner.lock._is_owned())


class Wasteful(penstock.Calculator):
    """Writes its input to one stream, and payloads that nobody reads to another one and a graph input."""

    graph: penstock.CalculatorGraph
    deaths: list[bool]
    died_at_once: list[bool]

    @classmethod
    def get_contract(cls, cc):
        cc.inputs[0].set_any()
        cc.outputs["OUT"].set_any()
        cc.outputs["WASTE"].set_any()

    def process(self, cc):
        cc.outputs["OUT"].add(cc.input.payload, cc.input_timestamp)
        cc.outputs["WASTE"].add(Payload(self.graph, self.deaths), cc.input_timestamp)
        before = len(self.deaths)
        self.graph.add_packet_to_input_stream(
            "nobody", Packet(Payload(self.graph, self.deaths), cc.input_timestamp)
        )
        self.died_at_once.append(len(self.deaths) == before + 1)


@pytest.fixture
def graph(penstock_registry):
    class Own(Wasteful):
        """Has lists of its own for each test."""

    registry = penstock_registry.child()
    registry.add("executor", "ThreadPoolExecutor", ThreadPoolExecutor)
    registry.add("calculator", "Own", Own)
    made = penstock.CalculatorGraph(
        'input_stream: "in" input_stream: "nobody" num_threads: 1 node { calculator: "Own" '
        'input_stream: "in" output_stream: "OUT:out" output_stream: "WASTE:waste" }',
        registry=registry,
    )
    Own.graph, Own.deaths, Own.died_at_once = made, [], []
    return made, Own


def test_payloads_that_nobody_reads_die_beside_an_observer_and_outside_the_lock(graph):
    made, own = graph
    seen = []
    made.observe_output_stream("out", lambda _, packet: seen.append((packet.payload, len(own.deaths))))
    made.start_run()
    for number in range(20):
        made.add_packet_to_input_stream("in", Packet(number, number))
        made.wait_until_idle(TIMEOUT)
    made.close(TIMEOUT)

    # both that were made for a packet are gone when its observer is called
    assert seen == [(number, 2 * (number + 1)) for number in range(20)]
    assert not any(own.deaths)


def test_a_payload_for_a_graph_input_that_nobody_reads_dies_before_adding_it_returns(graph):
    made, own = graph
    made.start_run()
    for number in range(20):
        made.add_packet_to_input_stream("in", Packet(number, number))
    made.wait_until_idle(TIMEOUT)
    made.close(TIMEOUT)

    assert own.died_at_once == [True] * 20
    assert not any(own.deaths)
