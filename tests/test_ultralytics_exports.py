"""scripts/trials/exports: how exports differ, and one export where Ultralytics is there."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

SCRIPT = Path(__file__).resolve().parent.parent / "scripts/trials/exports/ultralytics_exports.py"
PYTHON = os.environ.get("PENSTOCK_ULTRALYTICS_PYTHON")


@pytest.fixture(scope="module")
def trial():
    spec = importlib.util.spec_from_file_location("ultralytics_exports", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules[spec.name]


BOXES = np.array([[10, 10, 50, 40, 0.9, 0], [100, 20, 180, 90, 0.6, 2], [11, 10, 50, 40, 0.5, 1]], float)


def moved(**changes):
    """Return the boxes with some numbers changed: of the first one, by name."""
    made = BOXES.copy()
    for name, change in changes.items():
        made[0, ("left", "top", "right", "bottom", "score", "number").index(name)] += change
    return made


def test_the_same_in_another_order_is_no_difference(trial):
    found = trial.compared(trial.Found(BOXES), trial.Found(BOXES[[2, 0, 1]]))

    assert found[:5] == (3, 3, 3, 0, 0)
    assert not found.words()


@pytest.mark.parametrize(
    ("theirs", "words"),
    [
        (moved(left=0.5), "boxes differ by 0.5"),
        (moved(score=0.01), "scores differ by 0.01"),
        (moved(number=2), "2 are found by one side alone"),
        (moved(bottom=3), "2 are found by one side alone"),
        (BOXES[:2], "1 are found by one side alone"),
        (BOXES[:0], "nothing is found by both"),
    ],
)
def test_what_differs_is_told(trial, theirs, words):
    assert words in trial.compared(trial.Found(BOXES), trial.Found(theirs)).words()


def test_masks_and_points_of_each_detection_are_compared_with_its_own(trial):
    masks = np.zeros((3, 90, 160), bool)
    for i in range(3):
        masks[i, 10 * i : 10 * i + 30, 20:80] = True
    points = np.arange(12, dtype=float).reshape(3, 2, 2)
    order = [2, 0, 1]
    ours = trial.Found(BOXES, masks, points)

    same = trial.compared(ours, trial.Found(BOXES[order], masks[order], points[order]))
    assert (same.points, same.mask) == (0, 0)
    assert not same.words()

    other = masks.copy()
    other[1, :20] = False  # a third of the second one
    found = trial.compared(ours, trial.Found(BOXES[order], other[order], points[order] + 0.4))
    assert found.mask == pytest.approx(1 / 3)
    assert found.points == pytest.approx(0.4)
    assert found.words() == "points differ by 0.4, masks differ by 0.3333"


def test_classes_are_compared_by_their_probabilities(trial):
    none = np.empty((0, 6))
    ours = trial.Found(none, classes=np.array([0.1, 0.7, 0.2]))

    assert not trial.compared(ours, trial.Found(none, classes=np.array([0.10005, 0.69995, 0.2]))).words()
    near = trial.compared(ours, trial.Found(none, classes=np.array([0.12, 0.67, 0.21])))
    assert near.words() == "scores differ by 0.03"
    other = trial.compared(ours, trial.Found(none, classes=np.array([0.7, 0.1, 0.2])))
    assert "nothing is found by both" in other.words()
    assert "scores differ by 0.6" in other.words()


def test_an_interpreter_without_ultralytics_is_said(tmp_path):
    done = subprocess.run(
        [sys.executable, str(SCRIPT), "--python", sys.executable, "--model", "yolov8n"],
        capture_output=True, text=True, timeout=100, check=False, cwd=tmp_path,
    )  # fmt: skip

    assert done.returncode == 1
    assert re.search(r"\| yolov8n \|.*no export: ModuleNotFoundError", done.stdout), done.stdout + done.stderr


@pytest.mark.skipif(not PYTHON, reason="PENSTOCK_ULTRALYTICS_PYTHON names no interpreter with ultralytics")
@pytest.mark.parametrize(("model", "row"), [
    ("yolov8n-seg", r"YOLO_V8_SEGMENT \| [1-9]"), ("yolov8n-cls", r"CLASSES \| 2 \| 2 \| 2 "),
])  # fmt: skip
def test_an_export_finds_what_predict_finds(model, row, tmp_path):
    done = subprocess.run(
        [sys.executable, str(SCRIPT), "--model", model, "--keep", str(tmp_path)],
        capture_output=True, text=True, timeout=500, check=False,
    )  # fmt: skip

    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(rf"\| {model} \| {row}", done.stdout), done.stdout
