"""Long chains of light nodes on threads: what becomes of a node that has been light for a while."""

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
from penstock.engine_form import engine_form
from penstock.errors import GraphRunError
from penstock.runtime.build import TAKES_SHORT_CUTS
from penstock.runtime.runner.shortcuts import ShortQueueWork
from penstock_testing import calculator, testing_registry

needs_short_cuts = pytest.mark.skipif(
    not TAKES_SHORT_CUTS, reason="asks about a short cut, and the environment has PENSTOCK_SHORTCUTS=0"
)
LENGTH = 20
#: Packets after which every node is known to be light: it has been timed 16 times and more.
LIGHT = 400
TIMEOUT = 30


class Chain:
    """A graph of `LENGTH` nodes on threads, of which one does something else at one time."""

    def __init__(self, executor, acts=None, place=11, *, rest="", loop=None):
        self.closed = []
        self.seen = []

        def process(cc):
            outcome = acts(cc) if acts is not None and cc.node_name == f"n{place}" else None
            if not isinstance(outcome, concurrent.futures.Future):
                cc.output.add(cc.input.payload, cc.input_timestamp)
            return outcome

        passing = calculator(
            process, name="Pass", offset=0, close=lambda cc: self.closed.append(cc.node_name)
        )
        nodes = "".join(
            f'node {{ calculator: "Pass" name: "n{i}" input_stream: "s{i}" output_stream: "s{i + 1}" }}'
            for i in range(LENGTH)
        )
        self.graph = penstock.CalculatorGraph(
            f'input_stream: "s0" {nodes} {rest}', registry=testing_registry(passing)
        )
        self.graph.set_executor("", executor)
        self.graph.observe_output_stream(
            f"s{LENGTH}", lambda _, packet: self.seen.append((int(packet.timestamp), packet.payload))
        )
        if loop is not None:
            self.graph.set_event_loop(loop)
        self.graph.start_run()

    def feed(self, first, last):
        for number in range(first, last):
            self.graph.add_packet_to_input_stream("s0", penstock.Packet(number, number), timeout=TIMEOUT)

    def node(self, place):
        """Return the state of one node."""
        return self.graph.snapshot().nodes[place]

    def attentive(self):
        """Return how many threads are counted on; inside a call of a heavy node, its own is not."""
        return self.graph.snapshot().executors[0].attentive

    def expect_no_thread_counted(self):
        """Wait until no thread counts as attentive; sleeping threads must not, and none counts twice."""
        assert waited_for(lambda: not self.attentive() and not self.graph.snapshot().executors[0].ready)
        assert {self.attentive() for _ in range(100)} == {0}


def waited_for(question):
    """Ask until the answer is yes, at most for `TIMEOUT` seconds; return whether it is."""
    deadline = time.monotonic() + TIMEOUT
    while not question() and time.monotonic() < deadline:
        time.sleep(0.002)
    return question()


@pytest.fixture
def fresh_chain(watching_threads):
    """Return a function that makes a chain none of whose nodes has run yet."""
    made = []

    def make(*arguments, **named):
        made.append(Chain(watching_threads(2), *arguments, **named))
        return made[-1]

    yield make
    for one in made:
        if one.graph.is_running:
            one.graph.cancel()
            with contextlib.suppress(GraphRunError):
                one.graph.wait_until_done(TIMEOUT)


@pytest.fixture
def chain(fresh_chain):
    """Return a function that makes a chain whose nodes are known to be light."""

    def make(*arguments, **named):
        made = fresh_chain(*arguments, **named)
        made.feed(0, LIGHT)
        made.graph.wait_until_idle(TIMEOUT)
        return made

    return make


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


def test_a_payload_is_freed_when_the_last_node_has_passed_it_on(chain):
    class Payload:
        pass

    made = chain()
    payload = Payload()
    gone = weakref.ref(payload)
    made.graph.add_packet_to_input_stream("s0", penstock.Packet(payload, LIGHT), timeout=TIMEOUT)
    del payload
    made.graph.wait_until_idle(TIMEOUT)
    made.seen.clear()

    assert waited_for(lambda: gone() is None)


