"""Matrix: float32 tables, and the header of video streams."""

from __future__ import annotations

import pickle

import attrs
import numpy as np
import pytest

from penstock.errors import InvalidArgumentError
from penstock_formats import ImageFormat, Matrix, MatrixData, VideoHeader


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


@pytest.mark.parametrize(("layout", "rows"), [(0, [[0, 2, 4], [1, 3, 5]]), (1, [[0, 1, 2], [3, 4, 5]])])
def test_a_message_gives_its_matrix_in_the_order_that_it_names(layout, rows):
    matrix = Matrix.from_message(MatrixData(rows=2, cols=3, packed_data=range(6), layout=layout))

    assert matrix.array.tolist() == rows


def test_a_matrix_goes_into_a_message_column_by_column_and_comes_back():
    matrix = Matrix(np.array([[1, 2, 3], [4, 5, 6]], np.float32))

    message = matrix.to_message()

    assert message == MatrixData(rows=2, cols=3, packed_data=[1, 4, 2, 5, 3, 6])
    assert np.array_equal(Matrix.from_message(message).array, matrix.array)


def test_an_empty_message_is_a_matrix_without_elements():
    assert Matrix.from_message(MatrixData()).array.shape == (0, 0)
    assert Matrix.from_message(MatrixData(rows=2)).array.shape == (2, 0)


@pytest.mark.parametrize(
    "message",
    [MatrixData(rows=2, cols=2, packed_data=[1] * 3), MatrixData(rows=-1, cols=-1, packed_data=[1])],
)
def test_a_message_with_another_number_of_elements_is_no_matrix(message):
    with pytest.raises(InvalidArgumentError, match=r"elements in packed_data, which must be rows \* cols"):
        Matrix.from_message(message)
