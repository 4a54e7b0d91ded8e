"""The thread that takes readings: what it waits for, what ends it, and what it leaves behind."""

from __future__ import annotations

import gc
import subprocess
import sys
import textwrap
import threading
import time
import weakref

import pytest
from looked_at import TIMEOUT, Join, Odd, Pass

import penstock
from penstock.errors import (
    FailedPreconditionError,
    GraphRunError,
    InvalidArgumentError,
    NotFoundError,
    PenstockError,
)
from penstock_monitor import Monitor
from penstock_testing import ManualClock, calculator

CHAIN = """
input_stream: "in" output_stream: "out"
node { calculator: "Pass" name: "first" input_stream: "in" output_stream: "mid" }
node { calculator: "Pass" name: "second" input_stream: "mid" output_stream: "out" }
"""
#: No reading comes by itself within a test.
NEVER_S = 3600


def feed(graph, numbers):
    for number in numbers:
        graph.add_packet_to_input_stream("in", penstock.Packet(number, number))


def until(monitor, is_it):
    """Return the first reading of which something holds."""
    reading = monitor.reading()
    deadline = time.monotonic() + TIMEOUT
    while not is_it(reading):
        assert time.monotonic() < deadline, reading
        reading = monitor.wait(reading.number, TIMEOUT)
        assert reading is not None
    return reading


def test_readings_come_by_themselves_one_after_the_other(make_graph, monitored) -> None:
    graph = make_graph(CHAIN, Pass)
    monitor = monitored(graph)
    numbers = [monitor.reading().number]
    for _ in range(5):
        numbers.append(monitor.wait(numbers[-1], TIMEOUT).number)

    assert numbers == sorted(set(numbers))


def test_the_first_reading_is_taken_at_once(make_graph, monitored) -> None:
    graph = make_graph(CHAIN, Pass)
    monitor = monitored(graph, NEVER_S)

    assert monitor.reading().number == 1
    assert monitor.reading() is monitor.reading()
    assert monitor.wait(1, 0.02) is None


def test_one_monitor_follows_a_graph_from_before_its_runs_to_their_ends(make_graph, monitored) -> None:
    graph = make_graph(CHAIN, Pass, threads=2)
    monitor = monitored(graph)
    until(monitor, lambda r: r.state == "not started")
    for _ in range(2):
        graph.start_run()
        feed(graph, range(50))
        until(monitor, lambda r: r.state == "running" and r.streams[-1].packets == 50)
        graph.close(TIMEOUT)
        until(monitor, lambda r: r.state == "over" and r.streams[-1].packets == 50)
    assert graph.ledger().adds_up


@pytest.mark.parametrize("how", ["fails", "is cancelled"])
def test_a_run_that_fails_is_followed_to_its_end_and_the_graph_runs_again(make_graph, monitored, how) -> None:
    graph = make_graph(CHAIN, Pass, threads=1)
    monitor = monitored(graph)
    graph.start_run()
    feed(graph, range(5))
    if how == "fails":
        graph.watch_stream("mid", lambda *_: 1 / 0)
        feed(graph, [5])
    else:
        graph.cancel()
    with pytest.raises(GraphRunError):
        graph.wait_until_done(TIMEOUT)
    failed = until(monitor, lambda r: r.state == "over")
    assert len(failed.errors) == 1
    graph.start_run()
    feed(graph, range(3))
    assert until(monitor, lambda r: r.state == "running").errors == ()
    graph.close(TIMEOUT)


def test_a_monitor_on_changes_nothing_about_what_comes_out(make_graph, monitored) -> None:
    out = []
    graph = make_graph(CHAIN, Pass, threads=4)
    graph.observe_output_stream("out", lambda _, packet: out.append(packet.payload))
    monitor = monitored(graph, 1e-4)
    graph.start_run()
    count = 0
    while count < 2000 or not monitor.reading().latencies:
        feed(graph, [count])
        count += 1
    graph.close(TIMEOUT)

    assert out == list(range(count))
    assert graph.ledger().adds_up
    assert all(not stream.dropped for stream in graph.ledger().streams)


