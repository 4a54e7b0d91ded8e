"""Failure policies of nodes in other processes: errors, time-outs, and workers that die."""

from __future__ import annotations

import gc
import multiprocessing
import os
import random
import signal
import threading
import time
from multiprocessing.connection import wait as wait_for_any
from pathlib import Path

import pytest
import trouble
from test_waits import wait_until

import penstock

pytestmark = pytest.mark.heavy

PATIENCE_S = 30.0
WORKERS = """executor { name: "workers" type: "ProcessExecutor"
    options { [penstock_processes.ProcessExecutorOptions.ext] { num_processes: %d cancel_grace_s: 0.2 } } }"""
THERE = 'executor: "workers"'


def descriptors():
    return len(list(Path("/proc/self/fd").iterdir()))


@pytest.fixture
def there(driven):
    """Make a `Driven` whose node is in a worker."""

    def make(calculator, failure, node="", processes=1):
        return driven(calculator, failure, f"{THERE} {node}", WORKERS % processes)

    return make


@pytest.mark.parametrize("kind", ["Trouble", "AsyncTrouble"])
def test_policies_are_those_of_nodes_here(there, kind):
    run = there(kind, 'on_error: SKIP error_stream: "errors"')
    assert run.run("a", "bad", "c") == [("a", 1), ("c", 3)]
    assert run.skipped() == {"skipped: ValueError": 1}
    (failure,) = run.graph.failures()
    assert "payload bad" in failure.error
    assert "trouble.py" in failure.traceback
    assert (10, failure) in run.errors
    restarted = there(kind, "on_error: RESTART")
    assert restarted.run("a", "bad", "c", "d") == [("a", 1), ("c", 1), ("d", 2)]
    options = "node_options { [type.googleapis.com/trouble.SteadyOptions] { word: 'calm' } }"
    fallen = there(kind, f'on_error: FALL_BACK fallback {{ calculator: "Steady" {options} }}')
    assert fallen.run("a", "bad", "c") == [("a", 1), ("bad", "calm"), ("c", "calm")]


def test_a_set_whose_worker_died_is_skipped_and_the_worker_is_restarted(there):
    run = there("Trouble", 'on_error: SKIP error_stream: "errors"')
    assert run.run("a", "die", "c", "d") == [("a", 1), ("c", 1), ("d", 2)]
    assert run.skipped() == {"skipped: WorkerDiedError": 1}
    (failure,) = run.graph.failures()
    assert failure.kind == "WorkerDiedError"
    assert "was killed by SIGKILL in process() at 10" in failure.error
    assert [stamp for stamp, one in run.errors if one is not None] == [10]
    assert run.graph.counters["Trouble-restarts"] == 1


def test_a_set_whose_worker_died_is_tried_again_where_the_policy_says_so(there):
    run = there("Trouble", "on_error: RESTART retry: 1 max_restarts: 10")
    run.run("a", "die", "c")
    assert run.out == [("a", 1), ("c", 1)]
    assert [str(failure.action) for failure in run.graph.failures()] == ["restart", "restart"]


def test_a_dead_worker_of_several_nodes_is_restarted_for_each(registry):
    node = 'node { calculator: "Trouble" executor: "workers" failure { on_error: SKIP } '
    graph = penstock.CalculatorGraph(
        f"""input_stream: "in" {WORKERS % 1}
        {node} input_stream: "in" output_stream: "middle" }}
        {node} input_stream: "middle" output_stream: "out" }}""",
        registry=registry,
    )
    seen = []
    graph.observe_output_stream("out", lambda _, packet: seen.append(packet.payload[0][0]))
    graph.start_run()
    for number, payload in enumerate(["a", "die", "c", "d"]):
        graph.add_packet_to_input_stream("in", penstock.Packet(payload, number))
        graph.wait_until_idle(PATIENCE_S)
    graph.close(PATIENCE_S)
    assert seen[:1] == ["a"]
    assert seen[-1] == "d"
    assert graph.ledger().adds_up


def test_a_call_that_takes_too_long_costs_its_worker_if_it_does_not_listen(there):
    run = there("Trouble", "on_error: SKIP timeout_ms: 300")
    began = time.monotonic()
    assert run.run("a", "sleep", "c") == [("a", 1), ("c", 1)]
    assert time.monotonic() - began < 10
    assert run.skipped() == {"skipped: TimeoutError": 1}
    assert "timeout_ms, 300" in run.graph.failures()[0].error


def test_a_coroutine_that_takes_too_long_is_cancelled_and_its_worker_lives(there):
    run = there("AsyncTrouble", "on_error: SKIP timeout_ms: 300")
    assert run.run("a", "sleep", "c") == [("a", 1), ("c", 3)]
    assert run.skipped() == {"skipped: TimeoutError": 1}


