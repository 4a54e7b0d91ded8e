"""TensorsToSegmentationCalculator: masks of tensors."""

from __future__ import annotations

import re

import cv2
import numpy as np
import pytest

from penstock.errors import GraphRunError, PenstockError
from penstock_formats import Image, ImageFormat, Tensor
from penstock_tensors.messages.tensors_to_segmentation_pb2 import TensorsToSegmentationCalculatorOptions
from penstock_tensors.outputs.tensors_to_segmentation import TensorsToSegmentationCalculator
from penstock_testing import run_calculator


def packets(payload, size=None, tag="TENSORS", **options):
    inputs = {tag: [(3, payload)]}
    if size is not None:
        inputs["OUTPUT_SIZE"] = [(3, size)] if size else []
    return run_calculator(
        TensorsToSegmentationCalculator,
        inputs,
        outputs=["MASK"],
        options=TensorsToSegmentationCalculatorOptions(**options),
    ).outputs["MASK"]


def mask(payload, *arguments, **options):
    (packet,) = packets(payload, *arguments, **options)
    assert packet.timestamp == 3
    assert type(packet.payload) is Image
    assert packet.payload.format is ImageFormat.VEC32F1
    return packet.payload.array


def tensor(values, dtype=np.float32):
    return Tensor(np.array(values, dtype))


PIXELS = np.random.default_rng(3).normal(size=(1, 3, 4, 1)).astype(np.float32)


def test_without_an_activation_the_channel_is_the_mask():
    found = mask([tensor(PIXELS), tensor([0.0])])

    assert np.array_equal(found, PIXELS[0, :, :, 0])
    assert not np.shares_memory(found, PIXELS)


def test_the_batch_may_be_missing_and_a_single_tensor_may_come():
    assert np.array_equal(mask(tensor(PIXELS[0]), tag="TENSOR"), PIXELS[0, :, :, 0])


def test_a_sigmoid_is_rounded_once_after_the_exponential():
    found = mask([tensor(PIXELS)], activation="SIGMOID")

    exact = np.exp(-PIXELS[0, :, :, 0]).astype(np.float64)
    assert np.array_equal(found, (1 / (exact + 1)).astype(np.float32))
    assert mask([tensor([[[-200.0], [0.0], [200.0]]])], activation="SIGMOID").tolist() == [[0, 0.5, 1]]


@pytest.mark.parametrize(("options", "channel"), [({}, 1), ({"output_layer_index": 0}, 0)])
def test_softmax_of_two_channels(options, channel):
    pair = np.random.default_rng(4).normal(size=(3, 4, 2)).astype(np.float32)

    found = mask([tensor(pair)], activation="SOFTMAX", **options)

    whole = np.exp(pair.astype(np.float64))
    assert np.abs(found - (whole / whole.sum(axis=2, keepdims=True))[:, :, channel]).max() < 1e-6


def test_softmax_of_great_numbers_is_no_infinity():
    assert mask([tensor([[[500.0, 300.0], [300.0, 500.0]]])], activation="SOFTMAX").tolist() == [[0, 1]]


def test_the_mask_is_scaled_after_the_activation():
    found = mask([tensor(PIXELS)], (9, 5), activation="SIGMOID")

    small = mask([tensor(PIXELS)], activation="SIGMOID")
    assert np.array_equal(found, cv2.resize(small, (9, 5), interpolation=cv2.INTER_LINEAR))
    assert found.shape == (5, 9)


def test_without_a_packet_of_the_size_nothing_is_sent():
    assert packets([tensor(PIXELS)], ()) == []


@pytest.mark.parametrize(
    ("payload", "options", "words"),
    [
        ([], {}, "empty list"),
        ([tensor(PIXELS)], {"activation": "SOFTMAX"}, r"SOFTMAX takes \(1, height, width, 2\)"),
        ([tensor(np.zeros((3, 4, 2)))], {}, r"NONE takes \(1, height, width, 1\)"),
        ([tensor(np.zeros((2, 3, 4, 1)))], {}, r"shape \(2, 3, 4, 1\)"),
        ([tensor([[1.0]])], {}, r"shape \(1, 1\)"),
        ([tensor(PIXELS, np.float16)], {}, "float32"),
    ],
)
def test_other_tensors_are_refused(payload, options, words):
    with pytest.raises(GraphRunError, match=words):
        mask(payload, **options)


@pytest.mark.parametrize("size", [(0, 4), (4,), ("a", "b")])
def test_a_size_that_is_none_is_refused(size):
    with pytest.raises(GraphRunError, match=r"but the size of a segmentation is"):
        mask([tensor(PIXELS)], size)


def test_a_layer_that_softmax_does_not_have_is_refused():
    with pytest.raises(PenstockError, match="output_layer_index is 2"):
        mask([tensor(PIXELS)], activation="SOFTMAX", output_layer_index=2)


@pytest.mark.parametrize("inputs", [{}, {"TENSOR": [], "TENSORS": []}])
def test_the_tensor_comes_in_one_way(inputs):
    with pytest.raises(PenstockError, match="exactly one of the inputs TENSORS and TENSOR"):
        run_calculator(TensorsToSegmentationCalculator, inputs, outputs=["MASK"])


