from __future__ import annotations

import pytest

from penstock.errors import GraphRunError, TimestampOrderError
from penstock_stream_handlers.barrier import BarrierInputStreamHandler
from penstock_testing import OneSetInputStreamHandler, ScheduleHarness, calculator, node, wired


@pytest.fixture
def three(watched):
    return watched(BarrierInputStreamHandler, "a b c")


def test_packets_come_together_by_their_order_whatever_their_timestamps(three):
    three.add("a", 10, 30, 20)
    three.add("b", 0)
    three.add("c", 0)
    three.add("c", 0)
    assert three.seen == [(0, "a10 b0 c0")]

    three.add("b", 1)
    assert three.seen == [(0, "a10 b0 c0"), (0, "a30 b1 c0")]
    assert three.calls[1].stamps == {"a": 30, "b": 1, "c": 0}


@pytest.mark.reference(
    "framework/stream_handler/barrier_input_stream_handler_test.cc",
    "BarrierInputStreamHandlerTest.SimulateProcessNode",
)
def test_the_second_packets_come_together_before_the_end_of_a_stream_closes_the_node(three):
    for n, stamp in enumerate((10, 30, 20), 1):
        three.add("a", stamp, payload=f"packet {n}")
    three.add("b", 0, payload="packet 1")
    assert three.calls == []
    for n in (1, 2):
        three.add("c", 0, payload=f"packet {n}")
    assert [call.packets for call in three.calls] == [dict.fromkeys("abc", "packet 1")]

    three.add("c", 0, payload="packet 3")
    assert len(three.calls) == 1
    three.add_only("b", 1, payload="packet 2")
    three.harness.close_input("b")
    three.harness.run()

    assert [call.packets for call in three.calls[1:]] == [dict.fromkeys("abc", "packet 2")]
    assert (three.dropped("a"), three.dropped("b"), three.dropped("c")) == (
        {"the reader had closed": 1},
        {},
        {"the reader had closed": 1},
    )
    assert three.is_closed


def test_the_node_closes_when_one_stream_is_done_and_counts_what_the_others_hold(three):
    three.add("a", 10, 30, 20)
    three.add("b", 0)
    three.add("c", 0)
    three.close("b")

    assert three.is_closed
    assert three.seen == [(0, "a10 b0 c0")]
    assert three.dropped("a") == {"the reader had closed": 2}


def test_packets_that_wait_on_a_finished_stream_are_delivered_before_the_node_closes(three):
    three.add("b", 3, 4)
    three.close("b")
    three.add("a", 1)
    three.add("c", 2)
    assert not three.is_closed

    three.add("c", 1)
    three.add("a", 9)
    assert three.seen == [(1, "a1 b3 c2"), (1, "a9 b4 c1")]
    assert three.is_closed


def test_what_a_timestamp_bound_says_does_not_matter(three):
    three.add("a", 1)
    three.add("b", 1)
    three.bound("c", 1000)

    assert three.calls == []


def test_an_offset_passes_on_the_least_bound_of_all_streams(passed_on):
    assert passed_on(BarrierInputStreamHandler, "a b", [("b", 9), ("a", 5), ("a", 20)]) == [4, 8]


FEED = [("a", t) for t in (10, 11, 14, 20)] + [("b", t) for t in (1, 2, 3)] + [("c", t) for t in (5, 7, 8, 9)]


@pytest.mark.parametrize("feed", [FEED, FEED[::-4] + [one for one in FEED if one not in FEED[::-4]]])
def test_sets_do_not_depend_on_the_order_of_arrival(explored, feed):
    feed = sorted(feed, key=lambda one: one[1]) if feed is not FEED else feed

    assert explored(BarrierInputStreamHandler, "a b c", feed) == [
        (1, "a10 b1 c5"),
        (2, "a11 b2 c7"),
        (3, "a14 b3 c8"),
    ]


def test_a_graph_of_barriers_multiplies_vectors_that_come_as_single_numbers():
    def multiply(cc):
        x, y = (port.payload for port in cc.inputs)
        cc.output.add(x * y, cc.inputs[0].packet.timestamp)

    def add_up(cc):
        cc.output.add(sum(port.payload for port in cc.inputs), cc.input_timestamp)

    barrier = BarrierInputStreamHandler
    plan = wired(
        *(node(calculator(multiply), f"x{i} y{i}", f"p{i}", handler=barrier) for i in range(3)),
        node(calculator(add_up), "p0 p1 p2", "out", handler=barrier),
        inputs="x0 x1 x2 y0 y1 y2",
    )
    harness = ScheduleHarness(plan).start()
    for t in range(5):
        for i in range(3):
            harness.add(f"x{i}", 3 * t + i, t)
            harness.add(f"y{i}", 3 * t + i + 1, t)
    harness.finish()

    assert harness.carried("out") == [
        (t, sum((3 * t + i) * (3 * t + i + 1) for i in range(3))) for t in range(5)
    ]


def test_a_stream_with_another_reader_keeps_its_order(watched):
    def keep(cc):
        pass

    plan = wired(
        node(calculator(keep), "a", name="barrier", handler=BarrierInputStreamHandler),
        node(calculator(keep), "a", name="default", handler=OneSetInputStreamHandler),
        inputs="a",
    )
    harness = ScheduleHarness(plan).start()
    harness.add("a", 1, 10)

    with pytest.raises(TimestampOrderError, match="'a': packet at 5 is behind the bound 11"):
        harness.add("a", 2, 5)


def test_a_node_between_barrier_and_default_reader_must_write_in_order():
    def hand_on(cc):
        cc.output.add_packet(cc.input.packet)

    plan = wired(node(calculator(hand_on), "a", "out", handler=BarrierInputStreamHandler), inputs="a")
    plan_with_reader = wired(
        node(calculator(hand_on), "a", "b", handler=BarrierInputStreamHandler),
        node(calculator(hand_on), "b", "out"),
        inputs="a",
    )
    free = ScheduleHarness(plan).start()
    strict = ScheduleHarness(plan_with_reader).start()
    for harness in (free, strict):
        harness.add("a", "late", 10)
        harness.add("a", "early", 5)

    for harness in (free, strict):
        with pytest.raises(GraphRunError, match="packet at 5 is behind the bound 11"):
            harness.finish()
