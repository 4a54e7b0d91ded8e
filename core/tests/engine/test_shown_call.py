"""A step that shows another method while a layer calls that one within it."""

from __future__ import annotations

import pytest

from penstock import Packet
from penstock.engine.layer import Layer, LayerLevel
from penstock.engine.methods import CLOSE, OPEN, PROCESS
from penstock.engine.shown_call import show_method
from penstock.errors import GraphRunError
from penstock.timestamp import DONE, PRESTREAM, UNSTARTED
from penstock_testing import ScheduleHarness, calculator, node, wired


class Within(Layer):
    """Lets a function do something with the step of each call of `process`, before the calculator."""

    def __init__(self, do) -> None:
        super().__init__(LayerLevel.STEER, (PROCESS,))
        self.do = do

    def process(self, step) -> object:
        self.do(step)
        return self.inner.process(step)


def run_with(do, stamps=(3,), **fields):
    """Return the harness of a run in which `do` gets each step of a node that passes packets on."""
    seen = []

    def process(cc) -> None:
        seen.append((cc.method, int(cc.input_timestamp), cc.input.payload, cc.input.is_done()))
        cc.output.add_packet(cc.input.packet)

    harness = ScheduleHarness(wired(node(calculator(process, **fields), "in", "out"), inputs="in"))
    harness.schedule.nodes[0].put_around(Within(do))
    harness.start()
    for stamp in stamps:
        harness.add("in", stamp, stamp)
    harness.finish()
    return harness, seen


@pytest.mark.parametrize(("method", "stamp"), [(OPEN, UNSTARTED), (CLOSE, DONE)])
def test_a_step_shows_the_method_its_timestamp_and_no_inputs_and_then_its_own_call_again(
    method, stamp
) -> None:
    shown = []

    def do(step) -> None:
        before = show_method(step, method)
        shown.append((step.method, step.stamp, step.input.is_empty()))
        before.again()

    harness, seen = run_with(do)

    assert shown == [(method, stamp, True)]
    assert seen == [(PROCESS, 3, 3, True)]
    assert harness.carried("out") == [(3, 3)]


def test_the_last_packet_is_still_the_last_after_another_method() -> None:
    seen = []

    def process(cc) -> None:
        seen.append(cc.input.is_done())

    harness = ScheduleHarness(wired(node(calculator(process), "in"), inputs="in"))
    harness.schedule.nodes[0].put_around(Within(lambda step: show_method(step, CLOSE).again()))
    harness.start().run()
    for stamp in (1, 2):
        harness.add("in", stamp, stamp)
    harness.finish()

    assert seen == [False, True]


def test_method_and_timestamp_come_back_without_the_inputs_where_that_is_asked_for() -> None:
    shown = []

    def do(step) -> None:
        before = show_method(step, OPEN)
        before.method_again()
        shown.append((step.method, step.stamp, step.input.is_empty()))
        before.inputs_again()
        shown.append(step.input.payload)

    run_with(do)

    assert shown == [(PROCESS, 3, True), 3]


def test_what_another_method_has_written_and_promised_is_taken_back() -> None:
    bounds = []

    def do(step) -> None:
        if step.stamp == 4:  # what the first call has promised is gone
            return
        step.output.add("first", 1)
        before = show_method(step, OPEN, promises_anew=True)
        bounds.append(step.output.bound)
        step.output.add("again", 1)
        step.output.set_next_timestamp_bound(100)
        step.output.close()
        before.take_back()
        before.again()

    harness, _ = run_with(do, (3, 4))

    assert bounds == [PRESTREAM]
    assert harness.carried("out") == [(1, "first"), (3, 3), (4, 4)]


def test_a_stream_that_has_ended_takes_nothing_anew() -> None:
    bounds = []

    def do(step) -> None:
        if step.stamp == 4:
            before = show_method(step, OPEN, promises_anew=True)
            bounds.append(step.output.bound)
            before.take_back()
            before.again()

    def process(cc) -> None:
        if int(cc.input_timestamp) == 3:
            cc.output.close()

    harness = ScheduleHarness(wired(node(calculator(process), "in", "out"), inputs="in"))
    harness.schedule.nodes[0].put_around(Within(do))
    harness.start()
    for stamp in (3, 4):
        harness.add("in", stamp, stamp)
    harness.finish()

    assert bounds == [DONE]


def test_errors_of_ports_name_the_method_that_the_step_shows() -> None:
    def do(step) -> None:
        show_method(step, CLOSE)
        step.output.set_header(Packet("late"))

    with pytest.raises(GraphRunError, match=r"set_header can be called in open\(\) only, not in close\(\)"):
        run_with(do)