#: The numbers of MediaPipe's tests.
RISING = np.arange(1, 17, dtype=np.float32).reshape(1, 4, 4, 1)
PAIRS = np.array(
    [
        1, 2, 4, 2, 3, 5, 6, 1.5, 7, 10, 11, 4, 12, 15, 16, 18.5, 19, 20, 22, 23, 24.5, 23.4, 25.6, 28.3,
        29.2, 30, 24.6, 29.2, 30, 24.9, 31.2, 30.3,
    ],
    np.float32,
).reshape(1, 4, 4, 2)  # fmt: skip


@pytest.mark.reference(
    "calculators/tensor/tensors_to_segmentation_calculator_test.cc",
    "TensorsToSegmentationCalculatorTest.RunsWithFunctionRunner",
)
def test_a_mask_of_four_pixels_without_options():
    made = mask(tensor(np.reshape([1, 2, 3, 4], (1, 2, 2, 1))), tag="TENSOR")

    assert made.tolist() == [[1, 2], [3, 4]]


@pytest.mark.reference(
    "calculators/tensor/tensors_to_segmentation_calculator_test.cc",
    "TensorsToSegmentationCalculatorTest.ParameterizedTests",
)
@pytest.mark.parametrize(
    ("values", "activation", "size", "most", "tag", "expected"),
    [
        (RISING, "NONE", (4, 4), 1e-7, "TENSORS", list(range(1, 17))),
        (
            RISING, "NONE", (6, 5), 1e-6, "TENSORS",
            [
                1, 1.5, 2.166667, 2.833333, 3.5, 4, 3.8, 4.3, 4.966667, 5.633333, 6.3, 6.8, 7, 7.5, 8.166667,
                8.833333, 9.5, 10, 10.2, 10.7, 11.366667, 12.033333, 12.7, 13.2, 13, 13.5, 14.166667,
                14.833333, 15.5, 16,
            ],
        ),
        (
            RISING, "SIGMOID", (4, 4), 1e-6, "TENSORS",
            [
                0.731059, 0.880797, 0.952574, 0.982014, 0.993307, 0.997527, 0.999089, 0.999665, 0.999877,
                0.999955, 0.999983, 0.999994, 0.999998, 0.999999, 1, 1,
            ],
        ),
        (
            RISING, "SIGMOID", (6, 5), 1e-6, "TENSORS",
            [
                0.731059, 0.805928, 0.89276, 0.940611, 0.967294, 0.982014, 0.914633, 0.93857, 0.966279,
                0.981363, 0.989752, 0.994369, 0.996592, 0.997666, 0.998873, 0.999404, 0.999683, 0.999829,
                0.999913, 0.99994, 0.999971, 0.999985, 0.999992, 0.999996, 0.999998, 0.999998, 0.999999, 1,
                1, 1,
            ],
        ),
        (
            PAIRS, "SOFTMAX", (4, 4), 1e-6, "TENSORS",
            [
                0.731059, 0.119203, 0.880797, 0.0109869, 0.952574, 0.000911051, 0.952574, 0.924142, 0.731059,
                0.731059, 0.24974, 0.937027, 0.689974, 0.990048, 0.0060598, 0.28905,
            ],
        ),
        (
            PAIRS, "SOFTMAX", (6, 5), 1e-6, "TENSORS",
            [
                0.731059, 0.425131, 0.246135, 0.753865, 0.445892, 0.0109869, 0.886119, 0.461259, 0.185506,
                0.781934, 0.790618, 0.650195, 0.841816, 0.603901, 0.40518, 0.561962, 0.765871, 0.930584,
                0.718733, 0.763744, 0.703402, 0.281989, 0.459635, 0.742634, 0.689974, 0.840011, 0.82605,
                0.170058, 0.147555, 0.28905,
            ],
        ),
        (RISING, "NONE", (4, 4), 1e-7, "TENSOR", list(range(1, 17))),
    ],
)  # fmt: skip
def test_masks_as_in_the_reference(values, activation, size, most, tag, expected):  # noqa: PLR0913, PLR0917  # a case has six parts
    payload = tensor(values)

    made = mask(
        payload if tag == "TENSOR" else [payload], size, tag, activation=activation, gpu_origin="TOP_LEFT"
    )

    width, height = size
    np.testing.assert_allclose(made, np.reshape(expected, (height, width)), rtol=0, atol=most)


@pytest.mark.reference(
    "calculators/tensor/tensors_to_segmentation_utils_test.cc",
    "TensorsToSegmentationUtilsTest.GetHwcFromDimsBatchCheckFail",
    "TensorsToSegmentationUtilsTest.GetHwcFromDimsInvalidShape",
)
@pytest.mark.parametrize("shape", [(2, 3, 4, 5), (1, 2, 3, 4, 5), (2, 3, 4, 1), (1, 2, 3, 4, 1)])
def test_a_batch_or_a_dimension_more_is_refused(shape):
    with pytest.raises(GraphRunError, match=f"holds a tensor of shape {re.escape(str(shape))}"):
        mask([tensor(np.zeros(shape))])


@pytest.mark.reference(  # the shapes 2x3x4 and 1x3x4x5, with the channels that an activation takes
    "calculators/tensor/tensors_to_segmentation_utils_test.cc",
    "TensorsToSegmentationUtilsTest.GetHwcFromDimsWorksProperly",
)
@pytest.mark.parametrize(
    ("shape", "activation", "made"),
    [((2, 3, 1), "NONE", (2, 3)), ((1, 3, 4, 1), "NONE", (3, 4)), ((1, 3, 4, 2), "SOFTMAX", (3, 4))],
)
def test_height_and_width_stand_before_the_channels(shape, activation, made):
    assert mask([tensor(np.zeros(shape))], activation=activation).shape == made
