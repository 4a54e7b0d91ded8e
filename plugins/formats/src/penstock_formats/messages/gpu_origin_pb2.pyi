from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar

DESCRIPTOR: _descriptor.FileDescriptor

class GpuOrigin(_message.Message):
    __slots__ = ()
    class Mode(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        DEFAULT: _ClassVar[GpuOrigin.Mode]
        CONVENTIONAL: _ClassVar[GpuOrigin.Mode]
        TOP_LEFT: _ClassVar[GpuOrigin.Mode]
    DEFAULT: GpuOrigin.Mode
    CONVENTIONAL: GpuOrigin.Mode
    TOP_LEFT: GpuOrigin.Mode
    def __init__(self) -> None: ...
