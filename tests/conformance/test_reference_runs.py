"""Runs of the reference's own tests: event loops, ends, summaries, side packets; its inputs and values.

They are from its files `calculator_graph_event_loop_test.cc`, `calculator_graph_stopping_test.cc`,
`calculator_graph_summary_packet_test.cc` and `calculator_graph_side_packet_test.cc`. Its packet generators
are calculators here (docs/mediapipe.md, difference 20). What it pins by sleeping is pinned by events.
"""

from __future__ import annotations

import threading

import pytest

import penstock
from penstock import STOP, GraphRunError, Packet, PenstockError, StatusCode, Timestamp
from penstock.errors import InternalError, UnavailableError
from penstock.tracing import Tracer
from penstock_testing import calculator

PATIENCE_S = 30
T = Timestamp

# --- event loops ----------------------------------------------------------------------------------------

TO_CALLBACK = 'CallbackCalculator output_numbers | input_side_packet: "CALLBACK:callback"'
PASS_NUMBERS = ["Pass input_numbers -> output_numbers", TO_CALLBACK]


class Arrivals:
    """Packets as a callback gets them, on any thread."""

    def __init__(self):
        self.payloads = []
        self._is_there = threading.Condition()

    def __call__(self, packet):
        with self._is_there:
            self.payloads.append(packet.payload)
            self._is_there.notify()

    def wait_for(self, count):
        with self._is_there:
            assert self._is_there.wait_for(lambda: len(self.payloads) >= count, PATIENCE_S)


@pytest.mark.reference(
    "framework/calculator_graph_event_loop_test.cc", "CalculatorGraphEventLoopTest.WellProvisionedEventLoop"
)
def test_extra_packets_go_in_as_their_results_come_out_and_then_faster(pool):
    arrivals = Arrivals()
    pool.start(pool.net("input_numbers", *PASS_NUMBERS), sides={"callback": arrivals})
    for i in range(100):
        pool.add("input_numbers", i)
        arrivals.wait_for(i + 1)
    assert arrivals.payloads == list(range(100))

    pool.add("input_numbers", *range(100, 200))
    pool.graph.close_input_stream("input_numbers")
    pool.done()
    assert arrivals.payloads == list(range(200))


@pytest.mark.reference(
    "framework/calculator_graph_event_loop_test.cc", "CalculatorGraphEventLoopTest.FailingEventLoop"
)
def test_extra_adding_tells_at_last_that_the_run_has_failed(bench):
    def fail_at_9(cc):
        if cc.input_timestamp == 9:
            raise RuntimeError("meant to fail (magicstringincludedhere)")
        cc.output.add_packet(cc.input.packet)

    bench.start(
        bench.net("input_numbers", "Failing input_numbers -> output_numbers", TO_CALLBACK),
        calculator(fail_at_9, name="Failing"),
        sides={"callback": Arrivals()},
    )
    with pytest.raises(GraphRunError, match="magicstringincludedhere"):
        bench.add("input_numbers", *range(1_000_000))
    assert bench.graph.has_error()
    bench.graph.close_input_stream("input_numbers")
    assert "magicstringincludedhere" in str(bench.failure())


@pytest.mark.reference(
    "framework/calculator_graph_event_loop_test.cc", "CalculatorGraphEventLoopTest.StepByStepSchedulerLoop"
)
def test_extra_each_packet_has_come_out_when_the_graph_is_idle(bench):
    arrivals = Arrivals()
    bench.start(bench.net("input_numbers", *PASS_NUMBERS), sides={"callback": arrivals})
    for i in range(100):
        bench.add_one_by_one("input_numbers", i)
        assert len(arrivals.payloads) == i + 1
    bench.graph.close_input_stream("input_numbers")
    bench.done()


