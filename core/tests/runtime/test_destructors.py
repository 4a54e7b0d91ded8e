"""Destructors of payloads that call the graph: refused in the middle of a change of it."""

from __future__ import annotations

import concurrent.futures
import gc
import threading

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


class Collecting(concurrent.futures.ThreadPoolExecutor):
    """A pool in whose `submit` the garbage collector may run.

    As in the standard library, `submit` of all pools holds one lock, which must not be taken again there.
    """

    guard = threading.Lock()
    found = None

    def submit(self, *arguments):
        if not self.guard.acquire(timeout=TIMEOUT / 4):
            raise AssertionError("submit was called inside of submit")
        try:
            found, self.found = self.found, None
            if found is not None:
                found()
            return super().submit(*arguments)
        finally:
            self.guard.release()


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

    graph._runs.runner.change(collect)

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
    first = graph._runs.runner
    graph.close_all_input_streams()
    graph.wait_until_done(TIMEOUT)
    graph.start_run()

    graph._runs._finish(first)  # what a second thread does that waited for the first run

    assert graph.is_running
    graph.add_packet_to_input_stream("in", Packet(1, 1))
    graph.close(TIMEOUT)
    assert not graph.is_running


def test_a_destructor_that_a_pools_submit_has_collected_wakes_a_thread_after_it(make, passing) -> None:
    seen, errors = [], []
    nodes = [(passing, "in", "out"), (passing, "more", "too", 'executor: "own"')]
    graph = make(nodes, "in more", 'executor { name: "own" }', threads=0)

    def add() -> None:
        try:
            graph.add_packet_to_input_stream("more", Packet("by a destructor", 1), timeout=TIMEOUT)
        except Exception as error:  # noqa: BLE001  # what a destructor raises is swallowed
            errors.append(error)

    with Collecting(2) as pool, Collecting(2) as own:
        graph.set_executor("", pool)
        graph.set_executor("own", own)
        for stream in ("out", "too"):
            graph.observe_output_stream(stream, lambda _, packet: seen.append(packet.payload))
        graph.start_run()
        graph.wait_until_idle(TIMEOUT)
        pool.found = add
        graph.add_packet_to_input_stream("in", Packet("first", 0))
        graph.close(TIMEOUT)

    assert errors == []
    assert sorted(seen) == ["by a destructor", "first"]


class Inside(concurrent.futures.Executor):
    """A pool that runs each task inside of `submit`."""

    def submit(self, function, *arguments):
        done = concurrent.futures.Future()
        done.set_result(function(*arguments))
        return done


def test_a_pool_that_runs_its_tasks_inside_of_submit_delays_no_other(make, passing) -> None:
    has_come = threading.Event()
    told = []

    def feed(cc) -> None:
        cc.output.add(1, cc.input_timestamp)
        graph.add_packet_to_input_stream("more", Packet(1, 1))
        told.append(has_come.wait(TIMEOUT / 4))

    first = calculator(feed, name="Feeds")
    other = calculator(lambda cc: has_come.set(), name="Comes")
    nodes = [(first, "in", "out"), (other, "more", "", 'executor: "own"')]
    graph = make(nodes, "in more", 'executor { name: "own" }', threads=0)
    with concurrent.futures.ThreadPoolExecutor(1) as own:
        graph.set_executor("", Inside())
        graph.set_executor("own", own)
        graph.start_run()
        graph.wait_until_idle(TIMEOUT)
        graph.add_packet_to_input_stream("in", Packet(0, 0))
        graph.close(TIMEOUT)

    assert told == [True]
