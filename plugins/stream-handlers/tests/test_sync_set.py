from __future__ import annotations

import itertools
import random

import pytest

from penstock import Timestamp
from penstock.errors import InvalidArgumentError, NotFoundError
from penstock.lowlevel import MAX, POSTSTREAM, PRESTREAM
from penstock_stream_handlers.messages.sync_set_pb2 import SyncSetInputStreamHandlerOptions
from penstock_stream_handlers.sync_set import SyncSetInputStreamHandler

PORTS = "A:a B:b C:c D:d E:e F:f"


def sets(*groups):
    """Return options with one set for each word list: sets("A B", "C")."""
    options = SyncSetInputStreamHandlerOptions()
    for group in groups:
        options.sync_set.add(tag_index=group.split())
    return options


@pytest.fixture
def six(watched):
    """Return a node with the sets ace, bd, and the rest: f."""
    return watched(SyncSetInputStreamHandler, PORTS, sets("A C E", "B D"))


def test_a_set_waits_for_its_own_streams_and_for_no_others(six):
    six.add("a", 0)
    six.add("c", 0)
    six.add("a", 10)
    assert six.calls == []

    six.add("e", 0)
    assert six.seen == [(0, "a0 c0 e0")]


def test_timestamps_of_one_set_say_nothing_about_another(six):
    for stream in "ace":
        six.add(stream, 0)
    six.add("b", -300, -200)
    six.add("d", -200)

    assert six.seen == [(0, "a0 c0 e0"), (-300, "b-300"), (-200, "b-200 d-200")]


def test_streams_that_no_set_lists_are_one_more_set(watched, six):
    six.add("f", 77, 78)
    assert six.seen == [(77, "f77"), (78, "f78")]

    rest = watched(SyncSetInputStreamHandler, "A:a B:b C:c", sets("B"))
    rest.add("b", 9)
    rest.add("a", 5)
    assert rest.seen == [(9, "b9")]
    rest.add("c", 5)
    assert rest.seen == [(9, "b9"), (5, "a5 c5")]


def test_without_options_all_streams_are_one_set(watched):
    both = watched(SyncSetInputStreamHandler, "a b")
    both.add("a", 1)
    assert both.calls == []
    both.add("b", 1)
    assert both.seen == [(1, "a1 b1")]


def test_the_earliest_ready_set_goes_first_and_the_first_listed_where_times_are_equal(watched):
    run = watched(SyncSetInputStreamHandler, "a b c", sets(":1", ":0"))
    run.add_only("a", 1, 2, 4)
    run.add_only("b", 2, 3)
    run.add_only("c", 0, 2)
    run.harness.run()

    # a@1 was there alone when the node became ready; of what came until it ran the earliest is next
    assert run.seen == [(1, "a1"), (0, "c0"), (2, "b2"), (2, "a2"), (2, "c2"), (3, "b3"), (4, "a4")]


def test_streams_of_other_sets_show_what_is_settled_and_keep_their_packets(six):
    six.add("a", 5)
    six.add("f", 1)
    six.add("c", 5)
    six.bound("e", 6)

    assert six.seen == [(1, "f1"), (5, "a5 c5")]
    assert six.calls[0].stamps["a"] == 4
    assert six.calls[1].stamps["f"] == 1


def test_what_is_left_of_a_set_comes_when_its_other_streams_end(six):
    six.add("e", 3, 4)
    six.close("a")
    assert six.calls == []
    six.close("c")

    assert six.seen == [(3, "e3"), (4, "e4")]
    assert six.calls[1].stamps["a"] == MAX


def test_the_node_closes_when_all_sets_are_done(six):
    six.close(*"ace", "f", "b")
    assert not six.is_closed

    six.add("d", 1)
    six.close("d")
    assert six.seen == [(1, "d1")]
    assert six.is_closed


def test_with_process_bounds_a_ready_set_that_was_not_chosen_is_still_ready(watched):
    run = watched(SyncSetInputStreamHandler, "a b", sets(":0", ":1"), bounds=True)
    run.add_only("a", 1)
    run.add_only("b", 2)
    run.harness.set_bound("a", 3)
    run.harness.run()

    # at 0: all of a before its packet; then a itself before b, then what settled behind each
    assert run.seen == [(1, "a1"), (2, ""), (2, "b2")]


def test_each_set_is_delivered_whole_and_in_order_under_every_order(explored, watched):
    feed = [("a", t) for t in (1, 2, 5)] + [("b", t) for t in (2, 3)] + [("c", t) for t in (1, 4)]
    expected = {"ab": [(1, "a1"), (2, "a2 b2"), (3, "b3"), (5, "a5")], "c": [(1, "c1"), (4, "c4")]}

    for seed in range(30):
        order = random.Random(seed)  # noqa: S311  # a test's order
        run = watched(SyncSetInputStreamHandler, "a b c", sets(":0 :1"))
        waiting = [list(group) for _, group in itertools.groupby(feed, key=lambda one: one[0])]
        while waiting := [packets for packets in waiting if packets]:
            run.add_only(*order.choice(waiting).pop(0))
            if order.random() < 0.5:
                run.harness.step()
        run.harness.finish()

        assert [call for call in run.seen if "c" not in call[1]] == expected["ab"]
        assert [call for call in run.seen if "c" in call[1]] == expected["c"]


