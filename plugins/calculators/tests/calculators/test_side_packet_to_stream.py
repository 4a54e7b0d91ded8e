"""Expected values from the reference's description of the calculator, and from runs of it."""

from __future__ import annotations

import pytest

from penstock import CalculatorGraph, GraphConfigError, GraphRunError, Packet, Timestamp
from penstock_calculators.side_packets.side_packet_to_stream import SidePacketToStreamCalculator
from penstock_testing import InlineExecutor, ScheduleHarness, explore, node, run_calculator, wired

TICKS = [(1234, "x"), (1235, "y"), (1300, "z")]


def values(packets):
    return [(int(packet.timestamp), packet.payload) for packet in packets]


def ticked(tag, **harness):
    plan = wired(node(SidePacketToStreamCalculator, "TICK:t", f"{tag}:o", side_inputs="s"), inputs="t")
    return ScheduleHarness(plan, side_packets={"s": 7}, **harness).start()


@pytest.mark.parametrize(
    ("tag", "timestamp"),
    [("AT_PRESTREAM", Timestamp.PRESTREAM), ("AT_POSTSTREAM", Timestamp.POSTSTREAM), ("AT_ZERO", 0)],
)
def test_without_a_tick_each_side_packet_is_the_one_packet_of_its_output(tag, timestamp):
    run = run_calculator(
        SidePacketToStreamCalculator, outputs=[tag, f"{tag}:1"], side_packets={0: "first", 1: "second"}
    )

    assert values(run.outputs[tag]) == [(int(timestamp), "first")]
    assert values(run.outputs[f"{tag}:1"]) == [(int(timestamp), "second")]


@pytest.mark.parametrize(
    "timestamp", [-3, 5, int(Timestamp.MIN), int(Timestamp.MAX), int(Timestamp.POSTSTREAM), Timestamp(9)]
)
def test_a_side_packet_may_say_the_timestamp(timestamp):
    run = run_calculator(
        SidePacketToStreamCalculator,
        outputs=["AT_TIMESTAMP", "AT_TIMESTAMP:1"],
        side_packets={"TIMESTAMP": timestamp, 0: "first", 1: "second"},
    )

    assert values(run.outputs["AT_TIMESTAMP"]) == [(timestamp, "first")]
    assert values(run.outputs["AT_TIMESTAMP:1"]) == [(timestamp, "second")]


@pytest.mark.reference(
    "calculators/core/side_packet_to_stream_calculator_test.cc",
    "SidePacketToStreamCalculator.NoAtTickOutputTags",
)
@pytest.mark.parametrize(
    ("tag", "timestamp"),
    [("AT_PRESTREAM", Timestamp.PRESTREAM), ("AT_POSTSTREAM", Timestamp.POSTSTREAM), ("AT_ZERO", 0)],
)
def test_a_side_packet_is_the_only_packet(tag, timestamp):
    run = run_calculator(SidePacketToStreamCalculator, outputs=[tag], side_packets={0: 10})

    assert values(run.outputs[tag]) == [(int(timestamp), 10)]


@pytest.mark.parametrize(
    "payloads",
    [
        pytest.param(
            [20],
            marks=pytest.mark.reference(
                "calculators/core/side_packet_to_stream_calculator_test.cc",
                "SidePacketToStreamCalculator.AtTimestamp",
            ),
        ),
        pytest.param(
            [20, 15],
            marks=pytest.mark.reference(
                "calculators/core/side_packet_to_stream_calculator_test.cc",
                "SidePacketToStreamCalculator.AtTimestampWithMultipleOutputs",
            ),
        ),
    ],
)
def test_side_packets_come_at_the_time_that_another_one_says(payloads):
    ports = [f"AT_TIMESTAMP:{i}" for i in range(len(payloads))]
    run = run_calculator(
        SidePacketToStreamCalculator,
        outputs=ports,
        side_packets={"TIMESTAMP": 5, **dict(enumerate(payloads))},
    )

    assert [values(run.outputs[port]) for port in ports] == [[(5, payload)] for payload in payloads]


