from penstock.config import calculator_options_pb2 as _calculator_options_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Optional as _Optional

DESCRIPTOR: _descriptor.FileDescriptor

class TensorSqueezeDimensionsCalculatorOptions(_message.Message):
    __slots__ = ("squeeze_all_single_dims", "dim")
    EXT_FIELD_NUMBER: _ClassVar[int]
    ext: _descriptor.FieldDescriptor
    SQUEEZE_ALL_SINGLE_DIMS_FIELD_NUMBER: _ClassVar[int]
    DIM_FIELD_NUMBER: _ClassVar[int]
    squeeze_all_single_dims: bool
    dim: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, squeeze_all_single_dims: bool = ..., dim: _Optional[_Iterable[int]] = ...) -> None: ...
