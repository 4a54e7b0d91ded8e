"""TfLiteTensorsTo...Calculator: what older graphs name; the calculators without TfLite do the work."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from penstock.errors import InvalidArgumentError
from penstock_tensors.messages.tensors_to_classification_pb2 import TensorsToClassificationCalculatorOptions
from penstock_tensors.messages.tensors_to_detections_pb2 import TensorsToDetectionsCalculatorOptions
from penstock_tensors.messages.tensors_to_landmarks_pb2 import TensorsToLandmarksCalculatorOptions
from penstock_tensors.messages.tflite_decoders_pb2 import (
    TfLiteTensorsToClassificationCalculatorOptions,
    TfLiteTensorsToDetectionsCalculatorOptions,
    TfLiteTensorsToLandmarksCalculatorOptions,
)
from penstock_tensors.outputs.tensors_to_classification import TensorsToClassificationCalculator
from penstock_tensors.outputs.tensors_to_detections import TensorsToDetectionsCalculator
from penstock_tensors.outputs.tensors_to_floats import TensorsToFloatsCalculator
from penstock_tensors.outputs.tensors_to_landmarks import TensorsToLandmarksCalculator
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
            raise InvalidArgumentError("connect FLOAT or FLOATS; neither output is connected")

    @staticmethod
    def _takes_sigmoid(cc: CalculatorContext) -> bool:  # noqa: ARG004  # it has no options
        return False


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
