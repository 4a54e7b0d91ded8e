"""The simple chain of four pass-through nodes of the first document."""

from __future__ import annotations

NAME = "main_pass_throughcals_nosubgraph"
STREAMS = ["in", "out1", "out2", "out3", "out4"]


def test_every_stream_of_the_chain_carries_the_packets_of_the_input(bench, graph_text):
    bench.start(graph_text(NAME), watch=STREAMS)
    sent = [(t, object()) for t in (-3, 0, 1, 1000)]
    for t, payload in sent:
        bench.add("in", t, payload)
    bench.end()

    assert bench.seen == dict.fromkeys(STREAMS, sent)


def test_bounds_pass_through_the_whole_chain_without_a_packet(bench, graph_text):
    bench.start(graph_text(NAME), watch=["out4"], bounds=True)

    bench.graph.set_input_stream_timestamp_bound("in", 50)
    bench.idle()
    assert bench.seen["out4"] == [(49, None)]

    bench.add("in", 60, "a")
    bench.end()
    assert bench.seen["out4"] == [(49, None), (60, "a")]


def test_each_of_the_four_nodes_processes_each_packet_once(bench, graph_text):
    bench.start(graph_text(NAME))
    for t in range(5):
        bench.add("in", t, t)
    bench.end()

    assert [(node.calculator, node.steps) for node in bench.graph.snapshot().nodes] == [
        ("PassThroughCalculator", 5)
    ] * 4


def test_the_chain_runs_again_with_earlier_timestamps(bench, graph_text):
    bench.load(graph_text(NAME), watch=["out4"])
    for start in (100, 0):
        bench.graph.start_run()
        bench.add("in", start, start)
        bench.end()

    assert bench.seen["out4"] == [(100, 100), (0, 0)]
