"""Expected values from the reference's description of the calculator."""

from __future__ import annotations

import pytest

from penstock import CalculatorGraph, GraphConfigError, Packet, Timestamp
from penstock_calculators.messages.immediate_mux_pb2 import ImmediateMuxCalculatorOptions
from penstock_calculators.routing.immediate_mux import ImmediateMuxCalculator
from penstock_calculators.routing.round_robin_demux import RoundRobinDemuxCalculator
from penstock_stream_handlers.immediate import ImmediateInputStreamHandler
from penstock_testing import ScheduleHarness, calculator, explore, node, run_calculator, wired

BOUNDS = (ImmediateMuxCalculatorOptions(process_timestamp_bounds=True),)


def plan(outputs="out done", options=(), **arguments):
    arguments.setdefault("handler", ImmediateInputStreamHandler)
    return wired(node(ImmediateMuxCalculator, "a b", outputs, options=options, **arguments), inputs="a b")


def play(options, *groups):
    """Feed groups of packets ("a", 10) and bounds ("a", 10, "bound"), and run the graph after each."""
    harness = ScheduleHarness(plan(options=options), bounds_of=["out"]).start()
    for group in groups:
        for stream, timestamp, *is_bound in group:
            if is_bound:
                harness.set_bound(stream, timestamp)
            else:
                harness.add(stream, f"{stream}{timestamp}", timestamp)
        harness.run()
    return harness


def packets(harness, stream="out"):
    return [pair for pair in harness.carried(stream) if pair[1] is not None]


@pytest.mark.reference(
    "calculators/core/immediate_mux_calculator_test.cc", "ImmediateMuxCalculatorTest.SupersededTimestamp"
)
def test_packets_are_forwarded_as_they_arrive_and_those_behind_the_output_are_dropped():
    harness = play((), [("a", 10000)], [("a", 30000)], [("b", 20000)], [("b", 40000)])

    assert packets(harness) == [(10000, "a10000"), (30000, "a30000"), (40000, "b40000")]
    assert harness.stream("b").readers[0].dropped == {"behind the output": 1}
    assert packets(harness, "done") == [(10000, True), (30000, True), (30001, True), (40000, True)]
    harness.finish()


@pytest.mark.reference(
    "calculators/core/immediate_mux_calculator_test.cc", "ImmediateMuxCalculatorTest.SimultaneousTimestamps"
)
def test_a_packet_just_behind_a_later_one_is_dropped_too():
    harness = play((), [("a", 10000)], [("a", 40000), ("b", 20000)], [("b", 30000)])

    assert packets(harness) == [(10000, "a10000"), (40000, "a40000")]
    assert harness.stream("b").readers[0].dropped == {"behind the output": 2}
    harness.finish()


@pytest.mark.reference(
    "calculators/core/immediate_mux_calculator_test.cc", "ImmediateMuxCalculatorTest.IncreasingTimestamps"
)
def test_packets_that_come_in_order_are_all_forwarded():
    harness = play((), [("a", 10000)], [("a", 20000)], [("b", 30000)], [("b", 40000)])

    assert packets(harness) == [(10000, "a10000"), (20000, "a20000"), (30000, "b30000"), (40000, "b40000")]
    harness.finish()


@pytest.mark.reference(
    "calculators/core/immediate_mux_calculator_test.cc", "ImmediateMuxCalculatorTest.Demux"
)
def test_packets_come_in_the_order_in_which_parallel_nodes_finish():
    def forward(cc):
        cc.output.add_packet(cc.input.packet)

    plan = wired(
        node(RoundRobinDemuxCalculator, "in", "OUTPUT:0:in_0 OUTPUT:1:in_1"),
        node(calculator(forward, name="First"), "in_0", "out_0"),
        node(calculator(forward, name="Second"), "in_1", "out_1"),
        node(ImmediateMuxCalculator, "out_0 out_1", "out", handler=ImmediateInputStreamHandler),
        inputs="in",
    )
    harness = ScheduleHarness(plan).start()
    held = {}

    def run():
        while (step := harness.take()) is not None:
            one = harness.call(step)
            if step.node.name in {"First", "Second"} and harness.log[-1].startswith("process"):
                held[step.node.name] = one
            else:
                harness.complete(one)
        harness.serve_observers()

    for timestamp in (10000, 20000, 30000, 40000, 50000):
        harness.add("in", timestamp, timestamp)
        run()
    for name, size in [("Second", 1), ("First", 1), ("First", 2), ("First", 3), ("Second", 3)]:
        harness.complete(held.pop(name))
        run()
        assert len(harness.carried("out")) == size
    harness.finish()

    assert harness.carried("out") == [(20000, 20000), (30000, 30000), (50000, 50000)]


@pytest.mark.reference(
    "calculators/core/immediate_mux_calculator_test.cc",
    "ImmediateMuxCalculatorTest.TimestampBoundUpdateForOneInput",
)
def test_a_bound_of_an_only_input_is_forwarded():
    plan = wired(
        node(ImmediateMuxCalculator, "a", "out", options=BOUNDS, handler=ImmediateInputStreamHandler),
        inputs="a",
    )
    harness = ScheduleHarness(plan, bounds_of=["out"]).start()
    harness.add("a", 999, 10000)
    harness.run()
    harness.set_bound("a", 20000)
    harness.run()
    harness.finish()

    assert harness.carried("out") == [(10000, 999), (19999, None)]


