"""SegmentationSmoothingCalculator, InverseMatrixCalculator, WarpAffineCalculator, -Cpu and -Gpu."""

from __future__ import annotations

import math
from pathlib import Path

import cv2
import numpy as np
import pytest

from penstock.errors import GraphRunError
from penstock_formats import Image, ImageFormat, ImageFrame, NormalizedRect
from penstock_testing import run_calculator
from penstock_vision.geometry.image_size import ImageSize
from penstock_vision.geometry.matrix_inverse import InverseMatrixCalculator
from penstock_vision.geometry.region_matrix import region_matrix
from penstock_vision.images.segmentation_smoothing import SegmentationSmoothingCalculator
from penstock_vision.images.warp_affine import (
    WarpAffineCalculator,
    WarpAffineCalculatorCpu,
    WarpAffineCalculatorGpu,
)
from penstock_vision.messages.segmentation_smoothing_pb2 import SegmentationSmoothingCalculatorOptions
from penstock_vision.messages.warp_affine_pb2 import WarpAffineCalculatorOptions

#: Pictures of MediaPipe's tests.
PICTURES = Path(__file__).resolve().parents[4] / "shared/data/reference/calculators/tensor/image_to_tensor"
UNIT = tuple(np.eye(4).ravel().tolist())


def image(pixels):
    return Image(ImageFrame(np.array(pixels, np.float32)))


# --- smoothing ------------------------------------------------------------------------------------


def smooth(mask, previous, ratio=1.0):
    inputs = {"MASK": mask, "MASK_PREVIOUS": previous}
    return run_calculator(
        SegmentationSmoothingCalculator,
        {tag: [] if one is None else [(3, one)] for tag, one in inputs.items()},
        outputs=["MASK_SMOOTHED"],
        options=SegmentationSmoothingCalculatorOptions(combine_with_previous_ratio=ratio),
    ).outputs["MASK_SMOOTHED"]


def smoothed(mask, previous, ratio=1.0):
    (packet,) = smooth(image(mask), image(previous), ratio)
    assert packet.payload.format is ImageFormat.VEC32F1
    return packet.payload.array


@pytest.mark.parametrize(("ratio", "expected"), [(0.0, 0.5), (0.5, 0.75), (1.0, 1.0)])
def test_an_uncertain_pixel_takes_the_ratio_of_the_previous_one(ratio, expected):
    assert smoothed([[0.5]], [[1.0]], ratio) == [[expected]]


def test_certain_pixels_stay():
    found = smoothed([[0.0, 1.0]], [[0.5, 0.5]])

    assert found[0].tolist() == pytest.approx([0.0, 1.0], abs=1e-4)


def test_between_them_the_polynomial_of_the_reference_counts():
    # written out, in double precision
    p = np.linspace(0, 1, 101)
    x = (p - 0.5) ** 2
    polynomial = 5.68842 * x - 0.748699 * x**2 - 57.8051 * x**3 + 291.309 * x**4 - 624.717 * x**5
    expected = p + (0.25 - p) * (1 - np.minimum(1, polynomial)) * 0.75

    found = smoothed(p[None], np.full((1, 101), 0.25), 0.75)

    assert np.abs(found - expected).max() < 1e-6


def test_the_first_mask_is_forwarded_and_without_a_mask_nothing_is_sent():
    mask = image([[0.5]])

    (packet,) = smooth(mask, None)

    assert packet.payload is mask
    assert smooth(None, mask) == []


@pytest.mark.reference(
    "calculators/image/segmentation_smoothing_calculator_test.cc",
    "SegmentationSmoothingCalculatorTest.TestSmoothing",
)
def test_a_nearly_certain_mask_moves_a_little_towards_a_blurred_one():
    mask = np.zeros((4, 4), np.float32)
    mask[1:3, 1:3] = 0.98
    blurred = cv2.blur(mask, (3, 3))

    assert np.array_equal(smoothed(mask, blurred, 0.0), mask)
    found = smoothed(mask, blurred, 1.0)
    assert (found[1:3, 1:3] != mask[1:3, 1:3]).all()
    assert np.abs(found - mask).max() <= 3 / 255


def test_masks_of_other_sizes_or_formats_are_refused():
    with pytest.raises(GraphRunError, match="sizes must be equal"):
        smooth(image([[0.5]]), image([[0.5, 0.5]]))
    with pytest.raises(GraphRunError, match="a mask to smooth is VEC32F1"):
        smooth(Image(ImageFrame(np.zeros((1, 1), np.uint8))), image([[0.5]]))


# --- inverse --------------------------------------------------------------------------------------


