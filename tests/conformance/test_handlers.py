"""Scenarios 26-35, 38 and 40: what each input policy shows its node."""

from __future__ import annotations

import pytest

from penstock import StatusCode
from penstock.errors import TimestampOrderError
from penstock_testing import calculator

UNSTARTED = "@unstarted"


# --- batches -------------------------------------------------------------------------------------


@pytest.mark.reference(
    "framework/stream_handler/default_input_stream_handler_test.cc",
    "DefaultInputStreamHandlerTest.NoBatchingWorks",
)
def test_s26_a_batch_of_one_is_none(bench):
    handler = bench.handler("Default", "batch_size: 1")
    bench.start(bench.net("in0 in1", f"Pass in0 in1 -> out0 out1 | {handler}"), watch=["out0", "out1"])

    for stream, payload, at, outputs in (("in0", 1, 1, (0, 0)), ("in1", 2, 2, (1, 0)), ("in0", 2, 2, (2, 1))):
        bench.add_one_by_one(stream, (at, payload))
        assert (len(bench.seen["out0"]), len(bench.seen["out1"])) == outputs
    bench.end()


@pytest.mark.reference(
    "framework/stream_handler/default_input_stream_handler_test.cc", "DefaultInputStreamHandlerTest.Batches"
)
def test_s26_batches_of_two_follow_each_other(bench):
    handler = bench.handler("Default", "batch_size: 2")
    bench.start(bench.net("in", f"Pass in -> out | {handler}"), watch=["out"])

    for at, expected in ((1, []), (2, [1, 2]), (3, [1, 2]), (4, [1, 2, 3, 4])):
        bench.add_one_by_one("in", at)
        assert bench.seen["out"] == [(t, t) for t in expected]
    bench.end()


@pytest.mark.reference(
    "framework/stream_handler/default_input_stream_handler_test.cc",
    "DefaultInputStreamHandlerTest.BatchIsFlushedWhenClosing",
)
def test_s26_a_batch_of_two_waits_for_the_second_and_what_is_left_comes_at_the_end(bench):
    handler = bench.handler("Default", "batch_size: 2")
    bench.start(bench.net("in", f"Pass in -> out | {handler}"), watch=["out"])

    bench.add_one_by_one("in", 1)
    assert bench.seen["out"] == []
    bench.add_one_by_one("in", 2)
    assert bench.seen["out"] == [(1, 1), (2, 2)]
    bench.add_one_by_one("in", 3)
    assert bench.seen["out"] == [(1, 1), (2, 2)]
    bench.end()
    assert bench.seen["out"] == [(1, 1), (2, 2), (3, 3)]


@pytest.mark.reference(
    "framework/stream_handler/default_input_stream_handler_test.cc",
    "DefaultInputStreamHandlerTest.DoesntPropagateTimestampWhenBatching",
)
def test_s27_a_node_that_collects_a_batch_settles_nothing_from_its_first_timestamp_on(bench):
    handler = bench.handler("Default", "batch_size: 3")
    bench.start(
        bench.net("in0 in1", f"Pass in1 -> batched | {handler}", "Pass in0 batched -> out0 out1"),
        watch=["out0", "out1"],
    )
    bench.add_one_by_one("in0", 0)
    assert bench.seen["out0"] == []
    for t, outputs in ((1, 1), (2, 1), (3, 4)):
        bench.add("in0", t)
        bench.add_one_by_one("in1", t)
        assert len(bench.seen["out0"]) == outputs

    assert bench.seen == {"out0": [(t, t) for t in range(4)], "out1": [(t, t) for t in (1, 2, 3)]}
    bench.end()


# --- immediate -----------------------------------------------------------------------------------


def test_s28_immediate_calls_for_each_packet_and_once_more_when_a_stream_ends(bench):
    bench.start(bench.net("a b c", f"Seen a b c | {bench.handler('Immediate')}"))

    bench.add_one_by_one("b", (10, "p"))
    assert bench.calls == [f"10: a{UNSTARTED} b=p c{UNSTARTED}"]
    bench.close("a")
    assert bench.calls[1:] == [f"prestream: a@max b@10 c{UNSTARTED}"]
    bench.close("b")
    bench.close("c")

    assert bench.calls[2:] == [f"prestream: a@max b@max c{UNSTARTED}", "close"]
    bench.end()


def test_s28_immediate_closes_without_such_a_call_when_all_streams_end_together(bench):
    ends = calculator(lambda cc: [output.close() for output in cc.outputs] and None, name="Ends")
    bench.start(bench.net("in", "Ends in -> a b", f"Seen a b | {bench.handler('Immediate')}"), ends)
    bench.add_one_by_one("in", 1)

    assert bench.calls == ["close"]
    bench.end()


