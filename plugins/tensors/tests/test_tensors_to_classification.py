"""TensorsToClassificationCalculator: scores, labels, and which classes count."""

from __future__ import annotations

import numpy as np
import pytest

from penstock.errors import GraphConfigError, GraphRunError
from penstock_formats import Tensor
from penstock_formats.messages.label_map_pb2 import LabelMapItem
from penstock_tensors.messages.tensors_to_classification_pb2 import TensorsToClassificationCalculatorOptions
from penstock_tensors.messages.tflite_tensors_to_classification_pb2 import (
    TfLiteTensorsToClassificationCalculatorOptions,
)
from penstock_tensors.outputs.tensors_to_classification import TensorsToClassificationCalculator
from penstock_tensors.outputs.tflite_tensors_to_classification import TfLiteTensorsToClassificationCalculator
from penstock_testing import run_calculator


def run(scores, **options):
    tensors = scores if isinstance(scores, list) else [Tensor(np.array([scores], np.float32))]
    return run_calculator(
        TensorsToClassificationCalculator,
        {"TENSORS": [(3, tensors)]},
        outputs=["CLASSIFICATIONS"],
        options=TensorsToClassificationCalculatorOptions(**options),
    )


def classified(scores, **options):
    (packet,) = run(scores, **options).outputs["CLASSIFICATIONS"]
    assert packet.timestamp == 3
    return [(one.index, one.score, one.label) for one in packet.payload.classification]


def test_all_classes_in_order_without_labels():
    assert classified((0.25, 0.75)) == [(0, 0.25, ""), (1, 0.75, "")]


def test_the_best_first():
    assert classified((0.25, 0.75, 0.5), sort_by_descending_score=True) == [
        (1, 0.75, ""), (2, 0.5, ""), (0, 0.25, ""),
    ]  # fmt: skip
    assert classified((0.25, 0.75, 0.5), top_k=2) == [(1, 0.75, ""), (2, 0.5, "")]
    assert len(classified((0.25, 0.75), top_k=9)) == 2


@pytest.mark.parametrize(
    ("options", "cuts"),
    [
        ({"top_k": 1}, {"top_k is 1": 2}),
        ({"top_k": 1, "min_score_threshold": 0.25}, {"top_k is 1": 1}),
        ({"top_k": 3}, {}),
        ({"min_score_threshold": 0.5}, {}),
    ],
)
def test_the_ledger_has_what_only_top_k_left_out(options, cuts):
    assert run((0.125, 0.5, 0.25), **options).cuts == cuts


def test_a_score_equal_to_the_threshold_is_kept():
    assert [one[0] for one in classified((0.25, 0.5, 0.75), min_score_threshold=0.5)] == [1, 2]


@pytest.mark.parametrize("options", [{"ignore_classes": [1]}, {"allow_classes": [0, 2]}])
def test_classes_that_do_not_count(options):
    assert [one[0] for one in classified((0.25, 0.75, 0.5), **options)] == [0, 2]


def test_two_classes_of_one_number():
    score = float(np.float32(0.9))
    rest = float(np.float32(1) - np.float32(0.9))
    options = {"label_map": {"entries": [{"id": 0, "label": "Left"}, {"id": 1, "label": "Right"}]}}

    found = classified((0.9,), binary_classification=True, **options)

    assert found == [(0, score, "Left"), (1, rest, "Right")]
    assert classified((0.25,), binary_classification=True, top_k=1, **options) == [(1, 0.75, "Right")]


def test_labels_of_a_file(tmp_path):
    file = tmp_path / "labels.txt"
    file.write_text("cup\nplate\n\n", encoding="utf-8")

    assert classified((0.25, 0.75), label_map_path=str(file)) == [(0, 0.25, "cup"), (1, 0.75, "plate")]


def test_labels_by_items():
    items = {0: LabelMapItem(name="cup"), 1: LabelMapItem(name="plate")}

    assert classified((0.25, 0.75), label_items=items) == [(0, 0.25, "cup"), (1, 0.75, "plate")]


@pytest.mark.parametrize(
    ("scores", "options", "words"),
    [
        ([], {}, "holds 0 tensors, but a classification takes one; split the list"),
        (
            (0.5, 0.5),
            {"binary_classification": True},
            "has 2 numbers, but with binary_classification it must",
        ),
        ((0.5, 0.5), {"label_items": {0: LabelMapItem(name="a")}}, "has 2 classes, but there are 1 labels"),
        (
            (0.5,),
            {"label_map_path": "no/such/labels.txt"},
            "the resource finder has not found 'no/such/labels.txt'",
        ),
    ],
)
def test_what_does_not_fit_is_refused(scores, options, words):
    with pytest.raises(GraphRunError, match=words):
        classified(scores, **options)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"ignore_classes": [0], "allow_classes": [0]}, "both ignore_classes and allow_classes of the"),
        (
            {"label_map_path": "a", "label_items": {0: LabelMapItem(name="a")}},
            "label_map_path and label_items are set, but a",
        ),
    ],
)
def test_options_that_contradict_each_other_are_refused(options, words):
    with pytest.raises(GraphConfigError, match=words):
        classified((0.5,), **options)


ABC = {i: LabelMapItem(name=f"Class{letter}") for i, letter in enumerate("ABC")}
ENTRIES = [{"id": i, "label": item.name} for i, item in ABC.items()]


