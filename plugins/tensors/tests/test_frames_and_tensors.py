"""ImageFrameToTensorCalculator and TensorToImageFrameCalculator."""

from __future__ import annotations

import numpy as np
import pytest

from penstock.errors import GraphRunError
from penstock_formats import ImageFormat, ImageFrame, Tensor
from penstock_tensors.conversions.image_frame_to_tensor import ImageFrameToTensorCalculator
from penstock_tensors.conversions.tensor_to_image_frame import TensorToImageFrameCalculator
from penstock_tensors.messages.image_frame_to_tensor_pb2 import ImageFrameToTensorCalculatorOptions
from penstock_tensors.messages.tensor_to_image_frame_pb2 import TensorToImageFrameCalculatorOptions
from penstock_testing import run_calculator

TIME = 1234


# --- frames become tensors ----------------------------------------------------------------------------


def tensor_of(pixels, **options) -> Tensor:
    run = run_calculator(
        ImageFrameToTensorCalculator,
        {0: [(0, ImageFrame(pixels))]},
        outputs=[0],
        options=ImageFrameToTensorCalculatorOptions(**options),
    )
    (packet,) = run.outputs[0]
    assert packet.timestamp == 0
    return packet.payload


def padded(height, width, color, kind) -> np.ndarray:
    """Return pixels of one colour, whose rows have 16 bytes between them."""
    channels = len(color)
    gap = 16 // np.dtype(kind).itemsize
    rows = np.zeros((height, width * channels + gap), kind)
    pixels = rows[:, : width * channels].reshape(height, width, channels)
    view = np.lib.stride_tricks.as_strided(
        rows, (height, width, channels), (rows.strides[0], channels * rows.itemsize, rows.itemsize)
    )
    assert pixels.shape == view.shape
    view[:] = color
    return view if channels > 1 else view[:, :, 0]


@pytest.mark.parametrize("width", [10, 24])
@pytest.mark.parametrize("is_padded", [False, True])
@pytest.mark.parametrize(
    ("color", "kind"),
    [
        pytest.param(
            [255, 36, 156],
            "uint8",
            marks=pytest.mark.reference(
                "calculators/tensorflow/image_frame_to_tensor_calculator_test.cc",
                "ImageFrameToTensorCalculatorTest.SolidRedRGBFrame",
            ),
        ),
        pytest.param(
            [255, 36, 156, 42],
            "uint8",
            marks=pytest.mark.reference(
                "calculators/tensorflow/image_frame_to_tensor_calculator_test.cc",
                "ImageFrameToTensorCalculatorTest.SolidRedRGBAFrame",
            ),
        ),
        pytest.param(
            [42],
            "uint8",
            marks=pytest.mark.reference(
                "calculators/tensorflow/image_frame_to_tensor_calculator_test.cc",
                "ImageFrameToTensorCalculatorTest.SolidGray8Frame",
            ),
        ),
        pytest.param(
            [4242],
            "uint16",
            marks=pytest.mark.reference(
                "calculators/tensorflow/image_frame_to_tensor_calculator_test.cc",
                "ImageFrameToTensorCalculatorTest.SolidGray16Frame",
            ),
        ),
        pytest.param(
            [42.0],
            "float32",
            marks=pytest.mark.reference(
                "calculators/tensorflow/image_frame_to_tensor_calculator_test.cc",
                "ImageFrameToTensorCalculatorTest.SolidFloatFrame",
            ),
        ),
    ],
)
def test_pixels_of_all_formats(width, is_padded, color, kind):
    pixels = padded(5, width, color, kind)

    tensor = tensor_of(pixels if is_padded else pixels.copy())

    assert (tensor.shape, tensor.element_type) == ((5, width, len(color)), kind)
    assert (tensor.array == color).all()