def feed_ticks(tag, payloads, timestamps):
    """Return what the outputs carry after each tick."""
    names = [f"o{i}" for i in range(len(payloads))]
    plan = wired(
        node(
            SidePacketToStreamCalculator,
            "TICK:t",
            [f"{tag}:{i}:{name}" for i, name in enumerate(names)],
            side_inputs=[f"s{i}" for i in range(len(payloads))],
        ),
        inputs="t",
    )
    sides = {f"s{i}": payload for i, payload in enumerate(payloads)}
    harness = ScheduleHarness(plan, side_packets=sides).start()
    for timestamp in timestamps:
        harness.add("t", 1, timestamp)
        harness.run()
        yield [harness.carried(name) for name in names]
    harness.finish()


@pytest.mark.parametrize(
    "payloads",
    [
        pytest.param(
            [20],
            marks=pytest.mark.reference(
                "calculators/core/side_packet_to_stream_calculator_test.cc",
                "SidePacketToStreamCalculator.AtTick",
            ),
        ),
        pytest.param(
            [20, 128],
            marks=pytest.mark.reference(
                "calculators/core/side_packet_to_stream_calculator_test.cc",
                "SidePacketToStreamCalculator.AtTickWithMultipleSidePackets",
            ),
        ),
    ],
)
def test_side_packets_come_again_as_soon_as_a_tick_comes(payloads):
    timestamps = [0, 1, 128, 1024, 1025]

    for count, carried in enumerate(feed_ticks("AT_TICK", payloads, timestamps), 1):
        assert carried == [[(timestamp, one) for timestamp in timestamps[:count]] for one in payloads]


@pytest.mark.parametrize(
    "payloads",
    [
        pytest.param(
            [20],
            marks=pytest.mark.reference(
                "calculators/core/side_packet_to_stream_calculator_test.cc",
                "SidePacketToStreamCalculator.AtFirstTick",
            ),
        ),
        pytest.param(
            [20, 128],
            marks=pytest.mark.reference(
                "calculators/core/side_packet_to_stream_calculator_test.cc",
                "SidePacketToStreamCalculator.AtFirstTickWithMultipleSidePackets",
            ),
        ),
    ],
)
def test_side_packets_do_not_come_again_where_the_first_tick_counts(payloads):
    for carried in feed_ticks("AT_FIRST_TICK", payloads, [1234, 1235]):
        assert carried == [[(1234, one)] for one in payloads]


def test_every_tick_repeats_the_side_packets():
    run = run_calculator(
        SidePacketToStreamCalculator,
        {"TICK": TICKS},
        outputs=["AT_TICK", "AT_TICK:1"],
        side_packets={0: "a", 1: "b"},
    )

    assert values(run.outputs["AT_TICK"]) == [(1234, "a"), (1235, "a"), (1300, "a")]
    assert values(run.outputs["AT_TICK:1"]) == [(1234, "b"), (1235, "b"), (1300, "b")]


def test_the_first_tick_alone_can_write_the_side_packets():
    run = run_calculator(
        SidePacketToStreamCalculator,
        {"TICK": TICKS},
        outputs=["AT_FIRST_TICK", "AT_FIRST_TICK:1"],
        side_packets={0: "a", 1: "b"},
    )

    assert values(run.outputs["AT_FIRST_TICK"]) == [(1234, "a")]
    assert values(run.outputs["AT_FIRST_TICK:1"]) == [(1234, "b")]


def test_the_outputs_end_at_the_first_tick_where_only_that_counts():
    closed = {}
    for tag in ("AT_TICK", "AT_FIRST_TICK"):
        harness = ticked(tag)
        harness.add("t", "x", 1)
        harness.run()
        closed[tag] = harness.stream("o").is_closed
        harness.finish()

    assert closed == {"AT_TICK": False, "AT_FIRST_TICK": True}


