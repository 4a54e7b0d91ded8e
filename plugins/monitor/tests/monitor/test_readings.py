"""What a reading says, at moments that the test chooses, on a clock that the test moves."""

from __future__ import annotations

import itertools
import json
import threading

import attrs
import pytest
from looked_at import TIMEOUT, Join, Odd, Pass, Sink, node, stream

import penstock
from penstock.errors import GraphRunError
from penstock_monitor import sampling
from penstock_testing import ManualClock, calculator

CHAIN = """
input_stream: "in" output_stream: "out"
node { calculator: "Pass" name: "first" input_stream: "in" output_stream: "mid" }
node { calculator: "Pass" name: "second" input_stream: "mid" output_stream: "out" }
"""
SLOW = """
input_stream: "in" output_stream: "out" max_queue_size: 3
node { calculator: "Gate" name: "slow" input_stream: "in" output_stream: "out" }
"""
#: The join waits for what the node before it has forgotten to promise.
FORGETS = """
input_stream: "in" output_stream: "out"
node { calculator: "Odd" name: "odd" input_stream: "in" output_stream: "odds" }
node { calculator: "Join" name: "join" input_stream: "in" input_stream: "odds" output_stream: "out" }
"""


# --- before, during and after a run -----------------------------------------------------------


def test_a_graph_that_has_not_started_shows_its_nodes_and_streams(read) -> None:
    reading = read(CHAIN, Pass).after(0)

    assert (reading.number, reading.state, reading.elapsed_s) == (1, "not started", 0)
    assert [(one.name, one.calculator, one.state) for one in reading.nodes] == [
        ("first", "Pass", "unopened"),
        ("second", "Pass", "unopened"),
    ]
    assert [(one.name, one.writer, one.readers, one.is_input, one.is_output) for one in reading.streams] == [
        ("in", "", ("first",), True, False),
        ("mid", "first", ("second",), False, False),
        ("out", "second", (), False, True),
    ]


def test_a_run_has_the_same_wiring_as_its_file(read) -> None:
    one = read(FORGETS, Odd, Join)
    before = one.after(0)
    one.graph.start_run()
    during = one.after(0)

    def wiring(reading):
        return [(s.name, s.writer, s.readers, s.is_input, s.is_output) for s in reading.streams]

    assert wiring(during) == wiring(before)
    assert (during.number, during.state) == (2, "running")


def test_the_run_that_is_over_is_still_told(read) -> None:
    one = read(CHAIN, Pass)
    one.graph.start_run()
    one.add(1, 2)
    one.after(0)
    one.graph.close(TIMEOUT)
    reading = one.after(5)

    assert reading.state == "over"
    assert [s.packets for s in reading.streams] == [2, 2, 2]
    assert [n.state for n in reading.nodes] == ["closed", "closed"]
    assert reading.stall is None


def test_numbers_begin_again_with_each_run_and_readings_are_counted_on(read) -> None:
    one = read(CHAIN, Pass)
    for packets in (5, 2, 7):
        one.graph.start_run()
        one.add(*range(packets))
        one.idle()
        one.after(2)
        reading = one.after(1)
        assert (reading.elapsed_s, stream(reading, "out").packets) == (1, packets)
        assert reading.state == "running"
        one.graph.close(TIMEOUT)
        one.after(0)

    assert reading.number == 8


def test_a_run_that_began_and_ended_between_two_readings_is_not_mixed_with_the_next(read) -> None:
    one = read(CHAIN, Pass)
    one.graph.start_run()
    one.add(*range(5))
    one.idle()
    one.after(1)
    one.graph.close(TIMEOUT)
    one.graph.start_run()
    one.add(*range(6))
    one.idle()
    reading = one.after(1)

    assert (reading.elapsed_s, stream(reading, "out").packets, stream(reading, "out").per_s) == (0, 6, 0)


