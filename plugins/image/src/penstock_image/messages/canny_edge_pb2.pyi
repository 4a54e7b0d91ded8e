from penstock.config import calculator_options_pb2 as _calculator_options_pb2
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Optional as _Optional

DESCRIPTOR: _descriptor.FileDescriptor

class CannyEdgeCalculatorOptions(_message.Message):
    __slots__ = ("low_threshold", "high_threshold", "aperture_size", "l2_gradient", "line_width")
    EXT_FIELD_NUMBER: _ClassVar[int]
    ext: _descriptor.FieldDescriptor
    LOW_THRESHOLD_FIELD_NUMBER: _ClassVar[int]
    HIGH_THRESHOLD_FIELD_NUMBER: _ClassVar[int]
    APERTURE_SIZE_FIELD_NUMBER: _ClassVar[int]
    L2_GRADIENT_FIELD_NUMBER: _ClassVar[int]
    LINE_WIDTH_FIELD_NUMBER: _ClassVar[int]
    low_threshold: float
    high_threshold: float
    aperture_size: int
    l2_gradient: bool
    line_width: int
    def __init__(self, low_threshold: _Optional[float] = ..., high_threshold: _Optional[float] = ..., aperture_size: _Optional[int] = ..., l2_gradient: bool = ..., line_width: _Optional[int] = ...) -> None: ...
