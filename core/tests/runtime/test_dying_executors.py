"""Executors that take work and never do it, and calls that never return: a run can still be ended."""

from __future__ import annotations

import asyncio
import concurrent.futures
import threading
import time

import pytest

import penstock
from penstock.errors import GraphRunError, StatusCode, UnavailableError, WaitTimeoutError
from penstock.runtime.runner import deferred, runner
from penstock_testing import calculator, testing_registry

TIMEOUT = 20

GRAPH = """
input_stream: "in"
output_stream: "out"
executor { name: "pool" }
node { name: "first" calculator: "First" input_stream: "in" output_stream: "between" }
node { name: "second" calculator: "Second" input_stream: "between" output_stream: "out" executor: "pool" }
"""


class DyingLease(penstock.ExecutorLease):
    def __init__(self, executor, work):
        self._executor = executor
        self.work = work

    def wake(self):
        self._executor.wakes += 1
        if not self._executor.is_dead:
            thread = threading.Thread(target=self.work.run)
            thread.start()
            thread.join(TIMEOUT)

    def stop(self, timeout=None):
        return not self._executor.is_dead  # nobody tells that a dead thread has ended


class DyingExecutor(penstock.Executor):
    """Lends threads until it dies; then it accepts all work and does none."""

    is_dead = False
    wakes = 0

    def lend_to(self, work):
        self.lease = DyingLease(self, work)
        return self.lease

    def come_back(self):
        """Do what a thread would that comes back later; return whether it found anything to do."""
        return self.lease.work.run()


@pytest.fixture
def short_grace(monkeypatch):
    monkeypatch.setattr(deferred, "GRACE_S", 0.3)
    monkeypatch.setattr(runner, "GRACE_S", 0.3)
    monkeypatch.setattr(runner, "_ABANDONED_S", 0.05)


@pytest.fixture
def stuck(pools):
    """Return the graph, the executor of its second node, and what its calculators have seen."""
    seen = []

    def stepping(name):
        def process(cc):
            seen.append(f"{name} {cc.input_timestamp}")
            cc.output.add_packet(cc.inputs[0].packet)

        return calculator(process, name=name, close=lambda _cc: seen.append(f"{name} closes"))

    graph = penstock.CalculatorGraph(GRAPH, registry=testing_registry(stepping("First"), stepping("Second")))
    dying = DyingExecutor()
    graph.set_executor("pool", dying)
    graph.set_executor("", pools(1))
    return graph, dying, seen


def forward(cc):
    cc.output.add_packet(cc.inputs[0].packet)


def start(graph, dying):
    """Start a run, and let the executor die once all nodes are open; then a packet comes."""
    graph.start_run()
    graph.wait_until_idle(TIMEOUT)
    dying.is_dead = True
    graph.add_packet_to_input_stream("in", penstock.Packet(1, 5))


def test_without_an_error_a_wait_only_tells_what_it_waits_for(short_grace, stuck) -> None:
    graph, dying, _ = stuck
    start(graph, dying)

    with pytest.raises(WaitTimeoutError, match="'second'"):
        graph.wait_until_idle(1.0)  # longer than the time of grace

    assert graph.is_running
    with pytest.raises(GraphRunError):
        graph.abandon(0)


def test_a_cancelled_run_ends_after_the_time_of_grace_and_names_executor_and_nodes(
    short_grace, stuck
) -> None:
    graph, dying, seen = stuck
    start(graph, dying)
    graph.cancel()

    with pytest.raises(GraphRunError) as caught:
        graph.wait_until_done(TIMEOUT)

    cancelled, abandoned = caught.value.errors
    assert cancelled.code is StatusCode.CANCELLED
    assert abandoned.code is StatusCode.ABORTED
    assert str(abandoned) == (
        "the run was abandoned: no ready step was begun in the 0.3 s after an error or cancel(); "
        "executor 'pool' (DyingExecutor) holds 'second'"
    )
    assert not graph.is_running
    assert seen.count("Second closes") == 1  # on this thread
    before = list(seen)
    assert dying.come_back() is False
    assert seen == before


def test_after_it_the_graph_can_run_again(short_grace, stuck) -> None:
    graph, dying, seen = stuck
    start(graph, dying)
    with pytest.raises(GraphRunError):
        graph.abandon(0.1)
    seen.clear()
    dying.is_dead = False

    graph.start_run()
    graph.add_packet_to_input_stream("in", penstock.Packet(2, 7))
    graph.close_all_input_streams()
    graph.wait_until_done(TIMEOUT)

    assert sorted(seen) == ["First 7", "First closes", "Second 7", "Second closes"]


def test_abandon_gives_up_after_the_grace_that_the_caller_gives(stuck, monkeypatch) -> None:
    monkeypatch.setattr(runner, "_ABANDONED_S", 0.05)
    graph, dying, seen = stuck
    start(graph, dying)

    with pytest.raises(GraphRunError, match=r"did not end within 0.2 s after it was cancelled; executor"):
        graph.abandon(0.2)

    assert not graph.is_running
    assert sorted(one for one in seen if "closes" in one) == ["First closes", "Second closes"]
    graph.close(TIMEOUT)


