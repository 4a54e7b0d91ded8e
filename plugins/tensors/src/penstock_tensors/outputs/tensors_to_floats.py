"""TensorsToFloatsCalculator: the numbers of a tensor."""

from __future__ import annotations

from typing import TYPE_CHECKING

import penstock
from penstock.errors import InvalidArgumentError
from penstock_formats import Tensor
from penstock_tensors.messages.tensors_to_floats_pb2 import TensorsToFloatsCalculatorOptions
from penstock_tensors.outputs.tensor_numbers import first_of, sigmoid

if TYPE_CHECKING:
    from penstock import CalculatorContext, CalculatorContract


class TensorsToFloatsCalculator(penstock.Calculator):
    """Forward the numbers of the first tensor.

    Input: TENSORS (list[Tensor]; the first is read, float32). Output: exactly one of FLOAT (float; the
    tensor then has one element) and FLOATS (list[float], in row-major order). Timestamp offset 0.

    Options `TensorsToFloatsCalculatorOptions`: `activation` (NONE; SIGMOID: 1 / (1 + exp(-x))).

    Raises in `get_contract`: InvalidArgumentError if both outputs are connected, or none. In `process`: the
    same for an empty list, another element type, or FLOAT and more than one element.

    Source of the behaviour: MediaPipe `calculators/tensor/tensors_to_floats_calculator.cc`.

    Config::

        node {
          calculator: "TensorsToFloatsCalculator"
          input_stream: "TENSORS:flag"
          output_stream: "FLOAT:probability"
          options { [penstock.TensorsToFloatsCalculatorOptions.ext] { activation: SIGMOID } }
        }
    """

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Declare the input, and the one output.

        Raises:
            InvalidArgumentError: both outputs are connected, or none.
        """
        cc.inputs["TENSORS"].set(list[Tensor], "what a model said; the first is read")
        cc.outputs["FLOAT"].set(float, "its one number").optional()
        cc.outputs["FLOATS"].set(list[float], "its numbers").optional()
        cls._check_outputs(cc)
        cc.set_timestamp_offset(0)
        cc.declare(may_skip=False, stateless=True)

    def open(self, cc: CalculatorContext) -> None:
        """Look at the options."""
        self._is_sigmoid = self._takes_sigmoid(cc)
        self._is_single = "FLOAT" in cc.outputs

    def process(self, cc: CalculatorContext) -> None:
        """Forward the numbers of one tensor."""
        source = cc.inputs["TENSORS"]
        if source.is_empty():
            return
        values = first_of(source)
        if self._is_single and values.size != 1:
            raise InvalidArgumentError(
                f"input {source.name!r} holds a tensor of {values.size} elements, but FLOAT takes one; "
                "connect the output FLOATS instead"
            )
        if self._is_sigmoid:
            values = sigmoid(values)
        if self._is_single:
            cc.outputs["FLOAT"].add(values.item(), cc.stamp)
        if "FLOATS" in cc.outputs:
            cc.outputs["FLOATS"].add(values.ravel().tolist(), cc.stamp)

    @classmethod
    def _check_outputs(cls, cc: CalculatorContract) -> None:
        if ("FLOAT" in cc.outputs) == ("FLOATS" in cc.outputs):
            raise InvalidArgumentError("connect exactly one of the outputs FLOAT and FLOATS")

    @staticmethod
    def _takes_sigmoid(cc: CalculatorContext) -> bool:
        activation = cc.options(TensorsToFloatsCalculatorOptions).activation
        return activation == TensorsToFloatsCalculatorOptions.SIGMOID