def test_a_run_that_begins_while_a_snapshot_is_taken_is_read_as_a_whole(read) -> None:
    one = read(CHAIN, Pass)
    one.graph.start_run()
    one.add(*range(5))
    one.idle()
    one.after(1)
    one.graph.close(TIMEOUT)
    snapshot = one.graph.snapshot

    def begins_meanwhile():
        taken = snapshot()
        if one.graph.run_count == 1:
            one.graph.start_run()
        return taken

    one.graph.snapshot = begins_meanwhile
    reading = one.after(1)

    assert (reading.state, reading.elapsed_s, stream(reading, "out").packets) == ("running", 0, 0)


@pytest.mark.parametrize("how", ["fails", "is cancelled"])
def test_a_run_that_fails_shows_its_errors(read, how) -> None:
    def fail(cc):
        raise ValueError("no")

    fails = calculator(fail, name="Fails", offset=0)
    one = read(CHAIN.replace('"Pass" name: "second"', '"Fails" name: "second"'), Pass, fails)
    one.graph.start_run()
    one.after(0)
    if how == "fails":
        one.add(1)
    else:
        one.graph.cancel()
    with pytest.raises(GraphRunError):
        one.graph.wait_until_done(TIMEOUT)
    reading = one.after(2)

    (error,) = reading.errors
    assert ("ValueError: no" if how == "fails" else "the run was cancelled") in error
    assert (reading.state, reading.stall) == ("over", None)
    assert [one.name for one in reading.nodes if one.state == "failed"] == ["second"] * (how == "fails")


def test_a_reading_is_json(read) -> None:
    one = read(FORGETS, Odd, Join)
    one.graph.start_run()
    one.add(0, 1, 2)
    one.idle()
    one.after(0)
    reading = one.after(2)

    told = json.loads(json.dumps(attrs.asdict(reading)))
    assert told["stall"]["culprits"][0]["node"] == "odd"
    assert [one["name"] for one in told["streams"]] == ["in", "odds", "out"]


# --- rates and ages ---------------------------------------------------------------------------


def test_rates_are_those_of_the_last_second_and_agree_with_the_ledger(read) -> None:
    one = read(CHAIN, Pass)
    one.graph.start_run()
    one.after(0)
    written, told = [], []
    for eighth in range(32):
        count = 5 if eighth < 16 else 1
        one.add(*range(10 * eighth, 10 * eighth + count))
        one.idle()
        reading = one.after(0.125)
        written.append({s.name: s.added for s in one.graph.ledger().streams})
        told.append(reading)
        assert {s.name: s.packets for s in reading.streams} == written[-1]
        if eighth >= 8:
            for s in reading.streams:
                assert s.per_s == written[-1][s.name] - written[-9][s.name]
            assert node(reading, "second").steps_per_s == stream(reading, "out").per_s

    assert stream(told[15], "out").per_s == 40
    assert stream(told[31], "out").per_s == 8


def test_readings_that_are_far_apart_measure_from_one_to_the_next(read) -> None:
    one = read(CHAIN, Pass)
    one.graph.start_run()
    one.after(0)
    one.add(*range(30))
    one.idle()
    assert stream(one.after(3), "out").per_s == pytest.approx(10)
    assert stream(one.after(3), "out").per_s == 0


def test_the_age_is_that_of_the_newest_packet(read) -> None:
    one = read(CHAIN, Pass)
    one.graph.start_run()
    assert stream(one.after(1), "out").age_s is None
    one.add(0)
    one.idle()
    ages = [stream(one.after(0.5), "out").age_s for _ in range(3)]

    assert ages == [0, 0.5, 1.0]


def test_the_age_is_that_at_the_end_of_a_run_that_is_over(read) -> None:
    one = read(CHAIN, Pass)
    one.graph.start_run()
    one.add(0)
    one.idle()
    one.after(0)
    one.graph.close(TIMEOUT)
    assert [stream(one.after(2), "out").age_s for _ in range(3)] == [2, 2, 2]


