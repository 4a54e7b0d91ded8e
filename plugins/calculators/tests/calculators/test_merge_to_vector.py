from __future__ import annotations

import numpy as np
import pytest

from penstock import GraphConfigError, PenstockError
from penstock_calculators.lists.merge_to_vector import (
    MergeDetectionsToVectorCalculator,
    MergeImagesToVectorCalculator,
)
from penstock_formats import Detection, ImageFrame
from penstock_testing import run_calculator

A, B, C = (Detection(score=[score]) for score in (0.5, 0.25, 0.125))


def test_payloads_come_in_the_order_of_the_inputs():
    run = run_calculator(
        MergeDetectionsToVectorCalculator,
        {0: [(1, A), (3, C)], 1: [(1, B), (2, B)], 2: [(3, A)]},
        outputs=[0],
    )

    assert [(int(p.timestamp), p.payload) for p in run.outputs[0]] == [(1, [A, B]), (2, [B]), (3, [C, A])]


def test_one_stream_becomes_lists_of_one():
    frame = ImageFrame(np.zeros((2, 2), np.uint8))

    run = run_calculator(MergeImagesToVectorCalculator, {0: [(1, frame)]}, outputs=[0])

    assert run.outputs[0][0].payload == [frame]


def test_a_payload_of_another_type_is_refused():
    with pytest.raises(PenstockError, match=r"carries penstock_formats\.messages\.detection_pb2\.Detection"):
        run_calculator(MergeDetectionsToVectorCalculator, {0: [(1, "no detection")]}, outputs=[0])


def test_without_inputs_the_graph_does_not_load():
    with pytest.raises(
        GraphConfigError, match="there is nothing to merge to a vector; connect untagged inputs"
    ):
        run_calculator(MergeImagesToVectorCalculator, {}, outputs=[0])
