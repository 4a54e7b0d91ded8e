"""Neighbours that share a worker are one call of the driver."""

from __future__ import annotations

import contextlib
import signal

import pytest

from penstock.errors import FailedPreconditionError, GraphRunError
from penstock_processes.process_executor import ProcessExecutor
from penstock_remote.colocate import Together
from penstock_remote.errors import WorkerDiedError
from penstock_testing.random_graphs import random_graph, run_random_graph

pytestmark = pytest.mark.heavy

PATIENCE_S = 60.0
ALL = "num_processes: 2 cancel_grace_s: 0.2 colocate { }"


def nodes_of(one):
    return [node.name for node in one.graph.snapshot().nodes]


def test_a_chain_in_one_worker_is_one_node_of_the_driver(driven, nothing_left) -> None:
    one = driven("Does", "Does", "Does", options=ALL)

    assert one.run("a", "b", "c") == ["a", "b", "c"]
    assert nodes_of(one) == ["Does_1+Does_2+Does_3"]
    assert len(one.graph.snapshot().executors) == 2
    assert one.run("d") == ["d"], "the worker is warm"
    one.graph.close(PATIENCE_S)


def test_a_stream_inside_a_region_cannot_be_watched_and_the_region_has_a_place(driven, nothing_left) -> None:
    one = driven("Does", "Does", "Does", options=ALL)
    seen = []
    one.graph.start_run()
    with pytest.raises(FailedPreconditionError, match=r"'s1' stays inside another process in this run"):
        one.graph.watch_stream("s1", lambda *_: None)
    one.graph.watch_stream("in", lambda _, packet: seen.append(packet.payload))
    one.graph.watch_stream("out", lambda _, packet: seen.append(packet.payload))
    (region,) = one.graph.snapshot().nodes
    assert region.place.startswith("worker 1 (pid ")
    one.add("a")
    one.graph.close(PATIENCE_S)

    assert seen == ["a", "a"]
    assert one.got == ["a"]


def test_random_graphs_are_the_same_in_regions_of_a_worker(nothing_left) -> None:
    with contextlib.closing(ProcessExecutor(1, colocate=(Together(),))) as executor:
        packets = 0
        for seed in range(60):
            graph = random_graph(seed)
            here, there = run_random_graph(graph), run_random_graph(graph, executor)
            assert there.packets == here.packets, (seed, graph)
            assert there.counters == here.counters, (seed, graph)
            packets += sum(len(stream) for stream in here.packets.values())
    assert packets > 700, "the graphs do write something"


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_two_thousand_random_graphs_are_the_same_in_regions_of_a_worker() -> None:
    with contextlib.closing(ProcessExecutor(1, colocate=(Together(),))) as executor:
        for seed in range(1000, 3000):
            graph = random_graph(seed)
            here, there = run_random_graph(graph), run_random_graph(graph, executor)
            assert (there.packets, there.counters) == (here.packets, here.counters), (seed, graph)


def test_a_worker_that_dies_in_a_region_is_told_with_its_name(driven, nothing_left) -> None:
    one = driven("Does", "Does", options=ALL)
    one.graph.start_run()
    one.add("a", "kill")
    with pytest.raises(GraphRunError) as caught:
        one.graph.wait_until_done(PATIENCE_S)

    died = caught.value.errors[0].__cause__
    assert isinstance(died, WorkerDiedError)
    assert died.signal == signal.Signals.SIGKILL.name
    assert died.node == "Does_1+Does_2"
    assert one.run("b") == ["b"]
    one.graph.close(PATIENCE_S)


def test_a_region_that_hangs_is_killed_after_the_grace_time(driven, nothing_left) -> None:
    one = driven("Does", "Does", options=ALL)
    one.graph.start_run()
    one.add("hang")
    one.graph.cancel()
    with pytest.raises(GraphRunError, match="cancelled"):
        one.graph.wait_until_done(PATIENCE_S)
    one.graph.close(PATIENCE_S)
