from penstock.config import calculator_options_pb2 as _calculator_options_pb2
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Optional as _Optional

DESCRIPTOR: _descriptor.FileDescriptor

class TfLiteCustomOpResolverCalculatorOptions(_message.Message):
    __slots__ = ("use_gpu",)
    EXT_FIELD_NUMBER: _ClassVar[int]
    ext: _descriptor.FieldDescriptor
    USE_GPU_FIELD_NUMBER: _ClassVar[int]
    use_gpu: bool
    def __init__(self, use_gpu: bool = ...) -> None: ...
