"""Expected values from the reference's description of the calculator, and from runs of it."""

from __future__ import annotations

import heapq
import itertools

import pytest

from penstock import CalculatorGraph, GraphConfigError, Packet, Timestamp
from penstock.config import build_plan
from penstock.config.calculator_options_pb2 import CalculatorOptions
from penstock.lowlevel import next_allowed
from penstock.packs import default_registry
from penstock_calculators.limiting.flow_limiter import FlowLimiterCalculator
from penstock_calculators.messages.flow_limiter_pb2 import FlowLimiterCalculatorOptions
from penstock_calculators.routing.pass_through import PassThroughCalculator
from penstock_stream_handlers.immediate import ImmediateInputStreamHandler
from penstock_testing import InlineExecutor, ScheduleHarness, calculator, node, run_calculator, wired

MS = 1000


def limiter(inputs="main", outputs="out", finished="finished", side_inputs="", **options):
    return node(
        FlowLimiterCalculator,
        f"{inputs} FINISHED:{finished}",
        f"{outputs} ALLOW:allow",
        back_edges=finished,
        handler=ImmediateInputStreamHandler,
        side_inputs=side_inputs,
        options=[FlowLimiterCalculatorOptions(**options)],
    )


def started(line=None, inputs="main finished", side_packets=None, **options):
    plan = wired(line or limiter(**options), inputs=inputs)
    names = {stream.name for stream in plan.streams} - set(inputs.split())
    return ScheduleHarness(plan, bounds_of=names, side_packets=side_packets).start()


def feed(harness, *events):
    """Add packets one after the other, and run the graph after each."""
    for stream, timestamp in events:
        harness.add(stream, f"{stream}@{timestamp}", timestamp)
        harness.run()


def passed(harness, stream="out"):
    return [timestamp for timestamp, payload in harness.carried(stream) if payload is not None]


def allowed(harness):
    return [pair for pair in harness.carried("allow") if pair[1] is not None]


def dropped(harness, stream="main"):
    (reader,) = harness.stream(stream).readers
    return reader.dropped


def test_packets_are_dropped_while_one_is_in_flight_and_their_timestamps_settle_at_once():
    harness = started()

    feed(harness, ("main", 10), ("main", 20), ("finished", 10), ("main", 30), ("main", 40))

    assert harness.carried("out") == [(10, "main@10"), (20, None), (30, "main@30"), (40, None)]
    assert harness.carried("allow") == [(10, True), (20, False), (30, True), (40, False)]
    assert dropped(harness) == {"limiter full (max_in_queue)": 2}
    harness.finish()


def test_as_many_packets_as_max_in_flight_are_released():
    harness = started(max_in_flight=2)

    feed(
        harness, *(("main", t) for t in (10, 20, 30)), ("finished", 20), *(("main", t) for t in (50, 60, 70))
    )

    assert passed(harness) == [10, 20, 50, 60]


def test_a_waiting_packet_is_released_the_moment_that_one_finishes_and_the_newest_ones_wait():
    harness = started(max_in_queue=2)

    feed(harness, *(("main", t) for t in (10, 20, 30, 40)))
    before = harness.carried("allow")
    feed(harness, ("finished", 10))

    assert before == [(10, True), (20, False)]  # and no bound: 30 is not decided
    assert harness.carried("out") == [(10, "main@10"), (19, None), (29, None), (30, "main@30"), (39, None)]
    assert harness.carried("allow") == [(10, True), (20, False), (30, True)]
    assert dropped(harness) == {"limiter full (max_in_queue)": 1}


@pytest.mark.parametrize(("bound", "released"), [(10, [10]), (11, [10, 20])])
def test_a_bound_on_finished_frees_as_a_packet_does(bound, released):
    harness = started(max_in_queue=1)
    feed(harness, ("main", 10), ("main", 20))

    harness.set_bound("finished", bound)
    harness.run()

    assert passed(harness) == released


def test_a_packet_of_finished_frees_all_up_to_its_timestamp():
    harness = started(max_in_flight=3, max_in_queue=3)
    feed(harness, *(("main", t) for t in (10, 20, 30, 40, 50, 60)))

    feed(harness, ("finished", 25))

    assert passed(harness) == [10, 20, 30, 40, 50]


def test_a_lost_packet_times_out_when_a_main_packet_is_more_than_the_timeout_later():
    harness = started(in_flight_timeout=100)

    feed(harness, *(("main", t) for t in (10, 100, 110, 111, 150, 212)))

    assert passed(harness) == [10, 111, 212]