@pytest.mark.reference(
    "calculators/tensorflow/image_frame_to_tensor_calculator_test.cc",
    "ImageFrameToTensorCalculatorTest.FixedNoiseRGBFrame",
)
def test_pixels_keep_their_places():
    values = [0, 1, 2, 3, 4, 5, 6, 7, 8, 123, 213, 156, 9, 10, 11, 255, 0, 128]

    tensor = tensor_of(np.array(values, np.uint8).reshape(2, 3, 3))

    assert (tensor.shape, tensor.element_type) == ((2, 3, 3), "uint8")
    assert tensor.array.ravel().tolist() == values


@pytest.mark.reference(
    "calculators/tensorflow/image_frame_to_tensor_calculator_test.cc",
    "ImageFrameToTensorCalculatorTest.RandomRGBFrame",
)
@pytest.mark.parametrize("width", range(1, 34))
def test_random_pixels_of_each_width(width):
    pixels = np.random.default_rng(1234).integers(0, 256, (2, width, 3), np.uint8)

    tensor = tensor_of(pixels)

    assert (tensor.shape, tensor.element_type) == ((2, width, 3), "uint8")
    assert np.array_equal(tensor.array, pixels)


@pytest.mark.parametrize(
    "options",
    [
        pytest.param(
            {"mean": [128], "stddev": [128]},
            marks=pytest.mark.reference(
                "calculators/tensorflow/image_frame_to_tensor_calculator_test.cc",
                "ImageFrameToTensorCalculatorTest.FixedRGBFrameWithMeanAndStddev",
            ),
        ),
        pytest.param(
            {"mean": [128] * 3, "stddev": [128] * 3},
            marks=pytest.mark.reference(
                "calculators/tensorflow/image_frame_to_tensor_calculator_test.cc",
                "ImageFrameToTensorCalculatorTest.FixedRGBFrameWithRepeatMeanAndStddev",
            ),
        ),
    ],
)
def test_mean_and_deviation(options):
    tensor = tensor_of(np.array([[[0, 128, 255]]], np.uint8), data_type="DT_FLOAT", **options)

    assert (tensor.shape, tensor.element_type) == ((1, 1, 3), "float32")
    assert tensor.array.tolist() == [[[-1, 0, 127 / 128]]]


def test_each_channel_has_its_own_mean():
    pixels = np.array([[[1, 2, 3]]], np.uint8)

    found = tensor_of(pixels, data_type="DT_FLOAT", mean=[1, 1, 1], stddev=[1, 2, 4])

    assert found.array.tolist() == [[[0, 0.5, 0.5]]]
    assert tensor_of(pixels, data_type="DT_FLOAT", stddev=[2]).array.tolist() == [[[0.5, 1, 1.5]]]


RGB = np.zeros((1, 1, 3), np.uint8)


@pytest.mark.parametrize(
    ("pixels", "options", "words"),
    [
        (RGB, {"data_type": "DT_INT8"}, "data_type is DT_INT8, but must be DT_FLOAT"),
        (RGB, {"data_type": "DT_FLOAT"}, r"stddev is \[\], but with data_type it must be one number above 0"),
        (RGB, {"data_type": "DT_FLOAT", "stddev": [0]}, r"stddev is \[0.0\], but"),
        (
            RGB,
            {"data_type": "DT_FLOAT", "stddev": [1, 1]},
            "stddev has 2 numbers, but image frames of 'in_0' have 3",
        ),
        (RGB, {"data_type": "DT_FLOAT", "stddev": [1], "mean": [1, 1]}, "mean has 2 numbers, but"),
        (
            np.zeros((1, 1), np.uint16),
            {"data_type": "DT_FLOAT", "stddev": [1]},
            "data_type is for image frames of bytes",
        ),
    ],
)
def test_options_that_do_not_fit_the_frame(pixels, options, words):
    with pytest.raises(GraphRunError, match=words):
        tensor_of(pixels, **options)


# --- tensors become frames ----------------------------------------------------------------------------


