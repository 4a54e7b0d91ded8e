"""Destructors of payloads that call the graph: refused in the middle of a change of it."""

from __future__ import annotations

import gc

import pytest

import penstock
from penstock.errors import FailedPreconditionError, PenstockError
from penstock_testing import calculator

TIMEOUT = 20
Packet = penstock.Packet

CALLS = {
    "add": lambda graph: graph.add_packet_to_input_stream("in", Packet(1, 1), timeout=TIMEOUT),
    "bound": lambda graph: graph.set_input_stream_timestamp_bound("in", 5),
    "cancel": lambda graph: graph.cancel(),
    "close": lambda graph: graph.close(TIMEOUT),
    "idle": lambda graph: graph.wait_until_idle(TIMEOUT),
    "ledger": lambda graph: graph.ledger(),
    "pause": lambda graph: graph.pause(),
    "snapshot": lambda graph: graph.snapshot(),
    "why": lambda graph: graph.why(),
    "abandon": lambda graph: graph.abandon(TIMEOUT),
}


class Caller:
    """A payload that calls a function when the garbage collector frees it."""

    def __init__(self, call) -> None:
        self.call = call
        self.cycle = self

    def __del__(self) -> None:
        self.call()


@pytest.fixture
def passing():
    return calculator(lambda cc: cc.output.add(cc.input.payload, cc.input_timestamp), name="Passing")


@pytest.mark.parametrize("name", CALLS)
def test_a_call_of_a_destructor_in_the_middle_of_a_change_is_refused_and_the_run_goes_on(
    make, passing, name
) -> None:
    graph = make([(passing, "in", "out")], "in")
    seen, errors = [], []
    graph.observe_output_stream("out", lambda _, packet: seen.append(packet.payload))
    graph.start_run()
    graph.add_packet_to_input_stream("in", Packet(0, 0))
    graph.wait_until_idle(TIMEOUT)

    def call() -> None:
        try:
            CALLS[name](graph)
        except PenstockError as error:
            errors.append(error)

    def collect(_schedule) -> None:
        Caller(call)
        gc.collect()

    graph._starter.runner.change(collect)

    assert [isinstance(error, FailedPreconditionError) for error in errors] == [True], errors
    assert "was called by a destructor" in str(errors[0])
    assert not graph.has_error()
    graph.add_packet_to_input_stream("in", Packet(2, 2))
    graph.close(TIMEOUT)
    assert seen == [0, 2]
    assert graph.ledger().adds_up


def test_the_end_of_a_run_that_was_waited_for_twice_leaves_the_next_run_alone(make, passing) -> None:
    graph = make([(passing, "in", "out")], "in")
    graph.start_run()
    first = graph._starter.runner
    graph.close_all_input_streams()
    graph.wait_until_done(TIMEOUT)
    graph.start_run()

    graph._starter._finish(first)  # what a second thread does that waited for the first run

    assert graph.is_running
    graph.add_packet_to_input_stream("in", Packet(1, 1))
    graph.close(TIMEOUT)
    assert not graph.is_running
