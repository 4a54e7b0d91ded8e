from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock import Timestamp
from penstock.errors import InvalidArgumentError, NotFoundError
from penstock_stream_handlers.latest import NO_TICK, OVERTAKEN, Latest
from penstock_stream_handlers.messages.latest_pb2 import LatestOptions

UNSETTLED = LatestOptions(settled=False)


@pytest.fixture
def latest(watched):
    return watched(Latest, "tick v")


def test_a_tick_sees_the_last_value_at_or_before_it_and_sees_it_again(latest):
    latest.add("v", 2, 5, 6)
    latest.add("tick", 1, 3, 4, 6)
    latest.bound("v", 7)

    assert latest.shown == [
        (1, {"tick": 1}),
        (3, {"tick": 3, "v": 2}),
        (4, {"tick": 4, "v": 2}),
        (6, {"tick": 6, "v": 6}),
    ]
    assert latest.dropped("v") == {OVERTAKEN: 1}
    assert latest.delivered("v") == 2


def test_a_tick_waits_until_the_others_are_settled_at_its_time(latest):
    latest.add("v", 2)
    latest.add("tick", 5)
    latest.bound("v", 5)
    assert latest.calls == []

    latest.bound("v", 6)
    assert latest.shown == [(5, {"tick": 5, "v": 2})]


def test_a_value_at_the_time_of_the_tick_belongs_to_it(latest):
    latest.add("tick", 5)
    latest.add("v", 5)

    assert latest.shown == [(5, {"tick": 5, "v": 5})]


def test_a_later_value_settles_what_is_before_it(latest):
    latest.add("tick", 5)
    latest.add("v", 9)

    assert latest.shown == [(5, {"tick": 5})]
    assert latest.calls[0].stamps["v"] == 5
    assert latest.queued("v") == [9]


def test_values_that_are_out_of_date_are_dropped_before_a_tick_comes(latest):
    latest.add("v", 1, 2, 3)
    latest.bound("tick", 3)

    assert latest.queued("v") == []
    assert latest.dropped("v") == {OVERTAKEN: 2}
    assert latest.harness.freed == 2


def test_a_value_that_was_shown_is_not_dropped_when_a_newer_one_comes(latest):
    latest.add("v", 1, 2)
    latest.add("tick", 1)
    latest.add("v", 3)
    latest.add("tick", 3)
    latest.bound("v", 4)

    assert latest.shown == [(1, {"tick": 1, "v": 1}), (3, {"tick": 3, "v": 3})]
    assert (latest.delivered("v"), latest.dropped("v")) == (2, {OVERTAKEN: 1})


def test_each_stream_has_its_own_last_value(watched):
    run = watched(Latest, "A:a B:b TICK:t", LatestOptions(tick="TICK"))
    run.add("a", 1, 8)
    run.add("b", 3)
    run.bound("b", 20)
    run.add("t", 2, 5)

    assert run.shown == [(2, {"a": 1, "t": 2}), (5, {"a": 1, "b": 3, "t": 5})]


def test_the_node_closes_when_the_tick_is_done_and_what_no_tick_saw_is_dropped(latest):
    latest.add("v", 1)
    latest.add("tick", 1)
    latest.bound("tick", 4)
    latest.add("v", 3, 7)
    latest.close("tick")

    assert latest.seen == [(1, "tick1 v1")]
    assert latest.is_closed
    assert latest.delivered("v") == 1
    assert latest.dropped("v") == {NO_TICK: 2}


def test_values_that_are_done_leave_the_node_open_and_are_shown_until_the_end(latest):
    latest.add("v", 1)
    latest.close("v")
    latest.add("tick", 2, 9)

    assert latest.shown == [(2, {"tick": 2, "v": 1}), (9, {"tick": 9, "v": 1})]
    assert [call.done for call in latest.calls] == [{"v"}, {"v"}]
    assert not latest.is_closed


def test_a_header_value_at_prestream_is_there_for_every_tick(latest):
    latest.add("v", Timestamp.PRESTREAM, payload="gain")
    latest.add("tick", 1, 2)
    latest.close("tick")

    assert latest.seen == [(1, "tick1 gain"), (2, "tick2 gain")]


def test_a_tick_at_poststream_sees_the_last_of_all(latest):
    latest.add("v", 1, 2)
    latest.add("tick", Timestamp.POSTSTREAM, payload="end")
    assert latest.calls == []

    latest.close("v")
    assert latest.seen == [(Timestamp.POSTSTREAM, "end v2")]
    assert latest.is_closed  # nothing comes after that


def test_a_tick_that_does_not_wait_takes_what_has_arrived(watched):
    run = watched(Latest, "tick v", UNSETTLED)
    run.add("tick", 5)
    run.add("v", 4)
    run.add("tick", 6)
    run.add("v", 7, 9)
    run.add("tick", 8)

    assert run.shown == [(5, {"tick": 5}), (6, {"tick": 6, "v": 4}), (8, {"tick": 8, "v": 7})]
    assert run.calls[0].stamps["v"] == Timestamp.UNSTARTED
    assert run.dropped("v") == {}