def test_the_end_of_the_main_input_does_not_time_out_packets_in_flight():
    harness = started(in_flight_timeout=100, max_in_queue=1)
    feed(harness, ("main", 10), ("main", 20))

    harness.close_input("main")
    harness.run()
    at_the_end = passed(harness)
    feed(harness, ("finished", 10))

    assert (at_the_end, passed(harness)) == ([10], [10, 20])
    harness.finish()


def test_without_a_timeout_a_lost_packet_closes_the_limiter_for_the_rest_of_the_run():
    harness = started()

    feed(harness, *(("main", t) for t in (10, 1_000_000, 2_000_000_000)))

    assert passed(harness) == [10]


def test_auxiliary_packets_follow_the_main_packet_before_them():
    harness = started(
        limiter("main aux", "out aux_out", max_in_flight=1, max_in_queue=0), inputs="main aux finished"
    )
    # a main packet every 20 ms that takes 22 ms, an auxiliary one every 10 ms
    script = [
        ("aux", 10), ("aux", 20), ("main", 20), ("aux", 30), ("main", 40), ("aux", 40), ("finished", 20),
        ("aux", 50), ("main", 60), ("aux", 60), ("aux", 70), ("main", 80), ("aux", 80), ("finished", 60),
    ]  # fmt: skip

    feed(harness, *((stream, t * MS) for stream, t in script))

    assert passed(harness) == [20 * MS, 60 * MS]
    assert allowed(harness) == [(20 * MS, True), (40 * MS, False), (60 * MS, True), (80 * MS, False)]
    assert passed(harness, "aux_out") == [t * MS for t in (10, 20, 30, 60, 70)]
    assert dropped(harness, "aux") == {"main packet dropped": 3}


def test_auxiliary_packets_wait_for_the_decision_on_their_main_packet():
    harness = started(limiter("main aux", "out aux_out"), inputs="main aux finished")

    feed(harness, ("aux", 10), ("aux", 20))
    waiting = harness.carried("aux_out")
    feed(harness, ("main", 10), ("main", 20))

    assert waiting == [(9, None)]
    assert harness.carried("aux_out") == [(9, None), (10, "aux@10"), (19, None), (20, None)]


def test_auxiliary_packets_that_come_late_still_meet_the_decision_of_their_time():
    harness = started(limiter("main aux", "out aux_out"), inputs="main aux finished")
    feed(harness, ("main", 10), ("main", 20), ("finished", 10), ("main", 30), ("finished", 30), ("main", 40))

    feed(harness, ("aux", 5), ("aux", 15), ("aux", 25), ("aux", 35))

    assert passed(harness, "aux_out") == [5, 15, 35]


def test_decisions_are_forgotten_when_no_input_can_need_them(kept):
    harness = started(limiter("main aux", "out aux_out"), inputs="main aux finished")
    objects = []
    for t in range(1000, 2000):
        feed(harness, ("main", t), ("aux", t), ("finished", t))
        objects.append(kept(harness.node("FlowLimiterCalculator").calculator))

    assert objects[-1] <= objects[9]


def test_auxiliary_packets_of_a_waiting_main_packet_follow_its_decision():
    harness = started(limiter("main aux", "out aux_out", max_in_queue=1), inputs="main aux finished")

    feed(harness, ("main", 10), ("main", 20), ("aux", 15), ("aux", 20), ("aux", 25))
    waiting = passed(harness, "aux_out")
    feed(harness, ("main", 30), ("aux", 30), ("finished", 10))

    assert (waiting, passed(harness, "aux_out")) == ([15], [15, 30])
    assert dropped(harness, "aux") == {"main packet dropped": 2}


@pytest.mark.parametrize("wrap", [False, True])
def test_options_packets_replace_the_fields_that_they_set_from_then_on(wrap):
    def packed(**fields):
        options = FlowLimiterCalculatorOptions(**fields)
        if not wrap:
            return options
        outer = CalculatorOptions()
        outer.Extensions[FlowLimiterCalculatorOptions.ext].CopyFrom(options)
        return outer

    harness = started(
        limiter("main OPTIONS:options", side_inputs="OPTIONS:initial", max_in_flight=5, max_in_queue=1),
        inputs="main options finished",
        side_packets={"initial": packed(max_in_flight=2)},
    )

    feed(harness, *(("main", t) for t in (10, 20, 30, 40)))
    first = passed(harness)
    harness.add("options", packed(max_in_flight=3), 5)
    harness.run()

    assert first == [10, 20]
    assert passed(harness) == [10, 20, 40]  # max_in_queue is as before