def test_a_node_that_counts_as_lost_is_told_with_the_time_until_it_is_back_or_the_run_is_over(read) -> None:
    def count(cc):
        cc.counter("source_lost").increment_by(cc.input.payload)
        cc.counter("lost").increment()  # of packets, as BudgetCalculator has it: no source

    counts = calculator(count, name="Counts", offset=0)
    one = read(CHAIN.replace('"Pass" name: "first"', '"Counts" name: "first"'), counts, Pass)
    one.graph.start_run()

    def lost_after(seconds, *changes):
        for change in changes:
            one.graph.add_packet_to_input_stream("in", penstock.Packet(change, one.after(0).number))
        one.idle()
        return [one.lost_s for one in one.after(seconds).nodes]

    assert lost_after(1) == [None, None]
    assert lost_after(1, 1) == [0, None]
    assert lost_after(8) == [8, None]
    assert lost_after(1, -1) == [None, None]
    assert lost_after(1, 1) == [0, None]
    one.graph.close(TIMEOUT)
    assert [one.lost_s for one in one.after(1).nodes] == [None, None]


def test_a_call_that_lasts_is_told_with_its_time(read, gate) -> None:
    one = read(SLOW, gate.calculator, threads=1)
    one.graph.start_run()
    one.add(0)
    assert gate.inside.wait(TIMEOUT)
    first, second = one.after(1), one.after(2)
    gate.leave.set()
    one.idle()
    third = one.after(1)

    assert [node(r, "slow").running for r in (first, second, third)] == [1, 1, 0]
    assert [node(r, "slow").running_s for r in (first, second, third)] == [0, 2, 0]


def test_queues_drops_and_throttled_inputs_are_told(read, gate) -> None:
    one = read(SLOW, gate.calculator, threads=1)
    one.graph.set_late_packet_mode("in", "DROP")
    one.graph.start_run()
    one.add(10)
    assert gate.inside.wait(TIMEOUT)
    one.add(20, 5, 30, 40)
    reading = one.after(1)

    told = stream(reading, "in")
    assert (told.packets, told.queued, told.limit) == (5, 3, 3)
    assert (told.dropped, told.drops) == (1, {"late": 1})
    assert told.dropped_at == {"": {"late": 1}}, "at the graph input"
    assert told.queued_bytes > 0
    assert (told.bound, reading.throttled) == ("41", ("in",))


def test_busy_is_the_share_of_time_in_calls_and_none_without_timing(read) -> None:
    real = threading.Event()
    waits = calculator(
        lambda cc: real.wait(0.02) or cc.output.add_packet(cc.input.packet), name="Waits", offset=0
    )
    text = CHAIN.replace('"Pass" name: "second"', '"Waits" name: "second"')
    one = read(text, Pass, waits)
    one.graph.start_run()
    one.add(0)
    one.idle()
    assert [n.busy for n in one.after(1).nodes] == [None, None]
    one.graph.close(TIMEOUT)

    one.graph.set_timing()
    one.graph.start_run()
    one.after(0)
    one.add(*range(10))
    one.idle()
    timed = one.after(1)
    spent = {n.name: n.busy_s for n in one.graph.snapshot().nodes}
    assert node(timed, "second").busy == pytest.approx(spent["second"])
    assert 0.2 <= node(timed, "second").busy < 5
    assert 0 < node(timed, "first").busy < 0.2


def test_a_node_is_busy_with_no_more_calls_than_may_overlap(read) -> None:
    waits = calculator(
        lambda cc: threading.Event().wait(0.03) or cc.output.add_packet(cc.input.packet),
        name="Waits",
        offset=0,
    )
    one = read(CHAIN.replace('"Pass" name: "second"', '"Waits" name: "second"'), Pass, waits)
    one.graph.set_timing()
    one.graph.start_run()
    one.after(0)
    one.add(0, 1)
    one.idle()
    # calls of 0.06 s came back within 0.01 s of the clock
    assert node(one.after(0.01), "second").busy == 1


def test_the_time_of_a_run_that_is_over_stands_still(read) -> None:
    one = read(CHAIN, Pass)
    one.graph.start_run()
    one.after(0)
    one.after(2)
    one.graph.close(TIMEOUT)
    assert one.after(1).elapsed_s == 3
    assert one.after(5).elapsed_s == 3
    one.graph.start_run()
    assert one.after(1).elapsed_s == 0