def three(calculator, message, **options):
    """Return index, score and label (None where there is none) for the scores 0, 0.5 and 1."""
    shape = (1, 1, 3, 1) if calculator is TensorsToClassificationCalculator else (1, 3)
    ran = run_calculator(
        calculator,
        {"TENSORS": [(0, [Tensor(np.array([0, 0.5, 1], np.float32).reshape(shape))])]},
        outputs=["CLASSIFICATIONS"],
        options=message(**options),
    )
    (packet,) = ran.outputs["CLASSIFICATIONS"]
    return [
        (one.index, one.score, one.label if one.HasField("label") else None)
        for one in packet.payload.classification
    ]


NEW = (TensorsToClassificationCalculator, TensorsToClassificationCalculatorOptions)
OLD = (TfLiteTensorsToClassificationCalculator, TfLiteTensorsToClassificationCalculatorOptions)


@pytest.mark.parametrize(
    ("kind", "options", "found"),
    [
        pytest.param(
            NEW, {}, [(0, 0, None), (1, 0.5, None), (2, 1, None)],
            marks=pytest.mark.reference(
                "calculators/tensor/tensors_to_classification_calculator_test.cc",
                "TensorsToClassificationCalculatorTest.CorrectOutput",
            ),
        ),
        pytest.param(
            OLD, {}, [(0, 0, None), (1, 0.5, None), (2, 1, None)],
            marks=pytest.mark.reference(
                "calculators/tflite/tflite_tensors_to_classification_calculator_test.cc",
                "TfLiteTensorsToClassificationCalculatorTest.CorrectOutput",
            ),
        ),
        pytest.param(
            NEW, {"label_map": {"entries": ENTRIES}},
            [(0, 0, "ClassA"), (1, 0.5, "ClassB"), (2, 1, "ClassC")],
            marks=pytest.mark.reference(
                "calculators/tensor/tensors_to_classification_calculator_test.cc",
                "TensorsToClassificationCalculatorTest.CorrectOutputWithLabelMap",
            ),
        ),
        pytest.param(
            NEW, {"min_score_threshold": 0.6}, [(2, 1, None)],
            marks=pytest.mark.reference(
                "calculators/tensor/tensors_to_classification_calculator_test.cc",
                "TensorsToClassificationCalculatorTest.CorrectOutputWithLabelMinScoreThreshold",
            ),
        ),
        pytest.param(
            OLD, {"min_score_threshold": 0.6}, [(2, 1, None)],
            marks=pytest.mark.reference(
                "calculators/tflite/tflite_tensors_to_classification_calculator_test.cc",
                "TfLiteTensorsToClassificationCalculatorTest.CorrectOutputWithLabelMinScoreThreshold",
            ),
        ),
        pytest.param(
            NEW, {"top_k": 2}, [(2, 1, None), (1, 0.5, None)],
            marks=pytest.mark.reference(
                "calculators/tensor/tensors_to_classification_calculator_test.cc",
                "TensorsToClassificationCalculatorTest.CorrectOutputWithTopK",
            ),
        ),
        pytest.param(
            OLD, {"top_k": 2}, [(2, 1, None), (1, 0.5, None)],
            marks=pytest.mark.reference(
                "calculators/tflite/tflite_tensors_to_classification_calculator_test.cc",
                "TfLiteTensorsToClassificationCalculatorTest.CorrectOutputWithTopK",
            ),
        ),
        pytest.param(
            NEW, {"sort_by_descending_score": True}, [(2, 1, None), (1, 0.5, None), (0, 0, None)],
            marks=pytest.mark.reference(
                "calculators/tensor/tensors_to_classification_calculator_test.cc",
                "TensorsToClassificationCalculatorTest.CorrectOutputWithSortByDescendingScore",
            ),
        ),
        pytest.param(
            NEW, {"label_items": ABC, "allow_classes": [1]}, [(1, 0.5, "ClassB")],
            marks=pytest.mark.reference(
                "calculators/tensor/tensors_to_classification_calculator_test.cc",
                "TensorsToClassificationCalculatorTest.ClassNameAllowlistWithLabelItems",
            ),
        ),
        pytest.param(
            NEW, {"label_items": ABC, "ignore_classes": [1]}, [(0, 0, "ClassA"), (2, 1, "ClassC")],
            marks=pytest.mark.reference(
                "calculators/tensor/tensors_to_classification_calculator_test.cc",
                "TensorsToClassificationCalculatorTest.ClassNameIgnorelistWithLabelItems",
            ),
        ),
    ],
)  # fmt: skip
def test_three_classes_as_in_the_reference(kind, options, found):
    assert three(*kind, **options) == found


@pytest.mark.reference(
    "calculators/tensor/tensors_to_classification_calculator_test.cc",
    "TensorsToClassificationCalculatorTest.CorrectOutputWithLabelMapPath",
)
@pytest.mark.reference(
    "calculators/tflite/tflite_tensors_to_classification_calculator_test.cc",
    "TfLiteTensorsToClassificationCalculatorTest.CorrectOutputWithLabelMapPath",
)
@pytest.mark.parametrize(("kind", "folder"), [(NEW, "tensor"), (OLD, "tflite")])
def test_the_labels_of_the_references_file(reference_file, kind, folder):
    path = reference_file(f"calculators/{folder}/labelmap.txt")

    found = three(*kind, label_map_path=str(path))

    assert [one[:2] for one in found] == [(0, 0), (1, 0.5), (2, 1)]
    assert [label for _, _, label in found] == path.read_text().split("\n")[:3]