def test_a_settled_tick_stream_settles_the_outputs():
    harness = ticked("AT_TICK", bounds_of=["o"])
    harness.set_bound("t", 6)
    harness.run()

    assert harness.carried("o") == [(5, None)]
    harness.finish()


def test_ticks_after_the_first_one_are_in_the_ledger_as_dropped():
    harness = ticked("AT_FIRST_TICK")
    for timestamp, payload in TICKS:
        harness.add("t", payload, timestamp)
    harness.finish()

    (ticks,) = harness.stream("t").readers
    assert (ticks.delivered, ticks.dropped) == (1, {"after the first tick": 2})


def test_a_tick_before_the_stream_is_a_tick():
    run = run_calculator(
        SidePacketToStreamCalculator,
        {"TICK": [Packet(0, Timestamp.PRESTREAM)]},
        outputs=["AT_TICK"],
        side_packets={0: "a"},
    )

    assert values(run.outputs["AT_TICK"]) == [(int(Timestamp.PRESTREAM), "a")]


@pytest.mark.parametrize("given", [int(Timestamp.UNSET), int(Timestamp.ONE_OVER_POSTSTREAM), 2**63])
def test_a_timestamp_that_no_packet_can_have_is_refused_when_the_node_opens(given):
    with pytest.raises(
        GraphRunError, match=rf"open.* failed: .*side packet TIMESTAMP is {given}, which cannot"
    ):
        run_calculator(
            SidePacketToStreamCalculator,
            outputs=["AT_TIMESTAMP"],
            side_packets={"TIMESTAMP": given, 0: "first"},
        )


def test_the_output_does_not_depend_on_the_order_of_arrival():
    plan = wired(node(SidePacketToStreamCalculator, "TICK:t", "AT_TICK:o", side_inputs="s"), inputs="t")

    def drive(harness):
        harness.start()
        for timestamp, payload in TICKS:
            harness.add("t", payload, timestamp)
            harness.step()
        harness.finish()

    assert explore(plan, drive, side_packets={"s": 7})["o"] == [(1234, 7), (1235, 7), (1300, 7)]


@pytest.mark.parametrize(
    ("inputs", "outputs", "sides", "message"),
    [
        (
            {},
            ["NOPE"],
            {0: 1},
            "the outputs are tagged NOPE, so no stream can take a side packet; connect outputs",
        ),
        ({}, [0], {0: 1}, "the outputs are tagged '', so no stream can take a side packet; connect"),
        (
            {},
            [],
            {0: 1},
            "there are no outputs, so no stream can take a side packet; connect outputs with exactly one tag",
        ),
        (
            {},
            ["AT_ZERO", "AT_PRESTREAM"],
            {0: 1},
            "are tagged AT_PRESTREAM, AT_ZERO, so no stream can take a side packet; connect",
        ),
        ({}, ["AT_TICK"], {0: 1}, "outputs AT_TICK need an input TICK"),
        ({}, ["AT_FIRST_TICK"], {0: 1}, "outputs AT_FIRST_TICK need an input TICK"),
        ({"TICK": []}, ["AT_ZERO"], {0: 1}, "an input TICK, but outputs AT_ZERO ignore it; tag them AT_TICK"),
        ({}, ["AT_TIMESTAMP"], {0: 1}, "outputs AT_TIMESTAMP need a side packet TIMESTAMP"),
        ({}, ["AT_ZERO"], {0: 1, "TIMESTAMP": 1}, "a side packet TIMESTAMP, but outputs AT_ZERO ignore it"),
        ({}, ["AT_ZERO"], {0: 1, 1: 2}, "2 untagged side packets, but 1 outputs AT_ZERO"),
        ({}, ["AT_ZERO", "AT_ZERO:1"], {0: 1}, "1 untagged side packets, but 2 outputs AT_ZERO; each"),
        ({}, ["AT_TIMESTAMP"], {"TIMESTAMP": 1}, "0 untagged side packets, but 1 outputs AT_TIMESTAMP"),
        ({}, ["AT_TIMESTAMP"], {"TIMESTAMP": True, 0: 1}, "is a 'bool', but the node expects int"),
        ({}, ["AT_ZERO"], {"OTHER": 1, 0: 1}, "has no input side packet 'OTHER'"),
    ],
)
def test_ports_that_do_not_match_are_refused(inputs, outputs, sides, message):
    with pytest.raises(GraphConfigError, match=message):
        run_calculator(SidePacketToStreamCalculator, inputs, outputs=outputs, side_packets=sides)


