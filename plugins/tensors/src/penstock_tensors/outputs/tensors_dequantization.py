"""TensorsDequantizationCalculator: the numbers that quantized tensors stand for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

import penstock
from penstock.errors import InvalidArgumentError, StatusCode
from penstock_formats import Tensor

if TYPE_CHECKING:
    from penstock import CalculatorContext, CalculatorContract

_TYPES: Final = ("uint8", "int8", "bool")


class TensorsDequantizationCalculator(penstock.Calculator):
    """Makes numbers of quantized tensors: scale * (element - zero point).

    Input: TENSORS (list[Tensor], uint8, int8 or bool, with their `scale` and `zero_point`, as models give
    them). Output: TENSORS (list[Tensor], float32, of the same shapes, in new memory). Timestamp offset 0.

    Raises in `process`: InvalidArgumentError for an empty list (INTERNAL, as in the reference) and for other
    element types.

    Source of the behaviour: MediaPipe `calculators/tensor/tensors_dequantization_calculator.cc`; computed in
    32 bits.

    Config::

        node {
          calculator: "TensorsDequantizationCalculator"
          input_stream: "TENSORS:quantized"
          output_stream: "TENSORS:numbers"
        }
    """

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Declare tensors in and out."""
        cc.inputs["TENSORS"].set(list[Tensor], "quantized tensors")
        cc.outputs["TENSORS"].set(list[Tensor], "the numbers that they stand for")
        cc.set_timestamp_offset(0)
        cc.declare(may_skip=False, stateless=True)

    def process(self, cc: CalculatorContext) -> None:
        """Convert the tensors of one packet."""
        source = cc.inputs["TENSORS"]
        if source.is_empty():
            return
        tensors: list[Tensor] = source.payload
        if not tensors:
            raise InvalidArgumentError(
                f"input {source.name!r} holds no quantized tensors for dequantization; look at the node "
                "that made it",
                code=StatusCode.INTERNAL,
            )
        for tensor in tensors:
            if tensor.element_type not in _TYPES:
                raise InvalidArgumentError(
                    f"input {source.name!r} holds {tensor!r}, but dequantization takes only "
                    f"{', '.join(_TYPES)}; leave the calculator out"
                )
        cc.outputs["TENSORS"].add([_numbers(tensor) for tensor in tensors], cc.stamp)


def _numbers(tensor: Tensor) -> Tensor:
    steps = (tensor.array.astype(np.int32) - np.int32(tensor.zero_point)).astype(np.float32)
    return Tensor(steps * np.float32(tensor.scale))
