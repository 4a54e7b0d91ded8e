from penstock.config import calculator_options_pb2 as _calculator_options_pb2
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Optional as _Optional

DESCRIPTOR: _descriptor.FileDescriptor

class TopKScoresCalculatorOptions(_message.Message):
    __slots__ = ("top_k", "threshold", "label_map_path")
    EXT_FIELD_NUMBER: _ClassVar[int]
    ext: _descriptor.FieldDescriptor
    TOP_K_FIELD_NUMBER: _ClassVar[int]
    THRESHOLD_FIELD_NUMBER: _ClassVar[int]
    LABEL_MAP_PATH_FIELD_NUMBER: _ClassVar[int]
    top_k: int
    threshold: float
    label_map_path: str
    def __init__(self, top_k: _Optional[int] = ..., threshold: _Optional[float] = ..., label_map_path: _Optional[str] = ...) -> None: ...
