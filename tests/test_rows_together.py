"""Rows, runs on event loops and `penstock.run` on every kind of executor, and what is left of them: nothing.

Whatever the way in which rows are read or left, afterwards no thread, no file descriptor and no payload
is left, and the ledger adds up.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import gc
import os
import random
import sys
import threading
import weakref
from pathlib import Path

import pytest

import penstock
from penstock.plugins.default_registry import default_registry
from penstock_testing.invariants import check_invariants

pytestmark = pytest.mark.heavy

#: Seconds after which a wait of a test has failed.
PATIENCE_S = 30.0
COUNT = 60


class Payload:
    """What can be seen to be gone."""

    __slots__ = ("__weakref__", "number")

    def __init__(self, number, alive):
        self.number = number
        alive.add(self)


class Source(penstock.Calculator):
    """Payloads at 0, 1, 2, ...; fails at the number of the side packet FAILS."""

    @classmethod
    def get_contract(cls, cc):
        cc.outputs[0].set(Payload)
        cc.input_side_packets["ALIVE"].set(weakref.WeakSet)
        cc.input_side_packets["FAILS"].set(int)

    def open(self, cc):
        self.next = 0

    def process(self, cc):
        if self.next == cc.input_side_packets["FAILS"].payload:
            raise ValueError("as planned")
        if self.next == COUNT:
            return penstock.STOP
        cc.output.add(Payload(self.next, cc.input_side_packets["ALIVE"].payload), self.next)
        self.next += 1
        return None


class Seldom(penstock.Calculator):
    """Passes each twentieth on, a little later, and promises nothing about the others."""

    @classmethod
    def get_contract(cls, cc):
        cc.inputs[0].set(Payload)
        cc.outputs[0].set(Payload)

    async def process(self, cc):
        packet = cc.input.packet
        if packet.payload.number % 20 == 0:
            await asyncio.sleep(0)
            cc.output.add_packet(packet)


GRAPH = """
output_stream: "often" output_stream: "seldom"
max_queue_size: 4
node { calculator: "Source" output_stream: "in"
       input_side_packet: "ALIVE:alive" input_side_packet: "FAILS:fails" }
