"""What is reported to a tracer and when, tracers that raise, and runs without one, which pay nothing."""

from __future__ import annotations

import asyncio
import concurrent.futures
import gc
import logging
import sys
import threading
import weakref
from collections import Counter
from typing import Any

import pytest

import penstock
from penstock.engine.flow import FlowControl
from penstock.engine.stream import InputStream
from penstock.errors import FailedPreconditionError, GraphRunError, InvalidArgumentError
from penstock.runtime.runner.runner import Runner
from penstock.runtime.tracing import TracedFlow, Tracing, _in_words
from penstock.tracing import Tracer
from penstock_testing import calculator, testing_registry

TIMEOUT = 20
Packet = penstock.Packet
Pass = calculator(lambda cc: cc.output.add_packet(cc.input.packet), name="Pass", offset=0)
Join = calculator(name="Join", offset=0)


class Listening(Tracer):
    """Keeps what is reported to it and, with `is_locked`, whether the lock of the run was held then."""

    def __init__(self) -> None:
        self.reports: list[tuple[str, Any]] = []
        self.had_lock: list[bool] = []
        self.graph: Any = None
        self.is_locked: Any = None

    def _note(self, what, about):
        self.reports.append((what, about))
        if self.is_locked is not None:
            self.had_lock.append(self.is_locked(self.graph))

    def run_started(self, run):
        self._note("run_started", run)

    def run_ended(self, run, error):
        self._note("run_ended", error)

    def step_started(self, step):
        assert step.ended_ns == 0
        self._note("step_started", step)

    def step_ended(self, step):
        self._note("step_ended", step)

    def packet_added(self, added):
        self._note("packet_added", added)

    def packets_dropped(self, dropped):
        self._note("packets_dropped", dropped)

    def queue_changed(self, changed):
        self._note("queue_changed", changed)

    def of(self, what: str) -> list[Any]:
        return [about for kind, about in self.reports if kind == what]

    def steps(self, node: str = "") -> list[Any]:
        return [step for step in self.of("step_ended") if node in ("", step.node)]


def listened(graph) -> Listening:
    tracer = Listening()
    tracer.graph = graph
    graph.set_tracer(tracer)
    return tracer


def run_once(graph, count: int = 3) -> None:
    graph.start_run()
    for i in range(count):
        graph.add_packet_to_input_stream("in", Packet([i], i))
    graph.close(TIMEOUT)


def fails(cc):
    if cc.input.payload == [1]:
        raise ArithmeticError("no ones")


# --- without one --------------------------------------------------------------------------------


def test_a_run_without_tracer_calls_the_calculators_themselves(make, runner_of) -> None:
    graph = make([(Pass, "in", "out")], "in")
    listened(graph)
    graph.set_tracer(None)
    graph.start_run()
    runner = runner_of(graph)
    (node,) = runner.schedule.nodes

    assert type(runner) is Runner
    assert node.process == node.calculator.process
    assert node.close == node.calculator.close
    assert type(node.inputs[0]) is InputStream
    assert type(runner.schedule.flow) is FlowControl
    graph.close(TIMEOUT)


def test_a_timed_run_is_not_a_traced_one(make, runner_of) -> None:
    graph = make([(Pass, "in", "out")], "in")
    graph.set_timing()
    run_once(graph)

    assert type(runner_of(graph)) is Runner
    assert graph.snapshot().nodes[0].busy_s > 0


# --- what is reported ---------------------------------------------------------------------------


@pytest.mark.parametrize("threads", [0, 2])
def test_each_step_is_reported_with_its_packets(make, threads) -> None:
    graph = make([(Pass, "in", "a"), (Pass, "a", "b"), (Join, "A:a B:b")], "in", threads=threads)
    tracer = listened(graph)
    run_once(graph)

    kinds = [what for what, _ in tracer.reports]
    assert (kinds[0], kinds[-1]) == ("run_started", "run_ended")
    assert [(s.method, s.timestamp) for s in tracer.steps("Join")] == [
        ("open", None), ("process", 0), ("process", 1), ("process", 2), ("close", None),
    ]  # fmt: skip
    step = tracer.steps("Join")[2]
    assert (step.calculator, step.error, step.is_awaited, step.outputs) == ("Join", None, False, ())
    assert [mark[:2] for mark in step.inputs] == [("a", 1), ("b", 1)]
    assert [mark[:2] for mark in tracer.steps("Pass_1")[2].outputs] == [("a", 1)]
    assert tracer.steps("Pass_1")[2].outputs == tracer.steps("Pass_2")[2].inputs
    assert [mark[:2] for mark in (added.mark for added in tracer.of("packet_added"))] == [
        ("in", 0), ("in", 1), ("in", 2),
    ]  # fmt: skip
    assert [added.mark for added in tracer.of("packet_added")] == [
        mark for step in tracer.steps("Pass_1") for mark in step.inputs
    ]
    assert len(tracer.of("step_started")) == len(tracer.steps()) == 15


