"""TfLiteTensorsToClassificationCalculator of older graphs; the one without TfLite does the work."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock_tensors.messages.tensors_to_classification_pb2 import TensorsToClassificationCalculatorOptions
from penstock_tensors.messages.tflite_tensors_to_classification_pb2 import (
    TfLiteTensorsToClassificationCalculatorOptions,
)
from penstock_tensors.outputs.tensors_to_classification import TensorsToClassificationCalculator
from penstock_tensors.same_fields import as_message

if TYPE_CHECKING:
    from penstock import CalculatorContext, CalculatorContract


class TfLiteTensorsToClassificationCalculator(TensorsToClassificationCalculator):
    """Makes classes of the scores of a tensor.

    Input: TENSORS (list of one Tensor, float32); output: CLASSIFICATIONS (ClassificationList). Timestamp
    offset 0. It does what TensorsToClassificationCalculator does, and has fewer options.

    Options `TfLiteTensorsToClassificationCalculatorOptions`: `min_score_threshold`, `top_k` (all),
    `label_map_path`, `binary_classification` (false).

    Raises as TensorsToClassificationCalculator. (Where fewer than `top_k` classes are left the reference ends
    the process; here all of them are sent.)

    Source of the behaviour: MediaPipe `calculators/tflite/tflite_tensors_to_classification_calculator.cc`.

    Config::

        node {
          calculator: "TfLiteTensorsToClassificationCalculator"
          input_stream: "TENSORS:tensors"
          output_stream: "CLASSIFICATIONS:classes"
          options { [penstock.TfLiteTensorsToClassificationCalculatorOptions.ext] { top_k: 3 } }
        }
    """

    @staticmethod
    def _options_of(cc: CalculatorContract | CalculatorContext) -> TensorsToClassificationCalculatorOptions:
        given = cc.options(TfLiteTensorsToClassificationCalculatorOptions)
        return as_message(given, TensorsToClassificationCalculatorOptions)
