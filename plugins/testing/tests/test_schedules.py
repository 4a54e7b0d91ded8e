from __future__ import annotations

import pytest

from penstock import STOP, InputStreamHandler, ServiceKey
from penstock.errors import (
    GraphRunError,
    InternalError,
    InvalidArgumentError,
    NotFoundError,
    StreamClosedError,
)
from penstock_testing import ScheduleHarness, calculator, explore, node, wired

Double = calculator(
    lambda cc: cc.output.add(2 * cc.input.payload, cc.input_timestamp), name="Double", offset=0
)


def test_a_run_of_a_few_lines() -> None:
    harness = ScheduleHarness(wired(node(Double, "numbers", "twice"), inputs="numbers"))
    harness.start()
    harness.add("numbers", 2, 10)
    harness.finish()

    assert harness.carried("twice") == [(10, 4)]
    assert harness.log == ["open Double", "process Double at 10", "close Double"]


def test_exploring_returns_what_every_order_gives() -> None:
    plan = wired(node(Double, "a", "b"), node(Double, "a", "c"), inputs="a")

    def drive(harness):
        harness.start()
        for stamp in range(3):
            harness.add("a", stamp, stamp)
        harness.finish()

    assert explore(plan, drive) == {
        "a": [(0, 0), (1, 1), (2, 2)],
        "b": [(0, 0), (1, 2), (2, 4)],
        "c": [(0, 0), (1, 2), (2, 4)],
    }


def test_exploring_finds_a_graph_that_depends_on_order() -> None:
    arrivals: list[str] = []
    note = calculator(lambda cc: arrivals.append(cc.node_name), name="Note")
    tell = calculator(close=lambda cc: cc.output.add(tuple(arrivals), 0), name="Tell")

    def drive(harness):
        arrivals.clear()
        harness.start()
        harness.add("a", 1, 1)
        harness.finish()

    with pytest.raises(
        InternalError, match=r"stream 'out' depends on the order of steps: with seed \d+ it carried"
    ):
        explore(wired(node(tell, "a", "out"), node(note, "a"), node(note, "a"), inputs="a"), drive)


def test_a_run_that_cannot_end_says_what_it_waits_for() -> None:
    harness = ScheduleHarness(wired(node(Double, "a", "b"), inputs="a")).start()
    harness.pause()

    with pytest.raises(InternalError, match=r"the scheduled run does not end\nthe run is paused"):
        harness.finish()


def test_a_run_that_never_gets_idle_is_abandoned() -> None:
    endless = calculator(lambda cc: cc.output.add(1, max(0, cc.output.bound)), name="Endless")
    harness = ScheduleHarness(wired(node(endless, (), "out"))).start()

    with pytest.raises(InternalError, match="not idle after 50 steps\nthe run is running"):
        harness.run(max_steps=50)
    harness.close_sources()
    harness.finish()


def test_errors_of_the_run_are_raised_at_the_end_and_those_of_an_event_at_once() -> None:
    def fail(cc):
        raise ValueError("no")

    harness = ScheduleHarness(wired(node(calculator(fail), "a"), inputs="a")).start()
    harness.add("a", 1, 1)
    harness.run()
    with pytest.raises(GraphRunError, match=r"node 'Fail' \(Fail\): process\(\) failed at 1: ValueError: no"):
        harness.finish()
    with pytest.raises(StreamClosedError, match="graph input 'a' takes no more"):
        harness.add("a", 2, 2)


def test_a_method_that_needs_a_runtime_is_refused() -> None:
    async def later(cc):
        pass

    made = later(None)
    harness = ScheduleHarness(wired(node(calculator(lambda cc: made, name="Later"), "a"), inputs="a")).start()
    harness.add("a", 1, 1)
    with pytest.raises(
        InvalidArgumentError, match=r"node 'Later': process\(\) returned .*no event loop and no threads"
    ):
        harness.finish()
    made.close()


def test_services_counters_and_options_are_there() -> None:
    key: ServiceKey[str] = ServiceKey("test.word")
    seen = []

    def open_(cc):
        cc.counter("opened").increment()
        seen.append((cc.service(key), cc.options(dict)))

    asker = calculator(open=open_, name="Asker", contract=lambda cc: cc.use_service(key))
    harness = ScheduleHarness(wired(node(asker, options=[{"a": 1}])), services={key: "word"}).start().finish()

    assert seen == [("word", {"a": 1})]
    assert harness.counters.values() == {"Asker-opened": 1}


def test_a_step_can_be_held_while_others_go_on() -> None:
    harness = ScheduleHarness(wired(node(Double, "a", "b"), node(Double, "a", "c"), inputs="a")).start()
    harness.run()
    harness.add("a", 1, 1)
    held = harness.call(harness.take())
    harness.run()
    assert (harness.carried("b"), harness.carried("c")) == ([(1, 2)], [])

    harness.complete(held)
    harness.finish()
    assert harness.carried("c") == [(1, 2)]


def test_the_error_has_the_name_that_does_not_exist() -> None:
    harness = ScheduleHarness(wired(node(Double, "a", "b"), inputs="a"))

    with pytest.raises(NotFoundError, match="the schedule has no node 'Tripple'"):
        harness.node("Tripple")


@pytest.mark.parametrize(
    ("lines", "error", "message"),
    [
        (
            [node(Double, "b", "c"), node(Double, "a", "b")],
            NotFoundError,
            "node 'Double_1' of the wired nodes reads stream 'b', which no input",
        ),
        ([node(Double, "nowhere", "b")], NotFoundError, "reads stream 'nowhere'"),
        (
            [node(Double, "a", "b"), node(Double, "a", "b")],
            InvalidArgumentError,
            "stream 'b' is written by two outputs of the wired nodes",
        ),
        (
            [node(Double, "a", "a")],
            InvalidArgumentError,
            "stream 'a' is written by two outputs of the wired nodes",
        ),
    ],
)
def test_wrong_wiring_is_refused(lines, error, message) -> None:
    with pytest.raises(error, match=message):
        wired(*lines, inputs="a")


def test_nodes_of_one_class_are_numbered_and_named_ones_are_not() -> None:
    plan = wired(
        node(Double, "a", "b"), node(Double, "a", "c"), node(Double, "a", "d", name="own"), inputs="a"
    )

    assert [line.name for line in plan.nodes] == ["Double_1", "Double_2", "own"]
    assert [stream.name for stream in plan.streams] == ["a", "b", "c", "d"]
    assert plan.graph_inputs == 1


def test_types_that_a_contract_declares_reach_the_streams() -> None:
    def contract(cc):
        cc.inputs[0].set(int)
        cc.outputs[0].set_same_as(cc.inputs[0])

    plan = wired(node(calculator(contract=contract), "a", "b"), inputs="a")

    assert [stream.classes for stream in plan.streams] == [(int,), (int,)]


def test_a_calculator_is_named_after_its_process_function() -> None:
    def count_words(cc):
        return STOP

    assert calculator(count_words).__name__ == "CountWords"
    assert calculator().__name__ == "Calculator"
    assert calculator(lambda cc: None, name="Other").__name__ == "Other"


def test_a_handler_of_the_test_is_used() -> None:
    class Each(InputStreamHandler):
        def sync_sets(self):
            return [[i] for i in range(len(self.inputs))]

    seen = []
    note = calculator(lambda cc: seen.append([port.payload for port in cc.inputs]))
    harness = ScheduleHarness(wired(node(note, "a b", handler=Each), inputs="a b")).start()
    harness.add("b", "first", 9)
    harness.run()
    harness.add("a", "second", 1)
    harness.finish()

    assert seen == [[None, "first"], ["second", None]]
