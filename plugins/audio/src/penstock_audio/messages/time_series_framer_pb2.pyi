from penstock.config import calculator_options_pb2 as _calculator_options_pb2
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class TimeSeriesFramerCalculatorOptions(_message.Message):
    __slots__ = ("frame_duration_seconds", "frame_overlap_seconds", "pad_final_packet", "window_function", "emulate_fractional_frame_overlap", "use_local_timestamp")
    class WindowFunction(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        NONE: _ClassVar[TimeSeriesFramerCalculatorOptions.WindowFunction]
        HAMMING: _ClassVar[TimeSeriesFramerCalculatorOptions.WindowFunction]
        HANN: _ClassVar[TimeSeriesFramerCalculatorOptions.WindowFunction]
    NONE: TimeSeriesFramerCalculatorOptions.WindowFunction
    HAMMING: TimeSeriesFramerCalculatorOptions.WindowFunction
    HANN: TimeSeriesFramerCalculatorOptions.WindowFunction
    EXT_FIELD_NUMBER: _ClassVar[int]
    ext: _descriptor.FieldDescriptor
    FRAME_DURATION_SECONDS_FIELD_NUMBER: _ClassVar[int]
    FRAME_OVERLAP_SECONDS_FIELD_NUMBER: _ClassVar[int]
    PAD_FINAL_PACKET_FIELD_NUMBER: _ClassVar[int]
    WINDOW_FUNCTION_FIELD_NUMBER: _ClassVar[int]
    EMULATE_FRACTIONAL_FRAME_OVERLAP_FIELD_NUMBER: _ClassVar[int]
    USE_LOCAL_TIMESTAMP_FIELD_NUMBER: _ClassVar[int]
    frame_duration_seconds: float
    frame_overlap_seconds: float
    pad_final_packet: bool
    window_function: TimeSeriesFramerCalculatorOptions.WindowFunction
    emulate_fractional_frame_overlap: bool
    use_local_timestamp: bool
    def __init__(self, frame_duration_seconds: _Optional[float] = ..., frame_overlap_seconds: _Optional[float] = ..., pad_final_packet: bool = ..., window_function: _Optional[_Union[TimeSeriesFramerCalculatorOptions.WindowFunction, str]] = ..., emulate_fractional_frame_overlap: bool = ..., use_local_timestamp: bool = ...) -> None: ...
