from penstock.config import calculator_options_pb2 as _calculator_options_pb2
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Optional as _Optional

DESCRIPTOR: _descriptor.FileDescriptor

class TfLiteTensorsToClassificationCalculatorOptions(_message.Message):
    __slots__ = ("min_score_threshold", "top_k", "label_map_path", "binary_classification")
    EXT_FIELD_NUMBER: _ClassVar[int]
    ext: _descriptor.FieldDescriptor
    MIN_SCORE_THRESHOLD_FIELD_NUMBER: _ClassVar[int]
    TOP_K_FIELD_NUMBER: _ClassVar[int]
    LABEL_MAP_PATH_FIELD_NUMBER: _ClassVar[int]
    BINARY_CLASSIFICATION_FIELD_NUMBER: _ClassVar[int]
    min_score_threshold: float
    top_k: int
    label_map_path: str
    binary_classification: bool
    def __init__(self, min_score_threshold: _Optional[float] = ..., top_k: _Optional[int] = ..., label_map_path: _Optional[str] = ..., binary_classification: bool = ...) -> None: ...
