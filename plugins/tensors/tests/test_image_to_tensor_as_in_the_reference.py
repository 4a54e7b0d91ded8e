"""The pictures and numbers of MediaPipe's own tests of ImageToTensorCalculator."""

from __future__ import annotations

import math

import cv2
import numpy as np
import pytest

from penstock.errors import GraphConfigError, GraphRunError, StatusCode
from penstock_formats import Image, ImageFormat, ImageFrame, NormalizedRect
from penstock_tensors.inputs.image_region import Region, padded, region_of
from penstock_tensors.inputs.image_to_tensor import ImageToTensorCalculator
from penstock_tensors.messages.image_to_tensor_pb2 import ImageToTensorCalculatorOptions as Options
from penstock_testing import run_calculator

#: How far a pixel may be from the recorded one, of 255: the tolerance of MediaPipe's test.
MOST = 5
MEDIUM = {"x_center": 0.65, "y_center": 0.4, "width": 0.5, "height": 0.5}
LARGE = {"x_center": 0.5, "y_center": 0.5, "width": 1.5, "height": 1.1}
WHOLE = {"x_center": 0.5, "y_center": 0.5, "width": 1, "height": 1}
ZERO = "BORDER_ZERO"
REPEAT = "BORDER_REPLICATE"
UNIT = {"output_tensor_float_range": {"min": 0, "max": 1}}
BYTES = {"output_tensor_int_range": {"min": -128, "max": 127}}
COLOURS = {
    ImageFormat.SRGB: cv2.COLOR_BGR2RGB,
    ImageFormat.SRGBA: cv2.COLOR_BGR2RGBA,
    ImageFormat.GRAY8: cv2.COLOR_BGR2GRAY,
}


@pytest.fixture
def picture(reference_file):
    def read(name, kind=ImageFormat.SRGB):
        pixels = cv2.imread(str(reference_file(f"calculators/tensor/image_to_tensor/{name}")))
        return cv2.cvtColor(pixels, COLOURS[kind])

    return read


def tensor(image, rect=None, **options):
    inputs = {"IMAGE": [(0, image)]}
    if rect is not None:
        inputs["NORM_RECT"] = [(0, NormalizedRect(**rect))]
    ran = run_calculator(ImageToTensorCalculator, inputs, outputs=["TENSOR"], options=Options(**options))
    (packet,) = ran.outputs["TENSOR"]
    return packet.payload.array


def difference(made, low, high, expected):
    """Return the greatest difference of pixels after the values are bytes again."""
    scale = 255 / (high - low)
    again = np.rint(made[0].astype(np.float64) * scale - low * scale).clip(0, 255)
    return np.abs(again.reshape(expected.shape) - expected).max()