@pytest.mark.reference(
    "framework/calculator_graph_event_loop_test.cc", "CalculatorGraphEventLoopTest.SetStreamHeader"
)
def test_extra_a_header_is_there_only_where_the_run_gives_one(bench):
    def take_header(cc):
        if cc.input.header.is_empty():
            raise PenstockError("no stream header present", code=StatusCode.UNKNOWN)
        cc.output.set_header(Packet(dict(cc.input.header.payload)))

    using = calculator(lambda cc: cc.output.add_packet(cc.input.packet), open=take_header, name="Using")
    text = bench.net("input_numbers", "Using input_numbers -> output_numbers", TO_CALLBACK)
    bench.start(text, using, sides={"callback": Arrivals()})
    error = bench.failure(bench.idle)
    assert error.code is StatusCode.UNKNOWN
    assert "no stream header present" in str(error)

    graph = bench.load(text, using)
    graph.start_run({"callback": Arrivals()}, {"input_numbers": {"width": 320, "height": 240}})
    graph.close_input_stream("input_numbers")
    bench.done()


def blocking(gate):
    """Return a calculator that forwards packets while `gate`, a lock, is free."""

    def process(cc):
        with gate:
            cc.output.add_packet(cc.input.packet)

    return calculator(process, name="Blocking")


def refusals(bench, count):
    """Add packets, and return the errors of the refused ones."""
    found = []
    for i in range(count):
        try:
            bench.add("input_numbers", i)
        except UnavailableError as error:
            found.append(error)
    return found


@pytest.mark.reference(
    "framework/calculator_graph_event_loop_test.cc",
    "CalculatorGraphEventLoopTest.TryToAddPacketToInputStream",
)
def test_extra_most_packets_are_refused_while_a_node_is_blocked(pool):
    gate = threading.Lock()
    arrivals = Arrivals()
    graph = pool.load(
        pool.net(
            "input_numbers",
            "Blocking input_numbers -> output_numbers",
            TO_CALLBACK,
            more="num_threads: 2 max_queue_size: 1\n",
        ),
        blocking(gate),
    )
    graph.graph_input_stream_add_mode = "ADD_IF_NOT_FULL"
    graph.start_run({"callback": arrivals})
    with gate:
        refused = refusals(pool, 20)
    graph.close_input_stream("input_numbers")
    pool.done()

    assert len(refused) >= 18
    assert len(arrivals.payloads) == 20 - len(refused)


@pytest.mark.reference(
    "framework/calculator_graph_event_loop_test.cc", "CalculatorGraphEventLoopTest.ThrottlingDisabled"
)
def test_extra_without_a_limit_no_packet_is_refused(pool):
    gate = threading.Lock()
    graph = pool.load(
        pool.net("input_numbers", "Blocking input_numbers -> output_numbers", more="max_queue_size: -1\n"),
        blocking(gate),
        watch=["output_numbers"],
    )
    graph.graph_input_stream_add_mode = "ADD_IF_NOT_FULL"
    graph.start_run()
    with gate:
        assert refusals(pool, 10) == []
    graph.close_input_stream("input_numbers")
    pool.done()

    assert pool.seen["output_numbers"] == [(i, i) for i in range(10)]


@pytest.mark.reference(
    "framework/calculator_graph_event_loop_test.cc",
    "CalculatorGraphEventLoopTest.ThrottleGraphInputStreamTwice",
)
def test_extra_a_graph_input_is_throttled_in_the_second_run_too(pool):
    gate = threading.Lock()
    graph = pool.load(
        pool.net("input_numbers", "Blocking input_numbers -> output_numbers", more="max_queue_size: 1\n"),
        blocking(gate),
    )
    graph.graph_input_stream_add_mode = "ADD_IF_NOT_FULL"
    for _ in range(2):
        graph.start_run()
        with gate:
            refused = refusals(pool, 10)
        assert refused[0].code is StatusCode.UNAVAILABLE
        assert "throttled" in str(refused[0])
        graph.close_input_stream("input_numbers")
        pool.done()


