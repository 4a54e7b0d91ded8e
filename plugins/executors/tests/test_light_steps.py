"""Long chains of light nodes on threads: what a node does that has been light for long."""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import gc
import threading
import time
import weakref

import pytest

import penstock
from penstock.errors import GraphRunError
from penstock.runtime.runner.work import _HEAVY
from penstock_executors.thread_pool import ThreadPoolExecutor
from penstock_testing import calculator

LENGTH = 20
#: Packets after which every node is known to be light: it has been timed 16 times and more.
LIGHT = 400
TIMEOUT = 30


class Chain:
    """A graph of `LENGTH` nodes on a thread pool, of which one does something else at one time."""

    def __init__(self, registry, acts=None, place=11, *, threads=2, loop=None):
        own = registry.child()
        own.add("executor", "ThreadPoolExecutor", ThreadPoolExecutor)
        self.closed = []
        self.seen = []

        def pass_on(cc):
            outcome = acts(cc) if acts is not None and cc.node_name == f"n{place}" else None
            if not isinstance(outcome, concurrent.futures.Future):
                cc.output.add(cc.input.payload, cc.input_timestamp)
            return outcome

        own.add(
            "calculator",
            "Pass",
            calculator(pass_on, name="Pass", offset=0, close=lambda cc: self.closed.append(cc.node_name)),
        )
        nodes = "".join(
            f'node {{ calculator: "Pass" name: "n{i}" input_stream: "s{i}" output_stream: "s{i + 1}" }}'
            for i in range(LENGTH)
        )
        self.graph = penstock.CalculatorGraph(
            f'input_stream: "s0" num_threads: {threads} {nodes}', registry=own
        )
        self.graph.observe_output_stream(
            f"s{LENGTH}", lambda _, packet: self.seen.append((int(packet.timestamp), packet.payload))
        )
        if loop is not None:
            self.graph.set_event_loop(loop)
        self.graph.start_run()

    def feed(self, first, last):
        for number in range(first, last):
            self.graph.add_packet_to_input_stream("s0", penstock.Packet(number, number), timeout=TIMEOUT)

    def slowness(self, place):
        return self.graph._starter.runner.schedule.nodes[place].slowness

    def are_light(self):
        """Let all nodes count as light, also one that the machine has kept waiting in a timed call."""
        for node in self.graph._starter.runner.schedule.nodes:
            assert node.slowness < _HEAVY
            node.slowness = 0

    def expect_nobody_counted(self):
        """Wait until no thread counts as attentive: those that sleep must not, nor count twice or less."""
        work = self.graph._starter.runner.works[0]
        assert waited_for(lambda: not work.attentive and not work.queue.others)
        time.sleep(0.05)
        assert work.attentive == 0


def waited_for(question):
    """Ask until it is so, at most for long; return whether it is."""
    deadline = time.monotonic() + TIMEOUT
    while not question() and time.monotonic() < deadline:
        time.sleep(0.002)
    return question()


@pytest.fixture
def chain(penstock_registry):
    made = []

    def make(*arguments, **named):
        made.append(Chain(penstock_registry, *arguments, **named))
        made[0].feed(0, LIGHT)
        made[0].graph.wait_until_idle(TIMEOUT)
        made[0].are_light()
        return made[0]

    yield make
    for one in made:
        one.graph.cancel()
        with contextlib.suppress(GraphRunError):
            one.graph.wait_until_done(TIMEOUT)


def test_all_packets_come_out_in_order(chain):
    run = chain()

    run.feed(LIGHT, 2 * LIGHT)
    run.graph.close(TIMEOUT)

    assert run.seen == [(number, number) for number in range(2 * LIGHT)]
    assert run.closed == [f"n{i}" for i in range(LENGTH)]


def test_an_error_names_node_and_timestamp_and_every_node_is_closed(chain):
    def fail(cc):
        if cc.input_timestamp == LIGHT + 7:
            raise ValueError("not this one")

    run = chain(fail)

    run.feed(LIGHT, LIGHT + 8)
    with pytest.raises(GraphRunError, match=rf"n11.*{LIGHT + 7}.*not this one"):
        run.graph.close(TIMEOUT)

    assert run.seen[-1][0] <= LIGHT + 6
    assert sorted(run.closed) == sorted(f"n{i}" for i in range(LENGTH))


def test_an_error_keeps_no_payload_alive(chain):
    class Payload:
        pass

    def fail(cc):
        if isinstance(cc.input.payload, Payload):
            raise TypeError("no payloads")

    run = chain(fail)
    payload = Payload()
    alive = weakref.ref(payload)
    gc.disable()
    try:
        run.graph.add_packet_to_input_stream("s0", penstock.Packet(payload, LIGHT))
        del payload
        with pytest.raises(GraphRunError, match="no payloads"):
            run.graph.wait_until_done(TIMEOUT)
        assert waited_for(lambda: alive() is None)
    finally:
        gc.enable()


