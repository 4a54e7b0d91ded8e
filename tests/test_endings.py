"""Every way in which a run can end, on every kind of executor, and what is left then: nothing.

A round starts the graph below, ends it in one of the ways, and runs the same graph once more to its
natural end. Whatever the way, this holds afterwards:

- every calculator that opened has been closed exactly once, and none that did not open;
- no thread and no file descriptor is left, and no payload is alive;
- every packet is accounted for: the engine's own invariants hold, and the ledger adds up;
- what comes to the application is what is promised for that way: nothing, or one particular error.

The graph has a bit of everything: a source that ticks, a relay of a graph input, a join of both, a
coroutine, a future, a node that writes its summary in `close`, and a node on an executor of its own::

    in ----> relay ----+
                       +--> join --> later (async) --> soon (future) --> summary
    ticks (a source) --+      |
                              +--> aside (on the executor `own`)
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import gc
import os
import sys
import threading
import time
import weakref
from collections import Counter
from pathlib import Path

import pytest

from penstock import (
    STOP,
    Calculator,
    CalculatorGraph,
    Executor,
    ExecutorLease,
    GraphRunError,
    InputStreamHandler,
    Packet,
    PenstockError,
    StatusCode,
    Timestamp,
    WaitTimeoutError,
)
from penstock.errors import StreamClosedError
from penstock.plugins.default_registry import default_registry
from penstock_testing.invariants import check_invariants

#: Seconds after which a wait of a test has failed; long, since a loaded machine is no fault of it.
PATIENCE_S = 30.0
PACKETS = 4


class Planned(Exception):  # noqa: N818  # what a way asks for is no error of the test
    """What a calculator, an observer, a policy or an executor raises where a way asks for it."""


class Payload:
    """What can be seen to be gone."""

    __slots__ = ("__weakref__",)


class Book:
    """What one run does, and what it did; a side packet of the run."""

    def __init__(self, *, fails="", stops="", holds="", endless=False):
        #: "node method" that raises `Planned` in this run.
        self.fails = fails
        #: "node method" that returns STOP in its second call.
        self.stops = stops
        #: "node method" that does not come back before the run is cancelled.
        self.holds = holds
        #: Whether the source never ends by itself.
        self.endless = endless
        #: `opened`, `closed`: how often each node was; opened counts when `open` has succeeded.
        self.opened = Counter()
        self.closed = Counter()
        self.calls = Counter()
        #: Set when what `holds` names has been reached.
        self.held = threading.Event()
        self.leave = threading.Event()
        self.payloads = []
        self._lock = threading.Lock()

    def new(self):
        payload = Payload()
        with self._lock:
            self.payloads.append(weakref.ref(payload))
        return payload

    def note(self, page, name):
        with self._lock:
            page[name] += 1

    def come(self, place):
        """Take note that a call begins; raise, or say STOP, where the way asks for it."""
        self.note(self.calls, place)
        if place == self.fails:
            raise Planned(place)
        return STOP if place == self.stops and self.calls[place] == 2 else None

    @property
    def alive(self):
        return [payload for payload in self.payloads if payload() is not None]


class Tracked(Calculator):
    """Notes its calls in the book; passes its first input on."""

    @classmethod
    def get_contract(cls, cc):
        for port in (*cc.inputs, *cc.outputs):
            port.set_any()
        cc.input_side_packets["BOOK"].set(Book)

    def open(self, cc):
        self.book = cc.input_side_packets["BOOK"].payload
        self.book.come(f"{cc.node_name} open")
        self.book.note(self.book.opened, cc.node_name)

    def process(self, cc):
        outcome = self.book.come(f"{cc.node_name} process")
        self.write(cc)
        self.hold(cc)
        return outcome

    def write(self, cc):
        if len(cc.outputs):
            cc.output.add_packet(cc.inputs[0].packet)

    def hold(self, cc):
        if self.book.holds == f"{cc.node_name} process":
            self.book.held.set()
            self.book.leave.wait(PATIENCE_S)

    def close(self, cc):
        self.book.note(self.book.closed, cc.node_name)
        self.book.come(f"{cc.node_name} close")


class Ticks(Tracked):
    """A source: a payload at each timestamp of the graph input, or without end."""

    def open(self, cc):
        self.next = 0
        super().open(cc)

    def process(self, cc):
        if self.next == PACKETS and not self.book.endless:
            return STOP
        return super().process(cc)

    def write(self, cc):
        cc.output.add(self.book.new(), self.next)
        self.next += 1


class Join(Tracked):
    """Passes on what has a partner, and everything that has no timestamp of its own."""

    def write(self, cc):
        if not cc.inputs[0].is_empty():
            super().write(cc)


class Later(Tracked):
    """Every method is a coroutine."""

    async def open(self, cc):
        await asyncio.sleep(0)
        super().open(cc)

    async def process(self, cc):
        packet = cc.inputs[0].packet
        await asyncio.sleep(0)
        if self.book.holds == f"{cc.node_name} process":
            self.book.held.set()
            await asyncio.sleep(PATIENCE_S)
        cc.output.add_packet(packet)
        return self.book.come(f"{cc.node_name} process")

    async def close(self, cc):
        super().close(cc)
        await asyncio.sleep(0)


class Soon(Tracked):
    """Its calls complete through a future, which another thread may hold."""

    def process(self, cc):
        super().process(cc)
        future = concurrent.futures.Future()
        if self.book.holds == f"{cc.node_name} future":
            self.book.held.set()
        else:
            future.set_result(None)
        return future


class Summary(Tracked):
    """Counts, and writes the number in `close`."""

    def open(self, cc):
        self.count = 0
        super().open(cc)

    def write(self, cc):
        self.count += 1

    def close(self, cc):
        super().close(cc)
        cc.output.add(self.count, Timestamp.MAX)


class Aside(Tracked):
    """Reads, and writes nothing."""

    def write(self, cc):
        pass


class Fragile(Tracked):
    """Cannot be made while the test says so."""

    is_broken = False

    def __init__(self):
        if type(self).is_broken:
            raise Planned("Fragile __init__")


class Touchy(InputStreamHandler):
    """The default policy, until it meets a payload that is its cue."""

    cue = "touchy"

    def look(self):
        if any(packet.value == self.cue for stream in self.inputs for packet in stream.queue):
            raise Planned("Touchy look")
        return super().look()


class Own(Executor):
    """Another executor whose start, wake-ups or end can be made to fail."""

    def __init__(self, inner):
        self._inner = inner
        self.fails = ""
        self.stops = []  # of each lease; the leases themselves would keep their runs alive

    @classmethod
    def create(cls, options, defaults):
        inner = default_registry().find("executor", "SingleThreadExecutor")
        return cls(inner.create(options, defaults))

    def lend_to(self, work):
        if self.fails == "start":
            raise Planned("executor start")
        self.stops.append(0)
        return _OwnLease(self, self._inner.lend_to(work), len(self.stops) - 1)


class _OwnLease(ExecutorLease):
    watches = True

    def __init__(self, executor, inner, number):
        self._executor = executor
        self._inner = inner
        self._number = number

    def wake(self):
        if self._executor.fails == "wake":
            raise Planned("executor wake")
        self._inner.wake()

    def stop(self, timeout=None):
        self._executor.stops[self._number] += 1
        has_stopped = self._inner.stop(timeout)
        if self._executor.fails == "stop":
            raise Planned("executor stop")
        return has_stopped


NODES = """
input_stream: "in"
executor { name: "own" type: "Own" }
node { calculator: "Ticks" output_stream: "ticks" input_side_packet: "BOOK:book" }
node { calculator: "Relay" input_stream: "in" output_stream: "relayed" input_side_packet: "BOOK:book"
       input_stream_handler { input_stream_handler: "Touchy" } }
