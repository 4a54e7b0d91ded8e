from __future__ import annotations

import asyncio
import concurrent.futures
import threading

import pytest

import penstock
from penstock.errors import GraphRunError, StatusCode, WaitTimeoutError
from penstock.runtime.runner import deferred
from penstock_testing import calculator

TIMEOUT = 20


def feed(graph, count: int) -> None:
    for i in range(count):
        graph.add_packet_to_input_stream("in", penstock.Packet(i, i))


def outputs(graph, stream: str = "out") -> list[tuple[int, object]]:
    got: list[tuple[int, object]] = []
    graph.observe_output_stream(stream, lambda _, p: got.append((int(p.timestamp), p.payload)))
    return got


@pytest.mark.parametrize("threads", [0, 1, 2])
def test_all_methods_may_be_coroutines_and_run_on_one_loop_thread(make, async_all, threads) -> None:
    graph = make([(async_all, "in", "out")], "in", threads=threads)
    got = outputs(graph)
    graph.start_run()
    feed(graph, 5)
    graph.close(TIMEOUT)

    assert got == [(i, i * 10) for i in range(5)]
    assert [what for what, _ in async_all.log] == ["open", *(f"process {i}" for i in range(5)), "close"]
    assert {thread for _, thread in async_all.log} == {"penstock-loop"}
    assert not [t for t in threading.enumerate() if t.name == "penstock-loop"]


def test_parallel_coroutines_wait_for_one_another_and_leave_in_order(make) -> None:
    class Meet(penstock.Calculator):
        @classmethod
        def get_contract(cls, cc):
            cc.inputs[0].set_any()
            cc.outputs[0].set_any()

        def open(self, cc):
            self.later = None

        async def process(self, cc):
            payload, t = cc.input.payload, cc.input_timestamp
            if payload % 2 == 0:
                self.later = asyncio.Event()
                await asyncio.wait_for(self.later.wait(), TIMEOUT)
            else:
                while self.later is None:  # noqa: ASYNC110  # the other call makes it, on this loop
                    await asyncio.sleep(0)
                later, self.later = self.later, None  # the next pair has its own, whichever is first
                later.set()
            cc.output.add(payload, t)

    graph = make([(Meet, "in", "out", "max_in_flight: 2")], "in")
    got = outputs(graph)
    graph.start_run()
    for i in (0, 2, 4):
        feed_pair = [penstock.Packet(i, i), penstock.Packet(i + 1, i + 1)]
        for packet in feed_pair:
            graph.add_packet_to_input_stream("in", packet)
        graph.wait_until_idle(TIMEOUT)
    graph.close(TIMEOUT)

    assert got == [(i, i) for i in range(6)]


def test_a_future_completes_its_step_from_a_foreign_thread(make) -> None:
    futures: list[concurrent.futures.Future[None]] = []
    written = threading.Event()

    def process(cc):
        future: concurrent.futures.Future[None] = concurrent.futures.Future()
        cc.output.add(cc.input.payload, cc.input_timestamp)
        futures.append(future)
        written.set()
        return future

    graph = make([(calculator(process), "in", "out")], "in")
    got = outputs(graph)
    graph.start_run()
    feed(graph, 2)
    assert written.wait(TIMEOUT)
    assert got == []

    written.clear()
    threading.Thread(target=lambda: futures[0].set_result(None)).start()
    assert written.wait(TIMEOUT)
    threading.Thread(target=lambda: futures[1].set_result(None)).start()
    graph.close(TIMEOUT)
    assert got == [(0, 0), (1, 1)]


def test_a_future_that_is_done_already_is_as_good(make) -> None:
    def process(cc):
        future: concurrent.futures.Future[None] = concurrent.futures.Future()
        cc.output.add(1, cc.input_timestamp)
        future.set_result(None)
        return future

    graph = make([(calculator(process), "in", "out")], "in")
    got = outputs(graph)
    graph.start_run()
    feed(graph, 20)
    graph.close(TIMEOUT)

    assert len(got) == 20


def test_a_thread_that_completes_a_step_runs_no_calculator_and_no_observer(make) -> None:
    names: set[str] = set()
    handed: list[concurrent.futures.Future[None]] = []
    ready = threading.Event()

    def defer(cc):
        cc.output.add(1, cc.input_timestamp)
        handed.append(concurrent.futures.Future())
        ready.set()
        return handed[-1]

    def after(cc):
        names.add(threading.current_thread().name)
        cc.output.add(1, cc.input_timestamp)

    graph = make([(calculator(defer), "in", "a"), (calculator(after), "a", "out")], "in")
    for stream in ("a", "out"):
        graph.observe_output_stream(stream, lambda *_: names.add(threading.current_thread().name))
    graph.start_run()
    feed(graph, 1)
    assert ready.wait(TIMEOUT)
    foreign = threading.Thread(target=lambda: handed[0].set_result(None), name="foreign")
    foreign.start()
    foreign.join()
    graph.close(TIMEOUT)

    assert "foreign" not in names
    assert len(names) >= 1


