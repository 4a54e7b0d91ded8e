from penstock.config import calculator_options_pb2 as _calculator_options_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Optional as _Optional

DESCRIPTOR: _descriptor.FileDescriptor

class PacketFrequencyCalculatorOptions(_message.Message):
    __slots__ = ("time_window_sec", "label")
    EXT_FIELD_NUMBER: _ClassVar[int]
    ext: _descriptor.FieldDescriptor
    TIME_WINDOW_SEC_FIELD_NUMBER: _ClassVar[int]
    LABEL_FIELD_NUMBER: _ClassVar[int]
    time_window_sec: float
    label: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, time_window_sec: _Optional[float] = ..., label: _Optional[_Iterable[str]] = ...) -> None: ...

class PacketFrequency(_message.Message):
    __slots__ = ("packet_frequency_hz", "label")
    PACKET_FREQUENCY_HZ_FIELD_NUMBER: _ClassVar[int]
    LABEL_FIELD_NUMBER: _ClassVar[int]
    packet_frequency_hz: float
    label: str
    def __init__(self, packet_frequency_hz: _Optional[float] = ..., label: _Optional[str] = ...) -> None: ...