@pytest.mark.reference(
    "framework/calculator_graph_event_loop_test.cc",
    "CalculatorGraphEventLoopTest.WaitToAddPacketToInputStream",
)
def test_extra_adding_waits_for_room_and_loses_nothing(pool):
    arrivals = Arrivals()
    pool.start(
        pool.net("input_numbers", *PASS_NUMBERS, more="num_threads: 2 max_queue_size: 10\n"),
        sides={"callback": arrivals},
    )
    assert refusals(pool, 20) == []
    pool.graph.close_input_stream("input_numbers")
    pool.done()

    assert arrivals.payloads == list(range(20))


class Changes(Tracer):
    """Notes the queues that become full, or free again."""

    def __init__(self):
        self.noted = []

    def queue_changed(self, changed):
        self.noted.append(changed)


@pytest.mark.reference(
    "framework/calculator_graph_event_loop_test.cc", "CalculatorGraphEventLoopTest.UnthrottleSources"
)
def test_extra_a_full_poller_throttles_the_graph_input_without_any_more_ado(pool):
    graph = pool.load(
        pool.net(
            "input_numbers",
            "Pass input_numbers -> output_numbers",
            more='output_stream: "output_numbers" num_threads: 2 max_queue_size: 5\n',
        )
    )
    graph.graph_input_stream_add_mode = "ADD_IF_NOT_FULL"
    poller = graph.add_output_stream_poller("output_numbers")
    poller.set_max_queue_size(5)
    changes = Changes()
    graph.set_tracer(changes)
    graph.start_run()
    pool.add_one_by_one("input_numbers", *range(5))
    with pytest.raises(UnavailableError):
        pool.add("input_numbers", 5)
    pool.idle()
    noted = len(changes.noted)
    got = [poller.next(PATIENCE_S).payload for _ in range(5)]
    graph.close_all_input_streams()
    pool.done()

    assert got == [0, 1, 2, 3, 4]
    assert 1 <= noted <= 2


# --- ends -----------------------------------------------------------------------------------------------


class Events(penstock.Calculator):
    """Writes 1 to EVENT in `open` and 2 in `close`."""

    @classmethod
    def get_contract(cls, cc):
        for port in (*cc.inputs, *cc.outputs):
            port.set_any()

    def open(self, cc):
        self.count = 0
        cc.outputs["EVENT"].add(1, 1)

    def close(self, cc):
        cc.outputs["EVENT"].add(2, 2)


class Infinite(Events):
    """A source that writes i at i to OUT."""

    def process(self, cc):
        cc.outputs["OUT"].add(self.count, self.count)
        self.count += 1


class Stopping(Events):
    """Forwards packets, and stops after ten calls."""

    def process(self, cc):
        for i, source in enumerate(cc.inputs):
            if not source.is_empty():
                cc.outputs[i].add_packet(source.packet)
        self.count += 1
        return None if self.count <= 10 else STOP


@pytest.mark.reference(
    "framework/calculator_graph_stopping_test.cc", "CalculatorGraphStoppingTest.CloseAllPacketSources"
)
def test_extra_closing_all_sources_ends_an_infinite_one_and_delivers_what_close_writes(pool):
    eight_are_out = threading.Event()
    graph = pool.load(
        pool.net(
            "input",
            "Infinite -> OUT:count EVENT:event",
            "Stopping count input -> count_out input_out EVENT:event_out",
            more="max_queue_size: 5\n",
        ),
        Infinite,
        Stopping,
        watch=["input_out", "count_out", "event", "event_out"],
    )

    def watch(_, packet):
        if packet.payload == 7:
            eight_are_out.set()

    graph.observe_output_stream("input_out", watch)
    graph.start_run()
    pool.add("input", *range(8))
    assert eight_are_out.wait(PATIENCE_S)
    graph.close_all_packet_sources()
    pool.done()

    assert len(pool.seen["input_out"]) == 8
    assert len(pool.seen["count_out"]) >= 8
    assert [payload for _, payload in pool.seen["event"]] == [1, 2]
    assert [payload for _, payload in pool.seen["event_out"]] == [1, 2]


