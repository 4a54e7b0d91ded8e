"""Runs in a process that may start no more threads: typed errors, and a graph that can run afterwards."""

from __future__ import annotations

import asyncio
import logging
import signal
import sys
import threading
from contextlib import contextmanager
from types import SimpleNamespace
from typing import TYPE_CHECKING, NoReturn

import pytest

import penstock
from penstock.errors import GraphRunError, InternalError, ResourceExhaustedError, UnavailableError
from penstock.runtime import forgotten, threads
from penstock.runtime.awaiting import in_thread
from penstock.runtime.event_loops import lazy_loop
from penstock.runtime.made_services import MadeServices
from penstock_testing import calculator, testing_registry

if TYPE_CHECKING:
    from collections.abc import Iterator

TIMEOUT = 20
Packet = penstock.Packet


def fail(_cc) -> NoReturn:
    raise InternalError("no")


async def never(_cc) -> None:
    await asyncio.Event().wait()


Fails = calculator(fail, name="Fails")
Never = calculator(never, name="Never")


@contextmanager
def starved(*names: str) -> Iterator[None]:
    """Refuse to start threads with these names, as a system does that has none left; all, without names."""
    start = threading.Thread.start

    def refuse(self: threading.Thread) -> None:
        if not names or self.name in names:
            raise RuntimeError("can't start new thread")
        start(self)

    threading.Thread.start = refuse  # type: ignore[method-assign]
    try:
        yield
    finally:
        threading.Thread.start = start  # type: ignore[method-assign]


def test_a_run_whose_timer_cannot_start_is_refused_and_the_next_one_runs(pools) -> None:
    text = 'input_stream: "in" node { calculator: "Nothing" input_stream: "in" }'
    registry = testing_registry(calculator(name="Nothing"))
    graph = penstock.CalculatorGraph(text, registry=registry, max_queued_bytes=1000)
    graph.set_executor("", pools(1))
    with (
        starved("penstock-timer"),
        pytest.raises(ResourceExhaustedError, match=r"no thread can be started that watches the time limits"),
    ):
        graph.start_run()
    assert not graph.is_running
    graph.start_run()
    graph.add_packet_to_input_stream("in", Packet(1, 1))
    graph.close(TIMEOUT)


def test_the_error_callback_is_called_at_the_end_if_no_thread_could_be_started_before(make) -> None:
    graph = make([(Fails, "IN:in", "")], "in", threads=0)
    told: list[GraphRunError] = []
    graph.set_error_callback(told.append)
    graph.start_run()
    graph.add_packet_to_input_stream("in", Packet(1, 1))
    with starved("penstock-error"), pytest.raises(GraphRunError, match="no"):
        graph.wait_until_idle(TIMEOUT)
    assert not told
    with pytest.raises(GraphRunError, match="no"):
        graph.close(TIMEOUT)
    assert len(told) == 1


def test_where_no_thread_can_call_the_error_callback_a_warning_says_it(make, caplog) -> None:
    graph = make([(Fails, "IN:in", "")], "in", threads=0)
    told: list[GraphRunError] = []
    graph.set_error_callback(told.append)
    graph.start_run()
    graph.add_packet_to_input_stream("in", Packet(1, 1))
    with caplog.at_level(logging.WARNING), starved(), pytest.raises(GraphRunError, match="no"):
        graph.close(TIMEOUT)
    assert not told
    assert "no thread can be started that calls the error callback" in caplog.text


def test_a_coroutine_that_cannot_be_cancelled_is_given_up_after_the_grace_time(make, monkeypatch) -> None:
    monkeypatch.setattr("penstock.runtime.runner.deferred.GRACE_S", 0.2)
    graph = make([(Never, "IN:in", ""), (Fails, "IN:other", "")], "in other", threads=1)
    graph.start_run()
    graph.add_packet_to_input_stream("in", Packet(1, 1))
    with starved("penstock-cancel"):
        graph.add_packet_to_input_stream("other", Packet(1, 1))
        with pytest.raises(GraphRunError) as caught:
            graph.close(TIMEOUT)
    assert "in the middle of a change" not in str(caught.value)
    assert "Fails" in str(caught.value)


def test_a_loop_whose_module_no_thread_can_import_is_unavailable(monkeypatch) -> None:
    monkeypatch.delitem(sys.modules, "penstock.runtime.event_loops.task_futures", raising=False)
    loop = lazy_loop.LazyLoop("loop")
    coroutine = never(None)
    with starved(), pytest.raises(UnavailableError, match="no event loop can be made"):
        loop.submit(coroutine)
    loop.stop(TIMEOUT)


def test_a_task_learns_that_no_thread_waits_for_its_run() -> None:
    async def run() -> None:
        with starved("penstock-await"), pytest.raises(ResourceExhaustedError, match="waits for the graph"):
            await in_thread(lambda: None)

    asyncio.run(run())


def test_of_a_dropped_graph_that_no_thread_can_end_a_warning_is_logged(caplog) -> None:
    ended: list[object] = []
    services = MadeServices()
    services.keep({penstock.ServiceKey[object]("one"): SimpleNamespace(close=lambda: ended.append(1))})
    with caplog.at_level(logging.WARNING), starved("penstock-cancel"):
        forgotten.abandon(None, services)
    assert "a graph was dropped, and no thread can be started that ends it" in caplog.text
    assert not ended


@pytest.mark.parametrize("start", [threads.has_started, lambda thread: threads.start(thread, "to wait")])
def test_an_interrupt_while_a_thread_starts_is_not_taken_for_a_refusal(start) -> None:
    with pytest.raises(KeyboardInterrupt) as raised:
        start(Interrupted())
    assert raised.value.__cause__ is None


def test_a_refusal_while_an_interrupt_is_handled_stays_a_refusal() -> None:
    try:
        signal.default_int_handler(signal.SIGINT, None)
    except KeyboardInterrupt:
        with starved(), pytest.raises(ResourceExhaustedError, match="no thread can be started to wait"):
            threads.start(threading.Thread(), "to wait")


class Interrupted(threading.Thread):
    """A thread whose start is interrupted while it gives a lock back."""

    def start(self) -> None:
        lock = threading.Lock()
        with lock:
            lock.release()
            raise KeyboardInterrupt
