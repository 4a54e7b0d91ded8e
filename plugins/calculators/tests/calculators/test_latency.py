"""Clocks, latencies and frequencies: by clocks that the test moves, and by timestamps."""

from __future__ import annotations

import time

import pytest

import penstock
from penstock.errors import GraphConfigError, GraphRunError
from penstock.lowlevel import CLOCK
from penstock_calculators.messages.packet_frequency_pb2 import PacketFrequencyCalculatorOptions
from penstock_calculators.messages.packet_latency_pb2 import PacketLatency, PacketLatencyCalculatorOptions
from penstock_calculators.timing.clocks import ClockLatencyCalculator, ClockTimestampCalculator
from penstock_calculators.timing.packet_latency import PacketLatencyCalculator
from penstock_testing import ManualClock, run_calculator


class Live:
    """A graph of one node, whose packets a test sends one by one."""

    def __init__(self, node, streams, outputs, side_packets=None, service=None):
        lines = [f'input_stream: "{name}"' for name in streams]
        lines += [f'output_stream: "{name}"' for name in outputs]
        lines += [f'input_side_packet: "{name}"' for name in side_packets or {}]
        self.graph, self.seen = penstock.CalculatorGraph("\n".join([*lines, node])), []
        if service is not None:
            self.graph.set_service(CLOCK, service)
        for name in outputs:
            self.graph.observe_output_stream(name, self._see)
        self.graph.start_run(side_packets or {})

    def _see(self, stream, packet):
        self.seen.append((stream, int(packet.timestamp), packet.payload))

    def send(self, stream, timestamp):
        """Send a packet; return what it caused."""
        self.seen.clear()
        self.graph.add_packet_to_input_stream(stream, penstock.Packet("any", timestamp))
        self.graph.wait_until_idle(60)
        return list(self.seen)


# --- ClockTimestampCalculator and ClockLatencyCalculator ---------------------------------------------

TIMES = """
node {
  calculator: "ClockTimestampCalculator" input_stream: "frames" output_stream: "times" %s
}
"""


def test_the_clock_of_a_side_packet_tells_when_a_packet_came():
    clock = ManualClock(100)
    live = Live(TIMES % 'input_side_packet: "CLOCK:clock"', ["frames"], ["times"], {"clock": clock})

    assert live.send("frames", 1) == [("times", 1, 100.0)]
    clock.advance(0.25)
    assert live.send("frames", 7) == [("times", 7, 100.25)]
    live.graph.close(60)


def test_without_one_the_time_is_that_of_the_system_and_passes_by_the_clock_of_the_graph():
    clock, before = ManualClock(5), time.time()
    live = Live(TIMES % "", ["frames"], ["times"], service=clock)

    ((_, _, first),) = live.send("frames", 1)
    clock.advance(2)
    ((_, _, second),) = live.send("frames", 2)
    live.graph.close(60)

    assert before <= first <= time.time()
    assert second - first == pytest.approx(2, abs=1e-6)


@pytest.mark.parametrize(("inputs", "outputs"), [([0, 1], [0]), ([0], [0, 1])])
def test_a_node_has_one_stream(inputs, outputs):
    with pytest.raises(GraphConfigError, match="but there must be one of each; use a node for each stream"):
        run_calculator(ClockTimestampCalculator, {port: [] for port in inputs}, outputs=outputs)


def test_latencies_are_differences_to_the_reference():
    feeds = {
        0: [(1, 5.5), (3, 8.0)],
        1: [(1, 4.0), (2, 7.0)],
        "REFERENCE": [(1, 5.0), (2, 6.0), (3, 8.0)],
    }

    run = run_calculator(ClockLatencyCalculator, feeds, outputs=[0, 1])

    found = {i: [(int(p.timestamp), p.payload) for p in run.outputs[i]] for i in (0, 1)}
    assert found == {0: [(1, 0.5), (3, 0.0)], 1: [(1, -1.0), (2, 1.0)]}


def test_a_time_without_a_reference_is_refused():
    with pytest.raises(GraphRunError, match="'in_1' has no packet at timestamp 2, but others have one"):
        run_calculator(ClockLatencyCalculator, {0: [(2, 1.0)], "REFERENCE": [(1, 1.0)]}, outputs=[0])


