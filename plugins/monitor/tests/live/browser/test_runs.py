"""Graphs that really run, seen in a browser."""

from __future__ import annotations

import os
import re
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

import penstock
import penstock_live
from penstock_formats import ImageFrame

sys.path.insert(0, str(Path(__file__).parent))
import at_work  # workers find it by this name

pytestmark = pytest.mark.heavy

PATIENCE_S = 60.0


class Feeder:
    """Adds packets to a graph at a steady pace, on a thread of its own, until it is left."""

    def __init__(self, graph, per_s, payload=lambda number: number):
        self.graph, self.per_s, self.payload = graph, per_s, payload
        self.stop = threading.Event()
        self.thread = threading.Thread(target=self.run)

    def run(self):
        began, number = time.monotonic(), 0
        while not self.stop.wait(max(0.0, began + number / self.per_s - time.monotonic())):
            self.graph.add_packet_to_input_stream("in", penstock.Packet(self.payload(number), number))
            number += 1

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.stop.set()
        self.thread.join()


@pytest.fixture
def started(stack):
    """Return a function that starts and serves a graph; it is cancelled at the end."""

    def start(text):
        graph = penstock.CalculatorGraph(text)
        graph.set_timing()
        server = stack.enter_context(penstock_live.serve(graph))
        graph.start_run()
        stack.callback(graph.cancel)
        return graph, server

    return start


def rate_shown(page, stream):
    """Return the packets per second that the picture says."""
    found = re.search(r"(?:^|[ ,])([\d.,]+)/s", " ".join(page.notes("stream", stream)))
    return float(found[1].replace(",", "")) if found else 0.0


@pytest.mark.timing
def test_rates_are_within_5_percent_of_the_ledger(page, hand, started):
    graph, server = started(hand.GRAPH)
    with Feeder(graph, per_s=100):
        page.open(server)
        page.until(lambda: rate_shown(page, "out") > 50)
        ratios = []
        for _ in range(9):
            before, began = graph.ledger(), time.monotonic()
            threading.Event().wait(1.0)  # what is shown is a rate over about a second
            after, spent = graph.ledger(), time.monotonic() - began
            for stream in ("in", "between", "out"):
                carried = added(after, stream) - added(before, stream)
                ratios.append(rate_shown(page, stream) / (carried / spent))
    ratios.sort()
    assert 0.95 <= ratios[len(ratios) // 2] <= 1.05
    assert added(graph.ledger(), "out") > 500


def added(ledger, name):
    """Return how many packets a stream has carried, by the ledger."""
    return next(one.added for one in ledger.streams if one.name == name)


@pytest.mark.timing
def test_the_culprit_of_a_stall_is_marked_within_2_seconds(page, started):
    text = """
    input_stream: "in"
    output_stream: "out"
    node { calculator: "PassThroughCalculator" name: "before" input_stream: "in" output_stream: "a" }
    node { calculator: "StopsWhenTold" name: "stuck" input_stream: "a" output_stream: "b" }
    node { calculator: "PassThroughCalculator" name: "after" input_stream: "b" output_stream: "out" }
    """
    graph, server = started(text)
    page.open(server)
    page.until(lambda: page.notes("node", "stuck"))
    spent = []
    for stall in range(3):  # the machine may be busy during one
        for number in range(20):
            graph.add_packet_to_input_stream("in", penstock.Packet(number, 21 * stall + number))
        gate = at_work.Gate()
        graph.add_packet_to_input_stream("in", penstock.Packet(gate, 21 * stall + 20))
        assert gate.is_reached.wait(PATIENCE_S)
        began = time.monotonic()
        page.until(lambda: page.texts(".is-culprit .pk-name") == ["stuck"])
        spent.append(time.monotonic() - began)
        assert "stuck" in page.text("#culprits")
        assert "stuck" in page.text("#story")
        gate.is_open.set()
        page.until(lambda: page.texts(".is-culprit") == [])
    assert min(spent) < 2.0


def test_a_frame_that_flows_is_seen(page, hand, started):
    graph, server = started(hand.GRAPH)
    frame = ImageFrame(np.full((48, 64, 3), (10, 200, 30), np.uint8))
    with Feeder(graph, per_s=30, payload=lambda _: frame):
        page.open(server)
        size = "return document.querySelector('article[data-card=out] img')?.naturalWidth"
        page.until(lambda: page.script(size) == 64)
        first = page.text("article[data-card=out] .hint")
        page.until(lambda: page.text("article[data-card=out] .hint") != first)
        assert page.text("article[data-card=out] .words") == "<ImageFrame SRGB 64x48>"


def test_each_packet_of_a_stream_on_which_they_are_rare_is_seen(page, hand, started):
    graph, server = started(hand.GRAPH)
    page.open(server)
    asked = "return performance.getEntriesByType('resource').some((one) => one.name.includes('/thumbnails'))"
    page.until(lambda: page.script(asked))
    for number in (41, 42, 43, 44):  # each is there, and gone, before the page asks for it
        graph.add_packet_to_input_stream("in", penstock.Packet(number, number))
        page.until(lambda number=number: page.text("article[data-card=out] .value") == str(number), 8.0)


def test_latency_to_the_output_is_shown(page, hand, started):
    graph, server = started(hand.GRAPH)
    with Feeder(graph, per_s=100):
        page.open(server)
        page.until(lambda: page.texts("#latency tbody th") == ["out"])
        page.until(lambda: int(page.texts("#latency td")[-1]) > 1)


def test_the_end_of_a_run_is_told_and_the_last_numbers_stay(page, hand, stack):
    graph = penstock.CalculatorGraph(hand.GRAPH)
    server = stack.enter_context(penstock_live.serve(graph))
    page.open(server)
    page.until_text("#run-state", "not started")
    page.until(lambda: page.script("return picture.layouts.length") == 2)  # a server that draws ends with 503
    graph.start_run()
    for number in range(10):
        graph.add_packet_to_input_stream("in", penstock.Packet(number, number))
    page.until_text("#run-state", "running")
    graph.close()
    page.until_text("#run-state", "over")
    page.expected = ["ERR_CONNECTION_REFUSED"]
    server.close()
    page.until_text("#connection", "gone")
    assert page.text("#run-state") == "over"
    assert page.texts("#streams tbody tr:nth-child(3) td")[3] == "10"


def test_workers_show_their_place_and_pid(page, started):
    text = """
    input_stream: "in"
    output_stream: "out"
    executor {
      name: "workers" type: "ProcessExecutor"
      options { [penstock_processes.ProcessExecutorOptions.ext] { num_processes: 1 } }
    }
    node { calculator: "WhereAmI" name: "there" executor: "workers" input_stream: "in" output_stream: "out" }
    """
    graph, server = started(text)
    with Feeder(graph, per_s=20):
        page.open(server)
        pid = page.until(lambda: page.text("article[data-card=out] .value"))
        place = page.until(lambda: [one for one in page.notes("node", "there") if one.startswith("worker")])
    assert re.fullmatch(rf"worker \d+ \(pid {pid}\)", place[0])
    assert int(pid) != os.getpid()