def test_each_step_is_reported_on_its_thread_before_and_after_it(make) -> None:
    where: list[tuple[str, int]] = []
    steps: list[Any] = []
    watching = calculator(lambda cc: where.append(("process", threading.get_ident())), name="Watching")
    graph = make([(watching, "in")], "in")

    class Watcher(Tracer):
        def step_started(self, step):
            where.append((f"started {step.method}", threading.get_ident()))

        def step_ended(self, step):
            where.append((f"ended {step.method}", threading.get_ident()))
            steps.append(step)

    graph.set_tracer(Watcher())
    run_once(graph, 1)

    (thread,) = {ident for what, ident in where if "process" in what}
    assert thread != threading.get_ident()
    assert {step.thread for step in steps if step.method == "process"} == {thread}
    assert all(0 < step.began_ns < step.ended_ns for step in steps)
    assert [what for what, _ in where if "process" in what] == [
        "started process", "process", "ended process",
    ]  # fmt: skip


def test_nothing_is_reported_while_the_lock_is_held(make, is_locked) -> None:
    drops = calculator(lambda cc: cc.input.count_dropped("unwanted"), name="Drops", offset=0)
    graph = make([(Pass, "in", "a"), (drops, "a")], "in", "max_queue_size: 1")
    graph.observe_output_stream("a", lambda *_: None)
    tracer = listened(graph)
    tracer.is_locked = is_locked
    run_once(graph, 10)

    assert {"packet_added", "packets_dropped", "queue_changed"} <= {what for what, _ in tracer.reports}
    assert set(tracer.had_lock) == {False}


def test_a_source_has_no_input_timestamp_and_its_stop_is_an_ordinary_end(make) -> None:
    def process(cc):
        cc.output.add("only", 5)
        return penstock.STOP

    graph = make([(calculator(process, name="Once"), "", "out"), (Join, "out")])
    tracer = listened(graph)
    graph.run(timeout=TIMEOUT)

    (step,) = [step for step in tracer.steps("Once") if step.method == "process"]
    assert (step.timestamp, step.error, [mark[:2] for mark in step.outputs]) == (None, None, [("out", 5)])


def test_what_open_and_close_write_is_reported_too(make) -> None:
    talks = calculator(
        open=lambda cc: cc.output.add("hello", 1),
        close=lambda cc: cc.output.add("bye", 9),
        name="Talks",
    )
    graph = make([(talks, "in", "out"), (Join, "out")], "in")
    tracer = listened(graph)
    run_once(graph, 0)

    assert [(s.method, [mark[1] for mark in s.outputs]) for s in tracer.steps("Talks")] == [
        ("open", [1]),
        ("close", [9]),
    ]


def test_the_queues_behind_an_input_set_are_reported(make) -> None:
    graph = make([(Join, "in")], "in", threads=0)
    tracer = listened(graph)
    run_once(graph, 3)

    assert [(s.method, s.queued) for s in tracer.steps()] == [
        ("open", (("in", 3),)),
        ("process", (("in", 2),)),
        ("process", (("in", 1),)),
        ("process", (("in", 0),)),
        ("close", (("in", 0),)),
    ]


def test_a_call_of_an_observer_is_a_step_of_its_stream(make) -> None:
    graph = make([(Pass, "in", "out")], "in")
    seen: list[object] = []
    graph.observe_output_stream("out", lambda _, packet: seen.append(packet.payload))
    tracer = listened(graph)
    run_once(graph, 2)

    steps = [step for step in tracer.steps("out") if step.method == "observe"]
    assert seen == [[0], [1]]
    assert [(s.calculator, s.timestamp, [mark[:2] for mark in s.inputs]) for s in steps] == [
        ("", 0, [("out", 0)]),
        ("", 1, [("out", 1)]),
    ]