def test_without_latencies_no_stream_is_watched(make_graph, monkeypatch) -> None:
    graph = make_graph(CHAIN, Pass, threads=1)
    watched = []
    monkeypatch.setattr(type(graph), "watch_stream", lambda *given, **_: watched.append(given))
    graph.start_run()
    with Monitor(graph, 1e-4, latencies=False) as monitor:
        reading = monitor.reading()
        for count in range(200):
            feed(graph, [count])
            reading = monitor.wait(reading.number, TIMEOUT)
    graph.close(TIMEOUT)

    assert reading.number > 200
    assert reading.latencies == ()
    assert watched == []


@pytest.mark.timing
def test_rates_agree_with_the_ledger_of_a_real_run(make_graph, monitored) -> None:
    graph = make_graph(CHAIN, Pass, threads=2)
    monitor = monitored(graph, 0.1)
    graph.start_run()
    readings = [until(monitor, lambda r: r.state == "running")]
    count = 0
    while readings[-1].elapsed_s < 2.2:
        feed(graph, [count])
        count += 1
        threading.Event().wait(0.002)  # the pace of a live input
        newest = monitor.reading()
        if newest.number > readings[-1].number:
            ledger = {one.name: one.added for one in graph.ledger().streams}
            assert all(one.packets <= ledger[one.name] for one in newest.streams)
            readings.append(newest)
    graph.close(TIMEOUT)

    last = readings[-1]
    before = next(one for one in reversed(readings) if one.elapsed_s <= last.elapsed_s - 1)
    for one, earlier in zip(last.streams, before.streams, strict=True):
        rate = (one.packets - earlier.packets) / (last.elapsed_s - before.elapsed_s)
        assert one.per_s == pytest.approx(rate, rel=0.05)


@pytest.mark.timing
def test_a_stall_is_told_with_its_culprit_within_two_seconds(make_graph, monitored) -> None:
    text = """
    input_stream: "in" output_stream: "out"
    node { calculator: "Odd" name: "odd" input_stream: "in" output_stream: "odds" }
    node { calculator: "Join" input_stream: "in" input_stream: "odds" output_stream: "out" }
    """
    graph = make_graph(text, Odd, Join, threads=2)
    monitor = monitored(graph, 0.2)
    graph.start_run()
    feed(graph, range(3))
    graph.wait_until_idle(TIMEOUT)
    stopped = time.monotonic()
    reading = until(monitor, lambda r: r.stall is not None)

    assert 0.5 < time.monotonic() - stopped < 2
    assert [(c.node, c.stream) for c in reading.stall.culprits] == [("odd", "odds")]


def test_a_stall_is_reported_when_it_begins_and_not_at_the_next_reading(make_graph, monitored) -> None:
    graph = make_graph(CHAIN, Pass, threads=1)
    monitor = monitored(graph, 0.95)
    graph.start_run()
    feed(graph, range(3))
    reading = until(monitor, lambda r: r.stall is not None)

    assert 1 <= reading.stall.since_s < 1.9  # the next reading would come then


# --- the end of a monitor ---------------------------------------------------------------------


def test_close_joins_the_thread_and_the_run_goes_on(make_graph) -> None:
    graph = make_graph(CHAIN, Pass, threads=1)
    graph.start_run()
    with Monitor(graph, 0.01) as monitor:
        reading = until(monitor, lambda r: r.number > 3)
    last = monitor.reading()
    monitor.close()

    assert monitor.is_closed
    assert not [thread for thread in threading.enumerate() if thread.name == "penstock-monitor"]
    assert last.number >= reading.number
    assert monitor.reading() is last
    assert monitor.wait(last.number, TIMEOUT) is None
    feed(graph, [1])
    graph.close(TIMEOUT)
    assert graph.ledger().streams[-1].added == 1


def test_close_ends_waits_that_are_under_way(make_graph) -> None:
    graph = make_graph(CHAIN, Pass, threads=1)
    graph.start_run()
    monitor = Monitor(graph, NEVER_S)
    first = monitor.reading()
    ended = []
    threads = [
        threading.Thread(target=lambda: ended.append(monitor.wait(first.number))),
        threading.Thread(target=lambda: ended.append(monitor.peek("out", TIMEOUT))),
    ]
    for thread in threads:
        thread.start()
    monitor.close()
    for thread in threads:
        thread.join(TIMEOUT)

    assert ended == [None, None]
    graph.close(TIMEOUT)