@pytest.mark.reference(
    "calculators/tensor/image_to_tensor_calculator_test.cc",
    "ImageToTensorCalculatorParameterizedTest.ConvertsImageToTensor",
)
@pytest.mark.parametrize(
    ("border", "size", "keeps_ratio", "kind", "rect", "degrees", "expected", "values"),
    [
        (None, (256, 256), True, "SRGB", MEDIUM, 0, "medium_sub_rect_keep_aspect", (0, 1)),
        (ZERO, (256, 256), True, "SRGB", MEDIUM, 0, "medium_sub_rect_keep_aspect_border_zero", (0, 1)),
        (REPEAT, (256, 256), True, "SRGB", MEDIUM, 90, "medium_sub_rect_keep_aspect_with_rotation", (0, 1)),
        (
            ZERO, (256, 256), True, "SRGB", MEDIUM, 90,
            "medium_sub_rect_keep_aspect_with_rotation_border_zero", (0, 1),
        ),
        (REPEAT, (256, 256), False, "SRGB", MEDIUM, -45, "medium_sub_rect_with_rotation", (-1, 1)),
        (ZERO, (256, 256), False, "SRGB", MEDIUM, -45, "medium_sub_rect_with_rotation_border_zero", (-1, 1)),
        (REPEAT, (128, 128), False, "SRGB", LARGE, 0, "large_sub_rect", (0, 1)),
        (ZERO, (128, 128), False, "SRGB", LARGE, 0, "large_sub_rect_border_zero", (0, 1)),
        (REPEAT, (128, 128), True, "SRGB", LARGE, 0, "large_sub_rect_keep_aspect", (0, 1)),
        (ZERO, (128, 128), True, "SRGB", LARGE, 0, "large_sub_rect_keep_aspect_border_zero", (0, 1)),
        (None, (128, 128), True, "SRGBA", LARGE, -15, "large_sub_rect_keep_aspect_with_rotation", (0, 1)),
        (None, (128, 128), True, "GRAY8", LARGE, -15, "large_sub_rect_keep_aspect_with_rotation", (0, 1)),
        (
            ZERO, (128, 128), True, "SRGBA", LARGE, -15,
            "large_sub_rect_keep_aspect_with_rotation_border_zero", (0, 1),
        ),
        (
            ZERO, (128, 128), True, "GRAY8", LARGE, -15,
            "large_sub_rect_keep_aspect_with_rotation_border_zero", (-0.5, 0.5),
        ),
        (REPEAT, (64, 128), True, "SRGBA", WHOLE, 0, "noop_except_range", (-10, 10)),
        (ZERO, (64, 128), True, "SRGBA", WHOLE, 0, "noop_except_range", (0, 1)),
        (ZERO, None, False, "SRGB", WHOLE, 0, "noop_except_range", (-1, 1)),
    ],
)  # fmt: skip
def test_a_region_is_the_recorded_picture(  # noqa: PLR0913, PLR0917  # a case has eight parts
    picture, border, size, keeps_ratio, kind, rect, degrees, expected, values
):
    form = ImageFormat[kind]
    recorded = picture(f"{expected}.png", ImageFormat.GRAY8 if kind == "GRAY8" else ImageFormat.SRGB)
    options = {"border_mode": border} if border else {}
    if size:
        options |= {"output_tensor_width": size[0], "output_tensor_height": size[1]}

    made = tensor(
        ImageFrame(picture("input.jpg", form), form),
        rect | {"rotation": math.radians(degrees)},
        keep_aspect_ratio=keeps_ratio,
        output_tensor_float_range={"min": values[0], "max": values[1]},
        **options,
    )

    assert made.dtype == np.float32
    assert difference(made, *values, recorded) <= MOST


@pytest.mark.parametrize(
    ("wrap", "values", "element_type", "low"),
    [
        pytest.param(
            ImageFrame, {"output_tensor_uint_range": {"min": 0, "max": 255}}, np.uint8, 0,
            marks=pytest.mark.reference(
                "calculators/tensor/image_to_tensor_calculator_test.cc",
                "ImageToTensorCalculatorTest.MediumSubRectKeepAspectUIntRange",
            ),
        ),
        pytest.param(
            ImageFrame, BYTES, np.int8, -128,
            marks=pytest.mark.reference(
                "calculators/tensor/image_to_tensor_calculator_test.cc",
                "ImageToTensorCalculatorTest.MediumSubRectKeepAspectIntRange",
            ),
        ),
        pytest.param(
            lambda pixels: Image(ImageFrame(pixels)), BYTES, np.int8, -128,
            marks=pytest.mark.reference(
                "calculators/tensor/image_to_tensor_calculator_test.cc",
                "ImageToTensorCalculatorTest.MediumSubRectKeepAspectImageInput",
            ),
        ),
    ],
)  # fmt: skip
def test_a_region_as_bytes_is_the_recorded_picture(picture, wrap, values, element_type, low):
    made = tensor(
        wrap(picture("input.jpg")),
        MEDIUM,
        output_tensor_width=256,
        output_tensor_height=256,
        keep_aspect_ratio=True,
        **values,
    )

    assert made.dtype == element_type
    assert difference(made, low, low + 255, picture("medium_sub_rect_keep_aspect.png")) <= MOST


@pytest.mark.reference(
    "calculators/tensor/image_to_tensor_calculator_test.cc",
    "ImageToTensorCalculatorTest.CanBeUsedWithoutRect",
)
def test_without_a_rect_the_whole_picture_is_taken(picture):
    made = tensor(
        Image(ImageFrame(picture("input.jpg"))),
        output_tensor_width=64,
        output_tensor_height=128,
        keep_aspect_ratio=True,
        **BYTES,
    )

    assert difference(made, -128, 127, picture("noop_except_range.png")) <= MOST


