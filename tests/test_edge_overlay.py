"""The edge overlay three ways: the graph of the examples, its subgraph, and the example in Python."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import penstock

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
#: Small and short: what is compared does not depend on it.
PATTERN = "test_pattern { width: 160 height: 96 fps: 25 frames: 12 }"


def example():
    """Import examples/edge_overlay.py, which is a file that runs, and no package."""
    spec = importlib.util.spec_from_file_location(
        "penstock_example_edge_overlay", EXAMPLES / "edge_overlay.py"
    )
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def without_encoder(text):
    """Return the example's graph with a short pattern, and without what writes the file."""
    nodes, encoder, _ = text.partition("# The file has")
    assert encoder, "the example's last node is introduced otherwise; this test cuts it off there"
    return short(nodes.replace('input_side_packet: "output_video"', ""))


def short(text):
    changed, count = re.subn(r"test_pattern \{[^}]*\}", PATTERN, text)
    assert count == 1
    return changed


def painted(config):
    """Run a graph on the test pattern; return (timestamp, pixels) of each painted frame."""
    seen = []
    graph = penstock.CalculatorGraph(config)
    graph.observe_output_stream(
        "painted", lambda _, packet: seen.append((int(packet.timestamp), packet.payload.array.tobytes()))
    )
    graph.run()
    return seen


def test_the_graph_with_the_subgraph_equals_the_flat_graph_packet_for_packet():
    flat = without_encoder((EXAMPLES / "edge_overlay.pbtxt").read_text(encoding="utf-8"))

    seen = painted(short(example().GRAPH))

    assert "EdgeOverlaySubgraph" not in flat
    assert seen == painted(flat)
    assert [at for at, _ in seen] == [40_000 * number for number in range(12)]


def test_the_example_shows_each_painted_frame_in_order(capsys):
    example().main([])

    lines = capsys.readouterr().out.splitlines()
    assert [re.match(r"painted at +([\d.]+) s: +[\d.]+% edge$", line)[1] for line in lines] == [
        f"{0.04 * number:.2f}" for number in range(50)
    ]