def test_a_graph_that_is_dropped_ends_its_monitor_and_its_run(make_graph) -> None:
    graph = make_graph(CHAIN, Pass, threads=1)
    monitor = Monitor(graph, 0.01)
    graph.start_run()
    feed(graph, range(3))
    until(monitor, lambda r: r.state == "running")
    gone = weakref.ref(graph)
    del graph
    number = monitor.reading().number
    while monitor.wait(number, TIMEOUT) is not None:
        number = monitor.reading().number
    monitor._thread.join(TIMEOUT)

    assert not monitor._thread.is_alive()
    assert monitor.is_closed
    assert gone() is None
    assert monitor.graph is None
    assert monitor.peek("out", 0.01) is None
    assert monitor.reading().number == number


def test_a_graph_that_is_dropped_during_a_long_pause_ends_its_monitor_at_once(make_graph) -> None:
    graph = make_graph(CHAIN, Pass)
    monitor = Monitor(graph, NEVER_S)
    monitor.reading()
    del graph
    gc.collect()
    monitor._thread.join(TIMEOUT)

    assert not monitor._thread.is_alive()


def test_an_interpreter_ends_although_a_monitor_was_not_closed() -> None:
    program = """
        import penstock
        from penstock_monitor import Monitor
        graph = penstock.CalculatorGraph(
            'input_stream: "in" node { calculator: "PassThroughCalculator" input_stream: "in" '
            'output_stream: "out" }'
        )
        graph.start_run()
        monitor = Monitor(graph, 3600)
        print(monitor.reading().state)
    """
    command = [sys.executable, "-c", textwrap.dedent(program)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)

    assert (done.returncode, done.stdout, done.stderr) == (0, "running\n", "")


def test_what_goes_wrong_in_the_thread_is_raised_where_readings_are_asked_for(make_graph, caplog) -> None:
    graph = make_graph(CHAIN, Pass)
    with Monitor(graph, 0.01) as monitor:
        until(monitor, lambda r: r.number > 1)
        graph.snapshot = lambda: 1 / 0
        monitor._thread.join(TIMEOUT)
        for ask in (monitor.reading, lambda: monitor.wait(0, TIMEOUT)):
            with pytest.raises(PenstockError, match="the monitor has failed: ZeroDivisionError: division by"):
                ask()
    assert "the monitor has failed and takes no more readings" in caplog.text


def test_an_interval_that_is_not_above_zero_is_refused(make_graph) -> None:
    graph = make_graph(CHAIN, Pass)
    for interval in (0, -1, float("nan")):
        with pytest.raises(InvalidArgumentError, match=f"interval_s {interval}: must be above 0 seconds"):
            Monitor(graph, interval)


def test_a_reading_that_costs_much_makes_the_pause_long(make_graph, monitored) -> None:
    graph = make_graph(CHAIN, Pass)
    snapshot = graph.snapshot

    def costly():
        until_s = time.thread_time() + 0.02
        while time.thread_time() < until_s:
            pass
        return snapshot()

    graph.snapshot = costly
    monitor = monitored(graph, 0.001)
    third = until(monitor, lambda r: r.number == 3)
    began = time.monotonic()
    monitor.wait(third.number, TIMEOUT)

    assert time.monotonic() - began > 1.9, "100 times 20 ms"


# --- peeks ------------------------------------------------------------------------------------


def while_fed(graph, peek, number=0):
    """Return what a peek gives on another thread, while packets come, the first with that number."""
    seen = []
    peeking = threading.Thread(target=lambda: seen.append(peek()))
    peeking.start()
    while peeking.is_alive():
        feed(graph, [number])
        number += 1
    peeking.join()
    graph.wait_until_idle(TIMEOUT)
    return seen[0]


