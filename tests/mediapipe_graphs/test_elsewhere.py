"""The graph of hands with its models in workers and on a cluster: the same landmarks, bit for bit."""

from __future__ import annotations

import importlib.util
import os
import re

import pytest

import penstock

# Before Ray is imported: `uv run pytest` is no reason for actors to make environments of their own.
os.environ.setdefault("RAY_ENABLE_UV_RUN_RUNTIME_ENV", "0")
os.environ.setdefault("RAY_AUTH_MODE", "disabled")  # the cluster is on this machine alone

#: What takes most of the time: tensors of images, models, and what they say.
MOVED = ("ImageToTensorCalculator", "InferenceCalculatorCpu", "TensorsToDetectionsCalculator")
RESULTS = ("multi_hand_landmarks", "multi_handedness", "palm_detections")
#: Neighbours are one remote graph each.
REGIONS = "options { [penstock_processes.ProcessExecutorOptions.ext] { num_processes: 1 colocate { } } }"
ALL_NODES = r"\w+"
needs_ray = pytest.mark.skipif(
    importlib.util.find_spec("ray") is None, reason='no Ray: pip install "penstock-remote[ray]"'
)


def results(run, executor, carried, *, moved=MOVED, options=""):
    text = "\n".join(node.text for node in run.nodes)
    if executor:
        text, count = re.subn(
            rf'calculator: "({"|".join(moved)})"', r'calculator: "\1" executor: "there"', text
        )
        assert count > 4
        text = f'executor {{ name: "there" type: "{executor}" {options} }}\n{text}'
    sides = "".join(f'input_side_packet: "{name}"\n' for name in run.about["side"])
    graph = penstock.CalculatorGraph(f'input_stream: "image"\n{sides}{text}')
    return carried(graph, {"image": run.packets("image")}, run.about["side"], list(RESULTS))


@pytest.mark.timeout(240)
@pytest.mark.parametrize("executor", ["ProcessExecutor", pytest.param("RayExecutor", marks=needs_ray)])
def test_hands_are_the_same_where_their_models_run_elsewhere(hands, models, carried, executor):
    here = results(hands, "", carried)

    assert any(here[name] for name in RESULTS)
    assert results(hands, executor, carried) == here


@pytest.mark.timeout(240)
def test_hands_are_the_same_where_all_their_nodes_share_a_worker(hands, models, carried):
    here = results(hands, "", carried)

    there = results(hands, "ProcessExecutor", carried, moved=(ALL_NODES,), options=REGIONS)

    assert there == here
