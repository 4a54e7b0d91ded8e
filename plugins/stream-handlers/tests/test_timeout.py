from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

import penstock
from penstock import Packet, Timestamp
from penstock.errors import InvalidArgumentError
from penstock_stream_handlers.messages.timeout_pb2 import TimeoutOptions
from penstock_stream_handlers.timeout import TOO_LATE, Timeout
from penstock_testing import ManualClock, ScheduleHarness, calculator, node, wired

OPTIONS = TimeoutOptions(timeout_ms=200)
WAIT_S = 20


@pytest.fixture
def patient(watched):
    return watched(Timeout, "a b", OPTIONS)


def time_out(run):
    run.harness.time_out("watched")
    run.harness.run()


def test_streams_that_are_in_time_are_kept_in_step_as_by_the_default_policy(patient):
    patient.add("a", 1, 2, 4)
    patient.add("b", 2, 3)
    patient.close("a", "b")

    assert patient.seen == [(1, "a1"), (2, "a2 b2"), (3, "b3"), (4, "a4")]
    assert patient.is_closed
    assert (patient.dropped("a"), patient.dropped("b")) == ({}, {})


def test_a_stream_that_is_not_settled_in_time_counts_as_empty(patient):
    patient.add("a", 5, 6)
    patient.bound("b", 3)
    assert patient.calls == []

    time_out(patient)
    assert patient.shown == [(5, {"a": 5})]
    assert patient.calls[0].stamps["b"] == 2
    assert patient.queued("a") == [6]


def test_each_set_has_a_time_out_of_its_own(patient):
    patient.add("a", 5, 6)
    time_out(patient)
    assert patient.harness.schedule.waiting() == {patient.harness.node("watched").id: 6}

    time_out(patient)
    assert patient.seen == [(5, "a5"), (6, "a6")]


def test_packets_for_a_set_that_was_processed_are_dropped_and_later_ones_are_not(patient):
    patient.add("a", 5)
    time_out(patient)
    patient.add("b", 3, 5, 6)
    assert patient.dropped("b") == {TOO_LATE: 2}

    patient.add("a", 6)
    assert patient.seen == [(5, "a5"), (6, "a6 b6")]
    assert (patient.delivered("b"), patient.dropped("b")) == (1, {TOO_LATE: 2})


def test_late_packets_that_come_while_the_node_runs_are_dropped_too(patient):
    patient.add("a", 5)
    patient.harness.time_out("watched")
    step = patient.harness.take()
    patient.add_only("b", 4, 5, 7)
    patient.harness.complete(patient.harness.call(step))
    patient.harness.finish()

    assert patient.seen == [(5, "a5"), (7, "b7")]
    assert patient.dropped("b") == {TOO_LATE: 2}


def test_the_node_waits_for_the_earliest_packet_whichever_stream_has_it(watched):
    run = watched(Timeout, "a b c", OPTIONS)
    run.add("a", 8)
    run.add("b", 5, 8)
    time_out(run)
    assert run.seen == [(5, "b5")]

    time_out(run)
    assert run.seen == [(5, "b5"), (8, "a8 b8")]


def test_a_set_that_became_complete_in_time_is_not_cut_off(patient):
    patient.add("a", 5)
    waiting = dict(patient.harness.schedule.waiting())
    patient.add("b", 5)
    patient.add("a", 9)
    for number, stamp in waiting.items():
        patient.harness.change(lambda schedule, number=number, stamp=stamp: schedule.time_out(number, stamp))
    patient.harness.run()
    patient.add("b", 7)

    assert patient.seen == [(5, "a5 b5"), (7, "b7")]
    assert patient.dropped("b") == {}


@pytest.mark.parametrize("stamp", [Timestamp.PRESTREAM, Timestamp.POSTSTREAM])
def test_special_timestamps_can_time_out_too(patient, stamp):
    patient.add("a", stamp, payload="x")
    time_out(patient)
    patient.add("b", stamp, payload="y")
    patient.close("a", "b")

    assert patient.seen == [(int(stamp), "x")]
    assert patient.dropped("b") == {TOO_LATE: 1}
    assert patient.is_closed


def test_the_node_closes_when_all_streams_are_done(patient):
    patient.add("a", 5)
    time_out(patient)
    patient.close("a")
    assert not patient.is_closed

    patient.close("b")
    assert patient.is_closed


def test_with_process_bounds_settled_timestamps_are_processed_and_time_does_not_go_back(watched):
    run = watched(Timeout, "a b", OPTIONS, bounds=True)
    run.add("a", 5)
    run.bound("b", 3)
    time_out(run)
    run.bound("b", 4)
    run.bound("a", 9)
    run.bound("b", 8)

    assert [at for at, _ in run.seen] == [2, 5, 7]


