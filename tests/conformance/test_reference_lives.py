"""The life of graphs and runs in the reference's `calculator_graph_test.cc`: ends, observers, pollers.

What the reference pins by sleeping is pinned by events here.
"""

from __future__ import annotations

import gc
import itertools
import threading
import time
import weakref

import pytest

import penstock
from penstock import (
    STOP,
    CalculatorGraph,
    PenstockError,
    StatusCode,
    Timestamp,
)
from penstock.errors import (
    FailedPreconditionError,
    NotFoundError,
)
from penstock_testing import calculator

T = Timestamp
PATIENCE_S = 30


def typed(name, process=None, *, inputs=None, outputs=None, **more):
    """Return a calculator whose ports have these types; None takes everything."""

    def declare(cc):
        for ports, kind in ((cc.inputs, inputs), (cc.outputs, outputs)):
            for port in ports:
                port.set(kind) if kind else port.set_any()

    return calculator(process, name=name, contract=declare, **more)


class Count(penstock.Calculator):
    """A source of the numbers 0 ... MAX_COUNT - 1; fails at ERROR_COUNT."""

    @classmethod
    def get_contract(cls, cc):
        cc.input_side_packets["MAX_COUNT"].set(int)
        cc.outputs[0].set(int)

    def open(self, cc):
        self.left = iter(range(cc.input_side_packets["MAX_COUNT"].payload))

    def process(self, cc):
        number = next(self.left, None)
        if number is None:
            return STOP
        cc.output.add(number, number)
        return None


COUNT_TO = 'Count -> {} | input_side_packet: "MAX_COUNT:max_count"'


# --- cancel and pause ---


@pytest.mark.reference(
    "framework/calculator_graph_test.cc", "CalculatorGraph.TerminatesOnCancelWithOpenGraphInputStreams"
)
def test_extra_cancel_ends_a_run_of_which_a_graph_input_is_open(bench):
    bench.start(bench.net("in_a in_b", "Pass in_a in_b -> out_a out_b"))
    bench.add("in_a", 1)
    bench.graph.close_input_stream("in_a")
    bench.add("in_b", 2)
    bench.idle()
    bench.graph.cancel()

    assert bench.failure().code is StatusCode.CANCELLED


@pytest.mark.reference("framework/calculator_graph_test.cc", "CalculatorGraph.TerminatesOnCancelAfterPause")
def test_extra_cancel_ends_a_paused_run_and_another_pause_does_nothing(bench):
    bench.start(bench.net("in", "Pass in -> out"))
    bench.graph.pause()
    bench.add("in", 1)
    bench.graph.cancel()
    bench.graph.pause()

    assert bench.failure().code is StatusCode.CANCELLED


@pytest.mark.reference("framework/calculator_graph_test.cc", "CalculatorGraph.GraphFinishesWhilePaused")
def test_extra_a_run_whose_last_step_ends_while_it_is_paused_ends_after_resume(pool):
    entered, may_leave = threading.Event(), threading.Event()

    def once(cc):
        entered.set()
        assert may_leave.wait(PATIENCE_S)
        return STOP

    pool.start(pool.net("", "Once -> unread"), calculator(once, name="Once"))
    assert entered.wait(PATIENCE_S)
    pool.graph.pause()
    may_leave.set()
    while pool.node("Once").running:
        time.sleep(0)
    pool.graph.resume()
    pool.done()


@pytest.mark.reference("framework/calculator_graph_test.cc", "CalculatorGraph.SimulateAssertFailure")
def test_extra_a_graph_that_is_dropped_while_it_runs_does_not_hang(pool):
    graph = CalculatorGraph(pool.net("in_a in_b", "Pass in_a in_b -> out_a out_b", more="num_threads: 2\n"))
    graph.start_run()
    graph.wait_until_idle(PATIENCE_S)
    gone = weakref.ref(graph)
    del graph
    gc.collect()

    assert gone() is None


@pytest.mark.reference("framework/calculator_graph_test.cc", "CalculatorGraph.ConstructAndDestruct")
def test_extra_a_graph_that_never_runs_leaves_nothing_behind():
    before = set(threading.enumerate())
    graph = CalculatorGraph("")
    gone = weakref.ref(graph)
    del graph
    gc.collect()

    assert gone() is None
    assert not set(threading.enumerate()) - before


# --- observers ---

CHAIN = [COUNT_TO.format("count"), "Pass count -> mid", "Pass mid -> out"]
INSIDE = """
input_stream: "INPUT:input" output_stream: "OUTPUT:output"
node { calculator: "PassThroughCalculator" input_stream: "input" output_stream: "output" }
"""