@pytest.mark.reference(
    "framework/calculator_graph_stopping_test.cc", "CalculatorGraphStoppingTest.DeadlockReporting"
)
def test_extra_a_deadlock_of_full_queues_is_reported(pool):
    permits = threading.Semaphore(3)

    def process(cc):
        assert permits.acquire(timeout=PATIENCE_S)
        for source, target in zip(cc.inputs, cc.outputs, strict=True):
            if not source.is_empty():
                target.add_packet(source.packet)

    pool.start(
        pool.net(
            "in_1 in_2", "Held in_1 in_2 -> out_1 out_2", more="max_queue_size: 2 report_deadlock: true\n"
        ),
        calculator(process, name="Held"),
        watch=["out_1"],
    )
    pool.add("in_1", 1, 2)
    with pytest.raises(GraphRunError):
        pool.add("in_1", 3)
    error = pool.failure(pool.idle)
    assert error.code is StatusCode.UNAVAILABLE
    assert "deadlock" in str(error)
    pool.graph.close_all_input_streams()
    pool.failure()

    assert pool.seen["out_1"] == []


# --- summaries ------------------------------------------------------------------------------------------


class Summary(penstock.Calculator):
    """Writes the sum of all packets at the greatest time, when no more can come."""

    @classmethod
    def get_contract(cls, cc):
        cc.inputs["IN"].set(int)
        cc.outputs["SUMMARY"].set(int)
        cc.set_input_stream_handler("ImmediateInputStreamHandler")
        cc.set_process_timestamp_bounds()

    def open(self, cc):
        self.values = []

    def process(self, cc):
        source, target = cc.inputs["IN"], cc.outputs["SUMMARY"]
        if not source.is_empty():
            self.values.append(source.payload)
        if target.is_closed():
            return
        ends = (T.PRESTREAM, T.MAX, T.POSTSTREAM, T.ONE_OVER_POSTSTREAM, T.DONE)  # nothing may follow these
        if source.is_done() or cc.input_timestamp in ends:
            if self.values:
                target.add(sum(self.values), T.MAX)
            target.close()


SUM = "Summary IN:{} -> SUMMARY:output"


@pytest.mark.parametrize(
    ("packets", "summary"),
    [
        pytest.param(
            [(10, 10), (11, 20)],
            None,
            marks=pytest.mark.reference(
                "framework/calculator_graph_summary_packet_test.cc",
                "SummaryPacketCalculatorUseCaseTest.ProducesSummaryPacketOnClosingAllPacketSources",
            ),
        ),
        pytest.param(
            [(10, 10), (T.MAX, 20)],
            30,
            marks=pytest.mark.reference(
                "framework/calculator_graph_summary_packet_test.cc",
                "SummaryPacketCalculatorUseCaseTest.ProducesSummaryPacketOnMaxTimestamp",
            ),
        ),
        pytest.param(
            [(T.PRESTREAM, 10)],
            10,
            marks=pytest.mark.reference(
                "framework/calculator_graph_summary_packet_test.cc",
                "SummaryPacketCalculatorUseCaseTest.ProducesSummaryPacketOnPreStreamTimestamp",
            ),
        ),
        pytest.param(
            [(T.POSTSTREAM, 10)],
            10,
            marks=pytest.mark.reference(
                "framework/calculator_graph_summary_packet_test.cc",
                "SummaryPacketCalculatorUseCaseTest.ProducesSummaryPacketOnPostStreamTimestamp",
            ),
        ),
    ],
)
def test_extra_a_summary_comes_with_the_last_packet_or_with_the_end(bench, packets, summary):
    bench.start(bench.net("input", SUM.format("input")), Summary, watch=["output"])
    bench.idle()
    *first, last = packets
    for packet in first:
        bench.add_one_by_one("input", packet)
        assert bench.seen["output"] == []
    bench.add_one_by_one("input", last)
    assert bench.seen["output"] == ([] if summary is None else [(T.MAX, summary)])

    bench.seen["output"].clear()
    bench.graph.close_all_packet_sources()
    bench.done()
    assert bench.seen["output"] == ([(T.MAX, 30)] if summary is None else [])