def test_the_side_packet_max_in_flight_replaces_the_option():
    harness = started(
        limiter(side_inputs="OPTIONS:options MAX_IN_FLIGHT:limit", max_in_flight=1),
        side_packets={"options": FlowLimiterCalculatorOptions(max_in_flight=2), "limit": 3},
    )

    feed(harness, *(("main", t) for t in (10, 20, 30, 40)))

    assert passed(harness) == [10, 20, 30]


def test_outputs_end_with_the_main_input_so_that_the_cycle_can_end():
    plan = wired(limiter(finished="done"), node(PassThroughCalculator, "out", "done"), inputs="main")
    harness = ScheduleHarness(plan).start()
    feed(harness, ("main", 10))

    harness.close_input("main")
    harness.run()

    assert harness.is_over
    assert harness.log.count("close FlowLimiterCalculator") == 1
    assert harness.node("FlowLimiterCalculator").steps == 4  # 10, its FINISHED, and the end of each input
    assert harness.carried("done") == [(10, "main@10")]


def test_a_packet_at_the_last_timestamp_passes():
    harness = started()

    harness.add("main", "last", Timestamp.MAX)
    harness.run()

    assert harness.carried("out") == [(Timestamp.MAX, "last")]
    assert harness.stream("out").is_closed
    harness.finish()


@pytest.mark.parametrize("before", ["finished", "aux"])
def test_a_packet_before_the_stream_may_come_after_other_inputs(before):
    harness = started(limiter("main aux", "out aux_out"), inputs="main aux finished")

    feed(harness, (before, 10))
    harness.add("main", "pre", Timestamp.PRESTREAM)
    harness.run()

    assert (Timestamp.PRESTREAM, "pre") in harness.carried("out")
    harness.finish()


def test_packets_that_wait_at_the_end_are_counted_as_dropped():
    harness = started(limiter("main aux", "out aux_out", max_in_queue=2), inputs="main aux finished")
    feed(harness, ("main", 10), ("main", 20), ("main", 30), ("aux", 20))

    harness.cancel()
    harness.run()

    assert harness.is_over
    assert dropped(harness) == {"not released before the end": 2}
    assert dropped(harness, "aux") == {"not released before the end": 1}


@pytest.mark.parametrize("max_in_queue", [0, 1])
@pytest.mark.parametrize("seed", range(24))
def test_in_every_order_a_cycle_ends_and_accounts_for_each_packet(max_in_queue, seed):
    in_flight, most = set(), 0

    def enter(cc):
        nonlocal most
        in_flight.add(cc.stamp)
        most = max(most, len(in_flight))
        cc.output.add_packet(cc.input.packet)

    def leave(cc):
        in_flight.discard(cc.stamp)
        cc.output.add_packet(cc.input.packet)

    plan = wired(
        limiter("main", finished="done", max_in_flight=2, max_in_queue=max_in_queue),
        node(calculator(enter, offset=0), "out", "middle"),
        node(calculator(leave, offset=0), "middle", "done"),
        inputs="main",
    )
    harness = ScheduleHarness(plan, seed=seed).start()
    for t in range(20):
        harness.add("main", t, t)
        harness.step()
        harness.step()
    harness.finish()

    decisions = dict(harness.carried("allow"))
    assert list(decisions) == list(range(20))
    assert (
        [t for t, is_allowed in decisions.items() if is_allowed] == passed(harness) == passed(harness, "done")
    )
    (reader,) = harness.stream("main").readers
    assert reader.delivered == len(passed(harness))
    assert sum(dropped(harness).values()) == 20 - reader.delivered
    assert 1 <= most <= 2


def work(cc):
    cc.output.add_packet(cc.input.packet)


def drop_the_third(*, bound_too):
    """Return the reference's test calculator that drops its third packet, the timestamp too or not."""
    count = 0

    def drop(cc):
        nonlocal count
        count += not cc.input.is_empty()
        if count != 3 and not cc.input.is_empty():
            cc.output.add_packet(cc.input.packet)
        if count != 3 or not bound_too:
            cc.output.set_next_timestamp_bound(next_allowed(cc.stamp))

    return calculator(drop, process_bounds=True)


