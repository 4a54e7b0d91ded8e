"""The example that changes a filter while a video plays, and the options of that filter."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import penstock
from penstock.errors import GraphRunError
from penstock_formats import ImageFormat, ImageFrame

ROOT = Path(__file__).parent.parent
PATIENCE_S = 60.0


def test_the_changes_count_from_the_frames_that_the_example_names():
    done = subprocess.run(
        [sys.executable, str(ROOT / "examples/change_while_running.py")],
        capture_output=True,
        text=True,
        check=True,
        timeout=PATIENCE_S,
    )
    shares = [tuple(map(float, re.findall(r"([\d.]+)%", line))) for line in done.stdout.splitlines()]
    assert len(shares) == 20
    edges = [share for share, _ in shares]
    assert min(edges[:4]) > 1.5 * max(edges[4:])
    assert all(abs(edge - bright) < 0.2 for edge, bright in shares[:16])
    assert all(abs(100 - edge - bright) < 0.2 for edge, bright in shares[16:])


def frame():
    chance = np.random.default_rng(3)
    return ImageFrame(chance.integers(0, 255, (60, 80), np.uint8), ImageFormat.GRAY8)


def canny(options):
    options = f"[type.googleapis.com/penstock.CannyEdgeCalculatorOptions] {{ {options} }}"
    return f"""input_stream: "in"
        node {{ calculator: "CannyEdgeCalculator" name: "n" input_stream: "in" output_stream: "out"
               node_options {{ {options} }} }}"""


def edges(text, changed=None):
    """Return the edges of a frame at 1, after `changed` was set."""
    graph = penstock.CalculatorGraph(text)
    out = []
    graph.observe_output_stream("out", lambda _, packet: out.append(packet.payload.array))
    graph.start_run()
    graph.add_packet_to_input_stream("in", penstock.Packet(frame(), 0))
    graph.wait_until_idle(PATIENCE_S)
    if changed is not None:
        graph.set_options("n", changed)
    graph.add_packet_to_input_stream("in", penstock.Packet(frame(), 1))
    graph.close(PATIENCE_S)
    return out


def test_changed_thresholds_give_the_edges_that_a_graph_with_these_thresholds_gives():
    before, after = edges(canny("low_threshold: 100"), {"low_threshold": 20, "high_threshold": 500})
    expected = edges(canny("low_threshold: 20 high_threshold: 500"))[0]
    assert not np.array_equal(before, after)
    assert np.array_equal(after, expected)


def test_thresholds_out_of_range_end_the_run_with_the_timestamp():
    with pytest.raises(
        GraphRunError,
        match=r"failed at 1: options_changed\(\) failed: the Canny filter's low_threshold is 300",
    ):
        edges(canny(""), {"low_threshold": 300})