def test_s29_immediate_with_bounds_calls_at_the_greatest_time_when_streams_end(bench):
    ends = calculator(lambda cc: [output.close() for output in cc.outputs] and None, name="Ends")
    bench.start(bench.net("in b", "Ends in -> a c", f"SeenBounds a b c | {bench.handler('Immediate')}"), ends)

    bench.add_one_by_one("b", (1, "p"))
    assert bench.calls == [f"1: a{UNSTARTED} b=p c{UNSTARTED}"]
    bench.close("b")
    assert bench.calls[1:] == [f"max: a{UNSTARTED} b@max c{UNSTARTED}"]
    bench.add_one_by_one("in", 1)

    assert bench.calls[2:] == ["max: a@max b@max c@max", "close"]
    bench.end()


def test_s30_immediate_takes_the_earliest_first_and_what_is_simultaneous_together(bench):
    bench.start(bench.net("a b c", f"Seen a b c | {bench.handler('Immediate')}"))

    def add_three():
        for t, stream in enumerate("abc", start=1):
            bench.add(stream, (t, stream))

    def add_all():
        for stream in "abc":
            bench.add(stream, (5, stream))

    bench.during = {1: add_three, 2: add_all}
    bench.add_one_by_one("a", 0)

    assert bench.calls[1:] == [
        "1: a=a b@1 c@2",
        "2: a@4 b=b c@2",
        "3: a@4 b@4 c=c",
        "5: a=a b=b c=c",
    ]
    bench.end()


def test_s31_immediate_and_one_output_for_two_inputs_fails_where_time_goes_back(bench):
    """Decision 1: it raises in the calculator; the reference reports it at the reader."""
    any_to_one = calculator(
        lambda cc: [cc.output.add_packet(p.packet) for p in cc.inputs if not p.is_empty()] and None,
        name="AnyToOne",
    )
    bench.start(
        bench.net("in0 in1", f"AnyToOne in0 in1 -> out | {bench.handler('Immediate')}"),
        any_to_one,
        watch=["out"],
    )
    bench.add_one_by_one("in0", 0, 1)
    bench.add("in1", 0)

    error = bench.failure(bench.idle)

    assert isinstance(error.errors[0].__cause__, TimestampOrderError)
    assert (error.code, error.node, error.stream) == (StatusCode.INVALID_ARGUMENT, "AnyToOne", "out")
    assert "packet at 0 is behind the bound 2; timestamps in a stream must increase" in str(error)
    assert bench.seen["out"] == [(0, 0), (1, 1)]


# --- sync sets -----------------------------------------------------------------------------------


def test_s32_streams_are_in_step_within_their_set_only(bench):
    first, second = 'tag_index: ":0" tag_index: ":2" tag_index: ":4"', 'tag_index: ":1" tag_index: ":3"'
    sets = f"sync_set {{ {first} }} sync_set {{ {second} }}"
    bench.start(bench.net("a b c d e f", f"Seen a b c d e f | {bench.handler('SyncSet', sets)}"))
    bench.add_one_by_one("a", 0)
    bench.add_one_by_one("c", 0)
    bench.add_one_by_one("a", 10)
    assert bench.calls == []

    bench.add_one_by_one("e", 0)
    assert bench.calls == [f"0: a=0 b{UNSTARTED} c=0 d{UNSTARTED} e=0 f{UNSTARTED}"]

    bench.add_one_by_one("b", -300, -200)
    assert len(bench.calls) == 1
    bench.add_one_by_one("d", -200)
    assert bench.calls[1:] == [
        f"-300: a@9 b=-300 c@0 d@-201 e@0 f{UNSTARTED}",
        f"-200: a@9 b=-200 c@0 d=-200 e@0 f{UNSTARTED}",
    ]

    bench.add_one_by_one("f", -7)
    assert bench.calls[3:] == ["-7: a@9 b@-200 c@0 d@-200 e@0 f=-7"]

    bench.add_one_by_one("e", 20)
    assert len(bench.calls) == 4
    bench.close("c")
    assert bench.calls[4:] == ["10: a=10 b@-200 c@max d@-200 e@19 f@-7"]
    bench.close("a")
    assert bench.calls[5:] == ["20: a@max b@-200 c@max d@-200 e=20 f@-7"]
    bench.end()
    assert bench.calls[6:] == ["close"]


# --- early close, barrier ------------------------------------------------------------------------


def test_s33_a_sum_over_a_cycle_ends_with_its_source(bench):
    early = bench.handler("EarlyClose")
    bench.run(
        bench.net(
            "",
            'Emit -> ints | input_side_packet: "packets"',
            f'Adder ints old_sum -> sum | {early} input_stream_info {{ tag_index: ":1" back_edge: true }}',
            "UnitDelay sum -> old_sum",
        ),
        sides={"packets": [(i + 1, i) for i in range(5)]},
        watch=["sum"],
    )

    assert bench.seen["sum"] == list(enumerate([1, 3, 6, 10, 15]))


