from __future__ import annotations

import concurrent.futures
import contextlib
import sys
import threading
import weakref
from pathlib import Path

import pytest

import penstock
from penstock.errors import GraphRunError
from penstock_monitor import Monitor
from penstock_testing import ManualClock, testing_registry

sys.path.insert(0, str(Path(__file__).parent))
from looked_at import Gate, Read


@pytest.fixture
def gate():
    made = Gate()
    yield made
    made.leave.set()


@pytest.fixture
def make_graph():
    """Make graphs of calculators, on threads or inside the application's waits; they end with the test."""
    graphs, pools = [], []

    def make(text, *calculators, threads=0):
        graph = penstock.CalculatorGraph(text, registry=testing_registry(*calculators))
        if threads:
            pools.append(concurrent.futures.ThreadPoolExecutor(threads))
            graph.set_executor("", pools[-1])
        graphs.append(weakref.ref(graph))
        return graph

    yield make
    for reference in graphs:
        graph = reference()
        if graph is not None and graph.is_running:
            with contextlib.suppress(GraphRunError):
                graph.abandon(1)
    for pool in pools:
        pool.shutdown()


@pytest.fixture
def read(make_graph):
    def make(text, *calculators, clock=None, threads=0, **options):
        graph = make_graph(text, *calculators, threads=threads)
        return Read(graph, clock or ManualClock(100.0), **options)

    return make


@pytest.fixture
def monitored():
    """Make monitors; they are closed with the test."""
    made = []

    def make(graph, interval_s=0.01, **more):
        made.append(Monitor(graph, interval_s, **more))
        return made[-1]

    yield make
    for monitor in made:
        monitor.close()
    assert not [thread for thread in threading.enumerate() if thread.name == "penstock-monitor"]
