"""Expected values from the reference's description of the calculator."""

from __future__ import annotations

import pytest

from penstock import GraphConfigError, GraphRunError
from penstock_calculators.limiting.real_time_flow_limiter import RealTimeFlowLimiterCalculator
from penstock_calculators.routing.pass_through import PassThroughCalculator
from penstock_stream_handlers.immediate import ImmediateInputStreamHandler
from penstock_testing import ScheduleHarness, node, run_calculator, wired

NAME = "RealTimeFlowLimiterCalculator"


def limiter(inputs="a", outputs="a_out", finished="finished", side_inputs=""):
    return node(
        RealTimeFlowLimiterCalculator,
        f"{inputs} FINISHED:{finished}",
        f"{outputs} ALLOW:allow",
        back_edges=finished,
        handler=ImmediateInputStreamHandler,
        side_inputs=side_inputs,
    )


def feed(harness, *events):
    for stream, timestamp in events:
        harness.add(stream, f"{stream}{timestamp}", timestamp)
        harness.run()


def values(harness, stream):
    return [payload for _, payload in harness.carried(stream) if payload is not None]


def test_the_first_input_to_have_a_timestamp_decides_for_all():
    plan = wired(limiter("a b", "a_out b_out"), inputs="a b finished")
    harness = ScheduleHarness(plan, bounds_of=["a_out"]).start()

    feed(
        harness,
        *(
            ("a", 1),
            ("a", 2),
            ("b", 1),
            ("finished", 1),
            ("b", 2),
            ("b", 3),
            ("b", 4),
            ("a", 3),
            ("finished", 3),
        ),
    )

    assert harness.carried("a_out") == [(1, "a1"), (2, None), (3, "a3")]
    assert values(harness, "b_out") == ["b1", "b3"]
    assert harness.carried("allow") == [(1, False), (2, True), (3, False), (4, True)]
    assert [harness.stream(name).readers[0].dropped for name in "ab"] == [
        {"over max_in_flight": 1},
        {"over max_in_flight": 2},
    ]
    harness.finish()


def test_the_side_packet_says_how_many_may_be_unfinished():
    plan = wired(limiter(side_inputs="MAX_IN_FLIGHT:limit"), inputs="a finished")
    harness = ScheduleHarness(plan, side_packets={"limit": 2}).start()

    feed(harness, ("a", 1), ("a", 2), ("a", 3), ("finished", 1), ("a", 4))

    assert values(harness, "a_out") == ["a1", "a2", "a4"]
    assert harness.carried("allow") == [(1, False), (2, True), (3, False)]


def test_once_a_timestamp_was_dropped_no_earlier_one_passes_on_any_input():
    harness = ScheduleHarness(wired(limiter("a b", "a_out b_out"), inputs="a b finished")).start()

    feed(harness, ("a", 1), ("a", 5), ("b", 3), ("finished", 1), ("b", 4), ("b", 6))

    assert values(harness, "a_out") == ["a1"]
    assert values(harness, "b_out") == ["b6"]


def test_an_output_ends_with_its_input():
    harness = ScheduleHarness(wired(limiter("a b", "a_out b_out"), inputs="a b finished")).start()
    feed(harness, ("a", 1))

    harness.close_input("a")
    harness.run()

    assert [harness.stream(name).is_closed for name in ("a_out", "b_out")] == [True, False]
    harness.finish()


def test_timestamps_that_every_input_has_passed_are_forgotten(kept):
    harness = ScheduleHarness(wired(limiter("a b", "a_out b_out"), inputs="a b finished")).start()
    objects = []

    for t in range(1000, 1100):
        feed(harness, ("a", t), ("b", t), ("finished", t))
        objects.append(kept(harness.node(NAME).calculator))

    assert objects[-1] <= objects[9]
    assert len(values(harness, "b_out")) == 100


@pytest.mark.parametrize("seed", range(8))
def test_in_every_order_a_cycle_ends_and_accounts_for_each_packet(seed):
    plan = wired(limiter(finished="back"), node(PassThroughCalculator, "a_out", "back"), inputs="a")
    harness = ScheduleHarness(plan, seed=seed).start()
    for t in range(20):
        harness.add("a", t, t)
        harness.step()
    harness.finish()

    (reader,) = harness.stream("a").readers
    assert reader.delivered == len(values(harness, "back")) > 0
    assert reader.dropped.get("over max_in_flight", 0) == 20 - reader.delivered


def test_a_finished_packet_too_many_is_an_error_of_the_run():
    with pytest.raises(GraphRunError, match="'FINISHED' has a packet at 1, but nothing is in flight"):
        run_calculator(NAME, {0: [], "FINISHED": [(1, "x")]}, outputs=[0])


def test_a_limit_below_one_is_an_error_of_the_run():
    with pytest.raises(GraphRunError, match="MAX_IN_FLIGHT is 0, but must be at least 1"):
        run_calculator(NAME, {0: [], "FINISHED": []}, outputs=[0], side_packets={"MAX_IN_FLIGHT": 0})


def test_headers_are_forwarded():
    run = run_calculator(NAME, {0: [], "FINISHED": []}, outputs=[0], headers={0: "header"})

    assert run.headers == {0: "header"}


@pytest.mark.parametrize(
    ("inputs", "outputs", "message"),
    [
        ({"FINISHED": []}, [], "0 untagged inputs and 0 untagged outputs"),
        ({0: [], 1: [], "FINISHED": []}, [0], "2 untagged inputs and 1 untagged outputs"),
        ({0: []}, [0], "needs input 'FINISHED', but nothing is connected to it"),
    ],
)
def test_ports_that_do_not_match_are_refused(inputs, outputs, message):
    with pytest.raises(GraphConfigError, match=message):
        run_calculator(NAME, inputs, outputs=outputs)
