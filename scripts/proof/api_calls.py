"""Call the methods of a graph from several threads at random, and look whether some order explains them all.

    python scripts/proof/api_calls.py                     300 sequences
    python scripts/proof/api_calls.py --count 100000 --seed 1    the long form
    python scripts/proof/api_calls.py --one 4711          one sequence, many times, with its calls

In each sequence three threads make some calls each: of the graph, of a poller, and of the rows or the monitor
of the same graph. What they return is compared with a model (`api_model`): there must be an order of the
calls that explains every result. The switch interval of the interpreter is short, and changes. A call that
does not return within ten seconds is a finding too. The exit status is 1 where there is a finding.
"""

from __future__ import annotations

import argparse
import logging
import random
import sys
import threading
import time
from typing import TYPE_CHECKING, Any, Final

from api_model import DONE, Call, explained

from penstock import Calculator, CalculatorGraph, Packet
from penstock.errors import PenstockError, WaitTimeoutError
from penstock.packs import default_registry
from penstock_monitor import Monitor

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from penstock import CalculatorContext, CalculatorContract, Registry

GRAPH: Final = (
    'input_stream: "a" output_stream: "b" num_threads: 2 '
    'node { calculator: "Pass" input_stream: "a" output_stream: "b" }'
)
#: How long a call may take that waits, in seconds, and a thread with all its calls.
PATIENCE_S: Final = 10.0
_JOIN_S: Final = 30.0
#: How often each call is drawn.
_CALLS: Final = {
    "start": 5, "add": 12, "bound": 2, "close_input": 1, "cancel": 1, "next": 8, "queue_size": 2, "reset": 1,
    "idle": 2, "wait_done": 1, "is_running": 1, "run_count": 1, "has_error": 1, "added": 2, "adds_up": 1,
    "why": 1, "wait_next": 1,
}  # fmt: skip
#: Calls that may wait until the input is closed: the last of their thread, and not of all threads.
_LAST: Final = frozenset({"wait_done", "wait_next"})
_INTERVALS: Final = (1e-6, 1e-5, 1e-4, 5e-3)