node { calculator: "Join" input_stream: "relayed" input_stream: "ticks" output_stream: "joined"
       input_side_packet: "BOOK:book" }
node { calculator: "Later" input_stream: "joined" output_stream: "late" input_side_packet: "BOOK:book" }
node { calculator: "Soon" input_stream: "late" output_stream: "out" input_side_packet: "BOOK:book" }
node { calculator: "Summary" input_stream: "out" output_stream: "count" input_side_packet: "BOOK:book" }
node { calculator: "Aside" input_stream: "joined" input_side_packet: "BOOK:book" executor: "own" }
node { calculator: "Fragile" input_stream: "joined" output_stream: "unread" input_side_packet: "BOOK:book" }
"""
CALCULATORS = {
    "Ticks": Ticks,
    "Relay": Tracked,
    "Join": Join,
    "Later": Later,
    "Soon": Soon,
    "Summary": Summary,
    "Aside": Aside,
    "Fragile": Fragile,
}
DEFAULT_EXECUTORS = {
    "pool": "num_threads: 3",
    "one thread": 'executor { type: "SingleThreadExecutor" }',
    "application": 'executor { type: "ApplicationThreadExecutor" }',
    "handed in": "",
}


class Stage:
    """A graph on one kind of executor, and all that its runs were given."""

    def __init__(self, kind):
        self.kind = kind
        self.books = []
        self.seen = []
        self.observer_fails = False
        registry = default_registry().child()
        for name, calculator in CALCULATORS.items():
            registry.add("calculator", name, calculator)
        registry.add("input stream handler", "Touchy", Touchy)
        self.own = Own.create(_NoOptions(), _Defaults())
        registry.add("executor", "Own", _Made(self.own))
        self.graph = CalculatorGraph(NODES + DEFAULT_EXECUTORS[kind], registry=registry)
        self.pool = None
        if kind == "handed in":
            self.pool = concurrent.futures.ThreadPoolExecutor(3, thread_name_prefix="handed-in")
            self.graph.set_executor("", self.pool)
        seen, fails = self.seen, weakref.ref(self)
        self.graph.observe_output_stream("count", lambda _, packet: seen.append(packet.payload))
        self.graph.observe_output_stream("joined", lambda _, packet: _fail_if(fails))

    @property
    def book(self):
        return self.books[-1]

    def start(self, **plan):
        self.seen.clear()
        self.books.append(Book(**plan))
        self.graph.start_run({"book": self.book})

    def feed(self, count=PACKETS, start=0):
        for number in range(start, start + count):
            self.graph.add_packet_to_input_stream("in", Packet(self.book.new(), number))

    def feed_while_it_lasts(self):
        """Feed a run that fails meanwhile, which an add may be the first to tell."""
        with contextlib.suppress(GraphRunError, StreamClosedError):
            self.feed()

    def wait_for(self, event):
        """Wait for something that a node does; on the application's thread, do the work meanwhile."""
        deadline = time.monotonic() + PATIENCE_S
        while not event.is_set():
            assert time.monotonic() < deadline
            if self.kind == "application":
                with contextlib.suppress(WaitTimeoutError):
                    self.graph.wait_until_done(0.001)
            else:
                event.wait(1)

    def done(self):
        self.graph.wait_until_done(PATIENCE_S)

    def fails_with(self, words, wait=None):
        """Wait for the end of a run that fails, for this reason alone."""
        with pytest.raises(GraphRunError, match=words) as caught:
            (wait or self.done)()
        assert len(caught.value.errors) == 1, caught.value.errors
        return caught.value.errors[0]

    def is_cancelled(self):
        error = self.fails_with("the run was cancelled")
        assert error.code is StatusCode.CANCELLED

    def ends_naturally(self):
        """Run the graph to its natural end, with all that it promises then."""
        self.start()
        self.feed()
        self.graph.close(PATIENCE_S)
        assert self.seen == [PACKETS]
        assert self.book.closed == dict.fromkeys(CALCULATORS, 1)
        assert self.book.calls["Aside process"] == PACKETS

    def check_accounts(self):
        """Check that nothing of the last run is unaccounted for."""
        runner = self.graph._runs.runner
        if runner is None:  # it could not start
            return
        runner.ask(check_invariants)
        snapshot = self.graph.snapshot()
        assert snapshot.state == "over"
        assert {stream.queued for stream in snapshot.streams} == {0}
        ledger = self.graph.ledger()
        assert ledger.adds_up, str(ledger)
        assert ledger.in_flight == 0, str(ledger)


