"""Bounds in the reference's `calculator_graph_bounds_test.cc`, with its inputs and expected values.

Scenarios of their own are in `test_bounds.py`. What the reference pins by sleeping is pinned
by events here.
"""

from __future__ import annotations

import threading

import pytest

import penstock
from penstock import STOP, Timestamp
from penstock_testing import calculator

PATIENCE_S = 30


class Valve(penstock.Calculator):
    """Forwards the first input where the second is True, and counts."""

    @classmethod
    def get_contract(cls, cc):
        cc.inputs[0].set_any()
        cc.inputs[1].set(bool)
        cc.outputs[0].set_same_as(cc.inputs[0])

    def process(self, cc):
        if cc.inputs[1].payload:
            cc.counter("PassThrough").increment()
            cc.output.add_packet(cc.inputs[0].packet)
        else:
            cc.counter("Block").increment()
            cc.output.set_next_timestamp_bound(cc.input_timestamp.next_allowed_in_stream())


class TimeShift(penstock.Calculator):
    """Moves packets by the side packet, which is its offset."""

    @classmethod
    def get_contract(cls, cc):
        cc.inputs[0].set_any()
        cc.outputs[0].set_same_as(cc.inputs[0])
        cc.input_side_packets[0].set(int)

    def open(self, cc):
        cc.set_offset(cc.input_side_packets[0].payload)

    def process(self, cc):
        cc.output.add_packet(cc.input.packet.at(cc.input_timestamp + cc.input_side_packets[0].payload))


@pytest.mark.reference(
    "framework/calculator_graph_bounds_test.cc", "CalculatorGraph.SetNextTimestampBoundPropagation"
)
def test_extra_bounds_of_a_valve_pass_through_nodes_with_offsets(bench):
    graph = bench.load(
        bench.net(
            "in gate",
            "Valve in gate -> gated",
            "Pass gated -> passed",
            'TimeShift passed -> shifted | input_side_packet: "shift"',
            "Merge in shifted -> merged",
            "Pass merged -> out | name: 'merged_output'",
        ),
        Valve,
        TimeShift,
        watch=["out"],
    )
    at = 0

    def send(*opens):
        nonlocal at
        for is_open in opens:
            at += 1
            bench.add("in", at)
            bench.add("gate", (at, is_open))
        bench.idle()

    def counts():
        names = ("Valve-PassThrough", "Valve-Block", "merged_output-PassThrough")
        return [graph.counters[name] for name in names]

    graph.start_run({"shift": 0})
    send(True, True, False, False)
    assert counts() == [2, 2, 4]
    send(True, False)
    assert counts() == [3, 3, 6]
    bench.end()

    graph.start_run({"shift": -1})
    send(True)
    assert counts() == [4, 3, 7]
    bench.end()
    assert counts() == [4, 3, 8]


