"""Claim: nodes in worker processes cost little more than bare processes, and use all processors.

- "5 ms of Python": milliseconds a packet of a node whose every call computes for about 5 ms in pure Python,
  with four calls in flight, beside `ProcessPoolExecutor.map` with four processes.
- "small packet": median microseconds of an int there and back, one at a time, read by a poller. Beside it a
  local node, a local node that returns the future of a `ProcessPoolExecutor`, that pool alone, and a pipe.
- "720p echo": median microseconds of a frame of 2.8 MB there and back; the bare processes copy it into shared
  memory and copy it there once more. A payload that the node only passes on is not copied back.
- "region": five nodes in one worker, which is asked once for all of them, beside one node there.
- "720p inverted": as before, but the node makes a new frame; with `output.empty` it lies where it is read.

    python benchmarks/processes.py [--rounds 5] [--short] [--json FILE]
"""

from __future__ import annotations

import mmap
import multiprocessing
import os
import statistics
import sys
from concurrent.futures import Future, ProcessPoolExecutor
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np
from expected import expect
from side_by_side import Bar, Benchmark, Case, Contestant, Measurements, main, parser

import penstock as host

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

FIGURE = "us a packet"
WORK, SMALL, ECHO, INVERTED = "5 ms of Python", "small packet", "720p echo", "720p inverted"
WORKER, EMPTY, LOCAL = "penstock, worker", "penstock, worker, output.empty", "penstock, local node"
REGION, IN_REGION = "penstock, region of 5", 5
POOL, BARE = "ProcessPoolExecutor", "bare processes"
POOL_NODE = "penstock, node on ProcessPoolExecutor"
PROCESSES = 4
SHAPE = (720, 1280, 3)
WARM_UP = 20
#: Rounds of the loop of about 5 ms.
LOOP = 85_000
END = b"end"
PATIENCE_S = 10.0


def pure(size: int) -> int:
    """Work in Python; `size` is rounds of the loop."""
    total = 0
    for number in range(size):
        total = (total * 31 + number) & 0xFFFF
    return total


def same(value: Any) -> Any:
    """Return the value."""
    return value


def inverted(frame: Any) -> Any:
    """Return a new frame."""
    return np.bitwise_not(frame)


@host.register_calculator
@host.calculator
def bench_pure(size: int) -> int:
    """Work in Python."""
    return pure(size)


@host.register_calculator
@host.calculator
def bench_same(value: object) -> object:
    """Pass the value on."""
    return value


@host.register_calculator
@host.calculator
def bench_inverted(value: object) -> object:
    """Return a new frame."""
    return inverted(value)


@host.register_calculator
class BenchEmpty(host.Calculator):
    """Makes a new frame where its packet lies."""

    @classmethod
    def get_contract(cls, cc: host.CalculatorContract) -> None:
        """Declare a stream of arrays."""
        cc.inputs["VALUE"].set_any()
        cc.outputs["OUT"].set_any()
        cc.set_timestamp_offset(0)

    def process(self, cc: host.CalculatorContext) -> None:
        """Invert a frame."""
        source = cc.inputs["VALUE"].payload
        target = cc.outputs["OUT"].empty(source.shape, source.dtype)
        np.bitwise_not(source, out=target)
        cc.outputs["OUT"].add(target, cc.input_timestamp)


@host.register_calculator
class BenchPooled(host.Calculator):
    """Gives its payload to a process pool, and returns a future, as nodes could before there were workers."""

    @classmethod
    def get_contract(cls, cc: host.CalculatorContract) -> None:
        """Declare streams of anything."""
        cc.inputs["VALUE"].set_any()
        cc.outputs["OUT"].set_any()
        cc.set_timestamp_offset(0)

    def open(self, cc: host.CalculatorContext) -> None:  # noqa: ARG002  # the interface
        """Start the pool."""
        self._pool = ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("forkserver"))

    def process(self, cc: host.CalculatorContext) -> Any:
        """Submit the payload."""
        ended: Future[None] = Future()
        stamp = cc.input_timestamp

        def write(asked: Future[Any]) -> None:
            try:
                cc.outputs["OUT"].add(asked.result(), stamp)
            except Exception as error:  # noqa: BLE001  # an error of the node
                ended.set_exception(error)
            else:
                ended.set_result(None)

        self._pool.submit(same, cc.inputs["VALUE"].payload).add_done_callback(write)
        return ended

    def close(self, cc: host.CalculatorContext) -> None:  # noqa: ARG002  # the interface
        """End the pool."""
        self._pool.shutdown()


TASKS: dict[str, tuple[str, str, Callable[[Any], Any]]] = {
    "pure": ("BenchPure", "SIZE", pure),
    "same": ("BenchSame", "VALUE", same),
    "pooled": ("BenchPooled", "VALUE", same),
    "inverted": ("BenchInverted", "VALUE", inverted),
    "empty": ("BenchEmpty", "VALUE", inverted),
}