@pytest.mark.reference(
    "calculators/tensor/image_to_tensor_calculator_test.cc",
    "ImageToTensorCalculatorTest.CanBeUsedWithoutGpuServiceSet",
)
def test_an_image_in_main_memory_needs_no_service_of_the_gpu():
    image = Image(ImageFrame(np.zeros((256, 128, 4), np.uint8), ImageFormat.SRGBA))

    assert tensor(image, **UNIT).shape == (1, 256, 128, 3)


@pytest.mark.parametrize(
    "rect",
    [
        pytest.param(
            {"x_center": math.nan, "y_center": 0.5, "width": 0.5, "height": 0.5},
            marks=pytest.mark.reference(
                "calculators/tensor/image_to_tensor_calculator_test.cc",
                "ImageToTensorCalculatorTest.InvalidRoiNaNValuesCausesError",
            ),
        ),
        pytest.param(
            {"x_center": math.nan, "y_center": 0.1, "width": 1, "height": 1},
            marks=pytest.mark.reference(
                "calculators/tensor/image_to_tensor_utils_test.cc", "ValidateRoi.NanCenterX"
            ),
        ),
        pytest.param(
            {"x_center": 0.5, "y_center": 0.5, "width": 0, "height": 0.5},
            marks=pytest.mark.reference(
                "calculators/tensor/image_to_tensor_calculator_test.cc",
                "ImageToTensorCalculatorTest.InvalidRoiZeroDimensionsCausesError",
            ),
        ),
        pytest.param(
            {"x_center": 0.1, "y_center": math.nan, "width": 1, "height": 1},
            marks=pytest.mark.reference(
                "calculators/tensor/image_to_tensor_utils_test.cc", "ValidateRoi.NanCenterY"
            ),
        ),
        pytest.param(
            {"x_center": 0.1, "y_center": 0.1, "width": math.nan, "height": 1},
            marks=pytest.mark.reference(
                "calculators/tensor/image_to_tensor_utils_test.cc", "ValidateRoi.NanWidth"
            ),
        ),
        pytest.param(
            {"x_center": 0.1, "y_center": 0.1, "width": 1, "height": math.nan},
            marks=pytest.mark.reference(
                "calculators/tensor/image_to_tensor_utils_test.cc", "ValidateRoi.NanHeight"
            ),
        ),
        pytest.param(
            {"x_center": 0.1, "y_center": 0.1, "width": 1, "height": 1, "rotation": math.nan},
            marks=pytest.mark.reference(
                "calculators/tensor/image_to_tensor_utils_test.cc", "ValidateRoi.NanRotation"
            ),
        ),
        pytest.param(
            {"x_center": 0.1, "y_center": 0.1, "width": 0, "height": 1},
            marks=pytest.mark.reference(
                "calculators/tensor/image_to_tensor_utils_test.cc", "ValidateRoi.InvalidDimensions"
            ),
        ),
        pytest.param(
            {"x_center": 0.1, "y_center": 0.1, "width": 1, "height": -0.01},
            marks=pytest.mark.reference(
                "calculators/tensor/image_to_tensor_utils_test.cc", "ValidateRoi.InvalidDimensions"
            ),
        ),
    ],
)  # fmt: skip
def test_a_region_that_is_none_is_an_invalid_argument(rect):
    image = Image(ImageFrame(np.zeros((128, 128, 3), np.uint8)))
    with pytest.raises(GraphRunError, match="must be finite and its sides above 0") as caught:
        tensor(image, rect, output_tensor_width=128, output_tensor_height=128, **UNIT)

    assert caught.value.code == StatusCode.INVALID_ARGUMENT


@pytest.mark.reference("calculators/tensor/image_to_tensor_utils_test.cc", "ValidateRoi.ValidRoi")
def test_a_region_with_sides_is_taken():
    image = Image(ImageFrame(np.zeros((100, 100, 3), np.uint8)))

    made = tensor(image, {"x_center": 0.1, "y_center": 0.1, "width": 1, "height": 1}, **UNIT)

    assert made.shape == (1, 100, 100, 3)