def packets_and_bounds(top):
    """Return a source of i at 20i, with bounds at the tens between them, up to `top`."""

    class PacketsAndBounds(penstock.Calculator):
        @classmethod
        def get_contract(cls, cc):
            cc.outputs[0].set(int)

        def open(self, cc):
            self.at = 0

        def process(self, cc):
            if self.at % 20 == 0:
                cc.output.add(self.at // 20, self.at)
            else:
                cc.output.set_next_timestamp_bound(self.at)
            self.at += 10
            return STOP if self.at > top else None

    return PacketsAndBounds


@pytest.mark.reference("framework/calculator_graph_bounds_test.cc", "CalculatorGraph.PropagateBoundLoop")
def test_extra_bounds_go_round_a_loop_with_an_offset(bench):
    delay = calculator(
        lambda cc: cc.output.add_packet(cc.input.packet.at(cc.input_timestamp + 20)),
        open=lambda cc: cc.output.add(0, 0),
        name="Delay20",
        offset=20,
    )
    back = 'input_stream_info { tag_index: ":1" back_edge: true }'
    bench.run(
        bench.net(
            "",
            "PacketsAndBounds -> integers",
            f"Adder integers old_sum -> sum | {back} {bench.handler('EarlyClose')}",
            "Delay20 sum -> old_sum",
        ),
        packets_and_bounds(2000),
        delay,
        watch=["sum"],
    )

    assert bench.seen["sum"] == [(20 * i, i * (i + 1) // 2) for i in range(101)]


@pytest.mark.reference(
    "framework/calculator_graph_bounds_test.cc", "CalculatorGraph.CheckBatchProcessingBoundPropagation"
)
def test_extra_a_node_with_a_batch_under_way_sends_no_bounds_past_it(bench):
    bench.run(
        bench.net(
            "",
            "PacketsAndBounds -> integers",
            f"Pass integers -> output | {bench.handler('Default', 'batch_size: 10')}",
            "Counting output",
        ),
        packets_and_bounds(2000),
        watch=["output"],
    )

    assert bench.seen["output"] == [(20 * i, i) for i in range(101)]


@pytest.mark.reference(
    "framework/calculator_graph_bounds_test.cc", "CalculatorGraphBoundsTest.ImmediateHandlerBounds"
)
def test_extra_bounds_pass_through_an_immediate_node_with_an_offset(bench):
    bench.start(
        bench.net(
            "input",
            "Bound input -> bounds",
            f"Pass bounds -> bounds_2 | {bench.handler('Immediate')}",
            "Pass bounds_2 input -> bounds_output output",
        ),
        watch=["bounds_output", "output"],
    )
    bench.idle()
    bench.add("input", *((t, 33) for t in range(4)))
    bench.idle()

    expected = {"bounds_output": [], "output": [(t, 33) for t in range(4)]}
    assert bench.seen == expected
    bench.graph.close_all_packet_sources()
    bench.done()
    assert bench.seen == expected


@pytest.mark.reference(
    "framework/calculator_graph_bounds_test.cc", "CalculatorGraphBoundsTest.FixedSizeHandlerBounds"
)
def test_extra_packets_that_a_busy_node_drops_say_nothing_to_the_nodes_below(pool):
    entered, may_leave = threading.Semaphore(0), threading.Semaphore(0)
    first_is_out = threading.Event()

    def process(cc):
        entered.release()
        assert may_leave.acquire(timeout=PATIENCE_S)
        cc.output.add_packet(cc.input.packet)

    busy = calculator(process, open=lambda cc: cc.set_offset(0), name="Busy")
    graph = pool.load(
        pool.net(
            "input",
            f"Busy input -> thinned | {pool.handler('FixedSize')}",
            "Pass thinned input -> thinned_output output",
            more="num_threads: 4\n",
        ),
        busy,
        watch=["thinned_output", "output"],
    )
    graph.observe_output_stream("output", lambda name, packet: first_is_out.set())
    graph.start_run()
    pool.idle()
    pool.add("input", (0, 33))
    assert entered.acquire(timeout=PATIENCE_S)
    pool.add("input", *((t, 33) for t in (1, 2, 3)))
    assert pool.seen == {"thinned_output": [], "output": []}

    may_leave.release()
    assert entered.acquire(timeout=PATIENCE_S)
    assert first_is_out.wait(PATIENCE_S)
    assert pool.seen == {"thinned_output": [(0, 33)], "output": [(0, 33)]}

    may_leave.release()
    pool.idle()
    assert pool.seen["thinned_output"] == [(0, 33), (3, 33)]
    assert pool.seen["output"] == [(t, 33) for t in range(4)]
    graph.close_all_packet_sources()
    pool.done()


@pytest.mark.reference(
    "framework/calculator_graph_bounds_test.cc", "CalculatorGraphBoundsTest.LastPacketCheck"
)
def test_extra_the_last_packet_of_a_stream_is_found_when_it_ends(bench):
    last = []

    def keep(cc):
        cc.output.set_next_timestamp_bound(cc.input_timestamp)
        last[:] = [cc.input.packet]

    bench.start(
        bench.net(
            "input",
            "Pass input -> input_2",
            "Last input_2 -> last_packet",
            "Pass input last_packet -> output last_output",
            more='output_stream: "output"\noutput_stream: "last_output"\n',
        ),
        calculator(keep, close=lambda cc: cc.output.add_packet(last[0]), name="Last"),
        watch=["output", "last_output"],
    )
    bench.idle()
    for t in range(4):
        bench.add_one_by_one("input", (t, 33))
        assert bench.seen == {"output": [(i, 33) for i in range(t)], "last_output": []}
    bench.graph.close_all_packet_sources()
    bench.idle()

    assert bench.seen == {"output": [(i, 33) for i in range(4)], "last_output": [(3, 33)]}
    bench.done()


def each_time(cc):
    """Write, on each output, the timestamp of the packet of its input, empty or not."""
    for source, target in zip(cc.inputs, cc.outputs, strict=True):
        target.add(source.packet.timestamp, cc.input_timestamp)


@pytest.mark.parametrize(
    ("policy", "options"),
    [
        pytest.param(
            "Immediate",
            "",
            marks=pytest.mark.reference(
                "framework/calculator_graph_bounds_test.cc",
                "CalculatorGraphBoundsTest.BoundsForEmptyInputs_Immediate",
            ),
        ),
        pytest.param(
            "Default",
            "",
            marks=pytest.mark.reference(
                "framework/calculator_graph_bounds_test.cc",
                "CalculatorGraphBoundsTest.BoundsForEmptyInputs_Default",
            ),
        ),
        pytest.param(
            "SyncSet",
            "",
            marks=pytest.mark.reference(
                "framework/calculator_graph_bounds_test.cc",
                "CalculatorGraphBoundsTest.BoundsForEmptyInputs_SyncSet",
            ),
        ),
        pytest.param(
            "SyncSet",
            'sync_set { tag_index: ":0" }',
            marks=pytest.mark.reference(
                "framework/calculator_graph_bounds_test.cc",
                "CalculatorGraphBoundsTest.BoundsForEmptyInputs_SyncSets",
            ),
        ),
    ],
)
def test_extra_an_empty_input_tells_how_far_its_stream_is_settled(bench, policy, options):
    bench.start(
        bench.net(
            "input",
            "Future input -> futures",
            "OffsetOnly futures -> bounds",
            f"EachTime input bounds -> input_ts bounds_ts | {bench.handler(policy, options)}",
        ),
        calculator(each_time, name="EachTime"),
        watch=["input_ts", "bounds_ts"],
    )
    bench.idle()
    bench.add_one_by_one("input", *((t, 33) for t in (0, 10, 20, 30)))

    assert bench.seen["input_ts"] == [(t, t) for t in (0, 10, 20, 30)]
    settled = [at for _, at in bench.seen["bounds_ts"]]
    limits = [Timestamp.UNSTARTED, 3, 13, 23, 33]
    assert len(settled) == 4
    for at, low, high in zip(settled, limits, limits[1:], strict=False):
        assert low <= at <= high
    bench.graph.close_all_packet_sources()
    bench.done()


def immediate(cc):
    cc.set_input_stream_handler("ImmediateInputStreamHandler")


def relay(cc):
    """Write each packet, and for each empty input the bound that its stream has."""
    for source, target in zip(cc.inputs, cc.outputs, strict=True):
        if not source.is_empty():
            target.add_packet(source.packet)
        else:
            bound = source.packet.timestamp.next_allowed_in_stream()
            if target.bound < bound:
                target.set_next_timestamp_bound(bound)


def bounds_as_packets(cc):
    for source, target in zip(cc.inputs, cc.outputs, strict=True):
        at = source.packet.timestamp
        if at == cc.input_timestamp and at >= target.bound:
            target.add(at, at)


@pytest.mark.reference(
    "framework/calculator_graph_bounds_test.cc",
    "CalculatorGraphBoundsTest.ProcessTimestampBounds_Passthrough",
)
def test_extra_a_node_relays_packets_and_bounds_of_each_stream(bench):
    bench.start(
        bench.net(
            "input_0 input_1",
            "OffsetOnly input_1 -> bound_1",
            "Relay input_0 bound_1 -> same_0 same_1",
            "BoundsAsPackets same_0 same_1 -> output_0 output_1",
        ),
        calculator(relay, process_bounds=True, contract=immediate),
        calculator(bounds_as_packets, process_bounds=True, contract=immediate),
        watch=["output_0", "output_1"],
    )
    bench.idle()
    bench.add_one_by_one("input_0", *((t, 33) for t in (0, 10, 20, 30)))
    packets = [(t, t) for t in (0, 10, 20, 30)]
    assert bench.seen == {"output_0": packets, "output_1": []}

    bench.add_one_by_one("input_1", *((t, 33) for t in (10, 20)))
    assert bench.seen == {"output_0": packets, "output_1": [(10, 10), (20, 20)]}
    bench.graph.close_all_packet_sources()
    bench.done()


@pytest.mark.reference(
    "framework/calculator_graph_bounds_test.cc", "CalculatorGraphBoundsTest.MaxInFlightWithOccasionalBound"
)
def test_extra_bounds_of_calls_that_overlap_never_go_back(pool):
    """Of each pair of calls the second ends first."""
    over = {t: threading.Event() for t in range(10, 110, 10)}

    def occasionally(cc):
        t = int(cc.input_timestamp)
        if t % 20 == 10 and t < 90:
            assert over[t + 10].wait(PATIENCE_S)
        if t % 20 == 0:
            bound = cc.input_timestamp.next_allowed_in_stream()
            cc.output.set_next_timestamp_bound(max(bound, cc.output.bound))
        over[t].set()

    pool.start(
        pool.net("input_0", "Occasionally input_0 -> output_0 | max_in_flight: 5", more="num_threads: 4\n"),
        calculator(occasionally, name="Occasionally"),
        watch=["output_0"],
        bounds=True,
    )
    pool.idle()
    pool.add("input_0", *((10 + 10 * i, i) for i in range(9)))
    pool.idle()

    stamps = [at for at, _ in pool.seen["output_0"]]
    assert [payload for _, payload in pool.seen["output_0"] if payload is not None] == []
    assert stamps == sorted(set(stamps))
    assert stamps[-1] == 80
    pool.graph.close_all_packet_sources()
    pool.done()
