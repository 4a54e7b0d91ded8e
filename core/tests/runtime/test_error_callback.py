"""What an application learns of a run that fails without waiting for it."""

from __future__ import annotations

import logging
import queue
import threading
from typing import NoReturn

import pytest

import penstock
from penstock import StatusCode
from penstock.errors import FailedPreconditionError, GraphRunError, InternalError, InvalidArgumentError
from penstock_testing import calculator

TIMEOUT = 20
Nothing = calculator(name="Nothing")


def failing(method: str):
    def fail(cc) -> NoReturn:
        raise InternalError(f"Error from {method}.")

    return calculator(**{method: fail}, name="Fails")


@pytest.mark.parametrize("threads", [0, 2])
@pytest.mark.parametrize(
    "method",
    [
        pytest.param(
            "process",
            marks=pytest.mark.reference(
                "framework/calculator_graph_error_callback_test.cc",
                "CalculatorGraphAsyncErrorsTest.ErrorCallbackReceivesProcessErrors",
            ),
        ),
        pytest.param(
            "open",
            marks=pytest.mark.reference(
                "framework/calculator_graph_error_callback_test.cc",
                "CalculatorGraphAsyncErrorsTest.ErrorCallbackReceivesOpenErrors",
            ),
        ),
    ],
)
def test_a_callback_gets_the_error_of_each_run_that_fails_once(make, method, threads) -> None:
    graph = make([(failing(method), "IN:input", "OUT:output")], "input", threads=threads)
    told: queue.SimpleQueue[tuple[bool, GraphRunError]] = queue.SimpleQueue()
    graph.set_error_callback(lambda error: told.put((graph.has_error(), error)))

    for _ in range(2):
        graph.start_run()
        if method == "process":
            graph.add_packet_to_input_stream("input", penstock.Packet(0, 10))
        if not threads:  # nothing runs outside of the application's waits
            with pytest.raises(GraphRunError):
                graph.wait_until_idle(TIMEOUT)
        had_error, error = told.get(timeout=TIMEOUT)
        assert had_error
        assert error.code is StatusCode.INTERNAL
        assert f"Error from {method}." in str(error)

        with pytest.raises(GraphRunError, match=f"Error from {method}") as caught:
            graph.wait_until_idle(TIMEOUT)
        assert caught.value.code is StatusCode.INTERNAL
        with pytest.raises(GraphRunError):
            graph.wait_until_done(TIMEOUT)
    assert told.empty()


def test_a_healthy_run_calls_nobody_and_none_takes_the_callback_away(make) -> None:
    told: list[GraphRunError] = []
    graph = make([(Nothing, "in")], "in")
    graph.set_error_callback(told.append)
    graph.start_run()
    graph.close(TIMEOUT)
    graph.set_error_callback(None)
    graph.start_run()
    graph.cancel()
    with pytest.raises(GraphRunError):
        graph.wait_until_done(TIMEOUT)

    assert told == []


def test_a_callback_may_wait_for_the_graph_and_its_thread_ends_with_the_run(make) -> None:
    told: list[tuple[threading.Thread, bool]] = []
    graph = make([(failing("open"), "in")], "in")

    def wait(error: GraphRunError) -> None:
        with pytest.raises(GraphRunError):
            graph.wait_until_idle(TIMEOUT)
        told.append((threading.current_thread(), graph.has_error()))

    graph.set_error_callback(wait)
    graph.start_run()
    with pytest.raises(GraphRunError, match="Error from open"):
        graph.wait_until_done(TIMEOUT)

    ((thread, had_error),) = told
    assert had_error
    assert not thread.is_alive()


def test_a_callback_may_end_the_graph(make) -> None:
    told: queue.SimpleQueue[str] = queue.SimpleQueue()
    graph = make([(failing("open"), "in")], "in")

    def end(error: GraphRunError) -> None:
        graph.cancel()
        with pytest.raises(GraphRunError) as caught:
            graph.wait_until_done(TIMEOUT)
        told.put(str(caught.value))

    graph.set_error_callback(end)
    graph.start_run()

    assert "Error from open" in told.get(timeout=TIMEOUT)


def test_a_callback_that_fails_is_logged(make, monkeypatch) -> None:
    said: queue.SimpleQueue[str] = queue.SimpleQueue()
    monkeypatch.setattr(logging.Logger, "handle", lambda self, record: said.put(record.getMessage()))
    graph = make([(failing("open"), "in")], "in")
    graph.set_error_callback(lambda error: 1 / 0)
    graph.start_run()
    words = ""
    while "the error callback failed: ZeroDivisionError" not in words:
        words = said.get(timeout=TIMEOUT)

    with pytest.raises(GraphRunError, match="Error from open"):
        graph.wait_until_done(TIMEOUT)


def test_a_callback_is_set_between_runs_and_can_be_called(make) -> None:
    graph = make([(Nothing, "in")], "in")
    with pytest.raises(InvalidArgumentError, match="set_error_callback: 5 cannot be called"):
        graph.set_error_callback(5)
    graph.start_run()
    with pytest.raises(FailedPreconditionError, match="set_error_callback"):
        graph.set_error_callback(None)
    graph.close(TIMEOUT)
