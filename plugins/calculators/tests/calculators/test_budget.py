"""BudgetCalculator with a clock that the test moves: no thread, no sleep."""

from __future__ import annotations

import logging

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock import CalculatorGraph, GraphConfigError, Packet
from penstock.lowlevel import CLOCK
from penstock_calculators.limiting.budget import BudgetCalculator, BudgetCalculatorOptions, Prefer
from penstock_calculators.routing.pass_through import PassThroughCalculator
from penstock_stream_handlers.immediate import ImmediateInputStreamHandler
from penstock_testing import InlineExecutor, ManualClock, ScheduleHarness, node, run_calculator, wired

NAME = "BudgetCalculator"


class Live:
    """A run of one BudgetCalculator, whose path is the test."""

    def __init__(self, inputs="main", outputs="out", finished="finished", **options):
        self.clock = ManualClock()
        line = node(
            BudgetCalculator,
            f"{inputs} FINISHED:{finished}",
            f"{outputs} ALLOW:allow",
            back_edges=finished,
            handler=ImmediateInputStreamHandler,
            options=[BudgetCalculatorOptions(**{"latency_ms": 80, **options})],
        )
        plan = wired(line, inputs=f"{inputs} {finished}")
        names = {stream.name for stream in plan.streams} - {*inputs.split(), finished}
        self.harness = ScheduleHarness(plan, bounds_of=names, services={CLOCK: self.clock}).start()
        self.harness.run()

    def at(self, ms, stream, stamp=None):
        """Add a packet at a time; its timestamp is that time in microseconds, if no other is given."""
        self.clock.advance(max(ms / 1000 - self.clock(), 0))
        self.harness.add(stream, f"{stream}@{ms}", ms * 1000 if stamp is None else stamp * 1000)
        self.harness.run()

    def passed(self, stream="out"):
        return [at // 1000 for at, payload in self.harness.carried(stream) if payload is not None]

    def dropped(self, stream="main"):
        (reader,) = self.harness.stream(stream).readers
        return reader.dropped

    def counter(self, name):
        return self.harness.counters.values()[f"{NAME}-{name}"]

    def warm(self, took_ms=36):
        """Let two frames through, the second of which shows how long a frame takes."""
        for ms in (0, 1000):
            self.at(ms, "main")
            self.at(ms + took_ms, "finished", ms)


def test_the_newest_packet_waits_and_goes_the_moment_that_the_work_ends():
    live = Live()
    live.warm()

    live.at(2000, "main")
    live.at(2010, "main")
    live.at(2020, "main")
    before = live.passed()
    live.at(2036, "finished", 2000)

    assert before == [0, 1000, 2000]
    assert live.passed() == [0, 1000, 2000, 2020]
    assert live.harness.carried("allow")[-3:] == [(2_000_000, True), (2_010_000, False), (2_020_000, True)]
    assert live.dropped() == {"a newer packet came": 1}
    live.harness.finish()


def test_a_packet_that_would_be_late_is_dropped_and_its_timestamp_settles():
    live = Live(latency_ms=50)
    live.warm()

    live.at(2000, "main")
    live.at(2010, "main")
    live.at(2036, "finished", 2000)  # 26 ms old: with 36 of work it would be done at 62

    assert live.dropped() == {"too late for the goal": 1}
    assert live.passed() == [0, 1000, 2000]
    assert live.harness.carried("out")[-1] == (2_010_000, None)
    live.harness.finish()


def test_before_anything_is_known_one_packet_is_in_flight():
    live = Live()

    for ms in (0, 10, 20):
        live.at(ms, "main")
    live.at(500, "finished", 0)  # a model was loaded
    live.at(510, "main")

    assert live.passed() == [0, 20]
    assert live.counter("in_flight") == 1
    assert live.counter("work_us") == 0


def test_where_stages_work_at_the_same_time_several_packets_are_in_flight():
    live = Live(latency_ms=200)
    free_ms, inside, entered, most = [0, 0], [], 0, 0  # two stages of 36 ms, one frame in each at a time
    for come_ms in range(0, 120 * 33, 33):
        while True:
            for stamp in live.passed()[entered:]:
                entered, leaves_ms = entered + 1, round(live.clock() * 1000)
                for stage in (0, 1):
                    leaves_ms = free_ms[stage] = max(leaves_ms, free_ms[stage]) + 36
                inside.append((leaves_ms, stamp))
            most = max(most, live.counter("in_flight"))
            if not inside or inside[0][0] > come_ms:
                break
            leaves_ms, stamp = inside.pop(0)
            live.at(leaves_ms, "finished", stamp)
        live.at(come_ms, "main")

    assert most == 3
    assert live.counter("interval_us") == pytest.approx(36_000, abs=1_000)
    assert entered > 90  # of 110 that the stages can take in this time; one at a time would be 55
    assert live.counter("late") == 0


def test_complete_lets_everything_pass_and_measures():
    live = Live(prefer=Prefer.COMPLETE)

    for ms in range(0, 100, 10):
        live.at(ms, "main")
    for ms in range(0, 100, 10):
        live.at(200 + ms, "finished", ms)
    live.harness.close_input()
    live.harness.run()

    assert live.passed() == list(range(0, 100, 10))
    assert live.dropped() == {}
    assert live.counter("late") == 10
    assert live.counter("latency_us") == 200_000
    assert live.counter("goal_not_held") == 0


def test_a_packet_dropped_inside_frees_its_place_when_its_timestamp_is_settled():
    live = Live()
    live.warm()
    live.at(2000, "main")
    live.at(2010, "main")

    live.harness.set_bound("finished", 2_000_001)
    live.harness.run()

    assert live.passed() == [0, 1000, 2000, 2010]
    assert live.counter("work_us") == 36_000  # nothing was learnt from it


@pytest.mark.parametrize(("given", "after_ms"), [({}, 320), ({"in_flight_timeout_ms": 150}, 150)])
def test_a_packet_that_nothing_settles_counts_as_lost_in_the_end(given, after_ms):
    live = Live(**given)
    live.warm()
    live.at(2000, "main")

    live.at(2000 + after_ms - 1, "main")
    before = live.counter("lost")
    live.at(2000 + after_ms + 1, "main")

    assert (before, live.counter("lost")) == (0, 1)
    assert live.passed()[-1] == 2000 + after_ms + 1
    live.harness.finish()


def test_a_lost_packet_that_comes_after_all_is_measured():
    live = Live()
    live.warm()
    live.at(2000, "main")
    live.at(3000, "main")

    live.at(3010, "finished", 2000)

    assert live.counter("lost") == 1
    assert live.counter("late") == 1
    assert live.counter("latency_us") == 1_010_000


def test_the_first_packet_may_take_ten_seconds():
    live = Live()
    live.at(0, "main")

    live.at(9_999, "main")
    before = live.counter("lost")
    live.at(10_001, "main")

    assert (before, live.counter("lost")) == (0, 1)


def test_the_last_packet_does_not_wait_so_that_a_lost_one_cannot_hold_up_the_end():
    live = Live()
    live.warm()
    live.at(2000, "main")  # nothing tells of its end
    live.at(2010, "main")

    live.harness.close_input("main")
    live.harness.run()

    assert live.passed() == [0, 1000, 2000, 2010]
    assert live.harness.stream("out").is_closed
    live.harness.finish()


def test_a_goal_that_cannot_be_held_is_said_once_and_one_packet_at_a_time_goes_on(caplog):
    live = Live(latency_ms=30)
    with caplog.at_level(logging.WARNING):
        live.warm()
        for ms in (2000, 3000):
            live.at(ms, "main")
            live.at(ms + 10, "main")
            live.at(ms + 36, "finished", ms)
            live.at(ms + 72, "finished", ms + 10)

    assert live.passed() == [0, 1000, 2000, 2010, 3000, 3010]
    assert live.counter("goal_not_held") == 1
    (record,) = caplog.records
    assert record.getMessage() == (
        "one frame takes up to 36.0 ms from 'out' to 'finished', more than the goal of 30.0 ms (latency_ms), "
        "which cannot be held; one frame is worked on at a time; make the path faster, or the goal longer"
    )
    assert record.node == NAME


def test_auxiliary_packets_follow_their_main_packet():
    live = Live("main aux", "out aux_out")
    live.warm()
    for ms in (2000, 2010, 2020):
        live.at(ms, "main")
        live.at(ms, "aux")

    live.at(2036, "finished", 2000)

    assert live.passed("aux_out") == [2000, 2020]
    assert live.dropped("aux") == {"main packet dropped": 1}


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.tuples(st.integers(0, 60), st.sampled_from(["main", "done", "gone", "never"])),
        min_size=1,
        max_size=60,
    ),
    st.sampled_from([5, 40, 200]),
    st.sampled_from(Prefer),
    st.integers(1, 3),
)
def test_in_every_order_the_run_ends_and_each_packet_is_delivered_or_counted(events, goal, prefer, most):
    runs = []
    for _ in range(2):  # the same calls give the same decisions
        live = Live(latency_ms=goal, prefer=prefer, max_in_flight=most)
        ms, came, back, largest = 0, 0, 0, 0
        for later_ms, event in events:
            ms += later_ms + 1
            inside = [stamp for stamp in live.passed() if stamp > back]
            if event == "main":
                live.at(ms, "main")
                came += 1
            elif event == "done" and inside:
                back = inside[0]
                live.at(ms, "finished", back)
            elif event == "gone" and inside:
                back = inside[0]
                live.harness.set_bound("finished", back * 1000 + 1)
                live.harness.run()
            largest = max(largest, live.counter("in_flight"))
        live.harness.finish()
        runs.append((live.harness.carried("out"), live.dropped(), live.harness.counters.values()))
        assert live.passed() == sorted(live.passed())
        assert len(live.passed()) + sum(live.dropped().values()) == came
        if prefer is Prefer.COMPLETE:
            assert not live.dropped()
        else:
            assert largest <= most
    assert runs[0] == runs[1]


