"""Threads that start, end and look at one graph at the same time see each run begin and end in one moment."""

from __future__ import annotations

import asyncio
import contextlib
import os
import threading

import pytest

import penstock
from penstock.errors import FailedPreconditionError, GraphRunError, WaitTimeoutError
from penstock.runs import RUNNING
from penstock.runtime import forgotten, graph_runs
from penstock.runtime.running import Running
from penstock_testing import calculator
from penstock_testing.inline import InlineExecutor
from penstock_testing.registry import testing_registry

TIMEOUT = 30
Pass = calculator(lambda cc: cc.output.add_packet(cc.input.packet), name="Pass", offset=0)
GRAPH = 'input_stream: "a" node { calculator: "Pass" input_stream: "a" output_stream: "b" }'


class Slow(InlineExecutor):
    """Does not begin before the test lets it; fails where that asks it to."""

    def __init__(self):
        super().__init__()
        self.asked, self.may_go_on = threading.Event(), threading.Event()
        self.fails = False

    def lend_to(self, work):
        self.asked.set()
        assert self.may_go_on.wait(TIMEOUT)
        if self.fails:
            raise ValueError("no thread")
        return super().lend_to(work)


@pytest.fixture
def graph():
    return penstock.CalculatorGraph(GRAPH, registry=testing_registry(Pass))


@pytest.fixture
def slow(graph):
    executor = Slow()
    graph.set_executor("", executor)
    return executor


def in_thread(call):
    """Call in a thread; return a function that waits for it, and returns its result or error."""
    came: list[object] = []

    def run():
        try:
            came.append(call())
        except Exception as error:  # noqa: BLE001  # returned
            came.append(error)

    thread = threading.Thread(target=run)
    thread.start()

    def result():
        thread.join(TIMEOUT)
        assert not thread.is_alive()
        return came[0]

    return result


def test_a_run_that_is_about_to_begin_is_seen_by_nobody(graph, slow):
    poller = graph.add_output_stream_poller("b")
    started = in_thread(graph.start_run)
    assert slow.asked.wait(TIMEOUT)

    assert (graph.is_running, graph.run_count, poller.queue_size()) == (False, 0, 0)
    for call in (
        graph.cancel,
        lambda: graph.add_packet_to_input_stream("a", penstock.Packet(1, 1)),
        lambda: graph.close_input_stream("a"),
        lambda: poller.next(0),
        graph.ledger,
    ):
        with pytest.raises(FailedPreconditionError, match="start_run"):
            call()
    with pytest.raises(FailedPreconditionError, match="while the graph runs"):
        graph.set_service(penstock.ServiceKey("s"), object())

    slow.may_go_on.set()
    assert started() is None
    assert (graph.is_running, graph.run_count) == (True, 1)
    graph.close(TIMEOUT)


def test_a_run_is_seen_in_the_moment_in_which_it_begins_with_its_lock_held(graph):
    runs, states = graph._runs, []
    begin = runs._begin

    def look(runner, new):
        def is_free():
            taken = runner.lock.acquire(blocking=False)
            if taken:
                runner.lock.release()
            return taken

        states.append((runner.schedule.state, runs.is_running, in_thread(is_free)()))
        begin(runner, new)

    runs._begin = look
    graph.start_run()

    assert states == [(RUNNING, False, False)]
    graph.close(TIMEOUT)


def test_an_interrupt_in_the_moment_in_which_a_run_begins_leaves_nothing_of_it(graph):
    runs, threads, under_way = graph._runs, set(threading.enumerate()), set(forgotten.RUNNING)
    begin = runs._begin

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    runs._begin = interrupted
    with pytest.raises(KeyboardInterrupt):
        graph.start_run()
    assert (graph.is_running, graph.run_count) == (False, 0)
    assert set(threading.enumerate()) <= threads
    assert set(forgotten.RUNNING) <= under_way

    runs._begin = begin
    graph.start_run()
    graph.close(TIMEOUT)