# --- stalls -----------------------------------------------------------------------------------


def test_a_call_that_does_not_come_back_is_the_culprit_after_a_second(read, gate) -> None:
    one = read(SLOW, gate.calculator, threads=1)
    one.graph.start_run()
    one.add(0, 1)
    assert gate.inside.wait(TIMEOUT)
    one.after(0)
    assert one.after(0.9).stall is None
    stall = one.after(0.2).stall

    assert stall.since_s == pytest.approx(1.1)
    (culprit,) = stall.culprits
    assert (culprit.node, culprit.stream) == ("slow", "")
    assert culprit.words == "node 'slow' is running (1 calls): process() at 0 has not come back"
    # a Python without its lock may say that it cannot be seen
    assert "process() at 0 stands " in stall.story
    assert one.after(1).stall.since_s == pytest.approx(2.1)
    gate.leave.set()
    one.idle()
    assert one.after(1).stall is None


def test_it_is_known_when_a_run_that_does_not_move_will_be_stalled(read, gate) -> None:
    one = read(SLOW, gate.calculator, threads=1)
    one.after(0)
    assert one.follower.stalls_in_s is None  # before a run
    one.graph.start_run()
    one.add(0, 1)
    assert gate.inside.wait(TIMEOUT)
    one.after(0)
    assert one.follower.stalls_in_s is None  # something has moved
    one.after(0.3)
    assert one.follower.stalls_in_s == pytest.approx(0.7)
    one.after(0.7)
    assert one.follower.stalls_in_s is None  # it is stalled
    gate.leave.set()
    one.idle()
    one.after(0.3)
    assert one.follower.stalls_in_s is None


def test_a_forgotten_bound_that_holds_up_packets_is_the_culprit_with_its_stream(read) -> None:
    one = read(FORGETS, Odd, Join)
    one.graph.start_run()
    one.add(0, 1, 2)
    one.idle()
    one.after(0)
    (culprit,) = one.after(1).stall.culprits

    assert (culprit.node, culprit.stream) == ("odd", "odds")
    assert "has processed all up to 2 but promises nothing beyond 1" in culprit.words


def test_a_healthy_graph_that_waits_for_the_application_blames_no_node(read) -> None:
    one = read(FORGETS.replace('"Odd"', '"Pass"'), Pass, Join)
    one.graph.start_run()
    one.add(0, 1, 2)
    one.idle()
    one.after(0)
    stall = one.after(1).stall

    assert [(c.node, c.stream) for c in stall.culprits] == [("", "in")]
    assert stall.culprits[0].words.startswith("graph input 'in' is open; the application feeds or closes it")


def test_a_forgotten_bound_that_holds_up_nothing_is_not_blamed(read) -> None:
    text = CHAIN.replace('"Pass" name: "first"', '"Odd" name: "first"')
    one = read(text, Odd, Pass)
    one.graph.start_run()
    one.add(0, 1, 2)
    one.idle()
    one.after(0)
    reading = one.after(1)

    assert "'first' (Odd) has processed all up to 2" in reading.stall.story
    assert [(c.node, c.stream) for c in reading.stall.culprits] == [("", "in")]


def test_an_input_that_is_not_fed_while_packets_wait_is_the_culprit(read) -> None:
    text = """
    input_stream: "in" input_stream: "other" output_stream: "out"
    node { calculator: "Join" name: "join" input_stream: "in" input_stream: "other" output_stream: "out" }
    """
    one = read(text, Join)
    one.graph.start_run()
    one.add(0)
    one.idle()
    one.after(0)

    assert [(c.node, c.stream) for c in one.after(1).stall.culprits] == [("", "other")]


def test_a_paused_graph_is_not_stalled_until_a_second_after_it_goes_on(read) -> None:
    one = read(CHAIN, Pass)
    one.graph.start_run()
    one.after(0)
    one.graph.pause()
    paused = one.after(5)
    one.graph.resume()
    resumed, later = one.after(0.5), one.after(0.5)

    assert (paused.state, paused.stall) == ("paused", None)
    assert resumed.stall is None
    assert later.stall.since_s == pytest.approx(1.0)


