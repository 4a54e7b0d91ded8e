"""TfLiteTensorsToFloatsCalculator of older graphs; TensorsToFloatsCalculator does the work."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.errors import InvalidArgumentError
from penstock_tensors.outputs.tensors_to_floats import TensorsToFloatsCalculator

if TYPE_CHECKING:
    from penstock import CalculatorContext, CalculatorContract


class TfLiteTensorsToFloatsCalculator(TensorsToFloatsCalculator):
    """Forwards the numbers of the first tensor.

    Input: TENSORS (list[Tensor]; the first is read, float32). Outputs, one or both: FLOAT (float; the tensor
    then has one element) and FLOATS (list[float], in row-major order). Timestamp offset 0.

    Raises in `get_contract`: InvalidArgumentError if neither output is connected. In `process`: the same for
    an empty list, another element type, or FLOAT and more than one element.

    Source of the behaviour: MediaPipe `calculators/tflite/tflite_tensors_to_floats_calculator.cc`.

    Config::

        node {
          calculator: "TfLiteTensorsToFloatsCalculator"
          input_stream: "TENSORS:features"
          output_stream: "FLOATS:numbers"
        }
    """

    @classmethod
    def _check_outputs(cls, cc: CalculatorContract) -> None:
        if "FLOAT" not in cc.outputs and "FLOATS" not in cc.outputs:
            raise InvalidArgumentError(
                "of a TfLite tensor's floats connect FLOAT or FLOATS; neither output is connected"
            )

    @staticmethod
    def _takes_sigmoid(cc: CalculatorContext) -> bool:  # noqa: ARG004  # it has no options
        return False