def test_the_stream_of_a_nodes_failures_is_one_of_the_graphs_streams(make_graph, monitored) -> None:
    pytest.importorskip("penstock_failures", reason="penstock-failures is not installed")
    policy = 'name: "first" failure { on_error: SKIP error_stream: "errors" }'
    graph = make_graph(CHAIN.replace('name: "first"', policy), Pass, threads=1)
    monitor = monitored(graph, NEVER_S)
    before = {one.name: one.writer for one in monitor.reading().streams}
    graph.start_run()

    assert before == {"in": "", "mid": "first", "errors": "first", "out": "second"}
    assert monitor.peek("errors", 0.02) is None
    graph.close(TIMEOUT)


def test_a_peek_is_the_next_packet_that_passes(make_graph, monitored) -> None:
    graph = make_graph(CHAIN, Pass, threads=1)
    monitor = monitored(graph, NEVER_S)
    graph.start_run()
    feed(graph, [1])
    graph.wait_until_idle(TIMEOUT)
    for name in ("in", "mid", "out"):
        assert monitor.peek(name, 0.02) is None, "it has passed already"
    seen = while_fed(graph, lambda: monitor.peek("mid", TIMEOUT), number=2)

    assert seen.payload == int(seen.timestamp) >= 2
    last = monitor.peek("mid", 0.02)
    assert last.payload >= seen.payload, "none has come in time, so it is the last one that was seen"
    graph.close(TIMEOUT)
    assert monitor.peek("mid", TIMEOUT) is last


def test_of_a_stream_that_was_peeked_at_no_packet_is_missed_between_two_peeks(make_graph, monitored) -> None:
    graph = make_graph(CHAIN, Pass, threads=1)
    monitor = monitored(graph, NEVER_S)
    for first in (1, 100):  # again in each run
        graph.start_run()
        monitor.peek("mid", 0.0)
        for number in range(first, first + 20):
            feed(graph, [number])
            graph.wait_until_idle(TIMEOUT)
            if number % 7 == 0:
                assert monitor.peek("mid", 0.0).payload == number
        graph.close(TIMEOUT)
        assert monitor.peek("mid", 0.0).payload == first + 19


def test_a_stream_that_nobody_peeks_at_any_more_is_soon_not_watched(make_graph, monitored) -> None:
    graph = make_graph(CHAIN, Pass, threads=1)
    monitor = monitored(graph, NEVER_S)
    graph.start_run()
    schedule = graph._runs.runner.schedule
    monitor.peek_all(("in", "mid", "out"), 0.0)
    assert all(len(stream.observers) == 1 for stream in schedule.streams)
    feed(graph, range(200))
    graph.wait_until_idle(TIMEOUT)
    assert all(stream.observers == () for stream in schedule.streams)
    assert monitor.peek("mid", 0.0).payload < 199, "later ones were not looked at"
    feed(graph, [200])
    graph.wait_until_idle(TIMEOUT)
    assert monitor.peek("mid", 0.0).payload == 200
    monitor.close()
    assert all(stream.observers == () for stream in schedule.streams)
    graph.close(TIMEOUT)


def test_packets_of_several_streams_are_waited_for_together(make_graph, monitored) -> None:
    graph = make_graph(CHAIN, Pass, threads=1)
    monitor = monitored(graph, NEVER_S)
    graph.start_run()
    names = ("out", "nope", "in", "mid")
    found = while_fed(graph, lambda: monitor.peek_all(names, TIMEOUT))

    assert tuple(found) == names
    assert isinstance(found["nope"], NotFoundError)
    assert all(found[name].payload == int(found[name].timestamp) for name in ("in", "mid", "out"))


def test_of_several_streams_a_silent_one_holds_the_others_up_no_longer_than_the_timeout(
    make_graph, monitored
) -> None:
    silent = calculator(lambda _: None, name="Pass", offset=0)
    graph = make_graph(CHAIN, silent, threads=1)
    monitor = monitored(graph, NEVER_S)
    graph.start_run()
    found = while_fed(graph, lambda: monitor.peek_all(("in", "mid", "out"), 0.5))

    assert found["in"] is not None
    assert (found["mid"], found["out"]) == (None, None)


