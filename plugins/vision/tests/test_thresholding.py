"""ThresholdingCalculator: what is above."""

from __future__ import annotations

import numpy as np
import pytest

from penstock.errors import GraphRunError, PenstockError
from penstock_testing import run_calculator
from penstock_vision.messages.thresholding_pb2 import ThresholdingCalculatorOptions
from penstock_vision.thresholding import ThresholdingCalculator

OUTPUTS = ["FLAG", "ACCEPT", "REJECT"]


def compare(numbers, thresholds=None, side=None, outputs=OUTPUTS, **options):
    inputs = {"FLOAT": numbers}
    if thresholds is not None:
        inputs["THRESHOLD"] = thresholds
    run = run_calculator(
        ThresholdingCalculator,
        inputs,
        outputs=outputs,
        side_packets={} if side is None else {"THRESHOLD": side},
        options=ThresholdingCalculatorOptions(**options),
    )
    return {tag: [(int(one.timestamp), one.payload) for one in run.outputs[tag]] for tag in outputs}


def test_a_number_above_is_accepted_and_others_are_rejected():
    found = compare([(1, 0.75), (2, 0.25)], threshold=0.5)

    assert found == {"FLAG": [(1, True), (2, False)], "ACCEPT": [(1, True)], "REJECT": [(2, False)]}


def test_an_equal_number_is_not_above():
    assert compare([(1, 0.5)], threshold=0.5, outputs=["FLAG"]) == {"FLAG": [(1, False)]}


def test_the_threshold_is_compared_in_double_precision():
    # 0.1 of 32 bits is above 0.1 of 64
    assert compare([(1, float(np.float32(0.1)))], threshold=0.1, outputs=["FLAG"]) == {"FLAG": [(1, True)]}


def test_a_number_of_numpy_gives_a_bool_of_python():
    ((_, found),) = compare([(1, np.float64(0.75))], threshold=0.5, outputs=["FLAG"])["FLAG"]

    assert found is True


def test_a_side_packet_is_the_threshold():
    assert compare([(1, 0.75)], side=0.8)["REJECT"] == [(1, False)]


def test_the_last_packet_of_the_stream_is_the_threshold():
    found = compare([(1, 0.5), (2, 0.5), (3, 0.5)], [(1, 0.25), (3, 0.75)])

    assert found["FLAG"] == [(1, True), (2, True), (3, False)]


def test_without_any_the_threshold_is_zero():
    assert compare([(1, 0.0), (2, 1e-9)])["FLAG"] == [(1, False), (2, True)]


def test_a_threshold_without_a_number_is_refused():
    with pytest.raises(GraphRunError, match="has no packet, but THRESHOLD has one"):
        compare([(2, 0.5)], [(1, 0.25), (2, 0.25)])


@pytest.mark.parametrize(
    "given",
    [
        {"thresholds": [], "threshold": 0.5},
        {"side": 0.5, "threshold": 0.5},
        {"thresholds": [], "side": 0.5},
        {"side": 0.5, "threshold": 0.0},
    ],
)
def test_two_thresholds_are_refused(given):
    with pytest.raises(PenstockError, match="THRESHOLD"):
        compare([(1, 0.75)], **given)
