"""ImageToTensorCalculator: sizes, values, borders, what it sends and what it refuses."""

from __future__ import annotations

import numpy as np
import pytest

from penstock.errors import GraphConfigError, GraphRunError
from penstock_formats import Image, ImageFormat, ImageFrame, NormalizedRect, Tensor
from penstock_tensors.inputs.image_to_tensor import ImageToTensorCalculator
from penstock_tensors.messages.image_to_tensor_pb2 import ImageToTensorCalculatorOptions as Options
from penstock_testing import check_calculator, run_calculator

UNIT = Options.FloatRange(min=0, max=1)
RANDOM = np.random.default_rng(5)
PICTURE = RANDOM.integers(0, 256, (30, 40, 3)).astype(np.uint8)


def run(image, rect=None, *, outputs=("TENSORS",), **options):
    inputs = {"IMAGE": [(7, image)]}
    if rect is not None:
        inputs["NORM_RECT"] = [(7, rect)]
    if not any(name.endswith("range") for name in options):
        options["output_tensor_float_range"] = UNIT
    return run_calculator(
        ImageToTensorCalculator, inputs, outputs=list(outputs), options=Options(**options)
    ).outputs


def tensor(*arguments, **options):
    ((packet,),) = run(*arguments, **options).values()
    assert packet.timestamp == 7
    (made,) = packet.payload
    assert isinstance(made, Tensor)
    return made.array


def fused(scale, offset):
    """Return what each pixel value becomes with one rounding, by exact arithmetic."""
    exact = [int(v) * float(scale) + float(offset) for v in range(256)]
    return np.array(exact, np.float64).astype(np.float32)


@pytest.mark.parametrize("wrap", [ImageFrame, lambda pixels: Image(ImageFrame(pixels))])
def test_the_whole_image_becomes_floats_between_0_and_1(wrap):
    made = tensor(wrap(PICTURE))

    assert made.shape == (1, 30, 40, 3)
    assert made.dtype == np.float32
    assert np.array_equal(made[0], fused(np.float32(1) / np.float32(255), 0)[PICTURE])


def test_a_range_with_an_offset_is_rounded_once():
    made = tensor(ImageFrame(PICTURE), output_tensor_float_range=Options.FloatRange(min=-1, max=1))

    table = fused(np.float32(2) / np.float32(255), -1)
    assert np.array_equal(made[0], table[PICTURE])
    twice = np.arange(256, dtype=np.float32) * (np.float32(2) / np.float32(255)) - np.float32(1)
    assert not np.array_equal(table, twice)  # so the test can tell


def test_signed_and_unsigned_bytes_are_rounded():
    signed = tensor(ImageFrame(PICTURE), output_tensor_int_range=Options.IntRange(min=-128, max=127))
    unsigned = tensor(ImageFrame(PICTURE), output_tensor_uint_range=Options.UIntRange(min=0, max=100))
    positive = tensor(ImageFrame(PICTURE), output_tensor_int_range=Options.IntRange(min=0, max=127))

    assert signed.dtype == np.int8
    assert np.array_equal(signed[0], PICTURE.astype(int) - 128)
    assert unsigned.dtype == positive.dtype == np.uint8
    assert np.array_equal(unsigned[0], np.rint(PICTURE.astype(np.float64) * 100 / 255).astype(int))


def test_alpha_is_dropped_and_grey_stays_one_channel():
    alpha = np.dstack([PICTURE, PICTURE[..., 0]])

    assert np.array_equal(tensor(ImageFrame(alpha, ImageFormat.SRGBA)), tensor(ImageFrame(PICTURE)))
    assert tensor(ImageFrame(PICTURE[..., 0], ImageFormat.GRAY8)).shape == (1, 30, 40, 1)


def test_a_region_is_cut_out_and_the_border_is_as_the_option_says():
    white = ImageFrame(np.full((20, 20, 3), 255, np.uint8))
    beside = NormalizedRect(x_center=0.0, y_center=0.5, width=1.0, height=1.0)

    black = tensor(white, beside, border_mode=Options.BORDER_ZERO)
    repeated = tensor(white, beside)

    assert black[0, :, :9].max() == 0
    assert black[0, :, 11:].min() == 1
    assert repeated.min() == 1


def test_the_letterbox_and_the_matrix_are_sent_with_the_tensor():
    sent = run(
        ImageFrame(PICTURE),
        outputs=("TENSOR", "MATRIX", "LETTERBOX_PADDING"),
        output_tensor_width=20,
        output_tensor_height=20,
        keep_aspect_ratio=True,
        border_mode=Options.BORDER_ZERO,
    )

    (padding,), (matrix,), (made,) = (
        [packet.payload for packet in sent[tag]] for tag in ("LETTERBOX_PADDING", "MATRIX", "TENSOR")
    )
    assert padding == (0.0, 0.125, 0.0, 0.125)
    assert matrix[0] == 1.0
    assert matrix[5] == pytest.approx(40 / 30)
    assert matrix[7] == pytest.approx(-1 / 6)
    assert matrix[8:] == (0, 0, 1, 0, 0, 0, 0, 1)
    assert made.array[0, :2].max() == 0
    assert made.array[0, 3:17].max() > 0.5


