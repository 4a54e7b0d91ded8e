"""What each policy does about calls that fail in this process, of all three kinds of calculators."""

from __future__ import annotations

import threading

import pytest
import trouble

import penstock
from penstock.errors import FailedPreconditionError
from penstock_builder import Graph
from penstock_failures import Failure, FailureAction, guard
from penstock_failures.guard import NodeGuard

KINDS = ("Trouble", "AsyncTrouble", "FutureTrouble")


@pytest.mark.parametrize("kind", KINDS)
def test_skip_consumes_the_failed_set_and_goes_on_with_the_same_object(driven, kind, events):
    run = driven(kind, 'on_error: SKIP error_stream: "errors"')
    assert run.run("a", "bad", "c") == [("a", 1), ("c", 3)]
    assert run.error is None
    assert run.skipped() == {"skipped: ValueError": 1}
    assert events == ["open", "close"]
    (failure,) = run.graph.failures()
    assert isinstance(failure, Failure)
    assert (failure.node, failure.calculator, failure.method) == (kind, kind, "process")
    assert (failure.timestamp, failure.kind, failure.tries, failure.action) == (
        10,
        "ValueError",
        1,
        FailureAction.SKIP,
    )
    assert failure.error.startswith("ValueError: payload bad (at trouble.py:")
    assert failure.traceback.startswith("Traceback")
    assert failure.traceback.endswith("ValueError: payload bad\n")
    assert (10, failure) in run.errors
    assert [stamp for stamp, payload in run.errors if payload is not None] == [10]
    assert run.graph.counters[f"{kind}-failures"] == run.graph.counters[f"{kind}-skipped"] == 1


@pytest.mark.parametrize("kind", KINDS)
def test_retry_calls_again_with_the_same_set(driven, kind, events):
    run = driven(kind, 'on_error: SKIP retry: 2 error_stream: "errors"')
    trouble.LEFT.update({"b": 2, "d": 3})
    assert run.run("a", "b", "c", "d", "e") == [("a", 1), ("b", 4), ("c", 5), ("e", 9)]
    assert run.actions() == ["retry", "retry", "retry", "retry", "skip"]
    assert [failure.tries for failure in run.graph.failures()] == [1, 2, 1, 2, 3]
    reported = [(stamp, failure.tries) for stamp, failure in run.errors if failure is not None]
    assert reported == [(10, 2), (30, 3)]
    assert events == ["open", "close"]


@pytest.mark.parametrize("kind", KINDS)
def test_restart_opens_a_new_object_and_skips_the_set(driven, kind, events):
    run = driven(kind, "on_error: RESTART")
    assert run.run("a", "bad", "c", "d") == [("a", 1), ("c", 1), ("d", 2)]
    assert events == ["open", "close", "open", "close"]
    assert run.skipped() == {"skipped: ValueError": 1}
    assert run.actions() == ["restart"]
    assert run.graph.counters[f"{kind}-restarts"] == 1


@pytest.mark.parametrize("kind", KINDS)
def test_restart_with_retry_loses_no_set_where_the_new_object_succeeds(driven, kind, events):
    trouble.LEFT["b"] = 1
    run = driven(kind, "on_error: RESTART retry: 1")
    assert run.run("a", "b", "c") == [("a", 1), ("b", 1), ("c", 2)]
    assert run.skipped() == {}


@pytest.mark.parametrize("kind", KINDS)
def test_without_restarts_left_the_run_fails(driven, kind):
    run = driven(kind, "on_error: RESTART max_restarts: 2")
    run.run("bad", "b", "bad", "d", "bad", "f")
    assert run.out == [("b", 1), ("d", 1)]
    assert run.error.node == kind
    assert "payload bad" in str(run.error)
    assert run.actions() == ["restart", "restart", "fail"]


@pytest.mark.parametrize("kind", KINDS)
def test_without_restarts_left_sets_are_skipped_where_the_policy_says_so(driven, kind, events):
    run = driven(kind, "on_error: RESTART max_restarts: 1 then: SKIP")
    assert run.run("bad", "b", "bad", "d", "e") == [("b", 1)]
    assert run.skipped() == {"skipped: ValueError": 2, "skipped: no restart is left": 2}
    assert events == ["open", "close", "open", "close"]


