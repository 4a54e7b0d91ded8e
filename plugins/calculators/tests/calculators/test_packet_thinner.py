"""Expected values from the reference's description of the calculator."""

from __future__ import annotations

import pytest

from penstock import GraphConfigError, GraphRunError
from penstock.config.calculator_options_pb2 import CalculatorOptions
from penstock_calculators.messages.packet_thinner_pb2 import PacketThinnerCalculatorOptions
from penstock_calculators.timing.packet_thinner import PacketThinnerCalculator
from penstock_formats import ImageFormat, VideoHeader
from penstock_testing import ScheduleHarness, node, run_calculator, wired

ASYNC, SYNC = PacketThinnerCalculatorOptions.ASYNC, PacketThinnerCalculatorOptions.SYNC
EVEN = [2, 4, 6, 8, 10, 12, 14]
PRIMES = [2, 3, 5, 7, 11, 13, 17, 19, 23, 29]


def options(kind, period=5, **fields):
    return PacketThinnerCalculatorOptions(thinner_type=kind, period=period, **fields)


def thinned(timestamps, given, **arguments):
    """Return timestamp and payload of each output packet; a packet's payload is its timestamp."""
    run = run_calculator(
        PacketThinnerCalculator, {0: [(t, t) for t in timestamps]}, outputs=[0], options=given, **arguments
    )
    return [(packet.stamp, packet.payload) for packet in run.outputs[0]]


def harness_of(given):
    plan = wired(node(PacketThinnerCalculator, "in", "out", options=[given]), inputs="in")
    return ScheduleHarness(plan, bounds_of=["out"]).start()


@pytest.mark.parametrize(
    ("timestamps", "given", "passed"),
    [
        (EVEN, options(ASYNC), [2, 8, 14]),
        (PRIMES, options(ASYNC), [2, 7, 13, 19, 29]),
        (PRIMES, options(ASYNC, start_time=4, end_time=12), [5, 11]),
        (EVEN, options(SYNC, sync_output_timestamps=False), [2, 6, 10, 14]),
        (PRIMES, options(SYNC, sync_output_timestamps=False), [2, 5, 11, 17, 19, 23, 29]),
    ],
)
def test_packets_pass_at_their_own_timestamps(timestamps, given, passed):
    assert thinned(timestamps, given) == [(t, t) for t in passed]


@pytest.mark.parametrize(
    ("timestamps", "given", "stamps"),
    [
        (EVEN, options(SYNC), [0, 5, 10, 15]),
        (range(8, 57, 8), options(SYNC), [10, 15, 25, 30, 40, 50, 55]),
        ([2, 3], options(SYNC, start_time=-10), [0, 5]),
        ([-4, -3, 8, 9], options(SYNC, 6, start_time=-144), [-6, 0, 6, 12]),
    ],
)
def test_packets_of_synchronous_periods_are_at_the_middle_of_each(timestamps, given, stamps):
    assert [stamp for stamp, _ in thinned(timestamps, given)] == stamps


EIGHTS = [8, 16, 24, 32, 40, 48, 56]


@pytest.mark.parametrize(
    ("timestamps", "given", "stamps"),
    [
        pytest.param(
            PRIMES,
            options(ASYNC, start_time=4, end_time=12),
            [5, 11],
            marks=pytest.mark.reference(
                "calculators/core/packet_thinner_calculator_test.cc",
                "PacketThinnerCalculatorTest.StartAndEndTimeTest",
            ),
        ),
        pytest.param(
            EVEN,
            options(ASYNC),
            [2, 8, 14],
            marks=pytest.mark.reference(
                "calculators/core/packet_thinner_calculator_test.cc",
                "PacketThinnerCalculatorTest.AsyncUniformStreamThinningTest",
            ),
        ),
        pytest.param(
            EVEN,
            options(SYNC, start_time=0, sync_output_timestamps=False),
            [2, 6, 10, 14],
            marks=pytest.mark.reference(
                "calculators/core/packet_thinner_calculator_test.cc",
                "PacketThinnerCalculatorTest.SyncUniformStreamThinningTest1",
            ),
        ),
        pytest.param(
            EVEN,
            options(SYNC, start_time=0, sync_output_timestamps=True),
            [0, 5, 10, 15],
            marks=pytest.mark.reference(
                "calculators/core/packet_thinner_calculator_test.cc",
                "PacketThinnerCalculatorTest.SyncUniformStreamThinningTest2",
            ),
        ),
        pytest.param(
            PRIMES,
            options(ASYNC),
            [2, 7, 13, 19, 29],
            marks=pytest.mark.reference(
                "calculators/core/packet_thinner_calculator_test.cc",
                "PacketThinnerCalculatorTest.PrimeStreamThinningTest1",
            ),
        ),
        pytest.param(
            PRIMES,
            options(SYNC, start_time=0, sync_output_timestamps=False),
            [2, 5, 11, 17, 19, 23, 29],
            marks=pytest.mark.reference(
                "calculators/core/packet_thinner_calculator_test.cc",
                "PacketThinnerCalculatorTest.PrimeStreamThinningTest2",
            ),
        ),
        pytest.param(
            [2, 3],
            options(SYNC, start_time=-10, sync_output_timestamps=True),
            [0, 5],
            marks=pytest.mark.reference(
                "calculators/core/packet_thinner_calculator_test.cc",
                "PacketThinnerCalculatorTest.BoundaryTimestampTest1",
            ),
        ),
        pytest.param(
            [-4, -3, 8, 9],
            options(SYNC, 6, start_time=-144, sync_output_timestamps=True),
            [-6, 0, 6, 12],
            marks=pytest.mark.reference(
                "calculators/core/packet_thinner_calculator_test.cc",
                "PacketThinnerCalculatorTest.BoundaryTimestampTest2",
            ),
        ),
    ],
)
def test_one_packet_of_each_period_passes(timestamps, given, stamps):
    assert [stamp for stamp, _ in thinned(timestamps, given)] == stamps


