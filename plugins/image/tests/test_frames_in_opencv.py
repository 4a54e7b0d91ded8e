"""The array of an ImageFrame is what OpenCV's functions take, without a copy."""

from __future__ import annotations

import cv2
import numpy as np
import pytest

from penstock_formats import ImageFormat, ImageFrame

WIDTH, HEIGHT = 123, 45


@pytest.mark.reference(
    "framework/formats/image_frame_opencv_test.cc",
    "ImageFrameOpencvTest.ConvertToMat",
    "ImageFrameOpencvTest.ConvertToIpl",
)
def test_opencv_adds_frames_and_sees_what_their_maker_writes():
    pixels = [np.full((HEIGHT, WIDTH), shade, np.uint8) for shade in (12, 34)]
    first, second = (ImageFrame(one, ImageFormat.GRAY8) for one in pixels)

    assert int(cv2.mean(cv2.add(first.array, second.array))[0]) == 12 + 34

    pixels[0][HEIGHT - 5, WIDTH - 5] = 1
    pixels[0][HEIGHT - 6, WIDTH - 6] = 100

    least, greatest, at_least, at_greatest = cv2.minMaxLoc(first.array)
    assert (least, at_least) == (1, (WIDTH - 5, HEIGHT - 5))
    assert (greatest, at_greatest) == (100, (WIDTH - 6, HEIGHT - 6))


@pytest.mark.reference("framework/formats/image_frame_opencv_test.cc", "ImageFrameOpencvTest.ImageFormats")
@pytest.mark.parametrize(
    ("kind", "shape", "element_type"),
    [
        (ImageFormat.GRAY8, (), np.uint8),
        (ImageFormat.GRAY16, (), np.uint16),
        (ImageFormat.VEC32F1, (), np.float32),
        (ImageFormat.VEC32F2, (2,), np.float32),
        (ImageFormat.VEC32F4, (4,), np.float32),
        (ImageFormat.SRGB, (3,), np.uint8),
        (ImageFormat.SRGBA, (4,), np.uint8),
    ],
)
def test_formats_have_the_channels_and_numbers_that_opencv_knows(kind, shape, element_type):
    frame = ImageFrame(np.zeros((HEIGHT, WIDTH, *shape), element_type), kind)

    found = cv2.copyMakeBorder(frame.array, 1, 0, 0, 0, cv2.BORDER_REPLICATE)

    assert (frame.array.shape, frame.array.dtype) == ((HEIGHT, WIDTH, *shape), element_type)
    assert (frame.format, found.shape, found.dtype) == (kind, (HEIGHT + 1, WIDTH, *shape), element_type)
