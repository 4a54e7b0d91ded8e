from penstock.config import calculator_options_pb2 as _calculator_options_pb2
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class NonMaxSuppressionCalculatorOptions(_message.Message):
    __slots__ = ("num_detection_streams", "max_num_detections", "min_score_threshold", "min_suppression_threshold", "overlap_type", "return_empty_detections", "algorithm", "multiclass_nms")
    class OverlapType(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        UNSPECIFIED_OVERLAP_TYPE: _ClassVar[NonMaxSuppressionCalculatorOptions.OverlapType]
        JACCARD: _ClassVar[NonMaxSuppressionCalculatorOptions.OverlapType]
        MODIFIED_JACCARD: _ClassVar[NonMaxSuppressionCalculatorOptions.OverlapType]
        INTERSECTION_OVER_UNION: _ClassVar[NonMaxSuppressionCalculatorOptions.OverlapType]
    UNSPECIFIED_OVERLAP_TYPE: NonMaxSuppressionCalculatorOptions.OverlapType
    JACCARD: NonMaxSuppressionCalculatorOptions.OverlapType
    MODIFIED_JACCARD: NonMaxSuppressionCalculatorOptions.OverlapType
    INTERSECTION_OVER_UNION: NonMaxSuppressionCalculatorOptions.OverlapType
    class NmsAlgorithm(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        DEFAULT: _ClassVar[NonMaxSuppressionCalculatorOptions.NmsAlgorithm]
        WEIGHTED: _ClassVar[NonMaxSuppressionCalculatorOptions.NmsAlgorithm]
    DEFAULT: NonMaxSuppressionCalculatorOptions.NmsAlgorithm
    WEIGHTED: NonMaxSuppressionCalculatorOptions.NmsAlgorithm
    EXT_FIELD_NUMBER: _ClassVar[int]
    ext: _descriptor.FieldDescriptor
    NUM_DETECTION_STREAMS_FIELD_NUMBER: _ClassVar[int]
    MAX_NUM_DETECTIONS_FIELD_NUMBER: _ClassVar[int]
    MIN_SCORE_THRESHOLD_FIELD_NUMBER: _ClassVar[int]
    MIN_SUPPRESSION_THRESHOLD_FIELD_NUMBER: _ClassVar[int]
    OVERLAP_TYPE_FIELD_NUMBER: _ClassVar[int]
    RETURN_EMPTY_DETECTIONS_FIELD_NUMBER: _ClassVar[int]
    ALGORITHM_FIELD_NUMBER: _ClassVar[int]
    MULTICLASS_NMS_FIELD_NUMBER: _ClassVar[int]
    num_detection_streams: int
    max_num_detections: int
    min_score_threshold: float
    min_suppression_threshold: float
    overlap_type: NonMaxSuppressionCalculatorOptions.OverlapType
    return_empty_detections: bool
    algorithm: NonMaxSuppressionCalculatorOptions.NmsAlgorithm
    multiclass_nms: bool
    def __init__(self, num_detection_streams: _Optional[int] = ..., max_num_detections: _Optional[int] = ..., min_score_threshold: _Optional[float] = ..., min_suppression_threshold: _Optional[float] = ..., overlap_type: _Optional[_Union[NonMaxSuppressionCalculatorOptions.OverlapType, str]] = ..., return_empty_detections: bool = ..., algorithm: _Optional[_Union[NonMaxSuppressionCalculatorOptions.NmsAlgorithm, str]] = ..., multiclass_nms: bool = ...) -> None: ...
