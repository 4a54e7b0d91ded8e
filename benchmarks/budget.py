"""Claim: 36 ms of work at 30 frames a second give 27 frames a second, with the 99th percentile in the goal.

A camera of 30 frames a second is played in real time into a limiter and the path behind it, whose stages
each wait 36 ms, as a call of a library that releases the interpreter's lock does. Contestants: a
BudgetCalculator with a goal in milliseconds, and FlowLimiterCalculators with 1 or 2 frames in flight,
without queue (as they come) or with one frame in it. Cases: one stage with goals of 80 and 60 ms, and two
stages that work at the same time, with a goal of 120 ms. Frames a second, and the median, the 99th
percentile and the longest of the times from a frame's arrival to its end.

    python benchmarks/budget.py [--seconds 10] [--rounds 5] [--short] [--json FILE]
"""

from __future__ import annotations

import sys
from itertools import pairwise
from statistics import median
from time import monotonic, sleep
from typing import TYPE_CHECKING

from expected import expect
from side_by_side import Bar, Benchmark, Case, Contestant, Measurements, main, parser

from penstock import Calculator, CalculatorContext, CalculatorGraph, Packet
from penstock.plugins.default_registry import default_registry

if TYPE_CHECKING:
    import argparse

    from penstock.contract import CalculatorContract

FIGURE = "frames/s"
PLAIN, BUDGET = "FlowLimiterCalculator", "BudgetCalculator"
FPS = 30
STAGE_MS = 36
BUDGET_OPTIONS = "type.googleapis.com/penstock_calculators.BudgetCalculatorOptions"
LIMITER_OPTIONS = "type.googleapis.com/penstock.FlowLimiterCalculatorOptions"


class Work(Calculator):
    """Takes 36 ms without the interpreter's lock, and sends its packet on."""

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Take anything, and give it."""
        cc.inputs[0].set_any()
        cc.outputs[0].set_same_as(cc.inputs[0])
        cc.set_timestamp_offset(0)

    def process(self, cc: CalculatorContext) -> None:
        """Wait, as in a library call."""
        sleep(STAGE_MS / 1000)
        cc.outputs[0].add_packet(cc.inputs[0].packet)


def graph_text(limiter: str, options: str, stages: int) -> str:
    """Return a limiter and a path of so many stages."""
    names = ["s0", *(f"s{i}" for i in range(1, stages)), "done"]
    lines = [
        f'input_stream: "frames" output_stream: "done" num_threads: {stages + 2}',
        f'node {{ calculator: "{limiter}" input_stream: "frames" input_stream: "FINISHED:done"',
        'input_stream_info { tag_index: "FINISHED" back_edge: true } output_stream: "s0"',
        f"node_options {{ {options} }} }}",
    ]
    lines += [
        f'node {{ calculator: "Work" input_stream: "{one}" output_stream: "{other}" }}'
        for one, other in pairwise(names)
    ]
    return "\n".join(lines)


def played(text: str, seconds: float) -> tuple[list[float], CalculatorGraph]:
    """Play a camera; return the latencies in seconds of the frames that came through, and the graph."""
    registry = default_registry().child()
    registry.add("calculator", "Work", Work)
    graph = CalculatorGraph(text, registry=registry)
    latencies: list[float] = []
    graph.observe_output_stream("done", lambda _, packet: latencies.append(monotonic() - packet.get(float)))
    graph.start_run()
    begin = monotonic()
    for number in range(round(FPS * seconds)):
        sleep(max(begin + number / FPS - monotonic(), 0))  # a camera at work
        graph.add_packet_to_input_stream("frames", Packet(monotonic(), number * 1_000_000 // FPS))
    graph.close()
    return latencies, graph


def measured(limiter: str, options: str, stages: int, goal_ms: int, seconds: float) -> dict[str, float]:
    """Measure one limiter; `%d` in the options is the goal."""
    text = graph_text(limiter, options.replace("%d", str(goal_ms)), stages)
    played(text, 0.2)  # warm up: late imports, and the start of threads
    latencies, graph = played(text, seconds)
    dropped = sum(drop.count for drop in graph.ledger().drops)
    expect(len(latencies) + dropped, round(FPS * seconds), "frames that came through or were dropped")
    ordered = sorted(latencies)
    return {
        FIGURE: len(latencies) / seconds,
        "median ms": median(ordered) * 1e3,
        "p99 ms": ordered[min(int(0.99 * len(ordered)), len(ordered) - 1)] * 1e3,
        "longest ms": ordered[-1] * 1e3,
        "late %": 100 * sum(one > goal_ms / 1e3 for one in ordered) / len(ordered),
    }


def benchmark() -> tuple[Benchmark, argparse.Namespace]:
    """Return the benchmark that the command line defines, and the parsed options."""
    options = parser(__doc__)
    options.add_argument("--seconds", type=float, help="of the camera; default 10; 1 with --short")
    given = options.parse_args()
    seconds = given.seconds or (1.0 if given.short else 10.0)
    cases = {
        "1 stage, goal 80 ms": (1, 80),
        "1 stage, goal 60 ms": (1, 60),
        "2 stages, goal 120 ms": (2, 120),
    }

    def limiter(in_flight: int, in_queue: int) -> Contestant:
        what = f"max_in_flight: {in_flight} max_in_queue: {in_queue}"
        more = "" if (in_flight, in_queue) == (1, 0) else f", {in_flight} in flight, {in_queue} queued"
        settings = {"limiter": PLAIN, "options": f"[{LIMITER_OPTIONS}] {{ {what} }}"}
        return Contestant(PLAIN + more, "budget:measured", settings)

    def faster(case: str) -> Bar:
        def value(measurements: Measurements) -> float | None:
            return measurements.ratio(case, BUDGET, PLAIN, FIGURE)

        return Bar(f"{case}, {FIGURE}, {BUDGET}, x {PLAIN}", "at least", 1.6, value)

    return Benchmark(
        claim="36 ms of work at 30 frames/s give 27 frames/s, with the 99th percentile in the goal.",
        figure=FIGURE,
        base=PLAIN,
        cases=[
            Case(name, {"stages": stages, "goal_ms": goal, "seconds": seconds})
            for name, (stages, goal) in cases.items()
        ],
        contestants=[
            limiter(1, 0),
            limiter(1, 1),
            limiter(2, 1),
            Contestant(
                BUDGET,
                "budget:measured",
                {"limiter": BUDGET, "options": f"[{BUDGET_OPTIONS}] {{ latency_ms: %d }}"},
            ),
        ],
        bars=[faster(name) for name in cases],
    ), given


if __name__ == "__main__":
    sys.exit(main(*benchmark()))
