"""Graphs on one pool: how many threads there are, whose turn it is, and what one graph can do to another."""

from __future__ import annotations

import os
import threading
from functools import partial

import pytest

import penstock
from penstock import limits
from penstock.errors import GraphRunError, InvalidArgumentError, PenstockError, ResourceExhaustedError
from penstock_executors import SharedThreadPoolExecutor, ThreadPoolExecutor, shared_pool
from penstock_executors.messages.shared_pool_pb2 import SharedThreadPoolExecutorOptions
from penstock_executors.parked_threads import ThreadsLease

PATIENCE_S = 20


class Pass(penstock.Calculator):
    """Hands packets on; notes the thread."""

    threads: set[threading.Thread]

    @classmethod
    def get_contract(cls, cc) -> None:
        cc.inputs[0].set_any()
        cc.outputs[0].set_same_as(cc.inputs[0])

    def process(self, cc):
        self.threads.add(threading.current_thread())
        cc.outputs[0].add_packet(cc.inputs[0].packet)


class Blocks(penstock.Calculator):
    """Says that it has begun, and waits until it may end."""

    begun: threading.Semaphore
    may_end: threading.Event

    @classmethod
    def get_contract(cls, cc) -> None:
        cc.inputs[0].set_any()
        cc.outputs[0].set_same_as(cc.inputs[0])

    def process(self, cc):
        if cc.inputs[0].payload == "block":
            self.begun.release()
            self.may_end.wait(3 * PATIENCE_S)
        cc.outputs[0].add_packet(cc.inputs[0].packet)


class Endless(penstock.Calculator):
    """A source that never ends."""

    calls: list[int]

    @classmethod
    def get_contract(cls, cc) -> None:
        cc.outputs[0].set(int)

    def open(self, cc):
        self.number = 0

    def process(self, cc):
        self.number += 1
        self.calls[0] += 1
        cc.output.add(self.number, self.number)


@pytest.fixture
def registry(penstock_registry):
    """Return a registry with these calculators, whose class attributes are of this test alone."""
    made = penstock_registry.child()
    made.add("executor", "ThreadPoolExecutor", ThreadPoolExecutor)
    made.add("executor", "SharedThreadPoolExecutor", SharedThreadPoolExecutor)
    made.add_option(
        "penstock.SharedThreadPoolExecutorOptions",
        "penstock.MediaPipeOptions",
        20303,
        "penstock_executors.messages.shared_pool_pb2:SharedThreadPoolExecutorOptions",
    )
    for cls, own in (
        (Pass, {"threads": set()}),
        (Blocks, {"begun": threading.Semaphore(0), "may_end": threading.Event()}),
        (Endless, {"calls": [0]}),
    ):
        made.add("calculator", cls.__name__, type(cls.__name__, (cls,), own))
    yield made
    made.find("calculator", "Blocks").may_end.set()
    assert shared_pool._POOLS == {}, "a pool outlives its runs"


def options(pool="", num_threads=0):
    given = f'pool: "{pool}" num_threads: {num_threads}'
    return f"options {{ [penstock.SharedThreadPoolExecutorOptions.ext] {{ {given} }} }}"


def text_of(calculator="Pass", pool="", num_threads=2):
    return f"""
        input_stream: "in"
        executor {{ type: "SharedThreadPoolExecutor" {options(pool, num_threads)} }}
        node {{ calculator: "{calculator}" input_stream: "in" output_stream: "mid" }}
        node {{ calculator: "Pass" input_stream: "mid" output_stream: "out" }}"""


def started(text, registry):
    graph = penstock.CalculatorGraph(text, registry=registry)
    seen = []
    graph.observe_output_stream("out", lambda _, packet: seen.append(packet.payload))
    graph.start_run()
    return graph, seen


def test_fifty_graphs_have_the_threads_of_one_pool(registry):
    before = threading.active_count()
    graphs = [started(text_of(), registry) for _ in range(50)]

    for number in range(20):
        for graph, _ in graphs:
            graph.add_packet_to_input_stream("in", penstock.Packet(number, number))
    for graph, _ in graphs:
        graph.wait_until_idle(PATIENCE_S)

    assert threading.active_count() - before <= 2
    assert [seen for _, seen in graphs] == [list(range(20))] * 50
    names = {thread.name for thread in registry.find("calculator", "Pass").threads}
    assert names <= {"penstock-shared-0", "penstock-shared-1"}
    for graph, _ in graphs:
        graph.close(PATIENCE_S)


def test_the_pool_ends_with_the_last_of_its_graphs(registry):
    before = set(threading.enumerate())
    first, second = started(text_of(), registry)[0], started(text_of(), registry)[0]
    of_both = set(threading.enumerate()) - before

    first.close(PATIENCE_S)
    assert of_both <= set(threading.enumerate())
    second.close(PATIENCE_S)

    assert of_both
    assert set(threading.enumerate()) == before


