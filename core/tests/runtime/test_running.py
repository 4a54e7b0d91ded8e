"""Runs, rows and pollers on an event loop."""

from __future__ import annotations

import asyncio
import contextlib
import threading

import pytest

import penstock
from penstock.errors import (
    FailedPreconditionError,
    GraphRunError,
    NotFoundError,
    PacketTypeError,
    StatusCode,
    TimestampOrderError,
    WaitTimeoutError,
)
from penstock.runtime import awaiting
from penstock.runtime import running as running_module
from penstock.runtime.rows.row_reader import LEFT
from penstock_testing import ManualClock, calculator

TIMEOUT = 20
Packet = penstock.Packet
Pass = calculator(lambda cc: cc.output.add_packet(cc.input.packet), name="Pass", offset=0)


class Ticks(penstock.Calculator):
    """A source of numbers without end, or up to `end`."""

    end: int | None = None
    closed = 0

    @classmethod
    def get_contract(cls, cc):
        cc.outputs[0].set_any()

    def open(self, cc):
        self.next = 0

    def process(self, cc):
        if self.next == self.end:
            return penstock.STOP
        cc.output.add(self.next, self.next)
        self.next += 1
        return None

    def close(self, cc):
        type(self).closed += 1


@pytest.fixture
def ticks():
    """A source of its own for the test."""
    return type("Ticks", (Ticks,), {})


@pytest.fixture
def on_loop():
    """Run a coroutine on a loop of its own, within the time of the test; no thread may be left."""

    def _run(coroutine):
        before = set(threading.enumerate())
        try:
            return asyncio.run(asyncio.wait_for(coroutine, TIMEOUT))
        finally:
            left = {one for one in set(threading.enumerate()) - before if not one.name.startswith("pool")}
            assert left == set()

    return _run


async def feed(run, count, stream="in", start=0):
    for i in range(start, start + count):
        await run.add(stream, i, i)
    run.graph.close_input_stream(stream)


async def until(done):
    """Let other tasks go on until something holds that threads bring about."""
    while not done():  # noqa: ASYNC110  # they set no asyncio.Event
        await asyncio.sleep(0.001)


async def turns(count=3):
    """Let other tasks of the loop go on."""
    for _ in range(count):
        await asyncio.sleep(0)


# --- rows -------------------------------------------------------------------------------------


def test_a_task_feeds_while_another_reads_rows(make, on_loop) -> None:
    graph = make([(Pass, "x", "a"), (Pass, "y", "b")], "x y", 'output_stream: "a" output_stream: "b"')

    async def main():
        async with graph.running() as run, asyncio.TaskGroup() as tasks:
            tasks.create_task(feed(run, 300, "x"))
            tasks.create_task(feed(run, 300, "y"))
            return [(row.stamp, row["a"], row["b"]) async for row in graph.rows(max_queue_size=8)]

    assert on_loop(main()) == [(i, i, i) for i in range(300)]
    assert not graph.is_running


def test_a_task_cancelled_while_it_awaits_the_end_gets_the_failure_later(make, on_loop) -> None:
    leave = threading.Event()

    def process(cc):
        raise ValueError("too late")

    last = calculator(process, name="Fails", close=lambda cc: leave.wait(TIMEOUT) and None)
    graph = make([(type("Ticks", (Ticks,), {"end": 1}), "", "n"), (last, "n")])

    async def main():
        rows = graph.rows("n", timeout=TIMEOUT)
        assert (await rows.next_async())["n"] == 0
        reader = asyncio.create_task(rows.next_async())
        await until(lambda: any(one.name == "penstock-await" for one in threading.enumerate()))
        reader.cancel()
        with pytest.raises(asyncio.CancelledError):
            await reader
        leave.set()
        with pytest.raises(GraphRunError, match="too late"):
            await rows.next_async()
        assert await rows.next_async() is None
        await until(lambda: all(one.name != "penstock-await" for one in threading.enumerate()))

    on_loop(main())


def test_rows_asked_for_inside_the_block_miss_nothing_of_a_source(make, on_loop, ticks) -> None:
    ticks.end = 20
    graph = make([(ticks, "", "n"), (Pass, "n", "out")])

    async def main():
        async with graph.running() as run:
            threading.Event().wait(0.01)  # time enough for a source that has begun
            rows = graph.rows("out")
            await turns()
            with pytest.raises(FailedPreconditionError, match="could miss packets: source 'Ticks' runs"):
                graph.rows("out")
            return [row["out"] async for row in rows], run.graph.is_running

    assert on_loop(main()) == (list(range(20)), True)


