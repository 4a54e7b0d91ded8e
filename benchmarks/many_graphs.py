"""Claim: a process can have a thousand graphs, with the threads of one pool, each a few dozen KB.

Alive: equal graphs of ten pass-through nodes, made, started and waiting for packets, as a server has one for
each client: kilobytes and milliseconds of processor time for each, threads of all together, and processor
time while nothing comes. Then each gets a packet, which must come out.

Clients: so many graphs get 30 packets a second each, at moments spread over the second, whether the
packets before have come out or not. Milliseconds from the moment at which a packet was due to the observer:
median and 99 %. It needs a quiet machine: other work delays the thread that feeds too. Contestants:
`SharedThreadPoolExecutor`, and a pool for each graph, which is the default.

    python benchmarks/many_graphs.py [--graphs 1000] [--clients 200] [--seconds 10] [--rounds 5]
        [--short] [--json FILE]
"""

from __future__ import annotations

import os
import sys
import threading
from functools import partial
from time import perf_counter, process_time, sleep
from typing import TYPE_CHECKING, Any

from expected import expect
from process_memory import resident_mb
from side_by_side import Bar, Benchmark, Case, Contestant, Measurements, main, parser
from streams import chain_text

from penstock import CalculatorGraph, Packet

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

NODES = 10
PER_SECOND = 30
SHARED, OWN = "penstock, one shared pool", "penstock, a pool each"
EACH, P99, THREADS = "KB each", "p99 ms", "threads"
ALIVE, CLIENTS = "alive", "clients"
#: How long nothing comes.
IDLE_S = 1.0
PATIENCE_S = 60.0


def _started(executor: str, see: Callable[[str, Packet], object]) -> CalculatorGraph:
    graph = CalculatorGraph(f"{executor} {chain_text(NODES)}")
    graph.observe_output_stream(f"s{NODES}", see)
    graph.start_run()
    return graph


def measure(executor: str, work: str, graphs: int, seconds: float) -> dict[str, float]:
    """Measure the graphs of one case on an executor."""
    return _alive(executor, graphs) if work == ALIVE else _clients(executor, graphs, seconds)


def _alive(executor: str, graphs: int) -> dict[str, float]:
    """Measure graphs that wait for packets."""
    seen: list[Any] = []

    def see(_: str, packet: Packet) -> None:
        seen.append(packet.payload)

    made = [_started(executor, see)]  # imports modules
    before, threads, began = resident_mb(), threading.active_count(), process_time()
    made += [_started(executor, see) for _ in range(graphs)]
    took, after = process_time() - began, resident_mb()
    threads = threading.active_count() - threads
    began = process_time()
    sleep(IDLE_S)
    idle = process_time() - began
    for number, graph in enumerate(made):
        graph.add_packet_to_input_stream("s0", Packet(number, 0))
    for graph in made:
        graph.close(PATIENCE_S)
    expect(sorted(seen), list(range(graphs + 1)), "packets that came out")
    return {
        EACH: (after - before) * 1024 / graphs,
        "CPU ms each": took / graphs * 1e3,
        THREADS: float(threads),
        "idle CPU %": idle / IDLE_S * 100,
    }


def _clients(executor: str, clients: int, seconds: float) -> dict[str, float]:
    """Measure how long packets of many clients take."""
    waits: list[float] = []

    def see(_: str, packet: Packet) -> None:
        due: Any = packet.payload
        waits.append(perf_counter() - due)

    graphs = [_started(executor, see) for _ in range(clients)]
    for graph in graphs:
        graph.add_packet_to_input_stream("s0", Packet(perf_counter(), 0))
    for graph in graphs:
        graph.wait_until_idle(PATIENCE_S)
    waits.clear()
    packets = int(seconds * PER_SECOND) * clients
    gap = 1 / (PER_SECOND * clients)
    adds = [partial(graph.add_packet_to_input_stream, "s0") for graph in graphs]
    used, start = process_time(), perf_counter() + 0.01
    for number in range(packets):
        due = start + number * gap
        early = due - perf_counter()
        if early > 0:
            sleep(early)
        adds[number % clients](Packet(due, 1 + number // clients))
    for graph in graphs:
        graph.wait_until_idle(PATIENCE_S)
    took, used = perf_counter() - start, process_time() - used
    for graph in graphs:
        graph.close(PATIENCE_S)
    expect(len(waits), packets, "count of packets that came out")
    waits.sort()
    return {
        P99: waits[int(packets * 0.99)] * 1e3,
        "median ms": waits[packets // 2] * 1e3,
        "CPU %": used / took * 100,
        "packets/s": packets / took,
    }


def benchmark() -> tuple[Benchmark, argparse.Namespace]:
    """Return the benchmark that the command line defines, and the parsed options."""
    options = parser(__doc__)
    options.add_argument("--graphs", type=int, help="default 1000; 20 with --short")
    options.add_argument("--clients", type=int, help="default 200; 10 with --short")
    options.add_argument("--seconds", type=float, help="default 10; 0.5 with --short")
    given = options.parse_args()
    graphs = given.graphs or (20 if given.short else 1000)
    number = given.clients or (10 if given.short else 200)
    seconds = given.seconds or (0.5 if given.short else 10.0)
    waiting, busy = f"{graphs} graphs alive", f"{number} clients, {PER_SECOND} packets/s"

    def median(case: str, figure: str, measured: Measurements) -> float | None:
        return measured.median(case, SHARED, figure)

    def contestant(name: str, executor: str) -> Contestant:
        return Contestant(name, "many_graphs:measure", {"executor": executor})

    return Benchmark(
        claim="A process can have a thousand graphs, with the threads of one pool.",
        figure=EACH,
        base=OWN,
        cases=[
            Case(waiting, {"work": ALIVE, "graphs": graphs, "seconds": 0.0}),
            Case(busy, {"work": CLIENTS, "graphs": number, "seconds": seconds}, figure=P99),
        ],
        contestants=[
            contestant(SHARED, 'executor { type: "SharedThreadPoolExecutor" }'),
            contestant(OWN, ""),
        ],
        bars=[
            Bar(f"{waiting}, KB each", "at most", 120, partial(median, waiting, EACH)),
            Bar(f"{waiting}, threads", "at most", os.cpu_count() or 1, partial(median, waiting, THREADS)),
            Bar(f"{busy}, 99 % of packets, ms", "at most", 1000 / PER_SECOND, partial(median, busy, P99)),
        ],
    ), given


if __name__ == "__main__":
    sys.exit(main(*benchmark()))
