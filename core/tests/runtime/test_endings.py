"""Endings, one rule each; `tests/test_endings.py` of the workspace plays them all on all executors."""

from __future__ import annotations

import asyncio
import concurrent.futures
import gc
import inspect
import threading
import weakref

import pytest

import penstock
from penstock.errors import GraphRunError, InvalidArgumentError
from penstock.runtime import forgotten
from penstock.runtime.event_loops.lazy_loop import LazyLoop
from penstock.runtime.executors.executor import Executor, ExecutorLease
from penstock.runtime.runner import deferred
from penstock.timestamp import MAX, POSTSTREAM, PRESTREAM
from penstock_testing import InlineExecutor, calculator, testing_registry

TIMEOUT = 20
Nothing = calculator(name="Nothing")
Pass = calculator(lambda cc: cc.output.add_packet(cc.input.packet), name="Pass", offset=0)


def feed(graph, *stamps, stream: str = "in") -> None:
    for stamp in stamps:
        graph.add_packet_to_input_stream(stream, penstock.Packet(int(stamp), stamp))


def cancelled(graph) -> GraphRunError:
    """Cancel a run, wait for its end, and return the error that it ends with."""
    graph.cancel()
    with pytest.raises(GraphRunError, match="the run was cancelled") as caught:
        graph.wait_until_done(TIMEOUT)
    return caught.value


def words(error: GraphRunError) -> list[str]:
    return [str(one) for one in error.errors]


# --- coroutines -------------------------------------------------------------------------------


@pytest.mark.parametrize("threads", [0, 2])
def test_a_close_that_is_a_coroutine_comes_to_its_end_in_a_cancelled_run(make, threads) -> None:
    log: list[str] = []

    async def close(cc):
        log.append("begins")
        await asyncio.sleep(0)
        log.append("ends")

    graph = make([(calculator(close=close, name="Slow"), "in")], "in", threads=threads)
    graph.start_run()
    graph.wait_until_idle(TIMEOUT)

    assert words(cancelled(graph)) == ["the run was cancelled"]
    assert log == ["begins", "ends"]


def test_a_close_that_is_under_way_when_the_run_fails_comes_to_its_end(make) -> None:
    closing, ended = threading.Event(), threading.Event()
    graphs: list[penstock.CalculatorGraph] = []

    async def close(cc):
        closing.set()
        while not graphs[0].has_error():  # noqa: ASYNC110  # the run fails on another thread
            await asyncio.sleep(0.001)
        await asyncio.sleep(0.05)  # time enough for a cancellation, which must not come
        ended.set()

    def fail(cc):
        closing.wait(TIMEOUT)
        raise ValueError("elsewhere")

    nodes = [(calculator(close=close, name="Slow"), "early"), (calculator(fail, name="Bad"), "in")]
    graphs.append(make(nodes, "early in"))
    graphs[0].start_run()
    feed(graphs[0], 1)
    graphs[0].close_input_stream("early")
    with pytest.raises(GraphRunError) as caught:
        graphs[0].wait_until_done(TIMEOUT)

    (only,) = words(caught.value)
    assert only.startswith("node 'Bad' (Bad): process() failed at 1: ValueError: elsewhere")
    assert ended.is_set()


def test_an_open_that_was_cancelled_has_not_opened_and_is_not_closed(make) -> None:
    opening = threading.Event()
    closed: list[str] = []

    async def open_for_ever(cc):
        opening.set()
        await asyncio.Event().wait()

    never = calculator(open=open_for_ever, close=lambda cc: closed.append("never"), name="Never")
    graph = make([(never, "in"), (calculator(close=lambda cc: closed.append("other")), "in")], "in")
    graph.start_run()
    assert opening.wait(TIMEOUT)

    assert words(cancelled(graph)) == ["the run was cancelled"]
    assert closed == ["other"]


def test_what_a_cancelled_call_has_written_is_dropped(make) -> None:
    written = threading.Event()
    got: list[object] = []

    async def process(cc):
        cc.output.add("too early", cc.input_timestamp)
        written.set()
        await asyncio.Event().wait()

    graph = make([(calculator(process, name="Writer"), "in", "out")], "in")
    graph.observe_output_stream("out", lambda _, packet: got.append(packet.payload))
    graph.start_run()
    feed(graph, 1)
    assert written.wait(TIMEOUT)
    cancelled(graph)

    assert got == []
    account = next(stream for stream in graph.ledger().streams if stream.name == "out")
    assert account.dropped == {"the call that wrote it failed": 1}


