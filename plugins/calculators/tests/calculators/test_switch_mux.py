"""Expected values from runs of the reference (mediapipe 0.10.21)."""

from __future__ import annotations

import pytest

from penstock import GraphConfigError, GraphRunError, Timestamp
from penstock.packs import default_registry
from penstock_calculators.messages.switch_container_pb2 import SwitchContainerOptions
from penstock_calculators.routing.switch_mux import SwitchMuxCalculator
from penstock_stream_handlers.immediate import ImmediateInputStreamHandler
from penstock_testing import ScheduleHarness, check_calculator, explore, node, run_calculator, wired

MAX = int(Timestamp.MAX)


def plan(inputs="SELECT:s C0__X:a C1__X:b", outputs="X:y", options=None):
    line = node(
        SwitchMuxCalculator,
        inputs,
        outputs,
        handler=ImmediateInputStreamHandler,
        options=[options] if options else [],
    )
    return wired(line, inputs=[entry.rpartition(":")[2] for entry in inputs.split()])


def mux(*arguments):
    return ScheduleHarness(plan(*arguments), bounds_of="y").start()


def feed(harness, *events):
    for stream, timestamp, *select in events:
        harness.add(stream, *select or [f"{stream}{timestamp}"], timestamp)
        harness.run()


def test_packets_come_out_in_order_when_the_channel_is_known_before_them():
    harness = mux()

    feed(harness, ("s", 1, 0), ("s", 10, 0), ("s", 11, 1), ("s", 20, 1), ("s", 21, 0), ("s", 30, 0))
    feed(harness, ("a", 10), ("b", 20), ("a", 30))

    assert harness.carried("y") == [(10, "a10"), (20, "b20"), (30, "a30")]


#: Three channels of a frame and a mask, of which the masks have ended.
SIX = "SELECT:s " + " ".join(f"C{c}__FRAME:f{c} C{c}__MASK:m{c}" for c in range(3))


def three():
    line = node(SwitchMuxCalculator, SIX, "FRAME:frame MASK:mask", handler=ImmediateInputStreamHandler)
    harness = ScheduleHarness(wired(line, inputs=[entry.rpartition(":")[2] for entry in SIX.split()])).start()
    harness.close_input("m0", "m1", "m2")
    harness.run()
    return harness


def frames(harness):
    return [payload for _, payload in harness.carried("frame")]


@pytest.mark.reference(
    "framework/tool/switch_mux_calculator_test.cc",
    "SwitchMuxCalculatorTest.ChannelEarly",
    "SwitchMuxCalculatorTest.ChannelsLate",
    "SwitchMuxCalculatorTest.ChannelsOnTime",
)
@pytest.mark.parametrize(
    "steps",
    [
        [
            ([("s", t, c) for t, c in ((1, 0), (10, 0), (11, 1), (20, 1), (21, 0), (30, 0))], 0),
            ([("f0", 10)], 1),
            ([("f1", 20)], 2),
            ([("f0", 30)], 3),
        ],
        [
            ([("f0", 10), ("f1", 20), ("f0", 30)], 0),
            ([("s", 1, 0), ("s", 10, 0)], 1),
            ([("s", 11, 1), ("s", 20, 1)], 2),
            ([("s", 21, 0), ("s", 30, 0)], 3),
        ],
        [
            ([("s", 1, 0), ("s", 10, 0), ("f0", 10)], 1),
            ([("s", 11, 1), ("s", 20, 1), ("f1", 20)], 2),
            ([("s", 21, 0), ("s", 30, 0), ("f0", 30)], 3),
        ],
    ],
)
def test_frames_of_two_channels_come_in_order_however_early_their_channels_are_known(steps):
    harness = three()

    for events, known in steps:
        feed(harness, *events)
        assert frames(harness) == ["f010", "f120", "f030"][:known]
    harness.finish()