def _fail_if(stage):
    if stage().observer_fails:
        raise Planned("observer")


class _Made:
    """Stands for an executor's class where there is one object only."""

    def __init__(self, executor):
        self._executor = executor

    def create(self, options, defaults):
        return self._executor


class _NoOptions:
    def get(self, message_type):
        return message_type()


class _Defaults:
    num_threads = 0


# --- the ways ---------------------------------------------------------------------------------
# Each starts a run, ends it, and asserts what the application hears of it.


def natural_end(stage):
    stage.ends_naturally()


def close_in_a_with_block(stage):
    with stage.graph:
        stage.start()
        stage.feed()
    assert stage.seen == [PACKETS]


def without_any_packet(stage):
    stage.start()
    stage.graph.close(PATIENCE_S)
    assert stage.seen == [0]


def only_a_packet_before_the_stream(stage):
    stage.start()
    stage.graph.add_packet_to_input_stream("in", Packet(stage.book.new(), Timestamp.PRESTREAM))
    stage.graph.close(PATIENCE_S)
    assert stage.seen == [1]


def only_a_packet_after_the_stream(stage):
    stage.start()
    stage.graph.add_packet_to_input_stream("in", Packet(stage.book.new(), Timestamp.POSTSTREAM))
    stage.graph.close(PATIENCE_S)
    assert stage.seen == [1]


