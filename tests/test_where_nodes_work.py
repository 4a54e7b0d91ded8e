"""One graph file on threads, in workers and on a cluster: only its executor's line differs."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import penstock
from penstock_record import RecordingReader
from penstock_record.recording_writer import PACKET

pytestmark = pytest.mark.heavy

# Before Ray is imported: `uv run pytest` is no reason for actors to make environments of their own.
os.environ.setdefault("RAY_ENABLE_UV_RUN_RUNTIME_ENV", "0")
os.environ.setdefault("RAY_AUTH_MODE", "disabled")  # the cluster is on this machine alone

EDGES = Path(__file__).resolve().parent.parent / "examples" / "edge_overlay.pbtxt"
PATTERN = "test_pattern { width: 160 height: 96 fps: 25 frames: 40 }"
MOVED = ("ColorConvertCalculator", "CannyEdgeCalculator", "ImageOverlayCalculator")
THREADS = 'type: "ThreadPoolExecutor" options { [penstock.ThreadPoolExecutorOptions.ext] { num_threads: 2 } }'
WORKERS = 'type: "ProcessExecutor"'
REGION = WORKERS + " options { [penstock_processes.ProcessExecutorOptions.ext] { colocate { } } }"
CLUSTER = 'type: "RayExecutor"'
needs_ray = pytest.mark.skipif(
    importlib.util.find_spec("ray") is None, reason='no Ray: pip install "penstock-remote[ray]"'
)


def edges(executor):
    """Return the edge overlay with a short pattern, without its encoder, its filters on an executor."""
    nodes, encoder, _ = EDGES.read_text(encoding="utf-8").partition("# The file has")
    assert encoder, "the example's last node is introduced otherwise; this test cuts it off there"
    text, patterns = re.subn(r"test_pattern \{[^}]*\}", PATTERN, nodes)
    text = text.replace('input_side_packet: "output_video"', "")
    text, moved = re.subn(rf'calculator: "({"|".join(MOVED)})"', r'calculator: "\1" executor: "there"', text)
    assert (patterns, moved) == (1, len(MOVED))
    return f'executor {{ name: "there" {executor} }}\n{text}'


def painted(executor):
    """Run the graph; return (timestamp, pixels) of each painted frame."""
    seen = []
    with penstock.CalculatorGraph(edges(executor)) as graph:
        graph.observe_output_stream(
            "painted", lambda _, packet: seen.append((int(packet.timestamp), packet.payload.array.tobytes()))
        )
        graph.run()
        assert graph.ledger().adds_up
    return seen


@pytest.mark.parametrize("executor", [THREADS, WORKERS, REGION])
def test_a_recorder_records_the_same_elsewhere(executor, tmp_path):
    path = tmp_path / "run.mcap"
    text = f"""
        executor {{ name: "there" {executor} }}
        input_stream: "in"
        node {{
          calculator: "McapSinkCalculator" executor: "there" input_stream: "in"
          node_options {{
            [type.googleapis.com/penstock_record.McapSinkCalculatorOptions] {{ path: "{path}" }}
          }}
        }}
    """
    with penstock.CalculatorGraph(text) as graph:
        graph.start_run()
        for number in range(30):
            graph.add_packet_to_input_stream("in", penstock.Packet(number, number))

    with RecordingReader(path) as reader:
        assert [event.payload for event in reader.events() if event.kind == PACKET] == list(range(30))


@pytest.mark.timeout(240)
@pytest.mark.parametrize("executor", [WORKERS, REGION, pytest.param(CLUSTER, marks=needs_ray)])
def test_the_edge_overlay_paints_the_same_frames_elsewhere(executor):
    there = painted(executor)

    assert [at for at, _ in there] == [40_000 * number for number in range(40)]
    assert there == painted(THREADS)


@pytest.mark.parametrize("on", ["workers", pytest.param("cluster", marks=needs_ray)])
def test_the_example_of_shards_gives_the_same_everywhere(on) -> None:
    script = Path(__file__).parents[1] / "examples" / "sharded_events.py"
    ran = subprocess.run(
        [sys.executable, script, "--on", "threads", on, "--events", "400"],
        env={**os.environ, "RAY_ENABLE_UV_RUN_RUNTIME_ENV": "0"},
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )

    assert "all 400 events came out everywhere, the same and in the same order" in ran.stdout
