from __future__ import annotations

import pytest

from penstock.engine.input_stream_handler import InputStreamHandler
from penstock.engine.outcome import STOP
from penstock.engine.packet import Packet
from penstock.errors import InternalError, TimestampOrderError
from penstock_testing import ScheduleHarness, calculator, explore, node, wired

AddOne = calculator(lambda cc: cc.output.add(cc.input.payload + 1, cc.input_timestamp), name="AddOne")
Nothing = calculator(name="Nothing")


def holding(process, count: int, *, max_in_flight: int = 5, **arguments):
    """Start a node with calls in flight on `count` inputs; return the harness and the called steps."""
    worker = calculator(process, name="Worker", **arguments)
    plan = wired(node(worker, "in", "out", max_in_flight=max_in_flight), node(Nothing, "out"), inputs="in")
    harness = ScheduleHarness(plan).start()
    harness.run()
    for stamp in range(count):
        harness.add("in", stamp, stamp)
    harness.serve_observers()
    held = []
    while (step := harness.take()) is not None:
        held.append(harness.call(step))
    return harness, held


def copy(cc) -> None:
    cc.output.add(cc.input.payload, cc.input_timestamp)


def done(harness, *held) -> list[int]:
    for one in held:
        harness.complete(one)
    harness.serve_observers()
    return [t for t, _ in harness.carried("out")]


def test_as_many_calls_overlap_as_the_graph_allows() -> None:
    harness, held = holding(copy, 5, max_in_flight=3)

    assert [one.step.stamp for one in held] == [0, 1, 2]
    assert harness.node("Worker").running() == 3
    assert len({id(one.step) for one in held}) == 3


def test_outputs_leave_in_the_order_of_the_calls_whatever_order_they_end_in() -> None:
    harness, held = holding(copy, 4)

    assert done(harness, held[2]) == []
    assert done(harness, held[1]) == []
    assert done(harness, held[0]) == [0, 1, 2]
    assert done(harness, held[3]) == [0, 1, 2, 3]


def test_a_call_that_has_ended_makes_room_though_its_outputs_wait() -> None:
    harness, held = holding(copy, 5, max_in_flight=2)
    assert done(harness, held[1]) == []

    later = harness.take()
    assert later.stamp == 2
    assert done(harness, harness.call(later)) == []
    assert done(harness, held[0]) == [0, 1, 2]


def test_each_call_sees_its_own_input() -> None:
    seen = []
    _, held = holding(lambda cc: seen.append((int(cc.input_timestamp), cc.input.payload)), 4)

    assert seen == [(0, 0), (1, 1), (2, 2), (3, 3)]
    assert len(held) == 4


def test_two_nodes_with_five_calls_each_keep_the_order_over_a_hundred_packets() -> None:
    plan = wired(
        node(AddOne, "in", "a", max_in_flight=5), node(AddOne, "a", "out", max_in_flight=5), inputs="in"
    )

    def drive(harness):
        harness.start()
        for stamp in range(100):
            harness.add("in", stamp, stamp)
        harness.finish()

    assert explore(plan, drive, seeds=range(6))["out"] == [(i, i + 2) for i in range(100)]


def test_a_packet_late_at_leaving_is_an_error_that_names_node_stream_and_input() -> None:
    def reverse(cc):
        cc.output.add("x", 100 - int(cc.input_timestamp))

    harness, held = holding(reverse, 2)
    assert done(harness, held[1], held[0]) == [100]

    (error,) = harness.errors
    assert isinstance(error.__cause__, TimestampOrderError)
    assert (
        "node 'Worker' (Worker): process() failed at 1: stream 'out': packet at 99 is behind the bound 101"
        in str(error)
    )
    assert "parallel calls of process() leave in the order of their inputs" in str(error)
    assert (error.node, error.stream, error.timestamp) == ("Worker", "out", 1)


def test_within_one_call_order_is_checked_at_once() -> None:
    def back(cc):
        cc.output.add("x", 5)
        with pytest.raises(TimestampOrderError, match="packet at 4 is behind the bound 6"):
            cc.output.add("y", 4)

    harness, held = holding(back, 1)

    assert done(harness, *held) == [5]


def test_a_bound_that_an_earlier_call_has_passed_is_no_error() -> None:
    def process(cc):
        if cc.input_timestamp == 0:
            cc.output.add("x", 50)
        else:
            cc.output.set_next_timestamp_bound(10)

    harness, held = holding(process, 2)
    done(harness, *reversed(held))

    assert harness.errors == []
    assert harness.stream("out").bound == 51


def test_an_offset_bound_is_not_promised_before_earlier_calls_have_left() -> None:
    harness, held = holding(copy, 3, offset=0)
    done(harness, held[2], held[1])
    assert harness.stream("out").bound <= 0

    done(harness, held[0])
    assert harness.stream("out").bound == 3
    harness.set_bound("in", 50)
    assert harness.stream("out").bound == 50


def test_a_bound_is_not_forwarded_while_a_call_is_under_way() -> None:
    harness, held = holding(copy, 1, offset=0)
    harness.set_bound("in", 50)
    assert harness.stream("out").bound <= 0

    done(harness, *held)
    assert harness.stream("out").bound == 50