def stop_from_the_source(stage):
    stage.start(endless=True, stops="Ticks process")
    stage.feed()
    stage.graph.close_all_input_streams()
    stage.done()
    assert stage.book.calls["Ticks process"] == 2
    assert stage.seen == [PACKETS]


def stop_from_a_node_with_inputs(stage):
    stage.start(endless=True, stops="Relay process")
    with contextlib.suppress(StreamClosedError):
        stage.feed()
    stage.done()
    (count,) = stage.seen
    assert 2 <= count <= PACKETS


def stop_from_a_coroutine(stage):
    stage.start(endless=True, stops="Later process")
    with contextlib.suppress(StreamClosedError):
        stage.feed()
    stage.done()
    assert stage.seen[0] >= 2


def close_all_packet_sources(stage):
    stage.start(endless=True)
    stage.feed()
    stage.graph.close_all_packet_sources()
    stage.done()
    assert stage.seen == [PACKETS]


def cancel_at_once(stage):
    stage.start(endless=True)
    stage.graph.cancel()
    stage.is_cancelled()


def cancel_while_it_runs(stage):
    stage.start(endless=True)
    stage.feed()
    stage.graph.cancel()
    stage.is_cancelled()


def cancel_while_a_call_is_under_way(stage):
    if stage.kind == "application":  # the call would be under way in the wait that must come back
        return
    stage.start(holds="Relay process")
    stage.feed()
    stage.wait_for(stage.book.held)
    stage.graph.cancel()
    stage.book.leave.set()
    stage.is_cancelled()


def cancel_while_it_is_paused(stage):
    stage.start()
    stage.graph.pause()
    stage.feed()
    stage.graph.cancel()
    stage.is_cancelled()


def cancel_while_it_is_idle(stage):
    stage.start()
    stage.feed()
    stage.graph.wait_until_idle(PATIENCE_S)
    stage.graph.cancel()
    stage.is_cancelled()
    assert stage.seen == []  # what close writes is discarded then


def cancel_twice_from_two_threads(stage):
    stage.start(endless=True)
    stage.feed()
    other = threading.Thread(target=stage.graph.cancel)
    other.start()
    stage.graph.cancel()
    other.join(PATIENCE_S)
    stage.is_cancelled()


def cancel_with_a_coroutine_in_flight(stage):
    stage.start(holds="Later process")
    stage.feed()
    stage.wait_for(stage.book.held)
    stage.graph.cancel()
    stage.is_cancelled()


def cancel_with_a_future_in_flight(stage):
    stage.start(holds="Soon future")
    stage.feed()
    stage.wait_for(stage.book.held)
    stage.graph.cancel()
    stage.is_cancelled()


