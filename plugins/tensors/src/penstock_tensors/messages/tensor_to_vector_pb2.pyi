from penstock.config import calculator_options_pb2 as _calculator_options_pb2
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Optional as _Optional

DESCRIPTOR: _descriptor.FileDescriptor

class TensorToVectorFloatCalculatorOptions(_message.Message):
    __slots__ = ("tensor_is_2d", "flatten_nd")
    EXT_FIELD_NUMBER: _ClassVar[int]
    ext: _descriptor.FieldDescriptor
    TENSOR_IS_2D_FIELD_NUMBER: _ClassVar[int]
    FLATTEN_ND_FIELD_NUMBER: _ClassVar[int]
    tensor_is_2d: bool
    flatten_nd: bool
    def __init__(self, tensor_is_2d: bool = ..., flatten_nd: bool = ...) -> None: ...

class TensorToVectorIntCalculatorOptions(_message.Message):
    __slots__ = ("tensor_is_2d", "flatten_nd", "tensor_is_token", "token_threshold", "overlap")
    EXT_FIELD_NUMBER: _ClassVar[int]
    ext: _descriptor.FieldDescriptor
    TENSOR_IS_2D_FIELD_NUMBER: _ClassVar[int]
    FLATTEN_ND_FIELD_NUMBER: _ClassVar[int]
    TENSOR_IS_TOKEN_FIELD_NUMBER: _ClassVar[int]
    TOKEN_THRESHOLD_FIELD_NUMBER: _ClassVar[int]
    OVERLAP_FIELD_NUMBER: _ClassVar[int]
    tensor_is_2d: bool
    flatten_nd: bool
    tensor_is_token: bool
    token_threshold: float
    overlap: int
    def __init__(self, tensor_is_2d: bool = ..., flatten_nd: bool = ..., tensor_is_token: bool = ..., token_threshold: _Optional[float] = ..., overlap: _Optional[int] = ...) -> None: ...

class TensorToVectorStringCalculatorOptions(_message.Message):
    __slots__ = ("tensor_is_2d", "flatten_nd")
    EXT_FIELD_NUMBER: _ClassVar[int]
    ext: _descriptor.FieldDescriptor
    TENSOR_IS_2D_FIELD_NUMBER: _ClassVar[int]
    FLATTEN_ND_FIELD_NUMBER: _ClassVar[int]
    tensor_is_2d: bool
    flatten_nd: bool
    def __init__(self, tensor_is_2d: bool = ..., flatten_nd: bool = ...) -> None: ...