def test_a_bound_that_moves_is_movement(read) -> None:
    one = read(CHAIN, Pass)
    one.graph.start_run()
    one.after(0)
    for bound in (10, 20, 30):
        one.graph.set_input_stream_timestamp_bound("in", bound)
        one.idle()
        assert one.after(0.9).stall is None


def test_the_story_of_a_long_stall_is_told_anew(read) -> None:
    seen = []
    one = read(CHAIN, Pass)
    why = one.graph.why

    def counted():
        seen.append(one.clock())
        return why()

    one.graph.why = counted
    one.graph.start_run()
    one.after(0)
    for _ in range(14):
        assert one.after(0.5).stall is None or seen

    assert seen == [101.0, 106.0]


# --- many nodes -------------------------------------------------------------------------------


def test_a_graph_of_five_hundred_nodes_is_read(read) -> None:
    nodes = [
        f'node {{ calculator: "Pass" input_stream: "s{n}" output_stream: "s{n + 1}" }}' for n in range(500)
    ]
    one = read("\n".join(['input_stream: "s0" output_stream: "s500"', *nodes]), Pass)
    one.graph.start_run()
    one.after(0)
    one.add(*range(10), stream="s0")
    one.idle()
    reading = one.after(1)

    assert len(reading.nodes) == 500
    assert {s.per_s for s in reading.streams} == {10}
    assert [s.readers for s in reading.streams[:-1]] == [(n.name,) for n in reading.nodes]
    assert [s.writer for s in reading.streams[1:]] == [n.name for n in reading.nodes]


# --- latencies --------------------------------------------------------------------------------


#: Every second packet; the others are settled without one.
SETTLED_ODD = calculator(
    lambda cc: cc.output.add_packet(cc.input.packet) if cc.input.payload % 2 else None, name="Odd", offset=0
)


def timed_pass(clock, name, seconds):
    """Return a calculator whose calls take so long on the clock."""

    def process(cc):
        clock.advance(seconds)
        cc.output.add_packet(cc.input.packet)

    return calculator(process, name=name, offset=0)


def sampled(one, packets, *streams):
    """Feed packets one by one, with a reading before each; return the last reading."""
    one.after(0.1)
    for number in packets:
        for name in streams or ("in",):
            one.add(number, stream=name)
        one.idle()
        reading = one.after(0.1)
    return reading


def test_the_latency_at_a_graph_output_is_the_time_from_the_input_to_there(read) -> None:
    clock = ManualClock(100)
    took = iter([0.0, 0.002, 0.004, 0.030, *[0.010] * 96])

    def process(cc):
        clock.advance(next(took))
        cc.output.add_packet(cc.input.packet)

    one = read(
        CHAIN.replace('"Pass" name: "second"', '"Slow"'), Pass, calculator(process, name="Slow"), clock=clock
    )
    one.graph.start_run()
    reading = sampled(one, range(100))

    (latency,) = reading.latencies
    assert latency.stream == "out"
    assert latency.count == 99, "the first packet is what shows that packets come"
    assert latency.last_ms == pytest.approx(10)
    assert latency.median_ms == pytest.approx(10)
    assert latency.p99_ms == pytest.approx(30)
    assert latency.worst_ms == pytest.approx(30)


def test_a_sample_is_one_of_several_packets_and_not_always_that_after_a_gap(read) -> None:
    clock = ManualClock(100)

    def process(cc):
        clock.advance(0.001 if cc.input.payload % 8 == 0 else 0.040)
        cc.output.add_packet(cc.input.packet)

    text = CHAIN.replace('"Pass" name: "second"', '"Slow"')
    taken = itertools.cycle(range(8))
    one = read(text, Pass, calculator(process, name="Slow"), clock=clock, skips=lambda: next(taken))
    one.graph.start_run()
    for group in range(64):  # of eight packets that come together, the first one finds the graph idle
        one.after(0.2)
        one.add(*range(8 * group, 8 * group + 8))
        one.idle()
    (latency,) = one.after(0.1).latencies
    assert latency.median_ms > 40, "that of the first ones is 1 ms"
    assert latency.count > 32


