"""Expected values from the reference's description of the calculator."""

from __future__ import annotations

import gc
import weakref

import pytest

from penstock import GraphConfigError, GraphRunError
from penstock_calculators.lists.containers import ListOf
from penstock_calculators.lists.split import SplitCalculator
from penstock_calculators.messages.split_pb2 import Range, SplitVectorCalculatorOptions
from penstock_calculators.routing.mux import MuxCalculator
from penstock_calculators.routing.round_robin_demux import RoundRobinDemuxCalculator
from penstock_stream_handlers.mux import MuxInputStreamHandler
from penstock_testing import (
    OneSetInputStreamHandler,
    ScheduleHarness,
    calculator,
    explore,
    node,
    run_calculator,
    wired,
)

ROWS = [
    (1, 1, 2, 1), (3, 5, 8, 2), (13, 21, 34, 0), (55, 89, 144, 2),
    (233, 377, 610, 0), (987, 1597, 2584, 1), (4181, 6765, 10946, 2),
]  # fmt: skip
SELECTED = [1, 8, 13, 144, 233, 1597, 10946]
FIBONACCI = [
    1, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144, 233, 377, 610, 987, 1597, 2584, 4181, 6765, 10946,
]  # fmt: skip
#: The reference's tests register such a calculator of their own.
SplitIntVectorCalculator = SplitCalculator.named("SplitIntVectorCalculator", ListOf(int))
INPUTS = "INPUT:0:a INPUT:1:b INPUT:2:c SELECT:s"


def mux(handler):
    return wired(node(MuxCalculator, INPUTS, "OUTPUT:out", handler=handler), inputs="a b c s")


def feed(harness):
    harness.start()
    for timestamp, row in enumerate(ROWS):
        for stream, value in zip("abcs", row, strict=True):
            harness.add(stream, value, timestamp)
            harness.step()


@pytest.mark.parametrize("handler", [OneSetInputStreamHandler, MuxInputStreamHandler])
def test_the_selected_input_comes_out_under_every_order_with_either_policy(handler):
    carried = explore(mux(handler), lambda harness: (feed(harness), harness.finish()), seeds=range(12))

    assert carried["out"] == list(enumerate(SELECTED))


def test_inputs_that_are_not_selected_are_not_waited_for():
    harness = ScheduleHarness(mux(MuxInputStreamHandler), bounds_of=["out"]).start()
    harness.add("s", 1, 1)
    harness.add("b", "B", 1)
    harness.run()

    assert harness.carried("out") == [(1, "B")]
    harness.finish()


def test_a_selected_input_without_a_packet_gives_a_bound():
    harness = ScheduleHarness(mux(MuxInputStreamHandler), bounds_of=["out"]).start()
    harness.add("s", 0, 1)
    harness.add("a", "late", 5)
    harness.run()

    assert harness.carried("out") == [(1, None)]
    harness.finish()


def test_the_contract_asks_for_the_mux_policy_only_where_a_stream_selects():
    requests = {}

    class Spy(MuxCalculator):
        @classmethod
        def get_contract(cls, cc):
            super().get_contract(cc)
            requests["SELECT" in cc.inputs] = cc.input_stream_handler

    wired(node(Spy, INPUTS, "OUTPUT:out"), inputs="a b c s")
    wired(node(Spy, "INPUT:a", "OUTPUT:out", side_inputs="SELECT:s"), inputs="a")

    assert requests[True].name == "MuxInputStreamHandler"
    assert requests[False] is None


def test_a_side_packet_selects_for_the_whole_run():
    run = run_calculator(
        MuxCalculator,
        {"INPUT:0": [(1, "a"), (2, "b")], "INPUT:1": [(1, "A"), (3, "C")]},
        outputs=["OUTPUT"],
        side_packets={"SELECT": 1},
    )

    assert [(packet.stamp, packet.payload) for packet in run.outputs["OUTPUT"]] == [(1, "A"), (3, "C")]