def a_wait_that_expires_and_then_cancel(stage):
    stage.start()
    stage.feed()
    with pytest.raises(WaitTimeoutError, match="graph input 'in' is open; the application"):
        stage.graph.wait_until_done(0.001)
    stage.graph.cancel()
    stage.is_cancelled()


def an_exception_in_a_with_block(stage):
    def fail():
        with stage.graph:
            stage.start(endless=True)
            stage.feed()
            raise Planned("mine")

    with pytest.raises(Planned, match="mine") as caught:
        fail()
    assert not hasattr(caught.value, "__notes__")  # nothing else went wrong


def an_error_of(place):
    def way(stage):
        stage.start(fails=place)
        stage.feed_while_it_lasts()
        with contextlib.suppress(GraphRunError):
            stage.graph.close_all_input_streams()
        node, _, method = place.partition(" ")
        error = stage.fails_with(
            rf"node '{node}' \({node}\): {method}\(\) failed( at -?\d+)?: Planned: {place}"
        )
        assert isinstance(error.__cause__, Planned)

    way.__name__ = f"an_error_of_{place.replace(' ', '_')}"
    return way


def an_error_while_an_endless_source_runs(stage):
    stage.start(fails="Aside process", endless=True)
    stage.feed_while_it_lasts()
    stage.fails_with("node 'Aside' .*Planned: Aside process")


def an_error_while_a_coroutine_is_in_flight(stage):
    stage.start(holds="Later process", fails="Aside process")
    stage.feed_while_it_lasts()
    stage.fails_with("node 'Aside' .*Planned: Aside process")


def an_error_of_a_constructor(stage):
    Fragile.is_broken = True
    try:
        with pytest.raises(PenstockError, match=r"node 'Fragile' .*__init__\(\) failed: Planned"):
            stage.start()
    finally:
        Fragile.is_broken = False
    assert stage.book.calls == {}


def an_error_of_an_observer(stage):
    stage.observer_fails = True
    stage.start()
    stage.feed_while_it_lasts()
    stage.fails_with("observer of stream 'joined'.*Planned: observer")
    stage.observer_fails = False


def an_error_of_an_input_policy(stage):
    stage.start()
    stage.feed(2)
    with contextlib.suppress(GraphRunError):
        stage.graph.add_packet_to_input_stream("in", Packet(Touchy.cue, PACKETS))
    stage.fails_with("node 'Relay'.*Touchy.*Planned")


def an_executor_that_does_not_start(stage):
    stage.own.fails = "start"
    with pytest.raises(PenstockError, match=r"executor 'own'.*cannot serve the run: Planned: executor start"):
        stage.start()
    stage.own.fails = ""
    assert stage.book.calls == {}


def an_executor_that_never_wakes(stage):
    stage.own.fails = "wake"
    stage.start()
    stage.feed_while_it_lasts()
    with pytest.raises(GraphRunError, match="executor 'own' cannot run anything: executor wake"):
        stage.done()
    stage.own.fails = ""


def an_executor_that_wakes_no_more(stage):
    stage.start()
    stage.graph.wait_until_idle(PATIENCE_S)
    stage.own.fails = "wake"
    stage.feed_while_it_lasts()
    with pytest.raises(GraphRunError, match="executor 'own' cannot run anything: executor wake"):
        stage.done()
    stage.own.fails = ""


def an_executor_that_fails_to_stop(stage):
    stage.own.fails = "stop"
    stage.start()
    stage.feed()
    stage.graph.close_all_input_streams()
    stage.fails_with("executor 'own' failed to stop: executor stop")
    stage.own.fails = ""


def a_graph_that_is_forgotten(stage):
    stage.start(endless=True)
    stage.feed()
    stage.graph = None


def a_graph_that_is_forgotten_in_a_cycle(stage):
    stage.start()
    stage.feed()
    stage.graph.me = stage.graph
    stage.graph = None
    gc.collect()


