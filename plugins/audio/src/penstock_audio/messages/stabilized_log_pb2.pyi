from penstock.config import calculator_options_pb2 as _calculator_options_pb2
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Optional as _Optional

DESCRIPTOR: _descriptor.FileDescriptor

class StabilizedLogCalculatorOptions(_message.Message):
    __slots__ = ("stabilizer", "check_nonnegativity", "output_scale")
    EXT_FIELD_NUMBER: _ClassVar[int]
    ext: _descriptor.FieldDescriptor
    STABILIZER_FIELD_NUMBER: _ClassVar[int]
    CHECK_NONNEGATIVITY_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_SCALE_FIELD_NUMBER: _ClassVar[int]
    stabilizer: float
    check_nonnegativity: bool
    output_scale: float
    def __init__(self, stabilizer: _Optional[float] = ..., check_nonnegativity: bool = ..., output_scale: _Optional[float] = ...) -> None: ...
