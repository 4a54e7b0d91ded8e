"""Tensor: typed arrays of any number of dimensions."""

from __future__ import annotations

import math
import pickle

import numpy as np
import pytest

from penstock.errors import InvalidArgumentError
from penstock_formats import Tensor


def test_a_tensor_shares_the_memory_and_refuses_writing():
    values = np.arange(24, dtype=np.float32).reshape(1, 2, 3, 4)

    tensor = Tensor(values)

    assert (tensor.shape, tensor.element_type, tensor.nbytes) == ((1, 2, 3, 4), "float32", 96)
    assert np.shares_memory(tensor.array, values)
    assert values.flags.writeable
    with pytest.raises(ValueError, match="read-only"):
        tensor.array[0, 0, 0, 0] = 1


def test_a_copy_does_not_show_later_writes():
    values = np.zeros(3, np.int32)

    tensor = Tensor(values, copy=True)
    values[0] = 7

    assert tensor.array.tolist() == [0, 0, 0]


def test_an_array_with_gaps_is_made_contiguous():
    values = np.arange(12, dtype=np.uint8).reshape(3, 4).T

    tensor = Tensor(values)

    assert tensor.array.flags.c_contiguous
    assert np.array_equal(tensor.array, values)


@pytest.mark.parametrize("kind", ["bool", "uint8", "int8", "int32", "int64", "float16", "float32"])
def test_each_element_type_and_no_dimension(kind):
    tensor = Tensor(np.array(1, kind))

    assert (tensor.shape, tensor.element_type) == ((), kind)
    assert repr(tensor) == f"<Tensor {kind} scalar>"


@pytest.mark.parametrize("values", [np.zeros(2), np.array(["a"]), np.zeros(2, ">f4"), np.zeros(2, np.uint16)])
def test_other_element_types_are_refused(values):
    with pytest.raises(InvalidArgumentError, match=r"^a tensor cannot hold .*; convert the array"):
        Tensor(values)


def test_a_pickled_tensor_comes_back_with_the_same_numbers():
    tensor = Tensor(np.arange(6, dtype=np.float32).reshape(2, 3))

    back = pickle.loads(pickle.dumps(tensor))  # noqa: S301  # our own bytes

    assert np.array_equal(back.array, tensor.array)
    assert repr(back) == "<Tensor float32 2x3>"
    assert back != tensor


@pytest.mark.reference("framework/formats/tensor_test.cc", "General.TestDimensions", "General.TestDataTypes")
@pytest.mark.parametrize(
    ("shape", "kind", "size"),
    [
        ((1, 2, 3, 4), "float32", 4),
        ((4, 3, 2, 3), "float16", 2),
        ((4,), "int8", 1),
        ((2, 3), "bool", 1),
        ((2, 3), "int64", 8),
    ],
)
def test_a_tensor_has_the_bytes_of_all_its_elements(shape, kind, size):
    tensor = Tensor(np.zeros(shape, kind))

    assert (tensor.shape, tensor.array.size) == (shape, math.prod(shape))
    assert tensor.nbytes == math.prod(shape) * size


@pytest.mark.reference(
    "framework/formats/tensor_opencv_test.cc",
    "TensorOpenCVTest.ViewsFullTensor",
    "TensorOpenCVTest.ViewsTensorSlicedToTwoDimensions",
    "TensorOpenCVTest.ViewsTensorSlicedToOneDimension",
    "TensorOpenCVTest.IntTensor",
    "TensorOpenCVTest.Uint8Tensor",
)
@pytest.mark.parametrize("kind", ["float32", "int32", "uint8"])
def test_parts_of_a_tensor_are_views_of_its_memory(kind):
    values = np.arange(24, dtype=kind).reshape(2, 3, 4)

    tensor = Tensor(values)
    parts = [(tensor.array, (2, 3, 4), 0), (tensor.array[1], (3, 4), 12), (tensor.array[1, 1], (4,), 16)]

    for part, shape, first in parts:
        assert (part.shape, part.dtype) == (shape, kind)
        assert part.ravel().tolist() == list(range(first, first + math.prod(shape)))
        assert np.shares_memory(part, values)