def test_on_a_slow_stream_a_sample_does_not_wait_for_several_packets(read) -> None:
    one = read(CHAIN, Pass, skips=lambda: 7)
    one.graph.start_run()
    for number in range(20):
        one.after(0.6)
        one.add(number)
        one.idle()
    (latency,) = one.after(0.6).latencies
    assert latency.count > 8, "the first packet after half a second is taken"


def test_a_stream_on_which_packets_enter_and_leave_has_no_latency(read) -> None:
    text = 'output_stream: "in" ' + CHAIN
    one = read(text, Pass)
    one.graph.start_run()
    assert [latency.stream for latency in sampled(one, range(9)).latencies] == ["out"]


def test_streams_that_only_sinks_read_have_a_latency_too(read) -> None:
    clock = ManualClock(100)
    text = """
    input_stream: "in" output_stream: "out"
    node { calculator: "Slow" input_stream: "in" output_stream: "mid" }
    node { calculator: "Slow" input_stream: "mid" output_stream: "end" }
    node { calculator: "Pass" input_stream: "mid" output_stream: "out" }
    node { calculator: "Sink" input_stream: "end" }
    node { calculator: "Sink" input_stream: "mid" }
    """
    one = read(text, timed_pass(clock, "Slow", 0.01), Pass, Sink, clock=clock)
    one.graph.start_run()
    reading = sampled(one, range(5))

    assert [s.stream for s in reading.latencies] == ["end", "out"], "a node reads 'mid' that is no sink"
    assert [s.count for s in reading.latencies] == [4, 4]
    assert [s.last_ms for s in reading.latencies] == [pytest.approx(20), pytest.approx(20, abs=10.1)]


def test_timestamps_that_do_not_come_out_count_no_sample(read) -> None:
    one = read(CHAIN.replace('"Pass" name: "first"', '"Odd" name: "first"'), SETTLED_ODD, Pass)
    one.graph.start_run()
    reading = sampled(one, range(20))

    (latency,) = reading.latencies
    assert latency.count == 9, "packets 3, 5 ... 19; the exit was silent until 1 came"


def test_a_sample_that_does_not_come_back_is_given_up(read, gate) -> None:
    one = read(SLOW.replace("max_queue_size: 3", ""), gate.calculator, threads=1)
    gate.leave.set()
    one.graph.start_run()
    for number in range(2):
        one.add(number)
        one.idle()
        one.after(0.1)
    gate.leave.clear()
    gate.inside.clear()
    one.add(2)
    assert gate.inside.wait(TIMEOUT)
    assert watchers(one.graph) == [0, 1], "the timestamp is known; it is still to leave"
    one.after(9)
    assert watchers(one.graph) == [0, 1]
    one.after(2)
    gone = watchers(one.graph)
    gate.leave.set()
    one.idle()

    assert gone == [0, 0]
    assert [latency.count for latency in one.after(0.1).latencies] == []


def test_what_a_sample_costs_decides_how_long_the_pause_is(read, monkeypatch) -> None:
    monkeypatch.setattr(sampling, "_CALL_S", 0.001)
    monkeypatch.setattr(sampling, "_WATCH_S", 0.0)
    one = read(CHAIN, Pass)
    one.graph.start_run()
    counts = []
    one.after(0.125)
    for number in range(20):
        one.add(number)
        one.idle()
        reading = one.after(0.125)
        counts.append(sum(latency.count for latency in reading.latencies))

    # a packet at each end are 2 ms: the pause is 0.8 s, and each seventh packet is sampled
    assert counts == [0] + [1] * 7 + [2] * 7 + [3] * 5


def watchers(graph):
    """Return how many observers watch each stream of a run."""
    streams = graph._runs.runner.schedule.streams
    return [sum(one.watches is not None for one in stream.observers) for stream in streams]