def test_a_run_that_is_over_ends_though_its_executor_never_tells_that_it_stopped(stuck) -> None:
    graph, dying, _ = stuck
    graph.start_run()
    graph.close_all_input_streams()
    graph.wait_until_idle(TIMEOUT)
    dying.is_dead = True

    with pytest.raises(GraphRunError, match=r"did not stop within 30.0 s: executor 'pool' \(Dying"):
        graph.wait_until_done(TIMEOUT)

    assert not graph.is_running


def test_a_with_block_that_raises_ends_though_the_executor_is_dead(short_grace, stuck) -> None:
    graph, dying, _ = stuck

    def program():
        with graph:
            start(graph, dying)
            raise KeyError("mine")

    with pytest.raises(KeyError) as caught:
        program()

    assert not graph.is_running
    (note,) = caught.value.__notes__
    assert "executor 'pool' (DyingExecutor) holds 'second'" in note


def test_a_run_that_an_event_loop_awaits_ends_too(short_grace, stuck) -> None:
    graph, dying, _ = stuck

    async def program():
        async with graph.running() as run:
            await run.wait_until_idle(TIMEOUT)
            dying.is_dead = True
            await run.add("in", penstock.Packet(1, 5))
            raise KeyError("mine")

    with pytest.raises(KeyError) as caught:
        asyncio.run(program())

    assert not graph.is_running
    assert "executor 'pool' (DyingExecutor) holds 'second'" in "".join(caught.value.__notes__)


def test_a_call_that_never_returns_is_left_alone_and_writes_nothing_when_it_does(monkeypatch) -> None:
    monkeypatch.setattr(runner, "_ABANDONED_S", 0.05)
    entered, may_return, closed, observed = threading.Event(), threading.Event(), [], []

    def process(cc):
        entered.set()
        assert may_return.wait(TIMEOUT)
        cc.output.add_packet(cc.inputs[0].packet)

    hanging = calculator(process, name="Hangs", close=lambda _cc: closed.append("Hangs"))
    passing = calculator(
        lambda cc: cc.output.add_packet(cc.inputs[0].packet),
        name="Pass",
        close=lambda _cc: closed.append("Pass"),
    )
    threads = []

    class Threads(penstock.Executor):
        def lend_to(self, work):
            class ExecutorLease(penstock.ExecutorLease):
                def wake(self):
                    threads.append(threading.Thread(target=work.run))
                    threads[-1].start()

                def stop(self, timeout=None):
                    for thread in threads:
                        thread.join(timeout)
                    return not any(thread.is_alive() for thread in threads)

            return ExecutorLease()

    graph = penstock.CalculatorGraph(
        """
        input_stream: "in"
        node { name: "hangs" calculator: "Hangs" input_stream: "in" output_stream: "out" }
        node { name: "pass" calculator: "Pass" input_stream: "in" output_stream: "other" }
        """,
        registry=testing_registry(hanging, passing),
    )
    graph.set_executor("", Threads())
    graph.observe_output_stream("out", lambda _name, packet: observed.append(packet))
    graph.start_run()
    graph.add_packet_to_input_stream("in", penstock.Packet(1, 5))
    assert entered.wait(TIMEOUT)

    with pytest.raises(GraphRunError, match=r"the default executor \(Threads\) holds a call of 'hangs'"):
        graph.abandon(0.2)

    assert not graph.is_running
    assert closed == ["Pass"]
    may_return.set()
    for thread in threads:
        thread.join(TIMEOUT)
    assert (observed, closed) == ([], ["Pass"])
    graph.close(TIMEOUT)


def test_a_future_that_is_done_after_its_run_was_abandoned_leaves_no_call_under_way(
    make, monkeypatch
) -> None:
    monkeypatch.setattr(runner, "_ABANDONED_S", 0.05)
    called, future = threading.Event(), concurrent.futures.Future()
    future.set_running_or_notify_cancel()  # so that nothing cancels it

    def process(_cc):
        called.set()
        return future

    graph = make([(calculator(process, name="Waits"), "in")], "in", threads=1)
    graph.start_run()
    graph.add_packet_to_input_stream("in", penstock.Packet(1, 5))
    assert called.wait(TIMEOUT)
    with pytest.raises(GraphRunError, match="holds a call of 'Waits'"):
        graph.abandon(0.05)
    assert [node.running for node in graph.snapshot().nodes] == [1]

    future.set_result(None)

    assert [node.running for node in graph.snapshot().nodes] == [0]


