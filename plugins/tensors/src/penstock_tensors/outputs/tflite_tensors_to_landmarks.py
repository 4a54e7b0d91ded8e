"""TfLiteTensorsToLandmarksCalculator of older graphs; TensorsToLandmarksCalculator does the work."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock_tensors.messages.tensors_to_landmarks_pb2 import TensorsToLandmarksCalculatorOptions
from penstock_tensors.messages.tflite_tensors_to_landmarks_pb2 import (
    TfLiteTensorsToLandmarksCalculatorOptions,
)
from penstock_tensors.outputs.tensors_to_landmarks import TensorsToLandmarksCalculator
from penstock_tensors.same_fields import as_message

if TYPE_CHECKING:
    from penstock import CalculatorContext


class TfLiteTensorsToLandmarksCalculator(TensorsToLandmarksCalculator):
    """Makes landmarks of the first tensor: x, y, z, visibility and presence of each point, if it has them.

    Input: TENSORS (list[Tensor]; the first is read, float32); FLIP_HORIZONTALLY, FLIP_VERTICALLY (optional
    bool, streams or side packets). Outputs, one at least: LANDMARKS (LandmarkList, in the model's units) and
    NORM_LANDMARKS (NormalizedLandmarkList). Timestamp offset 0. It does what TensorsToLandmarksCalculator
    does, with the same options under another name.

    Options `TfLiteTensorsToLandmarksCalculatorOptions`: `num_landmarks` (required), `input_image_width`,
    `input_image_height`, `flip_horizontally`, `flip_vertically`, `normalize_z` (1), `visibility_activation`,
    `presence_activation` (NONE; SIGMOID).

    Raises as TensorsToLandmarksCalculator.

    Source of the behaviour: MediaPipe `calculators/tflite/tflite_tensors_to_landmarks_calculator.cc`.

    Config::

        node {
          calculator: "TfLiteTensorsToLandmarksCalculator"
          input_stream: "TENSORS:landmark_tensors"
          output_stream: "NORM_LANDMARKS:landmarks"
          options {
            [penstock.TfLiteTensorsToLandmarksCalculatorOptions.ext] {
              num_landmarks: 21
              input_image_width: 224
              input_image_height: 224
            }
          }
        }
    """

    @staticmethod
    def _options_of(cc: CalculatorContext) -> TensorsToLandmarksCalculatorOptions:
        given = cc.options(TfLiteTensorsToLandmarksCalculatorOptions)
        return as_message(given, TensorsToLandmarksCalculatorOptions)