@pytest.mark.parametrize("kind", KINDS)
def test_fall_back_goes_on_with_the_other_calculator_from_the_failed_set_on(driven, kind, events):
    options = "node_options { [type.googleapis.com/trouble.SteadyOptions] { word: 'calm' } }"
    run = driven(
        kind, f'on_error: FALL_BACK fallback {{ calculator: "Steady" {options} }} error_stream: "errors"'
    )
    assert run.run("a", "bad", "c") == [("a", 1), ("bad", "calm"), ("c", "calm")]
    assert events == ["open", "close", "steady opens"]
    assert run.actions() == ["fall back"]
    assert run.skipped() == {}
    assert [stamp for stamp, failure in run.errors if failure is not None] == [10]


def test_what_the_fallback_does_not_manage_ends_the_run_or_is_skipped(driven):
    run = driven("Trouble", 'on_error: FALL_BACK fallback { calculator: "Steady" }')
    trouble.LEFT["both"] = 1
    run.run("a", "both", "c")
    assert "neither" in str(run.error)
    assert [failure.calculator for failure in run.graph.failures()] == ["Trouble", "Steady"]
    skipping = driven("Trouble", 'on_error: FALL_BACK then: SKIP fallback { calculator: "Steady" }')
    trouble.LEFT["both"] = 1
    assert skipping.run("a", "both", "c") == [("a", 1), ("c", "steady")]
    assert skipping.skipped() == {"skipped: ArithmeticError": 1}


def test_restarts_may_end_in_the_fallback(driven, events):
    run = driven(
        "Trouble", 'on_error: RESTART max_restarts: 1 then: FALL_BACK fallback { calculator: "Steady" }'
    )
    assert run.run("bad", "b", "bad", "d") == [("b", 1), ("bad", "steady"), ("d", "steady")]
    assert run.actions() == ["restart", "fall back"]


def test_the_next_run_begins_with_the_nodes_own_calculator(driven):
    run = driven("Trouble", 'on_error: FALL_BACK fallback { calculator: "Steady" }')
    assert run.run("bad", "b") == [("bad", "steady"), ("b", "steady")]
    run.out.clear()
    assert run.run("a") == [("a", 1)]
    assert run.graph.failures() == ()


def test_a_failed_call_takes_back_its_bounds_and_closes(driven):
    run = driven("Bounds", "on_error: SKIP")
    assert run.run("a", "bad", "c") == [("a", 1), ("c", 3)]


def test_fail_with_retry_ends_the_run_after_the_last_try(driven):
    trouble.LEFT.update(b=1, c=2)
    run = driven("Trouble", "retry: 1")
    run.run("a", "b", "c", "d")
    assert run.out == [("a", 1), ("b", 3)]
    assert run.error.timestamp == 20
    assert run.actions() == ["retry", "retry", "fail"]


def test_an_interrupt_is_never_skipped(driven):
    run = driven("Trouble", "on_error: SKIP retry: 5")
    run.graph.start_run()
    run.graph.add_packet_to_input_stream("in", penstock.Packet("leave", 0))
    with pytest.raises(KeyboardInterrupt):
        run.graph.close(30)
    assert run.graph.failures() == ()


# --- open and close ---------------------------------------------------------------------------


def test_a_first_open_that_fails_is_tried_again_with_a_new_object(driven, events):
    trouble.LEFT["open"] = 2
    run = driven("FailsToOpen", "on_error: RESTART backoff_ms: 1")
    assert run.run("a") == [("a", 1)]
    assert events == ["try to open"] * 3 + ["close"]
    assert [failure.method for failure in run.graph.failures()] == ["open", "open"]


@pytest.mark.parametrize(
    "failure", ["on_error: SKIP", "on_error: RESTART max_restarts: 1 then: SKIP", "retry: 0"]
)
def test_what_never_opens_has_nothing_to_skip(driven, events, failure):
    trouble.LEFT["open"] = 9
    run = driven("FailsToOpen", failure)
    run.run("a")
    assert "open() failed: OSError: no device" in str(run.error)
    tries = 2 if "RESTART" in failure else 1
    assert run.actions() == ["restart"] * (tries - 1) + ["fail"]
    assert events == ["try to open"] * tries


def test_an_open_that_fails_again_costs_restarts_not_tries(driven, events):
    run = driven("FailsToOpen", "on_error: RESTART retry: 1 max_restarts: 3")
    run.graph.start_run()
    run.graph.wait_until_idle(30)
    trouble.LEFT.update({"open": 2, "b": 1})
    run.graph.add_packet_to_input_stream("in", penstock.Packet("b", 0))
    run.graph.wait_until_idle(30)
    assert run.out == [("b", 1)]
    assert events == ["try to open", "close", "try to open", "try to open", "try to open"]
    assert run.actions() == ["restart"] * 3