def test_a_graph_can_run_on_the_pool_again(registry):
    graph, seen = started(text_of(), registry)
    for _ in range(3):
        graph.add_packet_to_input_stream("in", penstock.Packet(1, 1))
        graph.close(PATIENCE_S)
        graph.start_run()
    graph.close(PATIENCE_S)

    assert seen == [1, 1, 1]


def test_pools_of_two_names_have_threads_of_their_own(registry):
    graphs = [started(text_of(pool=pool, num_threads=1), registry)[0] for pool in ("left", "right")]
    for graph in graphs:
        graph.add_packet_to_input_stream("in", penstock.Packet(1, 1))
        graph.wait_until_idle(PATIENCE_S)
        graph.close(PATIENCE_S)

    names = {thread.name for thread in registry.find("calculator", "Pass").threads}
    assert names == {"penstock-left-0", "penstock-right-0"}


def test_a_graph_that_never_rests_leaves_its_turn_to_the_others(registry):
    endless = penstock.CalculatorGraph(
        f"""executor {{ type: "SharedThreadPoolExecutor" {options(num_threads=1)} }}
        node {{ calculator: "Endless" output_stream: "numbers" }}
        node {{ calculator: "Pass" input_stream: "numbers" output_stream: "out" }}""",
        registry=registry,
    )
    endless.start_run()
    graphs = [started(text_of(num_threads=1), registry) for _ in range(5)]
    calls = registry.find("calculator", "Endless").calls

    for number in range(10):
        for graph, _ in graphs:
            graph.add_packet_to_input_stream("in", penstock.Packet(number, number))
        for graph, _ in graphs:
            graph.wait_until_idle(PATIENCE_S)
    before = calls[0]
    for graph, seen in graphs:
        graph.close(PATIENCE_S)
        assert seen == list(range(10))
    with pytest.raises(penstock.WaitTimeoutError):
        endless.wait_until_done(0.1)

    assert calls[0] > before > 0
    endless.close(PATIENCE_S)


def test_a_call_that_blocks_in_one_graph_leaves_the_other_threads_to_the_others(registry):
    blocks = registry.find("calculator", "Blocks")
    blocked, blocked_seen = started(text_of("Blocks"), registry)
    other, seen = started(text_of(), registry)
    for number in range(100):  # as light as it can be, so that nobody expects it to block
        blocked.add_packet_to_input_stream("in", penstock.Packet(number, number))
    blocked.wait_until_idle(PATIENCE_S)

    blocked.add_packet_to_input_stream("in", penstock.Packet("block", 100))
    assert blocks.begun.acquire(timeout=PATIENCE_S)
    for number in range(50):
        other.add_packet_to_input_stream("in", penstock.Packet(number, number))
    other.close(PATIENCE_S)

    assert seen == list(range(50))
    assert len(blocked_seen) == 100
    blocks.may_end.set()
    blocked.close(PATIENCE_S)
    assert blocked_seen[-1] == "block"


def test_steps_behind_a_light_call_that_blocks_are_taken_by_another_thread(registry):
    blocks = registry.find("calculator", "Blocks")
    graph, seen = started(
        f"""input_stream: "in" input_stream: "beside"
        executor {{ type: "SharedThreadPoolExecutor" {options(num_threads=2)} }}
        node {{ calculator: "Blocks" input_stream: "in" output_stream: "end" }}
        node {{ calculator: "Pass" input_stream: "beside" output_stream: "out" }}""",
        registry,
    )
    for number in range(100):
        graph.add_packet_to_input_stream("in", penstock.Packet(number, number))
    graph.wait_until_idle(PATIENCE_S)
    arrived = threading.Event()
    graph.watch_stream("out", lambda *_: arrived.set())

    graph.add_packet_to_input_stream("in", penstock.Packet("block", 100))
    assert blocks.begun.acquire(timeout=PATIENCE_S)
    graph.add_packet_to_input_stream("beside", penstock.Packet(1, 1))

    assert arrived.wait(PATIENCE_S)
    blocks.may_end.set()
    graph.close(PATIENCE_S)
    assert seen == [1]


def test_a_thread_that_an_abandoned_graph_keeps_is_replaced(registry):
    blocks = registry.find("calculator", "Blocks")
    stuck, _ = started(text_of("Blocks", num_threads=1), registry)
    other, seen = started(text_of(num_threads=1), registry)
    stuck.add_packet_to_input_stream("in", penstock.Packet("block", 1))
    assert blocks.begun.acquire(timeout=PATIENCE_S)

    with pytest.raises(GraphRunError, match="abandoned"):
        stuck.abandon(0.1)
    other.add_packet_to_input_stream("in", penstock.Packet(1, 1))
    other.wait_until_idle(PATIENCE_S)

    assert seen == [1]
    blocks.may_end.set()
    other.close(PATIENCE_S)


def test_the_largest_number_of_threads_counts_while_its_graph_runs(registry):
    small, _ = started(text_of(num_threads=1), registry)
    lease = next(iter(next(iter(shared_pool._POOLS.values()))._leases))
    assert lease.thread_count() == 1
    large, _ = started(text_of(num_threads=5), registry)
    assert lease.thread_count() == 5

    large.close(PATIENCE_S)

    assert lease.thread_count() < 5
    small.close(PATIENCE_S)