def test_an_offset_forwards_settled_bounds_and_those_of_sets_that_timed_out():
    plan = wired(
        node(calculator(name="Silent", offset=0), "a b", "out", name="n", handler=Timeout, options=[OPTIONS]),
        inputs="a b",
    )
    harness = ScheduleHarness(plan, bounds_of=["out"]).start()
    harness.run()
    harness.add("a", "x", 5)
    harness.set_bound("b", 3)
    harness.run()
    assert [t for t, _ in harness.carried("out")] == [2]

    harness.time_out("n")
    harness.run()
    harness.set_bound("b", 5)
    harness.set_bound("a", 12)
    harness.set_bound("b", 9)
    harness.run()
    assert [t for t, _ in harness.carried("out")] == [2, 5, 8]


def test_it_waits_for_the_streams_that_are_not_settled(patient):
    patient.add("a", 5)

    assert [one.name for one in patient.harness.node("watched").policy.blocking()] == ["b"]


events = st.lists(st.tuples(st.sampled_from("ab"), st.integers(0, 5), st.booleans()), max_size=30)


@given(events)
def test_whatever_comes_and_times_out_calls_go_forward_and_no_packet_is_lost(watched_by_all, drawn):
    run = watched_by_all(Timeout, "a b", OPTIONS)
    at = {"a": 0, "b": 0}
    for stream, ahead, expires in drawn:
        at[stream] += ahead + 1
        run.add(stream, at[stream])
        if expires and run.harness.schedule.waiting():
            time_out(run)
    run.harness.finish()

    times = [t for t, _ in run.shown]
    assert times == sorted(set(times))
    assert all(set(packets.values()) == {t} for t, packets in run.shown)
    for stream in "ab":
        shown = sum(stream in packets for _, packets in run.shown)
        added = sum(one == stream for one, _, _ in drawn)
        assert shown + sum(run.dropped(stream).values()) == added
        assert set(run.dropped(stream)) <= {TOO_LATE}


def test_the_time_out_is_in_milliseconds(patient):
    assert patient.harness.node("watched").policy.patience_s == 0.2


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (TimeoutOptions(), "node 'watched': timeout_ms is missing, but must be given as a number of milli"),
        (TimeoutOptions(timeout_ms=0), "node 'watched': timeout_ms is 0, but must be"),
        (TimeoutOptions(timeout_ms=-0.5), "timeout_ms is -0.5"),
        (TimeoutOptions(timeout_ms=float("inf")), "timeout_ms is inf"),
        (TimeoutOptions(timeout_ms=float("nan")), "timeout_ms is nan"),
    ],
)
def test_options_that_cannot_be_right_are_refused_before_the_run(watched, options, message):
    with pytest.raises(InvalidArgumentError, match=message):
        watched(Timeout, "a b", options)


# --- on a clock -----------------------------------------------------------------------------------


def moved_until(happened, clock):
    """Advance the clock until `happened` is set; return whether it is."""
    for _ in range(WAIT_S * 200):
        if happened.wait(0.005):
            return True
        clock.advance(0.05)
    return False


def test_time_is_that_of_the_graphs_clock(pack_registry):
    clock, seen, called = ManualClock(), [], threading.Event()

    def see(_, packet):
        seen.append((packet.payload.at, " ".join(packet.payload.packets.values())))
        called.set()

    graph = penstock.CalculatorGraph(
        """
        input_stream: "a"
        input_stream: "b"
        node {
          calculator: "Recorder"
          input_stream: "a"
          input_stream: "b"
          output_stream: "out"
          input_stream_handler {
            input_stream_handler: "Timeout"
            options { [penstock.TimeoutOptions.ext] { timeout_ms: 200 } }
          }
        }
        max_queue_size: 1
        report_deadlock: true
        """,
        registry=pack_registry,
    )
    graph.set_clock(clock)
    graph.observe_output_stream("out", see)
    with ThreadPoolExecutor(2) as pool:
        graph.set_executor("", pool)
        graph.start_run()
        graph.add_packet_to_input_stream("a", Packet("x", 5))
        clock.advance(0.19)
        graph.wait_until_idle(WAIT_S)
        assert not called.wait(0.02)  # 0.19 s is all that has passed since the start

        assert moved_until(called, clock)
        assert seen == [(5, "x")]
        graph.add_packet_to_input_stream("b", Packet("late", 5))
        graph.add_packet_to_input_stream("b", Packet("y", 6))
        called.clear()
        graph.add_packet_to_input_stream("a", Packet("x", 6))
        assert called.wait(WAIT_S)  # the set is complete, so no time needs to pass
        graph.close_all_packet_sources()
        graph.wait_until_done(WAIT_S)

    assert seen == [(5, "x"), (6, "x y")]
    assert {stream.name: stream.dropped for stream in graph.snapshot().streams} == {"a": 0, "b": 1, "out": 0}
