"""The images and matrices of MediaPipe's own tests of the converters to tensors."""

from __future__ import annotations

import numpy as np
import pytest

from penstock.errors import GraphConfigError, StatusCode
from penstock_formats import ImageFormat, ImageFrame, Matrix
from penstock_tensors.inputs.tensor_converter import TensorConverterCalculator, TfLiteConverterCalculator
from penstock_tensors.messages.tensor_converter_pb2 import (
    TensorConverterCalculatorOptions,
    TfLiteConverterCalculatorOptions,
)
from penstock_testing import run_calculator

OPTIONS = {
    TensorConverterCalculator: TensorConverterCalculatorOptions,
    TfLiteConverterCalculator: TfLiteConverterCalculatorOptions,
}
BOTH = list(OPTIONS)
#: Rows and columns of matrices.
SIZES = [(1, 1), (12, 1), (1, 9), (2, 2), (5, 3), (7, 13), (16, 32), (101, 2)]
#: Four times the distance of two float32 numbers at 1, by which gtest's numbers may differ.
FOUR_ULPS = 4 * 2.0**-23


class OnGpu:
    """An image on the GPU, as the pack for the GPU has them."""

    def __init__(self, frame):
        self._frame = frame
        self.format, self.width, self.height = frame.format, frame.width, frame.height

    def frame(self):
        return self._frame

    def read_view(self, view):
        raise NotImplementedError


def converted(payload, tag="IMAGE", calculator=TensorConverterCalculator, **options):
    run = run_calculator(  # by its name, since the older one's input policy is of another pack
        calculator.__name__,
        {tag: [(0, payload)]},
        outputs=["TENSORS"],
        options=OPTIONS[calculator](**options),
    )
    (packet,) = run.outputs["TENSORS"]
    (tensor,) = packet.payload
    assert tensor.element_type == "float32"
    return tensor.array


def image(kind, width, height):
    """Return values that rise evenly from 0 to the greatest."""
    channels = 4 if kind is ImageFormat.SRGBA else 1
    values = np.arange(width * height * channels, dtype=np.float32) / (width * height * channels)
    shape = (height, width, channels) if channels > 1 else (height, width)
    if kind is ImageFormat.VEC32F1:
        return ImageFrame(values.reshape(shape), kind)
    return ImageFrame((values * 255).astype(np.uint8).reshape(shape), kind)


def grey(*rows):
    return ImageFrame(np.array(rows, np.uint8), ImageFormat.GRAY8)


@pytest.mark.reference(
    "calculators/tensor/tensor_converter_calculator_test.cc",
    "TensorConverterCalculatorTest.RandomMatrixColMajor",
    "TensorConverterCalculatorTest.RandomMatrixRowMajor",
)
@pytest.mark.reference(
    "calculators/tflite/tflite_converter_calculator_test.cc",
    "TfLiteConverterCalculatorTest.RandomMatrixColMajor",
    "TfLiteConverterCalculatorTest.RandomMatrixRowMajor",
)
@pytest.mark.parametrize("calculator", BOTH)
@pytest.mark.parametrize("by_rows", [False, True])
@pytest.mark.parametrize("size", SIZES)
def test_random_matrices_are_laid_down_by_columns_or_rows(calculator, by_rows, size):
    array = np.random.default_rng(1234).random(size, np.float32)

    made = converted(Matrix(array), "MATRIX", calculator, row_major_matrix=by_rows)

    assert made.ravel().tolist() == array.ravel("C" if by_rows else "F").tolist()


@pytest.mark.reference(
    "calculators/tensor/tensor_converter_cpu_test.cc",
    "TensorConverterCpuTest.ShouldCopyMatrixInRowMajorFormatToTensor",
    "TensorConverterCpuTest.ShouldCopyMatrixInColumnMajorFormatToTensor",
    "TensorConverterCpuTest.ConvertMatrixToTensorOnCpu",
)
@pytest.mark.parametrize(
    ("by_rows", "numbers"),
    [(True, list(range(12))), (False, [0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11])],
)
def test_a_matrix_of_three_rows_is_laid_down(by_rows, numbers):
    matrix = Matrix(np.arange(12, dtype=np.float32).reshape(3, 4))

    assert converted(matrix, "MATRIX", row_major_matrix=by_rows).ravel().tolist() == numbers


@pytest.mark.reference(
    "calculators/tensor/tensor_converter_calculator_test.cc", "TensorConverterCalculatorTest.CustomDivAndSub"
)
@pytest.mark.reference(
    "calculators/tflite/tflite_converter_calculator_test.cc", "TfLiteConverterCalculatorTest.CustomDivAndSub"
)
@pytest.mark.parametrize("calculator", BOTH)
def test_a_value_is_divided_and_reduced(calculator):
    made = converted(
        grey([200]),
        calculator=calculator,
        row_major_matrix=True,
        use_custom_normalization=True,
        custom_div=2,
        custom_sub=33,
    )

    assert made.item() == pytest.approx(67, rel=FOUR_ULPS)


@pytest.mark.reference(
    "calculators/tensor/tensor_converter_calculator_test.cc", "TensorConverterCalculatorTest.SetOutputRange"
)
@pytest.mark.reference(
    "calculators/tflite/tflite_converter_calculator_test.cc", "TfLiteConverterCalculatorTest.SetOutputRange"
)
@pytest.mark.parametrize("calculator", BOTH)
@pytest.mark.parametrize(("low", "high"), [(0, 1), (-1, 1), (-0.5, 0.5)])
def test_a_value_is_brought_into_a_range(calculator, low, high):
    made = converted(grey([200]), calculator=calculator, output_tensor_float_range={"min": low, "max": high})

    expected = np.float32(low + 200 * (high - low) / 255)
    assert made.item() == pytest.approx(expected, rel=2 * 2.0**-23)