def test_a_fallback_takes_over_where_open_fails(driven):
    trouble.LEFT["open"] = 9
    run = driven("FailsToOpen", 'on_error: FALL_BACK fallback { calculator: "Steady" }')
    assert run.run("a") == [("a", "steady")]


def test_a_close_that_fails_is_an_error_of_the_run(driven):
    run = driven("FailsToClose", "on_error: SKIP")
    run.run("a")
    assert "close() failed: OSError: cannot be closed" in str(run.error)
    assert [(f.method, str(f.action)) for f in run.graph.failures()] == [("close", "fail")]


def test_an_object_that_is_replaced_may_fail_to_close(driven):
    run = driven("FailsToClose", "on_error: RESTART")
    run.run("bad", "b")
    assert run.out == [("b", 1)]
    first, second, third = run.graph.failures()
    assert (first.method, str(first.action)) == ("process", "restart")
    assert (second.method, str(second.action)) == ("close", "none")
    assert (third.method, str(third.action)) == ("close", "fail")  # the new object's


def test_a_second_open_must_not_write(driven):
    run = driven("WritesInOpen", "on_error: RESTART")
    run.run("a", "bad", "c")
    assert run.out == ["opened", ("a", 1)]
    assert "open() wrote packets when the node was opened again" in str(run.error)


@pytest.mark.parametrize("more", ["", "max_in_flight: 2"])
def test_a_second_open_may_promise_what_the_first_one_has_promised(driven, more):
    run = driven("Promises", "on_error: RESTART retry: 1", node=more)
    trouble.LEFT["b"] = 1
    assert [payload for payload, _ in run.run("a", "b", "c")] == ["a", "b", "c"]


def test_after_a_second_open_the_streams_are_where_they_were(driven):
    run = driven("Promises", "on_error: RESTART max_restarts: 1")
    run.run("a", "bad", "early")
    assert "packet at 0 is behind the bound 1" in str(run.error)


# --- sources, overlapping calls, groups of nodes ----------------------------------------------------


def test_a_source_goes_on_after_a_restart(registry, events):
    trouble.LEFT.update({3: 1, 7: 2})
    graph = penstock.CalculatorGraph(
        'node { calculator: "Camera" output_stream: "out" failure { on_error: RESTART backoff_ms: 1 } }',
        registry=registry,
    )
    seen = []
    graph.observe_output_stream("out", lambda _, packet: seen.append(packet.payload))
    graph.start_run()
    graph.wait_until_done(30)
    assert seen == list(range(10))
    assert events == ["open", "close"] * 4
    graph.close()


@pytest.mark.parametrize("kind", KINDS)
def test_overlapping_calls_keep_their_order(driven, kind, events):
    payloads = [f"p{n}" for n in range(200)]
    trouble.LEFT.update(dict.fromkeys(payloads[::7], 1))
    run = driven(kind, "on_error: RESTART retry: 3 max_restarts: 1000", node="max_in_flight: 4")
    assert [payload for payload, _ in run.run(*payloads)] == payloads
    opened = events.count("open")
    assert events.count("close") == opened >= 2
    assert run.graph.counters[f"{kind}-restarts"] == opened - 1


def test_a_call_that_begins_while_its_object_is_given_up_is_made_with_the_next_one(
    driven, events, monkeypatch
):
    enter, is_first = NodeGuard._enter, iter([True])

    def just_too_late(node, input_set):
        if next(is_first, False):
            node._stage = guard._STALE  # as a call that fails on another thread does
        return enter(node, input_set)

    monkeypatch.setattr(NodeGuard, "_enter", just_too_late)
    run = driven("Trouble", "on_error: RESTART", node="max_in_flight: 2")
    assert run.run("a") == [("a", 1)]
    assert events == ["open", "close"] * 2


def test_an_object_is_closed_when_no_overlapping_call_uses_it(driven, events):
    payloads = [f"p{n}" for n in range(120)]
    trouble.LEFT.update(dict.fromkeys(payloads[::5], 1))
    policy = "on_error: RESTART retry: 9 max_restarts: 1000"
    run = driven("Exclusive", policy, node="max_in_flight: 4", graph="num_threads: 4")
    assert [payload for payload, _ in run.run(*payloads)] == payloads
    assert set(events) == {"open", "close"}


def test_a_function_has_a_policy_too(driven):
    run = driven("Doubled", "on_error: SKIP")
    assert run.run(1, -1, 3) == [2, 6]
    assert run.graph.failures()[0].error.startswith("ValueError: -1 is negative (at trouble.py:")


