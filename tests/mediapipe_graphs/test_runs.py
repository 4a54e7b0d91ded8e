"""The recorded runs: each shipped graph runs as it is, and every stream carries what was recorded."""

from __future__ import annotations

import penstock


def test_a_shipped_graph_sends_what_was_recorded_on_every_stream(run, graph_file, carried, differences):
    graph = penstock.CalculatorGraph(graph_file(run.about["graph"]))
    watch = [name for node in run.nodes for name in node.names("output_stream")]

    found = carried(graph, {"image": run.packets("image")}, run.about["side"], watch)

    for name, ours in found.items():
        records = run.streams.get(f"{name}__tap") or run.streams.get(name)
        if records or run.packets(name) is not None:
            differences.compare(name, ours, records or [])
    differences.expect_none()
