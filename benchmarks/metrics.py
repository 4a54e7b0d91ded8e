"""Claim: metrics of a graph take less than 1 % of a processor, with one scrape a second.

The same packets go through the same graph without a server of metrics and with one that another process
scrapes once a second (Prometheus does so every 15 s or every minute), in turns in one run: edges drawn over
frames, and chains of 50 and 500 pass-through nodes. The times of nodes are taken in both, as in
`penstock run`. The ratio of the CPU time of all threads of the graph's process and of the time from the first
packet to the last, and the share of a processor that the threads of server, sampler and monitor took, each
the median of the pairs. A server gives the same answer again where a new one would cost too much, so a turn
must be longer than the time between two new ones.

    python benchmarks/metrics.py [--pairs 5] [--seconds 8] [--short] [--json FILE]

With `--minutes M` it measures no cost, but the memory; see `monitor.py`.
"""

from __future__ import annotations

import subprocess
import sys
from contextlib import contextmanager
from socketserver import ThreadingMixIn
from time import thread_time
from typing import TYPE_CHECKING, Any, Final

import looking
from expected import expect
from side_by_side import Contestant

from penstock_metrics import serve

if TYPE_CHECKING:
    from collections.abc import Iterator

    from penstock import CalculatorGraph

OURS: Final = "penstock, scraped once a second"
#: In percent of a processor.
LIMIT: Final = 1.0
#: What the names of the threads of server, sampler and monitor begin with.
THREADS: Final = ("penstock-metrics", "penstock-monitor")
#: Until then there were two scrapes.
_SETTLE_S: Final = 1.5
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
def scraped(graph: CalculatorGraph) -> Iterator[None]:
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


class Requests:
    """Counts the CPU seconds of the threads that answer requests, each of which ends with its answer."""

    def __init__(self) -> None:
        self.cpu_s = 0.0

    def count(self) -> None:
        """Count them from now on."""
        answer = ThreadingMixIn.process_request_thread

        def answer_and_count(server: ThreadingMixIn, request: Any, client_address: object) -> None:
            answer(server, request, client_address)
            self.cpu_s += thread_time()

        ThreadingMixIn.process_request_thread = answer_and_count  # type: ignore[assignment, method-assign]  # to count


def paired(nodes: int, pairs: int, seconds: float) -> dict[str, float]:
    """Measure runs without and with metrics, in turns."""
    requests = Requests()
    requests.count()
    return looking.paired(
        nodes, pairs, seconds, scraped, lambda: looking.own_s(*THREADS) + requests.cpu_s, _SETTLE_S
    )


if __name__ == "__main__":
    given = looking.given_options(__doc__, pairs=5, seconds=8.0)
    claim = "Metrics of a graph take less than 1 % of a processor, with one scrape a second."
    made = looking.benchmark(claim, Contestant(OURS, "metrics:paired"), LIMIT, given)
    looking.finish(made, given, scraped)
