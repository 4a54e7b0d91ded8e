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


#: Numbers of the reference's test, column after column: of 3 rows, of 4 and of 3.
FACTOR = [387, 940, 815, 825, 997, 884, 419, 763, 123, 30, 825, 299]
SAMPLES = [
    7,
    9,
    5,
    9,
    6,
    3,
    0,
    7,
    1,
    3,
    3,
    2,
    4,
    5,
    0,
    4,
    6,
    0,
    1,
    2,
    0,
    2,
    0,
    3,
    1,
    7,
    4,
    9,
    8,
    8,
    6,
    4,
    6,
    8,
    1,
    9,
    7,
    5,
    3,
    5,
    3,
    5,
    7,
    7,
    3,
    3,
    6,
    4,
    7,
    7,
    2,
    5,
    4,
    8,
    1,
    0,
    2,
    0,
    3,
    4,
    6,
    6,
    8,
    5,
    5,
    8,
    9,
    7,
    3,
    7,
    2,
    7,
    8,
    2,
    1,
    1,
    4,
    1,
    1,
    7,
]
PRODUCTS = [
    12499,
    26793,
    16967,
    5007,
    14406,
    9635,
    4179,
    7870,
    4434,
    5793,
    12045,
    8876,
    2801,
    8053,
    5611,
    1740,
    4469,
    2665,
    8108,
    18396,
    10186,
    12330,
    23374,
    15526,
    9611,
    21804,
    14776,
    8241,
    17979,
    11989,
    8429,
    18921,
    9819,
    6270,
    13689,
    7031,
    9472,
    19210,
    13634,
    8567,
    12499,
    10455,
    2151,
    7469,
    3195,
    10774,
    21851,
    12673,
    12516,
    25318,
    14347,
    7984,
    17100,
    10972,
    5195,
    11102,
    8710,
    3002,
    11295,
    6360,
]


def columns(numbers, rows):
    """Return a matrix whose columns come one after the other."""
    return Matrix(np.array(numbers, np.float32).reshape(-1, rows).T)


@pytest.mark.reference(
    "calculators/core/matrix_multiply_calculator_test.cc", "MatrixMultiplyCalculatorTest.Multiply"
)
def test_each_sample_is_multiplied():
    samples = [columns(SAMPLES[i : i + 4], 4) for i in range(0, 80, 4)]

    run = run_calculator(
        MatrixMultiplyCalculator,
        {0: enumerate(samples)},
        outputs=[0],
        side_packets={0: columns(FACTOR, 3)},
    )

    assert [packet.stamp for packet in run.outputs[0]] == list(range(20))
    assert all(packet.payload.array.shape == (3, 1) for packet in run.outputs[0])
    products = np.hstack([packet.payload.array for packet in run.outputs[0]])
    assert np.abs(products - columns(PRODUCTS, 3).array).sum(axis=0).max() < 1e-5


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


@pytest.mark.parametrize(
    ("stream", "side", "total"),
    [
        pytest.param(
            "MINUEND",
            "SUBTRAHEND",
            12,
            marks=pytest.mark.reference(
                "calculators/core/matrix_subtract_calculator_test.cc",
                "MatrixSubtractCalculatorTest.SubtractFromInput",
            ),
        ),
        pytest.param(
            "SUBTRAHEND",
            "MINUEND",
            -12,
            marks=pytest.mark.reference(
                "calculators/core/matrix_subtract_calculator_test.cc",
                "MatrixSubtractCalculatorTest.SubtractFromSideMatrix",
            ),
        ),
    ],
)
def test_each_element_is_subtracted_from_the_one_at_its_place(stream, side, total):
    run = run_calculator(
        MatrixSubtractCalculator,
        {stream: [(0, columns([number + 1 for number in FACTOR], 3))]},
        outputs=[0],
        side_packets={side: columns(FACTOR, 3)},
    )

    (packet,) = run.outputs[0]
    assert packet.stamp == 0
    assert packet.payload.array.shape == (3, 4)
    assert packet.payload.array.sum() == pytest.approx(total, abs=1e-5)


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


@pytest.mark.parametrize(
    ("streams", "sides", "message"),
    [
        pytest.param(
            [0],
            ["SUBTRAHEND", "MINUEND"],
            "connect one of MINUEND and SUBTRAHEND as input",
            marks=pytest.mark.reference(
                "calculators/core/matrix_subtract_calculator_test.cc",
                "MatrixSubtractCalculatorTest.WrongConfig",
            ),
        ),
        pytest.param(
            ["SUBTRAHEND"],
            ["SUBTRAHEND"],
            "connect one of MINUEND and SUBTRAHEND as input",
            marks=pytest.mark.reference(
                "calculators/core/matrix_subtract_calculator_test.cc",
                "MatrixSubtractCalculatorTest.WrongConfig2",
            ),
        ),
    ],
)
def test_ports_that_the_reference_refuses_are_refused(streams, sides, message):
    with pytest.raises(GraphConfigError, match=message):
        run_calculator(
            MatrixSubtractCalculator,
            {key: [] for key in streams},
            outputs=[0],
            side_packets=dict.fromkeys(sides, SQUARE),
        )


@pytest.mark.parametrize(
    ("rows", "numbers"),
    [
        pytest.param(
            1,
            [1.0, 2.0, 3.0, 4.0],
            marks=pytest.mark.reference(
                "calculators/core/matrix_to_vector_calculator_test.cc",
                "MatrixToVectorCalculatorTest.SingleRow",
            ),
        ),
        pytest.param(
            4,
            [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0],
            marks=pytest.mark.reference(
                "calculators/core/matrix_to_vector_calculator_test.cc",
                "MatrixToVectorCalculatorTest.RegularMatrix",
            ),
        ),
    ],
)
def test_a_matrix_that_is_made_of_columns_gives_them_back(rows, numbers):
    run = run_calculator(MatrixToVectorCalculator, {0: [(0, columns(numbers, rows))]}, outputs=[0])

    assert [(packet.stamp, packet.payload) for packet in run.outputs[0]] == [(0, numbers)]


def test_elements_are_listed_column_by_column():
    run = run_calculator(
        MatrixToVectorCalculator,
        {0: [(1, matrix([[1, 2, 3], [4, 5, 6]])), (2, Matrix(np.zeros((0, 3), np.float32)))]},
        outputs=[0],
    )

    assert [packet.payload for packet in run.outputs[0]] == [[1, 4, 2, 5, 3, 6], []]
    assert all(type(number) is float for number in run.outputs[0][0].payload)