def test_stop_ends_the_run_after_what_was_written(chain):
    run = chain(lambda cc: penstock.STOP if cc.input_timestamp == LIGHT + 7 else None)

    run.feed(LIGHT, LIGHT + 8)
    run.graph.wait_until_done(TIMEOUT)

    assert run.seen[-1] == (LIGHT + 7, LIGHT + 7)


def test_a_step_that_completes_later_is_waited_for(chain):
    later = concurrent.futures.Future()
    run = chain(lambda cc: later if cc.input_timestamp == LIGHT + 7 else None)

    run.feed(LIGHT, LIGHT + 10)
    assert waited_for(lambda: run.node(11).running)
    assert waited_for(lambda: run.seen[-1][0] == LIGHT + 6)

    later.set_result(None)
    run.graph.close(TIMEOUT)

    assert [number for number, _ in run.seen] == [n for n in range(LIGHT + 10) if n != LIGHT + 7]


def test_a_step_that_is_given_up_and_then_completes_later_leaves_no_thread_counted(chain):
    later = concurrent.futures.Future()

    def block_and_defer(cc):
        if cc.input_timestamp != LIGHT:
            return None
        assert waited_for(lambda: run.node(0).steps >= LIGHT + 5)  # another thread has taken over
        return later

    run = chain(block_and_defer)
    run.feed(LIGHT, LIGHT + 5)
    assert waited_for(lambda: run.node(11).running)
    run.expect_no_thread_counted()

    later.set_result(None)
    run.graph.close(TIMEOUT)

    assert [number for number, _ in run.seen] == [n for n in range(LIGHT + 5) if n != LIGHT]


def test_an_awaitable_that_cannot_be_run_is_an_error_of_its_step_and_the_run_is_whole(chain):
    async def nothing():
        """Does nothing."""

    stopped = asyncio.new_event_loop()
    run = chain(lambda cc: nothing() if cc.input_timestamp == LIGHT + 7 else None, loop=stopped)

    run.feed(LIGHT, LIGHT + 8)
    with pytest.raises(GraphRunError, match=rf"n11.*{LIGHT + 7}.*is not running") as raised:
        run.graph.wait_until_done(TIMEOUT)
    stopped.close()

    assert len(raised.value.errors) == 1
    assert run.graph.snapshot().state == "over"
    assert run.graph.ledger().adds_up
    assert sorted(run.closed) == sorted(f"n{i}" for i in range(LENGTH))


@pytest.mark.parametrize("place", [0, 5, 11, 19])
def test_a_node_that_begins_to_take_long_is_noticed_wherever_it_is(chain, place):
    counted_on = []

    def dawdle(cc):
        if cc.input_timestamp >= LIGHT:
            counted_on.append(run.attentive())
            time.sleep(0.0005)

    run = chain(dawdle, place)

    run.feed(LIGHT, LIGHT + 300)
    run.graph.wait_until_idle(TIMEOUT)
    run.feed(LIGHT + 300, LIGHT + 301)
    run.graph.wait_until_idle(TIMEOUT)

    assert counted_on[0] == 1  # the thread in the call: the node counted as light
    assert counted_on[-1] == 0


def test_a_node_whose_first_call_is_long_is_heavy_at_once_and_light_again_after_short_ones(fresh_chain):
    counted_on = []

    def first_is_long(cc):
        if cc.input_timestamp in (0, 1, 39):  # not each time, since looking takes long too
            counted_on.append(run.attentive())
        if cc.input_timestamp == 0:
            time.sleep(0.001)

    run = fresh_chain(first_is_long)
    for number in range(40):
        run.feed(number, number + 1)
        run.graph.wait_until_idle(TIMEOUT)

    assert counted_on == [1, 0, 1]


def test_while_a_light_node_blocks_another_thread_runs_the_others(chain):
    """The other thread finds the neglected steps, and earlier nodes take the packets that come."""
    release = threading.Event()

    def wait_for_the_next(cc):
        if cc.input_timestamp == LIGHT:
            assert release.wait(TIMEOUT)

    run = chain(wait_for_the_next)
    run.feed(LIGHT, LIGHT + 5)
    assert waited_for(lambda: run.node(0).steps == LIGHT + 5)
    release.set()
    run.graph.wait_until_idle(TIMEOUT)
    run.expect_no_thread_counted()
    run.graph.close(TIMEOUT)
    assert run.seen == [(number, number) for number in range(LIGHT + 5)]


