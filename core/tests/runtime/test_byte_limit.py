"""`max_queued_bytes`: what is weighed, and runs that hold more."""

from __future__ import annotations

import asyncio
import contextlib
import os
import threading
from collections import deque
from math import inf

import pytest

import penstock
from penstock.errors import GraphRunError, InvalidArgumentError, ResourceExhaustedError, StatusCode
from penstock.runtime.runner import byte_limit
from penstock.runtime.runner.byte_limit import ByteLimit
from penstock_testing import calculator, testing_registry

TIMEOUT = 20
Packet = penstock.Packet
Join = calculator(name="Join", offset=0)


started = threading.Event()


async def never(_cc):
    started.set()
    await asyncio.Event().wait()


Never = calculator(never, name="Never")


class Sized:
    """A payload that says its size, or fails to."""

    def __init__(self, size: int | None) -> None:
        self._size = size

    @property
    def nbytes(self) -> int:
        if self._size is None:
            raise ArithmeticError("unknown")
        return self._size


@pytest.fixture
def limited(pools):
    """Return a function that makes a graph with a limit, which runs on threads."""

    def make(text: str, limit: int) -> penstock.CalculatorGraph:
        registry = testing_registry(Never, Join)
        graph = penstock.CalculatorGraph(text, registry=registry, max_queued_bytes=limit)
        graph.set_executor("", pools(2))
        return graph

    return make


def filled(make, *payloads: object, nodes: int = 1):
    """Return a graph under way, whose nodes never take the given payloads out of their queues."""
    graph = make([(Join, "in other")] * nodes, "in other")
    graph.start_run()
    for stamp, payload in enumerate(payloads):
        graph.add_packet_to_input_stream("in", Packet(payload, stamp))
    graph.wait_until_idle(TIMEOUT)
    return graph


def test_a_slow_node_with_an_unlimited_queue_fails_the_run_and_is_named(limited) -> None:
    graph = limited(
        'input_stream: "in" max_queue_size: -1 node { calculator: "Never" input_stream: "in" }', 1_000_000
    )
    started.clear()
    graph.start_run()
    graph.add_packet_to_input_stream("in", Packet(Sized(0), 0))
    assert started.wait(TIMEOUT)
    graph.add_packet_to_input_stream("in", Packet(Sized(1_900_000), 1))
    with pytest.raises(GraphRunError) as caught:
        graph.wait_until_done(TIMEOUT)

    (error,) = caught.value.errors
    assert isinstance(error, ResourceExhaustedError)
    assert (error.code, error.node, error.stream) == (StatusCode.RESOURCE_EXHAUSTED, "Never", "in")
    assert str(error).splitlines()[0] == (
        "packets of about 1,900,080 bytes wait in queues, max_queued_bytes is 1,000,000; most of them, "
        "1,900,080 bytes, on stream 'in' at node 'Never'; let full queues throttle the sources "
        "(max_queue_size), drop packets, or raise the limit"
    )
    assert str(error).splitlines()[1:3] == [
        "the run is running",
        "  node 'Never' is running (1 calls): process() at 0 has not come back",
    ]


def test_a_queue_that_grows_at_a_deadlock_fails_the_run(limited) -> None:
    graph = limited(
        'input_stream: "in" input_stream: "other" max_queue_size: 1 '
        'node { calculator: "Join" input_stream: "in" input_stream: "other" }',
        1000,
    )
    graph.start_run()
    with contextlib.suppress(GraphRunError):  # it may fail while packets are still added
        for i in range(100):
            graph.add_packet_to_input_stream("in", Packet(i, i), timeout=TIMEOUT)
    with pytest.raises(GraphRunError, match="on stream 'in' at node 'Join'"):
        graph.wait_until_done(TIMEOUT)


def test_a_run_below_its_limit_ends_well_and_its_thread_with_it(limited) -> None:
    graph = limited('input_stream: "in" node { calculator: "Join" input_stream: "in" }', 1_000_000)
    graph.start_run()
    names = {thread.name for thread in threading.enumerate()}
    graph.close(TIMEOUT)

    assert "penstock-timer" in names
    assert "penstock-timer" not in {thread.name for thread in threading.enumerate()}


def test_a_run_without_limit_has_no_thread_for_it(make) -> None:
    graph = filled(make, 1)

    assert "penstock-timer" not in {thread.name for thread in threading.enumerate()}
    graph.close(TIMEOUT)


@pytest.mark.parametrize(
    ("payloads", "size"),
    [
        ((Sized(5000), Sized(300)), 5300 + 160),
        ((b"x" * 1000,), bytes(1000).__sizeof__() + 80),
        ((Sized(None),), 80),
    ],
)
def test_packets_weigh_their_nbytes_else_what_the_interpreter_says(make, runner_of, payloads, size) -> None:
    graph = filled(make, *payloads)
    runner = runner_of(graph)

    assert ByteLimit(runner, size).look() < inf
    assert not graph.has_error()
    assert ByteLimit(runner, size - 1).look() == inf
    assert f"packets of about {size:,} bytes wait" in graph.get_combined_error_message()


def test_a_payload_in_several_queues_counts_once(make, runner_of) -> None:
    graph = filled(make, Sized(1000), nodes=3)

    assert ByteLimit(runner_of(graph), 1240).look() < inf
    assert ByteLimit(runner_of(graph), 1239).look() == inf