class Asked:
    """A graph with a chain of nodes, whose caller waits for each output.

    Args:
        tasks: of the nodes; names of `TASKS`.
        executor: type and options of the nodes' executor; "" for the default one.
        in_flight: calls of each node that may overlap.
    """

    def __init__(self, *tasks: str, executor: str = "", in_flight: int = 1) -> None:
        head = f'executor {{ name: "w" {executor} }}' if executor else ""
        node = 'executor: "w"' if executor else ""
        nodes = "".join(
            f"""node {{
              calculator: "{calculator}" {node} max_in_flight: {in_flight}
              input_stream: "{tag}:s{number}" output_stream: "OUT:s{number + 1}"
            }}"""
            for number, (calculator, tag, _) in enumerate(TASKS[task] for task in tasks)
        )
        self._graph = host.CalculatorGraph(f'input_stream: "s0" {head} max_queue_size: -1 {nodes}')
        self._number = 0
        self.result: Any = None
        self._poller = self._graph.add_output_stream_poller(f"s{len(tasks)}")
        self._graph.start_run()

    def add(self, value: Any) -> None:
        """Add a packet."""
        self._graph.add_packet_to_input_stream("s0", host.Packet(value, self._number))
        self._number += 1

    def wait(self) -> Any:
        """Wait for an output, and return it."""
        packet = self._poller.next(timeout=PATIENCE_S)
        self.result = None if packet is None else packet.payload
        return self.result

    def ask(self, value: Any) -> Any:
        """Add a packet, and wait for its result."""
        self.add(value)
        return self.wait()

    def end(self) -> None:
        """End the graph."""
        self.result = None
        self._graph.close()


def workers(count: int) -> str:
    """Return an executor with so many processes; neighbours share one."""
    fields = f"num_processes: {count} colocate {{ }}"
    options = f"options {{ [penstock_processes.ProcessExecutorOptions.ext] {{ {fields} }} }}"
    return f'type: "ProcessExecutor" {options}'


def value_of(task: str) -> Any:
    """Return what a packet carries."""
    if task == "pure":
        return LOOP
    return np.full(SHAPE, 7, np.uint8)


def timed(ask: Callable[[Any], Any], value: Any, packets: int, task: str) -> dict[str, float]:
    """Return the median time of a call of `ask`."""
    right = TASKS[task][2](value)
    times = []
    for number in range(WARM_UP + packets):
        begin = perf_counter()
        result = ask(value)
        if number >= WARM_UP:
            times.append((perf_counter() - begin) * 1e6)
        if number % 50 == 0:
            expect(np.array_equal(result, right), 1, "right results")
        del result
    return {FIGURE: statistics.median(times)}


def penstock(task: str, packets: int, small: bool, in_worker: bool, nodes: int = 1) -> dict[str, float]:  # noqa: FBT001  # settings
    """Time a chain of nodes, one packet at a time."""
    asked = Asked(*[task] * nodes, executor=workers(1) if in_worker else "")
    try:
        return timed(asked.ask, 1 if small else value_of(task), packets, task)
    finally:
        asked.end()


def pool(task: str, packets: int, small: bool) -> dict[str, float]:  # noqa: FBT001  # settings
    """Time `submit().result()`."""
    call = TASKS[task][2]
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("forkserver")) as processes:

        def ask(value: Any) -> Any:
            return processes.submit(call, value).result()

        return timed(ask, 1 if small else value_of(task), packets, task)


def penstock_throughput(packets: int) -> dict[str, float]:
    """Time a node with four calls in flight in four workers."""
    asked = Asked("pure", executor=workers(PROCESSES), in_flight=PROCESSES)
    for _ in range(WARM_UP):
        asked.add(LOOP)
    for _ in range(WARM_UP):
        asked.wait()
    begin = perf_counter()
    for _ in range(packets):
        asked.add(LOOP)
    for _ in range(packets):
        asked.wait()
    spent = perf_counter() - begin
    expect(asked.result, pure(LOOP), "result")
    asked.end()
    return {FIGURE: spent / packets * 1e6}


def pool_throughput(packets: int) -> dict[str, float]:
    """Time `map` on four processes."""
    with ProcessPoolExecutor(PROCESSES, mp_context=multiprocessing.get_context("forkserver")) as processes:
        list(processes.map(pure, [LOOP] * WARM_UP))
        begin = perf_counter()
        results = list(processes.map(pure, [LOOP] * packets))
        spent = perf_counter() - begin
    expect(set(results), {pure(LOOP)}, "results")
    return {FIGURE: spent / packets * 1e6}


def bare(task: str, packets: int) -> dict[str, float]:
    """Time a frame that is copied into memory which another process has too, and copied or inverted there."""
    size = int(np.prod(SHAPE))
    file = os.memfd_create("bench")
    os.ftruncate(file, 2 * size)
    memory = np.frombuffer(mmap.mmap(file, 2 * size), np.uint8)
    there, back = memory[:size].reshape(SHAPE), memory[size:].reshape(SHAPE)
    ours, theirs = multiprocessing.Pipe()
    child = multiprocessing.get_context("fork").Process(target=serve, args=(theirs, there, back, task))
    child.start()
    theirs.close()

    def ask(value: Any) -> Any:
        there[:] = value
        ours.send_bytes(b"go")
        ours.recv_bytes()
        return back

    try:
        return timed(ask, value_of(task), packets, task)
    finally:
        ours.send_bytes(END)
        child.join(PATIENCE_S)
        os.close(file)


