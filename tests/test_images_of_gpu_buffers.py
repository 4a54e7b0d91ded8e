"""The handle Image and what reads it take a GpuBuffer of penstock-gpu. It needs no OpenGL before it is "
"drawn on."""

from __future__ import annotations

import numpy as np

from penstock_formats import Image, ImageFormat, ImageFrame
from penstock_gpu import GpuBuffer
from penstock_tensors.inputs.image_to_tensor import ImageToTensorCalculator
from penstock_tensors.messages.image_to_tensor_pb2 import ImageToTensorCalculatorOptions
from penstock_testing import run_calculator

FRAME = ImageFrame(np.arange(24, dtype=np.uint8).reshape(2, 4, 3), ImageFormat.SRGB)


def test_an_image_of_a_buffer_gives_its_pixels():
    image = Image(GpuBuffer.of_frame(FRAME))

    assert image.uses_gpu
    assert (image.width, image.height, image.format) == (4, 2, ImageFormat.SRGB)
    assert np.array_equal(image.frame.array, FRAME.array)
    assert np.array_equal(np.asarray(image), FRAME.array)


def test_a_buffer_becomes_the_same_tensor_as_its_frame():
    def tensor(tag, payload):
        run = run_calculator(
            ImageToTensorCalculator,
            {tag: [(1, payload)]},
            outputs=["TENSOR"],
            options=ImageToTensorCalculatorOptions(output_tensor_float_range={"min": 0, "max": 1}),
        )
        return run.outputs["TENSOR"][0].payload.array

    assert np.array_equal(tensor("IMAGE_GPU", GpuBuffer.of_frame(FRAME)), tensor("IMAGE", FRAME))
