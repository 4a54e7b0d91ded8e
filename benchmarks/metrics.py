"""Claim: metrics cost nothing that one notices, with one scrape a second.

The edge-overlay graph, decoded, painted and encoded, and a chain of 50 nodes that do nothing, each with and
without a server of metrics that another process scrapes once a second. The times of nodes are taken in both,
as in `penstock run`.

    python benchmarks/metrics.py [--rounds 15] [--packets 60000] [--frames 250] [--short] [--json FILE]

The bars are medians of the rounds' ratios: the two ways run in turns.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from contextlib import contextmanager, nullcontext
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Final

from edge_overlay import graph_text, write_pattern
from expected import expect
from process_memory import cpu_s
from side_by_side import Bar, Benchmark, Case, Contestant, main, parser
from streams import chain_text

import penstock
from penstock_metrics import serve

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

WITHOUT, SCRAPED = "without metrics", "scraped once a second"
CHAIN, OVERLAY = "chain of 50 nodes", "edge overlay"
FIGURE, WORK = "us a packet", "CPU us a packet"
NODES: Final = 50
LIMIT: Final = 1.01
MICRO: Final = 1e6
#: Scrapes an address once a second until its input ends, and says each time how often.
_SCRAPER: Final = """
import sys, threading, urllib.request
count, stop = 0, threading.Event()
threading.Thread(target=lambda: (sys.stdin.read(), stop.set())).start()
while not stop.is_set():
    count += b"penstock_packets_total" in urllib.request.urlopen(sys.argv[1]).read()
    print(count, flush=True)
    stop.wait(1.0)
"""


@contextmanager
def scraped(graph: penstock.CalculatorGraph) -> Iterator[None]:
    """Serve the metrics of a graph in the block, and scrape them from another process.

    Raises:
        WrongResultError: it could not be scraped.
    """
    with serve(graph) as server:
        scraper = subprocess.Popen(  # noqa: S603  # our own program
            [sys.executable, "-c", _SCRAPER, server.url],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert scraper.stdout is not None  # asked for  # noqa: S101
        expect(scraper.stdout.readline(), "1\n", "the first scrape")
        try:
            yield
        finally:
            scraper.communicate("")
        expect(scraper.returncode, 0, "the exit status of what scrapes")


def chain(packets: int, is_scraped: bool) -> dict[str, float]:  # noqa: FBT001  # a setting of a contestant
    """Time a chain that is fed from this thread."""
    graph = penstock.CalculatorGraph(chain_text(NODES, ""))
    seen = 0

    def notice(_name: str, _packet: penstock.Packet) -> None:
        nonlocal seen
        seen += 1

    graph.observe_output_stream(f"s{NODES}", notice)
    graph.set_timing()
    with scraped(graph) if is_scraped else nullcontext():
        graph.start_run()
        for number in range(packets // 20):
            graph.add_packet_to_input_stream("s0", penstock.Packet(number, number))
        graph.wait_until_idle()
        warm = seen
        cpu, start = cpu_s(), perf_counter()
        for number in range(warm, warm + packets):
            graph.add_packet_to_input_stream("s0", penstock.Packet(number, number))
        graph.close()
        spent, worked = perf_counter() - start, cpu_s() - cpu
    expect(seen - warm, packets, "packets that came out")
    return {FIGURE: spent / packets * MICRO, WORK: worked / packets * MICRO}


def overlay(video: str, frames: int, is_scraped: bool) -> dict[str, float]:  # noqa: FBT001  # as above
    """Time the example's graph on a video."""
    graph = penstock.CalculatorGraph(graph_text((1, 1), encodes=True))
    graph.set_timing()
    with tempfile.TemporaryDirectory() as folder, scraped(graph) if is_scraped else nullcontext():
        files = {"input_video": video, "output_video": str(Path(folder) / "out.mp4")}
        cpu, start = cpu_s(), perf_counter()
        graph.run(files)
        spent, worked = perf_counter() - start, cpu_s() - cpu
    painted = next(stream for stream in graph.snapshot().streams if stream.name == "painted")
    expect(painted.added, frames, "painted frames")
    return {FIGURE: spent / frames * MICRO, WORK: worked / frames * MICRO}


def measured(case: str, **settings: object) -> dict[str, float]:
    """Measure one case in one way."""
    work = {CHAIN: chain, OVERLAY: overlay}[case]
    return work(**settings)  # type: ignore[operator, no-any-return]  # from JSON; a wrong one fails at once


def bar(case: str, figure: str) -> Bar:
    """Return the bar for a figure of one case."""
    return Bar(
        f"{case}, {figure}, x {WITHOUT}",
        "at most",
        LIMIT,
        lambda taken: taken.ratio(case, SCRAPED, WITHOUT, figure),
    )


def benchmark(given: argparse.Namespace, folder: Path) -> Benchmark:
    """Return the benchmark; its test pattern is written into `folder`."""
    packets = given.packets or (2000 if given.short else 60_000)
    frames = given.frames or (12 if given.short else 250)
    video = folder / "pattern.mp4"
    write_pattern(video, (320, 192) if given.short else (1280, 720), frames)
    return Benchmark(
        claim="Metrics cost nothing that one notices, with one scrape a second.",
        figure=FIGURE,
        base=WITHOUT,
        cases=[
            Case(CHAIN, {"case": CHAIN, "packets": packets}),
            Case(OVERLAY, {"case": OVERLAY, "video": str(video), "frames": frames}),
        ],
        contestants=[
            Contestant(WITHOUT, "metrics:measured", {"is_scraped": False}),
            Contestant(SCRAPED, "metrics:measured", {"is_scraped": True}),
        ],
        bars=[bar(case, figure) for case in (CHAIN, OVERLAY) for figure in (FIGURE, WORK)],
    )


if __name__ == "__main__":
    options = parser(__doc__)
    options.add_argument("--packets", type=int, help="of the chain; default 60000; 2000 with --short")
    options.add_argument("--frames", type=int, help="of the overlay; default 250; 12 with --short")
    asked = options.parse_args()
    with tempfile.TemporaryDirectory() as made:
        sys.exit(main(benchmark(asked, Path(made)), asked))