def test_a_thread_waits_only_for_some_time_until_another_has_started_or_ended_a_run(graph, slow, monkeypatch):
    monkeypatch.setattr(graph_runs, "_TURN_S", 0.1)
    started = in_thread(graph.start_run)
    assert slow.asked.wait(TIMEOUT)
    for call in (graph.start_run, lambda: graph.rows("b")):
        with pytest.raises(WaitTimeoutError, match="another thread starts a run of this graph, and still"):
            call()
    slow.may_go_on.set()
    assert started() is None

    graph.close_all_input_streams()
    stops, may_stop = threading.Event(), threading.Event()
    stop = graph._runs.runner.stop
    graph._runs.runner.stop = lambda timeout: (stops.set(), may_stop.wait(TIMEOUT), stop(timeout))
    ended = in_thread(lambda: graph.wait_until_done(TIMEOUT))
    assert stops.wait(TIMEOUT)
    with pytest.raises(WaitTimeoutError, match="another thread ends the run of this graph, and still has"):
        graph.wait_until_done(TIMEOUT)
    may_stop.set()
    assert ended() is None
    graph.wait_until_done(TIMEOUT)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_child_does_not_wait_for_a_thread_of_its_parent(graph, slow):
    started = in_thread(graph.start_run)
    assert slow.asked.wait(TIMEOUT)
    child = os.fork()
    if child == 0:
        status = 1
        try:
            slow.may_go_on.set()
            graph.start_run()
            status = 0 if graph.is_running else 2
        finally:
            os._exit(status)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    slow.may_go_on.set()
    assert started() is None
    graph.close(TIMEOUT)


def test_rows_that_are_asked_for_while_a_run_begins_are_of_that_run(graph, slow):
    started = in_thread(graph.start_run)
    assert slow.asked.wait(TIMEOUT)
    asked = in_thread(lambda: graph.rows("b", timeout=TIMEOUT))
    slow.may_go_on.set()
    assert started() is None

    rows = asked()
    graph.add_packet_to_input_stream("a", penstock.Packet(7, 1))
    graph.close_input_stream("a")
    assert [row["b"] for row in rows] == [7]
    graph.close(TIMEOUT)


def test_of_two_threads_that_start_a_run_one_does(graph, slow):
    first = in_thread(graph.start_run)
    assert slow.asked.wait(TIMEOUT)
    second = in_thread(graph.start_run)
    slow.may_go_on.set()

    assert first() is None
    assert isinstance(second(), FailedPreconditionError)
    assert (graph.is_running, graph.run_count) == (True, 1)
    graph.close(TIMEOUT)


def test_a_thread_starts_the_run_that_another_could_not_start(graph, slow):
    slow.fails = True
    first = in_thread(graph.start_run)
    assert slow.asked.wait(TIMEOUT)
    slow.asked.clear()
    second = in_thread(graph.start_run)
    slow.may_go_on.set()
    assert "no thread" in str(first())
    slow.fails = False  # the second may have come before that

    assert slow.asked.wait(TIMEOUT)
    outcome = second()
    assert outcome is None or "no thread" in str(outcome)
    assert graph.run_count == (outcome is None)
    if outcome is None:
        graph.close(TIMEOUT)


def test_a_start_that_fails_leaves_the_last_run_to_be_looked_at(graph, slow):
    slow.may_go_on.set()
    graph.start_run()
    graph.add_packet_to_input_stream("a", penstock.Packet(1, 1))
    graph.close(TIMEOUT)
    slow.fails = True
    with pytest.raises(penstock.PenstockError, match="no thread"):
        graph.start_run()

    assert [stream.added for stream in graph.snapshot().streams] == [1, 1]
    assert (graph.is_running, graph.run_count) == (False, 1)


def test_a_packet_of_the_last_run_waits_for_its_poller_until_the_next_begins(graph, slow):
    slow.may_go_on.set()
    poller = graph.add_output_stream_poller("b")
    graph.start_run()
    graph.add_packet_to_input_stream("a", penstock.Packet(7, 1))
    graph.close(TIMEOUT)
    slow.may_go_on.clear()
    slow.asked.clear()
    started = in_thread(graph.start_run)
    assert slow.asked.wait(TIMEOUT)

    assert (poller.queue_size(), poller.next(0).payload) == (1, 7)
    poller.set_max_queue_size(3)
    slow.may_go_on.set()
    assert started() is None
    assert poller.queue_size() == 0
    graph.close(TIMEOUT)


def test_a_thread_that_has_waited_for_a_run_does_not_end_the_next(graph, runner_of):
    graph.start_run()
    graph.close(TIMEOUT)
    before = runner_of(graph)
    graph.start_run()

    graph._runs._finish(before)  # what a thread does that was slow to wake

    assert graph.is_running
    graph.add_packet_to_input_stream("a", penstock.Packet(1, 1))
    graph.close(TIMEOUT)