def slow(**options):
    words = " ".join(
        f'{name}: "{value}"' if isinstance(value, str) else f"{name}: {value}"
        for name, value in options.items()
    )
    return f"node_options {{ [type.googleapis.com/trouble.SlowEndsOptions] {{ {words} }} }}"


def test_an_open_that_takes_too_long_costs_its_worker_and_ends_the_run(there):
    run = there("SlowEnds", "open_timeout_ms: 500", slow(open_s=60.0))
    began = time.monotonic()
    run.run("a")
    assert time.monotonic() - began < PATIENCE_S
    assert "open() failed: TimeoutError: open() took longer than its open_timeout_ms, 500" in str(run.error)


def test_an_open_that_takes_too_long_is_made_again_in_a_new_worker(there, tmp_path):
    options = slow(open_s=60.0, made=str(tmp_path / "made"))
    run = there("SlowEnds", "on_error: RESTART max_restarts: 10 open_timeout_ms: 3000", options)
    assert run.run("a", "b") == [("a", 1), ("b", 2)]
    assert run.error is None
    failure, *_ = run.graph.failures()
    assert (failure.method, failure.kind, str(failure.action)) == ("open", "TimeoutError", "restart")


def test_a_close_that_takes_too_long_costs_its_worker_and_the_run_ends(there):
    run = there("SlowEnds", "on_error: SKIP close_timeout_ms: 300", slow(close_s=60.0))
    assert run.run("a", "b") == [("a", 1), ("b", 2)]
    assert run.error is None, "nothing is left to close"
    (failure,) = run.graph.failures()
    assert (failure.method, failure.kind) == ("close", "TimeoutError")
    assert "close() took longer than its close_timeout_ms, 300" in failure.error


def test_a_close_that_takes_too_long_is_the_error_of_a_run_without_another_policy(there):
    run = there("SlowEnds", "close_timeout_ms: 300", slow(close_s=60.0))
    assert run.run("a") == [("a", 1)]
    assert "close() failed: TimeoutError: close() took longer than its close_timeout_ms, 300" in str(
        run.error
    )


def test_an_object_that_is_replaced_gets_no_longer_to_close(there):
    run = there("SlowEnds", "on_error: RESTART close_timeout_ms: 300", slow(close_s=60.0))
    assert run.run("a", "bad", "c") == [("a", 1), ("c", 1)]
    methods = [(failure.method, failure.kind) for failure in run.graph.failures()]
    assert methods == [("process", "ValueError"), ("close", "TimeoutError"), ("close", "TimeoutError")]


def test_calls_in_time_are_as_without_a_limit(there):
    limits = "open_timeout_ms: 30000 close_timeout_ms: 30000 timeout_ms: 30000"
    run = there("SlowEnds", f"on_error: SKIP {limits}", slow(open_s=0.01, close_s=0.01))
    assert run.run("a", "b") == [("a", 1), ("b", 2)]
    assert run.error is None
    assert not run.graph.failures()


def test_a_fallback_that_cannot_go_to_a_worker_is_refused_at_the_start(there, registry):
    class Local(trouble.Steady):
        """Cannot be imported elsewhere."""

    registry.add("calculator", "Local", Local)
    run = there("Trouble", 'on_error: FALL_BACK fallback { calculator: "Local" }')
    with pytest.raises(penstock.PenstockError, match="cannot be imported by another process"):
        run.graph.start_run()


def test_a_fallback_takes_over_where_workers_die(there):
    run = there("Trouble", 'on_error: FALL_BACK fallback { calculator: "Steady" }')
    assert run.run("a", "die", "c") == [("a", 1), ("die", "steady"), ("c", "steady")]


def test_why_says_in_which_worker_a_guarded_call_is(there):
    run = there("Trouble", "on_error: SKIP timeout_ms: 20000")
    run.graph.start_run()
    run.graph.add_packet_to_input_stream("in", penstock.Packet("sleep", 0))
    wait_until(lambda: "is in worker 1 (pid " in str(run.graph.why()), "the call")
    run.graph.cancel()
    with pytest.raises(penstock.PenstockError):
        run.graph.wait_until_done(PATIENCE_S)