class Simulation:
    """A limiter in a cycle, in simulated microseconds: each packet that passes takes its time."""

    def __init__(self, *after, inputs="in_1", warm_up_us=None, work_us=None, **options):
        outputs = [f"{name}_sampled" for name in inputs.split()]
        plan = wired(
            limiter(inputs, " ".join(outputs), finished="out_1", side_inputs="OPTIONS:options"),
            node(calculator(work, offset=0), outputs[0], "worked" if after else "out_1"),
            *(node(one, "worked", "out_1") for one in after),
            inputs=inputs,
        )
        self.harness = ScheduleHarness(
            plan,
            bounds_of=[*outputs, "out_1", "allow"],
            side_packets={"options": FlowLimiterCalculatorOptions(**options)},
        ).start()
        self.now = 0
        self._next_us, self._work_us = warm_up_us, work_us
        self._held, self._ends = None, None

    def add(self, stream, i):
        """Add the number i at 10 ms times i."""
        self.harness.add(stream, i, i * 10 * MS)

    def sleep(self, us):
        """Let the graph work while time passes."""
        end = self.now + us
        self._run()
        while self._held is not None and self._ends is not None and self._ends <= end:
            self.now = self._ends
            self.finish_work()
        self.now = end

    def finish_work(self):
        """Let the packet under work go on."""
        held, self._held = self._held, None
        self.harness.complete(held)
        self._run()

    def finish(self):
        """End the inputs and the run."""
        self.harness.close_input()
        self.sleep(1000 * MS)
        self.harness.finish()

    def carried(self, stream, *, bounds=False):
        """Return the numbers of a stream's packets; with bounds pairs of ms and number."""
        pairs = self.harness.carried(stream)
        if bounds:
            return [(timestamp / MS, payload) for timestamp, payload in pairs]
        return [payload for _, payload in pairs if payload is not None]

    def _run(self):
        self.harness.serve_observers()
        while (step := self.harness.take()) is not None:
            held = self.harness.call(step)
            if step.node.name == "Work" and self.harness.log[-1].startswith("process"):
                self._held = held
                self._ends = self._next_us and self.now + self._next_us
                self._next_us = self._work_us
            else:
                self.harness.complete(held)
            self.harness.serve_observers()


@pytest.mark.reference(
    "calculators/core/flow_limiter_calculator_test.cc", "FlowLimiterCalculatorSemaphoreTest.FramesDropped"
)
def test_a_waiting_frame_is_replaced_by_a_newer_one():
    simulation = Simulation(max_in_flight=1, max_in_queue=1)
    harness = simulation.harness
    harness.add("in_1", 0, 0)
    simulation.sleep(0)
    for i in range(9):
        assert allowed(harness)[2 * i :] == [(10 * i, True)]
        harness.add("in_1", i * 10 + 5, i * 10 + 5)
        simulation.sleep(0)
        harness.add("in_1", i * 10 + 10, i * 10 + 10)
        simulation.sleep(0)
        assert allowed(harness)[2 * i + 1 :] == [(10 * i + 5, False)]
        simulation.finish_work()
    simulation.finish_work()
    harness.finish()

    assert [pair for pair in harness.carried("out_1") if pair[1] is not None] == [
        (t, t) for t in range(0, 100, 10)
    ]


@pytest.mark.reference(
    "calculators/core/flow_limiter_calculator_test.cc", "FlowLimiterCalculatorTest.FinishedTimestamps"
)
def test_a_frame_that_the_limited_part_drops_frees_its_place_by_its_bound():
    simulation = Simulation(
        drop_the_third(bound_too=False),
        warm_up_us=22 * MS,
        work_us=22 * MS,
        max_in_flight=1,
        max_in_queue=1,
    )
    simulation.add("in_1", 0)
    simulation.sleep(1)
    assert simulation.carried("allow") == [True]
    simulation.sleep(10 * MS)
    for i in range(1, 8, 2):
        simulation.add("in_1", i)
        simulation.sleep(10 * MS)
        assert len(simulation.carried("allow")) == i
        simulation.add("in_1", i + 1)
        simulation.sleep(1)
        assert simulation.carried("allow")[i:] == [False]
        simulation.sleep(10 * MS)
        assert simulation.carried("allow")[i + 1 :] == [True]
    simulation.finish()

    assert simulation.carried("out_1") == [0, 2, 6, 8]


