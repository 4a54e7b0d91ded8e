"""Expected values from runs of the reference (mediapipe 0.10.21), but where a test says otherwise."""

from __future__ import annotations

import pytest

from penstock import CalculatorGraph, GraphConfigError, Packet, Timestamp
from penstock_calculators.messages.switch_container_pb2 import SwitchContainerOptions
from penstock_calculators.routing.switch_demux import SwitchDemuxCalculator
from penstock_stream_handlers.immediate import ImmediateInputStreamHandler
from penstock_testing import ScheduleHarness, check_calculator, explore, node, run_calculator, wired

MAX = int(Timestamp.MAX)


def demux(control="SELECT:s", options=None):
    names = ["x", *([control.partition(":")[2]] if control else [])]
    line = node(
        SwitchDemuxCalculator,
        f"{control} X:x",
        "C0__X:a C1__X:b",
        handler=ImmediateInputStreamHandler,
        options=[options] if options else [],
    )
    return ScheduleHarness(wired(line, inputs=names), bounds_of="ab").start()


def feed(harness, *events):
    for stream, payload, timestamp in events:
        harness.add(stream, payload, timestamp)
        harness.run()


def test_packets_wait_until_the_control_stream_is_settled_at_their_timestamps():
    harness = demux()

    feed(harness, ("x", "1", 1), ("x", "5", 5), ("x", "10", 10), ("x", "20", 20))
    assert harness.carried("a") == harness.carried("b") == []
    feed(harness, ("s", 0, 1))
    assert harness.carried("a") == [(1, "1")]
    feed(harness, ("s", 1, 10))
    assert harness.carried("a") == [(1, "1"), (5, "5")]
    assert harness.carried("b") == [(10, "10")]
    feed(harness, ("s", 0, 30))
    assert harness.carried("b") == [(10, "10"), (20, "20")]
    harness.finish()
    assert harness.carried("a") == [(1, "1"), (5, "5"), (MAX, None)]


@pytest.mark.reference(
    "framework/tool/switch_demux_calculator_test.cc", "SwitchDemuxCalculatorTest.BasicDataFlow"
)
def test_frames_and_their_header_go_to_the_channel_that_is_chosen_before_them():
    graph = CalculatorGraph("""
        input_stream: "select" input_stream: "frame" input_stream: "mask"
        node {
          calculator: "SwitchDemuxCalculator"
          input_stream: "SELECT:select" input_stream: "FRAME:frame" input_stream: "MASK:mask"
          output_stream: "C0__FRAME:frame_0" output_stream: "C0__MASK:mask_0"
          output_stream: "C1__FRAME:frame_1" output_stream: "C1__MASK:mask_1"
        }
    """)
    seen = {"frame_0": [], "frame_1": []}
    for name in seen:
        graph.observe_output_stream(name, lambda stream, packet: seen[stream].append(packet.payload))
    graph.start_run(stream_headers={"frame": "frame_header"})
    graph.close_input_stream("mask")

    for channel, before, at in ((0, 1, 10), (1, 11, 20)):
        graph.add_packet_to_input_stream("select", Packet(channel, before))
        graph.add_packet_to_input_stream("select", Packet(channel, at))
        graph.add_packet_to_input_stream("frame", Packet(f"p{channel}_t{at}", at))
        graph.wait_until_idle(10)
        assert seen == {"frame_0": ["p0_t10"], "frame_1": ["p1_t20"] if channel else []}
    graph.close(10)


def test_a_channel_that_is_not_active_gets_no_bounds():
    harness = demux()

    feed(harness, ("s", 0, 1), ("x", "1", 1), ("s", 1, 8), ("x", "9", 9))
    harness.set_bound("s", 31)
    harness.set_bound("x", 21)
    harness.run()

    assert harness.carried("a") == [(1, "1")]
    assert harness.carried("b") == [(9, "9"), (20, None)]


def test_a_packet_that_comes_late_goes_to_the_channel_of_its_time():
    """The reference has forgotten that channel, and loses the packet."""
    harness = demux()

    feed(harness, ("s", 0, 1), ("s", 1, 10), ("x", "5", 5), ("x", "10", 10))

    assert harness.carried("a") == [(5, "5")]
    assert harness.carried("b") == [(10, "10")]


def test_a_late_packet_before_all_time_goes_to_the_channel_that_is_active_at_first():
    harness = demux()

    feed(harness, ("s", 1, Timestamp.MIN), ("x", "first", Timestamp.PRESTREAM))

    assert harness.carried("a") == [(int(Timestamp.PRESTREAM), "first"), (MAX, None)]


