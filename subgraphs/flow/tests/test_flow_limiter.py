"""FlowLimiterSubgraph in a loop whose graph does not mark the back edge."""

from __future__ import annotations

import penstock

GRAPH = """
input_stream: "frames"
input_side_packet: "how_many"
node {
  calculator: "FlowLimiterSubgraph"
  input_stream: "frames"
  input_stream: "FINISHED:done"
  output_stream: "limited"
  output_stream: "ALLOW:allow"
}
node {
  calculator: "GateCalculator"
  input_stream: "limited"
  input_stream: "ALLOW:open"
  output_stream: "done"
}
input_stream: "open"
"""


def allowed(config: str, side_packets=None) -> list[tuple[int, bool]]:
    """Feed five frames while the nodes after the limiter finish none; return the packets of ALLOW."""
    seen: list[tuple[int, bool]] = []
    with penstock.CalculatorGraph(config, side_packets) as graph:
        graph.observe_output_stream(
            "allow", lambda _, packet: seen.append((int(packet.timestamp), packet.payload))
        )
        graph.start_run()
        for timestamp in range(5):
            graph.add_packet_to_input_stream("frames", penstock.Packet("frame", timestamp))
            graph.wait_until_idle()
    return seen


def test_frames_that_the_next_nodes_cannot_take_are_dropped():
    assert allowed(GRAPH) == [(0, True), (1, False), (2, False), (3, False), (4, False)]


def test_a_side_packet_says_how_many_may_be_under_way():
    config = GRAPH.replace(
        'input_stream: "FINISHED:done"',
        'input_stream: "FINISHED:done" input_side_packet: "MAX_IN_FLIGHT:how_many"',
    )

    assert allowed(config, {"how_many": 3}) == [(0, True), (1, True), (2, True), (3, False), (4, False)]
