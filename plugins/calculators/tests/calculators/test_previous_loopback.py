"""Expected values from the reference's description of the calculator, and from runs of it."""

from __future__ import annotations

from itertools import accumulate

import pytest

from penstock import CalculatorGraph, Packet, Timestamp
from penstock_calculators.limiting.gate import GateCalculator
from penstock_calculators.limiting.previous_loopback import PreviousLoopbackCalculator
from penstock_calculators.lists.make_pair import MakePairCalculator
from penstock_calculators.routing.pass_through import PassThroughCalculator
from penstock_stream_handlers.immediate import ImmediateInputStreamHandler
from penstock_testing import InlineExecutor, ScheduleHarness, calculator, explore, node, run_calculator, wired


def loopback(main="main", loop="loop"):
    return node(
        PreviousLoopbackCalculator,
        [f"MAIN:{main}", f"LOOP:{loop}"],
        "PREV_LOOP:prev",
        back_edges=loop,
        handler=ImmediateInputStreamHandler,
    )


def settled(harness):
    """Return the packets and bounds of PREV_LOOP, bounds as pairs with None."""
    harness.run()
    return harness.carried("prev")


@pytest.fixture
def harness():
    return ScheduleHarness(wired(loopback(), inputs="main loop"), bounds_of=["prev"]).start()


def gated_cycle():
    """Return a plan whose MAIN and LOOP are the frames at which a control does not forbid it."""
    return wired(
        node(GateCalculator, "frames DISALLOW:no_main", "main"),
        loopback(),
        node(PassThroughCalculator, "frames prev", "now before"),
        node(GateCalculator, "now DISALLOW:no_loop", "loop"),
        inputs="frames no_main no_loop",
    )


@pytest.mark.parametrize(
    ("main_empty_at", "loop_empty_at", "before"),
    [
        ((), (), [(2, 1), (3, 2), (5, 3), (15, 5)]),
        ((2, 15), (), [(3, 1), (5, 3)]),
        ((), (2, 5), [(2, 1), (5, 3)]),
        ((1, 2, 3, 5, 15), (), []),
        ((), (1, 2, 3, 5, 15), []),
    ],
)
def test_each_main_packet_meets_the_loop_packet_of_the_main_packet_before_in_every_order(
    main_empty_at, loop_empty_at, before
):
    timestamps = (1, 2, 3, 5, 15)

    def drive(harness):
        harness.start()
        for t in timestamps:
            harness.add("frames", t, t)
            harness.step()
            harness.add("no_loop", t in loop_empty_at, t)
            harness.add("no_main", t in main_empty_at, t)
            harness.step()
        harness.finish()

    carried = explore(gated_cycle(), drive)

    assert carried["before"] == before
    assert carried["now"] == [(t, t) for t in timestamps]


def test_a_cycle_can_sum_up_its_inputs_in_every_order():
    def add(cc):
        before = cc.inputs["BEFORE"].payload or 0
        cc.output.add(before + cc.inputs["NOW"].payload, cc.input_timestamp)

    plan = wired(
        loopback("numbers", "sums"),
        node(calculator(add, offset=0), "NOW:numbers BEFORE:prev", "sums"),
        inputs="numbers",
    )

    def drive(harness):
        harness.start()
        for t in range(12):
            harness.add("numbers", t, t)
        harness.finish()

    carried = explore(plan, drive)

    assert carried["sums"] == list(enumerate(accumulate(range(12))))


def test_the_answer_waits_for_the_loop_at_the_timestamp_before(harness):
    harness.add("main", "m1", 1)
    harness.add("main", "m2", 2)
    harness.add("main", "m3", 3)
    assert settled(harness) == [(1, None)]

    harness.add("loop", "l1", 1)
    assert settled(harness) == [(1, None), (2, "l1")]

    harness.add("loop", "l3", 3)  # nothing at 2
    assert settled(harness)[2:] == [(3, None)]

    harness.add("main", "m4", 4)
    assert settled(harness)[3:] == [(4, "l3")]