def test_a_coroutine_that_is_cancelled_before_it_begins_never_does_and_leaves_no_warning() -> None:
    inside, release = threading.Event(), threading.Event()
    begun: list[str] = []

    async def hold_the_loop():
        inside.set()
        release.wait(TIMEOUT)

    async def late():
        begun.append("late")

    loop = LazyLoop("test-loop")
    first = loop.submit(hold_the_loop())
    assert inside.wait(TIMEOUT)
    coroutine = late()
    second = loop.submit(coroutine)
    second.cancel()
    release.set()
    with pytest.raises(concurrent.futures.CancelledError):
        second.result(TIMEOUT)
    first.result(TIMEOUT)
    assert loop.stop(TIMEOUT)

    assert begun == []
    assert inspect.getcoroutinestate(coroutine) == inspect.CORO_CLOSED  # else it warns when it is freed


def test_a_close_has_its_own_time_after_a_call_that_was_given_up(make, monkeypatch) -> None:
    monkeypatch.setattr(deferred, "GRACE_S", 1.0)
    deaf: concurrent.futures.Future[None] = concurrent.futures.Future()
    deaf.set_running_or_notify_cancel()
    started, closed = threading.Event(), threading.Event()

    def process(cc):
        started.set()
        return deaf

    async def close(cc):
        await asyncio.sleep(0.4)  # longer than the waits between two looks at what is overdue
        closed.set()

    graph = make([(calculator(process, close=close, name="Deaf"), "in")], "in")
    graph.start_run()
    feed(graph, 1)
    assert started.wait(TIMEOUT)

    first, second = words(cancelled(graph))
    assert first == "the run was cancelled"
    assert second.endswith("'Deaf': the deferred process() did not end within 1 s after it was cancelled")
    assert closed.is_set()
    deaf.set_result(None)


def test_the_late_result_of_a_call_that_was_given_up_changes_nothing(make, monkeypatch) -> None:
    monkeypatch.setattr(deferred, "GRACE_S", 0.05)
    deaf: concurrent.futures.Future[None] = concurrent.futures.Future()
    deaf.set_running_or_notify_cancel()
    started = threading.Event()

    def process(cc):
        cc.output.add("late", cc.input_timestamp)
        started.set()
        return deaf

    graph = make(
        [(calculator(process, close=lambda cc: deaf.set_result(None), name="Deaf"), "in", "out")], "in"
    )
    got: list[object] = []
    graph.observe_output_stream("out", lambda _, packet: got.append(packet.payload))
    graph.start_run()
    feed(graph, 1)
    assert started.wait(TIMEOUT)

    first, second = words(cancelled(graph))
    assert first == "the run was cancelled"
    assert second.endswith("'Deaf': the deferred process() did not end within 0.05 s after it was cancelled")
    assert deaf.done()
    assert got == []


# --- cancelling -------------------------------------------------------------------------------


def test_cancelling_twice_is_cancelling_once(make) -> None:
    graph = make([(Nothing, "in")], "in", threads=0)
    graph.start_run()
    graph.cancel()

    assert words(cancelled(graph)) == ["the run was cancelled"]


@pytest.mark.parametrize("how", ["it fails", "it waits for a side packet"])
def test_packets_for_a_node_that_never_opened_are_dropped_and_counted(make, how) -> None:
    class Payload:
        pass

    def fail(cc):
        raise OSError("no device")

    never = calculator(open=fail, name="Never")
    maker = calculator(name="Maker")
    if how == "it fails":
        nodes = [(never, "in")]
    else:
        nodes = [
            (maker, "in", "", 'output_side_packet: "made"'),
            (never, "in", "", 'input_side_packet: "made"'),
        ]
    graph = make(nodes, "in", threads=0)
    graph.start_run()
    payload = Payload()
    alive = weakref.ref(payload)
    graph.add_packet_to_input_stream("in", penstock.Packet(payload, 1))
    del payload
    graph.close_all_input_streams()
    if how == "it fails":
        with pytest.raises(GraphRunError, match="OSError: no device"):
            graph.wait_until_done(TIMEOUT)
    else:
        graph.wait_until_done(TIMEOUT)

    ledger = graph.ledger()
    assert ledger.adds_up
    assert ledger.in_flight == 0
    assert [drop.reason for drop in ledger.drops] == ["the node never opened"]
    assert alive() is None


# --- summaries --------------------------------------------------------------------------------


def summary(cc) -> None:
    cc.output.add(f"summary of {cc.node_name}", MAX)


