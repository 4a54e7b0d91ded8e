"""Random graphs give the same on threads and in workers: packets, counters and ledger."""

from __future__ import annotations

import contextlib

import elsewhere
import pytest

import penstock
from penstock.errors import GraphRunError
from penstock_processes.options import StartMethod
from penstock_processes.process_executor import ProcessExecutor
from penstock_testing import check_executor

PATIENCE_S = 60.0


def test_random_graphs_are_the_same_on_threads_and_in_workers(nothing_left) -> None:
    with contextlib.closing(ProcessExecutor(2)) as executor:
        assert check_executor(executor, range(60)) > 700, "the graphs do write something"


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("start", ["FORKSERVER", "SPAWN"])
def test_two_thousand_random_graphs_are_the_same_on_threads_and_in_workers(start) -> None:
    with contextlib.closing(ProcessExecutor(2, start=StartMethod[start])) as executor:
        assert check_executor(executor, range(1000, 3000)) > 20_000


def feed(graph):
    graph.start_run()
    for number in range(5):
        graph.add_packet_to_input_stream("in", penstock.Packet(number, number), timeout=PATIENCE_S)
    graph.close_all_input_streams()
    graph.wait_until_done(PATIENCE_S)


def test_a_graph_that_fails_fails_with_the_same_words(registry) -> None:
    registry.add("calculator", "Three", elsewhere.Three)
    text = 'input_stream: "in" node { calculator: "Three" input_stream: "in" output_stream: "out" }'
    words = []
    for executor in (None, ProcessExecutor(1)):
        graph = penstock.CalculatorGraph(text, registry=registry)
        if executor is not None:
            graph.set_executor("", executor)
        with pytest.raises(GraphRunError) as caught:
            feed(graph)
        words.append(str(caught.value).split(" (at ")[0])
        if executor is not None:
            executor.close()

    assert words[0] == words[1]