@pytest.mark.parametrize("calculator", [ClockLatencyCalculator, PacketLatencyCalculator])
@pytest.mark.parametrize(("inputs", "outputs"), [([], []), ([0, 1], [0])])
def test_each_stream_has_an_output(calculator, inputs, outputs):
    tag = "REFERENCE" if calculator is ClockLatencyCalculator else "REFERENCE_SIGNAL"
    with pytest.raises(GraphConfigError, match="but each input needs an output, and one at least is needed"):
        run_calculator(calculator, {port: [] for port in [*inputs, tag]}, outputs=outputs)


# --- PacketLatencyCalculator -------------------------------------------------------------------------

LATENCIES = """
node {
  calculator: "PacketLatencyCalculator"
  input_stream: "a" input_stream: "b" input_stream: "REFERENCE_SIGNAL:frames"
  input_side_packet: "CLOCK:clock"
  output_stream: "late_a" output_stream: "late_b"
  options { [penstock.PacketLatencyCalculatorOptions.ext] { %s } }
}
"""


def watched(clock, options="num_intervals: 3 interval_size_usec: 100"):
    return Live(LATENCIES % options, ["a", "b", "frames"], ["late_a", "late_b"], {"clock": clock})


def microseconds(clock, count):
    clock.advance(count / 1e6)


def test_latencies_count_from_the_first_packet_of_reference():
    clock = ManualClock(3)
    live = watched(clock)

    assert live.send("a", 10) == []  # before any reference
    assert live.send("frames", 1000) == []
    microseconds(clock, 350)
    ((stream, timestamp, first),) = live.send("a", 1100)
    microseconds(clock, 50)
    ((_, _, second),) = live.send("a", 1349)
    live.send("frames", 1350)  # a later one changes nothing
    ((other, _, third),) = live.send("b", 1300)
    live.graph.close(60)

    assert (stream, timestamp, other) == ("late_a", 1100, "late_b")
    assert (first.current_latency_usec, first.avg_latency_usec, first.sum_latency_usec) == (250, 250, 250)
    assert (second.current_latency_usec, second.avg_latency_usec, second.sum_latency_usec) == (51, 150, 301)
    assert (list(first.counts), list(second.counts)) == ([0, 0, 1], [1, 0, 1])
    assert (first.num_intervals, first.interval_size_usec) == (3, 100)
    assert (third.current_latency_usec, list(third.counts)) == (100, [0, 1, 0])
    assert (first.label, third.label) == ("a", "b")


def test_what_is_later_than_all_intervals_is_in_the_last_and_what_is_early_gets_no_answer():
    clock = ManualClock()
    live = watched(clock, 'num_intervals: 2 interval_size_usec: 10 packet_labels: "x" packet_labels: "y"')

    live.send("frames", 0)
    assert live.send("a", 1) == []
    microseconds(clock, 5000)
    ((_, _, found),) = live.send("a", 2)
    live.graph.close(60)

    assert (list(found.counts), found.label, found.sum_latency_usec) == ([0, 1], "x", 4998)


def test_a_packet_that_comes_at_once_has_no_latency_and_counts():
    live = watched(ManualClock())
    live.send("frames", 5)
    ((_, _, found),) = live.send("a", 5)
    live.graph.close(60)

    assert (found.current_latency_usec, list(found.counts)) == (0, [1, 0, 0])


def test_statistics_begin_again_after_a_while():
    clock = ManualClock()
    live = watched(clock, "num_intervals: 1 reset_duration_usec: 100")

    live.send("frames", 0)
    microseconds(clock, 99)
    live.send("a", 1)
    ((_, _, before),) = live.send("a", 2)
    microseconds(clock, 1)
    ((_, _, after),) = live.send("a", 3)
    live.graph.close(60)

    assert (list(before.counts), before.sum_latency_usec) == ([2], 98 + 97)
    assert (list(after.counts), after.sum_latency_usec, after.avg_latency_usec) == ([1], 97, 97)


# MediaPipe's own tests of it: each step is the microseconds that pass before a packet is sent, its stream and
# its timestamp; each answer is the stream, the timestamp, the latency, the counts and the average.

SLOW = """
node {
  calculator: "PacketLatencyCalculator" %s
  input_stream: "REFERENCE_SIGNAL:camera_frames" %s
  options {
    [penstock.PacketLatencyCalculatorOptions.ext] { num_intervals: 3 interval_size_usec: 4 %s }
  }
  input_stream_handler { input_stream_handler: "ImmediateInputStreamHandler" }
}
"""


