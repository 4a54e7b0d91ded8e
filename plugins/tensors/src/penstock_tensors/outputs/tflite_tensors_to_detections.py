"""TfLiteTensorsToDetectionsCalculator of older graphs; TensorsToDetectionsCalculator does the work."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from penstock_tensors.messages.tensors_to_detections_pb2 import TensorsToDetectionsCalculatorOptions
from penstock_tensors.messages.tflite_tensors_to_detections_pb2 import (
    TfLiteTensorsToDetectionsCalculatorOptions,
)
from penstock_tensors.outputs.tensors_to_detections import TensorsToDetectionsCalculator
from penstock_tensors.same_fields import as_message

if TYPE_CHECKING:
    from penstock import CalculatorContext


class TfLiteTensorsToDetectionsCalculator(TensorsToDetectionsCalculator):
    """Decodes boxes, classes and keypoints of a single-shot detector.

    Input: TENSORS or TENSORS_GPU (list[Tensor] in main memory in both cases, float32), exactly one: two,
    three or four tensors as TensorsToDetectionsCalculator describes. Side packet: ANCHORS (list[Anchor],
    optional). Output: DETECTIONS (list[Detection]). Timestamp offset 0. It does what that calculator does,
    and has fewer options; of four tensors, `ignore_classes` and `num_classes` leave out nothing.

    Options `TfLiteTensorsToDetectionsCalculatorOptions`: `num_classes`, `num_coords` (required), `num_boxes`,
    `x_scale`, `y_scale`, `w_scale`, `h_scale`, `reverse_output_order`, `box_coord_offset`,
    `keypoint_coord_offset`, `num_keypoints`, `apply_exponential_on_box_size`, `sigmoid_score`,
    `score_clipping_thresh`, `min_score_thresh`, `ignore_classes`, `flip_vertically`.

    Raises as TensorsToDetectionsCalculator.

    Source of the behaviour: MediaPipe `calculators/tflite/tflite_tensors_to_detections_calculator.cc`.

    Config::

        node {
          calculator: "TfLiteTensorsToDetectionsCalculator"
          input_stream: "TENSORS:detection_tensors"
          input_side_packet: "ANCHORS:anchors"
          output_stream: "DETECTIONS:detections"
          options {
            [penstock.TfLiteTensorsToDetectionsCalculatorOptions.ext] {
              num_classes: 91
              num_boxes: 2034
              num_coords: 4
              ignore_classes: 0
              sigmoid_score: true
              apply_exponential_on_box_size: true
              x_scale: 10.0
              y_scale: 10.0
              h_scale: 5.0
              w_scale: 5.0
              min_score_thresh: 0.6
            }
          }
        }
    """

    input_tags: ClassVar = ("TENSORS", "TENSORS_GPU")
    filters_decoded: ClassVar = False

    @staticmethod
    def _options_of(cc: CalculatorContext) -> TensorsToDetectionsCalculatorOptions:
        given = cc.options(TfLiteTensorsToDetectionsCalculatorOptions)
        return as_message(given, TensorsToDetectionsCalculatorOptions)
