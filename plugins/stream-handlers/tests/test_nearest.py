from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock import Timestamp
from penstock.errors import InvalidArgumentError, NotFoundError
from penstock.lowlevel import MAX, MIN
from penstock_stream_handlers.messages.nearest_pb2 import NearestOptions
from penstock_stream_handlers.nearest import NEVER_NEAREST, Nearest


def within(tolerance, base=None):
    return NearestOptions(tolerance=tolerance, base=base)


@pytest.fixture
def near(watched):
    return watched(Nearest, "base v", within(10))


def test_each_base_packet_sees_the_nearest_within_the_tolerance(near):
    near.add("v", 95, 103, 131, 145, 260)
    near.add("base", 100, 140, 200)
    near.close("base")

    assert near.shown == [
        (100, {"base": 100, "v": 103}),
        (140, {"base": 140, "v": 145}),
        (200, {"base": 200}),
    ]
    assert near.calls[2].stamps["v"] == 200
    assert (near.delivered("v"), near.dropped("v")) == (2, {NEVER_NEAREST: 3})


@pytest.mark.parametrize(("later", "expected"), [(106, 95), (105, 95), (104, 104)])
def test_of_two_the_nearer_one_is_taken_and_the_earlier_where_they_are_equally_near(near, later, expected):
    near.add("v", 95, later)
    near.add("base", 100)

    assert near.shown == [(100, {"base": 100, "v": expected})]


@pytest.mark.parametrize(("v", "is_near"), [(89, False), (90, True), (110, True), (111, False)])
def test_the_tolerance_itself_is_near_enough(near, v, is_near):
    near.add("base", 100)
    near.add("v", v)
    near.close("v")

    assert [packets.get("v") for _, packets in near.shown] == [v if is_near else None]


def test_a_base_packet_waits_until_no_nearer_packet_can_come(near):
    near.add("v", 96)
    near.add("base", 100)
    near.bound("v", 103)
    assert near.calls == []

    near.bound("v", 104)  # a packet at 104 would be no nearer than the one at 96
    assert near.shown == [(100, {"base": 100, "v": 96})]


def test_without_a_packet_it_waits_for_the_whole_tolerance(near):
    near.add("base", 100)
    near.bound("v", 110)
    assert near.calls == []

    near.bound("v", 111)
    assert near.shown == [(100, {"base": 100})]


def test_a_packet_at_the_same_time_needs_no_waiting(near):
    near.add("base", 100)
    near.add("v", 100)

    assert near.shown == [(100, {"base": 100, "v": 100})]


def test_one_packet_may_serve_several_base_packets_and_is_delivered_once(near):
    near.add("base", 100, 102, 104, 120)
    near.add("v", 103)
    near.close("v")

    assert [packets.get("v") for _, packets in near.shown] == [103, 103, 103, None]
    assert (near.delivered("v"), near.dropped("v")) == (1, {})


def test_a_packet_shown_before_its_time_is_still_nearest_to_a_later_base_packet(near):
    near.add("v", 103, 130)
    near.add("base", 100, 101, 112, 125)
    near.close("v")

    assert [packets.get("v") for _, packets in near.shown] == [103, 103, 103, 130]
    assert (near.delivered("v"), near.dropped("v")) == (2, {})


def test_an_input_is_done_when_its_last_packet_is_shown(near):
    near.add("v", 99, 103)
    near.close("v")
    near.add("base", 98, 100, 102, 103)

    assert [packets.get("v") for _, packets in near.shown] == [99, 99, 103, 103]
    assert ["v" in call.done for call in near.calls] == [False, False, True, True]


def test_packets_that_can_serve_no_base_packet_are_dropped_before_one_comes(near):
    near.add("v", 1, 2, 3)
    near.bound("base", 3)
    assert near.dropped("v") == {NEVER_NEAREST: 2}

    near.bound("base", 13)
    assert near.dropped("v") == {NEVER_NEAREST: 2}
    near.bound("base", 14)
    assert near.dropped("v") == {NEVER_NEAREST: 3}


def test_the_node_closes_when_the_base_is_done_and_drops_packets_that_served_no_base_packet(near):
    near.add("v", 5)
    near.add("base", 5)
    near.bound("base", 7)
    near.add("v", 7, 30)
    near.close("base")

    assert near.seen == [(5, "base5 v5")]
    assert near.is_closed
    assert (near.delivered("v"), near.dropped("v")) == (1, {NEVER_NEAREST: 2})


def test_streams_that_are_done_leave_the_node_open(near):
    near.close("v")
    assert not near.is_closed

    near.add("base", 5)
    assert near.shown == [(5, {"base": 5})]


def test_a_tolerance_of_0_joins_equal_timestamps(watched):
    run = watched(Nearest, "base v", within(0))
    run.add("base", 1, 2, 3)
    run.add("v", 1, 3)

    assert run.shown == [(1, {"base": 1, "v": 1}), (2, {"base": 2}), (3, {"base": 3, "v": 3})]


def test_each_stream_is_paired_by_itself(watched):
    run = watched(Nearest, "A:a B:b REF:r", within(2, "REF"))
    run.add("a", 9, 20)
    run.add("b", 11, 19)
    run.add("r", 10, 20)
    run.close("a", "b")

    assert run.shown == [(10, {"a": 9, "b": 11, "r": 10}), (20, {"a": 20, "b": 19, "r": 20})]