def latencies(steps, streams=1, side_packet='input_side_packet: "CLOCK:clock"', options=""):
    ports = [f'input_stream: "delayed_{i}" output_stream: "late_{i}"' for i in range(streams)]
    options += "".join(f'packet_labels: "dummy input {i}" ' for i in range(streams))
    clock = ManualClock()
    live = Live(
        SLOW % (" ".join(ports), side_packet, options),
        ["camera_frames", *(f"delayed_{i}" for i in range(streams))],
        [f"late_{i}" for i in range(streams)],
        {"clock": clock} if side_packet else {},
    )
    found = []
    for passed, stream, at in steps:
        microseconds(clock, passed)
        found += live.send("camera_frames" if stream is None else f"delayed_{stream}", at)
    live.graph.close(60)
    return found


def latency(stream, at, current, counts, average):
    return (
        f"late_{stream}",
        at,
        PacketLatency(
            current_latency_usec=current,
            num_intervals=3,
            interval_size_usec=4,
            counts=counts,
            avg_latency_usec=average,
            sum_latency_usec=average * sum(counts),
            label=f"dummy input {stream}",
        ),
    )


@pytest.mark.reference(
    "calculators/util/packet_latency_calculator_test.cc",
    "PacketLatencyCalculatorTest.DoesNotOutputUntilInputPacketReceived",
    "PacketLatencyCalculatorTest.OutputsCorrectLatencyForSingleStream",
    "PacketLatencyCalculatorTest.DoesNotOutputUntilReferencePacketReceived",
    "PacketLatencyCalculatorTest.OutputsCorrectLatencyStatisticsInTimeWindow",
    "PacketLatencyCalculatorTest.ResetsHistogramAndAverageCorrectly",
)
@pytest.mark.parametrize(
    ("steps", "expected"),
    [
        ([(0, None, 0), (0, None, 6), (0, None, 10)], []),
        (
            [(12, None, 10), (1, 0, 1), (1, 0, 8)],
            [latency(0, 1, 10, [0, 0, 1], 10), latency(0, 8, 4, [0, 1, 1], 7)],
        ),
        (
            [(0, 0, 1), (0, 0, 2), (1, None, 10), (1, 0, 7), (0, 0, 9)],
            [latency(0, 7, 4, [0, 1, 0], 4), latency(0, 9, 2, [1, 1, 0], 3)],
        ),
        (
            [(0, None, 20), (0, 0, 0), (0, 0, 20)],
            [latency(0, 0, 20, [0, 0, 1], 20), latency(0, 20, 0, [1, 0, 1], 10)],
        ),
        (
            [(0, None, 0), (20, 0, 0), (100, 0, 115)],
            [latency(0, 0, 20, [0, 0, 1], 20), latency(0, 115, 5, [0, 1, 0], 5)],
        ),
    ],
)
def test_latencies_of_one_stream_in_the_time_of_a_clock(steps, expected):
    assert latencies(steps, options="reset_duration_usec: 100 ") == expected


@pytest.mark.reference(
    "calculators/util/packet_latency_calculator_test.cc",
    "PacketLatencyCalculatorTest.OutputsCorrectLatencyForMultipleStreams",
)
def test_each_stream_has_its_own_statistics():
    assert latencies([(0, None, 10), (0, 0, 10), (0, 1, 5), (0, 2, 0)], streams=3) == [
        latency(0, 10, 0, [1, 0, 0], 0),
        latency(1, 5, 5, [0, 1, 0], 5),
        latency(2, 0, 10, [0, 0, 1], 10),
    ]


@pytest.mark.reference(
    "calculators/util/packet_latency_calculator_test.cc",
    "PacketLatencyCalculatorTest.OutputsCorrectLatencyWhenNoClock",
)
def test_without_a_clock_there_are_latencies_too():
    found = latencies([(0, None, 10), (0, 0, 5), (0, 0, 10)], side_packet="")

    assert [(stream, at) for stream, at, _ in found] == [("late_0", 5), ("late_0", 10)]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"packet_labels": ["a", "b"]}, "there are 2 packet_labels, but latencies of 1 streams are measured"),
        ({"num_intervals": 0}, "num_intervals is 0, but must be 1 or more"),
        (
            {"num_intervals": 2**40},
            "num_intervals asks for a size of 1099511627776 elements, but at most 100000",
        ),
        ({"interval_size_usec": 0}, "interval_size_usec is 0, but must be 1 or more"),
    ],
)
def test_histograms_that_cannot_be_are_refused(options, message):
    with pytest.raises(GraphRunError, match=message):
        run_calculator(
            "PacketLatencyCalculator",
            {0: [], "REFERENCE_SIGNAL": []},
            outputs=[0],
            options=PacketLatencyCalculatorOptions(**options),
        )


