from __future__ import annotations

import random

import pytest

from penstock import Timestamp
from penstock.errors import InvalidArgumentError
from penstock.lowlevel import POSTSTREAM
from penstock_stream_handlers.fixed_size import SURPLUS, FixedSizeInputStreamHandler
from penstock_stream_handlers.messages.fixed_size_pb2 import FixedSizeInputStreamHandlerOptions


def sizes(trigger=2, target=1, *, fixed_min=False):
    return FixedSizeInputStreamHandlerOptions(
        trigger_queue_size=trigger, target_queue_size=target, fixed_min_size=fixed_min
    )


def taken(run):
    """Let the node start, and return a function that ends its call."""
    step = run.harness.take()
    return lambda: run.harness.complete(run.harness.call(step))


def test_a_node_that_keeps_up_loses_nothing(watched):
    run = watched(FixedSizeInputStreamHandler, "a")
    run.add("a", 0, 1, 2, 3)

    assert run.seen == [(0, "a0"), (1, "a1"), (2, "a2"), (3, "a3")]
    assert run.dropped("a") == {}


def test_a_slow_node_gets_the_newest_of_what_came_while_it_ran(watched):
    run = watched(FixedSizeInputStreamHandler, "a")
    run.add_only("a", 0)
    end = taken(run)
    run.add_only("a", 1, 2, 3)
    end()
    run.harness.run()

    assert run.seen == [(0, "a0"), (3, "a3")]
    assert run.dropped("a") == {SURPLUS: 2}


def test_packets_between_ready_and_running_are_cut_too_and_the_rest_keep_their_timestamps(watched):
    run = watched(FixedSizeInputStreamHandler, "a")
    run.add_only("a", 0, 1, 2, 3)
    run.harness.run()

    assert run.seen == [(0, "a3")]
    assert run.calls[0].stamps == {"a": 3}


def test_a_timestamp_is_dropped_on_all_streams_or_on_none(watched):
    run = watched(FixedSizeInputStreamHandler, "a b")
    run.add("a", 1, 2, 3)
    assert run.queued("a") == [3]

    run.add("b", 1, 2, 3)
    assert run.seen == [(3, "a3 b3")]
    assert (run.dropped("a"), run.dropped("b")) == ({SURPLUS: 2}, {SURPLUS: 2})


def test_packets_that_come_late_for_a_cut_are_dropped(watched):
    run = watched(FixedSizeInputStreamHandler, "a b", sizes(3, 2))
    run.add("a", *range(1, 7))
    run.add("b", *range(1, 8))
    run.close("a", "b")

    assert run.seen == [(5, "a5 b5"), (6, "a6 b6"), (7, "b7")]
    assert (run.dropped("a"), run.dropped("b")) == ({SURPLUS: 4}, {SURPLUS: 4})


THREE = [("a", range(1, 7)), ("b", range(3, 8)), ("c", range(4, 8))]


def test_any_stream_that_is_too_long_cuts_all(watched):
    run = watched(FixedSizeInputStreamHandler, "a b c", sizes(4, 3))
    for stream, stamps in THREE:
        run.add(stream, *stamps)
    run.harness.finish()

    packets = [[call.packets[name] for call in run.calls if name in call.packets] for name in "abc"]
    assert packets == [["a5", "a6"], ["b5", "b6", "b7"], ["c5", "c6", "c7"]]


def test_with_a_fixed_minimum_one_long_stream_cuts_nothing(watched):
    run = watched(FixedSizeInputStreamHandler, "a b c", sizes(4, 3, fixed_min=True))
    for stream, stamps in THREE:
        run.add(stream, *stamps)
    run.harness.finish()

    packets = [[call.packets[name] for call in run.calls if name in call.packets] for name in "abc"]
    assert packets == [[f"{name}{t}" for t in stamps] for name, stamps in THREE]


def test_with_a_fixed_minimum_streams_that_are_all_too_long_keep_the_target_each(watched):
    run = watched(FixedSizeInputStreamHandler, "a b", sizes(4, 2, fixed_min=True))
    run.add_only("a", 0)
    run.add_only("b", 0)
    end = taken(run)
    run.add_only("a", 1, 2, 3, 4, 5)
    run.add_only("b", 2, 4, 6, 8)
    end()

    # two newest of a from 4 on, two newest of b from 6 on: both keep the packets from 4 on
    assert (run.queued("a"), run.queued("b")) == ([4, 5], [4, 6, 8])


def test_the_newest_settled_timestamp_is_kept_when_one_stream_runs_ahead(watched):
    run = watched(FixedSizeInputStreamHandler, "a b")
    run.add_only("a", 1)
    run.add_only("b", 1)
    run.add_only("a", 2, 3, 4)
    run.harness.run()

    assert run.seen == [(1, "a1 b1")]
    run.add("b", 4)
    assert run.seen == [(1, "a1 b1"), (4, "a4 b4")]


def test_a_cut_that_would_drop_the_whole_input_set_happens_after_it(watched):
    run = watched(FixedSizeInputStreamHandler, "a b")
    run.add_only("a", 1)
    run.add_only("b", 1)
    run.add_only("a", 2, 3, 4)
    run.harness.run()
    run.add("b", 2, 3)

    assert run.seen == [(1, "a1 b1")]
    assert run.queued("a") == [4]
    assert run.dropped("b") == {SURPLUS: 2}


