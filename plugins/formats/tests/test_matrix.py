"""Matrix: float32 tables, and the header of video streams."""

from __future__ import annotations

import pickle

import attrs
import numpy as np
import pytest

from penstock.errors import InvalidArgumentError
from penstock_formats import ImageFormat, Matrix, VideoHeader


def test_a_matrix_shares_the_memory_and_refuses_writing():
    samples = np.asfortranarray(np.arange(12, dtype=np.float32).reshape(2, 6))

    matrix = Matrix(samples)

    assert (matrix.rows, matrix.columns, matrix.nbytes) == (2, 6, 48)
    assert np.shares_memory(matrix.array, samples)
    assert samples.flags.writeable
    with pytest.raises(ValueError, match="read-only"):
        matrix.array[0, 0] = 1


def test_a_matrix_may_have_no_samples():
    assert Matrix(np.zeros((2, 0), np.float32)).columns == 0


@pytest.mark.parametrize(
    ("array", "found"),
    [(np.zeros(3, np.float32), r"\(3,\) float32"), (np.zeros((2, 3)), r"\(2, 3\) float64")],
)
def test_what_is_no_matrix_is_refused(array, found):
    with pytest.raises(InvalidArgumentError, match=rf"^an array of {found} is no matrix, which is \(rows, "):
        Matrix(array)


def test_a_pickled_matrix_comes_back_with_the_same_numbers():
    matrix = Matrix(np.arange(6, dtype=np.float32).reshape(2, 3).T)

    back = pickle.loads(pickle.dumps(matrix))  # noqa: S301  # our own bytes

    assert np.array_equal(back.array, matrix.array)
    assert repr(back) == "<Matrix 3x2>"
    assert back != matrix


def test_a_header_compares_by_value_and_cannot_be_changed():
    header = VideoHeader(ImageFormat.SRGB, 1280, 720, 25.0, 5.28)

    assert header == VideoHeader(ImageFormat.SRGB, 1280, 720, 25.0, 5.28)
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        header.width = 1
