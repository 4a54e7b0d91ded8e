"""TensorSqueezeDimensionsCalculator: dimensions of size 1 are left out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

import penstock
from penstock.errors import InvalidArgumentError
from penstock_formats import Tensor
from penstock_tensors.messages.tensor_squeeze_dimensions_pb2 import TensorSqueezeDimensionsCalculatorOptions

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from penstock import CalculatorContext, CalculatorContract


class TensorSqueezeDimensionsCalculator(penstock.Calculator):
    """Leave out dimensions of size 1: 1 x 1024 x 1 x 5 becomes 1024 x 5.

    The only input (Tensor) to the only output (Tensor, the same memory). Timestamp offset 0.

    Options `TensorSqueezeDimensionsCalculatorOptions`, one of both: `squeeze_all_single_dims` (false; true:
    the dimensions that have size 1 in the first tensor of the run); `dim`: the dimensions, counted from 0.

    Raises in `open`: InvalidArgumentError where both are set, or none. In `process`: the same where a tensor
    has no such dimension, or the dimension another size.

    Source of the behaviour: MediaPipe `calculators/tensorflow/tensor_squeeze_dimensions_calculator.cc`.

    Config::

        node {
          calculator: "TensorSqueezeDimensionsCalculator"
          input_stream: "tensor"
          output_stream: "squeezed"
          options {
            [penstock.TensorSqueezeDimensionsCalculatorOptions.ext] { squeeze_all_single_dims: true }
          }
        }
    """

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Declare a tensor in and out."""
        cc.inputs[0].set(Tensor, "tensors with dimensions of size 1")
        cc.outputs[0].set(Tensor, "the same without them")
        cc.set_timestamp_offset(0)
        cc.declare(may_skip=False, stateless=False)

    def open(self, cc: CalculatorContext) -> None:
        """Look at the options.

        Raises:
            InvalidArgumentError: both are set, or none.
        """
        options = cc.options(TensorSqueezeDimensionsCalculatorOptions)
        if options.squeeze_all_single_dims == bool(options.dim):
            raise InvalidArgumentError(
                f"squeeze_all_single_dims is {options.squeeze_all_single_dims} and dim is "
                f"{list(options.dim)}; set exactly one of them"
            )
        #: None until the first tensor says which.
        self._left_out: Sequence[int] | None = list(options.dim) or None

    def process(self, cc: CalculatorContext) -> None:
        """Squeeze one tensor."""
        tensor: Tensor | None = cc.input.payload
        if tensor is None:
            return
        if self._left_out is None:
            self._left_out = [i for i, size in enumerate(tensor.shape) if size == 1]
        array = squeezed(tensor, self._left_out, cc.input.name)
        cc.output.add(Tensor(array, double=array.dtype == np.float64), cc.stamp)


def squeezed(tensor: Tensor, dimensions: Iterable[int], name: str) -> NDArray[np.generic]:
    """Return the elements of a tensor without some dimensions.

    Args:
        tensor: of any shape.
        dimensions: which, counted from 0; a repeated one counts once more in the rest.
        name: of the stream, for the error.

    Raises:
        InvalidArgumentError: there is no such dimension, or its size is not 1.
    """
    sizes = list(tensor.shape)
    for dimension in sorted(dimensions, reverse=True):
        if not 0 <= dimension < len(sizes) or sizes[dimension] != 1:
            raise InvalidArgumentError(
                f"input {name!r} holds {tensor!r}, which has no dimension {dimension} of size 1 to leave "
                "out; correct the options"
            )
        del sizes[dimension]
    return tensor.array.reshape(sizes)
