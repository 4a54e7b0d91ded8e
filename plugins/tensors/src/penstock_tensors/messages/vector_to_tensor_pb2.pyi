from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Optional as _Optional

DESCRIPTOR: _descriptor.FileDescriptor

class VectorToTensorCalculatorOptions(_message.Message):
    __slots__ = ("output_dynamic_tensor_shape",)
    OUTPUT_DYNAMIC_TENSOR_SHAPE_FIELD_NUMBER: _ClassVar[int]
    output_dynamic_tensor_shape: bool
    def __init__(self, output_dynamic_tensor_shape: bool = ...) -> None: ...
