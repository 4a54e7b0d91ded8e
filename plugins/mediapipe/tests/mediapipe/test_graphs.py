"""`CalculatorGraph` and `ValidatedGraphConfig` with the graphs of MediaPipe's own tests."""

from __future__ import annotations

import pytest
from google.protobuf import text_format

from penstock_mediapipe import (
    CalculatorGraph,
    GraphInputStreamAddMode,
    ValidatedGraphConfig,
    packet_creator,
    packet_getter,
)
from penstock_mediapipe.framework import calculator_pb2

ONE_WAITS = """
    max_queue_size: 1
    input_stream: 'in'
    output_stream: 'out'
    node { calculator: 'PassThroughCalculator' input_stream: 'in' output_stream: 'out' }"""


def message_of(text):
    return text_format.Parse(text, calculator_pb2.CalculatorGraphConfig())


def of_validated(text):
    validated = ValidatedGraphConfig()
    assert not validated.initialized()
    validated.initialize(graph_config=text)
    assert validated.initialized()
    return CalculatorGraph(validated_graph_config=validated)


def observed(graph):
    """Start a graph, and return the list that its output packets come to."""
    found = []
    graph.observe_output_stream("out", lambda _, packet: found.append(packet))
    graph.start_run()
    return found


@pytest.mark.reference("python/calculator_graph_test.py", "GraphTest.test_invalid_binary_graph_file")
def test_a_graph_file_that_is_not_there_is_a_file_not_found_error(tmp_path):
    with pytest.raises(FileNotFoundError, match="No such file or directory"):
        CalculatorGraph(binary_graph_path=str(tmp_path / "abc.binarypb"))


@pytest.mark.reference(
    "python/calculator_graph_test.py",
    "GraphTest.test_invalid_node_config",
    "GraphTest.test_invalid_calculator_type",
)
@pytest.mark.parametrize(
    ("node", "error", "words"),
    [
        (
            "calculator: 'PassThroughCalculator' input_stream: 'in' input_stream: 'in' output_stream: 'out'",
            ValueError,
            "Input and output streams to PassThroughCalculator must use matching tags and indexes.",
        ),
        (
            "calculator: 'SomeUnknownCalculator' input_stream: 'in' output_stream: 'out'",
            RuntimeError,
            'Unable to find Calculator "SomeUnknownCalculator"',
        ),
    ],
)
def test_a_message_of_a_wrong_graph_is_refused(node, error, words):
    message = message_of(f"node {{ {node} }}")

    with pytest.raises(error, match=words):
        CalculatorGraph(graph_config=message)


@pytest.mark.reference(
    "python/calculator_graph_test.py",
    "GraphTest.test_graph_initialized_with_proto_config",
    "GraphTest.test_graph_initialized_with_text_config",
    "GraphTest.test_graph_validation_and_initialization",
)
@pytest.mark.parametrize(
    "make",
    [
        lambda: CalculatorGraph(graph_config=message_of(ONE_WAITS)),
        lambda: CalculatorGraph(graph_config=ONE_WAITS),
        lambda: of_validated(ONE_WAITS),
    ],
    ids=["message", "text", "validated"],
)
def test_a_graph_with_short_queues_passes_text_on(make):
    graph = make()
    found = observed(graph)
    hello = packet_creator.create_string("hello world")
    graph.add_packet_to_input_stream(stream="in", packet=hello, timestamp=0)
    graph.add_packet_to_input_stream(stream="in", packet=hello.at(1))
    graph.close()

    assert graph.graph_input_stream_add_mode == GraphInputStreamAddMode.WAIT_TILL_NOT_FULL
    assert graph.max_queue_size == 1
    assert not graph.has_error()
    assert [packet.timestamp.value for packet in found] == [0, 1]
    assert [packet_getter.get_str(packet) for packet in found] == ["hello world"] * 2


@pytest.mark.reference("python/calculator_graph_test.py", "GraphTest.test_insert_packets_with_same_timestamp")
def test_the_same_timestamp_again_is_told_by_the_next_wait():
    graph = CalculatorGraph(graph_config=message_of(ONE_WAITS))
    observed(graph)
    hello = packet_creator.create_string("hello world")
    graph.add_packet_to_input_stream(stream="in", packet=hello.at(0))
    graph.wait_until_idle()
    graph.add_packet_to_input_stream(stream="in", packet=hello.at(0))

    with pytest.raises(ValueError, match=r"Current minimum expected timestamp is 1 but received 0\."):
        graph.wait_until_idle()


def test_a_start_during_a_run_leaves_why_that_run_ended():
    graph = CalculatorGraph(graph_config=message_of(ONE_WAITS))
    observed(graph)
    hello = packet_creator.create_string("hello world")
    graph.add_packet_to_input_stream(stream="in", packet=hello.at(0))
    graph.add_packet_to_input_stream(stream="in", packet=hello.at(0))
    with pytest.raises(RuntimeError):
        graph.start_run()

    with pytest.raises(ValueError, match=r"Current minimum expected timestamp is 1 but received 0\."):
        graph.wait_until_done()


@pytest.mark.reference("python/calculator_graph_test.py", "GraphTest.test_side_packet_graph")
def test_text_of_a_side_packet_becomes_a_number():
    graph = CalculatorGraph(
        graph_config=message_of(
            """node {
                calculator: 'StringToUint64Calculator'
                input_side_packet: "string" output_side_packet: "number"
            }"""
        )
    )
    graph.start_run(input_side_packets={"string": packet_creator.create_string("42")})
    graph.wait_until_done()

    assert not graph.has_error()
    assert packet_getter.get_uint(graph.get_output_side_packet("number")) == 42


@pytest.mark.reference("python/calculator_graph_test.py", "GraphTest.test_sequence_input")
def test_a_thousand_packets_come_out_in_order():
    graph = CalculatorGraph(graph_config=ONE_WAITS)
    found = observed(graph)
    hello = packet_creator.create_string("hello world")
    for time in range(1000):
        graph.add_packet_to_input_stream(stream="in", packet=hello, timestamp=time)
    graph.wait_until_idle()

    assert [packet.timestamp.value for packet in found] == list(range(1000))
    assert {packet_getter.get_str(packet) for packet in found} == {"hello world"}
    graph.close()