@pytest.mark.reference(
    "calculators/tensor/tensor_converter_calculator_test.cc",
    "TensorConverterCalculatorTest.ShouldConvertImageWithDefaultOutputRange",
)
def test_a_range_that_is_not_centred_is_from_0_to_1():
    assert converted(grey([200]), zero_center=False).item() == pytest.approx(200 / 255, rel=FOUR_ULPS)


@pytest.mark.parametrize(
    ("options", "numbers"),
    [
        pytest.param(
            {"flip_vertically": True}, [200, 100],
            marks=pytest.mark.reference(
                "calculators/tensor/tensor_converter_calculator_test.cc",
                "TensorConverterCalculatorTest.FlipVertically",
            ),
        ),
        pytest.param(
            {"gpu_origin": "CONVENTIONAL"}, [100, 200],
            marks=pytest.mark.reference(
                "calculators/tensor/tensor_converter_calculator_test.cc",
                "TensorConverterCalculatorTest.GpuOriginIsIgnoredWithCpuImage",
            ),
        ),
    ],
)  # fmt: skip
def test_rows_are_turned_around_only_where_an_option_says_so(options, numbers):
    made = converted(grey([100], [200]), output_tensor_float_range={"min": 0, "max": 255}, **options)

    assert np.rint(made).ravel().tolist() == numbers


@pytest.mark.reference(
    "calculators/tensor/tensor_converter_calculator_test.cc",
    "TensorConverterCalculatorTest.CannotSpecifyBothFlipVerticallyAndGpuOrigin",
)
def test_two_ways_to_turn_an_image_are_a_failed_precondition():
    with pytest.raises(GraphConfigError, match="both flip_vertically and gpu_origin of the") as caught:
        converted(
            grey([100], [200]),
            flip_vertically=True,
            gpu_origin="TOP_LEFT",
            output_tensor_float_range={"min": 0, "max": 255},
        )

    assert caught.value.code == StatusCode.FAILED_PRECONDITION


@pytest.mark.reference(
    "calculators/tensor/tensor_converter_cpu_test.cc",
    "TensorConverterCpuTest.ShouldNormalizeGrey8ImageWithDefaultRange",
    "TensorConverterCpuTest.ShouldNormalizeGrey8ImageWithSpecifiedRange",
    "TensorConverterCpuTest.ShouldNormalizeGrey8ImageFlipped",
    "TensorConverterCpuTest.ShouldNormalizeFloatImageWithDefaultRange",
    "TensorConverterCpuTest.ConvertImageFrameToTensorOnCpu",
)
@pytest.mark.parametrize(
    ("kind", "low", "high", "is_flipped"),
    [
        (ImageFormat.GRAY8, 0, 1, False),
        (ImageFormat.GRAY8, 2, 3, False),
        (ImageFormat.GRAY8, 0, 1, True),
        (ImageFormat.VEC32F1, 0, 1, False),
    ],
)
def test_an_image_of_one_channel_is_scaled(kind, low, high, is_flipped):
    frame = image(kind, 3, 4)

    made = converted(
        frame,
        output_tensor_float_range={"min": low, "max": high},
        flip_vertically=is_flipped,
        max_num_channels=1,
    )

    rows = frame.array[::-1] if is_flipped else frame.array
    expected = rows.astype(np.float64) / 255 * (high - low) + low
    np.testing.assert_allclose(made.reshape(4, 3), expected, rtol=FOUR_ULPS)


@pytest.mark.reference(
    "calculators/tensor/tensor_converter_gl_test.cc",
    "TensorConverterGlTest.ConvertFloat32ImageFrameToTensorOnGpu",
    "TensorConverterGlTest.ConvertScaledFloat32ImageFrameToTensorOnGpu",
    "TensorConverterGlTest.ConvertGrey8ImageFrameToTensorOnGpu",
    "TensorConverterGlTest.ConvertRgbaImageFrameToTensorOnGpu",
    "TensorConverterGlTest.ConvertRgbaImageFrameExcludingAlphaToTensorOnGpu",
    "TensorConverterGlTest.ConvertFlippedFloat32ImageFrameToTensorOnGpu",
    "TensorConverterGlTest.ConvertFlippedRgbaImageFrameToTensorOnGpu",
    "TensorConverterGlTest.ConvertSingleChannelOfRgbaImageFrameToTensorOnGpu",
)
@pytest.mark.parametrize(
    ("kind", "height", "channels", "low", "is_flipped"),
    [
        (ImageFormat.VEC32F1, 4, 1, 0, False),
        (ImageFormat.VEC32F1, 4, 1, -1, False),
        (ImageFormat.GRAY8, 4, 1, 0, False),
        (ImageFormat.SRGBA, 4, 4, 0, False),
        (ImageFormat.SRGBA, 4, 3, 0, False),
        (ImageFormat.VEC32F1, 4, 1, 0, True),
        (ImageFormat.SRGBA, 2, 4, 0, True),
        (ImageFormat.SRGBA, 4, 1, 0, False),
    ],
)
def test_an_image_on_the_gpu_is_scaled_from_its_own_range(kind, height, channels, low, is_flipped):
    frame = image(kind, 3, height)

    made = converted(
        OnGpu(frame),
        "IMAGE_GPU",
        output_tensor_float_range={"min": low, "max": 1},
        flip_vertically=is_flipped,
        max_num_channels=channels,
    )

    kept = frame.array.reshape(height, 3, -1)[:: -1 if is_flipped else 1, :, :channels]
    whole = 1 if kind is ImageFormat.VEC32F1 else 255
    np.testing.assert_allclose(made[0], kept / whole * (1 - low) + low, rtol=0, atol=1e-4)
