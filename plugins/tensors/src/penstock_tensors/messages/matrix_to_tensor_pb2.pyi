from penstock.config import calculator_options_pb2 as _calculator_options_pb2
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Optional as _Optional

DESCRIPTOR: _descriptor.FileDescriptor

class MatrixToTensorCalculatorOptions(_message.Message):
    __slots__ = ("transpose", "add_trailing_dimension")
    EXT_FIELD_NUMBER: _ClassVar[int]
    ext: _descriptor.FieldDescriptor
    TRANSPOSE_FIELD_NUMBER: _ClassVar[int]
    ADD_TRAILING_DIMENSION_FIELD_NUMBER: _ClassVar[int]
    transpose: bool
    add_trailing_dimension: bool
    def __init__(self, transpose: bool = ..., add_trailing_dimension: bool = ...) -> None: ...