def test_without_keep_aspect_ratio_the_padding_is_0():
    sent = run(ImageFrame(PICTURE), outputs=("TENSORS", "LETTERBOX_PADDING"), output_tensor_width=9)

    assert sent["LETTERBOX_PADDING"][0].payload == (0.0, 0.0, 0.0, 0.0)
    assert sent["TENSORS"][0].payload[0].shape == (1, 30, 9, 3)


def test_images_of_several_sizes_in_turn_are_each_taken_whole():
    frames = [ImageFrame(PICTURE), ImageFrame(PICTURE[:, :20].copy()), ImageFrame(PICTURE)]
    config = {"output_tensor_width": 10, "output_tensor_height": 10, "keep_aspect_ratio": True}
    done = run_calculator(
        ImageToTensorCalculator,
        {"IMAGE": list(enumerate(frames))},
        outputs=("TENSOR", "MATRIX", "LETTERBOX_PADDING"),
        options=Options(output_tensor_float_range=Options.FloatRange(min=0, max=1), **config),
    )
    alone = [run(frame, outputs=("TENSOR", "MATRIX", "LETTERBOX_PADDING"), **config) for frame in frames]

    for tag in ("MATRIX", "LETTERBOX_PADDING"):
        assert [packet.payload for packet in done.outputs[tag]] == [one[tag][0].payload for one in alone]
    made = [packet.payload.array for packet in done.outputs["TENSOR"]]
    assert all(np.array_equal(a, one["TENSOR"][0].payload.array) for a, one in zip(made, alone, strict=True))
    assert not np.array_equal(made[0], made[1])


def test_nothing_is_sent_without_a_rect_or_for_one_of_size_0():
    frame = ImageFrame(PICTURE)
    done = run_calculator(
        ImageToTensorCalculator,
        {
            "IMAGE": [(0, frame), (1, frame), (2, frame)],
            "NORM_RECT": [
                (1, NormalizedRect(x_center=0.5, y_center=0.5, width=0, height=0)),
                (2, NormalizedRect(x_center=0.5, y_center=0.5, width=1, height=1)),
            ],
        },
        outputs=["TENSORS", "MATRIX", "LETTERBOX_PADDING"],
        options=Options(output_tensor_float_range=UNIT),
    )

    for tag in ("TENSORS", "MATRIX", "LETTERBOX_PADDING"):
        assert [int(packet.timestamp) for packet in done.outputs[tag]] == [2]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"output_tensor_float_range": None},
            "no range of values of the image's tensor is set; set output_tensor_float_range",
        ),
        ({"output_tensor_width": 0}, "the tensor's output_tensor_width is 0, but must be 1 or more"),
        ({"output_tensor_height": -3}, "output_tensor_height is -3, but must be 1 or more"),
        (
            {"output_tensor_float_range": Options.FloatRange(min=1, max=1)},
            "from 1 to 1, but min must be below",
        ),
        (
            {"output_tensor_uint_range": Options.UIntRange(min=0, max=256)},
            "from 0 to 256, but must be between",
        ),
        (
            {"output_tensor_int_range": Options.IntRange(min=-129, max=1)},
            "from -129 to 1, but must be between",
        ),
    ],
)
def test_options_out_of_range_are_refused_before_anything_runs(options, message):
    with pytest.raises(GraphConfigError, match=message):
        run(ImageFrame(PICTURE), **options)


def test_the_node_has_one_image_and_one_form_of_output():
    options = Options(output_tensor_float_range=UNIT)
    with pytest.raises(GraphConfigError, match="neither IMAGE nor IMAGE_GPU; connect exactly one"):
        run_calculator(ImageToTensorCalculator, {}, outputs=["TENSORS"], options=options)
    with pytest.raises(GraphConfigError, match="both TENSORS and TENSOR; connect exactly one"):
        run(ImageFrame(PICTURE), outputs=("TENSORS", "TENSOR"))


@pytest.mark.parametrize(
    ("rect", "message"),
    [
        (
            {"width": float("nan"), "height": 1},
            "must be finite and its sides above 0; give another NORM_RECT",
        ),
        ({"width": 0.5, "height": 0}, "must be finite and its sides above 0"),
        ({"width": -0.5, "height": 0.5}, "must be finite and its sides above 0"),
    ],
)
def test_a_region_that_is_none_is_refused(rect, message):
    with pytest.raises(GraphRunError, match=message):
        run(ImageFrame(PICTURE), NormalizedRect(x_center=0.5, y_center=0.5, **rect))


def test_another_format_is_refused_with_the_cure():
    floats = ImageFrame(np.zeros((4, 4), np.float32), ImageFormat.VEC32F1)
    with pytest.raises(
        GraphRunError,
        match=r"format VEC32F1, but the input frames of tensors may be SRGB, SRGBA and GRAY8; convert",
    ):
        run(floats)


def test_it_keeps_what_all_calculators_promise():
    rects = {
        NormalizedRect: lambda random, at: NormalizedRect(
            x_center=random.random(),
            y_center=random.random(),
            width=0.5,
            height=0.5,
            rotation=random.random(),
        )
    }
    check_calculator("ImageToTensorCalculator", seeds=range(6), payloads=rects)
