"""Expected values from the tests of the reference."""

from __future__ import annotations

import pytest

from penstock import CalculatorGraph, GraphRunError, Packet, StatusCode, Timestamp
from penstock.errors import UnavailableError
from penstock_calculators.side_packets.stream_to_side_packet import StreamToSidePacketCalculator
from penstock_testing import InlineExecutor, run_calculator

TIMEOUT = 20
GRAPH = (
    'input_stream: "calibration"'
    + StreamToSidePacketCalculator.__doc__.partition("Example config::")[2]
    + """
    node {
      calculator: "SidePacketToStreamCalculator"
      input_side_packet: "camera_matrix"
      output_stream: "AT_ZERO:matrix"
    }
    """
)


def started():
    graph = CalculatorGraph(GRAPH)
    graph.set_executor("", InlineExecutor())
    seen = []
    graph.observe_output_stream("matrix", lambda _, packet: seen.append(packet.payload))
    graph.start_run()
    return graph, seen


@pytest.mark.reference(
    "calculators/core/stream_to_side_packet_calculator_test.cc",
    "StreamToSidePacketCalculatorTest.StreamToSidePacketCalculatorWithSinglePacketCreatesSidePacket",
)
def test_the_only_packet_becomes_the_side_packet():
    run = run_calculator(StreamToSidePacketCalculator, {0: [(1, "test")]}, output_side_packets=[0])

    assert run.output_side_packets == {0: "test"}


def test_the_side_packet_is_there_while_the_run_goes_on_and_opens_the_nodes_that_wait_for_it():
    graph, seen = started()
    payload = object()
    graph.add_packet_to_input_stream("calibration", Packet(payload, 5))
    graph.wait_until_idle(TIMEOUT)
    side = graph.get_output_side_packet("camera_matrix")
    during = list(seen)
    graph.close(TIMEOUT)

    assert side.payload is payload
    assert side.timestamp == Timestamp.UNSET
    assert during == [payload]


@pytest.mark.reference(
    "calculators/core/stream_to_side_packet_calculator_test.cc",
    "StreamToSidePacketCalculatorTest.StreamToSidePacketCalculatorWithEmptyStreamFails",
)
def test_without_a_packet_there_is_no_side_packet_and_the_run_ends_well():
    graph, seen = started()
    graph.close(TIMEOUT)

    with pytest.raises(
        UnavailableError, match="side packet 'camera_matrix' of the graph has not been made"
    ) as caught:
        graph.get_output_side_packet("camera_matrix")
    assert caught.value.code is StatusCode.UNAVAILABLE
    assert seen == []


@pytest.mark.reference(
    "calculators/core/stream_to_side_packet_calculator_test.cc",
    "StreamToSidePacketCalculatorTest.StreamToSidePacketCalculatorWithMultiplePacketsFails",
)
def test_a_second_packet_is_an_error_of_the_run():
    with pytest.raises(GraphRunError, match="was already set in this run") as caught:
        run_calculator(
            StreamToSidePacketCalculator, {0: [(1, "test1"), (2, "test2")]}, output_side_packets=[0]
        )

    assert caught.value.code is caught.value.errors[0].code is StatusCode.ALREADY_EXISTS
    assert caught.value.errors[0].timestamp == 2
