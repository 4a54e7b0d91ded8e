"""The interface of the contestants of chain, latency and join, and the loops that feed and time them.

A contestant provides one object per workload: `feed` adds one packet, `end` waits until all packets have
come out, and `seen` has their payloads. So all are fed in the same loop, warmed up in the same way, and
checked by the same code. Standard library only.
"""

from __future__ import annotations

import statistics
from time import perf_counter, process_time
from typing import TYPE_CHECKING, Protocol

from expected import expect

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

#: Packets before the clock starts, for late imports, caches and the start of threads; fewer for many nodes.
WARM_UP = 200
MICRO = 1e6
#: How often `turns` calls a function, before and while the clock runs.
_WARM_UP, _TURNS = 3, 60


class Stream(Protocol):
    """A running workload: one input (or, for a join, one pair of inputs) and one observed output."""

    @property
    def seen(self) -> Sequence[object]:
        """The payloads that have come out, in order."""

    @property
    def feed(self) -> Callable[[int], object]:
        """Adds the packet `number` at time `number`. For a join: to both inputs."""

    def end(self) -> None:
        """Return when all packets that were added have come out, and all threads have ended."""


class Answering(Stream, Protocol):
    """A workload whose caller can wait for each packet."""

    @property
    def ask(self) -> Callable[[int], object]:
        """Adds a packet and returns when it has come out."""


def throughput(make: Callable[[], Stream], packets: int) -> tuple[float, float]:
    """Return microseconds per packet, and those of all threads' CPU time, from first in to last out.

    CPU time is more exact than the clock if the machine has other work.

    Raises:
        WrongResultError: not all packets came out, or not in order.
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
    """Return median and 99th percentile of the time of a packet, from input to output, in us.

    Raises:
        WrongResultError: not all packets came out, or not in order.
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
        if len(stream.seen) != number + 1:  # it did not wait for the packet
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


def turns(once: Callable[[], None]) -> dict[str, float]:
    """Call a function again and again; return the median time of a call and the processor time of one."""
    for _ in range(_WARM_UP):
        once()
    took = []
    cpu = process_time()
    for _ in range(_TURNS):
        start = perf_counter()
        once()
        took.append(perf_counter() - start)
    cpu = process_time() - cpu
    return {"ms": statistics.median(took) * 1e3, "CPU ms": cpu / _TURNS * 1e3}


def chain_text(nodes: int, head: str = "") -> str:
    """Return the graph of pass-through nodes from stream s0 to stream s<nodes>, which both engines read."""
    lines = [
        f'node {{ calculator: "PassThroughCalculator" input_stream: "s{i}" output_stream: "s{i + 1}" }}'
        for i in range(nodes)
    ]
    return "\n".join(['input_stream: "s0"', head, *lines])


def join_text(policy: str = "", head: str = "") -> str:
    """Return the graph of one pass-through node with streams a to c and b to d, which both engines read."""
    handler = f'input_stream_handler {{ input_stream_handler: "{policy}" }}' if policy else ""
    return (
        f'input_stream: "a" input_stream: "b" {head} node {{ calculator: "PassThroughCalculator" '
        f'input_stream: "a" input_stream: "b" output_stream: "c" output_stream: "d" {handler} }}'
    )
