"""Warnings of queues whose limits a deadlock raises, and why nodes waited when a run closed them."""

from __future__ import annotations

import logging

import pytest

import penstock
from penstock.explain import WaitKind
from penstock_testing import calculator

TIMEOUT = 20
Packet = penstock.Packet
Join = calculator(name="Join", offset=0)


def write_all(cc):
    for output in cc.outputs:
        output.add_packet(cc.input.packet)


Pass = calculator(write_all, name="Pass", offset=0)
Loop = calculator(lambda cc: cc.outputs[0].add_packet(cc.inputs[1].packet), name="Loop")
BACK = 'input_stream_info { tag_index: ":1" back_edge: true }'


def feed(graph, *stamps: int, stream: str = "a") -> None:
    for stamp in stamps:
        graph.add_packet_to_input_stream(stream, Packet(stamp, stamp))


def warnings_of(caplog) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.levelno == logging.WARNING]


# --- limits that a deadlock raises ----------------------------------------------------------------


@pytest.mark.parametrize("threads", [0, 2])
def test_a_limit_that_a_deadlock_raises_is_a_warning_at_first_and_at_each_doubling(
    make, caplog, threads
) -> None:
    graph = make([(Join, "a b")], "a b", "max_queue_size: 2", threads=threads)
    graph.start_run()
    feed(graph, *range(13))
    graph.wait_until_idle(TIMEOUT)

    assert warnings_of(caplog) == [
        "the queue of stream 'a' at node 'Join' is full and nothing else can run, so its limit is raised "
        f"from 2 to {limit} packets, and memory grows with it; culprit: graph input 'b' is open; the "
        "application feeds or closes it, or raises its bound (no packet yet)"
        for limit in (3, 6, 12)
    ]
    record = caplog.records[-1]
    assert (record.name, record.node, record.stream) == ("penstock.runtime", "Join", "a")
    graph.close(TIMEOUT)


def test_a_full_queue_that_drains_is_no_warning(make, caplog) -> None:
    graph = make([(Pass, "a", "b"), (Join, "b")], "a", "max_queue_size: 1")
    graph.start_run()
    feed(graph, *range(100))
    graph.close(TIMEOUT)

    assert warnings_of(caplog) == []


def test_warnings_are_logged_without_the_lock(make, is_locked) -> None:
    graph = make([(Join, "a b")], "a b", "max_queue_size: 1")
    had_lock: list[bool] = []

    class Asking(logging.Handler):
        def emit(self, record):
            had_lock.append(is_locked(graph))

    logger, handler = logging.getLogger("penstock.runtime"), Asking(logging.WARNING)
    logger.addHandler(handler)
    try:
        graph.start_run()
        feed(graph, *range(5))
        graph.close(TIMEOUT)
    finally:
        logger.removeHandler(handler)

    assert had_lock == [False, False]


def test_of_very_many_queues_only_some_are_warnings(make, caplog) -> None:
    graph = make([(Join, f"a{i} b") for i in range(30)], " ".join(f"a{i}" for i in range(30)) + " b",
                 "max_queue_size: 1")  # fmt: skip
    graph.start_run()
    for i in range(30):
        feed(graph, 1, 2, stream=f"a{i}")
    graph.close(TIMEOUT)

    assert len(warnings_of(caplog)) == 20


# --- packets that wait when nodes are closed ------------------------------------------------------


def test_a_loop_that_nothing_feeds_is_named_after_the_end(make) -> None:
    graph = make([(Loop, "a loop", "loop", BACK), (Join, "loop")], "a")
    graph.start_run()
    feed(graph, 1, 2, 3)
    graph.close(TIMEOUT)

    reason = graph.why()

    assert [(wait.node, wait.held) for wait in reason.waits] == [("Loop", 3)]
    assert [(culprit.kind, culprit.node) for culprit in reason.culprits] == [(WaitKind.CIRCLE, "Loop")]
    assert str(reason).splitlines()[:2] == [
        "the run is over: its sources and graph inputs have ended, while packets were in queues, since",
        "  node 'Loop' waits for stream 'loop' (no packet yet) to settle 1",
    ]
    (drop,) = graph.ledger().drops
    assert (drop.stream, drop.place, drop.reason, drop.count) == (
        "a", "node 'Loop' input 0", "the reader had closed", 3,
    )  # fmt: skip


def test_each_node_that_waited_with_packets_is_named_though_they_are_closed_one_by_one(make) -> None:
    graph = make([(Loop, "a x", "x", BACK), (Loop, "a y", "y", BACK)], "a")
    graph.start_run()
    feed(graph, 1)
    graph.close(TIMEOUT)

    assert [(wait.node, wait.held) for wait in graph.why().waits] == [("Loop_1", 1), ("Loop_2", 1)]


def test_each_run_says_only_what_waited_in_it(make) -> None:
    graph = make([(Loop, "a loop", "loop", BACK)], "a")
    graph.start_run()
    feed(graph, 1)
    graph.close(TIMEOUT)
    graph.start_run()
    graph.close(TIMEOUT)

    assert (graph.why().waits, str(graph.why())) == (
        (),
        "the run is over: its sources and graph inputs have ended",
    )


def test_a_loop_that_comes_around_has_nothing_to_tell(make) -> None:
    first = calculator(lambda _: None, open=lambda cc: cc.outputs[1].add(0, 0), name="First")
    graph = make([(first, "a loop", "out loop", BACK)], "a")
    graph.start_run()
    feed(graph, 0)
    graph.close(TIMEOUT)

    assert graph.why().waits == ()


def test_a_failed_run_does_not_say_what_waited(make) -> None:
    def fail(cc):
        raise ArithmeticError("no")

    graph = make([(calculator(fail, name="Fails"), "b"), (Loop, "a loop", "loop", BACK)], "a b")
    graph.start_run()
    feed(graph, 1)
    feed(graph, 1, stream="b")
    with pytest.raises(penstock.GraphRunError):
        graph.wait_until_done(TIMEOUT)

    assert (graph.why().waits, str(graph.why()).splitlines()[0]) == ((), "the run is over: it failed")