def test_an_async_loop_over_a_graph_of_sources_starts_the_run_and_sees_its_end(make, on_loop, ticks) -> None:
    ticks.end = 20
    graph = make([(ticks, "", "n")], "", 'output_stream: "n"')

    async def main():
        return [row["n"] async for row in graph.rows()]

    for _ in range(2):
        assert on_loop(main()) == list(range(20))
        assert not graph.is_running
    assert ticks.closed == 2


def test_a_call_on_a_thread_may_end_after_its_task_was_cancelled(on_loop) -> None:
    reported: list[object] = []

    async def main():
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(lambda _, context: reported.append(context))
        before = set(threading.enumerate())
        may_end = threading.Event()
        task = asyncio.create_task(awaiting.in_thread(may_end.wait))
        await asyncio.sleep(0)
        (thread,) = set(threading.enumerate()) - before
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        may_end.set()
        thread.join(TIMEOUT)
        await asyncio.sleep(0)  # what the thread has told the loop

    on_loop(main())

    assert reported == []


def test_awaiting_tasks_are_woken_and_do_not_poll(make, on_loop, monkeypatch) -> None:
    monkeypatch.setattr(awaiting, "_LOOK_AGAIN_S", 1000)
    graph = make([(Pass, "in", "out")], "in", "max_queue_size: 2")

    async def main():
        async with graph.running() as run:
            rows = graph.rows("out", max_queue_size=2)
            feeding = asyncio.create_task(feed(run, 50))
            found = [row["out"] async for row in rows]
            await feeding
            return found

    assert on_loop(main()) == list(range(50))


def test_a_task_that_waits_for_rows_which_another_closes_is_woken_at_once(
    make, on_loop, runner_of, monkeypatch
) -> None:
    monkeypatch.setattr(awaiting, "_LOOK_AGAIN_S", 1000)
    begun, leave = threading.Event(), threading.Event()
    busy = calculator(lambda cc: begun.set() or (leave.wait(TIMEOUT) and None), name="Busy")
    graph = make([(Pass, "in", "out"), (busy, "more")], "in more")

    async def main():
        async with graph.running() as run:
            rows = graph.rows("out")
            await run.add("more", 1, 1)
            await until(begun.is_set)
            reader = asyncio.create_task(rows.next_async())
            await until(lambda: runner_of(graph).waiters)
            rows.close()
            with pytest.raises(FailedPreconditionError, match="the next row of 'out': these rows are closed"):
                await asyncio.wait_for(reader, 2)
            leave.set()

    on_loop(main())


def test_leaving_an_async_loop_lets_the_run_go_on(make, on_loop, ticks) -> None:
    ticks.end = 100
    graph = make([(ticks, "", "n")])

    async def main():
        async with graph.running():
            async for row in graph.rows("n", max_queue_size=2):
                if row["n"] == 4:
                    break

    on_loop(main())
    (reader,) = graph.ledger().streams[0].readers
    assert (reader.delivered, reader.dropped, reader.in_flight) == (5, {LEFT: 95}, 0)


def test_a_failed_run_raises_in_the_async_loop_and_once_only(make, on_loop) -> None:
    def process(cc):
        if cc.input.payload == 3:
            raise ValueError("three")
        cc.output.add_packet(cc.input.packet)

    graph = make([(calculator(process, name="Fails", offset=0), "in", "out")], "in")
    found: list[object] = []

    async def main():
        async with graph.running() as run:
            for i in range(4):
                await run.add("in", i, i)
            found.extend([row["out"] async for row in graph.rows("out")])

    async def early():
        async with graph.running() as run:
            rows = graph.rows("out")
            for i in range(4):
                await run.add("in", i, i)
            async for row in rows:
                found.append(row["out"])  # noqa: PERF401  # the loop raises

    with pytest.raises(FailedPreconditionError, match="could miss packets: packets have been added to 'in'"):
        on_loop(main())
    with pytest.raises(GraphRunError, match="ValueError: three") as caught:
        on_loop(early())
    assert found == [0, 1, 2]
    assert len(caught.value.errors) == 1
    assert len(graph.snapshot().errors) == 1
    assert getattr(caught.value, "__notes__", []) == []


