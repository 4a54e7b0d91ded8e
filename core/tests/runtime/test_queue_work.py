"""What a thread asks before it sleeps, and what it looks at between steps."""

from __future__ import annotations

from math import inf
from time import perf_counter

import pytest

import penstock
from penstock import CalculatorGraph, Packet
from penstock.engine.run_state import PAUSED, RUNNING, TERMINATED
from penstock.engine.stream import StreamObserver
from penstock.errors import GraphRunError
from penstock.runtime.runner import waiting
from penstock.runtime.runner.queue_work import QueueWork
from penstock_testing import calculator, testing_registry

TIMEOUT = 20


@pytest.fixture
def runner(runner_of):
    """Return the runner of a graph whose node runs in waits only, so that what is ready stays so."""
    graph = CalculatorGraph(
        'input_stream: "a" node { calculator: "Nothing" input_stream: "a" }',
        registry=testing_registry(calculator(name="Nothing")),
    )
    graph.start_run()
    graph.wait_until_idle(TIMEOUT)
    yield graph, runner_of(graph)
    graph.close(TIMEOUT)


def test_a_ready_step_keeps_it_awake_unless_the_run_stands_still(runner):
    graph, running = runner
    work, schedule = running.works[0], running.schedule
    assert not work.has_ready()

    graph.add_packet_to_input_stream("a", Packet(1, 1))

    assert work.has_ready()
    for state in (PAUSED, TERMINATED):
        schedule.state = state
        assert not work.has_ready()
    schedule.state = RUNNING
    graph.wait_until_idle(TIMEOUT)
    assert not work.has_ready()


def test_an_observer_that_has_something_to_see_keeps_it_awake_in_any_state(runner):
    _, running = runner
    work, schedule = running.works[0], running.schedule
    schedule.deliveries.append(StreamObserver("a", None))

    for state in (PAUSED, TERMINATED, RUNNING):
        schedule.state = state
        assert work.has_ready()

    schedule.deliveries.clear()
    assert not work.has_ready()


def test_a_ready_source_keeps_it_awake(runner):
    _, running = runner
    work = running.works[0]

    work.queue.sources.append((0, 0, 0))

    assert work.has_ready()
    work.queue.sources.clear()


def test_a_change_without_news_notifies_no_waiting_thread(runner, monkeypatch):
    _, running = runner
    notified = []
    monkeypatch.setattr(type(running.changed), "notify_all", lambda _: notified.append(1))
    running.waiters += 1

    for has_news in (False, True):
        running.schedule.has_news = has_news
        with running.lock:
            running.after_change([])
        assert notified == [1] * has_news

    running.waiters -= 1


def test_before_a_light_step_waiting_threads_are_notified_now_and_then_only(runner, monkeypatch):
    graph, running = runner
    work, schedule = running.works[0], running.schedule
    graph.add_packet_to_input_stream("a", Packet(1, 1))
    notified = []
    monkeypatch.setattr(type(running.changed), "notify_all", lambda _: notified.append(1))
    running.waiters += 1
    work.is_watched = True
    with running.lock:
        work._come_back()
        step = schedule.take(work.queue)
        step.node.slowness = 0
        for quiet_until in (inf, 0.0):
            schedule.has_news = True
            running.quiet_until = quiet_until
            QueueWork._look_around(work, step, False)
            assert notified == [1] * (quiet_until == 0.0)
    running.waiters -= 1
    running.complete_here(step, None, stop=False)


def test_only_the_first_sleep_of_a_wait_for_idle_asks_to_be_woken_before_the_run_is_idle(runner, monkeypatch):
    _, running = runner
    monkeypatch.setattr(waiting, "_LOOK_AGAIN_S", 0.001)
    for is_for_idle in (False, True):
        seen = []

        def looks_before_and_after_two_sleeps(seen=seen):
            seen.append(running.wakes_early)
            running.wakes_early = False
            return len(seen) == 4

        how = {"is_for_idle": True} if is_for_idle else {}
        running.wait(looks_before_and_after_two_sleeps, None, "the test", **how)
        assert seen == [False, is_for_idle, False, False]


def test_observers_that_take_long_twice_leave_the_steps_to_another_thread(runner):
    graph, running = runner
    work = running.works[0]
    graph.add_packet_to_input_stream("a", Packet(1, 1))
    work.is_watched = True

    class Target:
        has_failed = False
        took_s = 0.0

        def call(self, _):
            until = perf_counter() + self.took_s
            while perf_counter() < until:
                pass

    observer = StreamObserver("a", Target())

    def drain(took_s):
        observer.target.took_s = took_s
        observer.queue.append(Packet(1, 1))
        work._drain_all([observer])

    def wakes():
        with running.lock:
            work._come_back()
            running.schedule.deliveries.append(observer)
            _, claimed, wake, _ = QueueWork._look_around(work, None, False)
        assert claimed == [observer]
        return wake

    assert wakes() == []
    drain(0.001)
    assert wakes() == []
    drain(0.001)
    assert wakes() == [work]
    while work._slow_deliveries:  # other work may take the processor from a short one too
        drain(0.0)
    assert wakes() == []


@pytest.mark.parametrize("lease_says", [{}, {"watches": True}])
def test_while_a_step_runs_another_thread_is_asked_for_unless_sleeping_ones_watch(lease_says):
    class Counting(penstock.Executor):
        wakes = 0

        def lend_to(self, work):
            self.work = work
            return type("Counted", (_Lease,), lease_says)(self)

    class _Lease(penstock.ExecutorLease):
        def __init__(self, executor):
            self._executor = executor

        def wake(self):
            self._executor.wakes += 1

        def stop(self, timeout=None):
            return True

    asked = []
    opens = calculator(open=lambda _: asked.append(executor.wakes), name="Opens")
    text = 'input_stream: "a" ' + 'node { calculator: "Opens" input_stream: "a" } ' * 2
    graph = CalculatorGraph(text, registry=testing_registry(opens))
    executor = Counting()
    graph.set_executor("", executor)
    graph.start_run()

    assert executor.work.step()  # it opens one node, while the other is ready

    assert asked == ([1] if lease_says else [2])
    assert executor.wakes == asked[0] + 1  # for the step that it leaves
    graph.cancel()
    executor.work.run()
    with pytest.raises(GraphRunError):
        graph.wait_until_done(TIMEOUT)


def test_a_lease_that_says_nothing_helps_sends_and_watches_nothing():
    class Plain(penstock.ExecutorLease):
        def wake(self):
            pass

        def stop(self, timeout=None):
            return True

    lease = Plain()
    assert (lease.helps, lease.help()) == (False, False)
    assert (lease.sends, lease.may_send()) == (False, False)
    assert (lease.watches, lease.thread_count()) == (False, None)
