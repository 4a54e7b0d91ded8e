from __future__ import annotations

import pytest

from penstock.engine.node import OPENED
from penstock.engine.outcome import STOP
from penstock.errors import GraphRunError, StatusCode
from penstock_testing import ScheduleHarness, calculator, explore, node, wired

Nothing = calculator(name="Nothing")


def pass_on(cc) -> None:
    for source, target in zip(cc.inputs, cc.outputs, strict=True):
        if not source.is_empty():
            target.add_packet(source.packet)


Pass = calculator(pass_on, name="Pass", offset=0)


def numbers(count: int, first: int = 0):
    """Make a source of `count` ints at 0, 1, ... that stops with the last."""

    class State:
        at = 0

    def open_(cc):
        State.at = 0

    def process(cc):
        cc.output.add(State.at + first, State.at)
        State.at += 1
        return None if State.at < count else STOP

    return calculator(process, open=open_, name="Numbers")


def test_a_full_queue_throttles_the_graph_input_above_it() -> None:
    harness = ScheduleHarness(wired(node(Nothing, "a b"), inputs="a b", max_queue_size=2)).start()
    harness.run()
    harness.add("a", 1, 1)
    assert not harness.is_throttled("a")
    held = ScheduleHarness(wired(node(Pass, "a", "b"), inputs="a", max_queue_size=2)).start()
    held.run()
    for stamp in range(3):
        held.add("a", stamp, stamp)

    assert held.is_throttled("a")
    held.run()
    assert not held.is_throttled("a")


def test_a_source_waits_while_a_queue_below_it_is_full_and_nothing_is_lost() -> None:
    release = []

    def slow(cc):
        release.append(int(cc.input_timestamp))

    harness = ScheduleHarness(
        wired(
            node(numbers(10), (), "n"), node(Pass, "n", "p"), node(calculator(slow), "p"), max_queue_size=1
        ),
        seed=3,
    ).start()
    harness.finish()

    assert release == list(range(10))


def test_queues_stay_within_their_limit_and_what_was_under_way() -> None:
    longest = [0]
    harness = ScheduleHarness(
        wired(node(numbers(50), (), "n"), node(Pass, "n", "p"), node(Pass, "p", "q"), max_queue_size=3),
        seed=1,
    ).start()
    while harness.step():
        longest[0] = max(longest[0], *(len(r.queue) for s in harness.schedule.streams for r in s.readers))
    harness.finish()

    assert longest[0] <= 4
    assert len(harness.carried("q")) == 50


def test_a_deadlock_of_full_queues_is_resolved_by_growing() -> None:
    delay = calculator(
        lambda cc: cc.output.add(cc.input.payload, cc.input_timestamp + 1),
        open=lambda cc: cc.output.add(0, 0),
        name="UnitDelay",
    )
    plan = wired(
        node(numbers(5, first=1), (), "n"), node(delay, "n", "d"), node(Pass, "d", "p"), max_queue_size=1
    )

    assert explore(plan, lambda harness: harness.start().finish())["p"] == [(i, i) for i in range(6)]


def test_a_join_of_a_delayed_and_a_direct_stream_gets_through_queues_of_one() -> None:
    delay = calculator(
        lambda cc: cc.output.add(cc.input.payload, cc.input_timestamp + 1),
        open=lambda cc: cc.output.add(0, 0),
        name="UnitDelay",
    )
    merge = calculator(
        lambda cc: cc.output.add(tuple(p.payload for p in cc.inputs), cc.input_timestamp), name="Merge"
    )
    plan = wired(
        node(numbers(5, first=1), (), "n"), node(delay, "n", "d"), node(merge, "d n", "m"), max_queue_size=1
    )
    carried = explore(plan, lambda harness: harness.start().finish())

    assert carried["m"] == [*((i, (i, i + 1)) for i in range(5)), (5, (5, None))]


def decimator():
    class Count:
        n = 0

    def open_(cc):
        Count.n = 0

    def process(cc):
        if Count.n % 101 == 0:
            cc.output.add_packet(cc.input.packet)
        Count.n += 1

    return calculator(process, open=open_, name="Decimator")


def test_a_decimated_stream_without_bounds_makes_the_other_queue_grow_and_not_block() -> None:
    merge = calculator(
        lambda cc: cc.output.add(tuple(p.payload for p in cc.inputs), cc.input_timestamp), name="Merge"
    )
    plan = wired(node(decimator(), "in", "few"), node(merge, "few in", "m"), inputs="in", max_queue_size=1)
    harness = ScheduleHarness(plan).start()
    harness.run()
    for stamp in range(202):
        assert not harness.is_throttled("in")
        harness.add("in", stamp, stamp)
        harness.run()
    harness.finish()

    assert harness.carried("m") == [(i, (None if i % 101 else i, i)) for i in range(202)]


def test_a_grown_limit_holds_until_the_end_of_the_run() -> None:
    harness = ScheduleHarness(wired(node(Pass, "a b", "c d"), inputs="a b", max_queue_size=1)).start()
    harness.run()
    for stamp in range(9):
        harness.add("a", stamp, stamp)
        harness.run()
    (reader,) = harness.stream("a").readers
    assert reader.max_size == 10

    harness.set_bound("b", 100)
    harness.run()
    for stamp in range(10, 19):
        assert not harness.is_throttled("a")
        harness.add("a", stamp, stamp)


