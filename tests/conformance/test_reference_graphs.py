"""Graphs of the reference's `calculator_graph_test.cc`: types, branches, full queues, cycles, policies.

What the reference pins by sleeping is pinned by events here.
"""

from __future__ import annotations

import gc
import itertools
import math
import threading

import pytest

import penstock
from penstock import (
    STOP,
    StatusCode,
    Timestamp,
)
from penstock.errors import (
    UnavailableError,
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


class GlobalCount(penstock.Calculator):
    """A source of five packets, the i-th at i, whose numbers come from a counter that sources share.

    With a second side packet of True the first packet is written in `open`.
    """

    @classmethod
    def get_contract(cls, cc):
        cc.input_side_packets[0].set_any()
        if len(cc.input_side_packets) > 1:
            cc.input_side_packets[1].set(bool)
        cc.outputs[0].set(int)

    def open(self, cc):
        self.sent = 0
        if len(cc.input_side_packets) > 1 and cc.input_side_packets[1].payload:
            self.write(cc)

    def process(self, cc):
        self.write(cc)
        return STOP if self.sent >= 5 else None

    def write(self, cc):
        cc.output.add(next(cc.input_side_packets[0].payload), self.sent)
        self.sent += 1


def counted(start):
    """Return the side packet of `GlobalCount`."""
    return {"global_counter": itertools.count(start)}


COUNT = 'GlobalCount -> integers | input_side_packet: "global_counter"'


# --- types ---


@pytest.mark.reference("framework/calculator_graph_test.cc", "CalculatorGraph.TypeMismatch")
@pytest.mark.parametrize("reads", [str, int])
@pytest.mark.parametrize("writes", [str, int])
def test_extra_what_an_output_of_any_type_writes_must_be_of_the_type_of_its_reader(bench, writes, reads):
    def write(cc):
        cc.output.add(writes(), T.POSTSTREAM)
        return STOP

    bench.start(
        bench.net("", "Empty -> stream_a", "Reads stream_a"),
        typed("Empty", write),
        typed("Reads", inputs=reads),
    )

    if writes is reads:
        bench.done()
    else:
        assert bench.failure().node == "Empty"


@pytest.mark.reference("framework/calculator_graph_test.cc", "CalculatorGraph.SetOffsetInProcess")
def test_extra_an_offset_that_is_set_in_process_fails(bench):
    bench.start(
        bench.net("in", "SetsOffset in -> out"), calculator(lambda cc: cc.set_offset(0), name="SetsOffset")
    )
    bench.add("in", (0, 0))

    assert bench.failure(bench.idle).code is StatusCode.FAILED_PRECONDITION


# --- how long packets live ---


@pytest.mark.reference("framework/calculator_graph_test.cc", "CalculatorGraph.InputPacketLifetime")
def test_extra_payloads_are_gone_when_the_graph_is_idle(bench):
    class Tracked:
        alive = 0

        def __init__(self):
            Tracked.alive += 1

        def __del__(self):
            Tracked.alive -= 1

    bench.start(bench.net("in", "Pass in -> mid", "Pass mid -> out"))
    bench.add("in", (1, Tracked()))
    bench.idle()
    gc.collect()
    assert Tracked.alive == 0

    for t in (2, 3, 4):
        bench.add("in", (t, Tracked()))
    bench.idle()
    gc.collect()
    assert Tracked.alive == 0
    bench.end()


# --- branches ---


def demux_timed(cc):
    select = cc.inputs["SELECT"].payload
    for i in range(cc.outputs.count("OUTPUT")):
        if i == select:
            cc.outputs["OUTPUT", i].add_packet(cc.inputs["INPUT"].packet)
        else:
            cc.outputs["OUTPUT", i].set_next_timestamp_bound(cc.input_timestamp.next_allowed_in_stream())


def demux_untimed(cc):
    output = cc.outputs["OUTPUT", cc.inputs["SELECT"].payload]
    if not cc.inputs["INPUT"].is_empty():
        output.add_packet(cc.inputs["INPUT"].packet)
    else:
        output.set_next_timestamp_bound(cc.input_timestamp + 1)


def mux_timed(cc):
    cc.output.add_packet(cc.inputs["INPUT", cc.inputs["SELECT"].payload].packet)


Double = typed(
    "Double", lambda cc: cc.output.add(2 * cc.input.payload, cc.input_timestamp), inputs=int, offset=0
)
Square = typed(
    "Square", lambda cc: cc.output.add(cc.input.payload**2, cc.input_timestamp), inputs=int, offset=0
)


@pytest.mark.parametrize(
    ("demux", "offset", "mux"),
    [
        pytest.param(
            demux_timed,
            0,
            "MuxTimed INPUT:0:left3 INPUT:1:right1 SELECT:select -> OUTPUT:out",
            id="timed",
            marks=pytest.mark.reference("framework/calculator_graph_test.cc", "CalculatorGraph.IfThenElse"),
        ),
        pytest.param(
            demux_untimed,
            None,
            "MuxCalculator INPUT:0:left3 INPUT:1:right1 SELECT:select -> OUTPUT:out | "
            'input_stream_handler { input_stream_handler: "MuxInputStreamHandler" }',
            id="untimed",
            marks=pytest.mark.reference("framework/calculator_graph_test.cc", "CalculatorGraph.IfThenElse2"),
        ),
    ],
)
def test_extra_an_if_with_branches_of_different_length(bench, demux, offset, mux):
    bench.start(
        bench.net(
            "in select",
            "Demux INPUT:in SELECT:select -> OUTPUT:0:left OUTPUT:1:right",
            "Pass left -> left1",
            "Double left1 -> left2",
            "Pass left2 -> left3",
            "Square right -> right1",
            mux,
        ),
        calculator(demux, name="Demux", offset=offset),
        calculator(mux_timed, name="MuxTimed", offset=0),
        Double,
        Square,
        watch=["out"],
    )
    double, square = 0, 1
    t = 0
    for inputs, expected in (
        ([(1, double)], [2]),
        ([(2, square)], [4]),
        ([(3, double), (4, double)], [6, 8]),
        ([(5, square)], [25]),
        ([(6, double)], [12]),
        ([(7, square), (8, square), (9, square), (10, double)], [49, 64, 81, 20]),
    ):
        before = len(bench.seen["out"])
        for value, select in inputs:
            t += 1
            bench.add("in", (t, value))
            bench.add("select", (t, select))
        bench.idle()
        assert [payload for _, payload in bench.seen["out"][before:]] == expected
    bench.end()
    assert len(bench.seen["out"]) == 10


# --- throttling and deadlocks ---


def one_in_101():
    """Return a calculator that forwards the first of each 101 packets."""
    number = itertools.count()

    def decimate(cc):
        if next(number) % 101 == 0:
            cc.output.add_packet(cc.input.packet)

    return calculator(decimate, name="Decimate")


@pytest.mark.reference(
    "framework/calculator_graph_test.cc", "CalculatorGraph.ClosedSourceNodeShouldNotBeUnthrottled"
)
def test_extra_a_source_that_has_ended_is_not_called_again_when_there_is_room(one_thread):
    calls = []

    def all_at_once(cc):
        calls.append("all")
        for t in range(100):
            cc.output.add(0, t)
        return STOP

    numbers = iter(range(1000))

    def one_by_one(cc):
        t = next(numbers, None)
        if t is None:
            return STOP
        cc.output.add(0, t)
        return None

    one_thread.run(
        one_thread.net(
            "",
            "All -> first",
            "One -> second",
            "Decimate second -> decimated",
            "Merge first second decimated -> output",
            more="max_queue_size: 100\n",
        ),
        typed("All", all_at_once, outputs=int),
        typed("One", one_by_one, outputs=int),
        one_in_101(),
        watch=["output"],
    )

    assert calls == ["all"]
    assert [at for at, _ in one_thread.seen["output"]] == list(range(1000))


@pytest.mark.reference(
    "framework/calculator_graph_test.cc",
    "CalculatorGraph.DeadlockIsReportedAndSufficientInfoProvidedMultipleCalculators",
)
def test_extra_a_deadlock_above_another_node_is_reported(bench):
    _check_deadlock(bench, ["Pass input1 input2 -> output1 output2", "Merge output1 output2 -> output3"])


@pytest.mark.reference(
    "framework/calculator_graph_test.cc", "CalculatorGraph.TwoDeadlocksAreReportedAndSufficientInfoProvided"
)
def test_extra_two_deadlocks_are_reported(bench):
    _check_deadlock(
        bench,
        [
            "Pass input1 input2 -> output1 output2",
            "Pass output1 output2 -> output3 output4",
            "Merge input1 output1 output2 output3 output4 -> output5",
        ],
    )


@pytest.mark.reference(
    "framework/calculator_graph_test.cc", "CalculatorGraph.DeadlockIsReportedAndSufficientInfoProvided"
)
def test_extra_a_deadlock_is_reported(bench):
    _check_deadlock(bench, ["Pass input1 input2 -> output1 output2"])


def _check_deadlock(bench, nodes):
    bench.start(bench.net("input1 input2", *nodes, more="report_deadlock: true max_queue_size: 1\n"))
    bench.add("input1", (0, 1))

    error = bench.failure(lambda: bench.add("input1", (1, 1)))

    assert error.code is StatusCode.UNAVAILABLE
    for part in ("deadlock", "input1", "PassThroughCalculator"):
        assert part in str(error)
    bench.graph.cancel()
    bench.failure()


@pytest.mark.reference("framework/calculator_graph_test.cc", "CalculatorGraph.UnthrottleRespectsLayers")
def test_extra_room_for_a_throttled_source_does_not_start_its_layer_early(bench):
    count = 'GlobalCount -> {} | input_side_packet: "global_counter" {} source_layer: {}'
    bench.run(
        bench.net(
            "",
            count.format("integers0", "", 0),
            count.format("integers1", 'input_side_packet: "output_in_open"', 1),
            "Pass integers1 -> integers1passthrough",
            more="max_queue_size: 1\n",
        ),
        GlobalCount,
        watch=["integers0", "integers1passthrough"],
        sides={**counted(0), "output_in_open": True},
    )

    assert bench.seen["integers0"] == [(i, i + 1) for i in range(5)]
    assert bench.seen["integers1passthrough"] == [(0, 0), *((i, i + 5) for i in range(1, 5))]


@pytest.mark.reference("framework/calculator_graph_test.cc", "CalculatorGraph.EmptyInputInOpen")
def test_extra_inputs_have_no_packets_in_open_where_the_node_above_writes_in_its_own(bench):
    met = []

    def look(cc):
        met.append((cc.input.is_empty(), cc.input.packet.timestamp))

    bench.run(
        bench.net("", COUNT, "UnitDelay integers -> delayed", "Looks delayed", "Looks integers",
                  more="max_queue_size: 1\n"),
        GlobalCount,
        calculator(open=look, name="Looks"),
        sides=counted(1),
    )  # fmt: skip

    assert met == [(True, T.UNSET), (True, T.UNSET)]


def semaphores(name, entered, may_leave):
    """Return a calculator that says that it is in `process`, and then waits for leave to return."""

    def process(cc):
        entered.release()
        assert may_leave.acquire(timeout=PATIENCE_S)
        cc.output.add_packet(cc.input.packet)

    return calculator(process, name=name, offset=0)


@pytest.mark.reference(
    "framework/calculator_graph_test.cc", "CalculatorGraph.SetInputStreamMaxQueueSizeWorksSlowCalculator"
)
def test_extra_a_limit_of_one_graph_input_lets_one_packet_wait(pool):
    entered, may_leave, busy, busy_may_leave = (threading.Semaphore(0) for _ in range(4))
    graph = pool.load(
        pool.net(
            "in in_2", "Slow in -> out", "Busy in_2 -> out_2", more="max_queue_size: 100 num_threads: 2\n"
        ),
        semaphores("Slow", entered, may_leave),
        semaphores("Busy", busy, busy_may_leave),
        watch=["out"],
    )
    graph.graph_input_stream_add_mode = "ADD_IF_NOT_FULL"
    graph.set_input_stream_max_queue_size("in", 1)
    graph.start_run()
    pool.add("in_2", 0)
    pool.add("in", 0)
    for i in range(1, 20):
        assert entered.acquire(timeout=PATIENCE_S)
        pool.add("in", i)
        with pytest.raises(UnavailableError) as caught:
            pool.add("in", (i + 1, i))
        assert caught.value.code is StatusCode.UNAVAILABLE
        may_leave.release()
    may_leave.release()
    busy_may_leave.release()
    pool.end()

    assert pool.seen["out"] == [(i, i) for i in range(20)]


# --- cycles ---


def shift_by_one(cc):
    cc.output.add_packet(cc.input.packet.at(cc.input_timestamp.next_allowed_in_stream()))


FloatDelay = typed("FloatDelay", shift_by_one, open=lambda cc: cc.output.add(0.0, 0))
FloatAdder = typed(
    "FloatAdder",
    lambda cc: cc.output.add(math.fsum(p.payload for p in cc.inputs), cc.input_timestamp),
    offset=0,
)
ToFloat = typed("ToFloat", lambda cc: cc.output.add(float(cc.input.payload), cc.input_timestamp), offset=0)
Scaled = typed(
    "Scaled",
    lambda cc: cc.output.add(cc.input.payload * cc.input_side_packets[0].payload, cc.input_timestamp),
    offset=0,
)

EARLY = 'input_stream_handler { input_stream_handler: "EarlyCloseInputStreamHandler" }'
BACK = 'input_stream_info { tag_index: ":1" back_edge: true }'


def scaled(source, target, by):
    return f'Scaled {source} -> {target} | input_side_packet: "{by}"'


#: Two forms of the filter H(z) = (1 + 2 / z) / (1 - 1.5 / z + 0.9 / z²).
FORMS = {
    "I": [
        "FloatDelay x -> a",
        scaled("a", "b", "b1"),
        f"FloatAdder x b -> c | {EARLY}",
        f"FloatAdder c f -> y | {BACK} {EARLY}",
        "FloatDelay y -> d",
        scaled("d", "e", "a1"),
        "FloatDelay d -> g",
        scaled("g", "h", "a2"),
        f"FloatAdder e h -> f | {EARLY}",
    ],
    "II": [
        f"FloatAdder x f -> a | {BACK} {EARLY}",
        "FloatDelay a -> b",
        scaled("b", "d", "a1"),
        "FloatDelay b -> c",
        scaled("c", "e", "a2"),
        f"FloatAdder d e -> f | {EARLY}",
        scaled("b", "g", "b1"),
        f"FloatAdder a g -> y | {EARLY}",
    ],
}


@pytest.mark.parametrize(
    "form",
    [
        pytest.param(
            "I",
            marks=pytest.mark.reference("framework/calculator_graph_test.cc", "CalculatorGraph.DirectFormI"),
        ),
        pytest.param(
            "II",
            marks=pytest.mark.reference("framework/calculator_graph_test.cc", "CalculatorGraph.DirectFormII"),
        ),
    ],
)
def test_extra_a_filter_with_two_cycles(bench, form):
    bench.run(
        bench.net("", COUNT, "ToFloat integers -> x", *FORMS[form]),
        GlobalCount,
        FloatDelay,
        FloatAdder,
        ToFloat,
        Scaled,
        watch=["y"],
        sides={**counted(1), "a2": -0.9, "a1": 1.5, "b1": 2.0},
    )

    assert [at for at, _ in bench.seen["y"]] == [0, 1, 2, 3, 4]
    values = [value for _, value in bench.seen["y"]]
    assert values == pytest.approx([1.0, 5.5, 14.35, 26.575, 39.9475], rel=5e-7)


def sequence(name, packet_of):
    """Return a source of 15 packets; the i-th is `packet_of(i)`: payload, timestamp."""

    class Sequence(penstock.Calculator):
        @classmethod
        def get_contract(cls, cc):
            cc.outputs[0].set(int)

        def open(self, cc):
            self.sent = 0

        def process(self, cc):
            cc.output.add(*packet_of(self.sent))
            self.sent += 1
            return STOP if self.sent == 15 else None

    Sequence.__name__ = name
    return Sequence


@pytest.mark.reference("framework/calculator_graph_test.cc", "CalculatorGraph.DotProduct")
def test_extra_a_dot_product_of_sequences_whose_timestamps_do_not_matter(bench):
    found = []
    bench.run(
        bench.net(
            "",
            "Zeros -> test_sequence_1",
            "Backwards -> test_sequence_2",
            "Modulo -> select",
            *(
                f"Demux INPUT:test_sequence_{i} SELECT:select -> OUTPUT:0:x_{i} OUTPUT:1:y_{i} OUTPUT:2:z_{i}"
                for i in (1, 2)
            ),
            *(f"Mult {axis}_1 {axis}_2 -> {axis}_product" for axis in "xyz"),
            "Adder x_product y_product z_product -> dot_product",
            'Sink dot_product | input_side_packet: "found"',
            more=bench.handler("Barrier"),
        ),
        sequence("Zeros", lambda i: (i, 0)),
        sequence("Backwards", lambda i: (i + 1, 100 - i)),
        sequence("Modulo", lambda i: (i % 3, i % 3)),
        calculator(demux_untimed, name="Demux"),
        sides={"found": found},
    )

    assert [value for _, value in found] == [8, 62, 170, 332, 548]


# --- input policies ---


@pytest.mark.reference(
    "framework/calculator_graph_test.cc", "CalculatorGraph.SimpleMuxCalculatorWithCustomInputStreamHandler"
)
def test_extra_a_node_that_lets_time_go_back_on_its_output_fails(bench):
    def first_that_has(cc):
        for port in cc.inputs:
            if not port.is_empty():
                cc.output.add_packet(port.packet)
                return

    bench.start(
        bench.net("input0 input1", f"SimpleMux input0 input1 -> output | {bench.handler('Immediate')}"),
        calculator(first_that_has, name="SimpleMux"),
        watch=["output"],
    )
    bench.add_one_by_one("input0", (0, 1))
    assert bench.seen["output"] == [(0, 1)]
    bench.add_one_by_one("input0", (1, 3))
    assert bench.seen["output"] == [(0, 1), (1, 3)]
    bench.add("input1", (0, 2))

    error = bench.failure(bench.idle)

    assert "timestamps in a stream must increase" in str(error)
    assert (error.node, error.stream) == ("SimpleMux", "output")


@pytest.mark.reference(
    "framework/calculator_graph_test.cc", "CalculatorGraph.MultipleRunsWithDifferentInputStreamHandlers"
)
@pytest.mark.parametrize(
    "policy",
    ["Barrier", "Default", "EarlyClose", "FixedSize", "Immediate", "Mux", "SyncSet", "TimestampAlign"],
)
def test_extra_a_second_run_may_have_smaller_timestamps(bench, policy):
    graph = bench.load(
        bench.net("input select", f"PlainPass input select -> output select_out | {bench.handler(policy)}"),
        watch=["output"],
    )
    for at, value in ((2000, 2), (1000, 1)):
        bench.seen["output"].clear()
        graph.start_run()
        if policy != "Immediate":
            bench.add("select", (at, 0))
        bench.add_one_by_one("input", (at, value))
        assert bench.seen["output"] == [(at, value)]
        graph.close_all_packet_sources()
        bench.done()