def a_graph_that_has_ended_and_is_forgotten(stage):
    if stage.kind == "application":  # without a wait nothing runs there
        return
    ended = threading.Event()
    stage.graph.observe_output_stream("count", lambda _, packet: ended.set())
    stage.start()
    stage.feed()
    stage.graph.close_all_input_streams()
    stage.wait_for(ended)
    stage.graph = None


def a_graph_that_is_forgotten_with_a_coroutine_in_flight(stage):
    stage.start(holds="Later process")
    stage.feed()
    stage.wait_for(stage.book.held)
    stage.graph = None


WAYS = [
    natural_end,
    close_in_a_with_block,
    without_any_packet,
    only_a_packet_before_the_stream,
    only_a_packet_after_the_stream,
    stop_from_the_source,
    stop_from_a_node_with_inputs,
    stop_from_a_coroutine,
    close_all_packet_sources,
    cancel_at_once,
    cancel_while_it_runs,
    cancel_while_a_call_is_under_way,
    cancel_while_it_is_paused,
    cancel_while_it_is_idle,
    cancel_twice_from_two_threads,
    cancel_with_a_coroutine_in_flight,
    cancel_with_a_future_in_flight,
    a_wait_that_expires_and_then_cancel,
    an_exception_in_a_with_block,
    *(
        an_error_of(f"{node} {method}")
        for node in ("Ticks", "Relay", "Later", "Soon", "Summary", "Aside")
        for method in ("open", "process", "close")
    ),
    an_error_while_an_endless_source_runs,
    an_error_while_a_coroutine_is_in_flight,
    an_error_of_a_constructor,
    an_error_of_an_observer,
    an_error_of_an_input_policy,
    an_executor_that_does_not_start,
    an_executor_that_never_wakes,
    an_executor_that_wakes_no_more,
    an_executor_that_fails_to_stop,
    a_graph_that_is_forgotten,
    a_graph_that_is_forgotten_in_a_cycle,
    a_graph_that_has_ended_and_is_forgotten,
    a_graph_that_is_forgotten_with_a_coroutine_in_flight,
]


# --- what is left -----------------------------------------------------------------------------


def descriptors():
    """Return how many file descriptors are open, or None where the system does not say."""
    folder = Path("/proc/self/fd")
    return len(os.listdir(folder)) if folder.is_dir() else None  # noqa: PTH208  # iterdir opens one itself


def play(way, kind):
    """Play one round, and check that it leaves nothing."""
    threads, files = set(threading.enumerate()), descriptors()
    stage = Stage(kind)
    way(stage)
    if stage.graph is None:
        wait_until_none_but(threads)
    else:
        stage.check_accounts()
        stage.ends_naturally()
        stage.check_accounts()
    if stage.pool is not None:
        stage.pool.shutdown()
    gc.collect()
    for book in stage.books:
        assert book.closed == book.opened, "each that opened is closed, once"
        assert set(book.closed.values()) <= {1}
        assert book.alive == []
    assert set(stage.own.stops) <= {1}, "each lease is stopped once"
    assert set(threading.enumerate()) - threads == set()
    assert descriptors() == files


def wait_until_none_but(threads):
    """Wait for threads that must end by themselves, since no thread is left to wait for the run."""
    deadline = time.monotonic() + PATIENCE_S
    while others := {
        thread for thread in set(threading.enumerate()) - threads if thread.name[:9] != "handed-in"
    }:
        assert time.monotonic() < deadline, f"{others} go on although their graph is forgotten"
        for thread in others:
            if thread.ident is not None:  # else it is about to start
                thread.join(PATIENCE_S)


@pytest.mark.parametrize("kind", DEFAULT_EXECUTORS)
@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_a_run_that_ends_this_way_leaves_nothing_and_the_next_is_well(way, kind):
    play(way, kind)


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("kind", DEFAULT_EXECUTORS)
def test_a_thousand_runs_that_end_in_every_way_leave_nothing(kind):
    before = sys.getswitchinterval()
    try:
        for number in range(250):
            sys.setswitchinterval((5e-3, 1e-4, 1e-5)[number % 3])
            play(WAYS[number % len(WAYS)], kind)
    finally:
        sys.setswitchinterval(before)