def test_the_node_closes_when_its_last_call_is_done() -> None:
    harness, held = holding(copy, 2)
    harness.close_input()
    assert "Worker" not in harness.ready()
    done(harness, held[1])
    assert "Worker" not in harness.ready()
    done(harness, held[0])

    harness.finish()
    assert harness.log.count("close Worker") == 1
    assert [t for t, _ in harness.carried("out")] == [0, 1]


def test_a_failing_call_ends_the_run_and_the_others_are_waited_for() -> None:
    def process(cc):
        if cc.input_timestamp == 0:
            raise ValueError("first")
        copy(cc)

    harness, held = holding(process, 3)
    done(harness, held[0])
    assert not harness.is_over
    done(harness, held[2], held[1])
    harness.run()

    assert harness.is_over
    (error,) = harness.errors
    assert str(error).startswith("node 'Worker' (Worker): process() failed at 0: ValueError: first")
    assert harness.log.count("close Worker") == 1


def test_stop_from_a_parallel_call_delivers_what_earlier_calls_wrote() -> None:
    def process(cc):
        copy(cc)
        return STOP if cc.input_timestamp == 1 else None

    harness, held = holding(process, 3)
    done(harness, held[1])
    assert harness.schedule.stopped_by == "Worker"
    done(harness, held[2], held[0])
    harness.run()

    assert harness.is_over
    assert harness.errors == []
    assert [t for t, _ in harness.carried("out")] == [0, 1, 2]


@pytest.mark.parametrize("max_in_flight", [1, 3])
def test_a_step_completed_twice_is_refused_and_changes_nothing(max_in_flight) -> None:
    harness, held = holding(copy, 1, max_in_flight=max_in_flight)
    harness.complete(held[0])

    with pytest.raises(InternalError, match="a step of node 'Worker' was completed twice"):
        harness.complete(held[0])
    harness.finish()
    assert harness.carried("out") == [(0, 0)]


def test_contexts_are_used_again() -> None:
    harness, held = holding(copy, 3)
    done(harness, *held)
    harness.run()
    first = {id(one.step) for one in held}
    harness.add("in", 3, 3)
    again = harness.take()
    harness.complete(harness.call(again))

    assert id(again) in first
    harness.finish()


class ByArrival(InputStreamHandler):
    """Takes packets as they arrive."""

    ignores_timestamps = True

    def look(self) -> int:
        queue = self.inputs[0].queue
        return queue[0].stamp if queue else super().look()

    def fill(self, timestamp, inputs) -> None:  # as the base's
        inputs[0].fill(self.inputs[0].pop())


def test_unordered_streams_keep_their_bound_though_later_calls_write_earlier_timestamps() -> None:
    worker = calculator(lambda cc: cc.output.add("x", 100 - int(cc.input_timestamp)), name="Worker")
    plan = wired(
        node(worker, "in", "out", max_in_flight=2), node(Nothing, "out", handler=ByArrival), inputs="in"
    )
    harness = ScheduleHarness(plan).start()
    harness.run()
    bounds = []
    for stamp in range(4):
        harness.add("in", stamp, stamp)
        harness.run()
        bounds.append(harness.stream("out").bound)

    assert bounds == sorted(bounds)
    assert [t for t, _ in harness.finish().carried("out")] == [100, 99, 98, 97]


@pytest.mark.parametrize("max_in_flight", [1, 3])
def test_close_cannot_write_behind_what_the_calls_have_written(max_in_flight) -> None:
    late = calculator(copy, close=lambda cc: cc.output.add("late", 1), name="Worker")
    harness = ScheduleHarness(
        wired(node(late, "in", "out", max_in_flight=max_in_flight), node(Nothing, "out"), inputs="in")
    ).start()
    for stamp in range(3):
        harness.add("in", stamp, stamp)
        harness.run()
    harness.close_input()
    harness.run()

    (error,) = harness.errors
    assert "close() failed" in str(error)
    assert "packet at 1 is behind the bound 3" in str(error)
    assert harness.carried("out") == [(0, 0), (1, 1), (2, 2)]


def test_a_lower_bound_changes_nothing_where_every_reader_ignores_timestamps() -> None:
    def process(cc):
        cc.output.set_next_timestamp_bound(10)
        cc.output.set_next_timestamp_bound(4)

    worker = calculator(process, name="Worker")
    harness = ScheduleHarness(
        wired(node(worker, "in", "out"), node(Nothing, "out", handler=ByArrival), inputs="in")
    ).start()
    harness.add("in", 0, 0)
    harness.run()

    assert harness.stream("out").bound == harness.stream("out").readers[0].bound == 10


def test_a_closed_output_stays_closed_for_calls_that_began_before() -> None:
    def process(cc):
        if cc.input_timestamp == 0:
            cc.output.close()
        else:
            cc.output.add("x", cc.input_timestamp)

    harness, held = holding(process, 2)
    done(harness, held[1], held[0])

    assert harness.stream("out").is_closed
    assert len(harness.errors) == 1
    assert "stream 'out': packet at 1 is behind the bound Timestamp::Done()" in str(harness.errors[0])
    assert harness.carried("out") == []


def test_an_empty_packet_in_a_parallel_call_is_a_bound() -> None:
    harness, held = holding(lambda cc: cc.output.add_packet(Packet(timestamp=cc.input_timestamp)), 2)
    done(harness, held[1], held[0])

    assert harness.stream("out").bound == 2
    assert harness.errors == []
