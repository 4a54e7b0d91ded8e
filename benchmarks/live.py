"""Claim: a page that looks at a graph takes less than 2 % of a processor.

The same packets go through the same graph while nobody looks at it and while `penstock_live.serve` does, in
turns in one run: edges drawn over frames, a chain of 50 pass-through nodes, and one of 500. Another process
asks what one page asks: the readings as they come, and as often as the server says, twice a second at most,
what flows on three streams, one of them large. The ratio of the CPU time of all threads of the graph's
process, the server's and its monitor's included, and of the time from the first packet to the last, each
the median of the pairs; and the share of a processor that the threads of server and monitor took. The other
process is not counted; it starts before the clock does.

    python benchmarks/live.py [--pairs 15] [--seconds 2] [--short] [--json FILE]

With `--minutes M` it measures no cost: the chain of 50 runs under three pages for M minutes, and the resident
memory is printed every minute. It exits with 1 if that has grown by more than 2 % after the first tenth.
`--per-second P` says how many packets it carries meanwhile.
"""

from __future__ import annotations

import http.client
import json
import subprocess
import sys
import threading
import urllib.parse
import urllib.request
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING, Final

import looking
from expected import expect
from side_by_side import Contestant

from penstock_live import serve

if TYPE_CHECKING:
    from collections.abc import Iterator

    from penstock import CalculatorGraph
    from penstock_live import Server

#: In percent of a processor.
LIMIT: Final = 2.0
#: What the names of the threads of server and monitor begin with.
THREADS: Final = ("penstock-live", "penstock-monitor")
SHOWN: Final = 3
_PAGES: Final = 3


# --- the page, in a process of its own --------------------------------------------------------


def look(url: str, streams: list[str]) -> None:
    """Do what a page does, until stdin is closed; print a line when the first of everything has come."""
    place = urllib.parse.urlsplit(url)
    end = threading.Event()
    events = urllib.request.urlopen(url.replace("/?", "/events?"))  # noqa: S310  # our own server
    events.readline()
    # one connection for all, as a browser does
    connection = http.client.HTTPConnection(place.hostname or "", place.port, timeout=30)

    def follow() -> None:
        with suppress(OSError, ValueError):  # the server is closed
            while events.readline() and not end.is_set():
                pass

    *strip, large = map(urllib.parse.quote, streams)
    shown = "&".join([*(f"stream={stream}" for stream in strip), "pixels=160", f"large={large}"])

    def show() -> float:
        connection.request("GET", f"/thumbnails?{shown}&{place.query}")
        pause_s: float = json.load(connection.getresponse())["again_s"]
        return pause_s

    def keep_showing() -> None:
        with suppress(OSError, http.client.HTTPException):
            while not end.wait(show()):
                pass

    show()
    threads = [threading.Thread(target=target, daemon=True) for target in (follow, keep_showing)]
    for thread in threads:
        thread.start()
    print("looking", flush=True)
    sys.stdin.read()
    end.set()


@contextmanager
def looked_at(server: Server, streams: list[str]) -> Iterator[None]:
    """Let another process look at a server."""
    command = [sys.executable, __file__, "--look", server.url, *streams]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as looking:  # noqa: S603
        assert looking.stdout is not None  # noqa: S101
        expect(looking.stdout.readline(), "looking\n", "the page looks")
        try:
            yield
        finally:
            looking.communicate("", timeout=30)


# --- what it costs ----------------------------------------------------------------------------


@contextmanager
def by_a_page(graph: CalculatorGraph) -> Iterator[None]:
    """Let a page look at a graph, and at its last streams."""
    names = [stream.name for stream in graph.snapshot().streams]
    with serve(graph) as server, looked_at(server, names[-SHOWN:]):
        yield


@contextmanager
def by_three_pages(graph: CalculatorGraph) -> Iterator[None]:
    """Let three pages look at the chain of 50."""
    with ExitStack() as stack:
        server = stack.enter_context(serve(graph))
        for _ in range(_PAGES):
            stack.enter_context(looked_at(server, ["s0", "s25", "s50"]))
        yield


def paired(nodes: int, pairs: int, seconds: float) -> dict[str, float]:
    """Measure runs without and with a page, in turns."""
    return looking.paired(nodes, pairs, seconds, by_a_page, partial(looking.own_s, *THREADS))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--look"]:
        look(sys.argv[2], sys.argv[3:])
    else:
        given = looking.given_options(__doc__)
        claim = "A page that looks at a graph takes less than 2 % of a processor."
        made = looking.benchmark(claim, Contestant("penstock, looked at", "live:paired"), LIMIT, given)
        looking.finish(made, given, by_three_pages)
