from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar

DESCRIPTOR: _descriptor.FileDescriptor

class SoxrQuality(_message.Message):
    __slots__ = ()
    class Quality(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        OFF: _ClassVar[SoxrQuality.Quality]
        QUICK: _ClassVar[SoxrQuality.Quality]
        LOW: _ClassVar[SoxrQuality.Quality]
        MEDIUM: _ClassVar[SoxrQuality.Quality]
        HIGH: _ClassVar[SoxrQuality.Quality]
        VERY_HIGH: _ClassVar[SoxrQuality.Quality]
    OFF: SoxrQuality.Quality
    QUICK: SoxrQuality.Quality
    LOW: SoxrQuality.Quality
    MEDIUM: SoxrQuality.Quality
    HIGH: SoxrQuality.Quality
    VERY_HIGH: SoxrQuality.Quality
    def __init__(self) -> None: ...
