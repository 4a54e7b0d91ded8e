from __future__ import annotations

import sys

import pytest

from penstock.engine.packet import Packet
from penstock.timestamp import MAX, MIN, ONE_OVER_POSTSTREAM, POSTSTREAM, PRESTREAM, Timestamp
from penstock_testing import ScheduleHarness, calculator, explore, node, wired

Nothing = calculator(name="Nothing")
OffsetOnly = calculator(name="OffsetOnly", offset=0)
Future = calculator(lambda cc: cc.output.add(cc.input.payload, cc.input_timestamp + 3), name="Future")


def pass_on(cc) -> None:
    for source, target in zip(cc.inputs, cc.outputs, strict=True):
        if not source.is_empty():
            target.add_packet(source.packet)


Pass = calculator(pass_on, name="Pass", offset=0)


def tell_time(cc) -> None:
    if not cc.input.is_empty() or cc.input.packet.timestamp == cc.input_timestamp:
        cc.output.add(int(cc.input_timestamp), cc.input_timestamp)


Ts = calculator(tell_time, name="Ts", process_bounds=True)


# --- what an offset promises ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("offset", "stamp", "bound"),
    [
        (0, 0, 1),
        (0, PRESTREAM, MIN),
        (0, MAX, POSTSTREAM),
        (0, POSTSTREAM, ONE_OVER_POSTSTREAM),
        (0, MIN, MIN + 1),
        (-10, 0, -9),
        (-10, MAX, MAX - 9),
        (-10, MIN, MIN),
        (10, MAX - 3, MAX),
        (10, MAX, POSTSTREAM),
        (5, 100, 106),
    ],
)
def test_after_a_step_the_bound_is_past_the_input_by_the_offset(offset, stamp, bound) -> None:
    harness = ScheduleHarness(
        wired(node(calculator(name="N", offset=offset), "in", "out"), inputs="in")
    ).start()
    harness.run()
    harness.add("in", "x", stamp)
    harness.complete(harness.call(harness.take()))

    assert harness.stream("out").bound == bound


def test_a_packet_beyond_the_offset_moves_the_bound_past_itself() -> None:
    late = calculator(lambda cc: cc.output.add("x", 20), name="Late", offset=-10)
    harness = ScheduleHarness(wired(node(late, "in", "out"), inputs="in")).start()
    harness.add("in", "x", 0)
    harness.run()

    assert harness.stream("out").bound == 21


def test_an_explicit_bound_beyond_the_offset_stays_and_smaller_promises_are_ignored() -> None:
    jumps = calculator(
        lambda cc: cc.output.set_next_timestamp_bound(10_000) if cc.input_timestamp == 20 else None,
        name="Jumps",
        offset=0,
    )
    harness = ScheduleHarness(wired(node(jumps, "in", "out"), inputs="in")).start()
    for stamp in range(20, 100, 10):
        harness.add("in", "x", stamp)
    harness.finish()

    assert harness.errors == []


@pytest.mark.parametrize(("bound", "forwarded"), [(MAX - 1, MAX - 4), (MAX, MAX - 3), (MIN + 5, MIN + 2)])
def test_a_bound_up_to_the_end_of_time_is_forwarded_by_the_offset(bound, forwarded) -> None:
    shifts = calculator(name="Shifts", offset=-3)
    harness = ScheduleHarness(wired(node(shifts, "in", "out"), inputs="in")).start()
    harness.run()
    harness.set_bound("in", bound)

    assert harness.stream("out").bound == forwarded


@pytest.mark.parametrize("max_in_flight", [1, 2])
def test_a_bound_that_open_sets_reaches_readers_and_observers(max_in_flight) -> None:
    opens = calculator(open=lambda cc: cc.output.set_next_timestamp_bound(5), name="Opens")
    harness = ScheduleHarness(
        wired(node(opens, "in", "out", max_in_flight=max_in_flight), node(Ts, "out", "ts"), inputs="in"),
        bounds_of=["out"],
    ).start()
    harness.run()

    assert harness.carried("out") == [(4, None)]
    assert harness.stream("out").readers[0].bound == 5
    assert harness.carried("ts") == [(4, 4)]


def test_an_offset_promises_nothing_before_the_first_input() -> None:
    harness = ScheduleHarness(wired(node(OffsetOnly, "in", "out"), inputs="in")).start()
    harness.run()

    assert harness.stream("out").bound == PRESTREAM


def test_an_offset_can_be_set_for_one_output_alone_in_open() -> None:
    half = calculator(open=lambda cc: cc.outputs[0].set_offset(0), name="Half")
    harness = ScheduleHarness(wired(node(half, "in", "a b"), inputs="in")).start()
    harness.add("in", "x", 7)
    harness.run()

    assert (harness.stream("a").bound, harness.stream("b").bound) == (8, PRESTREAM)