def write_two(cc):
    cc.output.add(20, 0)
    cc.output.add(10, 1000)
    return STOP


@pytest.mark.reference(
    "framework/calculator_graph_summary_packet_test.cc",
    "SummaryPacketCalculatorUseCaseTest.ProducesSummaryPacketOnSourceCalculatorCompletion",
)
def test_extra_a_summary_comes_after_a_source_has_ended(bench):
    bench.run(
        bench.net("", "WriteTwo -> INT:int_value", SUM.format("int_value")),
        calculator(write_two),
        Summary,
        watch=["output"],
    )

    assert bench.seen["output"] == [(T.MAX, 30)]


@pytest.mark.reference(
    "framework/calculator_graph_summary_packet_test.cc",
    "SummaryPacketCalculatorUseCaseTest.ProducesSummaryPacketOnAnotherCalculatorClosure",
)
def test_extra_a_summary_comes_after_the_node_above_has_closed(bench):
    emit = calculator(close=lambda cc: write_two(cc) and None, name="EmitOnClose")
    bench.start(
        bench.net("input", "EmitOnClose IN:input -> INT:int_value", SUM.format("int_value")),
        emit,
        Summary,
        watch=["output"],
    )
    bench.idle()
    assert bench.seen["output"] == []
    bench.close("input")
    assert bench.seen["output"] == [(T.MAX, 30)]

    bench.seen["output"].clear()
    bench.graph.close_all_packet_sources()
    bench.done()
    assert bench.seen["output"] == []


@pytest.mark.parametrize(
    "method",
    [
        pytest.param(
            "close",
            marks=pytest.mark.reference(
                "framework/calculator_graph_summary_packet_test.cc",
                "SummaryPacketCalculatorUseCaseTest."
                "DoesNotProduceSummaryPacketWhenUpstreamCalculatorFailsInClose",
            ),
        ),
        pytest.param(
            "process",
            marks=pytest.mark.reference(
                "framework/calculator_graph_summary_packet_test.cc",
                "SummaryPacketCalculatorUseCaseTest."
                "DoesNotProduceSummaryPacketWhenUpstreamCalculatorFailsInProcess",
            ),
        ),
    ],
)
def test_extra_no_summary_comes_after_the_node_above_has_failed(bench, method):
    def fail(cc):
        raise InternalError("error")

    bench.start(
        bench.net("input", "Fails IN:input -> INT:int_value", SUM.format("int_value")),
        calculator(**{method: fail}, name="Fails"),
        Summary,
        watch=["output"],
    )
    bench.idle()
    if method == "close":
        bench.graph.close_input_stream("input")
    else:
        bench.add("input", (T.PRESTREAM, 10))

    error = bench.failure(bench.idle)

    assert error.code is StatusCode.INTERNAL
    assert "error" in str(error)
    assert bench.seen["output"] == []


# --- side packets ---------------------------------------------------------------------------------------


def to_stream(cc):
    cc.output.add(cc.input_side_packets[0].payload, T.POSTSTREAM)
    cc.output.close()


def must_not_run(cc):
    raise AssertionError("a node without streams has nothing to process")


def side(reads=(), writes=()):
    """Write side packets of a node as text."""
    return " ".join(
        [f'input_side_packet: "{name}"' for name in reads]
        + [f'output_side_packet: "{name}"' for name in writes]
    )


Set = calculator(lambda cc: cc.output_side_packets[0].set(cc.input.payload), name="Set")
SetWithTime = calculator(lambda cc: cc.output_side_packets[0].set(cc.input.packet), name="SetWithTime")


def set_same(cc):
    cc.output_side_packets[0].set(cc.input_side_packets[0].payload)