def test_an_error_stream_is_settled_as_far_as_the_inputs(driven):
    run = driven("Bounds", 'on_error: SKIP error_stream: "errors"')  # has no offset
    run.graph.start_run()
    for number, payload in enumerate(["a", "b"]):
        run.graph.add_packet_to_input_stream("in", penstock.Packet(payload, 10 * number))
        run.graph.wait_until_idle(30)
        assert run.errors[-1] == (10 * number, None)


def test_an_input_set_that_is_taken_late_is_taken_once(driven):
    trouble.LEFT["b"] = 2
    handler = 'input_stream_handler { input_stream_handler: "FixedSizeInputStreamHandler" }'
    run = driven("Trouble", "on_error: SKIP retry: 2", node=handler)
    run.graph.start_run()
    for number, payload in enumerate("abc"):
        run.graph.add_packet_to_input_stream("in", penstock.Packet(payload, number))
        run.graph.wait_until_idle(30)
    run.graph.close(30)
    assert [payload for payload, _ in run.out] == ["a", "b", "c"]
    assert run.graph.ledger().adds_up


def test_in_a_subgraph_the_error_stream_gets_the_name_outside(registry):
    inner = """type: "Inner" input_stream: "x" output_stream: "y" output_stream: "ERRORS:wrong"
        node { calculator: "Trouble" input_stream: "x" output_stream: "y"
               failure { on_error: SKIP error_stream: "wrong" } }"""
    graph = penstock.CalculatorGraph(
        'input_stream: "in" node { calculator: "Inner" input_stream: "in" output_stream: "out" '
        'output_stream: "ERRORS:faults" }',
        registry=registry,
        subgraphs={"Inner": inner},
    )
    seen = []
    graph.observe_output_stream("faults", lambda _, packet: seen.append(packet.payload.kind))
    graph.start_run()
    graph.add_packet_to_input_stream("in", penstock.Packet("bad", 0))
    graph.close(30)
    assert seen == ["ValueError"]


def test_failures_before_a_run_say_what_is_missing(driven):
    with pytest.raises(FailedPreconditionError, match="start_run"):
        driven("Trouble", "on_error: SKIP").graph.failures()


def test_a_graph_of_the_builder_has_policies_and_their_streams(registry):
    g = Graph(registry)
    node = g.node(
        "Trouble",
        g.input("in"),
        failure={
            "on_error": "FALL_BACK",
            "retry": 1,
            "fallback": trouble.Steady,
            "fallback_options": trouble.SteadyOptions("calm"),
        },
    )
    g.output(node.outputs[0], "out")
    g.output(node.failures, "faults")
    seen, faults = [], []
    with penstock.CalculatorGraph(g, registry=registry) as graph:
        graph.observe_output_stream("out", lambda _, packet: seen.append(packet.payload))
        graph.observe_output_stream("faults", lambda _, packet: faults.append(packet.payload.tries))
        graph.start_run()
        graph.add_packet_to_input_stream("in", penstock.Packet("bad", 0))
    assert seen == [("bad", "calm")]
    assert faults == [2]


@pytest.mark.parametrize(
    "policy", ["on_error: RESTART", 'on_error: FALL_BACK fallback { calculator: "Steady" }']
)
def test_what_may_be_done_with_the_object_changes_under_the_lock_only(driven, monkeypatch, policy):
    changes: list[bool] = []

    def watched(guard, name, value):
        if name == "_stage" and hasattr(
            guard, "_stage"
        ):  # the first one is set before anybody knows the guard
            changes.append(guard._lock.locked())
        object.__setattr__(guard, name, value)

    monkeypatch.setattr(NodeGuard, "__setattr__", watched, raising=False)
    run = driven("Trouble", policy)
    run.run("a", "bad", "c")
    assert len(changes) >= 4  # opened, stale, empty, opened
    assert all(changes)


def test_failures_are_read_by_another_thread_while_calls_fail(driven):
    run = driven("Trouble", "on_error: SKIP")
    is_over = threading.Event()
    read = []

    def look():
        while not is_over.is_set():
            read.append(len(run.graph.failures()))

    reader = threading.Thread(target=look)
    run.graph.start_run()
    reader.start()
    try:
        for number in range(1_100):
            run.graph.add_packet_to_input_stream("in", penstock.Packet("bad", number))
        run.graph.close(20)
    finally:
        is_over.set()
        reader.join(20)

    assert read == sorted(read)
    assert len(run.graph.failures()) == 1_000
    assert run.graph.counters["Trouble-failures"] == 1_100
