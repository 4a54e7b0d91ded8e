from penstock.config import calculator_options_pb2 as _calculator_options_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class TensorsToDetectionsCalculatorOptions(_message.Message):
    __slots__ = ("num_classes", "num_boxes", "num_coords", "keypoint_coord_offset", "num_keypoints", "num_values_per_keypoint", "box_coord_offset", "x_scale", "y_scale", "w_scale", "h_scale", "apply_exponential_on_box_size", "reverse_output_order", "ignore_classes", "allow_classes", "sigmoid_score", "score_clipping_thresh", "flip_vertically", "min_score_thresh", "max_results", "max_classes_per_detection", "tensor_mapping", "box_boundaries_indices", "box_format")
    class BoxFormat(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        UNSPECIFIED: _ClassVar[TensorsToDetectionsCalculatorOptions.BoxFormat]
        YXHW: _ClassVar[TensorsToDetectionsCalculatorOptions.BoxFormat]
        XYWH: _ClassVar[TensorsToDetectionsCalculatorOptions.BoxFormat]
        XYXY: _ClassVar[TensorsToDetectionsCalculatorOptions.BoxFormat]
    UNSPECIFIED: TensorsToDetectionsCalculatorOptions.BoxFormat
    YXHW: TensorsToDetectionsCalculatorOptions.BoxFormat
    XYWH: TensorsToDetectionsCalculatorOptions.BoxFormat
    XYXY: TensorsToDetectionsCalculatorOptions.BoxFormat
    class TensorMapping(_message.Message):
        __slots__ = ("detections_tensor_index", "classes_tensor_index", "scores_tensor_index", "num_detections_tensor_index", "anchors_tensor_index")
        DETECTIONS_TENSOR_INDEX_FIELD_NUMBER: _ClassVar[int]
        CLASSES_TENSOR_INDEX_FIELD_NUMBER: _ClassVar[int]
        SCORES_TENSOR_INDEX_FIELD_NUMBER: _ClassVar[int]
        NUM_DETECTIONS_TENSOR_INDEX_FIELD_NUMBER: _ClassVar[int]
        ANCHORS_TENSOR_INDEX_FIELD_NUMBER: _ClassVar[int]
        detections_tensor_index: int
        classes_tensor_index: int
        scores_tensor_index: int
        num_detections_tensor_index: int
        anchors_tensor_index: int
        def __init__(self, detections_tensor_index: _Optional[int] = ..., classes_tensor_index: _Optional[int] = ..., scores_tensor_index: _Optional[int] = ..., num_detections_tensor_index: _Optional[int] = ..., anchors_tensor_index: _Optional[int] = ...) -> None: ...
    class BoxBoundariesIndices(_message.Message):
        __slots__ = ("ymin", "xmin", "ymax", "xmax")
        YMIN_FIELD_NUMBER: _ClassVar[int]
        XMIN_FIELD_NUMBER: _ClassVar[int]
        YMAX_FIELD_NUMBER: _ClassVar[int]
        XMAX_FIELD_NUMBER: _ClassVar[int]
        ymin: int
        xmin: int
        ymax: int
        xmax: int
        def __init__(self, ymin: _Optional[int] = ..., xmin: _Optional[int] = ..., ymax: _Optional[int] = ..., xmax: _Optional[int] = ...) -> None: ...
    EXT_FIELD_NUMBER: _ClassVar[int]
    ext: _descriptor.FieldDescriptor
    NUM_CLASSES_FIELD_NUMBER: _ClassVar[int]
    NUM_BOXES_FIELD_NUMBER: _ClassVar[int]
    NUM_COORDS_FIELD_NUMBER: _ClassVar[int]
    KEYPOINT_COORD_OFFSET_FIELD_NUMBER: _ClassVar[int]
    NUM_KEYPOINTS_FIELD_NUMBER: _ClassVar[int]
    NUM_VALUES_PER_KEYPOINT_FIELD_NUMBER: _ClassVar[int]
    BOX_COORD_OFFSET_FIELD_NUMBER: _ClassVar[int]
    X_SCALE_FIELD_NUMBER: _ClassVar[int]
    Y_SCALE_FIELD_NUMBER: _ClassVar[int]
    W_SCALE_FIELD_NUMBER: _ClassVar[int]
    H_SCALE_FIELD_NUMBER: _ClassVar[int]
    APPLY_EXPONENTIAL_ON_BOX_SIZE_FIELD_NUMBER: _ClassVar[int]
    REVERSE_OUTPUT_ORDER_FIELD_NUMBER: _ClassVar[int]
    IGNORE_CLASSES_FIELD_NUMBER: _ClassVar[int]
    ALLOW_CLASSES_FIELD_NUMBER: _ClassVar[int]
    SIGMOID_SCORE_FIELD_NUMBER: _ClassVar[int]
    SCORE_CLIPPING_THRESH_FIELD_NUMBER: _ClassVar[int]
    FLIP_VERTICALLY_FIELD_NUMBER: _ClassVar[int]
    MIN_SCORE_THRESH_FIELD_NUMBER: _ClassVar[int]
    MAX_RESULTS_FIELD_NUMBER: _ClassVar[int]
    MAX_CLASSES_PER_DETECTION_FIELD_NUMBER: _ClassVar[int]
    TENSOR_MAPPING_FIELD_NUMBER: _ClassVar[int]
    BOX_BOUNDARIES_INDICES_FIELD_NUMBER: _ClassVar[int]
    BOX_FORMAT_FIELD_NUMBER: _ClassVar[int]
    num_classes: int
    num_boxes: int
    num_coords: int
    keypoint_coord_offset: int
    num_keypoints: int
    num_values_per_keypoint: int
    box_coord_offset: int
    x_scale: float
    y_scale: float
    w_scale: float
    h_scale: float
    apply_exponential_on_box_size: bool
    reverse_output_order: bool
    ignore_classes: _containers.RepeatedScalarFieldContainer[int]
    allow_classes: _containers.RepeatedScalarFieldContainer[int]
    sigmoid_score: bool
    score_clipping_thresh: float
    flip_vertically: bool
    min_score_thresh: float
    max_results: int
    max_classes_per_detection: int
    tensor_mapping: TensorsToDetectionsCalculatorOptions.TensorMapping
    box_boundaries_indices: TensorsToDetectionsCalculatorOptions.BoxBoundariesIndices
    box_format: TensorsToDetectionsCalculatorOptions.BoxFormat
    def __init__(self, num_classes: _Optional[int] = ..., num_boxes: _Optional[int] = ..., num_coords: _Optional[int] = ..., keypoint_coord_offset: _Optional[int] = ..., num_keypoints: _Optional[int] = ..., num_values_per_keypoint: _Optional[int] = ..., box_coord_offset: _Optional[int] = ..., x_scale: _Optional[float] = ..., y_scale: _Optional[float] = ..., w_scale: _Optional[float] = ..., h_scale: _Optional[float] = ..., apply_exponential_on_box_size: bool = ..., reverse_output_order: bool = ..., ignore_classes: _Optional[_Iterable[int]] = ..., allow_classes: _Optional[_Iterable[int]] = ..., sigmoid_score: bool = ..., score_clipping_thresh: _Optional[float] = ..., flip_vertically: bool = ..., min_score_thresh: _Optional[float] = ..., max_results: _Optional[int] = ..., max_classes_per_detection: _Optional[int] = ..., tensor_mapping: _Optional[_Union[TensorsToDetectionsCalculatorOptions.TensorMapping, _Mapping]] = ..., box_boundaries_indices: _Optional[_Union[TensorsToDetectionsCalculatorOptions.BoxBoundariesIndices, _Mapping]] = ..., box_format: _Optional[_Union[TensorsToDetectionsCalculatorOptions.BoxFormat, str]] = ...) -> None: ...
