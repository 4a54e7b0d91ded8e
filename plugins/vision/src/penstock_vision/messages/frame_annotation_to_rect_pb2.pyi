from penstock.config import calculator_options_pb2 as _calculator_options_pb2
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Optional as _Optional

DESCRIPTOR: _descriptor.FileDescriptor

class FrameAnnotationToRectCalculatorOptions(_message.Message):
    __slots__ = ("off_threshold", "on_threshold")
    EXT_FIELD_NUMBER: _ClassVar[int]
    ext: _descriptor.FieldDescriptor
    OFF_THRESHOLD_FIELD_NUMBER: _ClassVar[int]
    ON_THRESHOLD_FIELD_NUMBER: _ClassVar[int]
    off_threshold: float
    on_threshold: float
    def __init__(self, off_threshold: _Optional[float] = ..., on_threshold: _Optional[float] = ...) -> None: ...