def test_a_light_node_that_blocks_three_times_counts_as_heavy(chain):
    no_longer_counted_on = []

    def block_three_times(cc):
        stamp = int(cc.input_timestamp)
        if LIGHT <= stamp < LIGHT + 3:
            run.feed(stamp + 1, stamp + 2)
            assert waited_for(lambda: run.node(0).steps == stamp + 2)  # another thread has taken over
        elif stamp == LIGHT + 3:
            no_longer_counted_on.append(waited_for(lambda: not run.attentive()))

    run = chain(block_three_times)
    run.feed(LIGHT, LIGHT + 1)
    run.graph.wait_until_idle(2 * TIMEOUT)

    assert no_longer_counted_on == [True]


@needs_short_cuts
def test_a_wait_until_idle_is_woken_when_only_an_observer_is_left_and_returns_when_that_is_done(
    chain, runner_of
):
    def until_awaited(cc):
        if cc.input_timestamp >= LIGHT:
            assert waited_for(lambda: runner.waiters)

    run = chain(until_awaited)
    runner = runner_of(run.graph)
    asleep = []

    class Seen(list):
        def append(self, seen):
            asleep.append(len(runner.changed._waiters))
            super().append(seen)

    run.seen = Seen(run.seen)
    for number in range(LIGHT, LIGHT + 5):
        runner.works[0]._slow_deliveries = 0  # however slow the machine is
        run.feed(number, number + 1)
        run.graph.wait_until_idle(TIMEOUT)
        assert run.seen[-1] == (number, number)

    assert asleep == [0] * 5
    assert not runner.wakes_early


def test_waiting_threads_are_notified_of_light_steps_and_deliveries_now_and_then_and_not_of_each(
    fresh_chain, runner_of, monkeypatch
):
    notified = []
    run = fresh_chain(rest="max_queue_size: -1")
    run.graph.wait_until_idle(TIMEOUT)
    run.graph.pause()
    run.feed(0, 3000)
    news = type(runner_of(run.graph).changed)
    notify_all = news.notify_all

    def note(self):
        notified.append(len(run.seen))
        notify_all(self)

    monkeypatch.setattr(news, "notify_all", note)
    run.graph.resume()
    run.graph.wait_until_idle(TIMEOUT)

    assert len(run.seen) == 3000
    assert len(notified) < 1500
    assert max(notified) >= 2999  # at the end or just before it (`wake_early`), not when the wait looks again


@pytest.mark.skipif(
    engine_form() != "plain Python", reason="compiled code calls the method that the test counts directly"
)
@needs_short_cuts
def test_light_steps_run_in_a_row_on_a_thread_with_a_time_limit_too(monkeypatch):
    """An executor that gives its thread for some time at once, as waits of the application do."""

    class Limited(penstock.Executor):
        def lend_to(self, work):
            return InWaits(work)

    class InWaits(penstock.ExecutorLease):
        helps = watches = True

        def __init__(self, work):
            self.work = work

        def wake(self):
            self.work.notify_waiters()

        def help(self):
            return self.work.run(max_s=0.02)

        def stop(self, timeout=None):
            return True

    in_a_row = []
    run_light = ShortQueueWork._run_light

    def counted(work, step, untimed):
        following, left = run_light(work, step, untimed)
        in_a_row.append(untimed - left)
        return following, left

    monkeypatch.setattr(ShortQueueWork, "_run_light", counted)
    run = Chain(Limited())
    for number in range(LIGHT):
        run.feed(number, number + 1)
        run.graph.wait_until_idle(TIMEOUT)
    in_a_row.clear()
    run.feed(LIGHT, LIGHT + 1)
    run.graph.close(TIMEOUT)

    assert [number for number, _ in run.seen] == list(range(LIGHT + 1))
    assert sum(in_a_row) >= LENGTH / 2
