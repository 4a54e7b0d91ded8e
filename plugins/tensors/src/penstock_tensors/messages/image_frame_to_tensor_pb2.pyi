from penstock.config import calculator_options_pb2 as _calculator_options_pb2
from penstock_tensors.messages import data_type_pb2 as _data_type_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class ImageFrameToTensorCalculatorOptions(_message.Message):
    __slots__ = ("data_type", "mean", "stddev")
    EXT_FIELD_NUMBER: _ClassVar[int]
    ext: _descriptor.FieldDescriptor
    DATA_TYPE_FIELD_NUMBER: _ClassVar[int]
    MEAN_FIELD_NUMBER: _ClassVar[int]
    STDDEV_FIELD_NUMBER: _ClassVar[int]
    data_type: _data_type_pb2.DataType
    mean: _containers.RepeatedScalarFieldContainer[float]
    stddev: _containers.RepeatedScalarFieldContainer[float]
    def __init__(self, data_type: _Optional[_Union[_data_type_pb2.DataType, str]] = ..., mean: _Optional[_Iterable[float]] = ..., stddev: _Optional[_Iterable[float]] = ...) -> None: ...