def test_stop_ends_the_run_after_what_was_written(chain):
    run = chain(lambda cc: penstock.STOP if cc.input_timestamp == LIGHT + 7 else None)

    run.feed(LIGHT, LIGHT + 8)
    run.graph.wait_until_done(TIMEOUT)

    assert run.seen[-1] == (LIGHT + 7, LIGHT + 7)


def test_a_step_that_completes_later_is_waited_for(chain):
    later = concurrent.futures.Future()
    run = chain(lambda cc: later if cc.input_timestamp == LIGHT + 7 else None)

    run.feed(LIGHT, LIGHT + 10)
    assert waited_for(lambda: run.graph._starter.runner.pending)
    assert waited_for(lambda: run.seen[-1][0] == LIGHT + 6)

    later.set_result(None)
    run.graph.close(TIMEOUT)

    assert [number for number, _ in run.seen] == [n for n in range(LIGHT + 10) if n != LIGHT + 7]


def test_a_step_that_is_given_up_and_then_completes_later_leaves_no_thread_counted(chain):
    later = concurrent.futures.Future()

    def block_and_defer(cc):
        if cc.input_timestamp != LIGHT:
            return None
        assert waited_for(lambda: first.steps >= LIGHT + 5)  # another thread has taken over
        return later

    run = chain(block_and_defer)
    first = run.graph._starter.runner.schedule.nodes[0]
    run.feed(LIGHT, LIGHT + 5)
    assert waited_for(lambda: run.graph._starter.runner.pending)
    run.expect_nobody_counted()

    later.set_result(None)
    run.graph.close(TIMEOUT)

    assert [number for number, _ in run.seen] == [n for n in range(LIGHT + 5) if n != LIGHT]


def test_an_awaitable_that_nobody_can_run_is_an_error_of_its_step_and_the_run_is_whole(chain):
    async def nothing():
        """Does nothing."""

    stopped = asyncio.new_event_loop()
    run = chain(lambda cc: nothing() if cc.input_timestamp == LIGHT + 7 else None, loop=stopped)

    run.feed(LIGHT, LIGHT + 8)
    with pytest.raises(GraphRunError, match=rf"n11.*{LIGHT + 7}.*is not running") as raised:
        run.graph.wait_until_done(TIMEOUT)
    stopped.close()

    assert len(raised.value.errors) == 1
    assert not run.graph._starter.runner.is_poisoned
    assert sorted(run.closed) == sorted(f"n{i}" for i in range(LENGTH))


@pytest.mark.parametrize("place", [0, 5, 11, 19])
def test_a_node_that_begins_to_take_long_is_noticed_wherever_it_stands(chain, place):
    def dawdle(cc):
        if cc.input_timestamp >= LIGHT:
            time.sleep(0.0005)

    run = chain(dawdle, place)

    run.feed(LIGHT, LIGHT + 300)
    run.graph.wait_until_idle(TIMEOUT)

    assert run.slowness(place) >= _HEAVY


def test_a_node_whose_first_call_is_long_is_heavy_at_once_and_light_again_after_short_ones(
    penstock_registry,
):
    run = Chain(penstock_registry, lambda cc: time.sleep(0.001) if cc.input_timestamp == 0 else None)
    run.feed(0, 1)
    run.graph.wait_until_idle(TIMEOUT)
    assert run.slowness(11) >= _HEAVY

    run.feed(1, 20)
    run.graph.wait_until_idle(TIMEOUT)
    assert run.slowness(11) < _HEAVY
    run.graph.close(TIMEOUT)


def test_a_light_node_that_blocks_leaves_the_others_to_another_thread(chain):
    """Its thread was counted on; who sleeps notices, and earlier nodes take the packets that come."""
    release = threading.Event()

    def wait_for_the_next(cc):
        if cc.input_timestamp == LIGHT:
            assert release.wait(TIMEOUT)

    run = chain(wait_for_the_next)
    first = run.graph._starter.runner.schedule.nodes[0]
    run.feed(LIGHT, LIGHT + 5)
    assert waited_for(lambda: first.steps == LIGHT + 5)
    assert run.slowness(11) == 0
    release.set()
    run.graph.wait_until_idle(TIMEOUT)
    assert run.slowness(11) > 0
    run.expect_nobody_counted()
    run.graph.close(TIMEOUT)
    assert run.seen == [(number, number) for number in range(LIGHT + 5)]


def test_who_waits_until_idle_is_woken_when_only_an_observer_is_left_and_comes_back_when_it_is_done(chain):
    def until_awaited(cc):
        if cc.input_timestamp >= LIGHT:
            assert waited_for(lambda: run.graph._starter.runner.waiters)

    run = chain(until_awaited)
    runner = run.graph._starter.runner
    asleep = []

    class Seen(list):
        def append(self, seen):
            asleep.append(len(runner.changed._waiters))
            super().append(seen)

    run.seen = Seen(run.seen)
    for number in range(LIGHT, LIGHT + 5):
        run.feed(number, number + 1)
        run.graph.wait_until_idle(TIMEOUT)
        assert run.seen[-1] == (number, number)

    assert asleep == [0] * 5
    assert not runner.wakes_early