def test_bounds_of_the_loop_settle_a_backlog_with_bounds(harness):
    for t in (1, 2, 3):
        harness.add("main", "m", t)
    waiting = settled(harness)

    harness.set_bound("loop", 10)

    assert waiting == [(1, None)]
    assert settled(harness)[-1] == (3, None)


def test_a_loop_that_comes_before_its_main_packet_is_kept(harness):
    for t in (1, 2, 3):
        harness.add("loop", f"l{t}", t)
    for t in (1, 2, 3):
        harness.add("main", "m", t)

    assert settled(harness) == [(1, None), (2, "l1"), (3, "l2")]


def test_loop_packets_without_a_main_packet_after_them_are_counted(harness):
    for t in (1, 2, 3, 4):
        harness.add("loop", f"l{t}", t)
    harness.add("main", "m", 3)
    harness.add("main", "m", 5)

    assert [answer for answer in settled(harness) if answer[1]] == [(5, "l3")]
    (loops,) = harness.stream("loop").readers
    assert (loops.delivered, loops.dropped) == (2, {"no main packet follows it": 2})
    harness.finish()


def test_a_loop_fed_by_the_output_itself_never_blocks():
    harness = ScheduleHarness(wired(loopback(loop="prev"), inputs="main"), bounds_of=["prev"]).start()
    for t in range(4):
        harness.add("main", t, t)
        harness.run()

    assert harness.carried("prev") == [(0, None), (1, None), (2, None), (3, None)]
    harness.finish()


def test_the_output_ends_with_main_so_that_a_cycle_can_end(harness):
    harness.add("main", "m", 1)
    harness.close_input("main")
    harness.run()
    was_closed = harness.stream("prev").is_closed

    harness.set_bound("loop", 2)
    harness.run()

    assert (was_closed, harness.stream("prev").is_closed) == (False, True)
    assert not harness.is_over
    harness.finish()


def test_a_main_packet_at_the_last_timestamp_gets_its_answer(harness):
    harness.add("main", "m", 1)
    harness.add("main", "last", Timestamp.MAX)
    harness.add("loop", "l1", 1)

    assert settled(harness) == [(1, None), (Timestamp.MAX, "l1")]
    assert harness.stream("prev").is_closed


def paired(plan):
    """Return a function that adds sets of packets, runs, and returns the pairs of the stream `pair`."""
    harness = ScheduleHarness(plan, observe=["pair"]).start()

    def add(timestamp, **payloads):
        for stream, payload in payloads.items():
            harness.add(stream, payload, timestamp)
        harness.run()
        return [
            (at, *(None if packet.is_empty() else packet.payload for packet in pair))
            for at, pair in harness.carried("pair")
        ]

    return harness, add


def simple_cycle(before="previous_out"):
    return wired(
        loopback("in", "out"),
        node(PassThroughCalculator, "in prev", "out previous_out"),
        node(MakePairCalculator, ["out", before], "pair"),
        inputs="in",
    )


@pytest.mark.reference(
    "calculators/core/previous_loopback_calculator_test.cc", "PreviousLoopbackCalculator.CorrectTimestamps"
)
def test_a_packet_meets_the_one_before_it_at_its_own_timestamp():
    harness, add = paired(simple_cycle())
    expected, before = [], None
    for t in (1, 2, 5, 15):
        expected.append((t, t, before))
        assert add(t, **{"in": t}) == expected
        before = t
    harness.finish()


@pytest.mark.parametrize(
    "pairs",
    [
        pytest.param(
            [(Timestamp.MAX, 1, None)],
            marks=pytest.mark.reference(
                "calculators/core/previous_loopback_calculator_test.cc",
                "PreviousLoopbackCalculator.ProcessesMaxTimestamp",
            ),
        ),
        pytest.param(
            [(Timestamp.MIN, 1, None), (Timestamp.MAX, 2, 1)],
            marks=pytest.mark.reference(
                "calculators/core/previous_loopback_calculator_test.cc",
                "PreviousLoopbackCalculator.ProcessesMaxTimestampNonEmptyPrevious",
            ),
        ),
    ],
)
def test_the_first_and_the_last_timestamp_are_like_others(pairs):
    harness, add = paired(simple_cycle("prev"))
    for t, payload, _ in pairs[:-1]:
        harness.add("in", payload, t)

    assert add(pairs[-1][0], **{"in": pairs[-1][1]}) == pairs
    harness.finish()


