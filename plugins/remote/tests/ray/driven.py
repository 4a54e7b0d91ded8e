"""Graphs whose nodes are on a cluster, and what feeds them."""

from __future__ import annotations

import threading
import time

import penstock
from penstock.errors import GraphRunError

PATIENCE_S = 60.0


class Driven:
    """A graph with one input "in" and one output "out", and what came out."""

    def __init__(self, graph):
        self.graph = graph
        self.got = []
        graph.observe_output_stream("out", lambda _, packet: self.got.append(packet.payload))

    def run(self, *payloads):
        """Run the graph on payloads; return what came out."""
        self.got = []
        self.graph.start_run()
        self.add(*payloads)
        self.graph.close_all_input_streams()
        self.graph.wait_until_done(PATIENCE_S)
        return self.got

    def add(self, *payloads, start=0):
        for number, payload in enumerate(payloads, start):
            self.graph.add_packet_to_input_stream("in", penstock.Packet(payload, number * 100))


def text_of(nodes, options):
    """Return the text of a chain of nodes, each (calculator, what else stands in it), on a cluster."""
    names = ["in", *(f"s{n}" for n in range(1, len(nodes))), "out"]
    lines = [
        'input_stream: "in" executor { name: "cluster" type: "RayExecutor"',
        f"options {{ [penstock_ray.RayExecutorOptions.ext] {{ {options} }} }} }}",
    ]
    lines += [
        f'node {{ calculator: "{calculator}" executor: "cluster" input_stream: "{names[n]}" '
        f'output_stream: "{names[n + 1]}" {more} }}'
        for n, (calculator, more) in enumerate(nodes)
    ]
    return "\n".join(lines)


class Fed:
    """A graph that a thread feeds with numbers until `end` is called."""

    def __init__(self, graph, got):
        self.graph = graph
        self.got = got
        self.added = 0
        self.error = None
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._feed)
        graph.start_run()
        self._thread.start()

    def _feed(self):
        try:
            while not self._done.is_set():
                packet = penstock.Packet(self.added, self.added)
                self.graph.add_packet_to_input_stream("in", packet, timeout=PATIENCE_S)
                self.added += 1
            self.graph.close_all_input_streams()
        except GraphRunError as error:
            self.error = error

    def wait_for(self, count, within_s):
        """Wait until so many packets have come; return the seconds that it took."""
        begin = time.monotonic()
        while len(self.got) < count:
            assert self.error is None, self.error
            assert time.monotonic() - begin < within_s, self.graph.why()
            time.sleep(0.002)
        return time.monotonic() - begin

    def end(self):
        self._done.set()
        self._thread.join(PATIENCE_S)
        assert not self._thread.is_alive()