# --- PacketFrequencyCalculator -----------------------------------------------------------------------

FREQUENCIES = """
node {
  calculator: "PacketFrequencyCalculator" input_stream: "a" input_stream: "b"
  output_stream: "hz_a" output_stream: "hz_b"
  options { [penstock.PacketFrequencyCalculatorOptions.ext] { label: "x" label: "y" %s } }
}
"""


def frequencies(window, *packets):
    live = Live(FREQUENCIES % window, ["a", "b"], ["hz_a", "hz_b"])
    found = [
        (stream, timestamp, payload.packet_frequency_hz, payload.label)
        for name, at in packets
        for stream, timestamp, payload in live.send(name, at)
    ]
    live.graph.close(60)
    return found


def test_packets_are_counted_over_the_time_since_the_first():
    found = frequencies("", ("a", 0), ("a", 500_000), ("b", 100_000), ("a", 1_000_000), ("b", 600_000))

    assert found == [
        ("hz_a", 0, 0.0, "x"),
        ("hz_a", 500_000, 4.0, "x"),
        ("hz_b", 100_000, 0.0, "y"),
        ("hz_a", 1_000_000, 3.0, "x"),
        ("hz_b", 600_000, 4.0, "y"),
    ]


@pytest.mark.reference(
    "calculators/util/packet_frequency_calculator_test.cc",
    "PacketFrequencyCalculatorTest.MultiPacketTest",
    "PacketFrequencyCalculatorTest.MultiStreamTest",
)
@pytest.mark.parametrize(
    ("labels", "times", "expected"),
    [
        (
            ["stream_description"],
            [[0, 500_000, 1_000_000, 1_500_000, 3_000_000, 4_000_000, 9_000_000]],
            [[0.0, 4.0, 3.0, 2.666667, 1.666667, 1.333333, 0.33333334]],
        ),
        (
            ["stream_description_0", "stream_description_1", "stream_description_2"],
            [[250_000, 500_000], [100_000, 5_000_000], [0, 3_000_000]],
            [[0.0, 8.0], [0.0, 0.33333334], [0.0, 0.66666669]],
        ),
    ],
)
def test_packets_of_the_last_three_seconds_are_counted(labels, times, expected):
    run = run_calculator(
        "PacketFrequencyCalculator",
        {i: [(at, "any") for at in some] for i, some in enumerate(times)},
        outputs=range(len(times)),
        options=PacketFrequencyCalculatorOptions(time_window_sec=3, label=labels),
    )

    found = [[packet.payload for packet in packets] for packets in run.outputs.values()]
    assert [[one.packet_frequency_hz for one in some] for some in found] == [
        pytest.approx(some, rel=4 * 2**-23) for some in expected
    ]
    assert [{one.label for one in some} for some in found] == [{label} for label in labels]


def test_packets_older_than_the_window_are_forgotten():
    times = [0, 400_000, 1_000_000, 1_400_000, 1_400_001, 9_000_000]
    found = frequencies("time_window_sec: 1", *(("a", t) for t in times))

    for i, (_, now, hertz, _) in enumerate(found[1:], start=1):
        recent = [t for t in times[: i + 1] if now - t <= 1_000_000]
        assert hertz == len(recent) / (min(now, 1_000_000) / 1e6)


def test_negative_timestamps_count_too():
    assert [hertz for _, _, hertz, _ in frequencies("", ("a", -500_000), ("a", 0))] == [0.0, 4.0]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ('label: "z"', r"label is \['x', 'y', 'z'\], but each of the 2 streams needs one"),
        ("time_window_sec: 0", "time_window_sec is 0, but must be above 0 and at most 100"),
        ("time_window_sec: 100.5", "time_window_sec is 100.5"),
    ],
)
def test_labels_and_windows_that_do_not_fit_are_refused(options, message):
    with pytest.raises(GraphRunError, match=message):
        frequencies(options, ("a", 0))


def test_each_counted_stream_has_an_output():
    with pytest.raises(
        GraphConfigError, match="frequencies are measured of 1 untagged inputs, for 0 untagged outputs"
    ):
        run_calculator("PacketFrequencyCalculator", {0: []}, outputs=[])