def test_an_observer_that_fails_is_an_error_of_the_run_and_of_its_step(make) -> None:
    graph = make([(Pass, "in", "out")], "in")

    def refuse(name, packet):
        raise ArithmeticError("unwanted")

    graph.observe_output_stream("out", refuse)
    tracer = listened(graph)
    with pytest.raises(GraphRunError, match=r"observer of stream 'out' failed: ArithmeticError: unwanted"):
        run_once(graph, 1)

    (step,) = [step for step in tracer.steps("out") if step.method == "observe"]
    assert step.error == "ArithmeticError: unwanted"


def test_dropped_packets_are_reported_as_the_ledger_has_them(make) -> None:
    drops = calculator(lambda cc: cc.input.count_dropped("unwanted"), name="Drops", offset=0)
    graph = make([(drops, "in")], "in")
    tracer = listened(graph)
    run_once(graph, 3)

    reported = [(one.stream, one.node, one.reason, one.count) for one in tracer.of("packets_dropped")]
    assert reported == [("in", "Drops", "unwanted", 1)] * 3
    assert [(drop.stream, drop.reason, drop.count) for drop in graph.ledger().drops] == [
        ("in", "unwanted", 3)
    ]


def test_queues_that_throttle_are_reported_when_they_are_full_and_when_no_longer(make) -> None:
    graph = make([(Join, "in")], "in", "max_queue_size: 2", threads=0)
    graph.graph_input_stream_add_mode = "ADD_IF_NOT_FULL"
    tracer = listened(graph)
    run_once(graph, 2)

    assert [(q.stream, q.node, q.length, q.is_full) for q in tracer.of("queue_changed")] == [
        ("in", "Join", 2, True),
        ("in", "Join", 1, False),
    ]


def test_a_queue_that_throttles_no_source_is_not_reported(make) -> None:
    tracing = Tracing(Tracer(), make([(Join, "in")], "in")._plan)
    flow = TracedFlow(tracing)
    queue = InputStream("loop", None, flow)
    flow.became_full(queue)
    flow.became_free(queue)
    assert not tracing._noted
    queue.throttles = frozenset((0,))
    flow.became_full(queue)
    flow.became_free(queue)
    assert [(what, about.node, about.is_full) for what, about in tracing._noted] == [
        ("queue_changed", "", True), ("queue_changed", "", False),
    ]  # fmt: skip


def test_a_packet_is_reported_when_it_has_been_added_and_a_bound_is_not(make) -> None:
    graph = make([(Join, "in")], "in", threads=0)
    tracer = listened(graph)
    graph.start_run()
    graph.add_packet_to_input_stream("in", Packet("a packet", 1))
    assert [added.mark[:2] for added in tracer.of("packet_added")] == [("in", 1)]
    graph.add_packet_to_input_stream("in", Packet(timestamp=7))
    graph.close(TIMEOUT)

    assert len(tracer.of("packet_added")) == 1


def test_a_late_packet_is_reported_with_the_timestamp_that_it_got(make) -> None:
    graph = make([(Join, "in")], "in")
    graph.set_late_packet_mode("in", "CLAMP")
    tracer = listened(graph)
    graph.start_run()
    for stamp in (5, 3):
        graph.add_packet_to_input_stream("in", Packet("late", stamp))
    with pytest.raises(InvalidArgumentError):
        graph.add_packet_to_input_stream("in", Packet("nowhere", penstock.Timestamp.DONE))
    graph.set_input_stream_timestamp_bound("in", 10)
    graph.close(TIMEOUT)

    assert [added.mark[:2] for added in tracer.of("packet_added")] == [("in", 5), ("in", 6)]


def test_time_is_added_up_in_a_traced_run_as_in_any_other(make) -> None:
    graph = make([(Pass, "in", "out")], "in")
    tracer = listened(graph)
    run_once(graph)
    assert graph.snapshot().nodes[0].busy_s == 0
    graph.set_timing()
    run_once(graph)

    process = [step for step in tracer.steps() if step.method == "process"][3:]
    assert 0 < graph.snapshot().nodes[0].busy_s * 1e9 < sum(s.ended_ns - s.began_ns for s in process)


