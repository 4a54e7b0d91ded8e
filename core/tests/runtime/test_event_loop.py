from __future__ import annotations

import asyncio
import concurrent.futures
import inspect
import threading

import pytest

import penstock
from penstock.errors import FailedPreconditionError, GraphRunError
from penstock.runtime.event_loops.lazy_loop import LazyLoop
from penstock_testing import calculator

TIMEOUT = 20


def feed(graph, count: int) -> None:
    for i in range(count):
        graph.add_packet_to_input_stream("in", penstock.Packet(i, i))


class Stuck:
    """A coroutine that waits until it is cancelled, and notes how it ended."""

    def __init__(self) -> None:
        self.started = threading.Event()
        self.ended: list[str] = []

    async def process(self, cc):
        self.started.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            self.ended.append("cancelled")
            raise

    def close(self, cc):
        self.ended.append("closed")


# --- the application's own loop ---------------------------------------------------------------


@pytest.fixture
def app_loop():
    """An event loop of the application, running on a thread of its own."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="app-loop")
    thread.start()
    yield loop
    loop.call_soon_threadsafe(loop.stop)
    thread.join(TIMEOUT)
    loop.close()


def test_coroutines_run_on_the_applications_own_loop_which_goes_on_afterwards(
    make, async_all, app_loop
) -> None:
    graph = make([(async_all, "in", "out")], "in")
    graph.set_event_loop(app_loop)
    graph.start_run()
    feed(graph, 3)
    graph.close(TIMEOUT)

    assert {thread for _, thread in async_all.log} == {"app-loop"}
    assert app_loop.is_running()


def test_cancelling_reaches_coroutines_on_the_applications_loop(make, app_loop) -> None:
    stuck = Stuck()
    graph = make([(calculator(stuck.process, close=stuck.close), "in")], "in")
    graph.set_event_loop(app_loop)
    graph.start_run()
    feed(graph, 1)
    assert stuck.started.wait(TIMEOUT)
    graph.cancel()
    with pytest.raises(GraphRunError, match="the run was cancelled"):
        graph.wait_until_done(TIMEOUT)

    assert stuck.ended == ["cancelled", "closed"]
    assert app_loop.is_running()


@pytest.mark.parametrize("own_loop", [False, True])
def test_a_blocking_call_from_a_coroutine_raises_at_once(make, app_loop, own_loop) -> None:
    messages: list[str] = []

    async def process(cc):
        for call in (graph.wait_until_idle, graph.wait_until_done, graph.wait_for_observed_output):
            with pytest.raises(
                RuntimeError, match="from inside this graph's own step, observer or event loop"
            ) as caught:
                call()
            messages.append(str(caught.value).split("(", maxsplit=1)[0].split(" ", maxsplit=1)[0])

    graph = make([(calculator(process), "in")], "in")
    if own_loop:
        graph.set_event_loop(app_loop)
    graph.observe_output_stream("in", lambda *_: None)
    graph.start_run()
    feed(graph, 1)
    graph.close(TIMEOUT)

    assert messages == ["wait_until_idle", "wait_until_done", "observed"]


@pytest.mark.parametrize("own_loop", [False, True])
def test_a_coroutine_may_add_packets_and_the_loop_runs_no_observer_for_it(make, app_loop, own_loop) -> None:
    threads: list[str] = []
    seen: concurrent.futures.Future[None] = concurrent.futures.Future()

    def observe(_, packet):
        threads.append(threading.current_thread().name)
        seen.set_result(None)

    async def process(cc):
        graph.add_packet_to_input_stream("other", penstock.Packet("from a coroutine", 1))
        await asyncio.wrap_future(seen)

    graph = make([(calculator(process), "in")], "in other")
    if own_loop:
        graph.set_event_loop(app_loop)
    graph.observe_output_stream("other", observe)
    graph.start_run()
    feed(graph, 1)
    seen.result(TIMEOUT)
    graph.close(TIMEOUT)

    assert len(threads) == 1
    assert threads[0] not in {"penstock-loop", "app-loop"}


def test_a_loop_that_does_not_run_is_refused(make) -> None:
    async def process(cc):
        pass

    loop = asyncio.new_event_loop()
    graph = make([(calculator(process, name="Async"), "in")], "in")
    graph.set_event_loop(loop)
    graph.start_run()
    feed(graph, 1)
    with pytest.raises(
        GraphRunError, match=r"node 'Async'.*the event loop given with set_event_loop is not running"
    ):
        graph.close(TIMEOUT)
    loop.close()


@pytest.mark.parametrize("error", [SystemExit, KeyboardInterrupt])
def test_a_coroutine_that_exits_ends_the_run_and_neither_the_loop_nor_the_process(
    make, app_loop, error
) -> None:
    async def process(cc):
        raise error("leave")

    graph = make([(calculator(process, name="Leaver"), "in")], "in")
    graph.set_event_loop(app_loop)
    graph.start_run()
    feed(graph, 1)
    with pytest.raises((GraphRunError, KeyboardInterrupt)) as caught:
        graph.close(TIMEOUT)

    failure = caught.value if error is SystemExit else caught.value.__cause__
    assert f"node 'Leaver' (Leaver): process() failed at 0: {error.__name__}: leave" in str(failure)
    assert app_loop.is_running()


def test_a_loop_thread_that_has_closed_its_loop_is_waited_for() -> None:
    """A second stop may come between the end of the loop and the end of its thread."""

    class Ending(threading.Thread):
        def join(self, timeout=None):
            may_end.set()
            super().join(timeout)

    may_end = threading.Event()
    lazy = LazyLoop("ending")
    lazy._loop = asyncio.new_event_loop()
    lazy._loop.close()
    lazy._thread = Ending(target=may_end.wait, args=(TIMEOUT,), daemon=True)
    lazy._thread.start()

    assert lazy.stop(TIMEOUT)


def test_a_call_that_comes_back_when_the_run_is_over_makes_no_loop() -> None:
    async def late() -> None:
        raise AssertionError("the run is over")

    lazy = LazyLoop("late")
    assert lazy.stop(TIMEOUT)
    coroutine = late()

    with pytest.raises(FailedPreconditionError, match="the run is over, and so is its event loop"):
        lazy.submit(coroutine)
    assert inspect.getcoroutinestate(coroutine) == inspect.CORO_CLOSED
    assert "late" not in [thread.name for thread in threading.enumerate()]


# --- a process that has no more to give ----------------------------------------------------------


def no_thread(*_: object) -> None:
    raise RuntimeError("can't start new thread")


def no_file(*_: object) -> None:
    raise OSError(24, "Too many open files")


@pytest.mark.parametrize(
    ("fault", "words"), [(no_thread, "can't start new thread"), (no_file, "Too many open files")]
)
def test_a_loop_that_cannot_be_made_fails_the_run_and_is_made_in_the_next_one(
    make, async_all, monkeypatch, fault, words
) -> None:
    made = []
    new = asyncio.new_event_loop
    graph = make([(async_all, "in", "out")], "in")
    with monkeypatch.context() as patch:
        patch.setattr("asyncio.new_event_loop", lambda: made.append(new()) or made[-1])
        if fault is no_file:
            patch.setattr("asyncio.new_event_loop", no_file)
        else:
            start = threading.Thread.start
            patch.setattr(
                threading.Thread,
                "start",
                lambda self: no_thread() if self.name == "penstock-loop" else start(self),
            )
        graph.start_run()

        with pytest.raises(GraphRunError, match=f"no event loop can be made for the graph's .*{words}"):
            graph.wait_until_done(TIMEOUT)

    assert all(loop.is_closed() for loop in made)
    seen = []
    graph.observe_output_stream("out", lambda _, packet: seen.append(packet.payload))
    graph.start_run()
    feed(graph, 3)
    graph.close(TIMEOUT)
    assert len(seen) == 3