def total_at_the_end():
    """Return a calculator that forwards numbers, and writes their sum in `close`."""
    seen = []

    def process(cc):
        seen.append(cc.input.payload)
        cc.output.add_packet(cc.input.packet)

    return calculator(process, close=lambda cc: cc.output.add(sum(seen), Timestamp.MAX))


def test_a_cycle_ends_with_its_inputs_and_nodes_write_their_last_packets():
    plan = wired(
        loopback("in", "out"),
        node(PassThroughCalculator, "in prev", "out previous_out"),
        node(total_at_the_end(), "out", "close_out"),
        inputs="in",
    )
    harness = ScheduleHarness(plan).start()
    for count, t in enumerate((1, 2, 5, 15), 1):
        harness.add("in", t, t)
        harness.run()
        assert len(harness.carried("close_out")) == count
    harness.close_input()
    harness.run()

    assert harness.carried("close_out") == [(1, 1), (2, 2), (5, 5), (15, 15), (Timestamp.MAX, 23)]
    assert harness.is_over


@pytest.mark.reference(
    "calculators/core/previous_loopback_calculator_test.cc", "PreviousLoopbackCalculator.EmptyLoopForever"
)
def test_a_loop_that_never_has_a_packet_holds_up_nobody():
    plan = wired(
        loopback("in", "prev"),
        node(PassThroughCalculator, "in prev", "out previous_out"),
        node(total_at_the_end(), "out", "close_out"),
        inputs="in",
    )
    harness = ScheduleHarness(plan).start()
    for t in range(50):
        harness.add("in", t, t)
        harness.run()
        assert harness.carried("close_out") == [(at, at) for at in range(t + 1)]
    harness.finish()


def gated_pairs():
    """Return a plan as `gated_cycle`, whose LOOP comes from the frames themselves, with pairs."""
    return wired(
        node(GateCalculator, "frames DISALLOW:no_main", "main"),
        node(GateCalculator, "frames DISALLOW:no_loop", "loop"),
        loopback(),
        node(PassThroughCalculator, "frames prev", "now before"),
        node(MakePairCalculator, "now before", "pair"),
        inputs="frames no_main no_loop",
    )


@pytest.mark.parametrize(
    ("no_main", "no_loop", "pairs"),
    [
        pytest.param(
            (1, 2, 3, 5, 15),
            (),
            [None, None, None, None, None],
            marks=pytest.mark.reference(
                "calculators/core/previous_loopback_calculator_test.cc",
                "PreviousLoopbackCalculatorProcessingTimestampsTest.MultiplePacketsEmptyMainNonEmptyLoop",
            ),
        ),
        pytest.param(
            (),
            (1, 2, 3, 5, 15),
            [None, None, None, None, None],
            marks=pytest.mark.reference(
                "calculators/core/previous_loopback_calculator_test.cc",
                "PreviousLoopbackCalculatorProcessingTimestampsTest.MultiplePacketsNonEmptyMainEmptyLoop",
            ),
        ),
        pytest.param(
            (2, 15),
            (),
            [None, None, 1, 3, None],
            marks=pytest.mark.reference(
                "calculators/core/previous_loopback_calculator_test.cc",
                "PreviousLoopbackCalculatorProcessingTimestampsTest.MultiplePacketsAlteringMainNonEmptyLoop",
            ),
        ),
        pytest.param(
            (),
            (2, 5),
            [None, 1, None, 3, None],
            marks=pytest.mark.reference(
                "calculators/core/previous_loopback_calculator_test.cc",
                "PreviousLoopbackCalculatorProcessingTimestampsTest.MultiplePacketsNonEmptyMainAlteringLoop",
            ),
        ),
    ],
)
def test_bounds_of_main_and_loop_are_answered_as_packets_are(no_main, no_loop, pairs):
    timestamps = (1, 2, 3, 5, 15)
    harness, add = paired(gated_pairs())
    expected = [(t, t, before) for t, before in zip(timestamps, pairs, strict=True)]
    for count, t in enumerate(timestamps, 1):
        assert add(t, frames=t, no_main=t in no_main, no_loop=t in no_loop) == expected[:count]
    harness.finish()


