"""That payloads die as soon as nothing needs them, and never under the lock of the run."""

from __future__ import annotations

import pytest

import penstock
from penstock import Packet

TIMEOUT = 20


@pytest.fixture
def waste(make, is_locked):
    """Return a graph whose node also writes payloads that nothing reads, and lists of what became of them.

    The lists: for each payload that died, whether its thread held the run's lock then; for each payload that
    was added to a graph input, whether it died before the call that added it returned.
    """
    deaths: list[bool] = []
    died_at_once: list[bool] = []

    class Payload:
        def __del__(self):
            deaths.append(is_locked(graph))

    class Wasteful(penstock.Calculator):
        """Writes its input to one stream, and unread payloads to another one and a graph input."""

        @classmethod
        def get_contract(cls, cc):
            cc.inputs[0].set_any()
            cc.outputs[0].set_any()
            cc.outputs[1].set_any()

        def process(self, cc):
            cc.outputs[0].add(cc.input.payload, cc.input_timestamp)
            cc.outputs[1].add(Payload(), cc.input_timestamp)
            before = len(deaths)
            graph.add_packet_to_input_stream("unread", Packet(Payload(), cc.input_timestamp))
            died_at_once.append(len(deaths) == before + 1)

    graph = make([(Wasteful, "in", "out waste")], "in unread", threads=1)
    return graph, deaths, died_at_once


def test_payloads_that_nothing_reads_die_before_the_observer_is_called_and_outside_the_lock(waste):
    graph, deaths, _ = waste
    seen = []
    graph.observe_output_stream("out", lambda _, packet: seen.append((packet.payload, len(deaths))))
    graph.start_run()
    for number in range(20):
        graph.add_packet_to_input_stream("in", Packet(number, number))
        graph.wait_until_idle(TIMEOUT)
    graph.close(TIMEOUT)

    # both that were made for a packet are gone when its observer is called
    assert seen == [(number, 2 * (number + 1)) for number in range(20)]
    assert not any(deaths)


def test_a_payload_for_a_graph_input_that_nothing_reads_dies_before_adding_it_returns(waste):
    graph, deaths, died_at_once = waste
    graph.start_run()
    for number in range(20):
        graph.add_packet_to_input_stream("in", Packet(number, number))
    graph.wait_until_idle(TIMEOUT)
    graph.close(TIMEOUT)

    assert died_at_once == [True] * 20
    assert not any(deaths)