def test_an_async_wait_for_a_row_that_expires_tells_the_story_and_loses_nothing(make, on_loop) -> None:
    graph = make([(Pass, "in", "out")], "in")

    async def main():
        async with graph.running() as run:
            rows = graph.rows("out", timeout=0.02)
            with pytest.raises(WaitTimeoutError) as caught:
                await anext(aiter(rows))
            await feed(run, 3)
            return str(caught.value), [row["out"] async for row in rows]

    story, found = on_loop(main())
    assert story.startswith("the next row of 'out' took longer than 0.02 s\nthe run is running")
    assert "graph input 'in' is open; the application feeds or closes it" in story
    assert found == [0, 1, 2]


def test_a_clock_that_is_moved_by_hand_decides_when_an_async_wait_expires(make, on_loop) -> None:
    graph = make([(Pass, "in", "out")], "in")
    clock = ManualClock()
    graph.set_clock(clock)

    async def main():
        async with graph.running():
            reading = asyncio.create_task(anext(aiter(graph.rows("out", timeout=1000))))
            await turns()
            assert not reading.done()
            clock.advance(1001)
            with pytest.raises(WaitTimeoutError, match="took longer than 1000 s"):
                await reading

    on_loop(main())


def test_a_task_that_is_cancelled_while_it_waits_for_a_row_ends_at_once_and_loses_nothing(
    make, on_loop, runner_of
) -> None:
    graph = make([(Pass, "in", "out")], "in")

    async def main():
        async with graph.running() as run:
            rows = graph.rows("out")
            found: list[object] = []

            async def read():
                async for row in rows:
                    found.append(row["out"])  # noqa: PERF401  # is looked at meanwhile

            reader = asyncio.create_task(read())
            await run.add("in", 0, 0)
            await until(lambda: found)
            reader.cancel()
            with pytest.raises(asyncio.CancelledError):
                await reader
            assert runner_of(graph).waiters == 0
            assert runner_of(graph).changed.listeners == []
            await feed(run, 2, start=1)
            await read()
            return found

    assert on_loop(main()) == [0, 1, 2]


def test_a_loop_in_a_coroutine_of_the_graph_itself_is_refused(make, on_loop) -> None:
    raised: list[str] = []
    holder: dict[str, object] = {}

    async def process(cc):
        for call in (holder["rows"].next_async, holder["run"].wait_until_idle):
            try:
                await call()
            except FailedPreconditionError as error:
                raised.append(str(error))

    graph = make([(calculator(process, name="Reads"), "in")], "in")

    async def main():
        graph.set_event_loop(asyncio.get_running_loop())
        async with graph.running() as run:
            holder.update(rows=graph.rows("in", timeout=1), run=run)
            await run.add("in", 1, 1)
            await run.wait_until_idle(TIMEOUT)
            return (await holder["rows"].next_async())["in"]

    assert on_loop(main()) == 1
    assert [text.partition(" was called from inside this graph's own")[0] for text in raised] == [
        "the next row of 'in'",
        "wait_until_idle()",
    ]


def test_coroutines_of_calculators_may_run_on_the_loop_that_waits_for_them(make, on_loop, async_all) -> None:
    graph = make([(async_all, "in", "out")], "in")
    async_all.log = []

    async def main():
        graph.set_event_loop(asyncio.get_running_loop())
        async with graph.running() as run:
            rows = graph.rows("out")
            await feed(run, 3)
            return [row["out"] async for row in rows]

    assert on_loop(main()) == [0, 10, 20]
    assert {thread for _, thread in async_all.log} == {"MainThread"}


def test_what_runs_in_the_applications_waits_cannot_be_awaited(make, on_loop, ticks) -> None:
    ticks.end = 2
    graph = make([(ticks, "", "n")], threads=0)
    poller = graph.add_output_stream_poller("n")

    async def by_rows():
        async for _ in graph.rows("n"):
            pass

    async def by_running():
        async with graph.running():
            pass

    async def by_a_run_under_way():
        async for _ in poller:
            pass

    with pytest.raises(
        FailedPreconditionError,
        match=r"running\(\) cannot be awaited: the default executor runs nodes on the",
    ):
        on_loop(by_rows())
    with pytest.raises(
        FailedPreconditionError,
        match=r"running\(\) cannot be awaited: the default executor runs nodes on the",
    ):
        on_loop(by_running())
    assert not graph.is_running
    graph.start_run()
    for _ in range(2):  # also where packets wait already
        with pytest.raises(
            FailedPreconditionError,
            match="the next packet of stream 'n' cannot be awaited: the default executor",
        ):
            on_loop(by_a_run_under_way())
        graph.wait_until_idle(TIMEOUT)
    assert poller.queue_size() == 2
    graph.wait_until_done(TIMEOUT)
    assert ticks.closed == 1


