"""InverseMatrixCalculator: the inverse of a 4x4 matrix in single precision, the reference's bit by bit.

The reference inverts by the 2x2 blocks A B / C D of the matrix, with adjugates of the blocks. Each step is
rounded to 32 bits here as there. Source: Eigen `LU/arch/InverseSize4.h`, after Intel's application note
AP-928.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

import penstock
from penstock.errors import InvalidArgumentError
from penstock_vision.geometry.matrix_input import matrix_at

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from penstock import CalculatorContext, CalculatorContract
    from penstock_vision.geometry.single_precision import Float32

    Block = NDArray[np.float32]


#: A smaller determinant is none, as in the reference.
_LEAST_DETERMINANT: Final = 2.2e-16


class InverseMatrixCalculator(penstock.Calculator):
    """Invert a 4x4 matrix.

    Input: MATRIX (tuple of 16 numbers, row after row). Output: MATRIX (the same of the inverse, float32).
    Timestamp offset 0.

    Raises in `process`: InvalidArgumentError for a matrix that has no inverse, or another size.

    Source of the behaviour: MediaPipe `calculators/util/inverse_matrix_calculator.cc`.

    Config::

        node {
          calculator: "InverseMatrixCalculator"
          input_stream: "MATRIX:crop_to_image"
          output_stream: "MATRIX:image_to_crop"
        }
    """

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Declare a matrix in and one out."""
        cc.inputs["MATRIX"].set(tuple, "16 numbers, row after row")
        cc.outputs["MATRIX"].set(tuple, "those of the inverse")
        cc.set_timestamp_offset(0)
        cc.declare(may_skip=False, stateless=True)

    def process(self, cc: CalculatorContext) -> None:
        """Invert one matrix."""
        source = cc.inputs["MATRIX"]
        if source.is_empty():
            return
        inverse, determinant = inverse_and_determinant(matrix_at(source))
        if not abs(determinant) > _LEAST_DETERMINANT:
            raise InvalidArgumentError(
                f"input {source.name!r} holds {source.payload!r}, a matrix that has no inverse: its "
                f"determinant is {determinant:g}; look at the node that made it"
            )
        cc.outputs["MATRIX"].add(tuple(inverse.ravel().tolist()), cc.stamp)


def inverse_and_determinant(matrix: NDArray[np.float32]) -> tuple[NDArray[np.float32], Float32]:
    """Return the inverse of a 4x4 matrix, and the matrix's determinant.

    Where the determinant is 0 the inverse has infinities or NaN.
    """
    a, b, c, d = matrix[:2, :2], matrix[:2, 2:], matrix[2:, :2], matrix[2:, 2:]
    ab = _product(_adjugate(a), b)
    dc = _product(_adjugate(d), c)
    det_a, det_b, det_c, det_d = map(_determinant, (a, b, c, d))
    both = _product(dc, ab)
    determinant = det_a * det_d + det_b * det_c - (both[0, 0] + both[1, 1])
    with np.errstate(divide="ignore", invalid="ignore"):
        factor = np.float32(1) / determinant
        blocks = [
            [a * det_d - _product(b, dc), c * det_b - _product(d, _adjugate(ab))],
            [b * det_c - _product(a, _adjugate(dc)), d * det_a - _product(c, ab)],
        ]
        inverse = np.block([[_adjugate(block) * factor for block in row] for row in blocks])
    return inverse, determinant


def _product(left: Block, right: Block) -> Block:
    """Return the product of two blocks; the first products of each sum come first."""
    return left[:, :1] * right[:1] + left[:, 1:] * right[1:]


def _adjugate(block: Block) -> Block:
    return np.array([[block[1, 1], -block[0, 1]], [-block[1, 0], block[0, 0]]], np.float32)


def _determinant(block: Block) -> Float32:
    found: Float32 = block[0, 0] * block[1, 1] - block[0, 1] * block[1, 0]
    return found