def killed_at_random(there, calculator, failure, kills, seed):
    """Kill workers at random moments while packets come; every set is delivered or skipped."""
    rng = random.Random(seed)  # noqa: S311  # a test's order
    gc.collect()
    there_are = (descriptors(), len(threading.enumerate()))
    run = there(calculator, failure, "max_in_flight: 3", processes=2)
    graph = run.graph
    graph.start_run()
    wait_until(multiprocessing.active_children, "the workers")
    done = threading.Event()

    def feed():
        number = 0
        while not done.is_set():
            graph.add_packet_to_input_stream("in", penstock.Packet(number, number))
            number += 1
        graph.close_all_input_streams()

    feeder = threading.Thread(target=feed)
    feeder.start()
    try:
        for _ in range(kills):
            time.sleep(rng.uniform(0.0, 0.05))
            seen = len(run.out)
            children = multiprocessing.active_children()
            if children:
                os.kill(rng.choice(children).pid, signal.SIGKILL)
            began = time.monotonic()
            wait_until(lambda seen=seen: len(run.out) > seen, "packets after a kill")
            assert time.monotonic() - began < PATIENCE_S
    finally:
        done.set()
        feeder.join(PATIENCE_S)
    graph.wait_until_done(PATIENCE_S)
    ledger = graph.ledger()
    assert ledger.adds_up
    stamps = [one // 2 if calculator == "Doubled" else one[0] for one in run.out]
    assert stamps == sorted(stamps)
    added = next(stream.added for stream in ledger.streams if stream.name == "in")
    assert len(stamps) + sum(run.skipped().values()) == added
    assert set(run.skipped()) <= {"skipped: WorkerDiedError"}
    graph.close(PATIENCE_S)
    gc.collect()
    assert not multiprocessing.active_children()
    return there_are, (descriptors(), len(threading.enumerate())), run.skipped()


@pytest.mark.parametrize("calculator", ["Trouble", "Doubled"])  # one object, and one in each worker
@pytest.mark.parametrize("failure", ["on_error: SKIP", "on_error: RESTART retry: 20"])
def test_workers_killed_at_random_cost_their_sets_only(there, calculator, failure):
    multiprocessing.get_context("forkserver").Process(target=int).start()
    for child in multiprocessing.active_children():
        child.join(PATIENCE_S)
    before, after, skipped = killed_at_random(there, calculator, f"{failure} max_restarts: 1000", 5, seed=18)
    assert after == before
    if "retry" in failure:
        assert not skipped


@pytest.mark.slow
@pytest.mark.parametrize("calculator", ["Trouble", "Doubled"])
@pytest.mark.parametrize("failure", ["on_error: SKIP", "on_error: RESTART retry: 20", "on_error: RESTART"])
def test_two_hundred_workers_killed_at_random(there, calculator, failure):
    multiprocessing.get_context("forkserver").Process(target=int).start()
    for child in multiprocessing.active_children():
        child.join(PATIENCE_S)
    before, after, _ = killed_at_random(there, calculator, f"{failure} max_restarts: 100000", 200, seed=2)
    assert after == before


def test_skip_goes_on_after_more_deaths_than_restarts_are_allowed(there):
    run = there("Trouble", "on_error: SKIP max_restarts: 1")
    graph, said = run.graph, []
    graph.start_run()
    for number in range(6):
        payload = "die" if number % 2 else f"fine {number}"
        graph.add_packet_to_input_stream("in", penstock.Packet(payload, number))
    # The second death is beyond the limit: the node rests, and says so.
    wait_until(lambda: "beyond the 1 in 60 s of max_restarts" in str(graph.why()), "no word of the limit")
    said.append(str(graph.why()))
    graph.close_all_input_streams()
    graph.wait_until_done(PATIENCE_S)

    assert [word for word, _ in run.out] == ["fine 0", "fine 2", "fine 4"]
    assert run.skipped() == {"skipped: WorkerDiedError": 3}
    assert "is resting for" in said[0]
    assert graph.ledger().adds_up


@pytest.mark.parametrize(
    ("policy", "action"),
    [
        ("on_error: RESTART", "none"),
        ("on_error: SKIP", "none"),
        ("on_error: FAIL retry: 3", "fail"),
        ('on_error: FALL_BACK fallback { calculator: "Steady" }', "fail"),
    ],
)
def test_a_worker_that_died_after_its_last_packet_has_nothing_left_to_close(there, policy, action):
    before = set(multiprocessing.active_children())
    run = there("Trouble", policy)
    run.graph.start_run()
    run.graph.add_packet_to_input_stream("in", penstock.Packet("a", 0))
    run.graph.wait_until_idle(PATIENCE_S)
    (worker,) = set(multiprocessing.active_children()) - before
    os.kill(worker.pid, signal.SIGKILL)
    # `join` reads how the process ended, which only one of two threads can: here the graph's
    assert wait_for_any([worker.sentinel], PATIENCE_S)

    run.graph.close_all_input_streams()
    if action == "none":
        run.graph.wait_until_done(PATIENCE_S)
    else:
        with pytest.raises(
            penstock.errors.GraphRunError, match=r"close\(\) failed: .* was killed by SIGKILL"
        ):
            run.graph.wait_until_done(PATIENCE_S)

    assert run.out == [("a", 1)]
    assert run.actions() == [action]
    (failure,) = run.graph.failures()
    assert (failure.method, failure.kind) == ("close", "WorkerDiedError")
    assert run.graph.ledger().adds_up
