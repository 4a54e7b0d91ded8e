"""Drivers that run: programs of their own, each with workers of its own, which start together when told.

`Drivers` is the side of the one that measures. A driver makes its graph once, and then does lists of events:
as fast as the graph takes them, or one at a time.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import statistics
from contextlib import suppress
from time import perf_counter, process_time
from typing import TYPE_CHECKING, Any, Final, Self

import attrs
from expected import expect
from side_by_side import busy_s

import penstock
from scale.work import WARM_UP, graph_text

if TYPE_CHECKING:
    from collections.abc import Sequence
    from multiprocessing.connection import Connection

    from scale.work import Layout, Where

PATIENCE_S: Final = 120.0


@attrs.frozen
class Ran:
    """What a driver says after a list of events."""

    #: How many it has done.
    events: int
    #: `began`, `ended`: seconds of the machine's clock, the same for all processes.
    began: float
    ended: float
    #: `driver_s`, `workers_s`: processor seconds of the driver, and of its workers.
    driver_s: float
    workers_s: float
    #: Processors that other work of the machine kept busy meanwhile.
    others: float
    #: Median seconds from giving an event to its result, if they were given one at a time.
    trip_s: float = 0.0


class Driver:
    """The graph of one driver.

    Args:
        layout: its replicas and workers.
        where: the replicas are.
    """

    def __init__(self, layout: Layout, where: Where = "workers") -> None:
        self._number = 0
        self._seen = 0
        #: Worker → its processor time at its first and its last event, and its events after the first.
        self._used: dict[int, list[float]] = {}
        self._graph: Final = penstock.CalculatorGraph(graph_text(layout, where))
        self._graph.observe_output_stream("done", self._see)
        self._graph.start_run()
        self._give([str(number) for number in range(WARM_UP)], 0.0, 0.0)
        self._graph.wait_until_idle(timeout=PATIENCE_S)

    def _see(self, _stream: str, packet: penstock.Packet) -> None:
        self._seen += 1
        told: Any = packet.payload
        worker, used = told
        known = self._used.setdefault(worker, [used, used, -1])
        known[1] = max(known[1], used)
        known[2] += 1

    def _give(self, keys: Sequence[str], compute_us: float, wait_us: float) -> None:
        for number, key in enumerate(keys, self._number):
            self._graph.add_packet_to_input_stream(
                "event", penstock.Packet((key, compute_us, wait_us), number)
            )
        self._number += len(keys)

    def run(
        self,
        keys: Sequence[str],
        compute_us: float = 0.0,
        wait_us: float = 0.0,
        *,
        one_by_one: bool = False,
    ) -> Ran:
        """Do an event for each key.

        Args:
            keys: of the events.
            compute_us: microseconds that each works in Python.
            wait_us: microseconds that each works on a device.
            one_by_one: whether each is given when the one before is done.

        Raises:
            WrongResultError: there are more or fewer results than events.
        """
        self._seen = 0
        self._used.clear()
        work = compute_us, wait_us
        trips = []
        busy, began, used = busy_s() or 0.0, perf_counter(), process_time()
        if one_by_one:
            for key in keys:
                before = perf_counter()
                self._give([key], *work)
                self._graph.wait_until_idle(timeout=PATIENCE_S)
                trips.append(perf_counter() - before)
        else:
            self._give(keys, *work)
            self._graph.wait_until_idle(timeout=PATIENCE_S)
        ended, used = perf_counter(), process_time() - used
        expect(self._seen, len(keys), "events done")
        told = self._used.values()
        each = sum(last - first for first, last, _ in told) / max(1, sum(count for _, _, count in told))
        trip = statistics.median(trips) if trips else 0.0
        workers_s = each * len(keys)
        others = max(0.0, (busy_s() or 0.0) - busy - used - workers_s) / (ended - began)
        return Ran(len(keys), began, ended, used, workers_s, others, trip)

    def restart_s(self) -> float:
        """Kill the worker of a stateless layout; return the seconds until the next event is done.

        That includes noticing, starting another worker, and doing the event.
        """
        self.run(["0"])
        [worker] = self._used
        os.kill(worker, signal.SIGKILL)
        return self.run(["0"], one_by_one=True).trip_s

    def close(self) -> None:
        """End the graph and its workers."""
        self._graph.close()


def _serve(pipe: Connection, layout: Layout) -> None:
    """Be a driver: take lists of keys, and do each when told."""
    driver = Driver(layout)
    try:
        pipe.send("ready")
        while (given := pipe.recv()) is not None:
            pipe.send("ready")
            pipe.recv()
            pipe.send(driver.run(*given))
    finally:
        driver.close()


class Drivers:
    """Programs that run drivers; a context manager, which ends them.

    Args:
        count: how many.
        layout: of each.
    """

    def __init__(self, count: int, layout: Layout) -> None:
        context = multiprocessing.get_context("spawn")
        self._pipes: list[Connection] = []
        self._processes: list[Any] = []
        for _ in range(count):
            ours, theirs = context.Pipe()
            process = context.Process(target=_serve, args=(theirs, layout))
            process.start()
            theirs.close()
            self._pipes.append(ours)
            self._processes.append(process)

    def __enter__(self) -> Self:
        try:
            for pipe in self._pipes:
                _answer(pipe)
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the drivers; those that do not answer are killed."""
        for pipe in self._pipes:
            with suppress(OSError):  # it has died
                pipe.send(None)
        for process in self._processes:
            process.join(PATIENCE_S)
            process.kill()

    def run(self, keys: Sequence[Sequence[str]], compute_us: float = 0.0, wait_us: float = 0.0) -> list[Ran]:
        """Let as many drivers as there are lists do their keys, all at the same time; the others rest."""
        pipes = self._pipes[: len(keys)]
        for pipe, some in zip(pipes, keys, strict=True):
            pipe.send((some, compute_us, wait_us))
        for pipe in pipes:
            _answer(pipe)
        for pipe in pipes:
            pipe.send("go")
        return [_answer(pipe) for pipe in pipes]


def _answer(pipe: Connection) -> Any:
    """Return what a driver says.

    Raises:
        TimeoutError: it says nothing.
        RuntimeError: it has died; its error is on stderr.
    """
    if not pipe.poll(PATIENCE_S):
        raise TimeoutError(f"a driver has not answered after {PATIENCE_S:.0f} s")
    try:
        return pipe.recv()
    except EOFError:
        raise RuntimeError("a driver has died; what it wrote to stderr says why") from None