def test_an_async_loop_needs_an_event_loop(make) -> None:
    graph = make([(Pass, "in", "out")], "in")
    with pytest.raises(
        FailedPreconditionError,
        match="async for over rows of 'out' needs a running event loop; use it in a coroutine",
    ):
        aiter(graph.rows("out"))


# --- the block --------------------------------------------------------------------------------


def test_leaving_the_block_ends_the_inputs_and_awaits_the_run(make, on_loop) -> None:
    got: list[object] = []
    closed: list[str] = []
    late = calculator(
        lambda cc: cc.output.add_packet(cc.input.packet),
        close=lambda cc: closed.append(cc.node_name),
        name="Late",
    )
    graph = make([(late, "in", "out")], "in")
    graph.observe_output_stream("out", lambda _, packet: got.append(packet.payload))

    async def main():
        async with graph.running() as run:
            for i in range(5):
                await run.add("in", Packet(i), i)

    on_loop(main())
    assert got == list(range(5))
    assert closed == ["Late"]


def test_sources_run_to_their_own_end_when_the_block_is_left(make, on_loop, ticks) -> None:
    ticks.end = 500
    got: list[object] = []
    graph = make([(ticks, "", "n")])
    graph.observe_output_stream("n", lambda _, packet: got.append(packet.payload))

    async def main():
        async with graph.running():
            pass

    on_loop(main())
    assert got == list(range(500))


def test_an_exception_in_the_block_cancels_the_run(make, on_loop, ticks) -> None:
    graph = make([(ticks, "", "n")])

    async def main():
        async with graph.running() as run:
            await run.wait_until_idle(0.01)

    with pytest.raises(WaitTimeoutError, match=r"wait_until_idle\(\) took longer than 0.01 s"):
        on_loop(main())
    assert ticks.closed == 1
    assert not graph.is_running
    assert graph.snapshot().errors == ("the run was cancelled",)


def test_a_task_that_is_cancelled_in_the_block_ends_the_run_and_leaves_nothing(make, on_loop, ticks) -> None:
    graph = make([(ticks, "", "n")])

    async def block(entered):
        async with graph.running():
            async for _ in graph.rows("n"):
                entered.set()

    async def main():
        entered = asyncio.Event()
        task = asyncio.create_task(block(entered))
        await entered.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    on_loop(main())
    assert ticks.closed == 1
    assert not graph.is_running


def test_a_cancel_while_the_end_is_awaited_ends_the_run(make, on_loop, ticks) -> None:
    graph = make([(ticks, "", "n")])

    async def main():
        begun = asyncio.Event()

        async def block():
            async with graph.running():
                begun.set()

        task = asyncio.create_task(block())
        await begun.wait()
        await turns(5)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert not graph.is_running

    on_loop(main())
    assert ticks.closed == 1


def test_an_end_that_does_not_come_in_time_raises_and_the_run_is_cancelled(make, on_loop, ticks) -> None:
    graph = make([(ticks, "", "n")])

    async def main():
        async with graph.running(timeout=0.02):
            pass

    with pytest.raises(
        WaitTimeoutError, match=r"wait_until_done\(\) took longer than 0.02 s\nthe run is running"
    ):
        on_loop(main())
    assert ticks.closed == 1
    assert not graph.is_running


def test_a_failure_beside_the_exception_of_the_block_is_noted(make, on_loop) -> None:
    def close(cc):
        raise ValueError("close")

    graph = make([(calculator(close=close, name="Careless"), "in")], "in")

    async def main():
        async with graph.running() as run:
            await run.add("in", 1, 1)
            await run.wait_until_idle(TIMEOUT)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError) as caught:
        on_loop(main())
    (note,) = caught.value.__notes__
    assert "while the graph was cancelled: " in note
    assert "ValueError: close" in note


def test_a_start_that_fails_raises_where_the_block_begins(make, on_loop) -> None:
    graph = make([(Pass, "in", "out", 'input_side_packet: "side"')], "in")

    async def main(**side_packets):
        async with graph.running(side_packets) as run:
            await run.add("in", 1, 1)
            return True

    with pytest.raises(penstock.GraphConfigError, match="side"):
        on_loop(main())
    assert on_loop(main(side=1))