@pytest.mark.parametrize(
    ("warm_up_ms", "bound_too", "frames", "carried"),
    [
        pytest.param(
            22,
            True,
            21,
            [0, 2, 14, 17, 19, 20],
            marks=pytest.mark.reference(
                "calculators/core/flow_limiter_calculator_test.cc", "FlowLimiterCalculatorTest.FinishedLost"
            ),
        ),
        pytest.param(
            500,
            False,
            71,
            [0, 10, 30, 40, 50, 60, 63, 65, 67, 69, 70],
            marks=pytest.mark.reference(
                "calculators/core/flow_limiter_calculator_test.cc",
                "FlowLimiterCalculatorTest.FinishedDelayed",
            ),
        ),
    ],
)
def test_frames_that_are_lost_or_late_time_out(warm_up_ms, bound_too, frames, carried):
    simulation = Simulation(
        drop_the_third(bound_too=bound_too),
        warm_up_us=warm_up_ms * MS,
        work_us=22 * MS,
        max_in_flight=1,
        max_in_queue=1,
        in_flight_timeout=100 * MS,
    )
    for i in range(frames):
        simulation.add("in_1", i)
        simulation.sleep(10 * MS)
    simulation.finish()

    assert simulation.carried("out_1") == carried


@pytest.mark.parametrize(
    ("work_ms", "max_in_queue", "carried", "carried_2"),
    [
        pytest.param(
            22,
            1,
            [0, 2, 14, 17, 19, 20],
            [0, 2, 4, 14, 17, 19, 20, 21],
            marks=pytest.mark.reference(
                "calculators/core/flow_limiter_calculator_test.cc",
                "FlowLimiterCalculatorTest.TwoInputStreams",
            ),
        ),
        pytest.param(
            12,
            0,
            [0, 2, 15, 17, 19],
            [0, 2, 4, 15, 17, 19],
            marks=pytest.mark.reference(
                "calculators/core/flow_limiter_calculator_test.cc", "FlowLimiterCalculatorTest.ZeroQueue"
            ),
        ),
    ],
)
def test_a_second_input_follows_the_first_whether_it_is_early_or_late(
    work_ms, max_in_queue, carried, carried_2
):
    simulation = Simulation(
        drop_the_third(bound_too=True),
        inputs="in_1 in_2",
        warm_up_us=work_ms * MS,
        work_us=work_ms * MS,
        max_in_flight=1,
        max_in_queue=max_in_queue,
        in_flight_timeout=100 * MS,
    )
    simulation.add("in_1", 0)
    simulation.sleep(10 * MS)
    for i in range(1, 10):
        simulation.add("in_1", i)
        simulation.add("in_2", i - 1)
        simulation.sleep(10 * MS)
    for i in range(10, 21):
        simulation.add("in_2", i + 1)
        simulation.add("in_1", i)
        simulation.sleep(10 * MS)
    simulation.finish()

    assert simulation.carried("out_1") == carried
    assert simulation.carried("in_2_sampled") == carried_2
    if not max_in_queue:
        assert allowed(simulation.harness) == [(i * 10 * MS, i in carried_2) for i in range(21)]


@pytest.mark.reference(
    "calculators/core/flow_limiter_calculator_test.cc", "FlowLimiterCalculatorTest.AuxiliaryInputs"
)
def test_each_bound_of_auxiliary_outputs_comes_as_soon_as_it_is_known():
    simulation = Simulation(
        inputs="in_1 in_2 in_3",
        warm_up_us=22 * MS,
        work_us=22 * MS,
        max_in_flight=1,
        max_in_queue=0,
        in_flight_timeout=1000 * MS,
    )
    for i in range(1, 10):
        simulation.add("in_3", i)
    sizes = []
    for i in range(1, 10):
        if i % 2 == 0:
            simulation.add("in_1", i)
        simulation.add("in_2", i)
        simulation.sleep(10 * MS)
        sizes.append(len(simulation.carried("in_2_sampled", bounds=True)))
    simulation.finish()

    assert sizes == [1, 3, 4, 6, 7, 9, 10, 12, 13]
    assert simulation.carried("out_1", bounds=True) == [(20, 2), (40, None), (60, 6), (80, None)]
    expected = [
        (9.999, None), (10, 1), (20, 2), (29.999, None), (30, 3), (40, None), (49.999, None), (50, None),
        (60, 6), (69.999, None), (70, 7), (80, None), (89.999, None),
    ]  # fmt: skip
    second = simulation.carried("in_2_sampled", bounds=True)
    assert [pair for pair in second if pair[1] is not None or pair[0] < 90] == expected
    third = simulation.carried("in_3_sampled", bounds=True)
    assert [pair for pair in third if pair[1] is not None or pair[0] < 39.999] == [
        pair for pair in expected if pair[1] is not None or pair[0] < 39.999
    ]
    assert simulation.harness.carried("allow") == [
        (20 * MS, True), (40 * MS, False), (60 * MS, True), (80 * MS, False),
    ]  # fmt: skip