def inverted(numbers):
    run = run_calculator(InverseMatrixCalculator, {"MATRIX": [(3, numbers)]}, outputs=["MATRIX"])
    (packet,) = run.outputs["MATRIX"]
    assert packet.timestamp == 3
    return packet.payload


def test_a_matrix_times_its_inverse_is_one():
    given = (0.0, 2.0, 0.0, 0.25, -0.5, 0.0, 0.0, 0.5, 0.0, 0.0, 0.125, 0.0, 0.0, 0.0, 0.0, 1.0)

    found = inverted(given)

    assert len(found) == 16
    assert all(type(number) is float and number == np.float32(number) for number in found)
    assert np.array_equal(np.reshape(given, (4, 4)) @ np.reshape(found, (4, 4)), np.eye(4))


@pytest.mark.reference(
    "calculators/util/inverse_matrix_calculator_test.cc",
    "InverseMatrixCalculatorTest.Identity",
    "InverseMatrixCalculatorTest.Translation",
    "InverseMatrixCalculatorTest.Scale",
    "InverseMatrixCalculatorTest.Rotation90",
    "InverseMatrixCalculatorTest.CheckPrecision",
)
@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ([(1, 0, 0, 0), (0, 1, 0, 0)], [(1, 0, 0, 0), (0, 1, 0, 0)]),
        ([(1, 0, 0, 2), (0, 1, 0, -5)], [(1, 0, 0, -2), (0, 1, 0, 5)]),
        ([(5, 0, 0, 0), (0, 2, 0, 0)], [(0.2, 0, 0, 0), (0, 0.5, 0, 0)]),
        ([(0, -1, 0, 0), (1, 0, 0, 0)], [(0, 1, 0, 0), (-1, 0, 0, 0)]),
        ([(1e-5, 0, 0, 0), (0, 1e-5, 0, 0)], [(1e5, 0, 0, 0), (0, 1e5, 0, 0)]),
    ],
)
def test_inverses_of_moving_scaling_and_turning(rows, expected):
    below = [(0.0, 0.0, 1.0, 0.0), (0.0, 0.0, 0.0, 1.0)]

    found = inverted(tuple(float(one) for row in [*rows, *below] for one in row))

    np.testing.assert_allclose(found, np.float32([*expected, *below]).ravel(), rtol=4 * 2**-23, atol=0)


def test_a_small_matrix_has_an_inverse_and_a_singular_one_has_none():
    scale = 1e-3  # a determinant of 1e-12
    assert inverted(tuple(scale * number for number in UNIT))[0] == pytest.approx(1000)
    for singular in ((0.0,) * 16, tuple(1e-4 * number for number in UNIT)):  # the second: 1e-16
        with pytest.raises(GraphRunError, match="no inverse: its determinant is"):
            inverted(singular)


@pytest.mark.parametrize("numbers", [(1.0,) * 9, ("a",) * 16])
def test_what_is_no_matrix_is_refused(numbers):
    with pytest.raises(GraphRunError, match="16 numbers, row after row"):
        inverted(numbers)


# --- warp -----------------------------------------------------------------------------------------


def warp(frame, numbers=UNIT, size=(4, 4), calculator=WarpAffineCalculatorCpu, **options):
    inputs = {"IMAGE": frame, "MATRIX": numbers, "OUTPUT_SIZE": size}
    return run_calculator(
        calculator,
        {tag: [] if one is None else [(3, one)] for tag, one in inputs.items()},
        outputs=["IMAGE"],
        options=WarpAffineCalculatorOptions(**options),
    ).outputs["IMAGE"]


def pixels(*arguments, **options):
    (packet,) = warp(*arguments, **options)
    return packet.payload.array


RAMP = ImageFrame(np.arange(16, dtype=np.float32).reshape(4, 4))


def moved(x, y):
    return (1.0, 0.0, 0.0, x, 0.0, 1.0, 0.0, y, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0)


def test_the_matrix_maps_the_output_to_the_image():
    found = pixels(RAMP, moved(0.25, 0.5))

    assert found[:2, :3].tolist() == RAMP.array[2:, 1:].tolist()


@pytest.mark.parametrize(
    ("options", "beyond"),
    [({}, 15.0), ({"border_mode": "BORDER_REPLICATE"}, 15.0), ({"border_mode": "BORDER_ZERO"}, 0.0)],
)
def test_pixels_beyond_the_edge(options, beyond):
    assert pixels(RAMP, moved(1.0, 1.0), **options)[3, 3] == beyond


