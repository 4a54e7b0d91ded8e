"""BudgetCalculator beside FlowLimiterCalculator in real time: 36 ms of work, 30 frames a second."""

from __future__ import annotations

import time
from itertools import pairwise

import pytest

import penstock
from penstock import Packet
from penstock.packs import default_registry

SECONDS = 4
FPS = 30
BUDGET = "[type.googleapis.com/penstock_calculators.BudgetCalculatorOptions] { latency_ms: %d }"
LIMITER = "[type.googleapis.com/penstock.FlowLimiterCalculatorOptions] { max_in_flight: 1 }"


@penstock.calculator
def work(frame: float) -> float:
    time.sleep(0.036)
    return frame


def latencies_of(limiter, options, stages=1):
    """Play a camera; return the latencies of the frames that came through, in seconds, and the counters."""
    registry = default_registry().child()
    registry.add("calculator", "Work", work)
    names = ["s0", *(f"s{i}" for i in range(1, stages)), "done"]
    path = "\n".join(
        f'node {{ calculator: "Work" input_stream: "FRAME:{a}" output_stream: "OUT:{b}" }}'
        for a, b in pairwise(names)
    )
    graph = penstock.CalculatorGraph(
        f"""
        input_stream: "frames" output_stream: "done" num_threads: {stages + 2}
        node {{
          calculator: "{limiter}"
          input_stream: "frames"
          input_stream: "FINISHED:done"
          input_stream_info {{ tag_index: "FINISHED" back_edge: true }}
          output_stream: "s0"
          node_options {{ {options} }}
        }}
        {path}
        """,
        registry=registry,
    )
    found = []
    graph.observe_output_stream("done", lambda _, packet: found.append(time.monotonic() - packet.payload))
    graph.start_run()
    begin = time.monotonic()
    for number in range(SECONDS * FPS):
        time.sleep(max(begin + number / FPS - time.monotonic(), 0))  # a camera at work
        graph.add_packet_to_input_stream("frames", Packet(time.monotonic(), number * 1_000_000 // FPS))
    graph.close(30)
    assert len(found) + graph.ledger().dropped == SECONDS * FPS
    assert graph.ledger().adds_up
    return sorted(found), graph.counters


@pytest.mark.slow
def test_a_goal_gives_nearly_twice_the_frames_of_a_limiter_without_queue():
    """The simulation has the exact numbers; here other processes may disturb, so the bounds are wide."""
    plain, _ = latencies_of("FlowLimiterCalculator", LIMITER)

    found, counters = latencies_of("BudgetCalculator", BUDGET % 80)

    assert len(found) >= 1.4 * len(plain)
    assert found[int(0.9 * len(found))] <= 0.08
    assert 36_000 <= counters["BudgetCalculator-work_us"] < 60_000
    assert counters["BudgetCalculator-latency_us"] >= 36_000


@pytest.mark.slow
def test_two_stages_work_at_the_same_time():
    plain, _ = latencies_of("FlowLimiterCalculator", LIMITER, 2)

    found, counters = latencies_of("BudgetCalculator", BUDGET % 150, 2)

    assert len(found) >= 1.6 * len(plain)
    assert found[int(0.9 * len(found))] <= 0.15
    assert counters["BudgetCalculator-interval_us"] < 0.8 * counters["BudgetCalculator-work_us"]
