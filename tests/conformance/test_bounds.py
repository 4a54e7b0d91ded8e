"""Scenarios 7-19: the default input policy, and what bounds and offsets tell the nodes below."""

from __future__ import annotations

import pytest

import penstock
from penstock import Packet, Timestamp
from penstock_testing import calculator


def even(cc):
    if cc.input.payload % 2 == 0:
        cc.output.add_packet(cc.input.packet)
    else:
        cc.output.set_next_timestamp_bound(cc.input_timestamp.next_allowed_in_stream())


def valve(cc):
    if cc.inputs[1].payload:
        cc.output.add_packet(cc.inputs[0].packet)
    else:
        cc.output.set_next_timestamp_bound(cc.input_timestamp.next_allowed_in_stream())


class Shift(penstock.Calculator):
    """Moves packets by the side packet, and promises just that."""

    @classmethod
    def get_contract(cls, cc):
        for port in (*cc.inputs, *cc.outputs):
            port.set_any()
        cc.input_side_packets[0].set(int)

    def open(self, cc):
        self.shift = cc.input_side_packets[0].payload
        cc.set_offset(self.shift)

    def process(self, cc):
        cc.output.add_packet(cc.input.packet.at(cc.input_timestamp + self.shift))


class LastPacket(penstock.Calculator):
    """Keeps the last packet back until close, so that its bound never gets past the present time."""

    @classmethod
    def get_contract(cls, cc):
        cc.inputs[0].set_any()
        cc.outputs[0].set_any()

    def process(self, cc):
        self.last = cc.input.packet
        cc.output.set_next_timestamp_bound(cc.input_timestamp)

    def close(self, cc):
        cc.output.add_packet(self.last)


Even = calculator(even, name="Even")
Valve = calculator(valve, name="Valve")


def test_s07_an_input_set_waits_until_its_timestamp_is_settled_on_both_streams(bench):
    bench.start(bench.net("in0 in1", "Pass in0 in1 -> out0 out1"), watch=["out0", "out1"])

    bench.add_one_by_one("in0", 1)
    assert bench.seen == {"out0": [], "out1": []}
    bench.add_one_by_one("in1", 2)
    assert bench.seen == {"out0": [(1, 1)], "out1": []}
    bench.add_one_by_one("in0", 2)
    assert bench.seen == {"out0": [(1, 1), (2, 2)], "out1": [(2, 2)]}
    bench.end()
    assert bench.seen == {"out0": [(1, 1), (2, 2)], "out1": [(2, 2)]}


@pytest.mark.reference(
    "framework/calculator_graph_bounds_test.cc",
    "CalculatorGraph.NotAllInputPacketsAtNextTimestampBoundAvailable",
)
def test_s08_a_bound_at_t_does_not_settle_t(bench):
    bench.start(bench.net("in0 in1", "Even in1 -> even", "Adder in0 even -> out"), Even, watch=["out"])

    bench.add("in0", 1)
    bench.add_one_by_one("in1", (1, 2))
    assert bench.seen["out"] == [(1, 3)]
    bench.add("in1", (2, 3))
    bench.add_one_by_one("in0", 3)
    assert bench.seen["out"] == [(1, 3)]
    bench.add_one_by_one("in1", (3, 4))
    assert bench.seen["out"] == [(1, 3), (3, 7)]
    bench.end()
    assert bench.seen["out"] == [(1, 3), (3, 7)]


def test_s09_bounds_of_a_closed_valve_let_a_join_below_run_and_a_negative_offset_settles_less(bench):
    graph = bench.load(
        bench.net(
            "in gate",
            "Valve in gate -> gated",
            "Pass gated -> passed",
            'Shift passed -> shifted | input_side_packet: "shift"',
            "Merge in shifted -> out",
        ),
        Valve,
        Shift,
        watch=["out"],
    )
    graph.start_run({"shift": 0})
    for t, is_open in ((1, True), (2, True), (3, False), (4, False)):
        bench.add("gate", (t, is_open))
        bench.add("in", t)
    bench.idle()
    assert [text for _, text in bench.seen["out"]] == ["1: 1 1", "2: 2 2", "3: 3 empty", "4: 4 empty"]
    bench.end()

    bench.seen["out"].clear()
    graph.start_run({"shift": -1})
    bench.add("gate", (7, True))
    bench.add_one_by_one("in", 7)
    assert bench.seen["out"] == [(6, "6: empty 7")]
    bench.end()
    assert bench.seen["out"] == [(6, "6: empty 7"), (7, "7: 7 empty")]


