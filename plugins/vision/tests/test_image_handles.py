"""ImagePropertiesCalculator, ToImageCalculator, FromImageCalculator: sizes and handles of images."""

from __future__ import annotations

import numpy as np
import pytest

from penstock import CalculatorGraph
from penstock.errors import GraphConfigError, GraphRunError, PenstockError, StatusCode
from penstock_formats import Image, ImageFormat, ImageFrame
from penstock_testing import run_calculator
from penstock_vision.images.image_handles import (
    FromImageCalculator,
    ImagePropertiesCalculator,
    ToImageCalculator,
)

FRAME = ImageFrame(np.zeros((4, 6, 3), np.uint8))


class OnGpu:
    """An image on a GPU, as far as an Image asks."""

    width, height, nbytes = 6, 4, 72

    def frame(self):
        return FRAME

    def read_view(self, view):
        raise AssertionError(f"{view} is not needed")


def sent(calculator, inputs, outputs):
    inputs = {tag: [(3, one)] for tag, one in inputs.items()}
    run = run_calculator(calculator, inputs, outputs=outputs)
    assert {packet.timestamp for found in run.outputs.values() for packet in found} == {3}
    return [run.outputs[tag][0].payload for tag in outputs]


@pytest.mark.parametrize(
    ("tag", "image"),
    [
        ("IMAGE", FRAME),
        ("IMAGE", Image(FRAME)),
        ("IMAGE_CPU", FRAME),
        ("IMAGE_GPU", OnGpu()),
        ("IMAGE", Image(OnGpu())),
    ],
)
def test_a_size_is_width_and_height(tag, image):
    assert sent(ImagePropertiesCalculator, {tag: image}, ["SIZE"]) == [(6, 4)]


@pytest.mark.reference(
    "calculators/image/image_properties_calculator_test.cc",
    "ImagePropertiesCalculatorTest.GetImageProperties",
    "ImagePropertiesCalculatorTest.GetImageFramePropertiesCPU",
)
@pytest.mark.parametrize(("tag", "size"), [("IMAGE", (128, 256)), ("IMAGE_CPU", (700, 500))])
def test_the_size_of_an_image_with_alpha(tag, size):
    frame = ImageFrame(np.zeros((*reversed(size), 4), np.uint8))

    found = sent(ImagePropertiesCalculator, {tag: Image(frame) if tag == "IMAGE" else frame}, ["SIZE"])

    assert found == [size]


TEN = ImageFrame(np.zeros((10, 10, 3), np.uint8))


@pytest.mark.reference(
    "calculators/util/to_image_calculator_test.cc",
    "ToImageCalculatorTest.ConvertsImageFrameToImage",
    "ToImageCalculatorTest.ConvertsGenericImageToImage",
)
@pytest.mark.parametrize("tag", ["IMAGE_CPU", "IMAGE"])
def test_a_frame_of_either_input_becomes_an_image_of_its_size_and_format(tag):
    (found,) = sent(ToImageCalculator, {tag: TEN}, ["IMAGE"])

    assert isinstance(found, Image)
    assert (found.width, found.height, found.format) == (10, 10, ImageFormat.SRGB)


@pytest.mark.reference(
    "calculators/util/from_image_calculator_test.cc",
    "FromImageCalculatorTest.ConvertsImageToImageFrame",
    "FromImageCalculatorTest.OutputsSourceOnGpu",
)
def test_an_image_in_main_memory_becomes_a_frame_of_its_size_and_format():
    (alone,) = sent(FromImageCalculator, {"IMAGE": Image(TEN)}, ["IMAGE_CPU"])
    frame, on_gpu = sent(FromImageCalculator, {"IMAGE": Image(TEN)}, ["IMAGE_CPU", "SOURCE_ON_GPU"])

    assert isinstance(alone, ImageFrame)
    assert (alone.width, alone.height, alone.format) == (10, 10, ImageFormat.SRGB)
    assert (frame, on_gpu) == (alone, False)


@pytest.mark.parametrize("tag", ["IMAGE", "IMAGE_CPU"])
def test_an_image_of_a_frame_shares_its_pixels(tag):
    (image,) = sent(ToImageCalculator, {tag: FRAME}, ["IMAGE"])

    assert image.held is FRAME
    assert np.shares_memory(image.array, FRAME.array)


def test_an_image_is_forwarded_as_it_is():
    image = Image(FRAME)

    assert sent(ToImageCalculator, {"IMAGE": image}, ["IMAGE"])[0] is image


def test_an_image_on_the_gpu_stays_there():
    buffer = OnGpu()

    (image,) = sent(ToImageCalculator, {"IMAGE_GPU": buffer}, ["IMAGE"])

    assert (image.held, image.uses_gpu) == (buffer, True)


def test_a_frame_of_an_image_is_the_same_one():
    frame, on_gpu = sent(FromImageCalculator, {"IMAGE": Image(FRAME)}, ["IMAGE_CPU", "SOURCE_ON_GPU"])

    assert (frame, on_gpu) == (FRAME, False)


def test_a_frame_of_an_image_on_the_gpu_is_copied_by_it():
    frame, on_gpu = sent(FromImageCalculator, {"IMAGE": Image(OnGpu())}, ["IMAGE_CPU", "SOURCE_ON_GPU"])

    assert (frame, on_gpu) == (FRAME, True)


def test_an_image_on_the_gpu_is_taken_out():
    buffer = OnGpu()

    assert sent(FromImageCalculator, {"IMAGE": Image(buffer)}, ["IMAGE_GPU"]) == [buffer]


def test_an_image_in_main_memory_is_not_uploaded():
    with pytest.raises(GraphRunError, match="ImageFrameToGpuBufferCalculator"):
        sent(FromImageCalculator, {"IMAGE": Image(FRAME)}, ["IMAGE_GPU"])


@pytest.mark.parametrize(
    ("calculator", "output"), [(ImagePropertiesCalculator, "SIZE"), (ToImageCalculator, "IMAGE")]
)
def test_what_is_not_on_the_gpu_is_refused_there(calculator, output):
    with pytest.raises(
        GraphRunError, match="holds a 'ImageFrame', but IMAGE_GPU takes the handle of an image"
    ):
        sent(calculator, {"IMAGE_GPU": FRAME}, [output])


@pytest.mark.parametrize(
    ("calculator", "output"), [(ImagePropertiesCalculator, "SIZE"), (ToImageCalculator, "IMAGE")]
)
@pytest.mark.parametrize("inputs", [{}, {"IMAGE": FRAME, "IMAGE_CPU": FRAME}])
def test_exactly_one_image_is_needed(calculator, output, inputs):
    with pytest.raises(PenstockError, match="exactly one is needed"):
        sent(calculator, inputs, [output])


def test_one_kind_of_image_is_given():
    with pytest.raises(PenstockError, match="only one can be"):
        sent(FromImageCalculator, {"IMAGE": Image(FRAME)}, ["IMAGE_CPU", "IMAGE_GPU"])


@pytest.mark.reference(
    "calculators/util/from_image_calculator_test.cc", "FromImageCalculatorTest.MultipleOutputsError"
)
def test_two_images_of_one_are_refused():
    text = """
        input_stream: "image"
        node {
          calculator: "FromImageCalculator" input_stream: "IMAGE:image"
          output_stream: "IMAGE_CPU:frame" output_stream: "IMAGE_GPU:buffer"
        }"""
    with pytest.raises(GraphConfigError, match="IMAGE_CPU and IMAGE_GPU are both connected") as caught:
        CalculatorGraph(text)
    assert [fault.code for fault in caught.value.faults] == [StatusCode.INTERNAL]
