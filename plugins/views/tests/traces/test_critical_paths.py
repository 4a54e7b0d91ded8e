"""Paths of packets, from traces of graphs whose times are known, and from traces that are written by hand."""

from __future__ import annotations

import json
import threading
import time

import pytest

from penstock import Packet
from penstock.errors import InvalidArgumentError
from penstock_testing import calculator
from penstock_views.traces import ChromeTracer
from penstock_views.traces.critical_paths import Leg, critical_path_data, paths_of
from penstock_views.traces.reading import read_trace

TIMEOUT = 20
#: Of a wait for a known time: what a busy machine adds is not the trace's.
MS = 1000.0


def slow(name, ms):
    def work(cc):
        time.sleep(ms / 1000)
        cc.output.add_packet(cc.inputs[0].packet)

    return calculator(work, name=name, offset=0)


Five, Twenty, Fifty = slow("Five", 5), slow("Twenty", 20), slow("Fifty", 50)
Both = calculator(lambda cc: cc.output.add_packet(cc.inputs["B"].packet), name="Both", offset=0)


@pytest.mark.timing
@pytest.mark.parametrize("threads", [2, 8])
def test_times_of_a_join_of_known_sleeps(make, tmp_path, threads):
    tracer = ChromeTracer()
    graph = make(
        [(Five, "in", "a"), (Twenty, "a", "b"), (Fifty, "in", "c"), (Both, "B:b C:c", "out")],
        "in",
        threads=threads,
    )
    graph.set_tracer(tracer)
    measured = []
    graph.observe_output_stream("out", lambda *_: measured.append(time.perf_counter()))
    graph.start_run()
    added = []
    for i in range(8):
        added.append(time.perf_counter())
        graph.add_packet_to_input_stream("in", Packet(i), i)
        graph.wait_until_idle(TIMEOUT)
    graph.close_all_input_streams()
    graph.wait_until_done(TIMEOUT)
    tracer.write(tmp_path / "t.json")

    (path,) = paths_of(read_trace(tmp_path / "t.json").runs[0])

    assert (path.source, path.end, len(path.journeys)) == ("in", "out", 8)
    took = {journey.timestamp: journey.latency_us for journey in path.journeys}
    for timestamp, (begin, end) in enumerate(zip(added, measured, strict=True)):
        assert abs(took[timestamp] - (end - begin) * 1e6) < 2 * MS
    assert abs(path.journeys[0].latency_us - 50 * MS) < 2 * MS
    for journey in path.journeys:
        assert sum(leg.total_us for leg in journey.legs) == pytest.approx(journey.latency_us, abs=1)
    first = path.journeys[0].legs
    assert [leg.node for leg in first] == ["Fifty", "Both"]
    assert abs(first[0].work_us - 50 * MS) < 2 * MS


# --- by hand: times are exact ------------------------------------------------------------------------


class Trace:
    """Writes a trace file: calls on threads, at times in milliseconds."""

    def __init__(self, file):
        self.file, self.events = file, []

    def add(self, at, stream, timestamp):
        self._slice(f"add to {stream}", "add", 0, (at, at + 0.001), {"timestamp": timestamp})
        return self

    def call(self, node, thread, span, inputs=(), outputs=()):
        arguments = {"method": "process"}
        for key, packets in (("inputs", inputs), ("outputs", outputs)):
            for stream, timestamp in packets:
                arguments.setdefault(key, {}).setdefault(stream, []).append(timestamp)
        self._slice(node, "process", thread, span, arguments)
        return self

    def event(self, **fields):
        self.events.append({"pid": 1, "args": {}, **fields})
        return self

    def _slice(self, name, cat, tid, span, arguments):
        begin, end = span
        dur = (end - begin) * 1000
        self.event(ph="X", name=name, cat=cat, tid=tid, ts=begin * 1000, dur=dur, args=arguments)

    def run(self):
        self.file.write_text(json.dumps({"traceEvents": self.events}), encoding="utf-8")
        (run,) = read_trace(self.file).runs
        return run

    def paths(self):
        return paths_of(self.run())


@pytest.fixture
def trace(tmp_path):
    return Trace(tmp_path / "t.json")


