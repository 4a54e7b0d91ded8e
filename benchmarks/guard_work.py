"""The work that `guard.py` counts the instructions of, in a process of its own: one workload, COUNT times.

    PYTHON -S benchmarks/guard_work.py WORKLOAD COUNT

Each process first imports everything, and does the workloads that were not asked for SMALL times, so that
start-up, late imports and the starts of the graphs are the same whatever WORKLOAD and COUNT are. It runs with
Penstock of any commit, and so uses only what applications use.

The clock stands almost still: each look at it moves it by a microsecond. Else the engine would take every
call for a long one under valgrind, which makes programs fifty times slower, and would choose other ways than
on a real machine. Threads give way to each other only where one waits, so that two runs do nearly the same.
"""

from __future__ import annotations

import itertools
import sys
import time
from typing import TYPE_CHECKING, Any, Final

time.perf_counter = itertools.count(0, 1e-6).__next__  # before Penstock is imported, which keeps the function
sys.setswitchinterval(60)

import penstock as host  # noqa: E402  # as above

if TYPE_CHECKING:
    from collections.abc import Callable

APPLICATION_THREAD: Final = 'executor { type: "ApplicationThreadExecutor" }'
THREAD_POOL: Final = ""
#: How many times the workloads that are not asked for are done.
SMALL: Final = 10


@host.register_calculator
class GuardedCalculator(host.Calculator):
    """Forwards each packet to the output of the same position, as PassThroughCalculator does."""

    @classmethod
    def get_contract(cls, cc: Any) -> None:
        """Take any payload."""
        for port in (*cc.inputs, *cc.outputs):
            port.set_any()
        cc.set_timestamp_offset(0)

    def open(self, cc: Any) -> None:
        """Pair the ports: to do so in each call would take a quarter of a step."""
        self._pairs = tuple(zip(cc.inputs, cc.outputs, strict=True))

    def process(self, _cc: Any) -> None:
        """Forward what came."""
        for source, target in self._pairs:
            target.add_packet(source.packet)


def chain_text(nodes: int, head: str) -> str:
    """Return the graph of a chain from stream s0 to stream s<nodes>."""
    lines = [
        f'node {{ calculator: "GuardedCalculator" input_stream: "s{i}" output_stream: "s{i + 1}" }}'
        for i in range(nodes)
    ]
    return "\n".join(['input_stream: "s0"', head, *lines])


JOIN_TEXT: Final = (
    f'input_stream: "a" input_stream: "b" {APPLICATION_THREAD} node {{ calculator: "GuardedCalculator" '
    'input_stream: "a" input_stream: "b" output_stream: "c" output_stream: "d" }'
)


def flow(text: str, inputs: tuple[str, ...], output: str, count: int) -> None:
    """Send packets through a graph that is observed.

    Raises:
        RuntimeError: other packets came out than were sent.
    """
    seen: list[object] = []
    graph = host.CalculatorGraph(text)
    graph.observe_output_stream(output, lambda _name, packet: seen.append(packet.payload))
    graph.start_run()
    for number in range(count):
        packet = host.Packet(number, number)
        for name in inputs:
            graph.add_packet_to_input_stream(name, packet)
    graph.close()
    if seen != list(range(count)):
        raise RuntimeError(f"{len(seen)} packets came out at {output!r}, not the {count} that were sent")


def chain(nodes: int, head: str, count: int) -> None:
    """Send packets through a chain."""
    flow(chain_text(nodes, head), ("s0",), f"s{nodes}", count)


def start(count: int) -> None:
    """Read, start and close graphs of 100 nodes. The texts differ, so that none serves the next one."""
    for number in range(count):
        text = chain_text(100, THREAD_POOL).replace('"s0"', f'"first_{number}"')
        graph = host.CalculatorGraph(text)
        graph.start_run()
        graph.close()


#: Name → what does it a number of times.
WORKLOADS: Final[dict[str, Callable[[int], None]]] = {
    "single": lambda count: chain(1, APPLICATION_THREAD, count),
    "chain": lambda count: chain(50, APPLICATION_THREAD, count),
    "pool": lambda count: chain(10, THREAD_POOL, count),
    "join": lambda count: flow(JOIN_TEXT, ("a", "b"), "c", count),
    "start": start,
}
#: A start is a whole graph of 100 nodes.
SMALLER: Final = {"start": 1}


def main(workload: str, count: int) -> None:
    """Do every workload, the named one `count` times."""
    for name, work in WORKLOADS.items():
        work(count if name == workload else SMALLER.get(name, SMALL))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