@pytest.mark.reference(
    "framework/tool/switch_mux_calculator_test.cc", "SwitchMuxCalculatorTest.ChannelNeverCompletes"
)
def test_a_frame_behind_the_end_of_its_channels_time_lets_the_next_channel_go_on():
    harness = three()

    feed(harness, ("s", 1, 0), ("s", 10, 0), ("s", 11, 1), ("s", 20, 1), ("f1", 20))
    assert frames(harness) == []
    feed(harness, ("f0", 15))

    assert frames(harness) == ["f120"]
    harness.finish()
    assert frames(harness) == ["f120"]


@pytest.mark.reference(
    "framework/tool/switch_mux_calculator_test.cc", "SwitchMuxCalculatorTest.OneChannelIsSlow"
)
def test_frames_of_later_channels_wait_for_a_slow_one():
    harness = three()

    feed(harness, ("s", 1, 0), ("s", 10, 0), ("f0", 10))
    assert frames(harness) == ["f010"]
    feed(harness, ("s", 11, 1), ("s", 20, 1), ("f0", 20), ("f2", 20))
    feed(harness, ("s", 21, 2), ("s", 30, 2), ("f2", 30))
    feed(harness, ("s", 31, 0), ("s", 40, 0), ("f0", 40))
    feed(harness, ("s", 41, 1), ("s", 50, 1))
    assert frames(harness) == ["f010"]
    feed(harness, ("f1", 20), ("f1", 50))

    assert frames(harness) == ["f010", "f120", "f230", "f040", "f150"]


@pytest.mark.reference("framework/tool/switch_mux_calculator_test.cc", "SwitchMuxCalculatorTest.IsRegistered")
@pytest.mark.reference(
    "framework/tool/switch_demux_calculator_test.cc", "SwitchDemuxCalculatorTest.IsRegistered"
)
@pytest.mark.parametrize("name", ["SwitchMuxCalculator", "SwitchDemuxCalculator"])
def test_graphs_find_them_by_their_names(name):
    assert default_registry().find("calculator", name).__name__ == name


def test_packets_wait_for_their_channel_to_be_known():
    harness = mux()
    feed(harness, ("a", 10), ("b", 20), ("a", 30), ("s", 1, 0))
    assert harness.carried("y") == []

    feed(harness, ("s", 10, 0))
    assert harness.carried("y") == [(10, "a10")]
    feed(harness, ("s", 11, 1), ("s", 20, 1))
    assert harness.carried("y") == [(10, "a10"), (20, "b20")]
    feed(harness, ("s", 21, 0), ("s", 30, 0))
    assert harness.carried("y") == [(10, "a10"), (20, "b20"), (30, "a30")]


def test_the_next_channel_waits_until_the_one_before_has_settled_its_time():
    harness = mux()
    feed(harness, ("s", 1, 0), ("a", 9), ("s", 11, 1), ("b", 12), ("s", 12, 1), ("b", 13))
    assert harness.carried("y") == [(9, "a9")]

    feed(harness, ("a", 14))
    assert harness.carried("y") == [(9, "a9"), (12, "b12")]
    harness.finish()
    assert harness.carried("y") == [(9, "a9"), (12, "b12"), (13, "b13"), (MAX, None)]
    assert harness.stream("a").readers[0].dropped == {"channel is not active": 1}


def test_one_slow_stream_of_a_channel_delays_the_streams_of_the_next():
    harness = mux("SELECT:s C0__X:0:a C0__X:1:c C1__X:0:b", "X:0:y X:1:z")
    feed(harness, ("s", 1, 0), ("s", 3, 1), ("s", 9, 1), ("a", 1), ("a", 2), ("b", 3))
    assert harness.carried("y") == [(1, "a1"), (2, "a2")]

    harness.set_bound("c", 3)
    harness.run()

    assert harness.carried("y") == [(1, "a1"), (2, "a2"), (3, "b3")]


def test_a_channel_that_was_not_active_is_not_waited_for():
    harness = mux("SELECT:s C0__X:a C1__X:b C2__X:silent")

    feed(harness, ("s", 1, 0), ("a", 1), ("s", 2, 1), ("b", 2))

    assert harness.carried("y") == [(1, "a1"), (2, "b2")]