def ms(leg):
    return (leg.node, *(round(us / 1000, 6) for us in (leg.own_queue_us, leg.thread_us, leg.other_input_us)))


def test_a_wait_is_for_the_nodes_own_queue_then_for_a_thread_then_for_another_input(trace):
    trace.add(0, "in", 1).add(1, "in", 2)
    trace.call("A", 1, (0, 10), [("in", 1)], [("out", 1)])  # so 2 waits for A until 10
    trace.call("B", 1, (10, 14), [("x", 1)])  # the only thread is busy until 14
    trace.call("A", 1, (17, 20), [("in", 2)], [("out", 2)])  # and then nothing hinders it but an input
    first, second = trace.paths()[0].journeys
    assert (first.latency_us, second.latency_us) == (10_000, 19_000)
    (leg,) = second.legs
    assert ms(leg) == ("A", 9, 4, 3)
    assert leg.work_us == 3000


def test_a_thread_that_is_free_is_not_waited_for(trace):
    trace.add(0, "in", 1)
    trace.call("A", 1, (0, 1), [("in", 0)])
    trace.call("A", 2, (1, 2), [("in", 0)])  # both threads run A
    trace.call("B", 1, (2, 12), [("x", 1)])  # and one of them is free meanwhile
    trace.call("A", 2, (12, 13), [("in", 1)], [("out", 1)])
    (path,) = trace.paths()
    assert [ms(leg) for leg in path.worst.legs] == [("A", 2, 0, 10)]


def test_a_node_with_room_for_another_call_has_no_own_queue(trace):
    trace.add(0, "in", 0).add(0, "in", 1).add(2, "in", 2)
    trace.call("A", 1, (0, 10), [("in", 0)])
    trace.call("A", 2, (1, 4), [("in", 1)])  # two calls at once; from 4 on there is room
    trace.call("B", 2, (4, 6), [("x", 1)])
    trace.call("A", 2, (6, 7), [("in", 2)], [("out", 2)])
    (path,) = trace.paths()
    assert [ms(leg) for leg in path.worst.legs] == [("A", 2, 2, 0)]


def test_the_path_goes_back_over_the_input_that_came_last(trace):
    trace.add(0, "in", 1)
    trace.call("Quick", 1, (0, 1), [("in", 1)], [("q", 1)])
    trace.call("Slow", 2, (0, 9), [("in", 1)], [("s", 1)])
    trace.call("Join", 1, (9, 10), [("q", 1), ("s", 1)], [("out", 1)])
    (path,) = trace.paths()
    assert [leg.node for leg in path.worst.legs] == ["Slow", "Join"]
    assert [leg.work_us for leg in path.mean_legs()] == [9000, 1000]


def test_each_source_has_its_own_path_and_a_node_without_outputs_is_an_end(trace):
    trace.call("Camera", 1, (0, 5), (), [("frame", 10)])
    trace.call("Microphone", 2, (0, 2), (), [("sound", 10)])
    trace.call("Writer", 1, (6, 8), [("frame", 10), ("sound", 10)])
    paths = {(path.source, path.end): path for path in trace.paths()}
    assert paths.keys() == {("frame", "Writer"), ("sound", "Writer")}
    assert paths["frame", "Writer"].worst.latency_us == 3000
    assert paths["sound", "Writer"].worst.latency_us == 6000
    assert [ms(leg) for leg in paths["sound", "Writer"].worst.legs] == [("Writer", 0, 0, 4)]


def test_a_loop_leads_to_the_packet_of_its_own_time_and_the_loop_is_another_input(trace):
    trace.add(0, "in", 1).add(1, "in", 2)
    trace.call("Join", 1, (0, 4), [("in", 1)], [("out", 1)])
    trace.call("Back", 1, (4, 7), [("out", 1)], [("loop", 1)])
    trace.call("Join", 1, (7, 9), [("in", 2), ("loop", 1)], [("rows", 2)])
    paths = {path.end: path for path in trace.paths()}
    journey = paths["rows"].worst
    assert (journey.timestamp, journey.latency_us) == (2, 8000)
    assert [ms(leg) for leg in journey.legs] == [("Join", 0, 0, 6)]