def test_a_run_may_be_entered_again_and_ends_each_time(make, on_loop) -> None:
    graph = make([(Pass, "in", "out")], "in")
    running = graph.running(timeout=TIMEOUT)

    async def main():
        async with running as run:
            await run.add("in", 1, 1)
        return graph.is_running

    assert [on_loop(main()) for _ in range(2)] == [False, False]


def test_to_come_to_rest_may_take_a_thread_where_an_executor_has_failed(make, on_loop, pools) -> None:
    graph = make([(Pass, "in", "out")], "in", threads=0)
    pool = pools(1)
    graph.set_executor("", pool)

    async def main():
        async with graph.running() as run:
            await run.add("in", 1, 1)
            await run.wait_until_idle(TIMEOUT)
            pool.shutdown()
            await run.add("in", 2, 2)
            with pytest.raises(GraphRunError, match="keep it running until the graph is done"):
                await run.wait_until_idle(2)

    with pytest.raises(GraphRunError, match="keep it running until the graph is done"):
        on_loop(main())


def test_a_failed_run_raises_from_a_wait_for_idle_though_another_thread_has_seen_its_end(
    make, on_loop, monkeypatch
) -> None:
    def fail(_cc):
        raise ValueError("no")

    graph = make([(calculator(fail, name="Fails"), "in")], "in")
    in_thread = running_module.in_thread

    async def after_the_end(work):
        def end():
            with contextlib.suppress(GraphRunError):
                graph.wait_until_done(TIMEOUT)

        await in_thread(end)
        return await in_thread(work)

    async def main():
        async with graph.running() as run:
            await run.add("in", 1, 1)
            monkeypatch.setattr(running_module, "in_thread", after_the_end)
            with pytest.raises(GraphRunError, match="ValueError: no"):
                await run.wait_until_idle(TIMEOUT)

    with contextlib.suppress(GraphRunError):
        on_loop(main())


def test_the_end_of_the_run_can_be_awaited_inside_the_block_by_several_tasks(make, on_loop) -> None:
    graph = make([(Pass, "in", "out")], "in")

    async def main():
        async with graph.running() as run:
            waits = [asyncio.create_task(run.wait_until_done(TIMEOUT)) for _ in range(3)]
            await feed(run, 3)
            await asyncio.gather(*waits)
            await run.wait_until_done()
            with pytest.raises(
                FailedPreconditionError, match=r"adding to 'in' needs the run of `async with graph"
            ):
                await run.add("in", 9, 9)

    on_loop(main())


def test_a_pause_that_the_application_asks_for_is_not_undone(make, on_loop) -> None:
    graph = make([(Pass, "in", "out")], "in")

    async def main():
        async with graph.running() as run:
            graph.pause()
            await run.add("in", 1, 1)
            await turns()
            state = graph.snapshot().state
            graph.resume()
            return state

    assert on_loop(main()) == "paused"


# --- adding -----------------------------------------------------------------------------------


def test_adding_awaits_room_and_the_loop_goes_on_meanwhile(make, on_loop) -> None:
    entered, leave = threading.Event(), threading.Event()

    def process(cc):
        entered.set()
        assert leave.wait(TIMEOUT)

    graph = make([(calculator(process, name="Slow"), "in")], "in", "max_queue_size: 2")
    done: list[str] = []

    async def main():
        async with graph.running() as run:
            adding = asyncio.create_task(feed(run, 6))
            await until(entered.is_set)  # else its taking the first would make room once more
            await until(lambda: graph.snapshot().throttled == ("in",))
            done.append("the loop goes on")
            assert not adding.done()
            with pytest.raises(
                WaitTimeoutError, match=r"adding to throttled stream 'in' took longer than 0.01 s"
            ):
                await run.add("in", 100, 100, timeout=0.01)
            leave.set()
            await adding
            done.append("added")

    on_loop(main())
    assert done == ["the loop goes on", "added"]
    assert entered.is_set()


def test_adding_waits_for_the_task_that_reads_rows_but_not_for_itself(make, on_loop) -> None:
    graph = make([(Pass, "in", "out")], "in", "max_queue_size: 3")

    async def main():
        async with graph.running() as run:
            rows = graph.rows("out", max_queue_size=2)
            for i in range(30):
                await run.add("in", i, i)  # the same task reads
            assert (await rows.next_async())["out"] == 0
            other = asyncio.create_task(feed(run, 30, start=30))
            await until(lambda: graph.snapshot().throttled == ("in",))
            found = [row["out"] async for row in rows]
            await other
            return found

    assert on_loop(main()) == list(range(1, 60))