def test_between_two_samples_and_after_the_end_nothing_is_watched(read) -> None:
    one = read(CHAIN, Pass)
    one.graph.start_run()
    sampled(one, range(3))
    assert watchers(one.graph) == [1, 0, 1], "the next sample has begun"
    one.add(3)
    one.idle()
    assert watchers(one.graph) == [0, 0, 0], "it is done, and the next one begins with the next reading"
    one.after(0.1)
    one.follower.end()
    assert watchers(one.graph) == [0, 0, 0]
    one.after(0.1)
    assert watchers(one.graph) == [0, 0, 0]


def test_over_all_streams_a_sample_says_when_each_node_had_its_inputs_and_was_done(read) -> None:
    clock = ManualClock(100)
    text = """
    input_stream: "in" input_stream: "other" output_stream: "out"
    node { calculator: "Slow" name: "slow" input_stream: "in" output_stream: "mid" }
    node { calculator: "Join" name: "join" input_stream: "mid" input_stream: "other" output_stream: "out" }
    node { calculator: "Odd" name: "odd" input_stream: "mid" output_stream: "unread" }
    """
    samples = []
    one = read(
        text, timed_pass(clock, "Slow", 0.01), Join, SETTLED_ODD, clock=clock,
        on_sample=samples.append, over_all=lambda: True,
    )  # fmt: skip
    one.graph.start_run()
    sampled(one, range(6), "in", "other")

    found = {int(sample.timestamp): sample for sample in samples}
    assert sorted(found) == [1, 2, 3, 4, 5], "the first packet is what shows that packets come"
    assert sorted(found[2].seen_s) == ["in", "mid", "other", "out"], "2 is even"
    assert sorted(found[3].seen_s) == ["in", "mid", "other", "out", "unread"]
    for sample in samples:
        assert sample.entered_s == min(sample.seen_s["in"], sample.seen_s["other"])
        parts = {part.node: part for part in sample.parts()}
        assert parts["slow"].began_s == sample.seen_s["in"]
        assert parts["slow"].ended_s - parts["slow"].began_s == pytest.approx(0.01)
        assert parts["join"].began_s == max(sample.seen_s["mid"], sample.seen_s["other"])
        assert ("odd" in parts) == (int(sample.timestamp) % 2 == 1)
    assert set(found[3].latencies_s) == {"out", "unread"}, "nobody reads 'unread': it leaves the graph there"
    assert watchers(one.graph)[1] == 1
    one.follower.end()
    assert set(watchers(one.graph)) == {0}


def test_two_inputs_take_turns_and_only_those_with_packets_are_watched(read) -> None:
    clock = ManualClock(100)
    text = """
    input_stream: "in" input_stream: "other" input_stream: "silent" output_stream: "out"
    node { calculator: "Join" input_stream: "in" input_stream: "other" output_stream: "out" }
    node { calculator: "Sink" input_stream: "silent" }
    """
    one = read(text, Join, Sink, clock=clock)
    one.graph.start_run()
    sampled(one, range(2), "in", "other")
    first = watchers(one.graph)
    one.add(2)
    one.add(2, stream="other")
    one.idle()
    (latency,) = one.after(0.1).latencies
    second = watchers(one.graph)

    assert sorted([first, second]) == [[0, 1, 0, 1], [1, 0, 0, 1]]
    assert latency.count == 2


def test_latencies_of_a_source_begin_where_it_writes(read) -> None:
    clock = ManualClock(100)
    left = iter(range(6))
    readings = []

    def process(cc):
        readings.append(one.after(0.125))  # nothing else is to be done when a source is called
        number = next(left, None)
        if number is None:
            return penstock.STOP
        cc.output.add(number, number)
        return None

    text = """
    node { calculator: "Numbers" output_stream: "numbers" }
    node { calculator: "Slow" input_stream: "numbers" output_stream: "slowed" }
    node { calculator: "Sink" input_stream: "slowed" }
    """
    numbers = calculator(process, name="Numbers")
    one = read(text, numbers, timed_pass(clock, "Slow", 0.01), Sink, clock=clock)
    one.graph.run(timeout=TIMEOUT)

    (latency,) = readings[-1].latencies
    assert (latency.stream, latency.count) == ("slowed", 5)
    assert latency.median_ms == pytest.approx(10)
