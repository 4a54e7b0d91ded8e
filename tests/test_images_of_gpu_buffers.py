"""The handle Image and what reads it take a GpuBuffer of penstock-gpu.

It needs no OpenGL before it is drawn on.
"""

from __future__ import annotations

import cv2
import numpy as np
import pytest

import penstock
from penstock_formats import Image, ImageFormat, ImageFrame
from penstock_gpu import GpuBuffer
from penstock_tensors.inputs.image_to_tensor import ImageToTensorCalculator
from penstock_tensors.messages.image_to_tensor_pb2 import ImageToTensorCalculatorOptions
from penstock_testing import run_calculator
from penstock_vision.images.image_handles import ImagePropertiesCalculator
from penstock_vision.images.segmentation_smoothing import SegmentationSmoothingCalculator
from penstock_vision.messages.segmentation_smoothing_pb2 import SegmentationSmoothingCalculatorOptions

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


@pytest.mark.reference(
    "calculators/image/image_properties_calculator_test.cc",
    "ImagePropertiesCalculatorTest.GetImageFramePropertiesGPU",
)
def test_a_buffer_has_the_size_of_its_frame():
    frame = ImageFrame(np.zeros((500, 700, 4), np.uint8))

    run = run_calculator(
        ImagePropertiesCalculator, {"IMAGE_GPU": [(0, GpuBuffer.of_frame(frame))]}, outputs=["SIZE"]
    )

    assert [packet.payload for packet in run.outputs["SIZE"]] == [(700, 500)]


@pytest.mark.reference(
    "calculators/image/segmentation_smoothing_calculator_test.cc",
    "SegmentationSmoothingCalculatorTest.TestSmoothing",
)
def test_masks_in_buffers_are_smoothed_as_those_in_main_memory():
    mask = np.zeros((4, 4), np.float32)
    mask[1:3, 1:3] = 0.98
    frames = [ImageFrame(one, ImageFormat.VEC32F1) for one in (mask, cv2.blur(mask, (3, 3)))]

    def smoothed(held):
        run = run_calculator(
            SegmentationSmoothingCalculator,
            {
                tag: [(0, Image(held(one)))]
                for tag, one in zip(("MASK", "MASK_PREVIOUS"), frames, strict=True)
            },
            outputs=["MASK_SMOOTHED"],
            options=SegmentationSmoothingCalculatorOptions(combine_with_previous_ratio=1.0),
        )
        return run.outputs["MASK_SMOOTHED"][0].payload.array

    assert np.array_equal(smoothed(GpuBuffer.of_frame), smoothed(lambda frame: frame))


WARPED = """
input_stream: "image"
input_stream: "matrix"
input_stream: "size"
node { calculator: "ImageFrameToGpuBufferCalculator" input_stream: "image" output_stream: "buffer" }
%s
node { calculator: "GpuBufferToImageFrameCalculator" input_stream: "warped" output_stream: "out" }
"""
INPUTS = 'input_stream: "MATRIX:matrix" input_stream: "OUTPUT_SIZE:size"'
OF_BUFFERS = f"""
node {{
  calculator: "WarpAffineCalculatorGpu" input_stream: "IMAGE:buffer" {INPUTS} output_stream: "IMAGE:warped"
}}
"""
OF_IMAGES = f"""
node {{ calculator: "ToImageCalculator" input_stream: "IMAGE_GPU:buffer" output_stream: "IMAGE:given" }}
node {{
  calculator: "WarpAffineCalculator" input_stream: "IMAGE:given" {INPUTS} output_stream: "IMAGE:found"
}}
node {{ calculator: "FromImageCalculator" input_stream: "IMAGE:found" output_stream: "IMAGE_GPU:warped" }}
"""


@pytest.mark.parametrize("nodes", [OF_BUFFERS, OF_IMAGES])
def test_a_warped_buffer_is_one_again(nodes):
    half_a_turn = (-1.0, 0.0, 0.0, 1.0, 0.0, -1.0, 0.0, 1.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0)
    graph, found = penstock.CalculatorGraph(WARPED % nodes), []
    graph.observe_output_stream("out", lambda _, packet: found.append(packet.payload))
    graph.start_run()
    for stream, payload in (("image", FRAME), ("matrix", half_a_turn), ("size", (4, 2))):
        graph.add_packet_to_input_stream(stream, penstock.Packet(payload, 0))
    graph.close(60)

    (frame,) = found
    assert frame.format is ImageFormat.SRGB
    # the matrix counts from corners, as the reference's does: the first row and column come from the edge
    assert np.array_equal(frame.array[1:, 1:], FRAME.array[::-1, ::-1][:-1, :-1])