# --- steps that are awaited ---------------------------------------------------------------------


def test_an_awaited_step_ends_when_its_coroutine_does(make, async_all) -> None:
    graph = make([(async_all, "in", "out"), (Join, "out")], "in")
    tracer = listened(graph)
    graph.start_run()
    graph.add_packet_to_input_stream("in", Packet(4, 4))
    graph.close(TIMEOUT)

    steps = tracer.steps("AsyncAll")
    assert [(s.method, s.is_awaited, s.error) for s in steps] == [
        ("open", True, None), ("process", True, None), ("close", True, None),
    ]  # fmt: skip
    assert [mark[:2] for mark in steps[1].inputs] == [("in", 4)]
    assert [mark[:2] for mark in steps[1].outputs] == [("out", 4)]
    assert list(steps[1].outputs) == [mark for s in tracer.steps("Join") for mark in s.inputs]


def test_a_future_that_fails_ends_its_step_with_the_error(make) -> None:
    futures: list[concurrent.futures.Future[None]] = []

    def process(cc):
        futures.append(concurrent.futures.Future())
        return futures[-1]

    graph = make([(calculator(process, name="Later"), "in")], "in", threads=0)
    tracer = listened(graph)
    graph.start_run()
    graph.add_packet_to_input_stream("in", Packet(0, 0))
    with pytest.raises(penstock.WaitTimeoutError):
        graph.wait_until_idle(0)  # runs what is ready, here
    assert [step.method for step in tracer.steps()] == ["open"]
    futures[0].set_exception(ArithmeticError())
    with pytest.raises(GraphRunError):
        graph.close(TIMEOUT)

    (step,) = [step for step in tracer.steps() if step.method == "process"]
    assert (step.is_awaited, step.error, step.outputs) == (True, "ArithmeticError", ())


def test_an_outcome_that_is_none_ends_its_step_with_the_error(make) -> None:
    graph = make([(calculator(lambda cc: "what", name="Talks"), "in")], "in")
    tracer = listened(graph)
    with pytest.raises(GraphRunError):
        run_once(graph, 1)

    (step,) = [step for step in tracer.steps() if step.method == "process"]
    assert step.error.startswith("InvalidArgumentError: node 'Talks': process() returned 'what'; it must")


def test_a_coroutine_that_no_loop_runs_ends_its_step_with_the_error(make, async_all) -> None:
    graph = make([(async_all, "in", "out")], "in")
    loop = asyncio.new_event_loop()
    graph.set_event_loop(loop)
    tracer = listened(graph)
    with pytest.raises(GraphRunError, match="the event loop given with set_event_loop is not running"):
        run_once(graph, 0)
    loop.close()

    (step,) = tracer.steps()
    assert step.error.startswith("FailedPreconditionError: the event loop given with set_event_loop")


def test_a_step_that_is_cancelled_ends_once(make) -> None:
    started = threading.Event()

    async def process(cc):
        started.set()
        await asyncio.Event().wait()

    graph = make([(calculator(process, name="Waits"), "in")], "in")
    tracer = listened(graph)
    graph.start_run()
    graph.add_packet_to_input_stream("in", Packet(0, 0))
    assert started.wait(TIMEOUT)
    graph.cancel()
    with pytest.raises(GraphRunError):
        graph.wait_until_done(TIMEOUT)

    (step,) = [step for step in tracer.steps() if step.method == "process"]
    assert step.error == "CancelledError"
    assert tracer.reports[-1] == ("run_ended", "the graph run failed: the run was cancelled")


# --- ends ---------------------------------------------------------------------------------------


def test_a_step_that_fails_is_reported_with_its_error_and_without_what_it_wrote(make) -> None:
    def process(cc):
        cc.output.add("lost", cc.input_timestamp)
        fails(cc)

    graph = make([(calculator(process, name="Fails"), "in", "out")], "in")
    tracer = listened(graph)
    with pytest.raises(GraphRunError):
        run_once(graph)

    step = tracer.steps("Fails")[2]
    assert (step.error, step.outputs) == ("ArithmeticError: no ones", ())
    what, error = tracer.reports[-1]
    assert what == "run_ended"
    assert "node 'Fails' (Fails): process() failed at 1: ArithmeticError: no ones" in error