def test_stop_may_be_awaited(make) -> None:
    async def stop(cc):
        cc.output.add("last", 0)
        return penstock.STOP

    graph = make([(calculator(stop), "", "out")])
    got = outputs(graph)
    graph.run(timeout=TIMEOUT)

    assert got == [(0, "last")]


@pytest.mark.parametrize(
    ("outcome", "message"),
    [
        (lambda: 3, r"node 'Bad': process\(\) returned 3; it must return None, penstock.STOP, an awaitable"),
        (lambda: "text", r"process\(\) returned 'text'; it must return None"),
    ],
)
def test_what_is_neither_is_refused_with_the_node_named(make, outcome, message) -> None:
    graph = make([(calculator(lambda cc: outcome(), name="Bad"), "in")], "in")
    graph.start_run()
    feed(graph, 1)
    with pytest.raises(GraphRunError, match=message):
        graph.close(TIMEOUT)


@pytest.mark.parametrize("method", ["open", "process", "close"])
def test_an_awaited_result_must_be_none_or_stop(make, method) -> None:
    async def answer(cc):
        return 42 if method == "process" else penstock.STOP

    graph = make([(calculator(**{method: answer}, name="Bad"), "in")], "in")
    graph.start_run()
    feed_quietly(graph)
    expected = "42" if method == "process" else "penstock.STOP"
    with pytest.raises(
        GraphRunError,
        match=rf"'Bad': the awaited outcome of {method}\(\) is {expected}; it must be None",
    ):
        graph.close(TIMEOUT)


def feed_quietly(graph) -> None:
    try:
        feed(graph, 1)
    except GraphRunError:
        return  # the run has failed in open already


@pytest.mark.parametrize("method", ["open", "process", "close"])
def test_an_exception_of_a_coroutine_is_an_error_of_the_run(make, method) -> None:
    async def fail(cc):
        await asyncio.sleep(0)
        raise ValueError(f"in {method}")

    graph = make([(calculator(**{method: fail}, name="Bad"), "in")], "in")
    graph.start_run()
    feed_quietly(graph)
    with pytest.raises(
        GraphRunError, match=rf"node 'Bad' \(Bad\): {method}\(\) failed.*ValueError: in {method}"
    ) as caught:
        graph.close(TIMEOUT)
    assert isinstance(caught.value.errors[0].__cause__, ValueError)


def test_the_packets_of_a_failing_coroutine_are_dropped(make) -> None:
    async def fail(cc):
        cc.output.add("dropped", cc.input_timestamp)
        await asyncio.sleep(0)
        raise ValueError("no")

    graph = make([(calculator(fail), "in", "out")], "in")
    got = outputs(graph)
    graph.start_run()
    feed(graph, 1)
    with pytest.raises(GraphRunError, match="ValueError: no"):
        graph.close(TIMEOUT)
    assert got == []


# --- cancelling -------------------------------------------------------------------------------


class Stuck:
    """A coroutine that waits until it is cancelled, and notes how it ended."""

    def __init__(self) -> None:
        self.started = threading.Event()
        self.ended: list[str] = []

    async def process(self, cc):
        self.started.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            self.ended.append("cancelled")
            raise

    def close(self, cc):
        self.ended.append("closed")


@pytest.mark.parametrize("threads", [0, 2])
def test_cancelling_the_run_cancels_its_coroutines_and_then_closes(make, threads) -> None:
    stuck = Stuck()
    graph = make([(calculator(stuck.process, close=stuck.close), "in")], "in", threads=threads)
    graph.start_run()
    feed(graph, 1)
    if threads == 0:
        with pytest.raises(WaitTimeoutError, match=r"node 'Process' is running \(1 calls\)"):
            graph.wait_until_idle(0.01)
    assert stuck.started.wait(TIMEOUT)
    graph.cancel()
    with pytest.raises(GraphRunError, match="the run was cancelled") as caught:
        graph.wait_until_done(TIMEOUT)

    assert caught.value.code is StatusCode.CANCELLED
    assert stuck.ended == ["cancelled", "closed"]