def test_s33_a_sum_over_a_cycle_without_time_is_the_same(bench):
    sums = []
    bench.run(
        bench.net(
            "",
            'Emit -> ints | input_side_packet: "packets"',
            'Adder ints old_sum -> sum | input_stream_info { tag_index: ":1" back_edge: true }',
            "UnitDelay sum -> old_sum",
            'Sink sum | input_side_packet: "sums"',
            more=bench.handler("Barrier"),
        ),
        sides={"packets": [(i + 1, i) for i in range(5)], "sums": sums},
    )

    assert [total for _, total in sums] == [1, 3, 6, 10, 15]


def test_s34_barrier_pairs_by_order_of_coming_and_closes_with_the_first_stream_that_ends(bench):
    bench.start(bench.net("a b c", f"Seen a b c | {bench.handler('Barrier')}"))
    bench.add_one_by_one("a", (10, "a0"), (30, "a1"), (20, "a2"))
    bench.add_one_by_one("c", (0, "c0"), (0, "c1"))
    assert bench.calls == []

    bench.add_one_by_one("b", (0, "b0"))
    assert bench.calls == ["0: a=a0@10 b=b0 c=c0"]
    bench.add_one_by_one("c", (0, "c2"))
    bench.add_one_by_one("b", (1, "b1"))
    bench.close("b")

    assert bench.calls[1:] == ["0: a=a1@30 b=b1@1 c=c1", "close"]
    bench.end()


def test_s35_a_dot_product_by_order_of_coming(bench):
    in_turn = calculator(
        lambda cc: cc.outputs[cc.input.payload % 3].add(cc.input.payload // 3, cc.input_timestamp),
        name="InTurn",
    )
    streams = [f"{name}{i}" for name in "xy" for i in range(3)]
    found = []
    bench.run(
        bench.net(
            "",
            'Emit -> x | input_side_packet: "xs"',
            'Emit -> y | input_side_packet: "ys"',
            f"InTurn x -> {' '.join(streams[:3])}",
            f"InTurn y -> {' '.join(streams[3:])}",
            *(f"Mult x{i} y{i} -> p{i}" for i in range(3)),
            "Adder p0 p1 p2 -> dot",
            'Sink dot | input_side_packet: "found"',
            more=bench.handler("Barrier"),
        ),
        in_turn,
        sides={
            # the numbers 0 ... 14 and 1 ... 15, each with where it goes; y runs backwards in time
            "xs": [(3 * i + i % 3, i) for i in range(15)],
            "ys": [(3 * (i + 1) + i % 3, -i) for i in range(15)],
            "found": found,
        },
    )

    assert [value for _, value in found] == [8, 62, 170, 332, 548]


# --- mux -----------------------------------------------------------------------------------------


def test_s38_mux_waits_for_the_selected_stream_alone(bench):
    bench.start(
        bench.net("in0 in1 select", f"Seen INPUT:0:in0 INPUT:1:in1 SELECT:select | {bench.handler('Mux')}")
    )

    bench.add_one_by_one("select", (1, 0))
    assert bench.calls == []
    bench.add_one_by_one("in0", (2, 1000))
    assert bench.calls == ["1: in0@1 in1@unset select=0"]
    bench.add_one_by_one("in1", (1, 600), (4, 800))
    assert len(bench.calls) == 1
    bench.add_one_by_one("select", (2, 0))
    assert bench.calls[1:] == ["2: in0=1000 in1@unset select=0"]
    bench.add_one_by_one("select", (3, 1))
    assert bench.calls[2:] == ["3: in0@unset in1@3 select=1"]
    bench.add_one_by_one("select", (4, 1))
    assert bench.calls[3:] == ["4: in0@unset in1=800 select=1"]
    bench.close("select")
    assert bench.calls[4:] == ["close"]
    bench.end()


# --- all -----------------------------------------------------------------------------------------

OPTIONS = {
    "SyncSet": 'sync_set { tag_index: "DATA:0" }',
    "TimestampAlign": 'timestamp_base_tag_index: "DATA:0"',
}


@pytest.mark.parametrize(
    "policy",
    ["Barrier", "Default", "EarlyClose", "FixedSize", "Immediate", "Mux", "SyncSet", "TimestampAlign"],
)
def test_s40_a_second_run_with_smaller_timestamps_is_as_the_first(bench, policy):
    handler = bench.handler(policy, OPTIONS.get(policy, ""))
    graph = bench.load(
        bench.net("a b s", f"PlainPass DATA:0:a DATA:1:b SELECT:s -> DATA:0:x DATA:1:y SELECT:z | {handler}"),
        watch=["x", "y", "z"],
    )
    runs = []
    for base in (1000, 0):
        for packets in bench.seen.values():
            packets.clear()
        graph.start_run()
        for t in range(4):
            bench.add("s", (base + t, t % 2))
            bench.add("b", (base + t, "b"))
            bench.add_one_by_one("a", (base + t, "a"))  # the base of TimestampAlign, after what it aligns
        bench.end()
        runs.append({name: [(at - base, p) for at, p in packets] for name, packets in bench.seen.items()})

    assert runs[0] == runs[1]
    assert [at for at, _ in runs[0]["z"]] == [0, 1, 2, 3]
