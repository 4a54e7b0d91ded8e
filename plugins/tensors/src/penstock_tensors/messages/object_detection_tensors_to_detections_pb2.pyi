from penstock.config import calculator_options_pb2 as _calculator_options_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Optional as _Optional

DESCRIPTOR: _descriptor.FileDescriptor

class ObjectDetectionsTensorToDetectionsCalculatorOptions(_message.Message):
    __slots__ = ("mask_threshold", "tensor_dim_to_squeeze")
    EXT_FIELD_NUMBER: _ClassVar[int]
    ext: _descriptor.FieldDescriptor
    MASK_THRESHOLD_FIELD_NUMBER: _ClassVar[int]
    TENSOR_DIM_TO_SQUEEZE_FIELD_NUMBER: _ClassVar[int]
    mask_threshold: float
    tensor_dim_to_squeeze: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, mask_threshold: _Optional[float] = ..., tensor_dim_to_squeeze: _Optional[_Iterable[int]] = ...) -> None: ...
