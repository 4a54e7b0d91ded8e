from penstock.config import calculator_options_pb2 as _calculator_options_pb2
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Optional as _Optional

DESCRIPTOR: _descriptor.FileDescriptor

class TensorToImageFrameCalculatorOptions(_message.Message):
    __slots__ = ("scale_factor", "scale_per_frame_min_max")
    EXT_FIELD_NUMBER: _ClassVar[int]
    ext: _descriptor.FieldDescriptor
    SCALE_FACTOR_FIELD_NUMBER: _ClassVar[int]
    SCALE_PER_FRAME_MIN_MAX_FIELD_NUMBER: _ClassVar[int]
    scale_factor: float
    scale_per_frame_min_max: bool
    def __init__(self, scale_factor: _Optional[float] = ..., scale_per_frame_min_max: bool = ...) -> None: ...