@pytest.mark.reference(
    "framework/calculator_graph_bounds_test.cc", "CalculatorGraphBoundsTest.OffsetBoundPropagation"
)
def test_s10_an_offset_alone_lets_a_join_below_run(bench):
    bench.start(
        bench.net("in", "OffsetOnly in -> nothing", "Pass nothing in -> out0 out1"), watch=["out0", "out1"]
    )
    bench.add("in", 0, 1, 2, 3)
    bench.idle()

    assert bench.seen == {"out0": [], "out1": [(t, t) for t in range(4)]}
    bench.end()


@pytest.mark.reference(
    "framework/calculator_graph_bounds_test.cc", "CalculatorGraphBoundsTest.BoundWithoutInputPackets"
)
def test_s11_bounds_alone_do_not_call_process(bench):
    bench.start(bench.net("in", "Future in -> later", "OffsetOnly later -> nothing", "Counting nothing"))
    bench.add_one_by_one("in", 0, 1, 2, 3)
    bench.end()

    assert bench.graph.counters.get("Counting-calls", 0) == 0


@pytest.mark.parametrize(
    ("policy", "options"),
    [
        pytest.param(
            "Default",
            "",
            marks=pytest.mark.reference(
                "framework/calculator_graph_bounds_test.cc",
                "CalculatorGraphBoundsTest.ProcessTimestampBounds_Default",
            ),
        ),
        pytest.param(
            "Immediate",
            "",
            marks=pytest.mark.reference(
                "framework/calculator_graph_bounds_test.cc",
                "CalculatorGraphBoundsTest.ProcessTimestampBounds_Immediate",
            ),
        ),
        pytest.param(
            "SyncSet",
            "",
            marks=pytest.mark.reference(
                "framework/calculator_graph_bounds_test.cc",
                "CalculatorGraphBoundsTest.ProcessTimestampBounds_SyncSet",
            ),
        ),
        pytest.param(
            "SyncSet",
            'sync_set { tag_index: ":0" }',
            marks=pytest.mark.reference(
                "framework/calculator_graph_bounds_test.cc",
                "CalculatorGraphBoundsTest.ProcessTimestampBounds_SyncSets",
            ),
        ),
    ],
)
def test_s12_bounds_alone_call_process_where_the_contract_asks_for_it(bench, policy, options):
    handler = bench.handler(policy, options)
    bench.start(
        bench.net(
            "in", "Future in -> later", "OffsetOnly later -> nothing", f"Ts nothing -> out | {handler}"
        ),
        watch=["out"],
    )
    bench.add_one_by_one("in", 0, 10, 20, 30)

    assert bench.seen["out"] == [(t, t) for t in (3, 13, 23, 33)]
    bench.end()


@pytest.mark.reference(
    "framework/calculator_graph_bounds_test.cc", "CalculatorGraphBoundsTest.EmptyPacketOutput"
)
@pytest.mark.parametrize("policy", ["Default", "Immediate", "SyncSet"])
def test_s13_an_empty_packet_settles_its_timestamp(bench, policy):
    says_nothing = calculator(
        lambda cc: cc.output.add_packet(Packet().at(cc.input_timestamp)), name="Nothing"
    )
    bench.start(
        bench.net("in", "Nothing in -> empty", f"Ts empty -> out | {bench.handler(policy)}"),
        says_nothing,
        watch=["out"],
    )
    bench.add_one_by_one("in", *range(10, 100, 10))

    assert bench.seen["out"] == [(t, t) for t in range(10, 100, 10)]
    bench.end()


@pytest.mark.reference(
    "framework/calculator_graph_bounds_test.cc", "CalculatorGraphBoundsTest.SetInputStreamTimestampBound"
)
def test_s14_a_bound_of_a_graph_input_calls_process_where_the_contract_asks_for_it(bench):
    bench.start(bench.net("in", "Ts in -> out"), watch=["out"])
    for t in range(10, 100, 10):
        bench.bound("in", Timestamp(t).next_allowed_in_stream())

    assert bench.seen["out"] == [(t, t) for t in range(10, 100, 10)]
    bench.end()


@pytest.mark.reference(
    "framework/calculator_graph_bounds_test.cc", "CalculatorGraphBoundsTest.TimestampBoundsForInfrequentInput"
)
def test_s15_packets_and_bounds_of_a_stream_that_seldom_has_something(bench):
    bench.start(
        bench.net("config frame", "Pass CONFIG:config VIDEO:frame -> CONFIG:config_out VIDEO:frame_out"),
        watch=["config_out", "frame_out"],
        bounds=True,
    )
    config, frame = bench.seen["config_out"], bench.seen["frame_out"]

    bench.add_one_by_one("frame", (0, "f0"))
    assert (config, frame) == ([], [])
    bench.bound("config", 10_000)
    assert (config, frame) == ([(0, None)], [(0, "f0")])
    bench.add_one_by_one("frame", (20_000, "f20"))
    assert (config[1:], frame[1:]) == ([(9_999, None)], [(9_999, None)])
    bench.bound("config", 30_000)
    assert frame[-1] == (20_000, "f20")
    bench.add_one_by_one("frame", (40_000, "f40"))
    assert frame[-1] == (29_999, None)
    bench.add_one_by_one("config", (50_000, "c50"))
    assert frame[-1] == (40_000, "f40")
    bench.add_one_by_one("frame", (60_000, "f60"))
    assert (frame[-1], config[-1]) == ((50_000, None), (50_000, "c50"))
    bench.bound("config", 70_000)
    assert frame[-1] == (60_000, "f60")

    settled = (0, 9_999, 20_000, 29_999, 40_000)
    assert config == [*((t, None) for t in settled), (50_000, "c50"), (60_000, None)]
    bench.end()