def test_with_the_default_policy_timestamps_merge_and_the_lowest_input_goes_first():
    def drive(harness):
        harness.start()
        for stream, timestamps in (("b", (20, 30, 40)), ("a", (10, 30))):
            for timestamp in timestamps:
                harness.add(stream, stream, timestamp)
                harness.step()
        harness.finish()

    graph = wired(node(ImmediateMuxCalculator, "a b", "out done"), inputs="a b")
    carried = explore(graph, drive)

    assert carried["out"] == [(10, "a"), (20, "b"), (30, "a"), (40, "b")]
    assert carried["done"] == [(10, True), (20, True), (30, True), (31, True), (40, True)]


@pytest.mark.parametrize(
    ("groups", "expected"),
    [
        pytest.param(
            ([("a", 10000)], [("b", 20000, "bound")], [("a", 15000)]),
            [(10000, "a10000"), (19999, None)],
            marks=pytest.mark.reference(
                "calculators/core/immediate_mux_calculator_test.cc",
                "ImmediateMuxCalculatorTest.TimestampBoundUpdateOneSide",
            ),
        ),
        pytest.param(
            ([("a", 10000)], [("b", 15000, "bound")], [("a", 15000)], [("a", 16000, "bound")]),
            # the packet settles its own timestamp, and the bound 16000 all up to 15999
            [(10000, "a10000"), (14999, None), (15000, "a15000"), (15999, None)],
            marks=pytest.mark.reference(
                "calculators/core/immediate_mux_calculator_test.cc",
                "ImmediateMuxCalculatorTest.TimestampBoundUpdateInterleavedWithPackets",
            ),
        ),
        pytest.param(
            ([("a", 10000)], [("b", 20000, "bound")], [("a", 20000, "bound")], [("b", 30000, "bound")]),
            [(10000, "a10000"), (19999, None), (29999, None)],
            marks=pytest.mark.reference(
                "calculators/core/immediate_mux_calculator_test.cc",
                "ImmediateMuxCalculatorTest.TimestampBoundUpdateBothSides",
            ),
        ),
    ],
)
def test_settled_timestamps_are_forwarded_where_the_option_says_so(groups, expected):
    harness = play(BOUNDS, *groups)
    harness.finish()

    assert harness.carried("out") == expected


def test_a_settled_timestamp_does_not_change_a_second_output_that_is_ahead():
    harness = play(BOUNDS, [("a", 10)], [("b", 5)], [("b", 6)], [("a", 12, "bound")])

    assert harness.carried("out") == [(10, "a10"), (11, None)]
    assert packets(harness, "done") == [(10, True), (11, True), (12, True)]
    harness.finish()


def test_the_end_of_an_input_ends_the_outputs_where_the_option_says_so():
    harness = play(BOUNDS, [("a", 10)])
    harness.close_input("b")
    harness.run()

    assert harness.stream("out").is_closed
    assert harness.stream("done").is_closed
    harness.finish()


def test_without_the_option_the_outputs_stay_open_until_all_inputs_have_ended():
    harness = play((), [("a", 10)])
    harness.close_input("b")
    harness.run()

    assert not harness.stream("out").is_closed
    harness.finish()


def test_the_second_output_has_one_packet_where_no_timestamp_is_left_for_more():
    run = run_calculator(
        ImmediateMuxCalculator,
        {0: [(Timestamp.POSTSTREAM, "a")], 1: [(Timestamp.POSTSTREAM, "b")]},
        outputs=[0, 1],
    )

    assert [packet.payload for packet in run.outputs[0]] == ["a"]
    assert [(packet.stamp, packet.payload) for packet in run.outputs[1]] == [(Timestamp.POSTSTREAM, True)]


def test_the_end_of_an_input_settles_the_next_timestamp_of_the_others():
    harness = play((), [("a", 10), ("b", 10)])
    harness.close_input("b")
    harness.run()
    for timestamp in (11, 12):
        harness.add("a", "late or not", timestamp)
    harness.finish()

    assert packets(harness) == [(10, "a10"), (12, "late or not")]
    assert harness.stream("a").readers[0].dropped == {"behind the output": 1}


def test_options_are_taken_from_node_options_of_a_graph_file():
    graph = CalculatorGraph("""
      input_stream: "a" input_stream: "b" output_stream: "out"
      node {
        calculator: "ImmediateMuxCalculator" input_stream: "a" input_stream: "b" output_stream: "out"
        input_stream_handler { input_stream_handler: "ImmediateInputStreamHandler" }
        node_options: {
          [type.googleapis.com/mediapipe.ImmediateMuxCalculatorOptions] { process_timestamp_bounds: true }
        }
      }""")
    seen = []
    graph.observe_output_stream("out", lambda _, packet: seen.append(packet.stamp), True)
    graph.start_run()
    graph.add_packet_to_input_stream("a", Packet("x", 10))
    graph.wait_until_idle(10)
    graph.add_packet_to_input_stream("b", Packet(timestamp=19))
    graph.wait_until_idle(10)
    graph.close_all_input_streams()
    graph.wait_until_done(10)

    assert seen == [10, 19]


@pytest.mark.parametrize(
    ("inputs", "outputs"), [({}, [0]), ({0: []}, []), ({0: []}, [0, 1, 2])], ids=["in 0", "out 0", "out 3"]
)
def test_invalid_ports_of_a_mux_are_refused(inputs, outputs):
    with pytest.raises(GraphConfigError, match="connect at least one input, an output for the packets"):
        run_calculator(ImmediateMuxCalculator, inputs, outputs=outputs)