@pytest.mark.parametrize(
    ("outputs", "sides", "message"),
    [
        pytest.param(
            ["AT_TICK"],
            1,
            "outputs AT_TICK need an input TICK",
            marks=pytest.mark.reference(
                "calculators/core/side_packet_to_stream_calculator_test.cc",
                "SidePacketToStreamCalculator.WrongConfigWithMissingTick",
            ),
        ),
        pytest.param(
            ["AT_FIRST_TICK"],
            1,
            "outputs AT_FIRST_TICK need an input TICK",
            marks=pytest.mark.reference(
                "calculators/core/side_packet_to_stream_calculator_test.cc",
                "SidePacketToStreamCalculator.WrongConfigWithMissingTickForFirstTickProcessing",
            ),
        ),
        pytest.param(
            ["AT_TIMESTAMP"],
            1,
            "outputs AT_TIMESTAMP need a side packet TIMESTAMP",
            marks=pytest.mark.reference(
                "calculators/core/side_packet_to_stream_calculator_test.cc",
                "SidePacketToStreamCalculator.WrongConfigWithMissingTimestampSideInput",
            ),
        ),
        pytest.param(
            ["DOES_NOT_EXIST"],
            1,
            "connect outputs with exactly one tag of AT_PRESTREAM",
            marks=pytest.mark.reference(
                "calculators/core/side_packet_to_stream_calculator_test.cc",
                "SidePacketToStreamCalculator.WrongConfigWithNonExistentTag",
            ),
        ),
        pytest.param(
            ["AT_TICK", "AT_PRE_STREAM"],
            2,
            "connect outputs with exactly one tag of AT_PRESTREAM",
            marks=pytest.mark.reference(
                "calculators/core/side_packet_to_stream_calculator_test.cc",
                "SidePacketToStreamCalculator.WrongConfigWithMixedTags",
            ),
        ),
        pytest.param(
            ["AT_PRESTREAM:0", "AT_PRESTREAM:1"],
            1,
            "1 untagged side packets, but 2 outputs AT_PRESTREAM",
            marks=pytest.mark.reference(
                "calculators/core/side_packet_to_stream_calculator_test.cc",
                "SidePacketToStreamCalculator.WrongConfigWithNotEnoughSidePackets",
            ),
        ),
        pytest.param(
            ["AT_PRESTREAM"],
            2,
            "2 untagged side packets, but 1 outputs AT_PRESTREAM",
            marks=pytest.mark.reference(
                "calculators/core/side_packet_to_stream_calculator_test.cc",
                "SidePacketToStreamCalculator.WrongConfigWithNotEnoughOutputStreams",
            ),
        ),
    ],
)
def test_ports_that_the_reference_refuses_are_refused(outputs, sides, message):
    with pytest.raises(GraphConfigError, match=message):
        run_calculator(
            SidePacketToStreamCalculator, outputs=outputs, side_packets=dict.fromkeys(range(sides), 1)
        )


def test_the_example_of_the_docstring_runs_as_part_of_a_graph():
    example = SidePacketToStreamCalculator.__doc__.partition("Example config::")[2]
    graph = CalculatorGraph(f'input_stream: "frames" {example}')
    graph.set_executor("", InlineExecutor())
    seen = []
    graph.observe_output_stream("threshold_at_frame", lambda _, p: seen.append((int(p.timestamp), p.payload)))

    graph.start_run({"threshold": 0.5})
    for t in (1, 2):
        graph.add_packet_to_input_stream("frames", Packet("frame", t))
    graph.close(20)

    assert seen == [(1, 0.5), (2, 0.5)]
