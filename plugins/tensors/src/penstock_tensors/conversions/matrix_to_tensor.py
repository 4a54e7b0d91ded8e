"""MatrixToTensorCalculator: the numbers of a matrix as a tensor."""

from __future__ import annotations

from typing import TYPE_CHECKING

import penstock
from penstock_formats import Matrix, Tensor
from penstock_tensors.conversions.series_header import complete_header
from penstock_tensors.messages.matrix_to_tensor_pb2 import MatrixToTensorCalculatorOptions

if TYPE_CHECKING:
    from penstock import CalculatorContext, CalculatorContract


class MatrixToTensorCalculator(penstock.Calculator):
    """Make a tensor of a matrix, of the same shape.

    The only input (Matrix) to the only output (Tensor, float32: rows x columns). The header of a series, a
    TimeSeriesHeader with sample_rate and num_channels, is forwarded; others are not. Timestamp offset 0.

    Options `MatrixToTensorCalculatorOptions`: `transpose` (false: rows become columns);
    `add_trailing_dimension` (false: a third dimension, of size 1).

    Source of the behaviour: MediaPipe `calculators/tensorflow/matrix_to_tensor_calculator.cc`.

    Config::

        node {
          calculator: "MatrixToTensorCalculator"
          input_stream: "features"
          output_stream: "tensor"
        }
    """

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Declare the matrix and the tensor."""
        cc.inputs[0].set(Matrix, "the numbers")
        cc.outputs[0].set(Tensor, "the same numbers")
        cc.set_timestamp_offset(0)
        cc.declare(may_skip=False, stateless=True)

    def open(self, cc: CalculatorContext) -> None:
        """Forward the header of a series."""
        options = cc.options(MatrixToTensorCalculatorOptions)
        self._transposes, self._adds_dimension = options.transpose, options.add_trailing_dimension
        if complete_header(cc.input) is not None:
            cc.output.set_header(cc.input.header)

    def process(self, cc: CalculatorContext) -> None:
        """Convert one matrix."""
        matrix: Matrix | None = cc.input.payload
        if matrix is None:
            return
        array = matrix.array.T if self._transposes else matrix.array
        cc.output.add(Tensor(array[..., None] if self._adds_dimension else array, copy=True), cc.stamp)