@pytest.mark.reference("framework/calculator_graph_test.cc", "CalculatorGraph.ObserveOutputStream")
def test_extra_streams_inside_and_at_the_end_can_be_observed(bench):
    graph = bench.load(bench.net("", *CHAIN), Count, watch=["count", "out"], side_packets={"max_count": 10})
    graph.run(timeout=PATIENCE_S)

    assert bench.seen == {name: [(i, i) for i in range(10)] for name in ("count", "out")}


@pytest.mark.reference("framework/calculator_graph_test.cc", "CalculatorGraph.ObserveOutputStreamSubgraph")
def test_extra_the_stream_at_the_end_of_a_subgraph_can_be_observed(bench):
    bench.subgraphs = {"PassThroughSubgraph": INSIDE}
    graph = bench.load(
        bench.net("", CHAIN[0], "PassThroughSubgraph INPUT:count -> OUTPUT:out"),
        Count,
        watch=["out"],
        side_packets={"max_count": 10},
    )
    graph.run(timeout=PATIENCE_S)

    assert bench.seen["out"] == [(i, i) for i in range(10)]


@pytest.mark.reference("framework/calculator_graph_test.cc", "CalculatorGraph.ObserveOutputStreamError")
def test_extra_an_observer_that_fails_at_its_sixth_packet_gets_no_more(bench):
    graph = bench.load(bench.net("", *CHAIN), Count, watch=["out"], side_packets={"max_count": 10})
    counts = []

    def observe(_, packet):
        counts.append((packet.timestamp, packet.payload))
        if len(counts) >= 6:
            raise RuntimeError("expected, with a magic word: eatnhuea")

    graph.observe_output_stream("count", observe)
    graph.start_run()

    assert "eatnhuea" in str(bench.failure())
    assert counts == [(i, i) for i in range(6)]


@pytest.mark.reference("framework/calculator_graph_test.cc", "CalculatorGraph.ObserveOutputStreamNonexistent")
def test_extra_a_stream_that_is_not_there_cannot_be_observed(bench):
    graph = bench.load(bench.net("", *CHAIN), Count, side_packets={"max_count": 10})

    with pytest.raises(NotFoundError, match="not_found") as caught:
        graph.observe_output_stream("not_found", lambda name, packet: None)

    assert caught.value.code is StatusCode.NOT_FOUND


# --- pollers ---


@pytest.mark.parametrize(
    "queue_size",
    [
        pytest.param(
            None,
            marks=pytest.mark.reference(
                "framework/calculator_graph_test.cc", "CalculatorGraph.TestPollPacket"
            ),
        ),
        *range(1, 9),
        pytest.param(
            9,
            marks=pytest.mark.reference(
                "framework/calculator_graph_test.cc", "CalculatorGraph.TestOutputStreamPollerDesiredQueueSize"
            ),
        ),
    ],
)
def test_extra_a_poller_gets_all_packets_of_a_source_whatever_its_queue_holds(pool, queue_size):
    graph = pool.load(pool.net("", COUNT_TO.format("output")), Count)
    poller = graph.add_output_stream_poller("output")
    if queue_size is not None:
        poller.set_max_queue_size(queue_size)
    graph.start_run({"max_count": 1000})
    seen = []
    while (packet := poller.next(PATIENCE_S)) is not None:
        seen.append(packet.payload)
    graph.close_all_packet_sources()
    pool.done()

    assert poller.next(PATIENCE_S) is None
    assert seen == list(range(1000))


@pytest.mark.reference(
    "framework/calculator_graph_test.cc", "CalculatorGraph.TestPollPacketsFromMultipleStreams"
)
def test_extra_two_pollers_get_all_packets_of_their_streams(bench):
    graph = bench.load(bench.net("", COUNT_TO.format("stream1"), "Pass stream1 -> stream2"), Count)
    pollers = {name: graph.add_output_stream_poller(name) for name in ("stream1", "stream2")}
    seen = {name: [] for name in pollers}
    graph.start_run({"max_count": 1000})
    running = set(pollers)
    while running:
        for name, poller in pollers.items():
            packet = poller.next(PATIENCE_S)
            if packet is None:
                running.discard(name)
            else:
                seen[name].append(packet.payload)
    graph.close_all_packet_sources()
    bench.done()

    assert [poller.next(PATIENCE_S) for poller in pollers.values()] == [None, None]
    assert seen == {name: list(range(1000)) for name in pollers}