def test_an_error_whose_text_fails_is_reported_by_its_type() -> None:
    class SpeechlessError(Exception):
        def __str__(self):
            raise ValueError("no words")

    assert [_in_words(error) for error in (SpeechlessError(), KeyError(), KeyError("k"))] == [
        "SpeechlessError: no text, since its __str__ raised ValueError", "KeyError", "KeyError: 'k'",
    ]  # fmt: skip


def test_each_run_has_a_number_of_its_own(make, runner_of) -> None:
    graph = make([(Join, "in")], "in")
    tracer = listened(graph)
    run_once(graph)
    run_once(graph)

    first, second = tracer.of("run_started")
    assert first.number < second.number
    assert (first.graph, tracer.of("run_ended")) == ("graph", [None, None])
    assert {step.run for step in tracer.steps()} == {first, second}
    runner_of(graph).stop()
    assert len(tracer.of("run_ended")) == 2


def test_a_run_that_cannot_start_has_ended(make) -> None:
    class Refuses(penstock.Executor):
        def lend_to(self, work):
            raise ArithmeticError("no threads")

    graph = make([(Join, "in")], "in", threads=0)
    graph.set_executor("", Refuses())
    tracer = listened(graph)
    with pytest.raises(penstock.PenstockError, match="no threads"):
        graph.start_run()

    assert [what for what, _ in tracer.reports] == ["run_started", "run_ended"]


def test_a_run_that_did_not_begin_to_start_does_not_end_either(make) -> None:
    graph = make([(Join, "in")], "in")
    tracer = listened(graph)
    rows = graph.rows("in", side_packets={})  # they are for a run that the rows start
    with pytest.raises(penstock.errors.FailedPreconditionError, match=r"side_packets of rows\(\)"):
        graph.start_run()

    assert (tracer.reports, rows.waits_for_run) == ([], True)


def test_the_end_of_a_run_whose_graph_is_gone_is_reported(make) -> None:
    ended = threading.Event()

    class Waiting(Tracer):
        def run_ended(self, run, error):
            self.error = error
            ended.set()

    graph = penstock.CalculatorGraph(
        'input_stream: "in" node { calculator: "Join" input_stream: "in" }',
        registry=testing_registry(Join),
    )
    tracer = Waiting()
    graph.set_tracer(tracer)
    graph.start_run()
    del graph
    gc.collect()

    assert ended.wait(TIMEOUT)
    assert tracer.error == "the graph run failed: the run was cancelled"


# --- several tracers ------------------------------------------------------------------------------


def test_tracers_are_called_in_the_order_in_which_they_were_added(make) -> None:
    graph = make([(Join, "in")], "in")
    calls: list[str] = []

    class Named(Tracer):
        def __init__(self, name: str) -> None:
            self.name = name

        def step_started(self, step):
            calls.append(f"{self.name} started {step.method}")

        def step_ended(self, step):
            calls.append(f"{self.name} ended {step.method}")

    first = Named("first")
    graph.set_tracer(first)
    graph.add_tracer(Named("second"))
    graph.add_tracer(first)
    run_once(graph, 0)

    assert graph.tracer is first
    assert calls == [
        "first started open", "second started open", "first ended open", "second ended open",
        "first started close", "second started close", "first ended close", "second ended close",
    ]  # fmt: skip


def test_set_tracer_replaces_all_tracers(make) -> None:
    graph = make([(Join, "in")], "in")
    first, second, last = Listening(), Listening(), Listening()
    graph.add_tracer(first)
    graph.add_tracer(second)
    graph.set_tracer(last)
    run_once(graph)

    assert (first.reports, second.reports, len(last.steps())) == ([], [], 5)


# --- tracers that do not do well ----------------------------------------------------------------


