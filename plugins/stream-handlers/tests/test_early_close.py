from __future__ import annotations

import pytest

import penstock
from penstock_stream_handlers.early_close import EarlyCloseInputStreamHandler


class Adder(penstock.Calculator):
    @classmethod
    def get_contract(cls, cc):
        for port in cc.inputs:
            port.set(int)
        cc.outputs[0].set(int)
        cc.set_timestamp_offset(0)

    def process(self, cc):
        cc.output.add(sum(port.payload or 0 for port in cc.inputs), cc.input_timestamp)


@pytest.fixture
def graph(penstock_registry):
    registry = penstock_registry.child()
    registry.add("input stream handler", "EarlyCloseInputStreamHandler", EarlyCloseInputStreamHandler)
    registry.add("calculator", "Adder", Adder)
    return penstock.CalculatorGraph(
        """
        input_stream: "a"
        input_stream: "b"
        node {
          calculator: "Adder"
          input_stream: "a"
          input_stream: "b"
          output_stream: "out"
          input_stream_handler { input_stream_handler: "EarlyCloseInputStreamHandler" }
        }
        """,
        registry=registry,
    )


def test_the_node_closes_when_one_input_is_done_whatever_the_others_hold(graph):
    seen = []
    graph.observe_output_stream("out", lambda _, packet: seen.append((int(packet.timestamp), packet.payload)))
    graph.start_run()

    for timestamp in (1, 2):
        graph.add_packet_to_input_stream("a", penstock.Packet(timestamp, timestamp))
        graph.add_packet_to_input_stream("b", penstock.Packet(10, timestamp))
    graph.add_packet_to_input_stream("b", penstock.Packet(10, 3))
    graph.close_input_stream("a")
    graph.wait_until_idle(5)

    assert graph.snapshot().nodes[0].state == "closed"
    assert seen == [(1, 11), (2, 12)]
    graph.close(5)


def test_packets_at_a_closed_node_are_dropped_and_counted(graph):
    graph.start_run()
    graph.close_input_stream("a")
    graph.wait_until_idle(5)

    graph.add_packet_to_input_stream("b", penstock.Packet(1, 1))

    (dropped,) = (stream.dropped for stream in graph.snapshot().streams if stream.name == "b")
    assert dropped == 1
    graph.close(5)


def test_sets_are_formed_as_by_the_default_policy_while_all_inputs_live(graph):
    seen = []
    graph.observe_output_stream("out", lambda _, packet: seen.append((int(packet.timestamp), packet.payload)))
    graph.start_run()

    graph.add_packet_to_input_stream("b", penstock.Packet(5, 2))
    graph.wait_until_idle(5)
    waited = list(seen)
    graph.add_packet_to_input_stream("a", penstock.Packet(1, 1))
    graph.add_packet_to_input_stream("a", penstock.Packet(2, 2))
    graph.wait_until_idle(5)

    assert (waited, seen) == ([], [(1, 1), (2, 7)])
    graph.close(5)
