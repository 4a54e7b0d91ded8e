"""`Schedule.turn`: completing a step and taking the next in one, where packets skip their queue."""

from __future__ import annotations

import pytest

from penstock.engine.node import CLOSED
from penstock.engine.outcome import STOP
from penstock.errors import InternalError, InvalidArgumentError
from penstock.timestamp import ONE_OVER_POSTSTREAM, Timestamp
from penstock_testing import ScheduleHarness, calculator, node, wired


def hand_on(cc) -> None:
    cc.output.add(cc.input.payload, cc.input_timestamp)


Pass = calculator(hand_on, name="Pass", offset=0)


def begun(*nodes, inputs="a", **arguments) -> ScheduleHarness:
    """A run whose nodes have opened, without observers: packets may skip their queues."""
    harness = ScheduleHarness(wired(*nodes, inputs=inputs), observe=(), **arguments)
    harness.start()
    harness.run()
    return harness


def chain(second=Pass, **second_arguments) -> ScheduleHarness:
    return begun(
        node(Pass, "a", "b", name="first"), node(second, "b", "c", name="second", **second_arguments)
    )


def called(harness, name):
    step = harness.take()
    assert step is not None
    assert step.node.name == name
    return harness.call(step)


def run_on(harness, step) -> None:
    """Do what a thread does after a `turn`."""
    while step is not None:
        step = harness.turn(harness.call(step))
    harness.run()


def test_the_packet_of_a_step_is_in_the_next_nodes_step_and_in_no_queue() -> None:
    harness = chain()
    harness.add("a", "x", 5)

    step = harness.turn(called(harness, "first"))

    assert step is harness.node("second").step
    assert (step.inputs[0].payload, int(step.input_timestamp)) == ("x", 5)
    assert not harness.stream("b").readers[0].queue
    assert (harness.stream("b").added, harness.stream("b").readers[0].delivered) == (1, 1)
    assert harness.stream("b").bound == harness.stream("b").readers[0].bound == 6


def test_a_packet_that_came_meanwhile_is_the_next_step_of_the_same_node() -> None:
    harness = chain()
    harness.add("a", "x", 5)
    first = called(harness, "first")
    harness.add("a", "y", 6)

    step = harness.turn(first)

    assert step is not None
    assert step.node.name == "second"
    assert harness.ready() == ["first"]


def test_nothing_is_taken_while_the_run_is_paused_and_nothing_is_lost() -> None:
    harness = chain()
    harness.add("a", "x", 5)
    first = called(harness, "first")
    harness.pause()

    assert harness.turn(first) is None

    harness.resume()
    assert harness.ready() == ["second"]


def test_a_failed_run_prepares_no_further_step_and_drops_the_packet() -> None:
    harness = chain()
    harness.add("a", "x", 5)
    first = called(harness, "first")
    harness.fail(InvalidArgumentError("enough"))

    run_on(harness, harness.turn(first))

    assert harness.is_over
    assert "process second at 5" not in harness.log
    assert harness.stream("b").readers[0].dropped == {"the reader had closed": 1}


def test_a_node_of_another_executor_is_left_to_its_queue() -> None:
    harness = chain(executor="other")
    harness.add("a", "x", 5)

    assert harness.turn(called(harness, "first")) is None

    mine, other = harness.schedule.queues
    assert (len(mine), len(other)) == (0, 1)
    assert other.is_fresh


def test_a_ready_node_nearer_the_outputs_comes_first() -> None:
    harness = begun(
        node(Pass, "a", "b", name="first"),
        node(Pass, "b", "c", name="second"),
        node(Pass, "z", "y", name="last"),
        inputs="a z",
    )
    harness.add("a", "x", 5)
    first = called(harness, "first")
    harness.add("z", "x", 5)

    step = harness.turn(first)

    assert step is not None
    assert step.node.name == "last"
    assert harness.ready() == ["second"]


def test_the_reader_is_refused_what_lies_behind_its_own_offset() -> None:
    def back(cc) -> None:
        cc.output.add("late", cc.input_timestamp - 1)

    harness = chain(calculator(back, name="Back", offset=0))
    harness.add("a", "x", 5)

    step = harness.turn(called(harness, "first"))
    assert step is not None
    harness.complete(harness.call(step))

    assert "promised an offset of 0" in str(harness.errors[0])


def test_a_negative_offset_promises_no_more_than_the_packet_does() -> None:
    harness = begun(
        node(calculator(hand_on, name="Lag", offset=-3), "a", "b", name="first"), node(Pass, "b", "c")
    )
    harness.add("a", "x", 5)
    harness.turn(called(harness, "first"))

    assert harness.stream("b").bound == 6


def test_a_packet_behind_what_the_offset_promises_next_carries_the_higher_bound() -> None:
    def first_of_two(cc) -> None:
        cc.output.add(cc.input.payload, cc.input_timestamp + 1)

    harness = begun(
        node(calculator(first_of_two, name="Jump", offset=1), "a", "b", name="first"), node(Pass, "b", "c")
    )
    harness.add("a", "x", 5)
    harness.set_bound("a", 20)
    harness.turn(called(harness, "first"))

    assert harness.stream("b").bound == 21


