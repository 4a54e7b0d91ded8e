"""Claim: a graph uses processors as well as bare threads do, and loses nothing where it cannot.

Four nodes side by side get every packet, and each call works for a while: without the interpreter's lock
(PBKDF2 of hashlib, all in C), or in pure Python. Milliseconds per call on 1 and 2 threads, by the clock and
of CPU time (the increase on two threads is the cost of their interference), compared with bare threads that
take the same calls from one iterator. The gain of two threads is compared with two bare threads in the
same round. On a free-threaded Python the same bar holds for the pure-Python calls.

Then 8 and 16 nodes, side by side or in a chain, with a thread for each, beside as many bare threads: calls of
1 ms without the lock, and on a free-threaded Python in pure Python too. In a chain each packet passes all
nodes, and the nodes work on different packets; the bare threads take the same number of calls from one
iterator, so they know neither order nor hand-over, and wait for nothing.

    python benchmarks/parallel.py [--calls 400] [--rounds 5] [--short] [--json FILE]
"""

from __future__ import annotations

import hashlib
import statistics
import sys
import threading
from time import perf_counter, process_time, thread_time
from typing import TYPE_CHECKING

from expected import expect
from side_by_side import Bar, Benchmark, Case, Contestant, Measurements, main, parser

import penstock as host

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

NODES = 4
FIGURE, CPU = "ms a call", "CPU ms a call"
RELEASED, PURE, PURE_SHORT = (
    "lock released, 5 ms calls",
    "pure Python, 5 ms calls",
    "pure Python, 0.1 ms calls",
)
PURES = (PURE, PURE_SHORT)
MANY = (8, 16)
EACH = "a thread for each node"
#: Of a chain 15 of 16 threads have nothing to do while the first and the last packet pass; so there are many.
PACKETS_OF_MANY = 300


def without_lock(size: int) -> int:
    """Work without the interpreter's lock; `size` is rounds of the hash."""
    return int.from_bytes(hashlib.pbkdf2_hmac("sha256", b"penstock", b"bench", size)[:4], "little")


def pure(size: int) -> int:
    """Work in Python; `size` is rounds of the loop."""
    total = 0
    for number in range(size):
        total = (total * 31 + number) & 0xFFFF
    return total


WORK: dict[str, Callable[[int], int]] = {"released": without_lock, "pure": pure}


def bare(  # noqa: PLR0913, PLR0917  # as JSON has them
    work: str,
    size: int,
    calls: int,
    threads: int,
    nodes: int = NODES,  # noqa: ARG001  # of the graph
    is_chain: bool = False,  # noqa: ARG001, FBT001, FBT002  # JSON names it
) -> dict[str, float]:
    """Time the calls on bare threads, which take them from one iterator."""
    call = WORK[work]
    right = call(size)
    made: list[int] = []
    numbers = iter(range(calls))
    taking = threading.Lock()

    def take() -> bool:
        with taking:  # an iterator is not safe to share without the interpreter's lock
            return next(numbers, None) is not None

    def run() -> None:
        while take():
            made.append(call(size))

    team = [threading.Thread(target=run) for _ in range(threads)]
    worked, start = process_time(), perf_counter()
    for thread in team:
        thread.start()
    for thread in team:
        thread.join()
    spent, worked = perf_counter() - start, process_time() - worked
    expect(made, [right] * calls, "results")
    return {FIGURE: spent / calls * 1e3, CPU: worked / calls * 1e3}


def penstock(  # noqa: PLR0913, PLR0917  # as JSON has them
    work: str,
    size: int,
    calls: int,
    threads: int,
    nodes: int = NODES,
    is_chain: bool = False,  # noqa: FBT001, FBT002  # JSON names it
) -> dict[str, float]:
    """Time the calls in a graph of nodes side by side, or one after the other."""
    call = WORK[work]
    right = call(size)

    @host.register_calculator
    @host.calculator
    def worker(number: int) -> int:  # noqa: ARG001  # the work is the same each time
        return call(size)

    made = [f"out{i}" for i in range(nodes)]
    read = ["in", *made[:-1]] if is_chain else ["in"] * nodes
    text = "\n".join(
        [
            'input_stream: "in"',
            f"num_threads: {threads}",
            *(
                f'node {{ calculator: "Worker" input_stream: "NUMBER:{taken}" output_stream: "OUT:{name}" }}'
                for taken, name in zip(read, made, strict=True)
            ),
        ]
    )
    packets = calls // nodes
    graph = host.CalculatorGraph(text)
    seen: dict[str, list[object]] = {name: [] for name in made}
    for name in made:
        graph.observe_output_stream(name, lambda name, packet: seen[name].append(packet.payload))
    graph.start_run()
    worked, start = process_time(), perf_counter()
    for number in range(packets):
        graph.add_packet_to_input_stream("in", host.Packet(number, number))
    graph.close()
    spent, worked = perf_counter() - start, process_time() - worked
    expect(seen, {name: [right] * packets for name in made}, "results")
    calls = packets * nodes
    return {FIGURE: spent / calls * 1e3, CPU: worked / calls * 1e3}


