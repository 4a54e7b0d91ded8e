"""Changes of one node by several threads: none is lost, and each keeps the other ones."""

from __future__ import annotations

import threading

import pytest

import penstock
from penstock.runs import runs_of
from penstock_steering.steering import Steering

PATIENCE_S = 30.0


def in_thread(call):
    """Call in a thread; return a function that waits for it, and returns its result or error."""
    came = []

    def run():
        try:
            came.append(call())
        except Exception as error:  # noqa: BLE001  # returned
            came.append(error)

    thread = threading.Thread(target=run)
    thread.start()

    def result():
        thread.join(PATIENCE_S)
        assert not thread.is_alive()
        return came[0]

    return result


def in_thread_now(call):
    """Return a function that calls in a thread and waits for it."""

    def run():
        in_thread(call)()

    return run


@pytest.fixture
def meanwhile(monkeypatch):
    """Let something be done while the first change that follows has been made, and does not count yet."""
    made = Steering._new

    def arrange(act):
        left = [act]

        def new(self, *given):
            found = made(self, *given)
            if left:
                left.pop()()
            return found

        monkeypatch.setattr(Steering, "_new", new)

    return arrange


@pytest.mark.parametrize("has_run", [False, True])
@pytest.mark.parametrize("method", ["set_options", "swap"])
def test_of_two_changes_at_the_same_time_none_is_lost(steered, meanwhile, has_run, method):
    one = steered("Gain" if method == "swap" else "Tuned")
    if has_run:
        one.graph.start_run()
        one.feed(1)
    change = getattr(one.graph, method)
    meanwhile(in_thread_now(lambda: change("n", {"offset": 3})))
    change("n", {"gain": 10})
    if not has_run:
        one.graph.start_run()
        one.feed(1)
    one.feed(2)

    assert one.end() == [(1, 1 if has_run else 13), (2, 23)]


def test_a_change_while_another_thread_starts_a_run_counts_in_that_run(steered, meanwhile):
    one = steered("Tuned")

    def start():
        one.graph.start_run()
        one.feed(1)

    meanwhile(in_thread_now(start))
    assert one.graph.set_options("n", {"gain": 10}) == 2
    one.feed(2)

    assert one.end() == [(1, 1), (2, 20)]


def test_a_change_waits_until_it_is_known_whether_a_run_begins(steered, monkeypatch):
    one = steered("Tuned")
    one.graph.set_options("n", {"offset": 1})
    steering = runs_of(one.graph).steering
    has_planned, may_go_on = threading.Event(), threading.Event()
    prepare = steering.prepare

    def slow(new, runner):
        has_planned.set()
        assert may_go_on.wait(PATIENCE_S)
        prepare(new, runner)

    monkeypatch.setattr(steering, "prepare", slow)
    started = in_thread(one.graph.start_run)
    assert has_planned.wait(PATIENCE_S)
    changed = in_thread(lambda: one.graph.set_options("n", {"gain": 10}))
    may_go_on.set()
    assert started() is None
    assert changed() != penstock.Timestamp.UNSTARTED
    one.feed(2)

    assert one.end() == [(2, 21)]


def test_a_graph_has_one_steering_whichever_threads_ask_first(steered):
    one = steered("Tuned")
    runs = runs_of(one.graph)
    first = Steering(runs.plan, None)

    assert runs.steer(first) is first
    assert runs.steer(Steering(runs.plan, None)) is first


def test_a_change_that_has_just_come_into_effect_is_what_the_next_begins_from(steered, monkeypatch):
    one = steered("Tuned")
    one.graph.start_run()
    one.feed(1)
    one.graph.set_options("n", {"gain": 10})
    steered_node = runs_of(one.graph).steering._steered["n"]
    takes, told = steered_node._change_options, []

    def look(version, step):
        told.append(steered_node.before(None).node is version.wanted.node)
        return takes(version, step)

    monkeypatch.setattr(steered_node, "_change_options", look)
    one.feed(2)
    one.end()

    assert told == [True]


def test_a_reset_does_not_end_a_run_that_another_thread_has_begun(steered, monkeypatch):
    one = steered("Tuned")
    one.graph.start_run()
    one.graph.set_options("n", {"offset": 1})
    runs = runs_of(one.graph)
    keep_all = runs.steering.keep_all

    def end_and_start_again(schedule, runner):
        monkeypatch.undo()
        keep_all(schedule, runner)
        asked.append(in_thread(lambda: (one.end(), one.graph.start_run())))

    asked = []
    monkeypatch.setattr(runs.steering, "keep_all", end_and_start_again)
    with pytest.raises(penstock.errors.FailedPreconditionError, match="while the graph runs"):
        _reset_after(one.graph, asked)
    assert (one.graph.is_running, one.graph.run_count) == (True, 2)
    one.feed(5)

    assert one.end() == [(5, 5)]


def _reset_after(graph, asked):
    """Reset, where the wait for the old run ends only after another thread has begun the next."""
    runs = runs_of(graph)
    wait, resetting = runs.wait_until_done, threading.get_ident()

    def slow(timeout=None, runner=None):
        if threading.get_ident() == resetting:  # the other thread waits for the old run by this function too
            asked[0]()
        wait(timeout, runner)

    runs.wait_until_done = slow
    try:
        graph.reset(timeout=PATIENCE_S)
    finally:
        runs.wait_until_done = wait


def test_only_the_run_of_a_reset_takes_over_what_was_kept(steered):
    one = steered("Tuned")
    one.graph.set_options("n", {"offset": 1})
    steering = runs_of(one.graph).steering
    with steering.keeping():
        assert steering.keeps
        assert in_thread(lambda: steering.keeps)() is False
    assert not steering.keeps