def test_an_application_hands_in_the_pool_by_its_name(registry):
    graphs = []
    for _ in range(2):
        graph = penstock.CalculatorGraph(
            'input_stream: "in" node { calculator: "Pass" input_stream: "in" output_stream: "out" }',
            registry=registry,
        )
        graph.set_executor("", SharedThreadPoolExecutor("ours", 1))
        graph.start_run()
        graph.add_packet_to_input_stream("in", penstock.Packet(1, 1))
        graph.wait_until_idle(PATIENCE_S)
        graphs.append(graph)
    for graph in graphs:
        graph.close(PATIENCE_S)

    assert {thread.name for thread in registry.find("calculator", "Pass").threads} == {"penstock-ours-0"}


def test_many_threads_feed_many_graphs_at_once(registry):
    graphs = [started(text_of(num_threads=3), registry) for _ in range(12)]

    def feed(part):
        for number in range(200):
            for graph, _ in part:
                graph.add_packet_to_input_stream("in", penstock.Packet(number, number))

    feeders = [threading.Thread(target=feed, args=(graphs[i::4],)) for i in range(4)]
    for one in feeders:
        one.start()
    for one in feeders:
        one.join(PATIENCE_S)
    for graph, seen in graphs:
        graph.close(PATIENCE_S)
        assert seen == list(range(200))


class Broken:
    """The work of a run that breaks inside of the engine."""

    name = ""
    taken = 0

    def __init__(self):
        self.was_run = threading.Event()

    def run(self, interrupted=None, choose=None, max_s=None):
        self.was_run.set()
        raise MemoryError("no room")

    def has_ready(self):
        return True

    def is_neglected(self, seen):
        return False


def test_a_run_that_breaks_leaves_the_threads_to_the_others(registry, caplog):
    broken = Broken()
    lease = SharedThreadPoolExecutor("", 1).lend_to(broken)
    graph, seen = started(text_of(num_threads=1), registry)
    lease.wake()
    assert broken.was_run.wait(PATIENCE_S)

    graph.add_packet_to_input_stream("in", penstock.Packet(1, 1))
    graph.wait_until_idle(PATIENCE_S)

    assert lease.stop(PATIENCE_S)
    graph.close(PATIENCE_S)
    assert seen == [1]
    assert "goes on after a run has broken" in caplog.text


def test_a_forked_process_has_pools_of_its_own(registry, monkeypatch):
    graph, _ = started(text_of(pool="forked"), registry)
    monkeypatch.setattr(os, "getpid", lambda: -1)
    other, _ = started(text_of(pool="forked"), registry)

    assert len(shared_pool._POOLS) == 2
    other.close(PATIENCE_S)
    monkeypatch.undo()
    graph.close(PATIENCE_S)


def test_a_system_that_starts_no_thread_leaves_no_pool(registry, monkeypatch):
    def start(_):
        raise RuntimeError("can't start new thread")

    graph = penstock.CalculatorGraph(text_of(pool="clients"), registry=registry)
    with monkeypatch.context() as patch:
        patch.setattr(shared_pool, "ThreadsLease", partial(ThreadsLease, start=start))
        with pytest.raises(ResourceExhaustedError, match="no thread can be started"):
            graph.start_run()

    assert shared_pool._POOLS == {}
    graph.start_run()
    graph.close(PATIENCE_S)


def test_a_number_that_makes_no_sense_is_refused(registry):
    with pytest.raises(InvalidArgumentError, match="num_threads is -1, but must be positive, or 0"):
        penstock.CalculatorGraph(text_of(num_threads=-1), registry=registry)


def test_more_threads_than_the_limit_are_refused_when_the_graph_is_loaded(registry):
    with (
        limits.override(threads=8),
        pytest.raises(PenstockError, match="num_threads is 9, more than the limit 'threads' of 8"),
    ):
        penstock.CalculatorGraph(text_of(num_threads=9), registry=registry)


def test_as_many_threads_as_processors_are_the_default():
    assert SharedThreadPoolExecutor().num_threads == os.cpu_count()
    assert SharedThreadPoolExecutorOptions().pool == ""


def test_graphs_that_begin_and_end_a_visit_meanwhile_do_not_disturb_the_look_for_those_that_stand_still(
    monkeypatch,
):
    """Without the interpreter's lock a set may change while a tuple is made of it, which raises."""

    class Lease:
        """One that never stands still."""

        def is_neglected(self):
            return False

    visits = shared_pool._Visits("")
    monkeypatch.setattr(shared_pool, "_LOOK_S", -1.0)
    visits.served.update(Lease() for _ in range(50))
    is_over = threading.Event()

    def visit():
        lease = Lease()
        while not is_over.is_set():
            visits.served.add(lease)
            visits.served.discard(lease)

    threads = [threading.Thread(target=visit) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        looks = [visits.is_neglected(0) for _ in range(5_000)]
    finally:
        is_over.set()
        for thread in threads:
            thread.join(PATIENCE_S)

    assert looks == [False] * 5_000