def serve(pipe: Any, there: Any, back: Any, task: str) -> None:
    """Do what the other process asks for, until it says that this is the end."""
    while pipe.recv_bytes() != END:
        if task == "same":
            back[:] = there
        else:
            np.bitwise_not(there, out=back)
        pipe.send_bytes(b"done")


def bare_small(packets: int) -> dict[str, float]:
    """Time a pipe there and back."""
    ours, theirs = multiprocessing.Pipe()
    child = multiprocessing.get_context("fork").Process(target=echo, args=(theirs,))
    child.start()
    theirs.close()

    def ask(value: Any) -> Any:
        ours.send(value)
        return ours.recv()

    try:
        return timed(ask, 1, packets, "same")
    finally:
        ours.send(None)
        child.join(PATIENCE_S)


def echo(pipe: Any) -> None:
    """Send back what comes, until it is None."""
    while (value := pipe.recv()) is not None:
        pipe.send(value)


def bar(case: str, one: str, other: str, limit: float) -> Bar:
    """Return a bar on the ratio of two contestants of a case."""

    def value(measured: Measurements) -> float | None:
        return measured.ratio(case, name(one, case), name(other, case), FIGURE)

    return Bar(f"{case}: {one}, x {other}", "at most", limit, value)


def name(contestant: str, case: str) -> str:
    """Return the unique name of a contestant of a case."""
    return f"{contestant} ({case})"


def more_than_local(measured: Measurements) -> float | None:
    """Return how many microseconds a worker takes more than a local node."""
    worker, local = (measured.median(SMALL, name(one, SMALL), FIGURE) for one in (WORKER, LOCAL))
    return None if worker is None or local is None else worker - local


def benchmark() -> tuple[Benchmark, argparse.Namespace]:
    """Return the benchmark that the command line defines, and the parsed options."""
    given = parser(__doc__).parse_args()
    times = 0.1 if given.short else 1
    contestants: list[Contestant] = []
    cases: list[Case] = []

    def case(title: str, packets: int, entries: dict[str, tuple[str, dict[str, Any]]]) -> None:
        names = []
        for contestant, (function, settings) in entries.items():
            names.append(name(contestant, title))
            contestants.append(Contestant(names[-1], f"processes:{function}", settings))
        cases.append(Case(title, {"packets": int(packets * times)}, tuple(names)))

    def frames(task: str) -> dict[str, tuple[str, dict[str, Any]]]:
        found = {WORKER: ("penstock", {"task": task, "small": False, "in_worker": True})}
        if task == "same":
            found[REGION] = (
                "penstock",
                {"task": task, "small": False, "in_worker": True, "nodes": IN_REGION},
            )
        if task == "inverted":
            found[EMPTY] = ("penstock", {"task": "empty", "small": False, "in_worker": True})
        found[LOCAL] = ("penstock", {"task": task, "small": False, "in_worker": False})
        found[POOL] = ("pool", {"task": task, "small": False})
        found[BARE] = ("bare", {"task": task})
        return found

    case(WORK, 400, {WORKER: ("penstock_throughput", {}), POOL: ("pool_throughput", {})})
    small = {"task": "same", "small": True}
    case(
        SMALL,
        2000,
        {
            WORKER: ("penstock", {**small, "in_worker": True}),
            REGION: ("penstock", {**small, "in_worker": True, "nodes": IN_REGION}),
            LOCAL: ("penstock", {**small, "in_worker": False}),
            POOL_NODE: ("penstock", {"task": "pooled", "small": True, "in_worker": False}),
            POOL: ("pool", small),
            BARE: ("bare_small", {}),
        },
    )
    case(ECHO, 300, frames("same"))
    case(INVERTED, 300, frames("inverted"))
    return Benchmark(
        claim="Nodes in workers cost little more than bare processes.",
        figure=FIGURE,
        base=contestants[0].name,
        cases=cases,
        contestants=contestants,
        bars=[
            bar(WORK, WORKER, POOL, 1.05),
            bar(SMALL, WORKER, POOL_NODE, 0.3),
            Bar(f"{SMALL}: worker less local node, us", "at most", 90.0, more_than_local),
            bar(ECHO, WORKER, BARE, 1.5),
            bar(INVERTED, EMPTY, BARE, 1.2),
            bar(ECHO, WORKER, POOL, 0.2),
            bar(SMALL, REGION, WORKER, 1.3),
            bar(ECHO, REGION, WORKER, 1.3),
        ],
    ), given


if __name__ == "__main__":
    sys.exit(main(*benchmark()))