def test_an_input_with_a_type_takes_payloads_of_it_and_refuses_others(make, on_loop) -> None:
    class Doubles(penstock.Calculator):
        @classmethod
        def get_contract(cls, cc):
            cc.inputs[0].set(int)
            cc.outputs[0].set(int)

        def process(self, cc):
            cc.output.add(2 * cc.input.payload, cc.input_timestamp)

    graph = make([(Doubles, "in", "out")], "in")
    poller = graph.add_output_stream_poller("out")

    async def main():
        async with graph.running() as run:
            await run.add("in", 1, 1)
            with pytest.raises(PacketTypeError, match="holds a 'str', but the stream carries int"):
                await run.add("in", "x", 2)
            await run.add("in", 3, 3)
            run.graph.close_input_stream("in")
            return [packet.payload async for packet in poller]

    assert on_loop(main()) == [2, 6]


def test_what_add_refuses_leaves_the_graph_well(make, on_loop) -> None:
    graph = make([(Pass, "in", "out")], "in")

    async def main():
        async with graph.running() as run:
            rows = graph.rows("out")
            await run.add("in", 5, 5)
            with pytest.raises(TimestampOrderError, match="behind"):
                await run.add("in", 4, 4)
            with pytest.raises(NotFoundError, match=r"there is no graph input 'inn' \(did you mean 'in'\?\)"):
                await run.add("inn", 6, 6)
            with pytest.raises(penstock.PenstockError, match="graph input 'in': the packet has no time"):
                await run.add("in", 6)
            await run.add("in", Packet(6, 6))
            graph.close_all_input_streams()
            return [row["out"] async for row in rows]

    assert on_loop(main()) == [5, 6]


def test_a_task_that_is_cancelled_while_it_adds_has_added_nothing(make, on_loop) -> None:
    graph = make([(Pass, "in", "out")], "in")

    async def main():
        async with graph.running() as run:
            rows = graph.rows("out")
            adding = asyncio.create_task(run.add("in", 1, 1))
            await asyncio.sleep(0)
            adding.cancel()
            with pytest.raises(asyncio.CancelledError):
                await adding
            await run.add("in", 2, 2)
            graph.close_all_input_streams()
            return [row["out"] async for row in rows]

    assert on_loop(main()) == [2]


def test_observers_are_not_called_on_the_thread_of_the_event_loop(make, on_loop) -> None:
    threads: set[str] = set()
    graph = make([(Pass, "in", "out")], "in")
    graph.observe_output_stream("in", lambda *_: threads.add(threading.current_thread().name))

    async def main():
        async with graph.running() as run:
            await feed(run, 20)

    on_loop(main())
    assert threads
    assert "MainThread" not in threads


def test_an_event_loop_that_is_closed_while_a_task_waits_does_not_hurt_the_run(make) -> None:
    graph = make([(Pass, "in", "out")], "in")
    rows = graph.rows("out")
    graph.start_run()
    loop = asyncio.new_event_loop()
    wait = rows.next_async()
    task = loop.create_task(wait)
    loop.run_until_complete(turns())
    loop._ready.clear()
    assert not task.done()
    loop.close()
    graph.add_packet_to_input_stream("in", Packet(1, 1))
    graph.wait_until_idle(TIMEOUT)
    wait.close()
    task._log_destroy_pending = False  # it is, and that is the point

    assert rows.next()["out"] == 1
    graph.close(TIMEOUT)


# --- pollers ----------------------------------------------------------------------------------


def test_a_poller_can_be_awaited(make, on_loop) -> None:
    graph = make([(Pass, "in", "out")], "in")
    poller = graph.add_output_stream_poller("out")

    async def main():
        async with graph.running() as run:
            with pytest.raises(WaitTimeoutError) as caught:
                await poller.next_async(0.01)
            feeding = asyncio.create_task(feed(run, 50))
            found = [packet.payload async for packet in poller]
            await feeding
            return str(caught.value), found, await poller.next_async()

    story, found, after = on_loop(main())
    assert story.startswith("the next packet of stream 'out' took longer than 0.01 s\nthe run is running")
    assert found == list(range(50))
    assert after is None


def test_a_cancelled_run_has_its_code_in_the_block(make, on_loop) -> None:
    graph = make([(Pass, "in", "out")], "in")

    async def main():
        async with graph.running() as run:
            graph.cancel()
            await run.wait_until_done(TIMEOUT)

    with pytest.raises(GraphRunError) as caught:
        on_loop(main())
    assert caught.value.code is StatusCode.CANCELLED
