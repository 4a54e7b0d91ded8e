"""Penstock graphs fed and observed from the application thread, for chain, latency and join."""

from __future__ import annotations

import threading

from penstock import CalculatorGraph, Packet

#: Graph text that chooses where the nodes run.
HEADS = {
    "default threads": "",
    "1 thread": "num_threads: 1",
    "application thread": 'executor { type: "ApplicationThreadExecutor" }',
}


class Flow:
    """A graph that gets the same number at each of its inputs, and is observed at one stream.

    Args:
        text: of the graph.
        inputs: names of the streams to feed, in this order.
        output: name of the observed stream.
        apart: whether each further input's packet is one time unit later than the one before it; else all
            inputs have the same times.
    """

    def __init__(self, text: str, inputs: tuple[str, ...], output: str, *, apart: bool = False) -> None:
        self.seen: list[object] = []
        self._inputs = inputs
        self._apart = apart
        self._graph = CalculatorGraph(text)
        self._graph.observe_output_stream(output, self._notice)
        self._graph.start_run()

    def _notice(self, _name: str, packet: Packet) -> None:
        self.seen.append(packet.payload)

    def feed(self, number: int) -> None:
        """Add the number to each input."""
        if self._apart:
            self._feed_apart(number)
            return
        packet = Packet(number, number)
        for name in self._inputs:
            self._graph.add_packet_to_input_stream(name, packet)

    def _feed_apart(self, number: int) -> None:
        for timestamp, name in enumerate(self._inputs, number * len(self._inputs)):
            self._graph.add_packet_to_input_stream(name, Packet(number, timestamp))

    def end(self) -> None:
        """Close the inputs, and wait until the run is done."""
        self._graph.close()


class IdleAsked(Flow):
    """A chain whose caller waits until it is idle."""

    def __init__(self, text: str, output: str) -> None:
        super().__init__(text, ("s0",), output)

    def ask(self, number: int) -> None:
        """Add the number, and return when it has passed the chain."""
        self.feed(number)
        self._graph.wait_until_idle()


class ObserverAsked(IdleAsked):
    """A chain whose caller waits until its observer has been called."""

    def __init__(self, text: str, output: str) -> None:
        self._came = threading.Semaphore(0)
        super().__init__(text, output)

    def _notice(self, _name: str, packet: Packet) -> None:
        self.seen.append(packet.payload)
        self._came.release()

    def ask(self, number: int) -> None:
        """Add the number, and return when it has passed the chain."""
        self.feed(number)
        self._came.acquire()