def test_what_is_not_selected_is_counted_as_dropped():
    harness = ScheduleHarness(mux(OneSetInputStreamHandler))
    feed(harness)
    harness.add("a", 0, 100)  # no SELECT there
    harness.finish()

    dropped = [harness.stream(stream).readers[0].dropped for stream in "abcs"]
    assert dropped == [{"not selected": 6}, {"not selected": 5}, {"not selected": 4}, {}]


@pytest.mark.parametrize("index", [-1, 3])
def test_a_selection_that_is_no_input_fails_the_run(index):
    harness = ScheduleHarness(mux(OneSetInputStreamHandler)).start()
    harness.add("s", index, 1)

    with pytest.raises(
        GraphRunError, match=f"SELECT holds {index}, but the mux has inputs INPUT:0 to INPUT:2"
    ):
        harness.finish()


def test_a_side_packet_that_is_no_input_fails_the_run():
    with pytest.raises(GraphRunError, match="SELECT holds 2, but the mux has inputs INPUT:0 to INPUT:0"):
        run_calculator(MuxCalculator, {"INPUT": []}, outputs=["OUTPUT"], side_packets={"SELECT": 2})


@pytest.mark.parametrize(
    ("inputs", "sides", "message"),
    [
        ({"INPUT": []}, {}, "SELECT and side packet SELECT are neither connected"),
        ({"INPUT": [], "SELECT": []}, {"SELECT": 0}, "SELECT and side packet SELECT are both connected"),
        ({"SELECT": []}, {}, "the mux has no input INPUT"),
    ],
)
def test_invalid_ports_of_a_mux_are_refused(inputs, sides, message):
    with pytest.raises(GraphConfigError, match=message):
        run_calculator(MuxCalculator, inputs, outputs=["OUTPUT"], side_packets=sides)


def split_and_mux(outputs, mux_inputs, **more):
    """Return a plan that takes lists apart, and selects one of their first three elements."""
    ranges = [Range(begin=i, end=i + 1) for i in range(len(outputs.split()))]
    return wired(
        node(
            SplitIntVectorCalculator,
            "input",
            outputs,
            options=[SplitVectorCalculatorOptions(ranges=ranges, element_only=True)],
        ),
        node(MuxCalculator, mux_inputs, "OUTPUT:out", **more),
        inputs="input",
    )


def muxed(plan, payloads, **side_packets):
    """Return what comes out for one payload at each timestamp from 22 on."""
    harness = ScheduleHarness(plan, side_packets=side_packets).start()
    for timestamp, payload in enumerate(payloads, 22):
        harness.add("input", payload, timestamp)
    harness.finish()
    return [payload for _, payload in harness.carried("out")]


@pytest.mark.reference(
    "calculators/core/mux_calculator_test.cc",
    "MuxCalculatorTest.InputStreamSelector_DefaultInputStreamHandler",
)
def test_elements_of_a_list_are_selected_by_its_last_element():
    plan = split_and_mux("a b c s", INPUTS, handler=OneSetInputStreamHandler)

    assert muxed(plan, [list(row) for row in ROWS]) == SELECTED


@pytest.mark.reference(
    "calculators/core/mux_calculator_test.cc",
    "MuxCalculatorTest.InputSidePacketSelector_DefaultInputStreamHandler",
)
@pytest.mark.parametrize("index", [0, 1, 2])
def test_elements_of_a_list_are_selected_by_a_side_packet(index):
    plan = split_and_mux("a b c", "INPUT:0:a INPUT:1:b INPUT:2:c", side_inputs="SELECT:selector")

    assert muxed(plan, [list(row[:3]) for row in ROWS], selector=index) == [row[index] for row in ROWS]


