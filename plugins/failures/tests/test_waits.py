"""Pauses, time-outs and what can be seen of them: why(), the trace, cancelling."""

from __future__ import annotations

import asyncio
import time
from concurrent.futures import Future
from itertools import pairwise

import pytest
import trouble

import penstock
from penstock.errors import GraphConfigError, GraphRunError, InvalidArgumentError
from penstock.tracing import Tracer
from penstock_failures.waiting import in_time

PATIENCE_S = 30.0


def wait_until(condition, what):
    end = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < end, what
        time.sleep(0.005)


def add(run, payload, at=0):
    run.graph.add_packet_to_input_stream("in", penstock.Packet(payload, at))


def test_tries_pause_and_each_pause_is_twice_as_long(driven):
    trouble.LEFT["b"] = 3
    run = driven("Trouble", "on_error: SKIP retry: 3 backoff_ms: 20")
    run.run("a", "b")
    times = [failure.at_ns / 1e6 for failure in run.graph.failures()]
    gaps = [after - before for before, after in pairwise(times)]
    assert gaps[0] >= 19
    assert gaps[1] >= 39
    assert run.out == [("a", 1), ("b", 5)]


def test_restarts_are_allowed_again_when_the_last_ones_are_long_ago(driven):
    run = driven("Trouble", "on_error: RESTART max_restarts: 1 within_s: 1 then: SKIP")
    run.graph.start_run()
    for number, payload in enumerate(["bad", "b", "bad", "d"]):
        add(run, payload, number)
        run.graph.wait_until_idle(PATIENCE_S)
    assert run.out == [("b", 1)]
    time.sleep(1.1)  # the restart was then more than within_s ago
    add(run, "e", 4)
    run.graph.wait_until_idle(PATIENCE_S)
    assert run.out == [("b", 1), ("e", 1)]
    assert run.graph.counters["Trouble-restarts"] == 2


def test_a_source_without_restarts_left_ends_the_run(registry):
    trouble.LEFT.update({2: 1, 5: 1})
    graph = penstock.CalculatorGraph(
        """node { calculator: "Camera" output_stream: "out"
            failure { on_error: RESTART max_restarts: 1 within_s: 1 then: FAIL } }""",
        registry=registry,
    )
    graph.start_run()
    with pytest.raises(GraphRunError, match="5"):
        graph.wait_until_done(PATIENCE_S)
    assert trouble.Camera.at == 5
    graph.close()


@pytest.mark.timing
def test_a_success_ends_the_row_of_pauses(driven):
    payloads = [f"p{n}" for n in range(6)]
    trouble.LEFT.update(dict.fromkeys(payloads, 1))
    run = driven("Trouble", "on_error: SKIP retry: 1 backoff_ms: 40")
    began = time.monotonic()
    assert len(run.run(*payloads)) == 6
    assert time.monotonic() - began < 6 * 0.08  # doubled each time it would be 2.5 s


@pytest.mark.parametrize("kind", ["Trouble", "AsyncTrouble"])
def test_why_says_that_a_node_is_to_be_restarted(driven, kind):
    run = driven(kind, "on_error: RESTART retry: 1 backoff_ms: 20000")
    run.graph.start_run()
    trouble.LEFT["b"] = 1
    add(run, "b")
    wait_until(lambda: "resting" in str(run.graph.why()), "the pause")
    story = str(run.graph.why())
    assert f"node '{kind}': process() at 0 is resting for " in story
    assert "to be restarted (1 of 3 in 60 s) after ValueError: payload b (at trouble.py:" in story
    began = time.monotonic()
    run.graph.cancel()
    with pytest.raises(GraphRunError):
        run.graph.wait_until_done(PATIENCE_S)
    assert time.monotonic() - began < 5
    assert [str(error) for error in run.graph.why().errors] == ["the run was cancelled"]


def test_a_pause_uses_no_thread_of_the_executor(driven):
    extra = 'node { calculator: "PassThroughCalculator" input_stream: "in" output_stream: "other" }'
    run = driven("Trouble", "on_error: SKIP retry: 1 backoff_ms: 20000", graph=f"num_threads: 1 {extra}")
    seen = []
    run.graph.observe_output_stream("other", lambda _, packet: seen.append(packet.payload))
    run.graph.start_run()
    add(run, "bad")
    wait_until(lambda: "resting" in str(run.graph.why()), "the pause")
    add(run, "x", 10)
    wait_until(lambda: seen == ["bad", "x"], "the other node")
    run.graph.cancel()
    with pytest.raises(GraphRunError):
        run.graph.wait_until_done(PATIENCE_S)


def test_a_coroutine_that_takes_too_long_fails(driven, events):
    run = driven("AsyncTrouble", 'on_error: SKIP timeout_ms: 50 error_stream: "errors"')
    assert run.run("a", "sleep", "c") == [("a", 1), ("c", 3)]
    assert run.skipped() == {"skipped: TimeoutError": 1}
    assert "took longer than its timeout_ms, 50" in run.graph.failures()[0].error