def test_each_thread_that_waits_for_a_run_is_told_of_its_failure_and_it_ends_once(graph, slow):
    slow.may_go_on.set()
    graph.start_run()
    waits = [in_thread(lambda: graph.wait_until_done(TIMEOUT)) for _ in range(3)]
    graph.cancel()
    told = [wait() for wait in waits]

    assert any(isinstance(one, GraphRunError) for one in told)
    assert all(one is None or isinstance(one, GraphRunError) for one in told)
    assert not graph.is_running
    graph.start_run()
    graph.close(TIMEOUT)


def test_rows_know_of_a_run_when_it_has_begun(graph, slow):
    rows = graph.rows("b", timeout=TIMEOUT)
    started = in_thread(graph.start_run)
    assert slow.asked.wait(TIMEOUT)
    read = in_thread(rows.next)
    slow.may_go_on.set()
    assert started() is None
    graph.add_packet_to_input_stream("a", penstock.Packet(7, 1))

    assert read()["b"] == 7
    graph.close(TIMEOUT)


def test_rows_of_a_run_that_could_not_begin_have_none(graph, slow):
    slow.fails = True
    rows = graph.rows("b", timeout=TIMEOUT)
    started = in_thread(graph.start_run)
    assert slow.asked.wait(TIMEOUT)
    read = in_thread(lambda: rows.next(0))
    slow.may_go_on.set()
    assert "no thread" in str(started())

    assert isinstance(read(), FailedPreconditionError)


def test_rows_that_are_closed_while_they_get_their_run_are_not_read(graph, monkeypatch, runner_of):
    rows = graph.rows("b", max_queue_size=1)
    attach = type(rows._reader).attach

    def closed_meanwhile(reader, *given):
        attach(reader, *given)
        in_thread(rows.close)()  # which sees no run yet

    monkeypatch.setattr(type(rows._reader), "attach", closed_meanwhile)
    graph.start_run()

    def add():  # not on the thread that has asked for the rows, which they never keep waiting
        for stamp in range(5):
            graph.add_packet_to_input_stream("a", penstock.Packet(stamp, stamp), timeout=3)
            graph.wait_until_idle(TIMEOUT)

    assert in_thread(add)() is None
    graph.close(TIMEOUT)
    assert graph.ledger().adds_up


def test_of_threads_that_wait_for_observed_output_one_takes_notice(graph):
    poller = graph.add_output_stream_poller("b")
    graph.start_run()
    waits = [in_thread(lambda: graph.wait_for_observed_output(TIMEOUT)) for _ in range(2)]
    graph.add_packet_to_input_stream("a", penstock.Packet(1, 1))
    graph.wait_until_idle(TIMEOUT)
    graph.close(TIMEOUT)
    told = [wait() for wait in waits]

    assert told.count(None) == 1
    assert {str(one) for one in told} - {"None"} == {"the graph's run is done, nothing more will be observed"}
    assert poller.queue_size() == 1


def test_a_run_that_another_thread_pauses_as_it_begins_stays_paused(graph, monkeypatch, watching_threads):
    graph.set_executor("", watching_threads(1))
    is_under_way = Running._is_under_way

    def paused_meanwhile(run):
        monkeypatch.undo()
        in_thread(graph.pause)()
        return is_under_way(run)

    async def block():
        async with graph.running() as run:
            monkeypatch.setattr(Running, "_is_under_way", paused_meanwhile)
            await asyncio.sleep(0)  # the loop would let the nodes work now
            state = graph.snapshot().state
            graph.resume()
            await run.add("a", 7, 1)
            return state

    assert asyncio.run(block()) == "paused"


def test_an_interrupt_at_the_lock_of_a_start_keeps_no_other_thread_waiting(graph, monkeypatch):
    enter, its_lock = threading.Condition.__enter__, type(threading.RLock())

    def interrupted(condition):
        enter(condition)
        if isinstance(condition._lock, its_lock):
            raise KeyboardInterrupt  # as the interpreter may, before the `with` has begun
        return True

    monkeypatch.setattr(threading.Condition, "__enter__", interrupted)
    with contextlib.suppress(KeyboardInterrupt):
        graph.start_run()
    monkeypatch.undo()

    assert in_thread(lambda: graph.run_count)() in {0, 1}
    graph.close(TIMEOUT)
