from penstock.config import calculator_options_pb2 as _calculator_options_pb2
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Optional as _Optional

DESCRIPTOR: _descriptor.FileDescriptor

class FilterDetectionCalculatorOptions(_message.Message):
    __slots__ = ("min_score", "max_score", "fail_on_empty_labels", "empty_allowed_labels_means_allow_everything", "use_detection_vector", "use_allowed_labels_csv")
    EXT_FIELD_NUMBER: _ClassVar[int]
    ext: _descriptor.FieldDescriptor
    MIN_SCORE_FIELD_NUMBER: _ClassVar[int]
    MAX_SCORE_FIELD_NUMBER: _ClassVar[int]
    FAIL_ON_EMPTY_LABELS_FIELD_NUMBER: _ClassVar[int]
    EMPTY_ALLOWED_LABELS_MEANS_ALLOW_EVERYTHING_FIELD_NUMBER: _ClassVar[int]
    USE_DETECTION_VECTOR_FIELD_NUMBER: _ClassVar[int]
    USE_ALLOWED_LABELS_CSV_FIELD_NUMBER: _ClassVar[int]
    min_score: float
    max_score: float
    fail_on_empty_labels: bool
    empty_allowed_labels_means_allow_everything: bool
    use_detection_vector: bool
    use_allowed_labels_csv: bool
    def __init__(self, min_score: _Optional[float] = ..., max_score: _Optional[float] = ..., fail_on_empty_labels: bool = ..., empty_allowed_labels_means_allow_everything: bool = ..., use_detection_vector: bool = ..., use_allowed_labels_csv: bool = ...) -> None: ...