def test_bounds_after_a_packet_at_prestream_are_ignored():
    harness = mux()

    feed(harness, ("a", Timestamp.PRESTREAM, "only"), ("s", 5, 1), ("s", 9, 1))
    harness.set_bound("b", 8)
    harness.finish()

    assert harness.errors == []
    assert [payload for _, payload in harness.carried("y") if payload] == ["only"]


def test_bounds_come_from_the_active_channel_only():
    harness = mux()
    feed(harness, ("s", 20, 0))
    harness.set_bound("b", 15)
    harness.run()
    assert harness.carried("y") == []

    harness.set_bound("a", 6)
    harness.run()
    assert harness.carried("y") == [(5, None)]


def test_the_end_of_one_channel_does_not_settle_the_period_of_the_next():
    harness = mux()
    harness.close_input("a")
    harness.add("b", "last", Timestamp.POSTSTREAM)
    harness.add("s", 1, Timestamp.POSTSTREAM)
    harness.finish()

    assert harness.carried("y")[-1] == (int(Timestamp.POSTSTREAM), "last")


def test_while_no_channel_is_active_everything_is_dropped():
    harness = mux()
    feed(harness, ("s", 1, 0), ("a", 1), ("s", 2, 7), ("a", 2), ("b", 2), ("s", 3, 1), ("b", 3))

    assert harness.carried("y") == [(1, "a1"), (3, "b3")]
    assert harness.stream("b").readers[0].dropped == {"channel is not active": 1}


def test_the_output_is_the_same_under_every_order():
    def drive(harness):
        harness.start()
        for timestamp in range(12):
            harness.add("a", f"a{timestamp}", timestamp)
            harness.step()
            harness.add("b", f"b{timestamp}", timestamp)
            if timestamp % 3 == 0:
                harness.add("s", timestamp // 3 % 2, timestamp)
                harness.step()
        harness.finish()

    carried = explore(plan(), drive, seeds=range(12))

    assert carried["y"] == [(t, f"{'ab'[t // 3 % 2]}{t}") for t in range(12)]


def test_side_packets_come_from_the_channel_that_is_active_at_first():
    sides = {"C0__MODEL": "small", "C1__MODEL": "large"}
    ports = {"output_side_packets": ["MODEL"], "outputs": ["X"], "side_packets": sides}

    run = run_calculator(
        "SwitchMuxCalculator", {"C0__X": []}, **ports, options=SwitchContainerOptions(enable=True)
    )
    assert run.output_side_packets == {"MODEL": "large"}

    with pytest.raises(
        GraphRunError, match=r"active at first, which is 2, but only \[0, 1\] are connected; select one"
    ):
        run_calculator(
            "SwitchMuxCalculator", {"C0__X": []}, **ports, options=SwitchContainerOptions(select=2)
        )


@pytest.mark.parametrize(
    ("inputs", "outputs", "message"),
    [
        (["ENABLE", "SELECT", "C0__X"], ["X"], "inputs ENABLE and SELECT are both connected"),
        (["C0__X", "C0__Y"], ["X"], "stream 'C0__Y' belongs to a channel, but there is no 'Y'"),
        (["C0__X"], ["X", "Y"], "stream 'Y' is connected, but no channel has it; connect 'C0__Y'"),
        (["C0__X", "Z"], ["X"], "stream 'Z' belongs to no channel; name it 'C0__Z'"),
    ],
)
def test_ports_that_do_not_match_are_refused(inputs, outputs, message):
    with pytest.raises(GraphConfigError, match=message):
        run_calculator("SwitchMuxCalculator", {key: [] for key in inputs}, outputs=outputs)


def test_it_keeps_what_all_calculators_promise_whatever_arrives_first():
    check_calculator(
        "SwitchMuxCalculator",
        wiring="""
          node {
            calculator: "SwitchMuxCalculator"
            input_stream: "SELECT:s"
            input_stream: "C0__X:0:a"
            input_stream: "C1__X:0:b"
            input_stream: "C0__X:1:c"
            input_stream: "C1__X:1:d"
            output_stream: "X:0:y"
            output_stream: "X:1:z"
          }
        """,
        payloads={"SELECT": lambda random, at: random.randrange(3)},
        depends_on_arrival=False,
        seeds=range(40),
    )