def size_for(work: str, seconds: float) -> int:
    """Return the size with which one call alone takes about this time on this machine.

    It measures this thread's CPU time, because other work of the machine would make the calls too short.
    """
    size = 100
    while (spent := min(_worked_s(work, size) for _ in range(3))) < seconds / 2:
        size *= 2
    return round(size * seconds / spent)


def _worked_s(work: str, size: int) -> float:
    start = thread_time()
    WORK[work](size)
    return thread_time() - start


def gain(measured: Measurements, case: str, who: str) -> list[float]:
    """Return the gain of two threads over one, in each round; an empty list if one was not measured."""
    one, two = (measured.rounds.get((case, f"{who}, {threads}")) for threads in ("1 thread", "2 threads"))
    if one is None or two is None:
        return []
    return [a / b for a, b in zip(one[FIGURE], two[FIGURE], strict=True)]


def gain_beside_bare(measured: Measurements, case: str) -> float | None:
    """Return the gain of two threads of a graph, divided by that of two bare threads."""
    both = zip(gain(measured, case, "penstock"), gain(measured, case, "bare"), strict=False)
    ratios = [ours / theirs for ours, theirs in both]
    return statistics.median(ratios) if ratios else None


def has_lock() -> bool:
    """Return whether this interpreter runs one thread at a time."""
    return getattr(sys, "_is_gil_enabled", lambda: True)()


def bars() -> list[Bar]:
    """Return the bars; those of pure Python depend on the interpreter."""
    return [
        _beside_bare(RELEASED, 0.97),
        *(_pure(case) if has_lock() else _beside_bare(case, 0.95) for case in PURES),
        *(_each(case.name) for case in many_cases({"released": 1, "pure": 1}, 1)),
    ]


def many_cases(sizes: dict[str, int], packets: int) -> list[Case]:
    """Return the cases of many nodes; the sizes are for calls of 1 ms."""
    said = {"released": "lock released", "pure": "pure Python"}
    return [
        Case(
            f"{f'chain of {nodes}' if is_chain else f'{nodes} side by side'}, {said[work]}, 1 ms calls",
            {
                "work": work,
                "size": sizes[work],
                "calls": packets * nodes,
                "threads": nodes,
                "nodes": nodes,
                "is_chain": is_chain,
            },
            contestants=(f"bare, {EACH}", f"penstock, {EACH}"),
        )
        for work in (("released",) if has_lock() else ("released", "pure"))
        for is_chain in (False, True)
        for nodes in MANY
    ]


def _beside_bare(case: str, limit: float) -> Bar:
    def value(measured: Measurements) -> float | None:
        return gain_beside_bare(measured, case)

    return Bar(f"{case}, gain of 2 threads, x that of bare threads", "at least", limit, value)


def _each(case: str) -> Bar:
    def value(measured: Measurements) -> float | None:
        return measured.ratio(case, f"bare, {EACH}", f"penstock, {EACH}", FIGURE)

    return Bar(f"{case}, {EACH}, speed, x that of as many bare threads", "at least", 0.9, value)


def _pure(case: str) -> Bar:
    def value(measured: Measurements) -> float | None:
        gained = gain(measured, case, "penstock")
        return statistics.median(gained) if gained else None

    return Bar(f"{case}, with the GIL, speed of 2 threads, x 1 thread", "at least", 0.95, value)


def benchmark() -> tuple[Benchmark, argparse.Namespace]:
    """Return the benchmark that the command line defines, and the parsed options."""
    options = parser(__doc__)
    options.add_argument("--calls", type=int, help="a multiple of 4; default 400; 40 with --short")
    given = options.parse_args()
    calls = given.calls or (40 if given.short else 400)
    if calls % NODES:
        options.error(f"--calls {calls}: must be a multiple of {NODES}, the number of nodes")
    sizes = {RELEASED: ("released", 5e-3, 1), PURE: ("pure", 5e-3, 1), PURE_SHORT: ("pure", 1e-4, 10)}
    two = [
        Contestant(f"{who}, {threads} thread{'s' * (threads > 1)}", f"parallel:{who}", {"threads": threads})
        for who in ("bare", "penstock")
        for threads in (1, 2)
    ]
    many = many_cases({work: size_for(work, 1e-3) for work in WORK}, 10 if given.short else PACKETS_OF_MANY)
    return Benchmark(
        claim="A graph uses processors as well as bare threads do.",
        figure=FIGURE,
        base="bare, 1 thread",
        otherwise=f"bare, {EACH}",
        cases=[
            *(
                Case(
                    name,
                    {"work": work, "size": size_for(work, seconds), "calls": calls * times},
                    contestants=tuple(each.name for each in two),
                )
                for name, (work, seconds, times) in sizes.items()
            ),
            *many,
        ],
        contestants=[
            *two,
            *(Contestant(f"{who}, {EACH}", f"parallel:{who}") for who in ("bare", "penstock")),
        ],
        bars=bars(),
    ), given


if __name__ == "__main__":
    sys.exit(main(*benchmark()))