def test_what_a_poller_holds_counts_too(make, runner_of) -> None:
    graph = make([(Join, "in")], "in")
    poller = graph.add_output_stream_poller("in")
    graph.start_run()
    graph.add_packet_to_input_stream("in", Packet(Sized(1000), 0))
    graph.wait_until_idle(TIMEOUT)

    assert ByteLimit(runner_of(graph), 1079).look() == inf
    assert "on stream 'in' at a reader outside of the graph" in graph.get_combined_error_message()
    del poller


def test_a_queue_that_changes_while_it_is_read_counts_at_the_next_look(make, runner_of) -> None:
    class Changing(deque):
        """Says once that it has changed, as it does where threads need no interpreter lock."""

        has_changed = False

        def __iter__(self):
            if not self.has_changed:
                self.has_changed = True
                raise RuntimeError("deque mutated during iteration")
            return super().__iter__()

    graph = filled(make, Sized(1000))
    runner = runner_of(graph)
    (reader, *_) = runner.schedule.streams[0].readers
    reader.queue = Changing(reader.queue)

    assert ByteLimit(runner, 500).look() < inf
    assert ByteLimit(runner, 500).look() == inf
    reader.queue = deque(reader.queue)


def test_a_payload_is_weighed_without_the_lock(make, runner_of, is_locked) -> None:
    had_lock: list[bool] = []

    class Asking:
        @property
        def nbytes(self) -> int:
            had_lock.append(is_locked(graph))
            return 1

    graph = filled(make, Asking())
    ByteLimit(runner_of(graph), 1000).look()

    assert had_lock == [False]


def test_the_fuller_the_sooner_the_next_look(make, runner_of) -> None:
    graph = filled(make, Sized(920))
    runner = runner_of(graph)

    assert 0.04 < ByteLimit(runner, 100_000).look() <= 0.0501
    assert 0.02 < ByteLimit(runner, 2000).look() < 0.03
    assert ByteLimit(runner, 1000).look() < 0.02


def test_a_thread_that_other_work_kept_from_running_looks_again_as_soon_as_ever(
    make, runner_of, monkeypatch
) -> None:
    """A pause that grew with the time on the clock let gigabytes into the queues of a busy machine."""
    graph = filled(make, Sized(920))
    times = iter(range(0, 1000, 10))  # each time that it is asked, ten seconds have passed
    monkeypatch.setattr(byte_limit, "monotonic", lambda: next(times))

    assert ByteLimit(runner_of(graph), 100_000).look() <= 0.0501


def test_weighing_takes_a_twentieth_of_a_processor_at_most(make, runner_of, monkeypatch) -> None:
    graph = filled(make, Sized(920))
    used = iter([10.0, 11.0])
    monkeypatch.setattr(byte_limit, "thread_time", lambda: next(used))

    assert ByteLimit(runner_of(graph), 100_000).look() == pytest.approx(20.0)


def test_a_limit_does_not_look_again_before_its_time(make, runner_of) -> None:
    graph = filled(make, 1)
    limit = ByteLimit(runner_of(graph), 300)
    limit.look()
    for stamp in range(1, 50):
        graph.add_packet_to_input_stream("in", Packet(stamp, stamp))

    assert limit.look() <= 0.05
    assert not graph.has_error()


def test_a_run_that_holds_too_much_fails_once(make, runner_of) -> None:
    graph = filled(make, Sized(1000))
    runner = runner_of(graph)
    limit = ByteLimit(runner, 500)

    assert [limit.look() for _ in range(2)] == [inf, inf]
    assert len(runner.schedule.errors) == 1


def test_a_run_that_is_over_gets_no_error(make, runner_of) -> None:
    graph = make([(Join, "in")], "in")
    poller = graph.add_output_stream_poller("in")
    graph.start_run()
    graph.add_packet_to_input_stream("in", Packet(Sized(1000), 0))
    graph.close(TIMEOUT)

    assert ByteLimit(runner_of(graph), 1).look() == inf
    assert runner_of(graph).error() is None
    del poller


def test_a_limit_below_one_is_refused(limited) -> None:
    with pytest.raises(InvalidArgumentError, match=r"max_queued_bytes=0\): must be at least 1, or infinity"):
        limited("", 0)


# --- the default ------------------------------------------------------------------------------


def unlimited(pools, **more) -> penstock.CalculatorGraph:
    text = """
    input_stream: "in"
    max_queue_size: -1
    node { calculator: "Never" input_stream: "in" }
    """
    graph = penstock.CalculatorGraph(text, registry=testing_registry(Never), **more)
    graph.set_executor("", pools(2))
    return graph


def test_queues_without_a_limit_may_take_half_of_the_memory(pools, monkeypatch) -> None:
    monkeypatch.setattr(os, "sysconf", lambda name: {"SC_PAGE_SIZE": 1000, "SC_PHYS_PAGES": 200}[name])
    graph = unlimited(pools)
    graph.start_run()
    for stamp in range(3):
        graph.add_packet_to_input_stream("in", Packet(Sized(60_000), stamp))

    with pytest.raises(GraphRunError, match="wait in queues, max_queued_bytes is 100,000;") as caught:
        graph.wait_until_done(TIMEOUT)

    assert caught.value.code is StatusCode.RESOURCE_EXHAUSTED


@pytest.mark.parametrize("told", [inf, None])
def test_infinity_or_a_system_that_does_not_tell_its_memory_is_no_limit(pools, monkeypatch, told) -> None:
    monkeypatch.setattr(os, "sysconf", lambda name: -1 if told is None else 1)
    graph = unlimited(pools, max_queued_bytes=told)

    graph.start_run()

    assert not [thread for thread in threading.enumerate() if thread.name == "penstock-timer"]
    graph.cancel()
    with contextlib.suppress(GraphRunError):
        graph.wait_until_done(TIMEOUT)