@pytest.mark.parametrize("stamp", [Timestamp.PRESTREAM, Timestamp.POSTSTREAM])
def test_special_timestamps_meet_their_equals(near, stamp):
    near.add("base", stamp, payload="x")
    assert near.calls == []
    near.add("v", stamp, payload="y")

    assert near.seen == [(int(stamp), "x y")]


def test_a_base_packet_at_prestream_waits_for_nothing_later(near):
    near.add("base", Timestamp.PRESTREAM, payload="x")
    near.bound("v", MIN)

    assert near.seen == [(Timestamp.PRESTREAM, "x")]


def test_a_base_packet_at_poststream_waits_for_the_end(near):
    near.add("base", Timestamp.POSTSTREAM, payload="x")
    near.bound("v", Timestamp.POSTSTREAM)
    assert near.calls == []

    near.close("v")
    assert near.seen == [(Timestamp.POSTSTREAM, "x")]
    assert near.is_closed


@pytest.mark.parametrize(
    ("base", "v"), [(MIN, Timestamp.PRESTREAM), (Timestamp.PRESTREAM, MIN), (MAX, Timestamp.POSTSTREAM)]
)
def test_special_timestamps_are_near_to_no_ordinary_one(near, base, v):
    near.add("base", base, payload="x")
    near.add("v", v, payload="y")
    near.close("base")

    assert near.seen == [(int(base), "x")]
    assert near.dropped("v") == {NEVER_NEAREST: 1}


def test_at_the_end_of_the_range_nothing_later_is_waited_for(near):
    near.add("v", MAX - 5)
    near.add("base", MAX - 1)
    assert near.calls == []

    near.add("v", MAX)
    assert near.shown == [(MAX - 1, {"base": MAX - 1, "v": MAX})]


def test_the_bound_after_the_last_ordinary_timestamp_settles_all_before_it(near):
    near.add("base", MAX)
    near.bound("v", Timestamp.POSTSTREAM)

    assert near.shown == [(MAX, {"base": MAX})]


def test_process_bounds_make_no_calls_without_base_packets(watched):
    run = watched(Nearest, "base v", within(5), bounds=True)
    run.bound("base", 10)
    run.add("v", 3, 20)

    assert run.calls == []


def test_an_offset_passes_on_the_bound_of_the_base_stream(passed_on):
    assert passed_on(Nearest, "base v", [("v", 50), ("base", 5), ("base", 8)], within(3)) == [4, 7]


def test_an_offset_passes_on_the_time_of_a_base_packet_that_waits(passed_on):
    assert passed_on(Nearest, "base v", [("base", 5, "x"), ("v", 8), ("v", 9)], within(3)) == [4, 5]


@pytest.mark.parametrize(
    ("events", "expected"),
    [([], "base"), ([("v", 5)], "base"), ([("base", 5)], "v w"), ([("base", 5), ("v", 9), ("w", 4)], "w")],
)
def test_it_waits_for_the_base_and_then_for_what_may_bring_a_nearer_packet(watched, events, expected):
    run = watched(Nearest, "base v w", within(3))
    for stream, stamp in events:
        run.add(stream, stamp)

    assert " ".join(one.name for one in run.harness.node("watched").policy.blocking()) == expected


def test_what_is_nearest_does_not_depend_on_the_order_of_steps(explored):
    feed = [("base", t) for t in (10, 20, 30, 40, 41)] + [("v", t) for t in (7, 12, 24, 36, 44, 60)]

    assert explored(Nearest, "base v", feed, within(4)) == [
        (10, "base10 v12"),
        (20, "base20 v24"),
        (30, "base30"),
        (40, "base40 v36"),
        (41, "base41 v44"),
    ]


stamps = st.sets(st.integers(0, 40), max_size=15).map(sorted)


def nearest(times, t, tolerance):
    """Return the nearest in a list, or an empty list, by a comparison with all."""
    return sorted((one for one in times if abs(one - t) <= tolerance), key=lambda one: (abs(one - t), one))[
        :1
    ]


@given(stamps, st.tuples(stamps, stamps), st.integers(0, 8), st.randoms(use_true_random=False))
def test_whatever_comes_in_whatever_order_each_base_packet_sees_the_nearest(fed, base, vw, tolerance, order):
    others = dict(zip("vw", vw, strict=True))
    run = fed(Nearest, "base v w", {"base": base, **others}, order, within(tolerance))

    found = {
        t: {name: one for name, times in others.items() for one in nearest(times, t, tolerance)} for t in base
    }
    assert run.shown == [(t, {"base": t, **found[t]}) for t in base]
    for name, times in others.items():
        used = {packets[name] for packets in found.values() if name in packets}
        assert run.delivered(name) == len(used)
        assert sum(run.dropped(name).values()) == len(times) - len(used)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        (
            NearestOptions(),
            InvalidArgumentError,
            "node 'watched': the nearest policy's tolerance is missing, but must be given",
        ),
        (
            within(-1),
            InvalidArgumentError,
            "node 'watched': the nearest policy's tolerance is -1, but must be given as 0 or more",
        ),
        (within(1, "BASE"), NotFoundError, "node 'watched': base: there is no input 'BASE'"),
        (within(1, "base"), InvalidArgumentError, "node 'watched': base: 'base' is no port"),
    ],
)
def test_options_that_cannot_be_right_are_refused_before_the_run(watched, options, error, message):
    with pytest.raises(error, match=message):
        watched(Nearest, "a b", options)