#: For each set the packets in the order in which they come, None where the stream ends, and the calls
#: that may happen from then on: timestamps with the streams that have a packet.
COMMANDS = [
    [
        ("a", 0, []),
        ("c", 0, []),
        ("a", 10, []),
        ("e", 0, [(0, "ace")]),
        ("c", 10, []),
        ("e", 10, [(10, "ace")]),
        ("e", 20, []),
        ("a", 20, []),
        ("c", 20, [(20, "ace")]),
        ("c", 30, []),
        ("a", 30, []),
        ("a", 40, []),
        ("a", 50, []),
        ("c", 40, []),
        ("a", None, []),
        ("e", 40, [(30, "ac"), (40, "ace")]),
        ("c", 50, []),
        ("e", 50, [(50, "ace")]),
        ("c", 60, []),
        ("c", 70, []),
        ("c", None, []),
        ("e", None, [(60, "c"), (70, "c")]),
    ],
    [
        ("b", -300, []),
        ("b", -200, []),
        ("b", -100, []),
        ("d", -200, [(-300, "b"), (-200, "bd")]),
        ("d", -20, [(-100, "b")]),
        ("d", -10, []),
        ("b", 0, [(-20, "d"), (-10, "d")]),
        ("d", 0, [(0, "bd")]),
        ("d", 10, []),
        ("b", 10, [(10, "bd")]),
        ("b", 20, []),
        ("d", 200, [(20, "b")]),
        ("b", 100, [(100, "b")]),
        ("b", 200, [(200, "bd")]),
        ("b", 250, []),
        ("b", 300, []),
        ("d", None, [(250, "b"), (300, "b")]),
        ("b", None, []),
    ],
    [*(("f", at, [(at, "f")]) for at in range(-350, 350, 35)), ("f", None, [])],
    [("g", Timestamp.PRESTREAM, [(PRESTREAM, "g")]), ("g", None, [])],
    [("h", Timestamp.POSTSTREAM, [(POSTSTREAM, "h")]), ("h", None, [])],
]
FIVE_SETS = [":0 :2 :4", ":1 :3", ":5", ":6", ":7"]


@pytest.mark.reference(
    "framework/stream_handler/sync_set_input_stream_handler_test.cc",
    "SyncSetInputStreamHandlerTest.OrdinaryOperation",
)
@pytest.mark.parametrize("seed", range(60))
def test_five_sets_do_not_depend_on_each_other_in_any_order(watched, seed):
    order = random.Random(seed)  # noqa: S311  # a test's order
    left_out = order.randrange(len(FIVE_SETS) + 1)  # the streams that no set lists are a set too
    groups = [one for i, one in enumerate(FIVE_SETS) if i != left_out]
    order.shuffle(groups)
    run = watched(SyncSetInputStreamHandler, "a b c d e f g h", sets(*groups))
    waiting, known = [list(commands) for commands in COMMANDS], 0
    while waiting:
        expected = []
        for _ in range(order.randrange(10)):
            if not waiting:
                break
            (commands,) = order.choices(waiting, [len(commands) for commands in waiting])
            stream, stamp, calls = commands.pop(0)
            expected += calls
            if stamp is None:
                run.harness.close_input(stream)
            else:
                run.add_only(stream, stamp)
            waiting = [commands for commands in waiting if commands]
        run.harness.run()

        found = [(call.at, "".join(call.packets)) for call in run.calls[known:]]
        assert sorted(found) == sorted(expected)
        known = len(run.calls)
    assert run.is_closed


def test_with_one_set_what_comes_does_not_depend_on_the_order_of_steps(explored):
    feed = [("a", 1), ("b", 2), ("a", 3), ("c", 1), ("b", 3), ("c", 7), ("a", 7)]

    assert explored(SyncSetInputStreamHandler, "a b c", feed, sets(":0 :1 :2")) == [
        (1, "a1 c1"),
        (2, "b2"),
        (3, "a3 b3"),
        (7, "a7 c7"),
    ]


@pytest.mark.parametrize(
    ("groups", "error", "message"),
    [
        (["A", "B A"], InvalidArgumentError, "node 'watched': sync_set: stream 'a' is listed twice"),
        (["A A"], InvalidArgumentError, "stream 'a' is listed twice"),
        (["A", ""], InvalidArgumentError, "a sync_set lists no stream"),
        (
            ["X"],
            NotFoundError,
            "there is no input 'X' by tag and index; connected are: 'A', 'B', 'C', 'D', 'E', 'F'",
        ),
        (["A:1"], NotFoundError, "there is no input 'A:1'"),
        (["a"], InvalidArgumentError, "node 'watched': sync_set: 'a' is no port"),
    ],
)
def test_invalid_sets_are_refused_before_the_run(watched, groups, error, message):
    with pytest.raises(error, match=message) as refused:
        watched(SyncSetInputStreamHandler, PORTS, sets(*groups))
    assert refused.value.node == "watched"
