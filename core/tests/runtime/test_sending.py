"""Steps that are calls sent elsewhere: the thread that makes one ready may send it."""

from __future__ import annotations

import asyncio
import concurrent.futures
import threading

import pytest

import penstock
from penstock.errors import GraphRunError
from penstock_testing import calculator

TIMEOUT = 20


class Elsewhere:
    """Answers calls on a thread of its own, and notes which threads have sent them."""

    def __init__(self):
        self.senders = []
        self.pool = concurrent.futures.ThreadPoolExecutor(1, "elsewhere")
        self.error = None
        self.gate = threading.Event()
        self.gate.set()

    def node(self, name="Send"):
        def send(cc):
            self.senders.append(threading.current_thread().name)
            if self.error is not None:
                raise self.error
            return self.pool.submit(self.answer, cc, cc.input.payload, cc.input_timestamp)

        return calculator(send, name=name)

    def answer(self, cc, payload, at):
        self.gate.wait(TIMEOUT)
        cc.output.add(payload + 1, at)


class Sending(penstock.Executor):
    """One thread, and leave for others to send."""

    def __init__(self, *, may_send=True):
        self.is_allowed = may_send
        self.wakes = 0

    def lend_to(self, work):
        return _Lease(work, self)


class _Lease(penstock.ExecutorLease):
    sends = True

    def __init__(self, work, executor):
        self._work, self._executor = work, executor
        self._wakes = threading.Semaphore(0)
        self._is_stopping = False
        self._thread = threading.Thread(target=self._serve, name="own", daemon=True)
        self._thread.start()

    def may_send(self):
        return self._executor.is_allowed

    def wake(self):
        self._executor.wakes += 1
        self._wakes.release()

    def stop(self, timeout=None):
        self._is_stopping = True
        self._wakes.release()
        self._thread.join(timeout)
        return not self._thread.is_alive()

    def _serve(self):
        while not self._is_stopping:
            self._wakes.acquire()
            self._work.run()


@pytest.fixture
def far():
    elsewhere = Elsewhere()
    yield elsewhere
    elsewhere.gate.set()
    elsewhere.pool.shutdown()


def opened(make, nodes, executor, inputs="in"):
    """Return a graph whose nodes are on an executor, running and idle, and what comes out."""
    graph = make(nodes, inputs, threads=0)
    graph.set_executor("", executor)
    got = []
    graph.observe_output_stream("out", lambda _, packet: got.append(packet.payload))
    graph.start_run()
    graph.wait_until_idle(TIMEOUT)
    return graph, got


@pytest.mark.parametrize("may_send", [True, False])
def test_the_thread_that_adds_a_packet_sends_the_call_if_the_executor_lets_it(make, far, may_send) -> None:
    executor = Sending(may_send=may_send)
    graph, got = opened(make, [(far.node(), "in", "out")], executor)

    for number in range(5):
        graph.add_packet_to_input_stream("in", penstock.Packet(number, number))
        graph.wait_until_idle(TIMEOUT)
    graph.close(TIMEOUT)

    assert got == [1, 2, 3, 4, 5]
    assert set(far.senders) == {threading.current_thread().name if may_send else "own"}


def test_the_thread_that_completes_a_call_sends_the_next_one(make, far) -> None:
    nodes = [(far.node("First"), "in", "a"), (far.node("Second"), "a", "b"), (far.node("Third"), "b", "out")]
    graph, got = opened(make, nodes, Sending())
    far.gate.clear()

    graph.add_packet_to_input_stream("in", penstock.Packet(1, 0))
    far.gate.set()
    graph.wait_until_idle(TIMEOUT)
    graph.close(TIMEOUT)

    assert got == [4]
    assert far.senders[:2] == [threading.current_thread().name, "elsewhere_0"]


def test_of_several_ready_steps_one_is_sent_here_and_a_thread_is_woken_for_the_others(make, far) -> None:
    nodes = [
        (far.node("First"), "in", "a"),
        (far.node("Second"), "in", "b"),
        (far.node("Third"), "in", "out"),
    ]
    graph, got = opened(make, nodes, Sending())
    far.gate.clear()

    graph.add_packet_to_input_stream("in", penstock.Packet(1, 0))
    far.gate.set()
    graph.close(TIMEOUT)

    assert got == [2]
    assert sorted(far.senders) == sorted([threading.current_thread().name, "own", "own"])


def test_observers_are_called_by_no_thread_that_completes_a_call(make, far) -> None:
    seen = []
    graph = make([(far.node(), "in", "a"), (far.node("Second"), "a", "out")], "in", threads=0)
    graph.set_executor("", Sending())
    graph.observe_output_stream("a", lambda _, packet: seen.append(threading.current_thread().name))
    graph.start_run()
    for number in range(20):
        graph.add_packet_to_input_stream("in", penstock.Packet(number, number))
    graph.close(TIMEOUT)

    assert len(seen) == 20
    assert "elsewhere_0" not in seen


def test_an_event_loop_sends_nothing(make, far) -> None:
    graph, got = opened(make, [(far.node(), "in", "out")], Sending())

    async def add():
        graph.add_packet_to_input_stream("in", penstock.Packet(1, 0))

    asyncio.run(add())
    graph.close(TIMEOUT)

    assert got == [2]
    assert far.senders == ["own"]


def test_a_call_that_cannot_be_sent_fails_the_run_and_not_the_call_that_adds(make, far) -> None:
    graph, _ = opened(make, [(far.node(), "in", "out")], Sending())
    far.error = ValueError("cannot be packed")

    graph.add_packet_to_input_stream("in", penstock.Packet(1, 0))

    with pytest.raises(GraphRunError, match="cannot be packed"):
        graph.wait_until_idle(TIMEOUT)
    with pytest.raises(GraphRunError):
        graph.wait_until_done(TIMEOUT)


def test_an_interrupt_while_a_call_is_sent_is_the_applications_and_ends_the_run_in_order(make) -> None:
    calls = []

    def process(cc):
        calls.append("process")
        raise KeyboardInterrupt

    node = calculator(process, close=lambda cc: calls.append("close"), name="Broken")
    graph, _ = opened(make, [(node, "in", "out")], Sending())

    with pytest.raises(KeyboardInterrupt):
        graph.add_packet_to_input_stream("in", penstock.Packet(1, 0))

    with pytest.raises(KeyboardInterrupt):
        graph.wait_until_done(TIMEOUT)
    assert calls == ["process", "close"]


def test_a_step_that_waits_for_its_own_graph_is_refused_as_on_other_threads(make) -> None:
    errors = []

    def wait(cc):
        try:
            graph.wait_until_idle(TIMEOUT)
        except penstock.errors.FailedPreconditionError as error:
            errors.append(error)

    graph = make([(calculator(wait, name="Wait"), "in", "out")], "in", threads=0)
    graph.set_executor("", Sending())
    graph.start_run()
    graph.wait_until_idle(TIMEOUT)
    graph.add_packet_to_input_stream("in", penstock.Packet(1, 0))
    graph.close(TIMEOUT)

    assert len(errors) == 1


def test_a_paused_run_sends_nothing_until_it_goes_on(make, far) -> None:
    graph, got = opened(make, [(far.node(), "in", "out")], Sending())
    graph.pause()
    graph.add_packet_to_input_stream("in", penstock.Packet(1, 0))
    assert far.senders == []

    graph.resume()
    graph.close(TIMEOUT)

    assert got == [2]