def slow(word):
    return f"node_options {{ [type.googleapis.com/trouble.SlowEndsOptions] {{ {word}: 60.0 }} }}"


def test_a_coroutine_that_opens_for_too_long_fails(driven):
    run = driven("AsyncSlowEnds", "open_timeout_ms: 50", slow("open_s"))
    run.run("a")
    assert "open() failed: TimeoutError: open() took longer than its open_timeout_ms, 50" in str(run.error)


@pytest.mark.parametrize("policy", ["FAIL", "SKIP"])
def test_a_coroutine_that_closes_for_too_long_fails(driven, policy):
    run = driven("AsyncSlowEnds", f"on_error: {policy} close_timeout_ms: 50", slow("close_s"))
    assert run.run("a", "b") == [("a", 1), ("b", 2)]
    assert "close() failed: TimeoutError: close() took longer than its close_timeout_ms, 50" in str(run.error)


def test_other_methods_have_no_limit_of_timeout_ms(driven):
    options = "node_options { [type.googleapis.com/trouble.SlowEndsOptions] { open_s: 0.2 close_s: 0.2 } }"
    run = driven("AsyncSlowEnds", "timeout_ms: 50", options)
    assert run.run("a", "b") == [("a", 1), ("b", 2)]
    assert run.error is None


class Call(Future):
    """A call of a process that takes it when it was asked three times whether it has begun."""

    asked = 0

    def is_starting(self):
        self.asked += 1
        if self.asked == 3:
            self.set_result(7)
        return self.asked <= 3

    def cancel(self):
        self.set_exception(OSError("it was killed"))
        return False


def test_the_start_of_a_process_is_no_part_of_its_open():
    assert asyncio.run(in_time(Call(), 0.001, "open")) == 7, (
        "asked 20 times a second, so the start took longer"
    )

    late = Call()
    late.asked = 3
    with pytest.raises(TimeoutError, match=r"open\(\) took longer than its open_timeout_ms, 1") as caught:
        asyncio.run(in_time(late, 0.001, "open"))
    assert isinstance(caught.value.__cause__, OSError)


@pytest.mark.parametrize("method", ["open", "close"])
def test_an_open_and_a_close_on_a_thread_of_this_process_cannot_have_a_limit(driven, method):
    words = f"{method}_timeout_ms cannot end a call .*, make its {method}\\(\\) async, or take "
    with pytest.raises(GraphConfigError, match=words):
        driven("Trouble", f"on_error: SKIP {method}_timeout_ms: 50")


@pytest.mark.parametrize("kind", ["Trouble", "FutureTrouble"])
def test_a_call_on_a_thread_of_this_process_cannot_have_a_time_out(driven, kind):
    with pytest.raises(GraphConfigError, match="timeout_ms cannot end a call that runs on a thread"):
        driven(kind, "on_error: SKIP timeout_ms: 50")


def test_an_executor_that_is_handed_in_is_asked_when_the_run_starts(driven):
    run = driven("Trouble", "timeout_ms: 50", graph='executor { name: "mine" }', node='executor: "mine"')
    from penstock_executors.thread_pool import ThreadPoolExecutor

    run.graph.set_executor("mine", ThreadPoolExecutor(1))
    with pytest.raises(InvalidArgumentError, match="node 'Trouble': failure: timeout_ms"):
        run.graph.start_run()


def test_why_looks_into_a_coroutine_with_a_policy(driven):
    run = driven("AsyncTrouble", "on_error: SKIP timeout_ms: 20000")
    run.graph.start_run()
    add(run, "sleep")
    wait_until(lambda: "trouble.py" in str(run.graph.why()), "the call")
    run.graph.cancel()
    with pytest.raises(GraphRunError):
        run.graph.wait_until_done(PATIENCE_S)


class Seen(Tracer):
    def __init__(self):
        self.steps = []
        self.drops = []

    def step_ended(self, step):
        if step.method != "observe":
            self.steps.append((step.method, step.timestamp, step.error))

    def packets_dropped(self, dropped):
        self.drops.append((dropped.stream, dropped.reason, dropped.count))


@pytest.mark.parametrize("kind", ["Trouble", "AsyncTrouble"])
def test_the_trace_has_each_try(driven, kind):
    trouble.LEFT["b"] = 2
    run = driven(kind, "on_error: SKIP retry: 1")
    tracer = Seen()
    run.graph.set_tracer(tracer)
    run.run("a", "b", "c")
    assert [step[:2] for step in tracer.steps] == [
        ("open", None), ("process", 0), ("process", 10), ("process", 10), ("process", 20), ("close", None),
    ]  # fmt: skip
    assert [step[2] is not None for step in tracer.steps] == [False, False, True, True, False, False]
    assert ("in", "skipped: ValueError", 1) in tracer.drops