class Pass(Calculator):
    """Passes packets on."""

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Declare the ports."""
        cc.inputs[0].set_any()
        cc.outputs[0].set_any()
        cc.set_timestamp_offset(0)

    def process(self, cc: CalculatorContext) -> None:
        """Write what came."""
        cc.output.add_packet(cc.input.packet)


def registry() -> Registry:
    """Return the installed components, and `Pass`."""
    made = default_registry().child()
    made.add("calculator", "Pass", Pass)
    return made


def draw(order: random.Random) -> list[list[tuple[str, int]]]:
    """Return what each thread calls, and with which number."""
    names, weights = list(_CALLS), list(_CALLS.values())
    threads: list[list[tuple[str, int]]] = []
    stamp = 0
    for _ in range(order.choice((2, 3, 3))):
        mine: list[tuple[str, int]] = []
        for name in order.choices(names, weights, k=order.randint(2, 4)):
            stamp += order.choice((0, 1, 1))
            mine.append((name, stamp))
            if name in _LAST:
                break
        threads.append(mine)
    if order.randrange(3):
        threads[0].insert(0, ("start", 0))
    return threads


class Sequence:
    """One graph, and the calls that threads make of it."""

    def __init__(self, installed: Registry, order: random.Random) -> None:
        self.graph: Final = CalculatorGraph(GRAPH, registry=installed)
        self.poller: Final = self.graph.add_output_stream_poller("b")
        self.calls: Final[list[Call]] = []
        self.findings: Final[list[str]] = []
        self._plans: Final = draw(order)
        self._monitor = Monitor(self.graph, 0.01) if order.randrange(8) == 0 else None
        self._barrier: Final = threading.Barrier(len(self._plans))

    def run(self) -> None:
        """Make the calls, then end the graph."""
        threads = [threading.Thread(target=self._thread, args=(plan,)) for plan in self._plans]
        for thread in threads:
            thread.start()
        deadline = time.monotonic() + _JOIN_S
        pause = 0.003
        while any(thread.is_alive() for thread in threads):
            threads[0].join(pause)
            if all(thread.is_alive() <= self._waits(n) for n, thread in enumerate(threads)):
                self._call("close_input", 0)  # what waits for the end, or for a packet, returns now
                pause *= 2
            if time.monotonic() > deadline:
                self.findings.append(f"a call has not returned after {_JOIN_S:g} s")
                return
            for thread in threads[1:]:
                thread.join(0.0005)
        self._end()

    def _waits(self, number: int) -> bool:
        return self._plans[number][-1][0] in _LAST

    def _thread(self, plan: list[tuple[str, int]]) -> None:
        self._barrier.wait(PATIENCE_S)
        for name, number in plan:
            self._call(name, number)
            self._look_at_monitor()

    def _call(self, name: str, number: int) -> None:
        begin = time.perf_counter_ns()
        try:
            result = self._do(name, number)
        except WaitTimeoutError:
            result = "WaitTimeoutError"
            if name != "next":
                self.findings.append(f"{name} has not returned within {PATIENCE_S:g} s")
        except PenstockError as error:
            result = type(error).__name__
        except Exception as error:  # noqa: BLE001  # a finding, whatever it is
            result = repr(error)
            self.findings.append(f"{name} raised {error!r}")
        self.calls.append(Call(name, number, begin, time.perf_counter_ns(), result))

    def _do(self, name: str, number: int) -> Any:  # noqa: PLR0911  # one for each kind of call
        graph, poller = self.graph, self.poller
        if name == "next":
            return _stamp(poller.next(timeout=0))
        if name == "wait_next":
            return _stamp(poller.next(timeout=PATIENCE_S))
        if name == "added":
            return next(stream.added for stream in graph.snapshot().streams if stream.name == "a")
        if name == "adds_up":
            return graph.ledger().adds_up
        if name == "why":
            return bool(str(graph.why()))
        if name in {"is_running", "run_count"}:
            return getattr(graph, name)
        if name == "has_error":
            return graph.has_error()
        if name == "queue_size":
            return poller.queue_size()
        actions: dict[str, Callable[[], object]] = {
            "start": graph.start_run,
            "add": lambda: graph.add_packet_to_input_stream("a", Packet(number, number)),
            "bound": lambda: graph.set_input_stream_timestamp_bound("a", number),
            "close_input": lambda: graph.close_input_stream("a"),
            "cancel": graph.cancel,
            "reset": poller.reset,
            "idle": lambda: graph.wait_until_idle(PATIENCE_S),
            "wait_done": lambda: graph.wait_until_done(PATIENCE_S),
        }
        actions[name]()
        return DONE

    def _look_at_monitor(self) -> None:
        """Call the monitor: its readings have growing numbers, and it does not disturb the run."""
        if self._monitor is None:
            return
        first = self._monitor.reading().number
        if (second := self._monitor.reading().number) < first:
            self.findings.append(f"the monitor's reading {second} came after {first}")

    def _end(self) -> None:
        for name in ("close_input", "wait_done", "is_running"):
            self._call(name, 0)
        if self._monitor is not None:
            self._monitor.close()
        self.graph.close()
        if not self.findings and not explained(self.calls):
            self.findings.append("no order explains what the calls returned")


def _stamp(packet: Packet | None) -> int | None:
    return None if packet is None else int(packet.timestamp)


def rows_fault(installed: Registry, order: random.Random) -> str:
    """Read rows from several threads: each row goes to one of them, and a second reader is refused."""
    graph = CalculatorGraph(GRAPH, registry=installed)
    rows = graph.rows("b", timeout=PATIENCE_S)
    count = order.randint(1, 4)
    came: list[int] = []
    faults: list[str] = []

    def read() -> None:
        try:
            while (row := rows.next()) is not None:
                came.append(row.stamp)
        except PenstockError as error:
            if type(error).__name__ != "FailedPreconditionError":
                faults.append(f"rows.next() raised {error!r}")

    graph.start_run()
    threads = [threading.Thread(target=read) for _ in range(3)]
    for thread in threads:
        thread.start()
    for stamp in range(count):
        graph.add_packet_to_input_stream("a", Packet(stamp, stamp))
    graph.close_input_stream("a")
    for thread in threads:
        thread.join(_JOIN_S)
        if thread.is_alive():
            return f"rows.next() has not returned after {_JOIN_S:g} s"
    read()  # where each thread was refused before the end
    graph.close()
    if sorted(came) != list(range(count)) or not graph.ledger().adds_up:
        faults.append(f"the rows were {came}, of {count} packets")
    return "; ".join(faults)


def findings(seed: int, installed: Registry) -> Iterator[str]:
    """Make the calls of one seed; return what is wrong with them."""
    order = random.Random(seed)  # noqa: S311  # not for secrets
    sys.setswitchinterval(order.choice(_INTERVALS))
    if order.randrange(10) == 0:
        if fault := rows_fault(installed, order):
            yield fault
        return
    sequence = Sequence(installed, order)
    sequence.run()
    if sequence.findings:
        told = sorted(sequence.calls, key=lambda call: call.begin)
        first = told[0].begin if told else 0
        yield "\n".join([
            *sequence.findings,
            *(f"  {(c.begin - first) / 1e6:8.3f} to {(c.end - first) / 1e6:8.3f} ms: "
              f"{c.name}({c.argument}) → {c.result!r}" for c in told),
        ])  # fmt: skip


def main() -> int:
    """Carry out what the command line asks for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--count", type=int, default=300, help="how many sequences; 300")
    parser.add_argument("--seconds", type=float, default=0, help="end after this time")
    parser.add_argument("--seed", type=int, default=1, help="of the first sequence; 1")
    parser.add_argument("--one", type=int, metavar="SEED", help="one sequence, as often as --count says")
    given = parser.parse_args()
    logging.disable(logging.CRITICAL)
    installed = registry()
    interval = sys.getswitchinterval()
    until = time.monotonic() + given.seconds if given.seconds else float("inf")
    total = 10**9 if given.seconds else given.count
    done, found = 0, 0
    while done < total and time.monotonic() < until:
        seed = given.seed + done if given.one is None else given.one
        for finding in findings(seed, installed):
            found += 1
            print(f"seed {seed}: {finding}", file=sys.stderr, flush=True)
        done += 1
    sys.setswitchinterval(interval)
    print(f"calls from threads: {done:,} sequences, {found} findings")
    return 1 if found else 0


if __name__ == "__main__":
    raise SystemExit(main())
