"""TensorsToSegmentationCalculator: masks of tensors."""

from __future__ import annotations

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
    with pytest.raises(GraphRunError, match=r"a size is \(width, height\)"):
        mask([tensor(PIXELS)], size)


def test_a_layer_that_softmax_does_not_have_is_refused():
    with pytest.raises(PenstockError, match="output_layer_index is 2"):
        mask([tensor(PIXELS)], activation="SOFTMAX", output_layer_index=2)


@pytest.mark.parametrize("inputs", [{}, {"TENSOR": [], "TENSORS": []}])
def test_the_tensor_comes_in_one_way(inputs):
    with pytest.raises(PenstockError, match="exactly one of the inputs TENSORS and TENSOR"):
        run_calculator(TensorsToSegmentationCalculator, inputs, outputs=["MASK"])