@pytest.mark.parametrize(
    "method",
    ["run_started", "run_ended", "step_started", "step_ended", "packet_added", "packets_dropped"],
)
def test_a_tracer_that_raises_is_logged_once_and_gets_nothing_more_of_that_run(make, caplog, method) -> None:
    drops = calculator(lambda cc: cc.input.count_dropped("unwanted"), name="Drops", offset=0)
    graph = make([(drops, "in")], "in")
    calls: list[str] = []

    class Bad(Tracer):
        pass

    def broken(self, *_):
        calls.append(method)
        raise ArithmeticError("bad tracer")

    setattr(Bad, method, broken)
    graph.set_tracer(Bad())
    with caplog.at_level(logging.INFO, "penstock.tracing"):
        run_once(graph)

    assert [
        (r.name, r.levelname, r.getMessage()) for r in caplog.records if r.name == "penstock.tracing"
    ] == [("penstock.tracing", "ERROR", "tracer Bad raised and gets no more events of this run")]
    assert "bad tracer" in caplog.text
    # without the interpreter's lock another thread may be inside of the tracer in that moment
    assert len(calls) == 1 or not getattr(sys, "_is_gil_enabled", lambda: True)()
    assert graph.snapshot().nodes[0].steps == 3
    before = len(calls)
    run_once(graph)
    assert len(calls) > before


@pytest.mark.parametrize("method", ["run_started", "run_ended", "step_started", "step_ended", "packet_added"])
@pytest.mark.parametrize("place", [0, 1, 2])
def test_a_tracer_that_raises_silences_no_other(make, caplog, method, place) -> None:
    graph = make([(Join, "in")], "in")

    class Bad(Tracer):
        pass

    def broken(self, *_):
        raise ArithmeticError("bad tracer")

    setattr(Bad, method, broken)
    good = [Listening(), Listening()]
    tracers: list[Tracer] = [*good]
    tracers.insert(place, Bad())
    for tracer in tracers:
        graph.add_tracer(tracer)
    with caplog.at_level(logging.INFO, "penstock.tracing"):
        run_once(graph)

    for tracer in good:
        assert Counter(what for what, _ in tracer.reports) == {
            "run_started": 1, "step_started": 5, "step_ended": 5, "packet_added": 3, "run_ended": 1,
        }  # fmt: skip
    assert [r.getMessage() for r in caplog.records if r.name == "penstock.tracing"] == [
        "tracer Bad raised and gets no more events of this run"
    ]


def test_what_is_no_tracer_is_refused_and_so_is_one_for_a_run_under_way(make) -> None:
    graph = make([(Join, "in")], "in")
    with pytest.raises(InvalidArgumentError, match=r"tracer 'me' is no penstock\.tracing\.Tracer; make it a"):
        graph.set_tracer("me")
    with pytest.raises(InvalidArgumentError, match=r"tracer 'me' is no penstock\.tracing\.Tracer; make it a"):
        graph.add_tracer("me")
    assert graph.tracer is None
    graph.start_run()
    with pytest.raises(FailedPreconditionError, match="set_tracer is not possible while the graph runs"):
        graph.set_tracer(Tracer())
    with pytest.raises(FailedPreconditionError, match="add_tracer is not possible while the graph runs"):
        graph.add_tracer(Tracer())
    graph.close(TIMEOUT)


def test_what_a_tracer_keeps_keeps_no_payload_alive() -> None:
    class Payload:
        pass

    def process(cc):
        cc.output.add_packet(cc.input.packet)
        if cc.input_timestamp == 1:
            raise ArithmeticError("with a frame that has the payload")

    graph = penstock.CalculatorGraph(
        'input_stream: "in" node { calculator: "Fails" input_stream: "in" output_stream: "out" }',
        registry=testing_registry(calculator(process, name="Fails")),
    )
    graph.observe_output_stream("out", lambda *_: None)
    tracer = listened(graph)
    graph.start_run()
    alive = []
    for i in range(2):
        payload = Payload()
        alive.append(weakref.ref(payload))
        graph.add_packet_to_input_stream("in", Packet(payload, i))
        del payload
    try:
        graph.close(TIMEOUT)
    except GraphRunError as error:
        assert len(error.errors) == 1  # noqa: PT017  # pytest.raises would keep it, and its frames
    tracer.graph = None
    del graph
    gc.collect()

    assert len(tracer.steps("Fails")) == 4
    assert [one() for one in alive] == [None, None]
