"""The reference: MediaPipe's C++ framework, driven from Python through its wheel (mediapipe 0.10.21)."""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from time import perf_counter
from typing import Any

os.environ["GLOG_minloglevel"] = "3"  # noqa: SIM112  # its name; set before the import, which logs

from expected import expect
from mediapipe.python import packet_creator, packet_getter
from mediapipe.python._framework_bindings import calculator_graph
from process_memory import resident_mb
from streams import Answering, chain_figures, chain_text, join_figures, join_text, latencies, turns

GET_INT = packet_getter.get_int


class _Flow:
    """A graph fed through s0, or through a and b, and observed at one stream."""

    def __init__(
        self,
        text: str,
        inputs: tuple[str, ...],
        output: str,
        *,
        apart: bool = False,
        came: threading.Semaphore | None = None,
    ) -> None:
        self._packets: list[object] = []
        self._inputs = inputs
        self._apart = apart
        self._came = came
        self._graph = calculator_graph.CalculatorGraph(graph_config=text)
        self._graph.observe_output_stream(output, self._notice)
        self._graph.start_run()

    def _notice(self, _name: str, packet: object) -> None:
        self._packets.append(packet)
        if self._came is not None:
            self._came.release()

    @property
    def seen(self) -> _Values:
        return _Values(self._packets)

    def feed(self, number: int) -> None:
        packet = packet_creator.create_int(number)
        for index, name in enumerate(self._inputs):
            timestamp = number * len(self._inputs) + index if self._apart else number
            self._graph.add_packet_to_input_stream(name, packet.at(timestamp))

    def end(self) -> None:
        self._graph.close_all_packet_sources()
        self._graph.wait_until_done()


class _Asked(_Flow):
    """A chain whose caller waits until it is idle, or until its observer has been called."""

    def __init__(self, text: str, output: str, *, by_observer: bool) -> None:
        super().__init__(text, ("s0",), output, came=threading.Semaphore(0) if by_observer else None)

    def ask(self, number: int) -> None:
        self.feed(number)
        if self._came is None:
            self._graph.wait_until_idle()
        else:
            self._came.acquire()


class _Values(Sequence[object]):
    """The ints in packets, read only on access: not while the clock runs."""

    def __init__(self, packets: list[object]) -> None:
        self._packets = packets

    def __len__(self) -> int:
        return len(self._packets)

    def __getitem__(self, index: Any) -> Any:
        return GET_INT(self._packets[index])


def chain(nodes: int, packets: int, head: str = "") -> dict[str, float]:
    """Time a chain; `head` is graph text that chooses the threads."""
    return chain_figures(lambda: _Flow(chain_text(nodes, head), ("s0",), f"s{nodes}"), nodes, packets)


def latency(nodes: int, packets: int, head: str = "", *, by_observer: bool = False) -> dict[str, float]:
    """Time one packet through a chain."""

    def make() -> Answering:
        return _Asked(chain_text(nodes, head), f"s{nodes}", by_observer=by_observer)

    return latencies(make, packets)


def join(packets: int, policy: str, head: str = "", *, apart: bool = False) -> dict[str, float]:
    """Time the pairing of two streams."""
    text = join_text(policy, head)
    return join_figures(lambda: _Flow(text, ("a", "b"), "c", apart=apart), packets)


def large_graph(nodes: int) -> dict[str, float]:
    """Time the making and the starting of a graph."""
    text = chain_text(nodes)
    before = resident_mb()
    start = perf_counter()
    graph = calculator_graph.CalculatorGraph(graph_config=text)
    made = perf_counter()
    seen: list[object] = []
    graph.observe_output_stream(f"s{nodes}", lambda _, packet: seen.append(packet))
    watched = perf_counter()
    graph.start_run()
    started = perf_counter()
    after = resident_mb()
    graph.add_packet_to_input_stream("s0", packet_creator.create_int(7).at(0))
    graph.close_all_packet_sources()
    graph.wait_until_done()
    expect([GET_INT(packet) for packet in seen], [7], "packets that came out")
    init, begin = made - start, started - watched
    return {
        "ms": (init + begin) * 1e3,
        "initialize ms": init * 1e3,
        "start ms": begin * 1e3,
        "us a node": (init + begin) / nodes * 1e6,
        "KB a node": (after - before) * 1024 / nodes,
    }


def equal_graph(nodes: int) -> dict[str, float]:
    """Time a graph from its making to its end, again and again."""
    text, output = chain_text(nodes), f"s{nodes}"

    def once() -> None:
        seen: list[object] = []
        graph = calculator_graph.CalculatorGraph(graph_config=text)
        graph.observe_output_stream(output, lambda _, packet: seen.append(packet))
        graph.start_run()
        graph.add_packet_to_input_stream("s0", packet_creator.create_int(7).at(0))
        graph.close_all_packet_sources()
        graph.wait_until_done()
        expect([GET_INT(packet) for packet in seen], [7], "packets that came out")

    return turns(once)


def memory(nodes: int, packets: int, warm_up: int) -> dict[str, float]:
    """Measure by how much memory grows while ints go through a chain."""
    count = 0

    def one_more(_name: str, packet: object) -> None:
        nonlocal count
        expect(GET_INT(packet), count, "packet that came out")
        count += 1

    graph = calculator_graph.CalculatorGraph(graph_config=chain_text(nodes))
    graph.observe_output_stream(f"s{nodes}", one_more)
    graph.start_run()
    before = 0.0
    for number in range(warm_up + packets):
        if number == warm_up:
            graph.wait_until_idle()
            before = resident_mb()
        graph.add_packet_to_input_stream("s0", packet_creator.create_int(number).at(number))
    graph.wait_until_idle()
    after = resident_mb()
    graph.close_all_packet_sources()
    graph.wait_until_done()
    expect(count, warm_up + packets, "count of packets that came out")
    return {"MB grown": after - before, "MB": after}