def test_a_deadlock_is_an_error_where_the_graph_asks_for_it() -> None:
    harness = ScheduleHarness(
        wired(node(Pass, "in1 in2", "a b"), inputs="in1 in2", max_queue_size=1, report_deadlock=True)
    ).start()
    harness.run()
    harness.add("in1", 0, 0)
    harness.run()

    with pytest.raises(
        GraphRunError, match=r"deadlock: all nodes are idle.*full input stream 'in1' of node 'Pass'"
    ) as caught:
        harness.finish()
    assert caught.value.code is StatusCode.UNAVAILABLE
    assert (caught.value.node, caught.value.stream) == ("Pass", "in1")
    assert "raise max_queue_size, or let the limit grow by leaving report_deadlock unset" in str(caught.value)


def test_with_a_limit_of_two_the_second_waiting_packet_is_the_deadlock() -> None:
    harness = ScheduleHarness(
        wired(node(Pass, "in1 in2", "a b"), inputs="in1 in2", max_queue_size=2, report_deadlock=True)
    ).start()
    harness.run()
    harness.add("in1", 1, 1)
    harness.run()
    assert harness.errors == []

    harness.add("in1", 2, 2)
    harness.run()
    assert "deadlock" in str(harness.errors[0])
    assert harness.carried("a") == []


@pytest.mark.parametrize("report_deadlock", [False, True])
def test_a_full_queue_whose_source_has_ended_is_no_deadlock(report_deadlock) -> None:
    harness = ScheduleHarness(
        wired(
            node(numbers(1), (), "n"),
            node(Pass, "n in", "a b"),
            inputs="in",
            max_queue_size=1,
            report_deadlock=report_deadlock,
        )
    ).start()
    harness.run()
    assert harness.errors == []

    harness.add("in", "x", 0)
    harness.finish()
    assert harness.carried("a") == [(0, 0)]
    assert harness.carried("b") == [(0, "x")]


def test_a_full_queue_of_a_graph_input_that_was_closed_is_no_deadlock() -> None:
    harness = ScheduleHarness(
        wired(node(Pass, "a b", "c d"), inputs="a b", max_queue_size=1, report_deadlock=True)
    ).start()
    harness.run()
    harness.add("a", 1, 1)
    harness.close_input("a")
    harness.run()
    assert harness.errors == []

    harness.add("b", 1, 1)
    harness.finish()
    assert harness.carried("c") == [(1, 1)]


def test_without_a_limit_nothing_is_ever_throttled() -> None:
    harness = ScheduleHarness(wired(node(Nothing, "a b"), inputs="a b", max_queue_size=-1)).start()
    harness.run()
    for stamp in range(500):
        harness.add("a", stamp, stamp)

    assert not harness.is_throttled("a")
    harness.finish()


def test_a_limit_of_nought_is_full_from_the_start_and_grows_to_one() -> None:
    harness = ScheduleHarness(wired(node(Pass, "a", "b"), inputs="a"), limits={"a": 0}).start()
    harness.run()
    (reader,) = harness.stream("a").readers
    assert reader.max_size == 1
    assert not harness.is_throttled("a")

    harness.add("a", 1, 1)
    harness.finish()
    assert harness.carried("b") == [(1, 1)]


def test_a_graph_input_may_have_a_limit_of_its_own() -> None:
    harness = ScheduleHarness(
        wired(node(Nothing, "a b"), inputs="a b", max_queue_size=1), limits={"a": 3, "b": -1}
    )

    (a,), (b,) = harness.stream("a").readers, harness.stream("b").readers
    assert a.max_size == 3
    assert b.max_size > 10**9


def test_a_closed_reader_throttles_nobody() -> None:
    stop = calculator(lambda cc: cc.input.packet and None, name="Once")
    closer = calculator(lambda cc: cc.output.close(), name="Closer")
    harness = ScheduleHarness(
        wired(
            node(closer, "gate", "g"),
            node(stop, "g", "x"),
            node(Nothing, "a"),
            inputs="gate a",
            max_queue_size=1,
        )
    ).start()
    harness.add("gate", 1, 1)
    harness.run()
    for stamp in range(5):
        harness.add("a", stamp, stamp)
    harness.run()

    assert not harness.is_throttled("a")
    harness.finish()


def test_a_source_may_run_again_as_soon_as_the_next_packet_has_left_the_full_queue() -> None:
    harness = ScheduleHarness(
        wired(node(numbers(9), (), "n", name="source"), node(Nothing, "n", name="reader"), max_queue_size=1)
    ).start()
    while harness.node("reader").state != OPENED or not harness.node("source").is_active:
        harness.complete(harness.call(harness.take()))
    harness.complete(harness.call(harness.take()))
    under_way = harness.call(harness.take())
    assert under_way.step.node.name == "reader"
    harness.complete(harness.call(harness.take()))
    assert harness.ready() == []  # the queue of the reader is full, and it is at work

    harness.complete(under_way)

    assert harness.ready() == ["reader", "source"]
