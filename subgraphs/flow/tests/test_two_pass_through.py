"""TwoPassThroughSubgraph, found by name, as a graph of its own."""

from __future__ import annotations

from pathlib import Path

import penstock
from penstock.runtime.default import default_registry


def registered() -> Path:
    path = default_registry().find("subgraph", "TwoPassThroughSubgraph")
    assert isinstance(path, Path)
    return path


def test_the_file_names_the_type_that_it_is_registered_by():
    assert 'type: "TwoPassThroughSubgraph"' in registered().read_text(encoding="utf-8").splitlines()


def test_the_plugin_says_who_provides_it():
    assert (
        default_registry().origin("subgraph", "TwoPassThroughSubgraph").distribution
        == "penstock-subgraphs-flow"
    )


def test_every_packet_of_in_leaves_at_out_unchanged():
    payloads = [object(), None, [1, 2]]

    seen: list[penstock.Packet] = []
    with penstock.CalculatorGraph(registered()) as graph:
        graph.observe_output_stream("out", lambda _, packet: seen.append(packet))
        graph.start_run()
        for timestamp, payload in zip((-5, 0, 7), payloads, strict=True):
            graph.add_packet_to_input_stream("in", penstock.Packet(payload, timestamp))

    assert [packet.timestamp for packet in seen] == [-5, 0, 7]
    assert all(packet.payload is given for packet, given in zip(seen, payloads, strict=True))