def test_a_source_with_an_offset_is_bound_by_its_input_timestamp_of_0() -> None:
    def emit(cc):
        cc.output.add("x", -5)

    harness = ScheduleHarness(wired(node(calculator(emit, name="Source", offset=0), (), "out"))).start()
    harness.run()

    assert "packet at -5 is behind the bound 0; the node promised an offset of 0" in str(harness.errors[0])


# --- bounds that travel -----------------------------------------------------------------------


def test_a_bound_is_forwarded_through_nodes_with_an_offset_without_a_step() -> None:
    plan = wired(
        node(calculator(name="A", offset=0), "in", "a"),
        node(calculator(name="B", offset=-2), "a", "b"),
        node(calculator(name="C", offset=10), "b", "c"),
        inputs="in",
    )
    harness = ScheduleHarness(plan).start()
    harness.run()
    harness.set_bound("in", 100)

    assert [harness.stream(name).bound for name in ("a", "b", "c")] == [100, 98, 108]
    harness.finish()
    assert not [line for line in harness.log if line.startswith("process")]


def test_a_node_without_an_offset_forwards_nothing() -> None:
    harness = ScheduleHarness(wired(node(Nothing, "in", "out"), inputs="in")).start()
    harness.run()
    harness.set_bound("in", 100)
    harness.add("in", "x", 100)
    harness.run()

    assert harness.stream("out").bound == PRESTREAM


@pytest.mark.parametrize("bound", [POSTSTREAM, ONE_OVER_POSTSTREAM])
def test_bounds_past_the_range_are_not_forwarded(bound) -> None:
    harness = ScheduleHarness(wired(node(OffsetOnly, "in", "out"), inputs="in")).start()
    harness.run()
    harness.set_bound("in", 5)
    harness.set_bound("in", bound)

    assert harness.stream("out").bound == 5


def test_a_bound_goes_no_further_than_the_slowest_input() -> None:
    harness = ScheduleHarness(wired(node(OffsetOnly, "a b", "out"), inputs="a b")).start()
    harness.run()
    harness.set_bound("a", 100)
    assert harness.stream("out").bound == PRESTREAM

    harness.set_bound("b", 40)
    assert harness.stream("out").bound == 40


def test_a_bound_waits_behind_a_packet_that_is_not_settled() -> None:
    harness = ScheduleHarness(wired(node(OffsetOnly, "a b", "out"), inputs="a b")).start()
    harness.run()
    harness.add("a", "x", 10)
    harness.set_bound("b", 10)

    assert harness.stream("out").bound == 10
    harness.set_bound("b", 50)
    harness.run()
    assert harness.stream("out").bound == 11


def test_a_long_chain_forwards_without_recursion() -> None:
    count = 2 * sys.getrecursionlimit()
    plan = wired(*(node(OffsetOnly, f"s{i}", f"s{i + 1}", name=f"n{i}") for i in range(count)), inputs="s0")
    schedule = ScheduleHarness(plan).start().schedule
    (queue,) = schedule.queues
    while (step := schedule.take(queue)) is not None:
        schedule.complete(step)
    schedule.set_bound(0, 7)

    assert schedule.streams[count].bound == 7
    schedule.close_input(0)
    while (step := schedule.take(queue)) is not None:
        schedule.complete(step)
    assert all(stream.is_closed for stream in schedule.streams)


# --- the scenarios of the reference's tests ---------------------------------------------------


def test_a_node_that_only_has_an_offset_lets_its_reader_go_on_before_the_end() -> None:
    harness = ScheduleHarness(
        wired(node(OffsetOnly, "in", "quiet"), node(Pass, "quiet in", "a b"), inputs="in")
    ).start()
    for stamp in range(4):
        harness.add("in", stamp, stamp)
        harness.run()

    assert harness.carried("b") == [(t, t) for t in range(4)]
    harness.finish()


def test_bounds_alone_make_no_steps_where_nobody_asks_for_them() -> None:
    plan = wired(
        node(Future, "in", "later"), node(OffsetOnly, "later", "quiet"), node(Nothing, "quiet"), inputs="in"
    )
    harness = ScheduleHarness(plan).start()
    for stamp in range(4):
        harness.add("in", stamp, stamp)
    harness.finish()

    assert "process Nothing" not in " ".join(harness.log)


def test_bounds_alone_make_steps_where_they_are_asked_for() -> None:
    plan = wired(
        node(Future, "in", "later"), node(OffsetOnly, "later", "quiet"), node(Ts, "quiet", "ts"), inputs="in"
    )
    harness = ScheduleHarness(plan).start()
    for stamp in range(0, 40, 10):
        harness.add("in", stamp, stamp)
        harness.run()

    assert harness.carried("ts") == [(t, t) for t in (3, 13, 23, 33)]


