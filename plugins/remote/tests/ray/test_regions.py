"""Neighbours that share an actor are one call of the driver."""

from __future__ import annotations

import contextlib

import pytest

pytest.importorskip("ray", reason='no Ray: pip install "penstock-remote[ray]"')

from driving import PATIENCE_S

from penstock_ray.ray_executor import RayExecutor
from penstock_remote.colocate import Together
from penstock_testing.random_graphs import random_graph, run_random_graph

ALL = "cancel_grace_s: 0.2 colocate { }"


def same_in_regions(seeds):
    with contextlib.closing(RayExecutor(colocate=(Together(),))) as executor:
        packets = 0
        for seed in seeds:
            graph = random_graph(seed)
            here, there = run_random_graph(graph), run_random_graph(graph, executor)
            assert (there.packets, there.counters) == (here.packets, here.counters), (seed, graph)
            packets += sum(len(stream) for stream in here.packets.values())
    return packets


def test_random_graphs_are_the_same_in_regions_on_a_cluster(cluster) -> None:
    assert same_in_regions(range(5)) > 50


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_five_hundred_random_graphs_are_the_same_in_regions_on_a_cluster(cluster) -> None:
    assert same_in_regions(range(1000, 1500)) > 5_000


def test_what_leaves_a_region_stays_on_the_cluster_for_another_node_there(driven) -> None:
    one = driven("Echo", "Echo", "Pid", options='colocate { node: ["Echo_1", "Echo_2"] }')
    one.graph.start_run()
    one.add(b"x" * 100_000)
    one.graph.close_all_input_streams()
    one.graph.wait_until_done(PATIENCE_S)

    assert len(one.got) == 1
    assert [node.name for node in one.graph.snapshot().nodes] == ["Echo_1+Echo_2", "Pid"]
