"""Policies that collect several input sets before the node runs."""

from __future__ import annotations

import pytest

from penstock.errors import InternalError, InvalidArgumentError
from penstock_testing import ScheduleHarness, calculator, explore, node, wired
from penstock_testing.one_set import OneSetInputStreamHandler


class ByThree(OneSetInputStreamHandler):
    def __init__(self, options=None) -> None:
        super().__init__(options)
        self.batch_size = 3


def note(cc) -> None:
    shown = "".join("-" if port.is_empty() else port.payload for port in cc.inputs)
    cc.output.add(shown, cc.input_timestamp)


Note = calculator(note, name="Note", offset=0)


def batching(inputs="a") -> ScheduleHarness:
    plan = wired(node(Note, inputs, "out", handler=ByThree, name="n"), inputs=inputs)
    harness = ScheduleHarness(plan).start()
    harness.run()
    return harness


def test_the_node_runs_when_enough_sets_are_there_and_then_once_for_each() -> None:
    harness = batching()
    for t in (1, 2):
        harness.add("a", "x", t)
    harness.run()
    assert harness.carried("out") == []

    harness.add("a", "x", 3)
    harness.add("a", "x", 4)
    harness.run()

    assert harness.log == ["open n", "process n at 1", "process n at 2", "process n at 3"]
    assert harness.carried("out") == [(1, "x"), (2, "x"), (3, "x")]


def test_what_each_call_writes_leaves_before_the_next_call() -> None:
    harness = batching()
    for t in (1, 2, 3):
        harness.add("a", "x", t)
    harness.step()

    assert harness.carried("out") == [(1, "x")]


def test_the_last_sets_are_processed_when_the_streams_end() -> None:
    harness = batching()
    for t in (1, 2, 3, 4):
        harness.add("a", "x", t)
    harness.finish()

    assert harness.log[-2:] == ["process n at 4", "close n"]


def test_a_set_has_all_streams_as_ever_and_missing_packets_say_what_is_settled() -> None:
    harness = batching("a b")
    harness.add("a", "x", 1)
    harness.add("b", "y", 2)
    harness.add("a", "x", 3)
    harness.add("b", "y", 3)
    harness.finish()

    assert harness.carried("out") == [(1, "x-"), (2, "-y"), (3, "xy")]


def test_no_bound_goes_past_the_first_set_of_a_batch() -> None:
    harness = batching()
    harness.set_bound("a", 5)
    harness.run()
    assert harness.stream("out").bound == 5

    harness.add("a", "x", 5)
    harness.set_bound("a", 90)
    harness.run()
    assert harness.stream("out").bound == 5

    harness.finish()
    assert harness.carried("out") == [(5, "x")]


def test_sets_that_were_collected_and_never_given_out_count_as_dropped() -> None:
    harness = batching()
    harness.add("a", "x", 1)
    harness.add("a", "x", 2)
    harness.cancel()
    harness.run()

    reader = harness.stream("a").readers[0]
    assert harness.is_over
    assert (reader.delivered, reader.dropped) == (0, {"the reader had closed": 2})
    assert harness.freed == 2


def test_the_order_of_steps_and_arrivals_changes_nothing() -> None:
    plan = wired(
        node(Note, "a", "c", handler=ByThree, name="first"),
        node(Note, "c b", "out", handler=ByThree, name="second"),
        inputs="a b",
    )

    def drive(harness) -> None:
        harness.start()
        for t in range(7):
            harness.add("a", "x", t)
            harness.step()
            harness.add("b", "y", 2 * t)
        harness.finish()

    assert [t for t, _ in explore(plan, drive)["out"]] == sorted({*range(7), *range(0, 14, 2)})


def test_an_end_mark_is_shown_with_the_last_set_only_where_it_was_known() -> None:
    seen = []
    plan = wired(
        node(calculator(lambda cc: seen.append(cc.input.is_done()), name="Ends"), "a", handler=ByThree),
        inputs="a",
    )
    harness = ScheduleHarness(plan).start()
    harness.run()
    harness.add("a", "x", 0)
    harness.add("a", "x", 1)
    harness.finish()
    assert seen == [False, False]

    harness = ScheduleHarness(plan).start()
    harness.add("a", "x", 0)
    harness.add("a", "x", 1)
    harness.finish()
    assert seen[2:] == [False, True]


def test_a_batch_and_calls_that_overlap_do_not_go_together() -> None:
    plan = wired(node(Note, "a", "out", handler=ByThree, name="n", max_in_flight=2), inputs="a")

    with pytest.raises(InvalidArgumentError, match="node 'n': batch_size 3 does not go with max_in_flight 2"):
        ScheduleHarness(plan)


def test_a_policy_that_raises_ends_the_run_with_an_error_that_names_it() -> None:
    class Broken(OneSetInputStreamHandler):
        def look(self) -> int:
            raise KeyError("lost")

    harness = ScheduleHarness(wired(node(Note, "a", "out", handler=Broken, name="n"), inputs="a")).start()
    harness.run()

    assert harness.is_over
    assert str(harness.errors[0]) == "node 'n' (Note): its input policy Broken failed: KeyError: 'lost'"
    assert harness.errors[0].node == "n"
    assert not isinstance(harness.errors[0], InternalError)
    assert harness.log[-1] == "close n"


def test_a_policy_that_raises_when_a_set_is_taken_late_ends_the_run_with_an_error_that_names_it() -> None:
    class TakesLate(OneSetInputStreamHandler):
        takes_late = True

        def fill(self, timestamp, inputs) -> None:
            raise ValueError("gone")

    plan = wired(node(Note, "a", "out", handler=TakesLate, name="n"), inputs="a")
    harness = ScheduleHarness(plan).start()
    harness.run()
    harness.add("a", "x", 1)
    harness.run()

    assert harness.is_over
    (error,) = harness.errors
    assert str(error).endswith("node 'n' (Note): its input policy TakesLate failed: ValueError: gone")
    assert harness.log == ["open n", "close n"]
