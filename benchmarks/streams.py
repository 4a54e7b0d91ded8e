"""What the chain, the latency and the join ask of every contestant, and how each is fed and timed.

A contestant brings one object per workload: `feed` puts in one packet, `end` waits until all is out, and
`seen` has what came out. So all are fed in the same loop, warmed up in the same way, and checked by the
same lines. Standard library only.
"""

from __future__ import annotations

import statistics
from time import perf_counter, process_time
from typing import TYPE_CHECKING, Protocol

from expected import expect

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

#: Packets before the clock starts, per node fewer: imports, caches, and threads that start late.
WARM_UP = 200
MICRO = 1e6


class Stream(Protocol):
    """A workload under way: one input (or, for a join, one pair of inputs) and one observed output."""

    @property
    def seen(self) -> Sequence[object]:
        """The payloads that have come out, in order."""

    @property
    def feed(self) -> Callable[[int], object]:
        """Puts in the packet `number`; its time is `number` too. For a join: to both inputs."""

    def end(self) -> None:
        """Return when everything that was put in has come out, and all threads have ended."""


class Answering(Stream, Protocol):
    """A workload that can be waited for."""

    @property
    def ask(self) -> Callable[[int], object]:
        """Puts in a packet and returns when it has come out."""


def throughput(make: Callable[[], Stream], packets: int) -> tuple[float, float]:
    """Return microseconds per packet, and those of all threads' CPU time, from first in to last out.

    CPU time tells more than the clock where the machine has other work.

    Raises:
        WrongResultError: not all came out, or not in order.
    """
    _flow(make, min(packets, WARM_UP))
    spent, worked = _flow(make, packets)
    return spent / packets * MICRO, worked / packets * MICRO


def _flow(make: Callable[[], Stream], packets: int) -> tuple[float, float]:
    stream = make()
    feed = stream.feed
    worked, start = process_time(), perf_counter()
    for number in range(packets):
        feed(number)
    stream.end()
    spent = perf_counter() - start, process_time() - worked
    expect(list(stream.seen), list(range(packets)), "packets that came out")
    return spent


def latencies(make: Callable[[], Answering], packets: int) -> dict[str, float]:
    """Return median and 99th percentile of how long a packet takes, from going in to being out, in us.

    Raises:
        WrongResultError: not all came out, or not in order.
    """
    stream = make()
    ask = stream.ask
    for number in range(WARM_UP):
        ask(number)
    times = []
    for number in range(WARM_UP, WARM_UP + packets):
        start = perf_counter()
        ask(number)
        times.append((perf_counter() - start) * MICRO)
        if len(stream.seen) != number + 1:  # it did not wait: not what is timed
            expect(len(stream.seen), number + 1, "packets that came out so far")
    stream.end()
    expect(list(stream.seen), list(range(WARM_UP + packets)), "packets that came out")
    return {"median us": statistics.median(times), "p99 us": statistics.quantiles(times, n=100)[98]}


def chain_figures(make: Callable[[], Stream], nodes: int, packets: int) -> dict[str, float]:
    """Return the figures of a chain."""
    spent, worked = throughput(make, packets)
    return {"us a packet": spent, "us a node step": spent / nodes, "CPU us a packet": worked}


def join_figures(make: Callable[[], Stream], packets: int) -> dict[str, float]:
    """Return the figures of a join."""
    spent, worked = throughput(make, packets)
    return {"us a pair": spent, "CPU us a pair": worked}


def chain_text(nodes: int, head: str = "") -> str:
    """Return the graph of pass-through nodes from stream s0 to stream s<nodes>, as both engines read it."""
    lines = [
        f'node {{ calculator: "PassThroughCalculator" input_stream: "s{i}" output_stream: "s{i + 1}" }}'
        for i in range(nodes)
    ]
    return "\n".join(['input_stream: "s0"', head, *lines])


def join_text(policy: str = "", head: str = "") -> str:
    """Return the graph of one pass-through node with two streams, a to c and b to d, as both read it."""
    handler = f'input_stream_handler {{ input_stream_handler: "{policy}" }}' if policy else ""
    return (
        f'input_stream: "a" input_stream: "b" {head} node {{ calculator: "PassThroughCalculator" '
        f'input_stream: "a" input_stream: "b" output_stream: "c" output_stream: "d" {handler} }}'
    )
