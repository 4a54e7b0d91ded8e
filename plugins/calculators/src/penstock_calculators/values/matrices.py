"""MatrixMultiplyCalculator, MatrixSubtractCalculator, MatrixToVectorCalculator: arithmetic on matrices."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from penstock import Calculator
from penstock.errors import InvalidArgumentError
from penstock_formats import Matrix

if TYPE_CHECKING:
    from penstock import CalculatorContext, CalculatorContract

_OPERANDS: Final = {"MINUEND": "the matrix to subtract from", "SUBTRAHEND": "the matrix to subtract"}


class MatrixMultiplyCalculator(Calculator):
    """Multiplies each matrix by a fixed one from the left.

    The only input (Matrix, n rows), side packet 0 (Matrix, m rows and n columns) to the only output
    (Matrix, m rows): side packet times input, in float32. The timestamp offset is 0; the output does
    not depend on the order of arrival, and no packet is dropped.

    Source of the behaviour: MediaPipe `calculators/core/matrix_multiply_calculator.cc`.

    Example config::

        node {
          calculator: "MatrixMultiplyCalculator"
          input_stream: "samples"
          input_side_packet: "mixing"
          output_stream: "mixed_samples"
        }
    """

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Take a stream and a side packet."""
        cc.inputs[0].set(Matrix, "right factor")
        cc.input_side_packets[0].set(Matrix, "left factor")
        cc.outputs[0].set(Matrix, "the product")
        cc.set_timestamp_offset(0)
        cc.declare(may_skip=False, stateless=True)

    def open(self, cc: CalculatorContext) -> None:
        """Keep the left factor."""
        self._left = cc.input_side_packets[0].get(Matrix)

    def process(self, cc: CalculatorContext) -> None:
        """Multiply.

        Raises:
            InvalidArgumentError: the number of the input's rows is not that of the side packet's columns.
        """
        source = cc.inputs[0]
        right: Matrix = source.payload
        if self._left.columns != right.rows:
            raise InvalidArgumentError(
                f"stream {source.name!r}: a matrix of {_shape(right)} cannot be multiplied by the side "
                f"packet of {_shape(self._left)} from the left; it must have {self._left.columns} rows",
                stream=source.name,
                timestamp=cc.stamp,
            )
        with np.errstate(all="ignore"):  # an overflow gives inf, and that is all
            product = np.matmul(self._left.array, right.array)
        cc.outputs[0].add(Matrix(product), cc.stamp)


class MatrixSubtractCalculator(Calculator):
    """Subtracts a fixed matrix from each one, or each one from a fixed one.

    MINUEND and SUBTRAHEND (Matrix), one of them an input, the other one a side packet, to the only
    output (Matrix): MINUEND minus SUBTRAHEND, in float32. Both must have the same shape. The timestamp
    offset is 0; the output does not depend on the order of arrival, and no packet is dropped.

    Source of the behaviour: MediaPipe `calculators/core/matrix_subtract_calculator.cc`.

    Example config::

        node {
          calculator: "MatrixSubtractCalculator"
          input_stream: "MINUEND:features"
          input_side_packet: "SUBTRAHEND:mean_of_features"
          output_stream: "centred_features"
        }
    """

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Take one of the two as input and the other one as side packet.

        Raises:
            InvalidArgumentError: both are inputs or both side packets, or one is missing or connected twice.
        """
        as_inputs = {tag for tag in _OPERANDS if tag in cc.inputs}
        as_sides = {tag for tag in _OPERANDS if tag in cc.input_side_packets}
        if len(as_inputs) != 1 or len(as_sides) != 1 or as_inputs == as_sides:
            raise InvalidArgumentError(
                f"matrices to subtract: {_found(as_inputs, as_sides)}; connect one of MINUEND and SUBTRAHEND "
                "as input and the other one as side packet"
            )
        for ports in (cc.inputs, cc.input_side_packets):
            for tag, what in _OPERANDS.items():
                port = ports[tag].set(Matrix, what)
                if tag not in ports:
                    port.optional()
        cc.outputs[0].set(Matrix, "the difference")
        cc.set_timestamp_offset(0)
        cc.declare(may_skip=False, stateless=True)

    def open(self, cc: CalculatorContext) -> None:
        """Keep the fixed matrix."""
        self._tag = "MINUEND" if "MINUEND" in cc.inputs else "SUBTRAHEND"
        fixed = "SUBTRAHEND" if self._tag == "MINUEND" else "MINUEND"
        self._fixed = cc.input_side_packets[fixed].get(Matrix)

    def process(self, cc: CalculatorContext) -> None:
        """Subtract.

        Raises:
            InvalidArgumentError: the shapes differ.
        """
        source = cc.inputs[self._tag]
        matrix: Matrix = source.payload
        if matrix.array.shape != self._fixed.array.shape:
            raise InvalidArgumentError(
                f"stream {source.name!r}: a matrix of {_shape(matrix)} meets a side packet of "
                f"{_shape(self._fixed)}; both must have the same shape",
                stream=source.name,
                timestamp=cc.stamp,
            )
        pair = (matrix, self._fixed) if self._tag == "MINUEND" else (self._fixed, matrix)
        with np.errstate(all="ignore"):  # an overflow gives inf, and that is all
            difference = np.subtract(pair[0].array, pair[1].array)
        cc.outputs[0].add(Matrix(difference), cc.stamp)


class MatrixToVectorCalculator(Calculator):
    """Writes the elements of each matrix into a list.

    The only input (Matrix) to the only output (list of float): one column after the other. The timestamp
    offset is 0; the output does not depend on the order of arrival, and no packet is dropped.

    Source of the behaviour: MediaPipe `calculators/core/matrix_to_vector_calculator.cc`.

    Example config::

        node {
          calculator: "MatrixToVectorCalculator"
          input_stream: "features"
          output_stream: "list_of_features"
        }
    """

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Take a matrix."""
        cc.inputs[0].set(Matrix, "the matrix")
        cc.outputs[0].set(list[float], "its elements, column by column")
        cc.set_timestamp_offset(0)
        cc.declare(may_skip=False, stateless=True)

    def process(self, cc: CalculatorContext) -> None:
        """Write the list."""
        cc.outputs[0].add(cc.inputs[0].payload.array.ravel(order="F").tolist(), cc.stamp)


def _shape(matrix: Matrix) -> str:
    return f"{matrix.rows}x{matrix.columns}"


def _found(as_inputs: set[str], as_sides: set[str]) -> str:
    found = [f"input {tag}" for tag in sorted(as_inputs)] + [f"side packet {tag}" for tag in sorted(as_sides)]
    return f"there is {' and '.join(found)}" if found else "neither of the two is connected"