SetInOpen = calculator(lambda cc: None, open=set_same, name="SetInOpen")
#: What a packet generator that forwards its side packets does.
Generate = calculator(must_not_run, open=set_same, name="Generate")
One = calculator(must_not_run, open=lambda cc: cc.output_side_packets[0].set(1), name="One")
AddSides = calculator(
    must_not_run,
    open=lambda cc: cc.output_side_packets[0].set(sum(one.payload for one in cc.input_side_packets)),
    name="AddSides",
)
ToStream = calculator(lambda cc: STOP, open=to_stream, name="ToStream")
CountInputs = calculator(
    lambda cc: cc.counter("inputs").increment(),
    close=lambda cc: cc.output_side_packets[0].set(cc.counter("inputs").get()),
    name="CountInputs",
)
SIDES = [Set, SetWithTime, SetInOpen, Generate, One, AddSides, ToStream, CountInputs]


@pytest.mark.parametrize(
    "nodes",
    [
        pytest.param(
            [f"ToStream -> output | {side(['offset'])}"],
            marks=pytest.mark.reference(
                "framework/calculator_graph_side_packet_test.cc", "CalculatorGraph.OutputSidePacketInProcess"
            ),
        ),
        [
            f"Generate | {side(['offset'], ['offset_out'])}",
            f"ToStream -> output | {side(['offset_out'])}",
        ],
    ],
)
def test_extra_a_side_packet_that_process_sets_reaches_a_source_in_each_run(bench, nodes):
    graph = bench.load(
        bench.net("offset", f"Set offset | {side(writes=['offset'])}", *nodes), *SIDES, watch=["output"]
    )
    for _ in range(2):
        bench.seen["output"].clear()
        graph.start_run()
        bench.add("offset", (0, 100))
        graph.close_input_stream("offset")
        bench.done()
        assert bench.seen["output"] == [(T.POSTSTREAM, 100)]


def test_extra_a_side_packet_that_open_sets_goes_through_another_node(bench):
    bench.run(
        bench.net(
            "",
            f"SetInOpen | {side(['offset'], ['offset1'])}",
            f"Generate | {side(['offset1'], ['offset_out'])}",
            f"ToStream -> output | {side(['offset_out'])}",
            more='input_side_packet: "offset"\n',
        ),
        *SIDES,
        sides={"offset": 100},
        watch=["output"],
    )

    assert [payload for _, payload in bench.seen["output"]] == [100]


@pytest.mark.parametrize(
    ("kind", "packets", "code", "words"),
    [
        pytest.param(
            "Set",
            [(0, 100), (1, 100)],
            StatusCode.ALREADY_EXISTS,
            "was already",
            marks=pytest.mark.reference(
                "framework/calculator_graph_side_packet_test.cc", "CalculatorGraph.OutputSidePacketAlreadySet"
            ),
        ),
        pytest.param(
            "SetWithTime",
            [(237, 100)],
            StatusCode.INVALID_ARGUMENT,
            "has a timestamp 237",
            marks=pytest.mark.reference(
                "framework/calculator_graph_side_packet_test.cc",
                "CalculatorGraph.OutputSidePacketWithTimestamp",
            ),
        ),
    ],
)
def test_extra_a_side_packet_is_set_once_and_without_a_timestamp(bench, kind, packets, code, words):
    bench.start(bench.net("offset", f"{kind} offset | {side(writes=['offset'])}"), *SIDES)
    bench.add("offset", *packets)
    bench.graph.close_input_stream("offset")

    error = bench.failure()

    assert error.code is code
    assert words in str(error)


@pytest.mark.reference(
    "framework/calculator_graph_side_packet_test.cc", "CalculatorGraph.OutputSidePacketConsumedBySourceNode"
)
def test_extra_a_source_starts_when_its_side_packet_is_made(bench):
    bench.start(
        bench.net(
            "max_count",
            f"Set max_count | {side(writes=['max_count'])}",
            f"CountingSourceCalculator -> count | {side(['MAX_COUNT:max_count'])}",
            "Pass count -> output",
        ),
        *SIDES,
        watch=["output"],
    )
    bench.idle()
    assert bench.node("CountingSourceCalculator").state == "unopened"
    bench.add("max_count", (0, 10))
    bench.graph.close_input_stream("max_count")
    bench.done()

    assert bench.seen["output"] == [(i, i) for i in range(10)]