def test_several_calls_may_hold_one_value(watched):
    run = watched(Latest, "tick v", max_in_flight=2)
    run.add("v", 1)
    run.bound("v", 10)
    run.add_only("tick", 2, 3)
    held = [run.harness.call(run.harness.take()), run.harness.call(run.harness.take())]
    for one in reversed(held):
        run.harness.complete(one)
    run.harness.finish()

    assert run.shown == [(2, {"tick": 2, "v": 1}), (3, {"tick": 3, "v": 1})]
    assert run.delivered("v") == 1


def test_process_bounds_make_no_calls_without_ticks(watched):
    run = watched(Latest, "tick v", bounds=True)
    run.bound("tick", 10)
    run.add("v", 3, 20)

    assert run.calls == []


def test_an_offset_passes_on_the_bound_of_the_tick_stream(passed_on):
    assert passed_on(Latest, "tick v", [("v", 50), ("tick", 5), ("tick", 8)]) == [4, 7]


def test_an_offset_passes_on_the_time_of_a_tick_that_waits(passed_on):
    assert passed_on(Latest, "tick v", [("tick", 5, "x"), ("v", 3), ("v", 6)]) == [4, 5]


@pytest.mark.parametrize(
    ("events", "options", "expected"),
    [
        ([], [], "tick"),
        ([("v", 5)], [], "tick"),
        ([("tick", 5)], [], "v w"),
        ([("tick", 5), ("v", 9), ("w", 4)], [], "w"),
        ([("v", 5)], [UNSETTLED], "tick"),
    ],
)
def test_it_waits_for_the_tick_and_then_for_what_is_not_settled(watched, events, options, expected):
    run = watched(Latest, "tick v w", *options)
    for stream, stamp in events:
        run.add(stream, stamp)

    assert " ".join(one.name for one in run.harness.node("watched").policy.blocking()) == expected


def test_what_a_tick_sees_does_not_depend_on_the_order_of_steps(explored):
    feed = [("tick", t) for t in (1, 4, 6, 7, 12)] + [("v", t) for t in (2, 3, 6, 8, 9, 13)]

    assert explored(Latest, "tick v", feed) == [
        (1, "tick1"),
        (4, "tick4 v3"),
        (6, "tick6 v6"),
        (7, "tick7 v6"),
        (12, "tick12 v9"),
    ]


stamps = st.sets(st.integers(0, 30), max_size=15).map(sorted)


def before(times, t):
    return [one for one in times if one <= t]


@given(stamps, stamps, stamps, st.randoms(use_true_random=False))
def test_whatever_comes_in_whatever_order_each_tick_sees_the_newest_not_after_it(fed, tick, v, w, order):
    values = {"v": v, "w": w}
    run = fed(Latest, "tick v w", {"tick": tick, **values}, order)

    last = {t: {name: max(before(have, t)) for name, have in values.items() if before(have, t)} for t in tick}
    assert run.shown == [(t, {"tick": t, **last[t]}) for t in tick]
    for name, have in values.items():
        used = {packets[name] for packets in last.values() if name in packets}
        assert run.delivered(name) == len(used)
        assert sum(run.dropped(name).values()) == len(have) - len(used)


@pytest.mark.parametrize(
    ("tick", "error", "message"),
    [
        (
            "TICK",
            NotFoundError,
            "node 'watched': tick: there is no input 'TICK' by tag and index; connected are: 0, 1",
        ),
        (":2", NotFoundError, "there is no input 2"),
        ("tick", InvalidArgumentError, "node 'watched': tick: 'tick' is no port"),
    ],
)
def test_a_tick_that_the_node_does_not_have_is_refused_before_the_run(watched, tick, error, message):
    with pytest.raises(error, match=message):
        watched(Latest, "a b", LatestOptions(tick=tick))


def test_inputs_of_different_tags_have_no_first_one(watched):
    said = (
        r"^node 'watched': Latest does not say by tag and index at which input's packets the node runs; "
        r'write tick: "DEPTH" or tick: "RGB" into its options$'
    )
    with pytest.raises(InvalidArgumentError, match=said):
        watched(Latest, "RGB:rgb DEPTH:depth")


def test_inputs_of_one_tag_are_in_the_order_of_the_graph(watched):
    run = watched(Latest, "IN:0:b IN:1:a")
    run.add("a", 1)
    run.add("b", 2)
    run.bound("a", 9)

    assert run.shown == [(2, {"a": 1, "b": 2})]


def test_values_that_no_tick_has_seen_when_a_run_is_cancelled_count_as_dropped(latest):
    latest.add("v", 2, 3)
    latest.add("tick", 5)
    latest.harness.cancel()
    latest.harness.run()

    assert latest.harness.is_over
    assert latest.delivered("v") == 0
    assert sum(latest.dropped("v").values()) == 2