@pytest.mark.reference(
    "framework/calculator_graph_test.cc", "CalculatorGraph.TestPollPacketsWithTimestampNotification"
)
def test_extra_a_poller_of_bounds_gets_settled_timestamps_between_packets(bench):
    number = itertools.count()

    def some(cc):
        count = next(number)
        if count % 50 == 1:
            cc.output.add(count, count)
        elif count % 15 == 7:
            cc.output.set_next_timestamp_bound(count)
        return STOP if count == 109 else None

    graph = bench.load(bench.net("", "Some -> foo"), typed("Some", some, outputs=int))
    poller = graph.add_output_stream_poller("foo", observe_timestamp_bounds=True)
    graph.start_run()
    stamps, values = [], []
    while (packet := poller.next(PATIENCE_S)) is not None:
        if packet.is_empty():
            stamps.append(int(packet.timestamp))
        else:
            values.append(packet.payload)
    bench.done()

    assert poller.next(PATIENCE_S) is None
    assert stamps
    assert stamps == sorted(set(stamps))
    assert all(0 < at < 110 for at in stamps)
    assert values == [1, 51, 101]


# --- the life of a run ---


@pytest.mark.reference("framework/calculator_graph_test.cc", "CalculatorGraph.FastSourceSlowSink")
def test_extra_a_slow_sink_gets_what_waits_after_the_source_has_ended(pool):
    closed = threading.Event()
    got = []

    class Fast(Count):
        def close(self, cc):
            closed.set()

    def slow(cc):
        assert closed.wait(PATIENCE_S)
        got.append(cc.input.payload)

    pool.run(
        pool.net("", COUNT_TO.format("out").replace("Count", "Fast", 1), "Slow out",
                 more="num_threads: 2 max_queue_size: 100\n"),
        Fast,
        typed("Slow", slow, inputs=int),
        sides={"max_count": 10},
    )  # fmt: skip

    assert got == list(range(10))


@pytest.mark.reference("framework/calculator_graph_test.cc", "CalculatorGraph.RecoverAfterPreviousFailInOpen")
def test_extra_runs_after_one_that_failed_in_open_are_well(bench):
    def fail_if_asked(cc):
        if cc.input_side_packets["ERROR_ON_OPEN"].payload:
            raise NotFoundError("expected error")

    graph = bench.load(
        bench.net(
            "",
            COUNT_TO.format("a"),
            "UnitDelay a -> b",
            "Pass b -> c",
            'Fails c -> d | input_side_packet: "ERROR_ON_OPEN:fail"',
            "IntSink d",
        ),
        Count,
        calculator(
            lambda cc: cc.output.add_packet(cc.input.packet),
            open=fail_if_asked,
            name="Fails",
        ),
        typed("IntSink", inputs=int),
        watch=["d"],
        side_packets={"max_count": 10},
    )
    for _ in range(2):
        bench.seen["d"].clear()
        graph.run({"fail": False}, timeout=PATIENCE_S)
        assert bench.seen["d"] == [(0, 0), *((i + 1, i) for i in range(10))]
        with pytest.raises(PenstockError, match="expected error"):
            graph.run({"fail": True}, timeout=PATIENCE_S)


class Checks(penstock.Calculator):
    """Notes the input timestamps of its calls; five packets end the run where `ends` says so."""

    ends: bool
    notes: dict[str, list[tuple[str, Timestamp]]]

    @classmethod
    def get_contract(cls, cc):
        for port in (*cc.inputs, *cc.outputs):
            port.set(int)

    def open(self, cc):
        self.count = 0
        self.noted = self.notes.setdefault(type(self).__name__, [])
        self.noted.append(("open", cc.input_timestamp))

    def process(self, cc):
        self.noted.append(("process", cc.input_timestamp))
        for port in cc.inputs:
            assert port.packet.timestamp == cc.input_timestamp
        for port in cc.outputs:
            port.add(self.count, self.count)
        self.count += 1
        return STOP if self.ends and self.count >= 5 else None

    def close(self, cc):
        self.noted.append(("close", cc.input_timestamp))