@pytest.mark.parametrize("seed", range(8))
def test_in_every_schedule_a_cycle_ends_and_accounts_for_each_packet(seed):
    line = node(
        BudgetCalculator,
        "main FINISHED:done",
        "out ALLOW:allow",
        back_edges="done",
        handler=ImmediateInputStreamHandler,
        options=[BudgetCalculatorOptions(latency_ms=80)],
    )
    plan = wired(line, node(PassThroughCalculator, "out", "done"), inputs="main")
    clock = ManualClock()
    harness = ScheduleHarness(plan, seed=seed, services={CLOCK: clock}).start()
    for t in range(20):
        harness.add("main", t, t)
        harness.step()
        clock.advance(0.01)
        harness.step()
    harness.finish()

    (reader,) = harness.stream("main").readers
    assert [t for t, payload in harness.carried("allow") if payload is not None] == list(range(20))
    assert reader.delivered == len(harness.carried("done")) > 0
    assert sum(reader.dropped.values()) == 20 - reader.delivered


def test_headers_are_forwarded():
    run = run_calculator(
        NAME,
        {0: [], 1: [], "FINISHED": []},
        outputs=[0, 1],
        headers={0: "main", 1: "aux"},
        options=BudgetCalculatorOptions(latency_ms=80),
    )

    assert run.headers == {0: "main", 1: "aux"}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("latency_ms: 0", "latency_ms is 0, but must be a number of milliseconds above 0"),
        ("latency_ms: inf", "latency_ms is inf, but must be"),
        ("latency_ms: 1e308", r"latency_ms is 1e\+308, but must be .* at most 86400000, a day"),
        ("", "latency_ms"),
        ("latency_ms: 80 max_in_flight: 0", "max_in_flight is 0, but must be at least 1"),
        ("latency_ms: 80 in_flight_timeout_ms: -1", "in_flight_timeout_ms is -1, but must be"),
    ],
)
def test_options_out_of_range_are_refused_when_the_graph_is_loaded(options, message):
    with pytest.raises(GraphConfigError, match=message):
        CalculatorGraph(_graph(options))


def _graph(options):
    return f"""
        input_stream: "frames"
        node {{
          calculator: "BudgetCalculator"
          input_stream: "frames"
          input_stream: "FINISHED:done"
          input_stream_info {{ tag_index: "FINISHED" back_edge: true }}
          output_stream: "some"
          node_options {{
            [type.googleapis.com/penstock_calculators.BudgetCalculatorOptions] {{ {options} }}
          }}
        }}
        node {{ calculator: "PassThroughCalculator" input_stream: "some" output_stream: "done" }}
        """


def test_the_example_of_the_docstring_runs_as_part_of_a_graph(manual_clock):
    example = BudgetCalculator.__doc__.partition("Example config::")[2]
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
    graph.set_clock(manual_clock)
    seen = []
    graph.observe_output_stream("overlaid_frames", lambda _, p: seen.append(int(p.timestamp)))
    graph.start_run()

    for t in (1, 2, 3):
        graph.add_packet_to_input_stream("frames", Packet(t * 10, t))
        graph.wait_until_idle(10)
    graph.close(10)

    assert seen == [1, 2, 3]
    assert graph.counters["BudgetCalculator-goal_us"] == 80_000