Summary = calculator(close=summary, name="Summary")


def ends(make, nodes, inputs, threads):
    """Make a graph whose stream "out" is watched, and start it."""
    graph = make(nodes, inputs, threads=threads)
    got: list[object] = []
    graph.observe_output_stream("out", lambda _, packet: got.append(packet.payload))
    graph.start_run()
    return graph, got


def test_a_source_whose_open_waits_sees_that_sources_are_asked_to_end(make) -> None:
    waits = threading.Event()

    async def open_(cc) -> None:
        assert not cc.is_stopping
        waits.set()
        while not cc.is_stopping:  # noqa: ASYNC110  # nobody else tells it
            await asyncio.sleep(0.001)

    camera = calculator(lambda cc: cc.output.add(1, 0), open=open_, name="Camera")
    graph, got = ends(make, [(camera, "", "out")], "", 2)
    assert waits.wait(TIMEOUT)

    graph.close_all_packet_sources()
    graph.wait_until_done(TIMEOUT)

    assert got == []


@pytest.mark.parametrize("threads", [0, 2])
@pytest.mark.parametrize("last", [None, 7, MAX, PRESTREAM, POSTSTREAM])
def test_a_summary_comes_once_whatever_came_last(make, threads, last) -> None:
    graph, got = ends(make, [(Pass, "in", "a"), (Summary, "a", "out")], "in", threads)
    feed(graph, *([] if last is None else [last]))
    graph.close_all_packet_sources()
    graph.wait_until_done(TIMEOUT)

    assert got == ["summary of Summary"]


@pytest.mark.parametrize("threads", [0, 2])
def test_a_summary_comes_after_its_source_is_complete_while_the_graph_runs_on(make, threads) -> None:
    once = calculator(lambda cc: cc.output.add("once", 0) or penstock.STOP, name="Once")
    graph, got = ends(make, [(once, "", "a"), (Summary, "a", "out"), (Nothing, "in")], "in", threads)
    graph.wait_until_idle(TIMEOUT)

    assert got == ["summary of Summary"]
    graph.close(TIMEOUT)


@pytest.mark.parametrize("threads", [0, 2])
def test_a_summary_comes_after_the_node_above_has_written_its_own(make, threads) -> None:
    seen: list[object] = []
    second = calculator(lambda cc: seen.append(cc.input.payload), close=summary, name="Second")
    graph, got = ends(make, [(Summary, "in", "a"), (second, "a", "out")], "in", threads)
    feed(graph, 1)
    graph.close(TIMEOUT)

    assert seen == ["summary of Summary"]
    assert got == ["summary of Second"]


@pytest.mark.parametrize("threads", [0, 2])
@pytest.mark.parametrize("method", ["process", "close"])
def test_no_summary_comes_after_the_node_above_has_failed(make, threads, method) -> None:
    def fail(cc):
        raise ValueError("above")

    closed: list[str] = []

    def close(cc):
        closed.append(cc.node_name)
        summary(cc)

    above = calculator(**{method: fail}, name="Above")
    below = calculator(close=close, name="Below")
    graph, got = ends(make, [(above, "in", "a"), (below, "a", "out")], "in", threads)
    feed(graph, 1)
    with pytest.raises(
        GraphRunError, match=rf"node 'Above' \(Above\): {method}\(\) failed.*ValueError: above"
    ):
        graph.close(TIMEOUT)

    assert closed == ["Below"]
    assert got == []


# --- executors --------------------------------------------------------------------------------


class Watched(Executor):
    """Works inside the waits, and can be made to fail at its start or end."""

    def __init__(self, *, fails: str = "") -> None:
        self.fails = fails
        self.stops: list[int] = []
        self.timeouts: list[float | None] = []

    def lend_to(self, work) -> ExecutorLease:
        if self.fails == "start":
            raise InvalidArgumentError("not today")
        self.stops.append(0)
        return _WatchedLease(self, InlineExecutor().lend_to(work), len(self.stops) - 1)


class _WatchedLease(ExecutorLease):
    helps = True
    watches = True

    def __init__(self, executor: Watched, inner: ExecutorLease, number: int) -> None:
        self._executor, self._inner, self._number = executor, inner, number

    def wake(self) -> None:
        self._inner.wake()

    def help(self) -> bool:
        return self._inner.help()

    def stop(self, timeout: float | None = None) -> bool:
        self._executor.stops[self._number] += 1
        self._executor.timeouts.append(timeout)
        if self._executor.fails == "stop":
            raise OSError("no end")
        return self._inner.stop(timeout)


