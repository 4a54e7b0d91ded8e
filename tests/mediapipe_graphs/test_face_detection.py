"""The face that MediaPipe's own test of its InferenceCalculator detects and draws a box around."""

from __future__ import annotations

import re
from pathlib import Path

import cv2
import numpy as np
import pytest
from google.protobuf import text_format

import penstock
from penstock_formats import Detection, ImageFormat, ImageFrame

REFERENCE = Path(__file__).resolve().parents[3] / "shared" / "data" / "reference"
FOLDER = REFERENCE / "calculators" / "tensor"
DELEGATES = ["tflite { }", "gpu { use_advanced_gpu_api: true api: OPENGL }", "xnnpack { }"]


@pytest.fixture
def files(models):
    """Return the folder of the test's files."""
    if not FOLDER.is_dir():
        pytest.skip(f"the reference's files are missing: {FOLDER}")
    return FOLDER


def picture(path):
    return cv2.cvtColor(cv2.imread(str(path), cv2.IMREAD_UNCHANGED), cv2.COLOR_BGRA2RGBA)


@pytest.mark.reference(
    "calculators/tensor/inference_calculator_face_detection_test.cc",
    "InferenceCalculatorTest.TestFaceDetection",
)
@pytest.mark.parametrize("delegate", DELEGATES)
def test_a_face_is_found_and_drawn(files, delegate):
    expanded = penstock.CalculatorGraph((files / "face_detection_test.pbtxt").read_text()).text_config
    text, count = re.subn(r"delegate \{\s*\w+ \{\s*\}\s*\}", f"delegate {{ {delegate} }}", expanded)
    assert count == text.count('"InferenceCalculatorCpu"') == 1
    expected = text_format.Parse((files / "expected_detection.pbtxt").read_text(), Detection())
    frame = ImageFrame(picture(REFERENCE / "framework/debug/sergey.png"), ImageFormat.SRGBA)

    sent = penstock.run(text, {"image": [(0, frame)]})

    (packet,) = sent["detections"]
    (found,) = packet.payload
    assert numbers(found) == pytest.approx(numbers(expected), abs=1e-3)
    (packet,) = sent["rendering"]
    difference = np.abs(packet.payload.array.astype(int) - picture(files / "face_detection_expected.png"))
    assert difference.max() <= 2
    assert difference.mean() <= 1


def numbers(detection):
    """Return all numbers of a detection; the message has no others."""
    place = detection.location_data
    box = place.relative_bounding_box
    points = [number for point in place.relative_keypoints for number in (point.x, point.y)]
    return [
        *detection.label_id,
        *detection.score,
        place.format,
        box.xmin,
        box.ymin,
        box.width,
        box.height,
        *points,
    ]