def test_the_output_has_the_size_asked_for():
    found = pixels(RAMP, size=(8, 2))

    assert found.shape == (2, 8)
    assert found[0].tolist() == [0, 0.5, 1, 1.5, 2, 2.5, 3, 3]  # from the corner of a pixel, as the reference


def test_cubic_interpolation_is_that_of_opencv():
    rng = np.random.default_rng(1)
    frame = ImageFrame(rng.random((4, 4)).astype(np.float32))
    rows = np.float32([[1, 0, 0.5], [0, 1, 0.25]])

    found = pixels(frame, moved(0.125, 0.0625), interpolation="INTER_CUBIC")

    flags = cv2.INTER_CUBIC | cv2.WARP_INVERSE_MAP
    expected = cv2.warpAffine(frame.array, rows, (4, 4), flags=flags, borderMode=cv2.BORDER_REPLICATE)
    assert np.array_equal(found, expected)
    assert not np.array_equal(found, pixels(frame, moved(0.125, 0.0625)))


class OnGpu:
    """An image on a GPU, as far as the calculators ask."""

    def __init__(self, frame):
        self._frame = frame
        self.width, self.height, self.nbytes = frame.width, frame.height, frame.nbytes

    @classmethod
    def of_frame(cls, frame):
        return cls(frame)

    def frame(self):
        return self._frame

    def read_view(self, view):
        raise AssertionError(f"{view} is not needed")


def test_what_is_on_no_gpu_is_refused():
    with pytest.raises(
        GraphRunError, match="holds a 'ImageFrame', but this calculator takes the handle of an image"
    ):
        warp(RAMP, calculator=WarpAffineCalculatorGpu)


def picture(name):
    """Return a picture of the reference's tests, (H, W, 3), red first, or skip where it is not there."""
    path = PICTURES / name
    if not path.exists():
        pytest.skip(f"the reference's picture is not here: {path}")
    return cv2.cvtColor(cv2.imread(str(path)), cv2.COLOR_BGR2RGB)


def matrix_of(rect, size, target, keeps):
    """Return the matrix from a target to a region; with `keeps` the region grows to its proportions."""
    rows, columns = size
    width, height = rect.width * columns, rect.height * rows
    if keeps:
        ratio = target[1] / target[0]
        width, height = max(width, height / ratio), max(height, width * ratio)
    grown = NormalizedRect(
        x_center=rect.x_center,
        y_center=rect.y_center,
        width=width / columns,
        height=height / rows,
        rotation=rect.rotation,
    )
    return tuple(float(number) for number in region_matrix(grown, ImageSize(columns, rows)))


def medium(degrees):
    rotation = math.radians(degrees)
    return NormalizedRect(x_center=0.65, y_center=0.4, width=0.5, height=0.5, rotation=rotation)


def large(degrees):
    rotation = math.radians(degrees)
    return NormalizedRect(x_center=0.5, y_center=0.5, width=1.5, height=1.1, rotation=rotation)


WHOLE = NormalizedRect(x_center=0.5, y_center=0.5, width=1, height=1)
ZERO, REPLICATE = {"border_mode": "BORDER_ZERO"}, {"border_mode": "BORDER_REPLICATE"}
TURNED = "medium_sub_rect_with_rotation_border_zero"