@pytest.mark.heavy
@pytest.mark.reference(
    "calculators/core/previous_loopback_calculator_test.cc",
    "PreviousLoopbackCalculatorProcessingTimestampsTest."
    "MultiplePacketsCheckIfLastCorrectAlteringMainAlteringLoop",
)
def test_the_last_answer_is_right_after_a_thousand_packets_and_bounds():
    harness, add = paired(gated_pairs())
    for i in range(1000):
        for stream, payload in (("frames", i + 1), ("no_main", i % 3 == 0), ("no_loop", i % 2 == 0)):
            harness.add(stream, payload, i + 1)
    add(1001, frames=1001, no_main=False, no_loop=False)

    assert add(1002, frames=1002, no_main=False, no_loop=False)[-1] == (1002, 1002, 1001)
    harness.finish()


@pytest.mark.parametrize(
    ("delays", "pairs", "counts"),
    [
        pytest.param(
            [True, True, True, False, False],
            [None, None, None, None, 5],
            [1, 1, 1, 4, 5],
            marks=pytest.mark.reference(
                "calculators/core/previous_loopback_calculator_test.cc",
                "PreviousLoopbackCalculatorDelayBehaviorTest.MultipleDelayedOutputs",
            ),
        ),
        pytest.param(
            [False, True, True, False, False],
            [None, 1, None, None, 5],
            [1, 2, 2, 4, 5],
            marks=pytest.mark.reference(
                "calculators/core/previous_loopback_calculator_test.cc",
                "PreviousLoopbackCalculatorDelayBehaviorTest.NonDelayedOutputFollowedByMultipleDelayedOutputs",
            ),
        ),
    ],
)
def test_answers_wait_while_the_loop_settles_nothing(delays, pairs, counts):
    def dropping_gate(cc):
        if not cc.inputs[0].is_empty() and not cc.inputs["DISALLOW"].payload:
            cc.output.add_packet(cc.inputs[0].packet)

    plan = wired(
        node(calculator(dropping_gate), "in DISALLOW:delay", "loop"),
        loopback("in"),
        node(PassThroughCalculator, "in prev", "now before"),
        node(MakePairCalculator, "now before", "pair"),
        inputs="in delay",
    )
    timestamps = (1, 2, 3, 5, 15)
    harness, add = paired(plan)
    expected = [(t, t, before) for t, before in zip(timestamps, pairs, strict=True)]
    for t, delay, count in zip(timestamps, delays, counts, strict=True):
        assert add(t, **{"in": t, "delay": delay}) == expected[:count]
    harness.finish()


def test_the_header_of_loop_is_forwarded():
    run = run_calculator(
        "PreviousLoopbackCalculator", {"MAIN": [], "LOOP": []}, outputs=["PREV_LOOP"], headers={"LOOP": "h"}
    )

    assert run.headers["PREV_LOOP"] == "h"


def test_the_example_of_the_docstring_runs_as_part_of_a_graph():
    example = PreviousLoopbackCalculator.__doc__.partition("Example config::")[2]
    graph = CalculatorGraph(
        f"""
        input_stream: "frames"
        {example}
        node {{
          calculator: "PassThroughCalculator"
          input_stream: "frames"
          input_stream: "hands_of_the_frame_before"
          output_stream: "hands"
          output_stream: "before"
        }}
        """
    )
    graph.set_executor("", InlineExecutor())
    seen = []
    graph.observe_output_stream("before", lambda _, p: seen.append((int(p.timestamp), p.payload)))
    graph.start_run()

    for t in (1, 2, 3):
        graph.add_packet_to_input_stream("frames", Packet(t * 10, t))
    graph.close(10)

    assert seen == [(2, 10), (3, 20)]