@pytest.mark.parametrize(
    ("kind", "stamps"),
    [
        pytest.param(
            ASYNC,
            [2, 8, 14],
            marks=pytest.mark.reference(
                "calculators/core/packet_thinner_calculator_test.cc",
                "PacketThinnerCalculatorTest.ASyncUniformStreamThinningTestBySidePacket",
            ),
        ),
        pytest.param(
            SYNC,
            [2, 6, 10, 14],
            marks=pytest.mark.reference(
                "calculators/core/packet_thinner_calculator_test.cc",
                "PacketThinnerCalculatorTest.SyncUniformStreamThinningTestBySidePacket1",
            ),
        ),
    ],
)
def test_the_period_may_come_as_a_side_packet_alone(kind, stamps):
    given = PacketThinnerCalculatorOptions(thinner_type=kind, start_time=0, sync_output_timestamps=False)

    assert [stamp for stamp, _ in thinned(EVEN, given, side_packets={"PERIOD": 5})] == stamps


@pytest.mark.parametrize(
    ("timestamps", "given", "stamps", "interval"),
    [
        pytest.param(
            EVEN,
            options(ASYNC),
            [2, 8, 14],
            6,
            marks=pytest.mark.reference(
                "calculators/core/packet_thinner_calculator_test.cc",
                "PacketThinnerCalculatorTest.FrameRateTest1",
            ),
        ),
        pytest.param(
            EIGHTS,
            options(ASYNC),
            EIGHTS,
            8,
            marks=pytest.mark.reference(
                "calculators/core/packet_thinner_calculator_test.cc",
                "PacketThinnerCalculatorTest.FrameRateTest2",
            ),
        ),
        pytest.param(
            EVEN,
            options(SYNC, start_time=0, sync_output_timestamps=False),
            [2, 6, 10, 14],
            5,
            marks=pytest.mark.reference(
                "calculators/core/packet_thinner_calculator_test.cc",
                "PacketThinnerCalculatorTest.FrameRateTest3",
            ),
        ),
        pytest.param(
            EVEN,
            options(SYNC, start_time=0, sync_output_timestamps=True),
            [0, 5, 10, 15],
            5,
            marks=pytest.mark.reference(
                "calculators/core/packet_thinner_calculator_test.cc",
                "PacketThinnerCalculatorTest.FrameRateTest4",
            ),
        ),
        pytest.param(
            EIGHTS,
            options(SYNC, start_time=0, sync_output_timestamps=True),
            [10, 15, 25, 30, 40, 50, 55],
            8,
            marks=pytest.mark.reference(
                "calculators/core/packet_thinner_calculator_test.cc",
                "PacketThinnerCalculatorTest.FrameRateTest5",
            ),
        ),
    ],
)
def test_the_rate_of_the_header_is_that_of_the_packets_that_pass(timestamps, given, stamps, interval):
    given.update_frame_rate = True
    header = VideoHeader(frame_rate=1e6 / timestamps[0])

    run = run_calculator(
        PacketThinnerCalculator,
        {0: [(t, f"Frame #{t}") for t in timestamps]},
        outputs=[0],
        options=given,
        headers={0: header},
    )

    assert [packet.stamp for packet in run.outputs[0]] == stamps
    assert run.headers[0].frame_rate == pytest.approx(1e6 / interval, rel=1e-15)