@pytest.mark.parametrize(
    "who_ends",
    [
        pytest.param(
            "Source",
            marks=pytest.mark.reference(
                "framework/calculator_graph_test.cc", "CalculatorGraph.CheckInputTimestamp"
            ),
        ),
        pytest.param(
            "Sinks",
            marks=pytest.mark.reference(
                "framework/calculator_graph_test.cc", "CalculatorGraph.CheckInputTimestamp2"
            ),
        ),
    ],
)
def test_extra_the_input_timestamp_in_each_method_of_a_source_and_of_a_sink(bench, who_ends):
    notes = {}
    kinds = [
        type(name, (Checks,), {"ends": name == who_ends, "notes": notes}) for name in ("Source", "Sinks")
    ]
    bench.run(bench.net("", "Source -> integer", "Sinks integer"), *kinds)

    for noted in notes.values():
        assert noted[0] == ("open", T.UNSTARTED)
        assert noted[-1] == ("close", T.DONE)
    assert {at for method, at in notes["Source"] if method == "process"} == {T(0)}
    sunk = [at for method, at in notes["Sinks"] if method == "process"]
    assert sunk[:5] == list(range(5))
    assert sunk == list(range(len(sunk)))


TAGGED = [
    "Pass FIRST_INPUT:video_metadata max_count -> FIRST_INPUT:output_0 output_1",
]


@pytest.mark.reference("framework/calculator_graph_test.cc", "CalculatorGraph.GraphInputStreamWithTag")
def test_extra_a_graph_input_with_a_tag_is_fed_by_its_name(bench):
    text = bench.net("VIDEO_METADATA:video_metadata max_count", *TAGGED)
    bench.start(text, watch=["output_0"])
    bench.add("video_metadata", *range(5))
    bench.graph.close_all_packet_sources()
    bench.done()

    assert bench.seen["output_0"] == [(i, i) for i in range(5)]


@pytest.mark.reference("framework/calculator_graph_test.cc", "CalculatorGraph.GraphInputStreamBeforeStartRun")
def test_extra_a_graph_input_takes_nothing_before_the_run(bench):
    bench.load(bench.net("VIDEO_METADATA:video_metadata max_count", *TAGGED))

    with pytest.raises(FailedPreconditionError) as caught:
        bench.add("video_metadata", 0)

    assert caught.value.code is StatusCode.FAILED_PRECONDITION


@pytest.mark.reference("framework/calculator_graph_test.cc", "CalculatorGraph.CalculatorInNamepsace")
def test_extra_a_calculator_whose_name_has_dots(bench):
    class Callback(penstock.Calculator):
        @classmethod
        def get_contract(cls, cc):
            for source, target in zip(cc.inputs, cc.outputs, strict=True):
                source.set_any()
                target.set_same_as(cc.inputs[0])
            cc.input_side_packets[0].set_any()

        def process(self, cc):
            cc.input_side_packets[0].payload(cc)

    Callback.__name__ = "mediapipe.nested_ns.ProcessCallbackCalculator"
    bench.start(
        bench.net(
            "in_a",
            'mediapipe.nested_ns.ProcessCallbackCalculator in_a -> out_a | input_side_packet: "callback_1"',
        ),
        Callback,
        sides={"callback_1": lambda cc: None},
    )
    bench.idle()

    assert bench.node("mediapipe.nested_ns.ProcessCallbackCalculator").state == "opened"
    bench.end()


@pytest.mark.reference(
    "framework/calculator_parallel_execution_test.cc", "ParallelExecutionTest.SlowPlusOneCalculatorsTest"
)
def test_extra_outputs_of_nodes_whose_calls_overlap_leave_in_order(pool):
    """The second of two calls ends before the first, where both write: 1 and 2, 5 and 6, ..."""
    over = {}

    def plus_one(cc):
        t = int(cc.input_timestamp)
        if t % 4 == 0:
            return
        if t % 4 == 1:
            assert over[cc.node_name][t + 1].wait(PATIENCE_S)
        cc.output.add(cc.input.payload + 1, t)
        over[cc.node_name][t].set()

    got = []
    graph = pool.load(
        pool.net(
            "input",
            "PlusOne input -> first | name: 'one' max_in_flight: 5",
            "PlusOne first -> output | name: 'two' max_in_flight: 5",
            'CallbackCalculator output | input_side_packet: "CALLBACK:callback"',
            more="num_threads: 5\n",
        ),
        typed("PlusOne", plus_one, inputs=int, outputs=int, open=lambda cc: cc.set_offset(0)),
    )
    for _ in range(2):
        over |= {name: [threading.Event() for _ in range(100)] for name in ("one", "two")}
        got.clear()
        graph.start_run({"callback": got.append})
        pool.add("input", *range(100))
        graph.close_input_stream("input")
        pool.done()

        assert [(packet.timestamp, packet.get(int)) for packet in got] == [
            (t, t + 2) for t in range(100) if t % 4
        ]