node { calculator: "PassThroughCalculator" input_stream: "in" output_stream: "often" }
node { calculator: "Seldom" input_stream: "in" output_stream: "seldom" }
"""
EXECUTORS = {
    "pool": "num_threads: 3",
    "one thread": 'executor { type: "SingleThreadExecutor" }',
    "application": 'executor { type: "ApplicationThreadExecutor" }',
    "handed in": "",
}


class Stage:
    """A graph on one kind of executor; makes one for each way."""

    def __init__(self, kind):
        registry = default_registry().child()
        registry.add("calculator", "Source", Source)
        registry.add("calculator", "Seldom", Seldom)
        self.can_be_awaited = kind != "application"
        self.alive = weakref.WeakSet()
        self.graph = penstock.CalculatorGraph(GRAPH + EXECUTORS[kind], registry=registry)
        self.pool = None
        if kind == "handed in":
            self.pool = concurrent.futures.ThreadPoolExecutor(2)
            self.graph.set_executor("", self.pool)

    def given(self, fails=-1):
        return {"alive": self.alive, "fails": fails}

    def rows(self, *, starts=True, fails=-1, size=3):
        return self.graph.rows(
            timeout=PATIENCE_S, max_queue_size=size, side_packets=self.given(fails) if starts else None
        )


def read_all(stage):
    found = [(row.stamp, "seldom" in row) for row in stage.rows()]
    assert found == [(i, i % 20 == 0) for i in range(COUNT)]


def leave_in_the_middle(stage):
    for row in stage.rows():
        if row.stamp == 7:
            break


def leave_with_an_exception(stage):
    def loop():
        for row in stage.rows():
            if row.stamp == 7:
                raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        loop()


def leave_a_block(stage):
    with stage.rows() as rows:
        assert rows.next().stamp == 0


def ask_and_never_read(stage):
    rows = stage.rows(starts=False)
    stage.graph.start_run(stage.given())
    del rows


def fail(stage):
    found = []
    with pytest.raises(penstock.GraphRunError, match="as planned"):
        found.extend(row.stamp for row in stage.rows(fails=30))
    assert not stage.graph.is_running


def cancel(stage):
    rows = stage.rows()
    assert rows.next().stamp == 0
    stage.graph.cancel()
    with pytest.raises(penstock.GraphRunError, match="the run was cancelled"):
        list(rows)


def read_two_at_once(stage):
    first, second = stage.rows(starts=False), stage.rows(starts=False, size=-1)
    stage.graph.start_run(stage.given())
    assert len(list(first)) == COUNT
    assert len(list(second)) == COUNT


def await_all(stage):
    async def main():
        async with stage.graph.running(stage.given()):
            return [row.stamp async for row in stage.rows(starts=False)]

    assert asyncio.run(main()) == list(range(COUNT))


def await_and_leave(stage):
    async def main():
        async with stage.graph.running(stage.given()):
            async for row in stage.rows(starts=False):
                if row.stamp == 7:
                    break

    asyncio.run(main())


def await_and_be_cancelled(stage):
    async def main():
        async with asyncio.timeout(PATIENCE_S), stage.graph.running(stage.given()):
            async for row in stage.rows(starts=False):
                if row.stamp == 7:
                    asyncio.current_task().cancel()

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(main())


def await_a_failure(stage):
    async def main():
        async with stage.graph.running(stage.given(fails=30)):
            async for _ in stage.rows(starts=False):
                pass

    with pytest.raises(penstock.GraphRunError, match="as planned"):
        asyncio.run(main())


BLOCKING = [
    read_all,
    leave_in_the_middle,
    leave_with_an_exception,
    leave_a_block,
    ask_and_never_read,
    fail,
    cancel,
    read_two_at_once,
]
AWAITING = [await_all, await_and_leave, await_and_be_cancelled, await_a_failure]


def descriptors():
    """Return how many file descriptors are open, or None where the system does not say."""
    folder = Path("/proc/self/fd")
    return len(os.listdir(folder)) if folder.is_dir() else None  # noqa: PTH208  # iterdir opens one itself


def play(way, kind):
    """Read rows in one way, and check that nothing of it is left."""
    threads, files = set(threading.enumerate()), descriptors()
    stage = Stage(kind)
    alive = stage.alive
    with stage.graph, contextlib.suppress(penstock.GraphRunError):
        if way in AWAITING and not stage.can_be_awaited:
            with pytest.raises(penstock.PenstockError, match="cannot be awaited: the default executor"):
                way(stage)
        else:
            way(stage)
            ledger = stage.graph.ledger()
            assert ledger.adds_up, str(ledger)
    gc.collect()  # rows that a traceback kept are left now
    if stage.graph._runs.runner is not None:
        ledger = stage.graph.ledger()
        assert ledger.adds_up, str(ledger)
        assert ledger.in_flight == 0, str(ledger)
        stage.graph._runs.runner.ask(check_invariants)
    if stage.pool is not None:
        stage.pool.shutdown()
    del stage
    gc.collect()
    assert list(alive) == []
    assert set(threading.enumerate()) - threads == set()
    assert (descriptors() or 0) <= (files or 0)  # what an earlier test has left may be closed meanwhile


@pytest.mark.parametrize("kind", EXECUTORS)
@pytest.mark.parametrize("way", BLOCKING + AWAITING, ids=lambda way: way.__name__)
def test_rows_that_are_read_or_left_in_this_way_leave_nothing(way, kind):
    play(way, kind)


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("kind", EXECUTORS)
def test_fifty_times_each_way_under_a_switching_interpreter_leaves_nothing(kind):
    ways = (BLOCKING + AWAITING) * 50
    random.Random(7).shuffle(ways)  # noqa: S311  # a test's order
    before = sys.getswitchinterval()
    try:
        sys.setswitchinterval(1e-5)
        for way in ways:
            play(way, kind)
    finally:
        sys.setswitchinterval(before)


def test_a_limiter_drops_nothing_of_what_run_feeds():
    text = """
        input_stream: "in" output_stream: "out"
        node { calculator: "FlowLimiterCalculator" input_stream: "in" input_stream: "FINISHED:out"
               input_stream_info { tag_index: "FINISHED" back_edge: true } output_stream: "limited" }
        node { calculator: "PassThroughCalculator" input_stream: "limited" output_stream: "out" }
    """
    packets = penstock.run(text, {"in": ((i, i) for i in range(200))}, timeout=PATIENCE_S)["out"]

    assert [packet.payload for packet in packets] == list(range(200))