def test_the_node_closes_when_all_streams_are_done(watched):
    run = watched(FixedSizeInputStreamHandler, "a b")
    run.add("a", 1)
    run.close("a")
    assert not run.is_closed
    run.add("b", 3)
    run.close("b")

    assert run.seen == [(1, "a1"), (3, "b3")]
    assert run.is_closed


def test_with_process_bounds_a_settled_timestamp_behind_a_cut_is_not_processed(watched):
    run = watched(FixedSizeInputStreamHandler, "a b", bounds=True)
    run.add_only("a", 10, 20, 30)
    run.bound("b", 5)
    assert run.calls == []

    run.bound("b", 21)  # 20 was cut away
    assert run.calls == []
    run.bound("b", 25)
    run.bound("b", 40)
    assert run.seen == [(24, ""), (30, "a30")]


def test_with_process_bounds_a_newer_set_than_the_input_timestamp_is_settled_later_too(watched):
    run = watched(FixedSizeInputStreamHandler, "a", bounds=True)
    run.add_only("a", 0, 1, 2, 3)
    run.harness.run()

    assert run.seen == [(0, "a3"), (3, "")]


def test_a_packet_at_poststream_comes_when_the_others_have_ended(watched):
    run = watched(FixedSizeInputStreamHandler, "a b")
    run.add("a", Timestamp.POSTSTREAM, payload="last")
    run.close("b")

    assert run.seen == [(POSTSTREAM, "last")]


def test_parallel_calls_do_not_get_one_packet_twice(watched):
    run = watched(FixedSizeInputStreamHandler, "a", max_in_flight=2)
    run.add_only("a", 0, 1)
    assert run.harness.ready() == ["watched"]
    end = taken(run)
    run.add_only("a", 2)
    end_of_other = taken(run)
    end()
    end_of_other()
    run.harness.run()

    assert run.seen == [(0, "a1"), (2, "a2")]


def test_an_offset_passes_on_the_least_bound_of_all_streams(passed_on):
    assert passed_on(FixedSizeInputStreamHandler, "a b", [("b", 9), ("a", 5), ("a", 20)]) == [4, 8]


def test_a_full_queue_that_is_cut_does_not_throttle_its_source(watched):
    run = watched(FixedSizeInputStreamHandler, "a b", sizes(3, 1), max_queue_size=3)
    run.add_only("a", 1)
    run.add_only("b", 1)
    end = taken(run)
    run.add_only("a", 2, 3, 4)
    assert run.queued("a") == [4]
    assert not run.harness.is_throttled("a")

    run.add_only("a", 5)
    end()
    run.harness.run()
    assert run.queued("a") == [4, 5]


def test_a_busy_node_cuts_its_queues_when_packets_arrive(watched):
    run = watched(FixedSizeInputStreamHandler, "a")
    run.add_only("a", 0)
    policy = run.harness.node("watched").policy
    run.add_only("a", 1, 2)
    policy.packets_came()  # the node is ready for 0, so 0 must stay
    assert run.queued("a") == [0, 1, 2]

    end = taken(run)
    run.add_only("a", 3, 4, 5)
    policy.packets_came()
    assert run.queued("a") == [5]
    end()


def test_a_live_source_is_not_throttled_by_a_node_that_runs_long(watched):
    run = watched(FixedSizeInputStreamHandler, "a", max_queue_size=3)
    run.add_only("a", 0)
    end = taken(run)
    for stamp in range(1, 20):
        assert not run.harness.is_throttled("a")
        run.add_only("a", stamp)

    assert run.queued("a") == [19]
    end()


@pytest.mark.parametrize("seed", range(20))
def test_under_load_every_packet_is_delivered_in_order_or_counted(watched, seed):
    order = random.Random(seed)  # noqa: S311  # a test's order
    options = sizes(order.randint(1, 4), order.randint(1, 3), fixed_min=order.random() < 0.5)
    run = watched(FixedSizeInputStreamHandler, "a b", options, max_queue_size=order.choice([1, 2, 100]))
    waiting = {"a": list(range(40)), "b": list(range(0, 80, 2))}
    end = None
    while any(waiting.values()):
        stream = order.choice([name for name, stamps in waiting.items() if stamps])
        run.add_only(stream, waiting[stream].pop(0))
        if end is None and order.random() < 0.3 and run.harness.ready():
            end = taken(run)
        elif end is not None and order.random() < 0.3:
            end()
            end = None
    if end is not None:
        end()
    run.harness.finish()

    for stream in "ab":
        stamps = [call.stamps[stream] for call in run.calls if stream in call.packets]
        assert stamps == sorted(set(stamps))
        assert len(stamps) + sum(run.dropped(stream).values()) == 40
    assert run.calls[-1].packets == {"b": "b78"}  # the newest of all
    together = [{call.stamps[stream] for stream in call.packets} for call in run.calls]
    assert all(len(stamps) <= 1 for stamps in together)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (sizes(0, 1), "node 'watched': trigger_queue_size is 0, but a fixed size must be 1 or more"),
        (sizes(2, -1), "target_queue_size is -1, but a fixed size must be 0 or more"),
        (sizes(1, 0), "target_queue_size is 0, but a fixed size must be 1 or more"),
        (sizes(5, 0, fixed_min=True), "target_queue_size is 0, but a fixed size must be 1 or more"),
    ],
)
def test_sizes_that_let_no_packet_through_are_refused_before_the_run(watched, options, message):
    with pytest.raises(InvalidArgumentError, match=message):
        watched(FixedSizeInputStreamHandler, "a b", options)
