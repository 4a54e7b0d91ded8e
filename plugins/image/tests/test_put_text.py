"""OpenCvPutTextCalculator: yellow letters where they should be."""

from __future__ import annotations

import cv2
import numpy as np
import pytest

from penstock_formats import ImageFormat
from penstock_image.painting.put_text import OpenCvPutTextCalculator
from penstock_testing import run_calculator


@pytest.mark.parametrize("text", ["left hand", "", "far too long for a line of an image of this size"])
def test_a_text_is_yellow_above_its_line_and_the_rest_is_transparent(text):
    (packet,) = run_calculator(OpenCvPutTextCalculator, {0: [(1, text)]}, outputs=[0]).outputs[0]

    frame = packet.payload
    want = np.zeros((640, 640, 4), np.uint8)
    cv2.putText(want, text, (15, 70), cv2.FONT_HERSHEY_PLAIN, 3, (255, 255, 0, 255), 4)
    assert packet.timestamp == 1
    assert frame.format is ImageFormat.SRGBA
    assert np.array_equal(frame.array, want)
    drawn = frame.array[..., 3] > 0
    assert drawn.any() == bool(text)
    assert frame.array.max(axis=(0, 1)).tolist() == ([255, 255, 0, 255] if text else [0, 0, 0, 0])
    assert not drawn[100:].any()
