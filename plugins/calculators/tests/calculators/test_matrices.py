from __future__ import annotations

import numpy as np
import pytest

from penstock import GraphConfigError, GraphRunError
from penstock_calculators.values.matrices import (
    MatrixMultiplyCalculator,
    MatrixSubtractCalculator,
    MatrixToVectorCalculator,
)
from penstock_formats import Matrix
from penstock_testing import run_calculator


def matrix(rows):
    return Matrix(np.array(rows, np.float32))


def only(run):
    (packet,) = run.outputs[0]
    assert packet.payload.array.dtype == np.float32
    return packet.payload.array.tolist()


SQUARE = matrix([[1, 2], [3, 4]])


def test_the_side_packet_multiplies_from_the_left():
    left = matrix([[1, 0], [0, 1], [1, 1]])

    run = run_calculator(
        MatrixMultiplyCalculator,
        {0: [(1, matrix([[1, 2, 3], [4, 5, 6]]))]},
        outputs=[0],
        side_packets={0: left},
    )

    assert only(run) == [[1, 2, 3], [4, 5, 6], [5, 7, 9]]


def test_factors_that_do_not_fit_end_the_run():
    with pytest.raises(
        GraphRunError, match="of 1x2 cannot be multiplied by the side packet of 2x2 from the le"
    ):
        run_calculator(
            MatrixMultiplyCalculator, {0: [(1, matrix([[1, 2]]))]}, outputs=[0], side_packets={0: SQUARE}
        )


def test_a_product_that_is_too_large_is_infinite():
    run = run_calculator(
        MatrixMultiplyCalculator,
        {0: [(1, matrix([[1e30]]))]},
        outputs=[0],
        side_packets={0: matrix([[1e30]])},
    )

    assert only(run) == [[float("inf")]]


@pytest.mark.parametrize(
    ("stream", "side", "difference"),
    [("MINUEND", "SUBTRAHEND", [[1, 1], [1, 1]]), ("SUBTRAHEND", "MINUEND", [[-1, -1], [-1, -1]])],
)
def test_the_subtrahend_is_subtracted_whichever_of_the_two_is_the_stream(stream, side, difference):
    run = run_calculator(
        MatrixSubtractCalculator,
        {stream: [(1, SQUARE)]},
        outputs=[0],
        side_packets={side: matrix([[0, 1], [2, 3]])},
    )

    assert only(run) == difference


@pytest.mark.parametrize("shape", [(1, 2), (2, 1), (4, 1)])
def test_matrices_of_other_shapes_are_not_subtracted(shape):
    with pytest.raises(
        GraphRunError, match=r"a matrix of 2x2 meets a side packet of .*; both must have the same"
    ):
        run_calculator(
            MatrixSubtractCalculator,
            {"MINUEND": [(1, SQUARE)]},
            outputs=[0],
            side_packets={"SUBTRAHEND": Matrix(np.zeros(shape, np.float32))},
        )


@pytest.mark.parametrize(
    ("streams", "sides", "found"),
    [
        (["MINUEND", "SUBTRAHEND"], [], "there is input MINUEND and input SUBTRAHEND"),
        (["MINUEND"], ["MINUEND"], "there is input MINUEND and side packet MINUEND"),
        (["MINUEND"], ["MINUEND", "SUBTRAHEND"], "there is input MINUEND and side packet MINUEND and side"),
        (["SUBTRAHEND"], [], "there is input SUBTRAHEND"),
        ([], [], "neither of the two is connected"),
    ],
)
def test_one_is_a_stream_and_the_other_one_a_side_packet(streams, sides, found):
    with pytest.raises(GraphConfigError, match=f"{found}.*; connect one of MINUEND and SUBTRAHEND as input"):
        run_calculator(
            MatrixSubtractCalculator,
            {tag: [] for tag in streams},
            outputs=[0],
            side_packets=dict.fromkeys(sides, SQUARE),
        )


def test_elements_are_listed_column_by_column():
    run = run_calculator(
        MatrixToVectorCalculator,
        {0: [(1, matrix([[1, 2, 3], [4, 5, 6]])), (2, Matrix(np.zeros((0, 3), np.float32)))]},
        outputs=[0],
    )

    assert [packet.payload for packet in run.outputs[0]] == [[1, 4, 2, 5, 3, 6], []]
    assert all(type(number) is float for number in run.outputs[0][0].payload)
