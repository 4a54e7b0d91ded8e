"""The face that penstock-vision draws and refines is the one that the other packs know."""

from __future__ import annotations

from importlib import resources

import penstock_mediapipe as mp
import penstock_subgraphs_mediapipe
from penstock.config import read_graph
from penstock.plugins.default_registry import default_registry
from penstock_vision.landmarks.face_points import CONTOURS, FACE, LEFT_EYE, RIGHT_EYE


def test_the_lines_of_a_face_are_those_of_the_solutions():
    mesh = mp.solutions.face_mesh

    lines = mesh.FACEMESH_CONTOURS | mesh.FACEMESH_IRISES
    assert {frozenset(pair) for pair in CONTOURS} == {frozenset(pair) for pair in lines}
    assert len(CONTOURS) == len(lines)


def test_the_landmarks_of_eyes_are_those_that_the_graph_with_attention_refines():
    folder = resources.files(penstock_subgraphs_mediapipe)
    text = folder.joinpath("tensors_to_face_landmarks_with_attention.pbtxt").read_text("utf-8")
    graph = read_graph(text, default_registry())

    mappings = [
        tuple(refinement.indexes_mapping)
        for node in graph.node
        for packed in node.options.ListFields() or []
        for refinement in getattr(packed[1], "refinement", ())
    ]
    assert LEFT_EYE in mappings
    assert RIGHT_EYE in mappings
    assert len({*LEFT_EYE, *RIGHT_EYE}) == 142
    assert max(*LEFT_EYE, *RIGHT_EYE) < FACE