def test_of_two_that_are_equally_near_the_later_passes():
    assert thinned([9, 11], options(SYNC, 10)) == [(10, 11)]


def test_the_packet_that_is_kept_is_written_when_the_end_time_comes():
    harness = harness_of(options(SYNC, end_time=12))
    for timestamp in (1, 9, 13, 14):
        harness.add("in", timestamp, timestamp)
    harness.run()

    assert [pair for pair in harness.carried("out") if pair[1]] == [(0, 1), (10, 9)]
    assert harness.stream("out").is_closed
    harness.finish()


def test_bounds_say_how_far_the_output_is_settled():
    harness = harness_of(options(ASYNC, start_time=-3))
    for timestamp in (-9, 2, 4):
        harness.add("in", "packet", timestamp)
        harness.run()
    harness.set_bound("in", 40)
    harness.run()

    assert harness.carried("out") == [(-4, None), (2, "packet"), (6, None), (39, None)]
    harness.finish()


@pytest.mark.parametrize(("on_grid", "bounds"), [(True, [0, 0, 5, 10]), (False, [0, 2, 7, 8])])
def test_synchronous_bounds_wait_for_the_packet_that_is_kept(on_grid, bounds):
    harness = harness_of(options(SYNC, sync_output_timestamps=on_grid))
    harness.run()
    reached = [harness.stream("out").bound]
    for timestamp in (2, 7, 8):
        harness.add("in", "packet", timestamp)
        harness.run()
        reached.append(harness.stream("out").bound)

    assert reached == bounds
    harness.finish()


@pytest.mark.parametrize(
    ("given", "dropped"),
    [
        (options(ASYNC, start_time=4, end_time=12),
         {"before start_time": 2, "at or after end_time": 5, "period has another": 1}),
        (options(SYNC, start_time=4, end_time=12),
         {"before start_time": 2, "at or after end_time": 5, "period has another": 1}),
    ],
)  # fmt: skip
def test_dropped_packets_are_counted_with_their_reasons(given, dropped):
    harness = harness_of(given)
    for timestamp in PRIMES:
        harness.add("in", timestamp, timestamp)
    harness.finish()

    (reader,) = harness.stream("in").readers
    assert reader.dropped == dropped
    assert reader.delivered == len(PRIMES) - sum(dropped.values())


def test_side_packets_replace_the_options():
    own = options(SYNC)
    wrapped = CalculatorOptions()
    wrapped.Extensions[PacketThinnerCalculatorOptions.ext].CopyFrom(own)

    for packet in (own, wrapped):
        assert [stamp for stamp, _ in thinned(EVEN, options(ASYNC, 3), side_packets={"OPTIONS": packet})] == [
            0,
            5,
            10,
            15,
        ]
    assert thinned(EVEN, options(ASYNC, 3), side_packets={"PERIOD": 5}) == [(t, t) for t in (2, 8, 14)]


@pytest.mark.parametrize(
    ("given", "rate"),
    [
        (options(ASYNC, 100_000, update_frame_rate=True), 10.0),
        (options(ASYNC, 120_000, update_frame_rate=True), 7.5),
        (options(SYNC, 100_000, update_frame_rate=True), 10.0),
        (options(SYNC, 10_000, update_frame_rate=True), 30.0),
        (options(SYNC, 100_000), 30.0),
    ],
)
def test_the_header_is_forwarded_with_the_rate_that_is_left(given, rate):
    header = VideoHeader(ImageFormat.SRGB, 640, 480, 30.0, 12.5)

    run = run_calculator(PacketThinnerCalculator, {0: []}, outputs=[0], options=given, headers={0: header})

    assert run.headers[0] == VideoHeader(ImageFormat.SRGB, 640, 480, rate, 12.5)


def test_the_rate_of_a_header_that_has_none_cannot_be_updated():
    with pytest.raises(GraphRunError, match=r"holds a 'str', but a 'VideoHeader' was asked for"):
        run_calculator(
            PacketThinnerCalculator,
            {0: []},
            outputs=[0],
            options=options(ASYNC, update_frame_rate=True),
            headers={0: "header"},
        )


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (options(ASYNC, 0), "period is 0, but must be above 0"),
        (options(SYNC, end_time=0), "start_time is 0, but must be below end_time, which is 0"),
    ],
)
def test_impossible_options_are_refused_before_a_run_where_they_are_known(given, message):
    with pytest.raises(GraphConfigError, match=message):
        thinned([], given)
    with pytest.raises(GraphRunError, match=message):
        thinned([], options(ASYNC), side_packets={"OPTIONS": given})
