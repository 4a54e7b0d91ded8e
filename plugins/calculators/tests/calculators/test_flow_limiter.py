"""Expected values from the reference's description of the calculator, and from runs of it."""

from __future__ import annotations

import heapq
import itertools

import pytest

from penstock import CalculatorGraph, GraphConfigError, Packet, Timestamp
from penstock.config import build_plan
from penstock.config.calculator_options_pb2 import CalculatorOptions
from penstock.lowlevel import default_registry
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
    assert dropped(harness) == {"over max_in_queue": 2}
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
    assert dropped(harness) == {"over max_in_queue": 1}


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