def test_headers_are_forwarded():
    run = run_calculator(
        "FlowLimiterCalculator",
        {0: [], 1: [], "FINISHED": []},
        outputs=[0, 1],
        headers={0: "main", 1: "aux"},
    )

    assert run.headers == {0: "main", 1: "aux"}


@pytest.mark.parametrize(
    ("inputs", "outputs", "message"),
    [
        ({"FINISHED": []}, [], "0 untagged inputs and 0 untagged outputs; connect at least one"),
        ({0: [], "FINISHED": []}, [0, 1], "1 untagged inputs and 2 untagged outputs"),
        ({0: [], 1: [], "FINISHED": []}, [0], "needs output 1, but nothing is connected to it"),
        ({0: []}, [0], "needs input 'FINISHED', but nothing is connected to it"),
    ],
)
def test_ports_that_do_not_match_are_refused(inputs, outputs, message):
    with pytest.raises(GraphConfigError, match=message):
        run_calculator("FlowLimiterCalculator", inputs, outputs=outputs)


def test_the_example_of_the_docstring_runs_as_part_of_a_graph():
    example = FlowLimiterCalculator.__doc__.partition("Example config::")[2]
    graph = CalculatorGraph(
        f"""
        input_stream: "frames"
        {example}
        node {{
          calculator: "PassThroughCalculator"
          input_stream: "frames_to_work_on"
          output_stream: "overlaid_frames"
        }}
        """
    )
    graph.set_executor("", InlineExecutor())
    seen = []
    graph.observe_output_stream("overlaid_frames", lambda _, p: seen.append(int(p.timestamp)))
    graph.start_run()

    for t in (1, 2, 3):
        graph.add_packet_to_input_stream("frames", Packet(t * 10, t))
        graph.wait_until_idle(10)
    graph.close(10)

    assert seen == [1, 2, 3]


IN_FLIGHT = """
    input_stream: "in" input_side_packet: "max_in_flight"
    node {
      calculator: "FlowLimiterCalculator"
      input_stream_handler { input_stream_handler: "ImmediateInputStreamHandler" }
      input_side_packet: "MAX_IN_FLIGHT:max_in_flight"
      input_stream: "in" input_stream: "FINISHED:finished"
      input_stream_info { tag_index: "FINISHED" back_edge: true }
      output_stream: "sampled"
    }
    node {
      calculator: "RoundRobinDemuxCalculator" input_stream: "sampled"
      output_stream: "OUTPUT:0:in_0" output_stream: "OUTPUT:1:in_1"
    }
    node { calculator: "Work" name: "work_0" input_stream: "in_0" output_stream: "out_0" }
    node { calculator: "Work" name: "work_1" input_stream: "in_1" output_stream: "out_1" }
    node {
      calculator: "ImmediateMuxCalculator"
      input_stream_handler { input_stream_handler: "ImmediateInputStreamHandler" }
      input_stream: "out_0" input_stream: "out_1"
      output_stream: "out" output_stream: "finished"
    }
"""


@pytest.mark.reference("framework/tool/simulation_clock_test.cc", "SimulationClockTest.InFlight")
def test_two_nodes_of_20_and_30_milliseconds_work_on_six_of_ten_packets():
    def work(cc):
        cc.output.add_packet(cc.input.packet)

    registry = default_registry().child()
    registry.add("calculator", "Work", calculator(work, name="Work"))
    harness = ScheduleHarness(build_plan(IN_FLIGHT, registry), side_packets={"max_in_flight": 2}).start()
    harness.run()
    takes = {"work_0": 20_000, "work_1": 30_000}
    # the moments of a clock in microseconds at which something happens, in the order in which they were set
    events, numbers = [], itertools.count()

    def at(moment, what):
        heapq.heappush(events, (moment, next(numbers), what))

    def packets(now, stamp=10_000):
        harness.add("in", stamp, stamp)
        if stamp < 100_000:
            at(now + 10_000, lambda then: packets(then, stamp + 10_000))

    at(11_000, packets)
    while events:
        now, _, what = heapq.heappop(events)
        what(now)
        while step := harness.take():
            held = harness.call(step)
            at(now + takes.get(step.node.name, 0), lambda _, held=held: harness.complete(held))
    harness.finish()

    assert [stamp for stamp, _ in harness.carried("out")] == [10_000, 20_000, 40_000, 60_000, 70_000, 100_000]
