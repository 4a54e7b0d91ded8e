"""TfLiteTensorsToSegmentationCalculator: masks in bytes, mixed with those before."""

from __future__ import annotations

import math

import cv2
import numpy as np
import pytest

from penstock.errors import GraphConfigError, GraphRunError
from penstock_formats import Image, ImageFormat, ImageFrame, Tensor
from penstock_tensors.messages.tflite_tensors_to_segmentation_pb2 import (
    TfLiteTensorsToSegmentationCalculatorOptions,
)
from penstock_tensors.outputs.tflite_tensors_to_segmentation import TfLiteTensorsToSegmentationCalculator
from penstock_testing import run_calculator

SIZE = {"tensor_width": 5, "tensor_height": 4, "tensor_channels": 2}
RAW = np.random.default_rng(6).normal(scale=2, size=(1, 4, 5, 2)).astype(np.float32)
BEFORE = np.random.default_rng(7).integers(0, 256, (4, 5), dtype=np.uint8)


def packets(tensors, output="MASK", tag="TENSORS", more=None, **options):
    return run_calculator(
        TfLiteTensorsToSegmentationCalculator,
        {tag: [(3, tensors)], **(more or {})},
        outputs=[output],
        options=TfLiteTensorsToSegmentationCalculatorOptions(**{**SIZE, **options}),
    ).outputs[output]


def mask(raw=RAW, **given):
    (packet,) = packets([Tensor(raw)], **given)
    assert packet.timestamp == 3
    assert packet.payload.format is ImageFormat.SRGBA
    return packet.payload.array


def expected(raw, before=None, ratio=1.0, layer=1):
    """Return the mask number by number, in 64 bits; a byte may differ by one where that rounds."""
    found = np.zeros(raw.shape[1:3])
    for at in np.ndindex(found.shape):
        chances = [math.exp(value) for value in raw[(0, *at)].tolist()]
        new = chances[layer] / sum(chances)
        if before is not None:
            bits = -(new * math.log2(new + 0.001) + (1 - new) * math.log2(1 - new + 0.001))
            certain = min(max(1 - bits, 0), 1)
            share = 1 - (1 - certain) ** 2
            new = ratio * (share * new + (1 - share) * before[at] / 255) + (1 - ratio) * new
        found[at] = new * 255
    return np.floor(found)


def assert_near(found, wanted):
    assert np.abs(found.astype(int) - wanted).max() <= 1
    assert (found == wanted).mean() > 0.8


@pytest.mark.parametrize("layer", [0, 1])
def test_the_share_of_one_channel_is_red_and_alpha(layer):
    found = mask(output_layer_index=layer)

    assert_near(found[:, :, 0], expected(RAW, layer=layer))
    assert np.array_equal(found[:, :, 3], found[:, :, 0])
    assert not found[:, :, 1:3].any()
    assert found[:, :, 0].std() > 50


@pytest.mark.parametrize("ratio", [1.0, 0.25])
@pytest.mark.parametrize(
    "frame",
    [
        ImageFrame(BEFORE),
        ImageFrame(np.dstack((BEFORE, 255 - BEFORE, BEFORE))),
        Image(ImageFrame(np.dstack((BEFORE, 255 - BEFORE, BEFORE, BEFORE)), ImageFormat.SRGBA)),
    ],
)
def test_the_mask_before_counts_where_the_new_one_is_uncertain(ratio, frame):
    found = mask(more={"PREV_MASK": [(3, frame)]}, combine_with_previous_ratio=ratio)

    assert_near(found[:, :, 0], expected(RAW, BEFORE, ratio))
    assert not np.array_equal(found, mask())


def test_a_mask_before_of_another_size_is_scaled_first():
    large = cv2.resize(BEFORE, (10, 8), interpolation=cv2.INTER_LINEAR)

    found = mask(more={"PREV_MASK": [(3, ImageFrame(large))]})

    back = cv2.resize(large, (5, 4), interpolation=cv2.INTER_LINEAR)
    assert_near(found[:, :, 0], expected(RAW, back))


def test_without_a_mask_before_the_new_one_is_taken():
    assert np.array_equal(mask(more={"PREV_MASK": [(1, ImageFrame(BEFORE))]}), mask())


def test_the_mask_is_flipped_and_gets_the_size_of_the_reference_image():
    image = ImageFrame(np.zeros((7, 9, 3), np.uint8))

    found = mask(more={"REFERENCE_IMAGE": [(3, image)]}, flip_vertically=True)

    small = np.ascontiguousarray(mask()[::-1])
    assert np.array_equal(found, cv2.resize(small, (9, 7), interpolation=cv2.INTER_LINEAR))


def test_without_the_reference_image_nothing_is_sent():
    assert packets([Tensor(RAW)], more={"REFERENCE_IMAGE": []}) == []


def test_a_mask_for_the_gpu_has_the_same_pixels():
    penstock_gpu = pytest.importorskip("penstock_gpu", reason="no penstock-gpu")

    (packet,) = packets([Tensor(RAW)], "MASK_GPU", "TENSORS_GPU", {"PREV_MASK_GPU": []})

    assert isinstance(packet.payload, penstock_gpu.GpuBuffer)
    assert np.array_equal(Image(packet.payload).frame.array, mask())


def test_without_the_pack_for_the_gpu_the_error_names_it(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "penstock_gpu", None)

    with pytest.raises(GraphRunError, match="penstock-gpu, which has images on the GPU, is not installed"):
        packets([Tensor(RAW)], "MASK_GPU")


@pytest.mark.parametrize(
    ("tensors", "words"),
    [
        ([], "holds 0 tensors, but a TfLite segmentation takes one"),
        ([Tensor(RAW[:, :3])], r"shape \(1, 3, 5, 2\), but by the options it is 4x5x2"),
        ([Tensor(RAW.astype(np.float16))], "float32"),
    ],
)
def test_other_tensors_are_refused(tensors, words):
    with pytest.raises(GraphRunError, match=words):
        packets(tensors)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"tensor_width": 0}, "the TfLite segmentation's tensor_width is 0, but must be 1 or more"),
        ({"tensor_channels": 3}, "tensor_channels is 3, but only 2 are possible"),
        ({"output_layer_index": 2}, "output_layer_index is 2, but there are the channels 0 and 1"),
        ({"combine_with_previous_ratio": 1.5}, "combine_with_previous_ratio is 1.5, but must be 0 to 1"),
    ],
)
def test_options_that_no_tensor_fits_are_refused(options, words):
    with pytest.raises(GraphConfigError, match=words):
        packets([Tensor(RAW)], **options)


def test_two_masks_before_are_one_too_many():
    with pytest.raises(GraphConfigError, match="PREV_MASK and PREV_MASK_GPU are connected; leave out one"):
        packets([Tensor(RAW)], more={"PREV_MASK": [], "PREV_MASK_GPU": []})