def test_a_peek_that_waits_does_not_keep_the_graph_alive(make_graph, monitored) -> None:
    graph = make_graph(CHAIN, Pass, threads=1)
    monitor = monitored(graph, NEVER_S)
    graph.start_run()
    schedule = graph._runs.runner.schedule
    peeking = threading.Thread(target=lambda: monitor.peek("mid", TIMEOUT))
    peeking.start()
    until_s = time.monotonic() + TIMEOUT
    while not any(stream.observers for stream in schedule.streams):
        assert time.monotonic() < until_s
    dropped = threading.Event()
    gone = weakref.ref(graph, lambda _: dropped.set())
    del graph

    assert dropped.wait(TIMEOUT / 4), "long before the peek ends by itself"
    assert gone() is None
    peeking.join(TIMEOUT / 4)
    assert not peeking.is_alive(), "the end of the monitor has ended it"


def test_the_end_of_a_run_ends_a_peek(make_graph, monitored) -> None:
    graph = make_graph(CHAIN, Pass, threads=1)
    monitor = monitored(graph, 0.01)
    graph.start_run()
    seen = []
    peeking = threading.Thread(target=lambda: seen.append(monitor.peek("mid", 3 * TIMEOUT)))
    peeking.start()
    graph.close(TIMEOUT)
    peeking.join(TIMEOUT)

    assert seen == [None]


def test_a_peek_of_a_name_that_is_no_stream_is_refused_at_any_time(make_graph, monitored) -> None:
    graph = make_graph(CHAIN, Pass)
    monitor = monitored(graph, NEVER_S)
    for begin in (lambda: None, graph.start_run):
        begin()
        with pytest.raises(
            NotFoundError, match=r"there is no stream 'midd' to peek at \(did you mean 'mid'\?\)"
        ):
            monitor.peek("midd", 0.01)
        with pytest.raises(
            NotFoundError, match="there is no stream 'x' to peek at; there are: 'in', 'mid', 'out'"
        ):
            monitor.peek("x", 0.01)
        assert monitor.peek("mid", 0.01) is None


def test_without_a_reading_and_without_a_graph_there_is_nothing_to_tell(make_graph) -> None:
    graph = make_graph(CHAIN, Pass)
    monitor = Monitor(graph, NEVER_S)
    monitor.close()
    del graph
    gc.collect()
    monitor._newest = None  # as if it had gone before the first reading

    with pytest.raises(FailedPreconditionError, match="the monitor has no reading, and its graph is gone"):
        monitor.reading()


def test_a_monitor_says_whose_it_is(make_graph, monitored) -> None:
    graph = make_graph(CHAIN, Pass)
    assert monitored(graph, NEVER_S).graph is graph


def test_each_sample_is_told(make_graph, monitored) -> None:
    graph = make_graph(CHAIN, Pass)
    told = threading.Event()
    samples = []

    def note(sample):
        samples.append(sample)
        told.set()

    monitored(graph, on_sample=note)
    with graph:
        graph.start_run()
        for number in range(100_000):
            feed(graph, [number])
            if told.wait(0.001):
                break
        graph.wait_until_idle(TIMEOUT)

    assert sorted(samples[0].seen_s) == ["in", "out"]
    assert set(samples[0].latencies_s) == {"out"}


# --- memory -----------------------------------------------------------------------------------


@pytest.mark.parametrize("count", [4_000, pytest.param(20_000, marks=pytest.mark.slow)])
def test_thousands_of_readings_leave_nothing_behind(make_graph, count) -> None:
    from penstock_monitor.follower import Follower

    graph = make_graph(CHAIN, Pass)
    clock = ManualClock()
    follower = Follower(graph, clock)
    graph.start_run()

    def look(count, first):
        for number in range(first, first + count):
            clock.advance(0.05 if number % 100 else 2.0)
            if number % 3 == 0:
                feed(graph, [number])
                graph.wait_until_idle(TIMEOUT)
            reading = follower.read(graph)
        gc.collect()
        return len(gc.get_objects()), reading

    before, _ = look(2_000, 0)
    after, reading = look(count - 2_000, 2_000)
    graph.close(TIMEOUT)

    assert reading.number == count
    assert reading.latencies[0].count > 300
    assert after - before < 1_000, "of them 500 samples"
