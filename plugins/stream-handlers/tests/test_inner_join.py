from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock import Timestamp
from penstock_stream_handlers.inner_join import NO_PARTNER, InnerJoin


@pytest.fixture
def join(watched):
    return watched(InnerJoin, "a b")


def test_only_timestamps_with_a_packet_on_every_stream_are_shown(join):
    join.add("a", 1, 2, 4, 5)
    join.add("b", 1, 3, 4)

    assert join.shown == [(1, {"a": 1, "b": 1}), (4, {"a": 4, "b": 4})]
    assert (join.dropped("a"), join.dropped("b")) == ({NO_PARTNER: 1}, {NO_PARTNER: 1})
    assert (join.delivered("a"), join.delivered("b")) == (2, 2)


def test_a_packet_that_every_stream_may_still_join_waits(join):
    join.add("a", 5)
    join.bound("b", 5)

    assert (join.calls, join.queued("a"), join.dropped("a")) == ([], [5], {})


def test_a_packet_is_dropped_as_soon_as_another_stream_has_passed_it(join):
    join.add("a", 5, 6, 7)
    join.bound("b", 7)

    assert (join.queued("a"), join.dropped("a")) == ([7], {NO_PARTNER: 2})


def test_three_streams_need_all_three(watched):
    run = watched(InnerJoin, "a b c")
    run.add("a", 1, 2, 3, 7)
    run.add("b", 1, 3, 5, 7)
    run.add("c", 2, 3, 5, 7)

    assert [at for at, _ in run.shown] == [3, 7]
    assert [run.dropped(name) for name in "abc"] == [{NO_PARTNER: 2}] * 3


def test_the_node_closes_when_any_stream_is_done_and_what_others_hold_has_no_partner(join):
    join.add("a", 1, 2, 3)
    join.add("b", 1)
    join.close("b")

    assert join.seen == [(1, "a1 b1")]
    assert join.is_closed
    assert join.dropped("a") == {NO_PARTNER: 2}


def test_a_stream_that_is_done_with_packets_left_does_not_close_the_node(join):
    join.add("b", 1, 2)
    join.close("b")
    assert not join.is_closed

    join.add("a", 1)
    assert not join.is_closed
    join.add("a", 2)
    assert join.seen == [(1, "a1 b1"), (2, "a2 b2")]
    assert join.is_closed


def test_summaries_at_poststream_are_joined(join):
    join.add("a", 1, payload="x")
    join.add("b", Timestamp.POSTSTREAM, payload="y")
    join.close("b")
    assert join.dropped("a") == {NO_PARTNER: 1}
    assert not join.is_closed

    join.close("a")
    assert (join.is_closed, join.calls, join.dropped("b")) == (True, [], {NO_PARTNER: 1})


@pytest.mark.parametrize("stamp", [Timestamp.PRESTREAM, Timestamp.POSTSTREAM])
def test_special_timestamps_meet(join, stamp):
    join.add("a", stamp, payload="x")
    join.add("b", stamp, payload="y")

    assert join.seen == [(int(stamp), "x y")]


def test_one_stream_alone_is_always_complete(watched):
    run = watched(InnerJoin, "a")
    run.add("a", 1, 5)
    run.close("a")

    assert (run.seen, run.is_closed) == ([(1, "a1"), (5, "a5")], True)


def test_process_bounds_make_no_calls_without_packets(watched):
    run = watched(InnerJoin, "a b", bounds=True)
    run.add("a", 1, 2)
    run.bound("b", 10)
    run.bound("a", 20)

    assert run.calls == []


def test_an_offset_passes_on_the_time_before_which_nothing_can_be_complete(passed_on):
    events = [("a", 10), ("b", 4), ("a", 12, "x"), ("b", 13), ("b", 15, "y")]

    assert passed_on(InnerJoin, "a b", events) == [9, 11, 12, 14]


@pytest.mark.parametrize(
    ("events", "expected"), [([], "a b c"), ([("b", 5)], "a c"), ([("b", 5), ("a", 7)], "b c")]
)
def test_it_waits_for_the_streams_without_packets(watched, events, expected):
    run = watched(InnerJoin, "a b c")
    for stream, stamp in events:
        run.add(stream, stamp)

    assert " ".join(one.name for one in run.harness.node("watched").policy.blocking()) == expected


def test_what_comes_out_does_not_depend_on_the_order_of_steps(explored):
    feed = [("a", t) for t in (1, 2, 4, 6, 9)] + [("b", t) for t in (2, 3, 4, 8, 9, 11)]

    assert explored(InnerJoin, "a b", feed) == [(2, "a2 b2"), (4, "a4 b4"), (9, "a9 b9")]


stamps = st.sets(st.integers(0, 30), max_size=15).map(sorted)


@given(stamps, stamps, stamps, st.randoms(use_true_random=False))
def test_whatever_comes_in_whatever_order_exactly_the_common_timestamps_are_shown(fed, a, b, c, order):
    run = fed(InnerJoin, "a b c", {"a": a, "b": b, "c": c}, order)

    common = sorted(set(a) & set(b) & set(c))
    assert run.shown == [(t, {"a": t, "b": t, "c": t}) for t in common]
    for name, times in [("a", a), ("b", b), ("c", c)]:
        assert run.delivered(name) == len(common)
        assert sum(run.dropped(name).values()) == len(times) - len(common)