@pytest.mark.reference(
    "calculators/image/warp_affine_calculator_test.cc",
    "WarpAffineCalculatorTest.MediumSubRectKeepAspect",
    "WarpAffineCalculatorTest.MediumSubRectKeepAspectBorderZero",
    "WarpAffineCalculatorTest.MediumSubRectKeepAspectWithRotation",
    "WarpAffineCalculatorTest.MediumSubRectKeepAspectWithRotationBorderZero",
    "WarpAffineCalculatorTest.MediumSubRectWithRotation",
    "WarpAffineCalculatorTest.MediumSubRectWithRotationBorderZero",
    "WarpAffineCalculatorTest.MediumSubRectWithRotationBorderZeroInterpCubic",
    "WarpAffineCalculatorTest.MediumSubRectWithRotationBorderZeroInterpLinear",
    "WarpAffineCalculatorTest.MediumSubRectWithRotationBorderZeroInterpNearestNeighbor",
    "WarpAffineCalculatorTest.LargeSubRect",
    "WarpAffineCalculatorTest.LargeSubRectBorderZero",
    "WarpAffineCalculatorTest.LargeSubRectKeepAspect",
    "WarpAffineCalculatorTest.LargeSubRectKeepAspectBorderZero",
    "WarpAffineCalculatorTest.LargeSubRectKeepAspectWithRotation",
    "WarpAffineCalculatorTest.LargeSubRectKeepAspectWithRotationBorderZero",
    "WarpAffineCalculatorTest.NoOp",
    "WarpAffineCalculatorTest.NoOpBorderZero",
)
@pytest.mark.parametrize(
    ("expected", "rect", "size", "keeps", "options"),
    [
        ("medium_sub_rect_keep_aspect", medium(0), (256, 256), True, {}),
        ("medium_sub_rect_keep_aspect_border_zero", medium(0), (256, 256), True, ZERO),
        ("medium_sub_rect_keep_aspect_with_rotation", medium(90), (256, 256), True, REPLICATE),
        ("medium_sub_rect_keep_aspect_with_rotation_border_zero", medium(90), (256, 256), True, ZERO),
        ("medium_sub_rect_with_rotation", medium(-45), (256, 256), False, REPLICATE),
        (TURNED, medium(-45), (256, 256), False, ZERO),
        (
            f"{TURNED}_interp_cubic",
            medium(-45),
            (256, 256),
            False,
            {**ZERO, "interpolation": "INTER_CUBIC"},
        ),
        (TURNED, medium(-45), (256, 256), False, {**ZERO, "interpolation": "INTER_LINEAR"}),
        (TURNED, medium(-45), (256, 256), False, {**ZERO, "interpolation": "INTER_NEAREST"}),
        ("large_sub_rect", large(0), (128, 128), False, REPLICATE),
        ("large_sub_rect_border_zero", large(0), (128, 128), False, ZERO),
        ("large_sub_rect_keep_aspect", large(0), (128, 128), True, REPLICATE),
        ("large_sub_rect_keep_aspect_border_zero", large(0), (128, 128), True, ZERO),
        ("large_sub_rect_keep_aspect_with_rotation", large(-15), (128, 128), True, {}),
        ("large_sub_rect_keep_aspect_with_rotation_border_zero", large(-15), (128, 128), True, ZERO),
        ("noop_except_range", WHOLE, (64, 128), True, REPLICATE),
        ("noop_except_range", WHOLE, (64, 128), True, ZERO),
    ],
)
@pytest.mark.parametrize(
    ("calculator", "held", "origin"),
    [
        (WarpAffineCalculatorCpu, lambda frame: frame, {}),
        (WarpAffineCalculator, Image, {}),
        (WarpAffineCalculatorGpu, OnGpu, {"gpu_origin": "TOP_LEFT"}),
        (WarpAffineCalculator, lambda frame: Image(OnGpu(frame)), {"gpu_origin": "TOP_LEFT"}),
    ],
)
def test_regions_look_as_those_of_the_reference(  # noqa: PLR0913, PLR0917  # one case
    calculator, held, origin, expected, rect, size, keeps, options
):
    given, wanted = picture("input.jpg"), picture(f"{expected}.png").astype(float)
    image, matrix = held(ImageFrame(given)), matrix_of(rect, given.shape[:2], size, keeps)

    (packet,) = warp(image, matrix, size, calculator=calculator, **options, **origin)

    found = packet.payload
    assert type(found) is type(image)
    if isinstance(found, Image):
        assert type(found.held) is type(image.held)
    array = found.frame().array if isinstance(found, OnGpu) else found.array
    likeness = 1 - np.linalg.norm(array - wanted) / np.linalg.norm(wanted)
    assert likeness >= (0.8 if options.get("interpolation") == "INTER_NEAREST" else 0.99)


def test_the_nearest_pixel_is_taken_where_it_is_asked_for():
    found = pixels(RAMP, size=(8, 2), interpolation="INTER_NEAREST")

    assert set(found[0].tolist()) == {0, 1, 2, 3}


@pytest.mark.parametrize("shape", [(4, 4), (4, 4, 3), (4, 4, 4)])
def test_the_format_stays(shape):
    frame = ImageFrame(np.zeros(shape, np.uint8))

    (packet,) = warp(frame)

    assert packet.payload.format is frame.format


def test_an_image_gives_an_image():
    (packet,) = warp(Image(RAMP), calculator=WarpAffineCalculator)

    assert isinstance(packet.payload, Image)
    assert np.array_equal(packet.payload.array, RAMP.array)


@pytest.mark.parametrize("given", [(None, UNIT, (4, 4)), (RAMP, None, (4, 4)), (RAMP, UNIT, None)])
def test_nothing_is_sent_where_one_of_three_is_missing(given):
    assert warp(*given) == []


@pytest.mark.parametrize("size", [(0, 4), (4,), ("a", "b")])
def test_a_size_that_is_none_is_refused(size):
    with pytest.raises(GraphRunError, match=r"but the size of a warped image is \(width, height\)"):
        warp(RAMP, UNIT, size)
