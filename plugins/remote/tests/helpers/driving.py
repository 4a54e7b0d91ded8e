"""Graphs whose nodes work in other processes, what feeds them, and what comes back."""

from __future__ import annotations

import contextlib
import threading
import time
from pathlib import Path

import pytest
import remote_calculators

import penstock
from penstock.errors import GraphRunError
from penstock.packs import default_registry

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


#: Executor → its options, and the name that the graphs give it.
EXECUTORS = {
    "ProcessExecutor": ("penstock_processes.ProcessExecutorOptions", "workers"),
    "RayExecutor": ("penstock_ray.RayExecutorOptions", "cluster"),
}


def text_of(nodes, options, kind):
    """Return the text of a chain of nodes, each (calculator, what else stands in it), on an executor."""
    message, name = EXECUTORS[kind]
    streams = ["in", *(f"s{n}" for n in range(1, len(nodes))), "out"]
    lines = [
        f'input_stream: "in" executor {{ name: "{name}" type: "{kind}"',
        f"options {{ [{message}.ext] {{ {options} }} }} }}",
    ]
    lines += [
        f'node {{ calculator: "{calculator}" executor: "{name}" input_stream: "{streams[n]}" '
        f'output_stream: "{streams[n + 1]}" {more} }}'
        for n, (calculator, more) in enumerate(nodes)
    ]
    return "\n".join(lines)


def registry_of_tests():
    """Return a registry with the calculators of `remote_calculators`."""
    found = default_registry().child()
    for one in remote_calculators.ALL:
        found.add("calculator", one.__name__, one)
    found.add("calculator", "Doubled", remote_calculators.doubled)
    return found


@contextlib.contextmanager
def chains(registry, kind, usual):
    """Make `Driven` chains of calculators on an executor with usual options; they are closed at the end."""
    made = []

    def make(*nodes, options=usual):
        whole = [(one, "") if isinstance(one, str) else one for one in nodes]
        made.append(Driven(penstock.CalculatorGraph(text_of(whole, options, kind), registry=registry)))
        return made[-1]

    yield make
    for one in made:
        if one.graph.is_running:
            one.graph.cancel()
        with contextlib.suppress(GraphRunError):
            one.graph.close(PATIENCE_S)


def causes(error):
    """Return an exception and all that it was raised from."""
    found = []
    while error is not None:
        found.append(error)
        error = error.__cause__
    return found


def failed(one, *payloads):
    """Run a graph that fails; return the exceptions, the outermost first."""
    with pytest.raises(GraphRunError) as caught:
        one.run(*payloads)
    return causes(caught.value)


def alive(pid):
    """Return whether a process lives; one that is dead and not yet reaped does not."""
    try:
        return "Z" not in Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False


def wait_until(condition, seconds=PATIENCE_S):
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.005)
    return True


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