def test_a_bound_that_a_call_sets_beyond_its_packet_goes_along_with_it() -> None:
    def jump(cc) -> None:
        hand_on(cc)
        cc.output.set_next_timestamp_bound(100)

    harness = begun(node(calculator(jump, name="Jump"), "a", "b", name="first"), node(Pass, "b", "c"))
    harness.add("a", "x", 5)
    run_on(harness, harness.turn(called(harness, "first")))

    assert harness.stream("b").bound == harness.stream("b").readers[0].bound == 100
    assert harness.stream("c").bound == 100


def test_a_stream_that_its_writer_closes_with_the_packet_is_closed_for_the_reader() -> None:
    def last(cc) -> None:
        hand_on(cc)
        cc.output.close()

    harness = begun(
        node(calculator(last, name="Last"), "a", "b", name="first"), node(Pass, "b", "c", name="n")
    )
    harness.add("a", "x", 5)
    step = harness.turn(called(harness, "first"))
    assert step is not None
    harness.complete(harness.call(step))
    harness.run()

    assert harness.log[-2:] == ["process n at 5", "close n"]


def early() -> type:
    """It writes at 7 at any input timestamp; behind the last timestamp its offset promises the end."""
    return calculator(lambda cc: cc.output.add(cc.input.payload, 7), name="Early", offset=0)


def test_after_all_time_an_offset_promises_the_end() -> None:
    harness = begun(node(early(), "a", "b", name="first"), node(Pass, "b", "c"))
    harness.add("a", "x", Timestamp.POSTSTREAM)

    harness.turn(called(harness, "first"))

    assert harness.stream("b").bound == harness.stream("b").readers[0].bound == ONE_OVER_POSTSTREAM


def test_after_all_time_an_offset_promises_the_end_also_to_the_next_but_one() -> None:
    last = calculator(lambda cc: cc.output.add(cc.input.payload, Timestamp.POSTSTREAM), name="Last")
    harness = begun(
        node(last, "a", "b", name="first"), node(early(), "b", "c", name="second"), node(Pass, "c", "d")
    )
    harness.add("a", "x", 5)
    harness.turn(called(harness, "first"))

    harness.turn(harness.call(harness.node("second").step))

    assert harness.stream("c").bound == harness.stream("c").readers[0].bound == ONE_OVER_POSTSTREAM


def test_stop_still_ends_the_run() -> None:
    def stop(cc):
        hand_on(cc)
        return STOP

    harness = begun(node(calculator(stop, name="Stop"), "a", "b", name="first"), node(Pass, "b", "c"))
    harness.add("a", "x", 5)
    harness.turn(called(harness, "first"))
    assert harness.schedule.stopped_by == "first"


def test_what_a_failing_call_wrote_is_not_handed_on() -> None:
    def fail(cc) -> None:
        hand_on(cc)
        raise ValueError("broken")

    harness = begun(
        node(calculator(fail, name="Fail"), "a", "b", name="first"), node(Pass, "b", "c", name="n")
    )
    harness.add("a", "x", 5)
    run_on(harness, harness.turn(called(harness, "first")))

    assert harness.is_over
    assert "process n at 5" not in harness.log
    assert harness.stream("b").dropped == {"the call that wrote it failed": 1}


def test_a_step_is_completed_once_only() -> None:
    harness = chain()
    harness.add("a", "x", 5)
    held = called(harness, "first")
    harness.turn(held)
    run_on(harness, harness.node("second").step)
    held.step.outputs[0].add("again", 6)

    with pytest.raises(InternalError, match="completed twice"):
        harness.turn(held)


def test_a_node_that_is_at_work_gets_the_packet_through_its_queue() -> None:
    harness = chain()
    harness.add("a", "x", 5)
    second = harness.turn(called(harness, "first"))
    assert second is not None
    harness.add("a", "y", 6)

    assert harness.turn(called(harness, "first")) is None

    assert [packet.payload for packet in harness.stream("b").readers[0].queue] == ["y"]
    assert second.inputs[0].payload == "x"


def test_what_close_writes_is_delivered_and_the_node_is_closed() -> None:
    harness = begun(
        node(calculator(close=lambda cc: cc.output.add("end", 9), name="Closes"), "a", "b", name="first"),
        node(Pass, "b", "c", name="n"),
    )
    harness.close_input("a")

    run_on(harness, harness.turn(called(harness, "first")))

    assert harness.is_over
    assert harness.log[-3:] == ["close first", "process n at 9", "close n"]
    assert harness.node("first").state == CLOSED
    assert harness.stream("b").is_closed


def test_a_call_at_a_special_timestamp_promises_what_the_offset_says() -> None:
    harness = chain()
    harness.add("a", "only", Timestamp.PRESTREAM)

    harness.turn(called(harness, "first"))

    assert harness.stream("b").bound == Timestamp.ONE_OVER_POSTSTREAM


def test_a_node_closes_after_a_packet_behind_which_its_stream_has_no_more() -> None:
    harness = chain()
    harness.add("a", "x", Timestamp.POSTSTREAM)

    run_on(harness, harness.turn(called(harness, "first")))

    assert [harness.node(name).state for name in ("first", "second")] == [CLOSED, CLOSED]
