"""Claim: the memory of a run does not grow after its first packets.

Packets go through a chain of pass-through nodes with default queues (100 packets each, which throttle the
feeding thread): resident megabytes after the last packet minus those after a warm-up, in a process of its
own. Ints, compared with the reference; and images of 160 x 120 pixels (58 kB each), a new one for each
packet; 200,000 of them would take 11.5 GB. The last tenth of the packets must take no more processor time
than the first. `--packets 10000000` is the long form.

    python benchmarks/memory.py [--nodes 10] [--packets 200000] [--rounds 5] [--reference PYTHON]
        [--short] [--json FILE]
"""

from __future__ import annotations

import sys
from time import process_time
from typing import TYPE_CHECKING

import numpy as np
from contestants import REFERENCE, reference
from expected import expect
from process_memory import resident_mb
from side_by_side import Bar, Benchmark, Case, Contestant, Measurements, main, parser
from streams import chain_text

from penstock import CalculatorGraph, Packet

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

OURS = "penstock, default threads"
FIGURE = "MB grown"
GROWTH = "last tenth x first"
INTS, IMAGES = "ints", "images of 58 kB"


def penstock(nodes: int, packets: int, warm_up: int) -> dict[str, float]:
    """Measure by how much memory grows while ints go through a chain."""
    return _grown(nodes, packets, warm_up, lambda number: number, lambda payload: payload)


def penstock_images(nodes: int, packets: int, warm_up: int) -> dict[str, float]:
    """Measure the same with images; the first four bytes carry the number."""

    def picture(number: int) -> object:
        pixels = np.zeros((120, 160, 3), np.uint8)
        pixels.reshape(-1)[:4] = np.frombuffer(number.to_bytes(4, "little"), np.uint8)
        return pixels

    def number_of(pixels: np.ndarray) -> object:
        return int.from_bytes(pixels.reshape(-1)[:4].tobytes(), "little")

    return _grown(nodes, packets, warm_up, picture, number_of)


def _grown(
    nodes: int,
    packets: int,
    warm_up: int,
    payload: Callable[[int], object],
    number_of: Callable[..., object],
) -> dict[str, float]:
    count = 0

    def one_more(_name: str, packet: Packet) -> None:
        nonlocal count
        expect(number_of(packet.payload), count, "packet that came out")
        count += 1

    graph = CalculatorGraph(chain_text(nodes))
    graph.observe_output_stream(f"s{nodes}", one_more)
    graph.start_run()
    tenth = packets // 10
    first, last = warm_up + tenth, warm_up + packets - tenth
    moments = []
    before = 0.0
    for number in range(warm_up + packets):
        if number in {warm_up, first, last}:
            graph.wait_until_idle()
            before = before or resident_mb()
            moments.append(process_time())
        graph.add_packet_to_input_stream("s0", Packet(payload(number), number))
    graph.wait_until_idle()
    moments.append(process_time())
    after = resident_mb()
    graph.close()
    expect(count, warm_up + packets, "count of packets that came out")
    begin, end = moments[1] - moments[0], moments[-1] - moments[-2]
    return {FIGURE: after - before, "MB": after, "us a packet": end / tenth * 1e6, GROWTH: end / begin}


def benchmark() -> tuple[Benchmark, argparse.Namespace]:
    """Return the benchmark that the command line defines, and the parsed options."""
    options = parser(__doc__)
    options.add_argument("--nodes", type=int, default=10)
    options.add_argument("--packets", type=int, help="default 200000; 2000 with --short")
    given = options.parse_args()
    packets = given.packets or (2000 if given.short else 200_000)
    settings = {"nodes": given.nodes, "packets": packets, "warm_up": min(max(200, packets // 20), 50_000)}
    more_s = packets // 2000

    def bar(case: str, ours: str) -> Bar:
        def value(measured: Measurements) -> float | None:
            return measured.median(case, ours, FIGURE)

        return Bar(f"{packets} packets, {case}, MB grown over the run", "at most", 5, value)

    def growth(measured: Measurements) -> float | None:
        return measured.median(INTS, OURS, GROWTH)

    images = f"{OURS}, images"
    return Benchmark(
        claim="The memory of a run does not grow with the packets that have gone through it.",
        figure=FIGURE,
        base=REFERENCE,
        cases=[
            Case(INTS, settings, (OURS, REFERENCE), more_s=more_s),
            Case(IMAGES, settings, (images,), more_s=more_s),
        ],
        contestants=[
            Contestant(OURS, "memory:penstock"),
            Contestant(images, "memory:penstock_images"),
            reference("memory", given),
        ],
        bars=[
            bar(INTS, OURS),
            bar(IMAGES, images),
            Bar(f"{INTS}, processor time of the last tenth, x the first", "at most", 1.05, growth),
        ],
    ), given


if __name__ == "__main__":
    sys.exit(main(*benchmark()))
