"""Claim: a calculator from a function costs no more per step than the same one in the long form.

A chain of N nodes that add 1, K packets of ints, in turns (A B A B ...): once as a class that is derived
from `Calculator`, once as a function under `@penstock.calculator`; and likewise with two inputs. Prints
medians in microseconds per node step and their ratio.

    python benchmarks/functions.py [--nodes 20] [--packets 10000] [--rounds 7]

Absolute numbers drift with the machine; the ratio of one run counts.
"""

from __future__ import annotations

import argparse
import os
import platform
import statistics
from time import perf_counter

import penstock


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
    """Adds its inputs, less one of them."""

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


def seconds(calculator: str, nodes: int, packets: int) -> float:
    """Return how long a chain takes for all packets."""
    graph = penstock.CalculatorGraph(chain(calculator, nodes))
    seen: list[penstock.Packet] = []
    graph.observe_output_stream(f"s{nodes}", lambda _, packet: seen.append(packet))
    graph.start_run()
    start = perf_counter()
    for i in range(packets):
        graph.add_packet_to_input_stream("s0", penstock.Packet(i, i))
    graph.close()
    spent = perf_counter() - start
    if [packet.payload for packet in seen] != list(range(nodes, packets + nodes)):
        raise SystemExit(f"wrong result: {len(seen)} packets came out, {packets} went in")
    return spent


def main() -> None:
    """Time both forms in turns and print the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--nodes", type=int, default=20)
    parser.add_argument("--packets", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=7)
    given = parser.parse_args()
    print(f"{platform.python_implementation()} {platform.python_version()}, {os.cpu_count()} cores")
    for form in ("Form", "Form2"):
        times: dict[str, list[float]] = {"Long": [], "Short": []}
        for _ in range(given.rounds):
            for length, spent in times.items():
                spent.append(seconds(f"{length}{form}", given.nodes, given.packets))
        steps = given.nodes * given.packets
        long, short = (statistics.median(spent) / steps * 1e6 for spent in times.values())
        inputs = 1 + form.endswith("2")
        ratio = short / long
        print(f"{inputs} input(s): long form {long:.2f} us a step, function {short:.2f}, ratio {ratio:.2f}")


if __name__ == "__main__":
    main()
