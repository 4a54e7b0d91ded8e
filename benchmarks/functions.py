"""Claim: a calculator from a function costs no more per step than the same one in the long form.

A chain of N nodes that add 1, K packets of ints: once as a class that is derived from `Calculator`, once as a
function under `@penstock.calculator`; and likewise with two inputs. Microseconds per node step.

    python benchmarks/functions.py [--nodes 20] [--packets 10000] [--rounds 5] [--short] [--json FILE]
"""

from __future__ import annotations

import sys
from time import perf_counter
from typing import TYPE_CHECKING

from expected import expect
from side_by_side import Bar, Benchmark, Case, Contestant, Measurements, main, parser

import penstock

if TYPE_CHECKING:
    import argparse

FIGURE = "us a node step"
LONG, SHORT = "penstock, long form", "penstock, function"
#: Packets that go through before the clock starts.
WARM_UP = 200


@penstock.register_calculator
class LongForm(penstock.Calculator):
    """Adds 1."""

    @classmethod
    def get_contract(cls, cc: penstock.CalculatorContract) -> None:
        """Ints from NUMBER to OUT."""
        cc.inputs["NUMBER"].set(int)
        cc.outputs["OUT"].set(int)
        cc.set_timestamp_offset(0)

    def process(self, cc: penstock.CalculatorContext) -> None:
        """Add 1."""
        cc.outputs["OUT"].add(cc.inputs["NUMBER"].payload + 1, cc.input_timestamp)


@penstock.register_calculator
class LongForm2(penstock.Calculator):
    """Adds 1 to the number at both inputs."""

    @classmethod
    def get_contract(cls, cc: penstock.CalculatorContract) -> None:
        """Ints from NUMBER and OTHER to OUT."""
        cc.inputs["NUMBER"].set(int)
        cc.inputs["OTHER"].set(int)
        cc.outputs["OUT"].set(int)
        cc.set_timestamp_offset(0)

    def process(self, cc: penstock.CalculatorContext) -> None:
        """Add 1 to what both are."""
        number, other = cc.inputs["NUMBER"], cc.inputs["OTHER"]
        if not number.is_empty() and not other.is_empty():
            cc.outputs["OUT"].add(number.payload + other.payload - other.payload + 1, cc.input_timestamp)


@penstock.register_calculator
@penstock.calculator
def short_form(number: int) -> int:
    """Add 1."""
    return number + 1


@penstock.register_calculator
@penstock.calculator
def short_form2(number: int, other: int) -> int:
    """Add 1 to what both are."""
    return number + other - other + 1


def chain(calculator: str, nodes: int) -> str:
    """Return the text of a chain; a name that ends in 2 gets each stream twice."""
    ports = 'input_stream: "NUMBER:s{0}"' + ' input_stream: "OTHER:s{0}"' * calculator.endswith("2")
    lines = [
        f'node {{ calculator: "{calculator}" {ports.format(i)} output_stream: "OUT:s{i + 1}" }}'
        for i in range(nodes)
    ]
    return "\n".join(['input_stream: "s0"', *lines])


def steps(calculator: str, inputs: int, nodes: int, packets: int) -> dict[str, float]:
    """Time a chain of "LongForm" or "ShortForm" with one or two inputs."""
    text = chain(calculator + "2" * (inputs == 2), nodes)  # noqa: PLR2004  # as registered
    _seconds(text, nodes, min(packets, WARM_UP))
    return {FIGURE: _seconds(text, nodes, packets) / packets / nodes * 1e6}


def _seconds(text: str, nodes: int, packets: int) -> float:
    graph = penstock.CalculatorGraph(text)
    seen: list[object] = []
    graph.observe_output_stream(f"s{nodes}", lambda _, packet: seen.append(packet.payload))
    graph.start_run()
    start = perf_counter()
    for i in range(packets):
        graph.add_packet_to_input_stream("s0", penstock.Packet(i, i))
    graph.close()
    spent = perf_counter() - start
    expect(seen, list(range(nodes, packets + nodes)), "packets that came out")
    return spent


def benchmark() -> tuple[Benchmark, argparse.Namespace]:
    """Return the benchmark that the command line defines, and the parsed options."""
    options = parser(__doc__)
    options.add_argument("--nodes", type=int, default=20)
    options.add_argument("--packets", type=int, help="default 10000; 300 with --short")
    given = options.parse_args()
    packets = given.packets or (300 if given.short else 10_000)
    names = {1: "1 input", 2: "2 inputs"}

    def bar(case: str) -> Bar:
        def value(measured: Measurements) -> float | None:
            return measured.ratio(case, SHORT, LONG, FIGURE)

        return Bar(f"{case}, {SHORT}, x {LONG}", "at most", 1.0, value)

    return Benchmark(
        claim="A calculator from a function costs no more per step than the same one in the long form.",
        figure=FIGURE,
        base=LONG,
        cases=[
            Case(name, {"inputs": inputs, "nodes": given.nodes, "packets": packets})
            for inputs, name in names.items()
        ],
        contestants=[
            Contestant(LONG, "functions:steps", {"calculator": "LongForm"}),
            Contestant(SHORT, "functions:steps", {"calculator": "ShortForm"}),
        ],
        bars=[bar(name) for name in names.values()],
    ), given


if __name__ == "__main__":
    sys.exit(main(*benchmark()))