def test_abandon_of_a_run_that_ends_by_itself_tells_that_it_was_cancelled(make) -> None:
    passing = calculator(forward, name="Pass")
    graph = make([(passing, "in", "out")], "in")
    graph.start_run()

    with pytest.raises(GraphRunError) as caught:
        graph.abandon()

    assert [error.code for error in caught.value.errors] == [StatusCode.CANCELLED]
    graph.abandon()  # nothing is under way any more


def test_a_typed_error_of_an_executor_that_cannot_start_keeps_its_class_and_gets_the_name(make) -> None:
    class Refusing(DyingExecutor):
        def lend_to(self, work):
            raise UnavailableError("no threads today")

    graph = make([(calculator(forward, name="Pass"), "in", "out")], "in", threads=0)
    graph.set_executor("", Refusing())

    with pytest.raises(
        UnavailableError, match=r"^the default executor \(Refusing\) cannot serve the run: no threads today$"
    ):
        graph.start_run()


def test_an_executor_that_cannot_start_is_a_typed_error_and_the_graph_can_start_again(make) -> None:
    class Unwilling(DyingExecutor):
        is_willing = False

        def lend_to(self, work):
            if not self.is_willing:
                raise RuntimeError("no threads today")
            return super().lend_to(work)

    passing = calculator(forward, name="Pass")
    graph = make([(passing, "in", "out")], "in", threads=0)
    executor = Unwilling()
    graph.set_executor("", executor)

    with pytest.raises(
        penstock.PenstockError, match=r"the default executor \(Unwilling\) cannot serve the run: Runtime"
    ):
        graph.start_run()

    assert not graph.is_running
    executor.is_willing = True
    graph.start_run()
    with pytest.raises(GraphRunError):
        graph.abandon(0)


def clock_that_raises():
    raise ValueError("no time")


@pytest.mark.parametrize("clock", [lambda: 0.0, lambda: "noon", clock_that_raises])
def test_a_clock_that_stands_still_or_fails_does_not_keep_a_run_alive(stuck, monkeypatch, clock) -> None:
    monkeypatch.setattr(runner, "_ABANDONED_S", 0.05)
    graph, dying, _ = stuck
    graph.set_clock(clock)
    graph.start_run()
    graph.wait_until_idle()
    dying.is_dead = True
    graph.add_packet_to_input_stream("in", penstock.Packet(1, 5))

    with pytest.raises(GraphRunError, match=r"did not end within 0.1 s after it was cancelled; executor"):
        graph.abandon(0.1)

    assert not graph.is_running


def test_a_thread_that_comes_back_to_an_abandoned_run_wakes_no_other(stuck, monkeypatch) -> None:
    monkeypatch.setattr(runner, "_ABANDONED_S", 0.05)
    graph, dying, _ = stuck
    start(graph, dying)
    with pytest.raises(GraphRunError, match="holds 'second'"):
        graph.abandon(0.1)
    wakes = dying.wakes

    assert dying.come_back() is False
    assert dying.wakes == wakes


def test_a_coroutine_that_ignores_its_cancellation_does_not_hold_up_the_end(short_grace, make) -> None:
    begun = threading.Event()
    loops = []

    async def process(_cc):
        done = asyncio.Event()
        loops.append((asyncio.get_running_loop(), done))
        begun.set()
        while not done.is_set():
            try:
                await done.wait()
            except asyncio.CancelledError:
                continue

    graph = make([(calculator(process, name="Deaf"), "in")], "in")
    graph.start_run()
    graph.add_packet_to_input_stream("in", penstock.Packet(1, 5))
    assert begun.wait(TIMEOUT)
    graph.cancel()
    began = time.monotonic()

    with pytest.raises(GraphRunError, match=r"the deferred process\(\) did not end within 0.3 s after"):
        graph.wait_until_done(TIMEOUT)

    assert time.monotonic() - began < 10  # not the 30 s that threads of a healthy run may take
    loop, done = loops[0]
    loop.call_soon_threadsafe(done.set)


def test_an_executor_that_lends_something_else_is_a_typed_error(make) -> None:
    class Lending(DyingExecutor):
        def lend_to(self, work):
            return 42

    passing = calculator(forward, name="Pass")
    graph = make([(passing, "in", "out")], "in", threads=0)
    graph.set_executor("", Lending())

    with pytest.raises(
        penstock.PenstockError, match=r"the default executor \(Lending\) cannot serve the run: Attrib"
    ):
        graph.start_run()

    assert not graph.is_running


def test_a_snapshot_knows_no_threads_of_an_executor_that_cannot_count_them(make) -> None:
    class Uncounted(DyingLease):
        def thread_count(self):
            raise RuntimeError("lost count")

    class Uncounting(DyingExecutor):
        def lend_to(self, work):
            return Uncounted(self, work)

    passing = calculator(forward, name="Pass")
    graph = make([(passing, "in", "out")], "in", threads=0)
    graph.set_executor("", Uncounting())
    graph.start_run()

    (state,) = graph.snapshot().executors

    assert state.threads is None
    graph.close(TIMEOUT)
