"""The graphs of the pack: they load, and follow hands and faces as the files that MediaPipe ships."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from penstock import CalculatorGraph
from penstock.config import CalculatorGraphConfig
from penstock_people.graph_files import graph_text

EXPANDED = Path(__file__).resolve().parents[4].parent / "shared" / "cases" / "door" / "expanded"
#: The subgraph → the file of the reference, and its ports.
SHIPPED = {
    "HandLandmarkTrackingCpu": (
        "hand_landmark_tracking_cpu",
        ["NUM_HANDS:num_hands", "MODEL_COMPLEXITY:model_complexity", "USE_PREV_LANDMARKS:use_prev_landmarks"],
        [
            "LANDMARKS:multi_hand_landmarks",
            "WORLD_LANDMARKS:multi_hand_world_landmarks",
            "HANDEDNESS:multi_handedness",
            "PALM_DETECTIONS:palm_detections",
            "HAND_ROIS_FROM_LANDMARKS:hand_rects_from_landmarks",
            "HAND_ROIS_FROM_PALM_DETECTIONS:hand_rects_from_palm_detections",
        ],
    ),
    "FaceLandmarkFrontCpu": (
        "face_landmark_front_cpu",
        ["NUM_FACES:num_faces", "USE_PREV_LANDMARKS:use_prev_landmarks", "WITH_ATTENTION:with_attention"],
        [
            "LANDMARKS:multi_face_landmarks",
            "DETECTIONS:face_detections",
            "ROIS_FROM_LANDMARKS:face_rects_from_landmarks",
            "ROIS_FROM_DETECTIONS:face_rects_from_detections",
        ],
    ),
}


@pytest.mark.parametrize("name", ["hands", "faces", "pose"])
def test_the_graph_files_load(name):
    graph = CalculatorGraph(graph_text(f"{name}.pbtxt"))

    config = CalculatorGraphConfig.FromString(graph.binary_config)
    assert set(config.output_stream) == {"drawn", "results"}
    assert {"input_video", "output_video"} <= set(config.input_side_packet)


def test_the_hands_of_one_frame_are_computed_two_at_once():
    config = CalculatorGraphConfig.FromString(CalculatorGraph(graph_text("hands.pbtxt")).binary_config)

    parallel = {node.name: node.max_in_flight for node in config.node if node.max_in_flight > 1}
    assert list(parallel.values()) == [2]
    assert "handlandmarkcpu" in next(iter(parallel))


@pytest.mark.parametrize("subgraph", SHIPPED)
def test_a_subgraph_has_the_streams_of_the_file_that_mediapipe_ships(subgraph):
    file, sides, outputs = SHIPPED[subgraph]
    path = EXPANDED / f"{file}.expanded.pbtxt"
    if not path.exists():
        pytest.skip(f"no expanded graph of the reference: {path}")
    ports = " ".join(
        [
            *(f'input_side_packet: "{port}"' for port in sides),
            *(f'output_stream: "{port}"' for port in outputs),
        ]
    )

    ours = streams(
        CalculatorGraph(
            f'input_stream: "image" node {{ calculator: "{subgraph}" input_stream: "IMAGE:image" {ports} }}'
        )
    )

    text = path.read_text(encoding="utf-8")
    theirs = {name.rpartition(":")[2] for name in re.findall(r'^  output_stream: "(.+)"', text, re.MULTILINE)}
    assert ours == theirs


def streams(graph: CalculatorGraph) -> set[str]:
    """Return the streams of an expanded graph, without the prefix of the subgraph around all."""
    config = CalculatorGraphConfig.FromString(graph.binary_config)
    names = [entry.rpartition(":")[2] for node in config.node for entry in node.output_stream]
    return {re.sub(r"(hand|face)landmark(trackingcpu|frontcpu)__", "", name) for name in names}