@pytest.mark.reference(
    "calculators/tensor/image_to_tensor_utils_test.cc",
    "GetRoi.NoNormRect",
    "GetRoi.WholeImageNormRect",
    "GetRoi.ExpandedNormRect",
)
@pytest.mark.parametrize(
    ("rect", "size", "region"),
    [
        (None, (4, 4), (2, 2, 4, 4, 0)),
        (None, (25, 15), (12.5, 7.5, 25, 15, 0)),
        (WHOLE | {"rotation": 0}, (4, 4), (2, 2, 4, 4, 0)),
        (WHOLE | {"rotation": 0}, (25, 15), (12.5, 7.5, 25, 15, 0)),
        ({"x_center": 0.5, "y_center": 1, "width": 4, "height": 2, "rotation": 3}, (4, 4), (2, 4, 16, 8, 3)),
        (
            {"x_center": 0.5, "y_center": 1, "width": 4, "height": 2, "rotation": 3},
            (25, 15),
            (12.5, 15, 100, 30, 3),
        ),
    ],
)
def test_a_rect_is_a_region_of_pixels(rect, size, region):
    assert region_of(NormalizedRect(**rect) if rect else None, *size) == region


@pytest.mark.reference(
    "calculators/tensor/image_to_tensor_utils_test.cc", "PadRoi.HorizontalPadding", "PadRoi.VerticalPadding"
)
@pytest.mark.parametrize(
    ("region", "grown", "padding"),
    [
        (Region(20, 10, 100, 200, 5), (20, 10, 200, 200, 5), (0.25, 0, 0.25, 0)),
        (Region(1, 2, 21, 19, 3), (1, 2, 21, 21, 3), (0, (21 - 19) / 2 / 21, 0, (21 - 19) / 2 / 21)),
    ],
)
def test_a_region_grows_on_the_shorter_side(region, grown, padding):
    found, found_padding = padded(region, 10, 10)

    assert found == grown
    assert found_padding == pytest.approx(padding, abs=1e-6)


@pytest.mark.reference("calculators/tensor/image_to_tensor_utils_test.cc", "PadRoi.NoPadding")
def test_a_region_that_is_stretched_is_not_padded():
    region = {"x_center": 0.2, "y_center": 0.05, "width": 1, "height": 1, "rotation": 5}
    image = ImageFrame(np.zeros((200, 100, 3), np.uint8))
    sent = run_calculator(
        ImageToTensorCalculator,
        {"IMAGE": [(0, image)], "NORM_RECT": [(0, NormalizedRect(**region))]},
        outputs=["TENSOR", "LETTERBOX_PADDING", "MATRIX"],
        options=Options(
            output_tensor_width=10, output_tensor_height=10, keep_aspect_ratio=False,
            output_tensor_float_range={"min": 0, "max": 1},
        ),
    ).outputs  # fmt: skip

    assert sent["LETTERBOX_PADDING"][0].payload == (0, 0, 0, 0)
    matrix = np.reshape(sent["MATRIX"][0].payload, (4, 4))
    sides = matrix[:2, :2] * [[100], [200]]  # from the tensor to pixels
    assert np.hypot(*sides) == pytest.approx([100, 200], rel=1e-6)
    centre = matrix @ [0.5, 0.5, 0, 1] * [100, 200, 1, 1]
    assert centre[:2] == pytest.approx([20, 10], rel=1e-5)


@pytest.mark.reference(
    "calculators/tensor/image_to_tensor_utils_test.cc",
    "GetValueRangeTransformation.PixelToFloatZeroCenter",
    "GetValueRangeTransformation.PixelToFloat",
    "GetValueRangeTransformation.PixelToPixelNoOp",
)
@pytest.mark.parametrize(("low", "high", "scale"), [(-1, 1, 2 / 255), (0, 1, 1 / 255), (0, 255, 1)])
def test_values_of_pixels_are_scaled_and_moved(low, high, scale):
    pixels = np.arange(256, dtype=np.uint8).reshape(16, 16)
    values = {"min": low, "max": high}

    made = tensor(ImageFrame(pixels, ImageFormat.GRAY8), output_tensor_float_range=values)

    np.testing.assert_allclose(made.ravel(), np.arange(256) * scale + low, rtol=0, atol=1.5e-7 * high)