def on_three(fails: str, where: int, close=lambda cc: None):
    """Return a graph with nodes on three executors, of which one fails in this way, and these."""
    executors = [Watched(fails=fails if number == where else "") for number in range(3)]
    node = calculator(close=close, name="Node")
    lines = [
        f'executor {{ name: "e{n}" }} node {{ calculator: "Node" input_stream: "in" executor: "e{n}" }}'
        for n in range(3)
    ]
    text = "\n".join(['input_stream: "in"', *lines])
    graph = penstock.CalculatorGraph(text, registry=testing_registry(node))
    for number, executor in enumerate(executors):
        graph.set_executor(f"e{number}", executor)
    return graph, executors


@pytest.mark.parametrize("where", [0, 1, 2])
def test_executors_that_had_started_are_stopped_once_where_another_does_not_start(where) -> None:
    graph, executors = on_three("start", where)
    with pytest.raises(InvalidArgumentError, match="not today"):
        graph.start_run()

    assert [executor.stops for executor in executors] == [[1] if n < where else [] for n in range(3)]
    assert all(timeout is not None for executor in executors for timeout in executor.timeouts)


def test_an_interrupt_before_a_run_begins_leaves_no_run(monkeypatch) -> None:
    graph, (executor, *_) = on_three("", 0)
    with monkeypatch.context() as interrupted:
        interrupted.setattr(executor, "lend_to", _interrupt)
        with pytest.raises(KeyboardInterrupt):
            graph.start_run()
    assert not graph.is_running
    graph.start_run()
    graph.close(TIMEOUT)

    assert executor.stops == [1]


def _interrupt(_work) -> None:
    raise KeyboardInterrupt


@pytest.mark.parametrize("where", [0, 1, 2])
def test_an_executor_that_fails_to_stop_is_an_error_and_the_others_are_stopped(where) -> None:
    closed: list[str] = []
    graph, executors = on_three("stop", where, lambda cc: closed.append(cc.node_name))
    graph.start_run()
    with pytest.raises(GraphRunError, match=f"executor 'e{where}' failed to stop: no end") as caught:
        graph.close(TIMEOUT)

    assert isinstance(caught.value.errors[0].__cause__, OSError)
    assert [executor.stops for executor in executors] == [[1]] * 3
    assert sorted(closed) == ["Node_1", "Node_2", "Node_3"]
    executors[where].fails = ""
    graph.start_run()
    graph.close(TIMEOUT)
    assert [executor.stops for executor in executors] == [[1, 1]] * 3


@pytest.mark.parametrize("in_cycle", [False, True])
def test_a_forgotten_graph_that_worked_in_waits_is_closed_and_its_executors_stopped(in_cycle) -> None:
    closed: list[str] = []
    before = set(threading.enumerate())
    graph, executors = on_three("", 0, lambda cc: closed.append(cc.node_name))
    graph.start_run()
    graph.wait_until_idle(TIMEOUT)
    if in_cycle:
        graph.__dict__["me"] = graph
    del graph
    gc.collect()
    for thread in set(threading.enumerate()) - before:
        thread.join(TIMEOUT)

    assert sorted(closed) == ["Node_1", "Node_2", "Node_3"]
    assert [executor.stops for executor in executors] == [[1]] * 3


@pytest.mark.parametrize("end", ["well", "with an error", "before it began"])
def test_a_graph_whose_run_has_ended_leaves_nothing_to_end(monkeypatch, runner_of, end) -> None:
    started: list[str] = []
    begins = threading.Thread.start
    monkeypatch.setattr(
        threading.Thread, "start", lambda thread: (started.append(thread.name), begins(thread))
    )
    graph, _ = on_three("start" if end == "before it began" else "", 0)
    others = set(forgotten.RUNNING)
    if end == "before it began":
        with pytest.raises(InvalidArgumentError, match="not today") as caught:
            graph.start_run()
        assert set(forgotten.RUNNING) <= others
        del caught  # its traceback holds the graph and the run
    else:
        graph.start_run()
        assert set(forgotten.RUNNING) - others == {runner_of(graph)}
        if end == "well":
            graph.close(TIMEOUT)
        else:
            cancelled(graph)
    assert set(forgotten.RUNNING) <= others
    end_of_graph = weakref.ref(graph)
    del graph
    gc.collect()

    assert end_of_graph() is None
    assert "penstock-cancel" not in started
