"""What the steps of a node call: the calculator itself, or the layers around it in their order."""

from __future__ import annotations

import pytest

from penstock.engine.guard import AGAIN, Guard
from penstock.engine.layer import Layer, LayerLevel
from penstock.engine.methods import CLOSE, OPEN, PROCESS
from penstock_testing import ScheduleHarness, calculator, node, wired


class Noting(Layer):
    """Notes each call on its way to the inside, and on its way back."""

    def __init__(self, name: str, level: int, log: list[str], methods=(OPEN, PROCESS, CLOSE)) -> None:
        super().__init__(level, methods)
        self.name, self.log = name, log

    def open(self, step) -> object:
        return self.note("open", self.inner.open, step)

    def process(self, step) -> object:
        return self.note("process", self.inner.process, step)

    def close(self, step) -> object:
        return self.note("close", self.inner.close, step)

    def note(self, method, call, step) -> object:
        self.log.append(f"{self.name}.{method}")
        outcome = call(step)
        self.log.append(f"/{self.name}")
        return outcome


class Judge(Guard):
    """Wants each failed call once more."""

    def judge(self, step, error) -> int:
        return AGAIN


def harness_of(process, log, **fields):
    made = calculator(
        process, open=lambda _: log.append("open"), close=lambda _: log.append("close"), offset=0
    )
    return ScheduleHarness(wired(node(made, "in", "out", **fields), inputs="in"))


def forward(log):
    def process(cc) -> None:
        log.append(f"process {cc.input.payload}")
        cc.output.add_packet(cc.input.packet)

    return process


def test_the_steps_of_a_node_without_layers_call_the_calculator_itself() -> None:
    harness = harness_of(forward([]), [])
    (only,) = harness.schedule.nodes
    harness.start().run()

    assert only.layers == ()
    assert only.process == only.calculator.process
    assert only.step.call == only.calculator.process


@pytest.mark.parametrize("turned", [False, True])
def test_layers_stand_in_the_order_of_their_levels_however_they_are_put(turned) -> None:
    log: list[str] = []
    harness = harness_of(forward(log), log)
    levels = {
        "trace": LayerLevel.TRACE,
        "time": LayerLevel.TIME,
        "sides": LayerLevel.SIDE_PACKETS,
        "guard": LayerLevel.GUARD,
        "steer": LayerLevel.STEER,
    }
    layers = [Noting(name, level, log) for name, level in levels.items()]
    harness.schedule.nodes[0].put_around(*(reversed(layers) if turned else layers))
    harness.start().run()
    harness.add("in", 7, 7)
    harness.finish()

    for method, inside in (("open", "open"), ("process", "process 7"), ("close", "close")):
        way = [*(f"{name}.{method}" for name in levels), inside, *(f"/{name}" for name in reversed(levels))]
        assert log[: len(way)] == way
        del log[: len(way)]
    assert log == []


def test_a_method_that_no_layer_changes_is_the_calculators_own() -> None:
    log: list[str] = []
    harness = harness_of(forward(log), log)
    (only,) = harness.schedule.nodes
    only.put_around(Noting("opening", LayerLevel.SIDE_PACKETS, log, (OPEN,)))

    assert only.process == only.calculator.process
    assert only.close == only.calculator.close
    harness.start().run()
    assert log == ["opening.open", "open", "/opening"]


def test_a_layer_put_around_a_running_node_gets_the_calls_that_have_not_begun() -> None:
    log: list[str] = []
    harness = harness_of(forward(log), log, max_in_flight=3)
    (only,) = harness.schedule.nodes
    only.put_around(Noting("trace", LayerLevel.TRACE, log))
    harness.start().run()
    for stamp in (1, 2):
        harness.add("in", stamp, stamp)
    begun = harness.take()
    del log[:]

    harness.change(lambda schedule: schedule.put_around(only, Noting("steer", LayerLevel.STEER, log)))
    harness.complete(harness.call(harness.take()))
    harness.complete(harness.call(begun))

    assert log == [
        *("trace.process", "steer.process", "process 2", "/steer", "/trace"),
        *("trace.process", "steer.process", "process 1", "/steer", "/trace"),
    ]


def test_a_layer_put_around_after_a_call_was_taken_from_a_plain_node_does_not_get_that_call() -> None:
    log: list[str] = []
    harness = harness_of(forward(log), log, max_in_flight=3)
    (only,) = harness.schedule.nodes
    harness.start().run()
    for stamp in (1, 2):
        harness.add("in", stamp, stamp)
    begun = harness.take()
    del log[:]

    harness.change(lambda schedule: schedule.put_around(only, Noting("steer", LayerLevel.STEER, log)))
    harness.complete(harness.call(begun))
    harness.complete(harness.call(harness.take()))

    assert log == ["process 1", "steer.process", "process 2", "/steer"]


def test_a_call_that_the_guard_wants_again_goes_through_the_outer_layers_again() -> None:
    log: list[str] = []
    left = [1]

    def process(cc) -> None:
        if left:
            left.clear()
            raise ValueError("once")

    harness = harness_of(process, log)
    harness.schedule.nodes[0].put_around(
        Noting("trace", LayerLevel.TRACE, log), Judge(), Noting("steer", LayerLevel.STEER, log)
    )
    harness.start().run()
    del log[:]
    harness.add("in", 1, 1)
    harness.run()

    assert log == ["trace.process", "steer.process", "trace.process", "steer.process", "/steer", "/trace"]


def test_the_calculator_of_a_node_is_what_the_innermost_layer_calls_now() -> None:
    log: list[str] = []
    harness = harness_of(forward(log), log)
    (only,) = harness.schedule.nodes
    first = only.calculator
    steer = Noting("steer", LayerLevel.STEER, log)
    only.put_around(steer)
    assert only.calculator is first

    other = harness_of(forward(log), log).schedule.nodes[0].calculator
    steer.inner = other
    assert only.calculator is other
    only.put_around(Noting("trace", LayerLevel.TRACE, log))
    assert only.calculator is steer.inner is other


def test_the_options_are_those_of_the_outermost_layer_that_has_some() -> None:
    class Choosing(Layer):
        options = "other"

    harness = harness_of(forward([]), [])
    (only,) = harness.schedule.nodes
    assert only.options is None
    only.put_around(Noting("trace", LayerLevel.TRACE, []), Choosing(LayerLevel.STEER))
    assert only.options == "other"


def test_a_guard_that_does_not_judge_says_so() -> None:
    harness = harness_of(forward([]), [])
    with pytest.raises(NotImplementedError, match="Guard is a Guard without a judge method"):
        Guard().judge(harness.schedule.nodes[0].step, ValueError())
