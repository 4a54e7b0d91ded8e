"""Expected values from the reference's description of the calculator."""

from __future__ import annotations

import gc
import weakref

import pytest

from penstock import GraphConfigError, GraphRunError
from penstock_calculators.limiting.real_time_flow_limiter import RealTimeFlowLimiterCalculator
from penstock_calculators.routing.pass_through import PassThroughCalculator
from penstock_stream_handlers.immediate import ImmediateInputStreamHandler
from penstock_testing import ScheduleHarness, calculator, node, run_calculator, wired

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


@pytest.mark.parametrize(
    ("finished", "passed"),
    [
        pytest.param(
            [],
            1,
            marks=pytest.mark.reference(
                "calculators/core/real_time_flow_limiter_calculator_test.cc",
                "RealTimeFlowLimiterCalculator.OneOutputTest",
            ),
        ),
        pytest.param(
            [1, 2, 3],
            4,
            marks=pytest.mark.reference(
                "calculators/core/real_time_flow_limiter_calculator_test.cc",
                "RealTimeFlowLimiterCalculator.BasicTest",
            ),
        ),
    ],
)
def test_one_frame_passes_and_one_more_for_each_that_is_finished(finished, passed):
    second = 1_000_000
    run = run_calculator(
        NAME,
        {
            "FINISHED": [(timestamp * second, True) for timestamp in finished],
            0: [(timestamp * second, "frame") for timestamp in range(5)],
        },
        outputs=[0],
    )

    assert len(run.outputs[0]) == passed


@pytest.mark.reference(
    "calculators/core/real_time_flow_limiter_calculator_test.cc", "RealTimeFlowLimiterCalculator.TwoStreams"
)
def test_each_call_decides_at_once():
    plan = wired(limiter("a b", "a_out b_out", side_inputs="MAX_IN_FLIGHT:limit"), inputs="a b finished")
    harness = ScheduleHarness(plan, side_packets={"limit": 1}).start()

    for events, a_passed, b_passed, allow in [
        ([("a", 1)], [1], [], False),
        ([("a", 2), ("b", 1)], [1], [1], False),
        ([("finished", 1)], [1], [1], True),
        ([("b", 2)], [1], [1], True),
        ([("b", 3)], [1], [1, 3], False),
        ([("b", 4)], [1], [1, 3], False),
        ([("a", 3)], [1, 3], [1, 3], False),
        ([("finished", 3)], [1, 3], [1, 3], True),
    ]:
        for stream, timestamp in events:
            harness.add(stream, timestamp, timestamp)
        harness.run()
        assert values(harness, "a_out") == a_passed
        assert values(harness, "b_out") == b_passed
        assert values(harness, "allow")[-1] is allow
    harness.finish()


@pytest.mark.reference(
    "calculators/core/real_time_flow_limiter_calculator_test.cc", "RealTimeFlowLimiterCalculator.CanConsume"
)
def test_a_limiter_keeps_no_packet_that_has_passed():
    passed = []

    def note(cc):
        passed.append(cc.stamp)

    plan = wired(
        limiter(side_inputs="MAX_IN_FLIGHT:limit"), node(calculator(note), "a_out", ""), inputs="a finished"
    )
    harness = ScheduleHarness(plan, observe=["allow"], side_packets={"limit": 1}).start()
    payload = {1}
    harness.add("a", payload, 1)
    harness.run()
    there = weakref.ref(payload)
    del payload
    gc.collect()

    assert passed == [1]
    assert values(harness, "allow") == [False]
    assert there() is None
    harness.finish()


def pass_through(cc):
    for port, output in zip(cc.inputs, cc.outputs, strict=True):
        if not port.is_empty():
            output.add_packet(port.packet)


class Held:
    """A limiter of two streams in a cycle; the test lets each set of packets out of it."""

    def __init__(self):
        self.closed = 0
        plan = wired(
            limiter("a b", "a_in b_in", finished="a_out", side_inputs="MAX_IN_FLIGHT:limit"),
            node(calculator(pass_through, name="Enter"), "a_in b_in", "a_queued b_queued"),
            node(calculator(pass_through, name="Leave"), "a_queued b_queued", "a_left b_left"),
            node(calculator(pass_through, close=self._close), "a_left b_left", "a_out b_out"),
            inputs="a b",
        )
        self.harness = ScheduleHarness(plan, side_packets={"limit": 1}).start()
        self._free, self._held = 0, None

    def _close(self, cc):
        self.closed += 1

    def add(self, stream, timestamp):
        self.harness.add(stream, timestamp, timestamp)

    def release(self, count):
        """Let so many sets out, now or later."""
        self._free += count
        self.run()

    def run(self):
        """Run all that needs no set to be let out."""
        while True:
            if self._held is not None and self._free:
                self._free -= 1
                held, self._held = self._held, None
                self.harness.complete(held)
            step = self.harness.take()
            if step is None:
                break
            held = self.harness.call(step)
            if self.harness.log[-1].startswith("process Leave"):
                self._held = held
            else:
                self.harness.complete(held)
        self.harness.serve_observers()

    def carried(self):
        """Return the timestamps of both outputs, whose payloads must be equal to them."""
        both = [self.harness.carried(stream) for stream in ("a_out", "b_out")]
        assert all(timestamp == payload for pairs in both for timestamp, payload in pairs)
        return [[timestamp for timestamp, _ in pairs] for pairs in both]


@pytest.mark.reference(
    "calculators/core/real_time_flow_limiter_calculator_test.cc",
    "RealTimeFlowLimiterCalculatorTest.BackEdgeCloses",
)
def test_a_cycle_ends_with_the_inputs_and_drops_what_is_too_much():
    held = Held()
    for t in range(0, 100, 10):
        held.add("a", t)
        held.add("a", t + 5)
        held.run()
        held.add("b", t)
        held.release(1)
    held.harness.close_input("a")
    held.harness.close_input("b")
    held.run()

    assert held.carried() == [list(range(0, 100, 10))] * 2
    assert held.closed == 1
    assert held.harness.is_over


@pytest.mark.reference(
    "calculators/core/real_time_flow_limiter_calculator_test.cc",
    "RealTimeFlowLimiterCalculatorTest.AllStreamsClose",
)
def test_a_cycle_ends_after_the_last_packet():
    held = Held()
    held.release(10)
    for t in range(10):
        held.add("a", t)
        held.run()
        held.add("b", t)
        held.run()
    held.harness.close_input()
    held.run()

    assert held.carried() == [list(range(10))] * 2
    assert held.closed == 1
    assert held.harness.is_over


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