@pytest.mark.reference(
    "framework/calculator_graph_side_packet_test.cc", "CalculatorGraph.SourceLayerInversion"
)
def test_extra_a_lower_layer_that_waits_for_a_higher_one_is_a_deadlock(one_thread):
    def first_only(cc):
        if not cc.output.is_closed():
            cc.output.add_packet(cc.input.packet)
            cc.output.close()

    source = "CountingSourceCalculator -> {} | {} source_layer: {}"
    graph = one_thread.load(
        one_thread.net(
            "",
            source.format("count0", side(["MAX_COUNT:max_count"]), 0),
            source.format("count1", side(["MAX_COUNT:max_count", "INITIAL_VALUE:initial_value1"]), 1),
            "FirstOnly count1 -> first_count1",
            f"Set first_count1 | {side(writes=['increment2'])}",
            source.format("count2", side(["MAX_COUNT:max_count", "INCREMENT:increment2"]), 0),
        ),
        *SIDES,
        calculator(first_only),
        side_packets={"max_count": 10, "initial_value1": 100},
    )

    with pytest.raises(PenstockError, match="deadlock") as caught:
        graph.run(timeout=PATIENCE_S)

    assert caught.value.code is StatusCode.UNKNOWN


@pytest.mark.reference(
    "framework/calculator_graph_side_packet_test.cc", "CalculatorGraph.PacketGeneratorLikeCalculators"
)
def test_extra_nodes_without_streams_compute_side_packets(bench):
    bench.run(
        bench.net(
            "",
            f"One | {side(writes=['one'])}",
            f"One | {side(writes=['another_one'])}",
            f"AddSides | {side(['one', 'another_one'], ['two'])}",
            f"One | {side(writes=['yet_another_one'])}",
            f"AddSides | {side(['two', 'yet_another_one'], ['three'])}",
            f"ToStream -> output | {side(['three'])}",
        ),
        *SIDES,
        watch=["output"],
    )

    assert bench.seen["output"] == [(T.POSTSTREAM, 3)]


@pytest.mark.reference(
    "framework/calculator_graph_side_packet_test.cc", "CalculatorGraph.OutputSummarySidePacketInClose"
)
def test_extra_a_side_packet_may_be_set_in_close(bench):
    bench.start(
        bench.net(
            "input_packets",
            f"CountInputs input_packets | {side(writes=['num_of_packets'])}",
            f"ToStream -> output | {side(['num_of_packets'])}",
        ),
        *SIDES,
        watch=["output"],
    )
    bench.add("input_packets", *range(100))
    bench.graph.close_input_stream("input_packets")
    bench.done()

    assert bench.seen["output"] == [(T.POSTSTREAM, 100)]


@pytest.mark.reference(
    "framework/calculator_graph_side_packet_test.cc", "CalculatorGraph.OutputSidePacketCached"
)
def test_extra_a_side_packet_of_a_node_without_inputs_is_made_once_for_all_runs(bench):
    make = calculator(
        must_not_run,
        open=lambda cc: cc.output_side_packets[0].set(["An expensive side packet"]),
        name="MakeModel",
    )
    graph = bench.load(
        bench.net("", f"MakeModel | {side(writes=['model'])}", f"ToStream -> output | {side(['model'])}"),
        make,
        *SIDES,
        watch=["output"],
    )
    for _ in range(3):
        graph.run(timeout=PATIENCE_S)

    models = [model for _, model in bench.seen["output"]]
    assert len(models) == 3
    assert all(model is models[0] for model in models)


@pytest.mark.reference(
    "framework/calculator_graph_side_packet_test.cc",
    "CalculatorGraph.GetOutputSidePacketAfterCalculatorIsOpened",
)
def test_extra_a_side_packet_can_be_asked_for_once_its_node_has_opened(bench):
    graph = bench.start(bench.net("", f"One | {side(writes=['offset'])}"), *SIDES)
    bench.idle()

    assert graph.get_output_side_packet("offset").get(int) == 1
    bench.done()