def test_each_packet_goes_to_the_channel_of_its_time_under_every_order():
    line = node(
        SwitchDemuxCalculator,
        "SELECT:s X:0:x X:1:z",
        "C0__X:0:a C0__X:1:b C1__X:0:c C1__X:1:d",
        handler=ImmediateInputStreamHandler,
    )

    def drive(harness):
        harness.start()
        for timestamp in range(12):
            harness.add("x", f"x{timestamp}", timestamp)
            harness.step()
            if timestamp % 3 == 0:
                harness.add("s", timestamp // 3 % 2, timestamp)
            if timestamp % 2 == 0:
                harness.add("z", f"z{timestamp}", timestamp)
                harness.step()
        harness.finish()

    carried = explore(wired(line, inputs="s x z"), drive, seeds=range(12))

    assert carried["a"] == [(t, f"x{t}") for t in (0, 1, 2, 6, 7, 8)]
    assert carried["b"] == [(t, f"z{t}") for t in (0, 2, 6, 8)]
    assert carried["c"] == [(t, f"x{t}") for t in (3, 4, 5, 9, 10, 11)]
    assert carried["d"] == [(t, f"z{t}") for t in (4, 10)]


def test_a_long_run_forgets_periods_that_are_over(kept):
    harness = demux()
    objects = []
    for timestamp in range(1000, 1040):
        feed(harness, ("s", timestamp % 2, timestamp), ("x", timestamp, timestamp))
        objects.append(kept(harness.node("SwitchDemuxCalculator").calculator))

    assert objects[-1] <= objects[9]


@pytest.mark.parametrize(
    ("sides", "options", "channel"),
    [
        ({}, {}, 0),
        ({}, {"select": 1}, 1),
        ({}, {"enable": True}, 1),
        ({}, {"enable": True, "select": 0}, 0),
        ({"ENABLE": False}, {"select": 1}, 0),
        ({"SELECT": 1}, {}, 1),
        ({"ENABLE": True, "SELECT": 0}, {}, 0),
        ({"SELECT": 7}, {}, None),
    ],
)
def test_side_packets_and_then_options_say_what_is_active_at_first(sides, options, channel):
    run = run_calculator(
        "SwitchDemuxCalculator",
        {"X": [(1, "a")]},
        outputs=["C0__X", "C1__X"],
        side_packets=sides,
        options=SwitchContainerOptions(**options),
    )

    came = [bool(run.outputs[f"C{i}__X"]) for i in range(2)]
    assert came == [channel == 0, channel == 1]


def test_enable_is_select_as_a_bool():
    run = run_calculator(
        "SwitchDemuxCalculator",
        {"ENABLE": [(1, True), (3, False)], "X": [(1, "a"), (2, "b"), (3, "c")]},
        outputs=["C0__X", "C1__X"],
    )

    assert [packet.payload for packet in run.outputs["C0__X"]] == ["c"]
    assert [packet.payload for packet in run.outputs["C1__X"]] == ["a", "b"]


def test_packets_for_no_channel_are_in_the_ledger():
    harness = demux()

    feed(harness, ("s", 2, 1), ("x", "1", 1), ("s", 1, 2), ("x", "2", 2))

    assert harness.stream("x").readers[0].dropped == {"no channel is active": 1}
    assert harness.carried("b") == [(2, "2")]


# the header too
@pytest.mark.reference(
    "framework/tool/switch_demux_calculator_test.cc", "SwitchDemuxCalculatorTest.BasicDataFlow"
)
def test_headers_and_side_packets_go_to_all_channels():
    run = run_calculator(
        "SwitchDemuxCalculator",
        {"X": []},
        outputs=["C0__X", "C1__X"],
        headers={"X": "header"},
        side_packets={"MODEL": "weights", "SELECT": 1},
        output_side_packets=["C0__MODEL", "C1__MODEL"],
    )

    assert run.headers == {"C0__X": "header", "C1__X": "header"}
    assert run.output_side_packets == {"C0__MODEL": "weights", "C1__MODEL": "weights"}


def test_a_packet_at_the_end_of_time_still_finds_its_channel():
    harness = demux()
    harness.add("x", "last", Timestamp.POSTSTREAM)
    harness.add("s", 1, 1)
    harness.finish()

    assert harness.carried("b") == [(int(Timestamp.POSTSTREAM), "last")]


@pytest.mark.parametrize(
    ("inputs", "outputs", "message"),
    [
        (["ENABLE", "SELECT", "X"], ["C0__X"], "inputs ENABLE and SELECT are both connected"),
        (["X"], ["C0__X", "C0__Y"], "stream 'C0__Y' belongs to a channel, but there is no 'Y'"),
        (["X", "Y"], ["C0__X"], "stream 'Y' is connected, but no channel has it; connect 'C0__Y'"),
        (["X"], ["C0__X", "C01__X"], "stream 'C01__X' belongs to no channel; name it 'C0__C01__X'"),
    ],
)
def test_ports_that_do_not_match_are_refused(inputs, outputs, message):
    with pytest.raises(GraphConfigError, match=message):
        run_calculator("SwitchDemuxCalculator", {key: [] for key in inputs}, outputs=outputs)


@pytest.mark.parametrize("synchronize_io", [False, True])
def test_it_keeps_what_all_calculators_promise_whatever_arrives_first(synchronize_io):
    check_calculator(
        "SwitchDemuxCalculator",
        wiring="""
          node {
            calculator: "SwitchDemuxCalculator"
            input_stream: "SELECT:s"
            input_stream: "X:0:x"
            input_stream: "X:1:z"
            output_stream: "C0__X:0:a"
            output_stream: "C1__X:0:b"
            output_stream: "C1__X:1:c"
          }
        """,
        options=SwitchContainerOptions(synchronize_io=synchronize_io),
        payloads={"SELECT": lambda random, at: random.randrange(3)},
        depends_on_arrival=False,
        seeds=range(40),
    )
