from penstock.config import calculator_options_pb2 as _calculator_options_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Optional as _Optional

DESCRIPTOR: _descriptor.FileDescriptor

class TfLiteTensorsToDetectionsCalculatorOptions(_message.Message):
    __slots__ = ("num_classes", "num_boxes", "num_coords", "keypoint_coord_offset", "num_keypoints", "num_values_per_keypoint", "box_coord_offset", "x_scale", "y_scale", "w_scale", "h_scale", "apply_exponential_on_box_size", "reverse_output_order", "ignore_classes", "sigmoid_score", "score_clipping_thresh", "flip_vertically", "min_score_thresh")
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
    SIGMOID_SCORE_FIELD_NUMBER: _ClassVar[int]
    SCORE_CLIPPING_THRESH_FIELD_NUMBER: _ClassVar[int]
    FLIP_VERTICALLY_FIELD_NUMBER: _ClassVar[int]
    MIN_SCORE_THRESH_FIELD_NUMBER: _ClassVar[int]
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
    sigmoid_score: bool
    score_clipping_thresh: float
    flip_vertically: bool
    min_score_thresh: float
    def __init__(self, num_classes: _Optional[int] = ..., num_boxes: _Optional[int] = ..., num_coords: _Optional[int] = ..., keypoint_coord_offset: _Optional[int] = ..., num_keypoints: _Optional[int] = ..., num_values_per_keypoint: _Optional[int] = ..., box_coord_offset: _Optional[int] = ..., x_scale: _Optional[float] = ..., y_scale: _Optional[float] = ..., w_scale: _Optional[float] = ..., h_scale: _Optional[float] = ..., apply_exponential_on_box_size: bool = ..., reverse_output_order: bool = ..., ignore_classes: _Optional[_Iterable[int]] = ..., sigmoid_score: bool = ..., score_clipping_thresh: _Optional[float] = ..., flip_vertically: bool = ..., min_score_thresh: _Optional[float] = ...) -> None: ...