def test_an_empty_packet_is_a_bound_for_its_reader() -> None:
    even = calculator(
        lambda cc: cc.output.add_packet(
            cc.input.packet.at(cc.input_timestamp)
            if cc.input.payload % 20
            else Packet().at(cc.input_timestamp)
        ),
        name="Even",
    )
    harness = ScheduleHarness(wired(node(even, "in", "out"), node(Ts, "out", "ts"), inputs="in")).start()
    for stamp in range(10, 100, 10):
        harness.add("in", stamp, stamp)
        harness.run()

    assert harness.carried("ts") == [(t, t) for t in range(10, 100, 10)]


def test_a_bound_of_a_graph_input_is_processed_where_it_is_asked_for() -> None:
    harness = ScheduleHarness(wired(node(Ts, "in", "ts"), inputs="in")).start()
    harness.run()
    for stamp in range(10, 100, 10):
        harness.set_bound("in", Timestamp(stamp).next_allowed_in_stream())
        harness.run()

    assert harness.carried("ts") == [(t, t) for t in range(10, 100, 10)]


def test_a_packet_at_poststream_is_processed_once_with_process_bounds() -> None:
    harness = ScheduleHarness(wired(node(Ts, "in", "ts"), inputs="in")).start()
    harness.add("in", 0, POSTSTREAM)
    harness.finish()

    assert harness.carried("ts") == [(POSTSTREAM, POSTSTREAM)]


def test_a_summary_written_in_close_lets_each_reader_go_as_far_as_it_was_promised() -> None:
    def remember(cc):
        cc.output.set_next_timestamp_bound(cc.input_timestamp)
        Last.packet = cc.input.packet

    class Last:
        packet = None

    last = calculator(remember, close=lambda cc: cc.output.add_packet(Last.packet), name="Last")
    harness = ScheduleHarness(
        wired(node(last, "in", "last"), node(Pass, "in last", "a b"), inputs="in")
    ).start()
    for stamp in range(4):
        harness.add("in", stamp, stamp)
        harness.run()
        assert len(harness.carried("a")) == stamp
    harness.finish()

    assert (len(harness.carried("a")), len(harness.carried("b"))) == (4, 1)


def test_the_filter_of_the_reference_joins_when_both_sides_are_settled() -> None:
    def even(cc):
        if cc.input.payload % 2 == 0:
            cc.output.add_packet(cc.input.packet)
        else:
            cc.output.set_next_timestamp_bound(cc.input_timestamp + 1)

    add = calculator(
        lambda cc: (
            None
            if any(port.is_empty() for port in cc.inputs)
            else cc.output.add(sum(p.payload for p in cc.inputs), cc.input_timestamp)
        ),
        name="Add",
        offset=0,
    )
    plan = wired(node(calculator(even, name="Even"), "b", "even"), node(add, "a even", "sum"), inputs="a b")
    harness = ScheduleHarness(plan).start()
    harness.add("a", 1, 1)
    harness.add("b", 2, 1)
    harness.run()
    assert harness.carried("sum") == [(1, 3)]

    harness.add("b", 3, 2)
    harness.add("a", 3, 3)
    harness.run()
    assert harness.carried("sum") == [(1, 3)]
    harness.add("b", 4, 3)
    harness.run()
    assert harness.carried("sum") == [(1, 3), (3, 7)]


def test_two_streams_with_bounds_pass_what_is_settled_on_both() -> None:
    plan = wired(
        node(
            calculator(pass_on, name="Join", offset=0, process_bounds=True),
            "CONFIG:config VIDEO:frame",
            "CONFIG:c VIDEO:v",
        ),
        inputs="config frame",
    )
    harness = ScheduleHarness(plan, bounds_of=["c", "v"]).start()
    for action, stamp in [
        ("frame", 0),
        ("bound", 10_000),
        ("frame", 20_000),
        ("bound", 30_000),
        ("frame", 40_000),
        ("config", 50_000),
        ("frame", 60_000),
        ("bound", 70_000),
    ]:
        if action == "bound":
            harness.set_bound("config", stamp)
        else:
            harness.add(action, action, stamp)
        harness.run()

    assert harness.carried("v") == [
        (0, "frame"),
        (9_999, None),
        (20_000, "frame"),
        (29_999, None),
        (40_000, "frame"),
        (50_000, None),
        (60_000, "frame"),
    ]
    assert harness.carried("c") == [
        (0, None),
        (9_999, None),
        (20_000, None),
        (29_999, None),
        (40_000, None),
        (50_000, "config"),
        (60_000, None),
    ]


def test_forwarded_bounds_are_the_same_under_every_order() -> None:
    plan = wired(
        node(Future, "in", "a"),
        node(OffsetOnly, "a", "b"),
        node(calculator(pass_on, name="Join", offset=0), "b in", "c d"),
        inputs="in",
    )

    def drive(harness):
        harness.start()
        for stamp in range(0, 50, 5):
            harness.add("in", stamp, stamp)
            harness.step()
        harness.finish()

    assert explore(plan, drive)["d"] == [(t, t) for t in range(0, 50, 5)]