def test_a_node_that_writes_without_a_packet_is_no_source(trace):
    trace.add(0, "in", 1)
    trace.call("Hold", 1, (0, 1), [("in", 1)])
    trace.call("Hold", 1, (2, 3), (), [("out", 1)])
    assert trace.paths() == ()


def test_quantiles_are_packets_and_means_count_nodes_that_were_not_passed(trace):
    for i in range(100):
        trace.add(i * 1000, "in", i)
        trace.call("A", 1, (i * 1000, i * 1000 + i + 1), [("in", i)], [("a", i)])
        if i % 2:
            trace.call("B", 1, (i * 1000 + i + 1, i * 1000 + i + 3), [("a", i)], [("b", i)])
    (path,) = trace.paths()
    assert (path.end, len(path.journeys)) == ("b", 50)
    assert [one.timestamp for one in (path.median, path.p99, path.worst)] == [49, 99, 99]
    data = critical_path_data(path)
    assert (data["median_ms"], data["worst_ms"], data["packets"]) == (52.0, 102.0, 50)
    assert data["worst"]["timestamp"] == 99
    assert [leg["node"] for leg in data["mean"]] == ["A", "B"]


def test_special_timestamps_are_no_journeys(trace):
    trace.add(0, "in", "PRESTREAM")
    trace.call("A", 1, (0, 1), [("in", "PRESTREAM")], [("out", "PRESTREAM")])
    assert trace.paths() == ()


def test_full_queues_drops_and_lengths_are_read(trace):
    trace.call("A", 1, (0, 30), [("in", 1)])
    trace.event(ph="i", name="throttled by in at A", ts=1000)
    trace.event(ph="i", name="no longer throttled by in at A", ts=4000)
    trace.event(ph="i", name="throttled by in at A", ts=10_000)
    trace.event(ph="i", name="throttled by in at A", ts=20_000)  # still
    trace.event(ph="C", name="queue of in at A", ts=0, args={"packets": 7})
    trace.event(ph="C", name="queue of in at A", ts=1, args={"packets": 2})
    drop = {"stream": "in", "packets": 3, "reason": "gate closed"}
    trace.event(ph="i", name="dropped at A", ts=5, args=drop).event(
        ph="i", name="dropped at A", ts=6, args=drop
    )
    run = trace.run()
    assert run.queues == {("in", "A"): ((1000, 4000), (10_000, 30_000))}
    assert run.longest == {("in", "A"): 7}
    assert run.dropped == {("in", "A", "gate closed"): 6}


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"traceEvents": [{"ph": "X"}]}', '{"traceEvents": [3]}'])
def test_what_is_no_trace_is_refused_with_its_name(tmp_path, text):
    file = tmp_path / "wrong.json"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(InvalidArgumentError, match=r"wrong.json is no trace that .* writes"):
        read_trace(file)


def test_a_real_trace_with_a_limiter_and_threads_adds_up(make, tmp_path):
    """Whatever happens at once, the parts of each journey are its whole, and none is negative."""
    ready = threading.Barrier(2, timeout=TIMEOUT)

    def meet(cc):
        if int(cc.input_timestamp) == 0:
            ready.wait()  # both nodes are at work at once
        cc.output.add_packet(cc.inputs[0].packet)

    one, other = calculator(meet, name="One", offset=0), calculator(meet, name="Other", offset=0)
    tracer = ChromeTracer()
    graph = make([(one, "in", "a"), (other, "in", "b"), (Both, "B:b C:a", "out")], "in", threads=2)
    graph.set_tracer(tracer)
    graph.start_run()
    for i in range(200):
        graph.add_packet_to_input_stream("in", Packet(i), i)
    graph.close(TIMEOUT)
    tracer.write(tmp_path / "t.json")
    (path,) = paths_of(read_trace(tmp_path / "t.json").runs[0])
    assert len(path.journeys) == 200
    for journey in path.journeys:
        assert sum(leg.total_us for leg in journey.legs) == pytest.approx(journey.latency_us, abs=1)
        for leg in journey.legs:
            assert isinstance(leg, Leg)
            assert min(leg.own_queue_us, leg.thread_us, leg.other_input_us, leg.work_us) > -0.01