def test_an_error_elsewhere_cancels_coroutines_and_is_the_only_error(make) -> None:
    stuck = Stuck()

    def fail(cc):
        stuck.started.wait(TIMEOUT)
        raise ValueError("elsewhere")

    graph = make(
        [(calculator(stuck.process, close=stuck.close, name="Stuck"), "in"), (calculator(fail), "in")], "in"
    )
    graph.start_run()
    feed(graph, 1)
    with pytest.raises(GraphRunError, match="ValueError: elsewhere") as caught:
        graph.wait_until_done(TIMEOUT)

    assert len(caught.value.errors) == 1
    assert stuck.ended == ["cancelled", "closed"]


def test_a_coroutine_that_cancels_itself_is_an_error(make) -> None:
    async def give_up(cc):
        raise asyncio.CancelledError

    graph = make([(calculator(give_up, name="Quitter"), "in")], "in")
    graph.start_run()
    feed(graph, 1)
    with pytest.raises(
        GraphRunError, match=r"node 'Quitter' \(Quitter\): process\(\) failed at 0: CancelledError"
    ):
        graph.close(TIMEOUT)


def test_a_future_that_is_pending_is_cancelled_with_the_run(make) -> None:
    futures: list[concurrent.futures.Future[None]] = []
    started = threading.Event()

    def process(cc):
        futures.append(concurrent.futures.Future())
        started.set()
        return futures[-1]

    graph = make([(calculator(process), "in")], "in")
    graph.start_run()
    feed(graph, 1)
    assert started.wait(TIMEOUT)
    graph.cancel()
    with pytest.raises(GraphRunError, match="the run was cancelled"):
        graph.wait_until_done(TIMEOUT)

    assert futures[0].cancelled()


def test_what_does_not_follow_its_cancellation_is_given_up_with_the_node_named(make, monkeypatch) -> None:
    monkeypatch.setattr(deferred, "GRACE_S", 0.05)
    started = threading.Event()
    future: concurrent.futures.Future[None] = concurrent.futures.Future()
    future.set_running_or_notify_cancel()

    def process(cc):
        started.set()
        return future

    graph = make([(calculator(process, name="Deaf"), "in")], "in")
    graph.start_run()
    feed(graph, 1)
    assert started.wait(TIMEOUT)
    graph.cancel()
    with pytest.raises(
        GraphRunError,
        match=r"the deferred process\(\) did not end within 0.05 s after it was cancelled",
    ):
        graph.wait_until_done(TIMEOUT)
    future.set_result(None)


def plain(cc):
    cc.output.add("never seen", cc.input_timestamp)
    raise ValueError("no")


async def coroutine(cc):
    await asyncio.sleep(0)
    plain(cc)


def future(cc):
    done = concurrent.futures.Future()
    cc.output.set_next_timestamp_bound(cc.input_timestamp + 100)
    done.set_exception(ValueError("no"))
    return done


async def cancelled(cc):
    cc.output.set_next_timestamp_bound(cc.input_timestamp + 100)
    raise asyncio.CancelledError


@pytest.mark.parametrize("max_in_flight", [1, 3])
@pytest.mark.parametrize("offset", [None, 0])
@pytest.mark.parametrize("fails", [plain, coroutine, future, cancelled])
@pytest.mark.parametrize("threads", [0, 2])
def test_observers_and_pollers_hear_of_no_bound_of_a_failed_call(
    make, threads, fails, offset, max_in_flight
) -> None:
    def process(cc):
        if cc.input_timestamp < 5:
            cc.output.add(cc.input.payload, cc.input_timestamp)
            return None
        return fails(cc)

    graph = make(
        [(calculator(process, name="Bad", offset=offset), "in", "out", f"max_in_flight: {max_in_flight}")],
        "in",
        threads=threads,
    )
    heard: list[int] = []
    graph.observe_output_stream(
        "out", lambda _, p: heard.append(int(p.timestamp)), observe_timestamp_bounds=True
    )
    poller = graph.add_output_stream_poller("out", observe_timestamp_bounds=True)
    graph.start_run()
    graph.add_packet_to_input_stream("in", penstock.Packet("good", 3))
    graph.wait_until_idle(TIMEOUT)
    graph.add_packet_to_input_stream("in", penstock.Packet("bad", 7))
    with pytest.raises(GraphRunError, match=r"process\(\) failed at 7"):
        graph.wait_until_done(TIMEOUT)

    assert heard == [3]
    assert [int(packet.timestamp) for packet in poller] == [3]