@pytest.mark.reference(
    "calculators/core/mux_calculator_test.cc", "MuxCalculatorTest.InputStreamSelector_MuxInputStreamHandler"
)
def test_packets_that_take_turns_come_together_again():
    plan = wired(
        node(RoundRobinDemuxCalculator, "input", "OUTPUT:0:a OUTPUT:1:b OUTPUT:2:c SELECT:s"),
        node(MuxCalculator, INPUTS, "OUTPUT:out", handler=MuxInputStreamHandler),
        inputs="input",
    )

    assert muxed(plan, FIBONACCI) == FIBONACCI


@pytest.mark.reference(
    "calculators/core/mux_calculator_test.cc", "MuxCalculatorTest.DiscardSkippedInputs_MuxInputStreamHandler"
)
def test_a_packet_that_is_not_selected_is_freed_at_once():
    plan = wired(
        node(MuxCalculator, "INPUT:0:a INPUT:1:b SELECT:s", "OUTPUT:out", handler=MuxInputStreamHandler),
        inputs="a b s",
    )
    harness = ScheduleHarness(plan, observe=["out"]).start()
    one, two, three = {1}, {2}, {3}
    there = [weakref.ref(one), weakref.ref(two)]
    harness.add("a", one, 0)
    harness.add("b", two, 0)
    harness.add("b", three, 1)
    del one, two
    harness.add("s", 0, 0)
    harness.run()
    gc.collect()

    assert harness.carried("out") == [(0, {1})]
    assert [ref() for ref in there] == [{1}, None]

    harness.add("s", 1, 1)
    harness.run()

    assert harness.carried("out") == [(0, {1}), (1, {3})]
    harness.finish()


def pass_on_and_settle(cc):
    cc.outputs["VALUE"].add_packet(cc.inputs["VALUE"].packet)
    cc.outputs["BOUND"].set_next_timestamp_bound(cc.stamp + 1)


def value_or_none(cc):
    cc.output.add((cc.inputs["VALUE"].payload,), cc.stamp)


@pytest.mark.reference(
    "calculators/core/mux_calculator_test.cc", "MuxCalculatorTest.HandleTimestampBoundUpdates"
)
def test_a_bound_of_the_selected_input_goes_on_to_the_readers():
    plan = wired(
        node(calculator(pass_on_and_settle), "VALUE:s", "VALUE:passed BOUND:bound"),
        node(
            MuxCalculator,
            "INPUT:0:passed INPUT:1:bound SELECT:s",
            "OUTPUT:muxed",
            handler=MuxInputStreamHandler,
        ),
        node(calculator(value_or_none), "TICK:s VALUE:muxed", "out"),
        inputs="s",
    )
    harness = ScheduleHarness(plan).start()
    for i, (select, value) in enumerate([(0, 0), (1, None), (0, 0)]):
        harness.add("s", select, i + 1)
        harness.run()
        assert harness.carried("out")[i:] == [(i + 1, (value,))]
    harness.finish()


@pytest.mark.parametrize(
    ("handler", "bounds"),
    [
        pytest.param(
            MuxInputStreamHandler,
            0,
            marks=pytest.mark.reference(
                "calculators/core/mux_calculator_test.cc", "MuxCalculatorTest.HandlesCloseGracefully"
            ),
        ),
        pytest.param(
            OneSetInputStreamHandler,
            1,
            marks=pytest.mark.reference(
                "calculators/core/mux_calculator_test.cc",
                "MuxCalculatorTest.HandlesCloseGracefullyWithDeafultInputStreamHandler",
            ),
        ),
    ],
)
def test_a_mux_that_ends_without_a_selection_writes_no_packet(handler, bounds):
    plan = wired(
        node(MuxCalculator, "SELECT:s INPUT:0:a INPUT:1:b", "OUTPUT:out", handler=handler), inputs="s a b"
    )
    harness = ScheduleHarness(plan, bounds_of=["out"]).start()
    harness.add("a", 0, 1000)
    harness.run()
    harness.finish()

    assert [payload for _, payload in harness.carried("out")] == [None] * bounds
