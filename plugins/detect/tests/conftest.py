"""What the tests of this pack share."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from detector_models import onnx_model, tflite_model


@pytest.fixture
def model(tmp_path):
    """Return a function that writes an .onnx file and returns its path, or skip the test."""
    pytest.importorskip("onnx", reason='no onnx: pip install "penstock-detect[testing]"')
    pytest.importorskip("onnxruntime", reason='no onnxruntime: pip install "penstock-detect[onnx]"')

    def write(outputs, name="tiny.onnx", **given):
        path = tmp_path / name
        path.write_bytes(onnx_model(outputs, **given))
        return path

    return write


@pytest.fixture
def lite_model(tmp_path):
    """Return a function that writes a .tflite file and returns its path, or skip the test."""
    reason = 'no ai-edge-litert: pip install "penstock-detect[litert]"'
    pytest.importorskip("ai_edge_litert.interpreter", reason=reason)

    def write(outputs, name="tiny.tflite", **given):
        path = tmp_path / name
        path.write_bytes(tflite_model(outputs, **given))
        return path

    return write