@pytest.mark.reference(
    "calculators/tensor/image_to_tensor_utils_test.cc",
    "ValidateOptionOutputDims.ImageToTensorCalcOptions",
    "GetOutputTensorParams.ImageToTensorCalcOptionsSetValues",
    "GetOutputTensorParams.ImageToTensorCalcOptionsNoTensorDims",
)
@pytest.mark.parametrize(
    ("options", "shape", "most"),
    [
        ({"output_tensor_float_range": {"min": 0, "max": 1}}, (1, 200, 100, 3), 1),
        ({"output_tensor_float_range": {"min": 0, "max": 255}}, (1, 200, 100, 3), 255),
        ({"output_tensor_float_range": {"min": 0, "max": 255}}, (1, 7, 5, 3), 255),
    ],
)
def test_options_are_size_and_range_of_one_image(options, shape, most):
    if shape[1] > 7:
        options = options | {"output_tensor_width": 100, "output_tensor_height": 200}
    pixels = np.zeros((7, 5, 3), np.uint8)
    pixels[:4] = 255

    made = tensor(ImageFrame(pixels), **options)

    assert made.shape == shape
    assert (made.min(), made.max()) == (0, most)


@pytest.mark.reference(
    "calculators/tensor/image_to_tensor_utils_test.cc", "ValidateOptionOutputDims.EmptyProto"
)
@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, "no range of values of the image's tensor is set"),
        (
            {"output_tensor_float_range": {"min": 1, "max": 0}},
            "output_tensor_float_range is from 1 to 0, but min must be below max",
        ),
    ],
)
def test_a_range_is_needed(options, words):
    with pytest.raises(GraphConfigError, match=words) as caught:
        tensor(ImageFrame(np.zeros((2, 2, 3), np.uint8)), **options)

    assert caught.value.code == StatusCode.INTERNAL


@pytest.mark.reference("calculators/tensor/image_to_tensor_utils_test.cc", "GetBorderMode.GetBorderMode")
def test_the_border_is_the_nearest_pixel_unless_it_is_zero():
    white = ImageFrame(np.full((8, 8, 3), 255, np.uint8))
    outside = {"x_center": 0, "y_center": 0.5, "width": 1, "height": 1}

    assert tensor(white, outside, border_mode="BORDER_UNSPECIFIED", **UNIT).min() == 1
    assert tensor(white, outside, border_mode=ZERO, **UNIT).min() == 0


@pytest.mark.reference(
    "calculators/tensor/image_to_tensor_utils_test.cc", "GetOutputTensorType.GetOutputTensorType"
)
@pytest.mark.parametrize(
    ("options", "element_type"),
    [
        (UNIT, np.float32),
        ({"output_tensor_int_range": {"min": -128, "max": 127}}, np.int8),
        ({"output_tensor_int_range": {"min": 0, "max": 127}}, np.uint8),
        ({"output_tensor_uint_range": {"min": 0, "max": 255}}, np.uint8),
    ],
)
def test_the_range_decides_on_the_element_type(options, element_type):
    assert tensor(ImageFrame(np.zeros((2, 2, 3), np.uint8)), **options).dtype == element_type


class OnGpu:
    """An image on the GPU, as the pack for the GPU has them."""

    format, width, height = ImageFormat.SRGBA, 2, 2

    def frame(self):
        return ImageFrame(np.full((2, 2, 4), 255, np.uint8), ImageFormat.SRGBA)

    def read_view(self, view):
        raise NotImplementedError


@pytest.mark.reference(
    "calculators/tensor/image_to_tensor_utils_test.cc", "GetOutputTensorType.GetOutputTensorType"
)
@pytest.mark.parametrize(
    ("tag", "image"), [("IMAGE_GPU", OnGpu()), ("IMAGE", Image(OnGpu()))], ids=["buffer", "image"]
)
@pytest.mark.parametrize(
    ("options", "most"),
    [
        (UNIT, 1),
        (BYTES, 127),
        ({"output_tensor_int_range": {"min": 0, "max": 127}}, 127),
        ({"output_tensor_uint_range": {"min": 0, "max": 255}}, 255),
    ],
)
def test_an_image_on_the_gpu_becomes_floats_with_each_range(tag, image, options, most):
    ran = run_calculator(
        ImageToTensorCalculator, {tag: [(0, image)]}, outputs=["TENSOR"], options=Options(**options)
    )
    (packet,) = ran.outputs["TENSOR"]
    assert packet.payload.array.dtype == np.float32
    assert packet.payload.array.tolist() == np.full((1, 2, 2, 3), most).tolist()