def frame_of(array, **options) -> ImageFrame:
    run = run_calculator(
        TensorToImageFrameCalculator,
        {"TENSOR": [(TIME, Tensor(array))]},
        outputs=["IMAGE"],
        options=TensorToImageFrameCalculatorOptions(**options),
    )
    (packet,) = run.outputs["IMAGE"]
    assert packet.timestamp == TIME
    return packet.payload


@pytest.mark.parametrize("kind", [np.float32, np.uint8])
@pytest.mark.parametrize(
    ("shape", "image_format"),
    [
        pytest.param(
            (8, 16, 3),
            ImageFormat.SRGB,
            marks=pytest.mark.reference(
                "calculators/tensorflow/tensor_to_image_frame_calculator_test.cc",
                "TensorToImageFrameCalculatorTest.Converts3DTensorToImageFrame",
            ),
        ),
        pytest.param(
            (8, 16, 1),
            ImageFormat.GRAY8,
            marks=pytest.mark.reference(
                "calculators/tensorflow/tensor_to_image_frame_calculator_test.cc",
                "TensorToImageFrameCalculatorTest.Converts3DTensorToImageFrameGray",
            ),
        ),
        pytest.param(
            (8, 16),
            ImageFormat.GRAY8,
            marks=pytest.mark.reference(
                "calculators/tensorflow/tensor_to_image_frame_calculator_test.cc",
                "TensorToImageFrameCalculatorTest.Converts3DTensorToImageFrame2DGray",
            ),
        ),
    ],
)
def test_numbers_become_pixels(kind, shape, image_format):
    values = [i % 255 for i in range(int(np.prod(shape)))]

    frame = frame_of(np.array(values, kind).reshape(shape))

    assert (frame.format, frame.width, frame.height) == (image_format, 16, 8)
    assert frame.array.ravel().tolist() == values


@pytest.mark.reference(
    "calculators/tensorflow/tensor_to_image_frame_calculator_test.cc",
    "TensorToImageFrameCalculatorTest.Converts3DTensorToImageFrame2DGrayWithScaling",
)
def test_the_least_number_becomes_0_and_the_greatest_255():
    array = np.full((8, 16), 200, np.float32)
    array[0, 0] = 255

    frame = frame_of(array, scale_per_frame_min_max=True)

    assert (frame.format, frame.width, frame.height) == (ImageFormat.GRAY8, 16, 8)
    assert frame.array.ravel().tolist() == [255, *[0] * 127]
    with pytest.raises(GraphRunError, match="scale_factor and scale_per_frame_min_max are for float32"):
        frame_of(array.astype(np.uint8), scale_per_frame_min_max=True)


def test_equal_numbers_become_0():
    assert frame_of(np.full((1, 2), 7, np.float32), scale_per_frame_min_max=True).array.tolist() == [[0, 0]]


def test_numbers_are_multiplied_limited_and_cut():
    array = np.array([[-1, 0.5, 0.999, 2, np.inf, np.nan]], np.float32)

    assert frame_of(array, scale_factor=255).array.tolist() == [[0, 127, 254, 255, 255, 0]]


@pytest.mark.parametrize(
    ("array", "options", "words"),
    [
        (
            np.zeros((1, 1, 2), np.uint8),
            {},
            "<Tensor uint8 1x1x2>, but a frame is height x width, alone or x 1",
        ),
        (np.zeros(3, np.uint8), {}, "<Tensor uint8 3>, but a frame is"),
        (np.zeros((0, 3), np.uint8), {}, "<Tensor uint8 0x3>, but a frame is"),
        (
            np.zeros((1, 1), np.int32),
            {},
            "<Tensor int32 1x1>, but an image frame is made of float32 and uint8",
        ),
        (np.zeros((1, 1), np.uint8), {"scale_factor": 2}, "scale_factor and scale_per_frame_min_max are for"),
    ],
)
def test_what_is_no_frame(array, options, words):
    with pytest.raises(GraphRunError, match=words):
        frame_of(array, **options)