def test_s16_a_bound_at_the_present_time_holds_a_join_back_by_one_and_the_last_comes_in_close(bench):
    bench.start(
        bench.net("in", "LastPacket in -> last", "Pass in last -> out0 out1"),
        LastPacket,
        watch=["out0", "out1"],
    )
    for t in range(4):
        bench.add_one_by_one("in", t)
        assert (len(bench.seen["out0"]), len(bench.seen["out1"])) == (t, 0)
    bench.end()

    assert bench.seen == {"out0": [(t, t) for t in range(4)], "out1": [(3, 3)]}


@pytest.mark.reference(
    "framework/calculator_graph_bounds_test.cc",
    "CalculatorGraphBoundsTest.PostStreamPacketToSetProcessTimestampBound",
)
def test_s17_a_packet_after_all_others_is_processed_at_its_timestamp_once(bench):
    bench.start(bench.net("in", "Ts in -> out"), watch=["out"])
    bench.add_one_by_one("in", (Timestamp.POSTSTREAM, 0))

    assert bench.seen["out"] == [(Timestamp.POSTSTREAM, int(Timestamp.POSTSTREAM))]
    bench.end()
    assert len(bench.seen["out"]) == 1


T = Timestamp


@pytest.mark.parametrize(
    ("offset", "at", "bound"),
    [
        (0, 0, 1),
        (0, T.PRESTREAM, T.MIN),
        (0, T.MAX, T.POSTSTREAM),
        (-10, 0, -9),
        (-10, T.MAX, T.MAX - 9),
        (7, 0, 8),
    ],
)
def test_s18_an_offset_promises_a_bound_from_the_timestamp_of_the_input(bench, offset, at, bound):
    bench.start(bench.net("in open", "Promising in open -> out"), calculator(name="Promising", offset=offset))
    bench.idle()
    assert bench.stream("out").bound == str(T.PRESTREAM)  # `open` has no input timestamp to promise from

    bench.add("in", (at, "x"))
    after = (
        T.POSTSTREAM if at == T.MAX else T.of(int(at) + 1)
    )  # as far as "open" can go and keep the node open
    bench.bound("open", after)

    assert bench.stream("out").bound == str(bound)
    bench.end()


@pytest.mark.parametrize("at", [T.PRESTREAM, T.MAX, T.POSTSTREAM])
def test_s18_a_node_closes_after_a_packet_that_must_be_the_last(bench, at):
    bench.start(bench.net("in", "Pass in -> out"), watch=["out"])
    bench.add_one_by_one("in", (at, "x"))

    assert bench.seen["out"] == [(at, "x")]
    assert bench.node("PassThroughCalculator").state == "closed"
    assert bench.stream("out").bound == str(T.DONE)
    bench.end()


@pytest.mark.parametrize(
    ("act", "bound"),
    [
        (lambda cc: cc.output.add("x", 20), 21),
        (lambda cc: cc.output.set_next_timestamp_bound(100), 100),
        (lambda cc: None, 1),
    ],
    ids=["a packet", "an explicit bound", "nothing"],
)
def test_s18_a_packet_or_a_bound_beyond_the_offset_says_more(bench, act, bound):
    bench.start(bench.net("in", "Promising in -> out"), calculator(act, name="Promising", offset=0))
    bench.add_one_by_one("in", 0)

    assert bench.stream("out").bound == str(bound)
    bench.end()


@pytest.mark.reference(
    "framework/calculator_graph_bounds_test.cc", "CalculatorGraphBoundsTest.OffsetAndBound"
)
def test_s19_offsets_below_an_explicit_bound_are_ignored(bench):
    def far(cc):
        if cc.input_timestamp == 20:
            cc.output.set_next_timestamp_bound(10_000)

    bench.start(
        bench.net("in", "Far in -> out"), calculator(far, name="Far", offset=0), watch=["out"], bounds=True
    )
    bench.add_one_by_one("in", *range(10, 100, 10))

    assert bench.stream("out").bound == "10000"
    bench.end()
    assert bench.seen["out"] == [(10, None), (9_999, None)]
