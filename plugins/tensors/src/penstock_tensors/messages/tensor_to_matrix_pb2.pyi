from penstock.config import calculator_options_pb2 as _calculator_options_pb2
from penstock_formats.messages import time_series_header_pb2 as _time_series_header_pb2
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class TensorToMatrixCalculatorOptions(_message.Message):
    __slots__ = ("time_series_header_overrides",)
    EXT_FIELD_NUMBER: _ClassVar[int]
    ext: _descriptor.FieldDescriptor
    TIME_SERIES_HEADER_OVERRIDES_FIELD_NUMBER: _ClassVar[int]
    time_series_header_overrides: _time_series_header_pb2.TimeSeriesHeader
    def __init__(self, time_series_header_overrides: _Optional[_Union[_time_series_header_pb2.TimeSeriesHeader, _Mapping]] = ...) -> None: ...
