from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar

DESCRIPTOR: _descriptor.FileDescriptor

class ScaleMode(_message.Message):
    __slots__ = ()
    class Mode(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        DEFAULT: _ClassVar[ScaleMode.Mode]
        STRETCH: _ClassVar[ScaleMode.Mode]
        FIT: _ClassVar[ScaleMode.Mode]
        FILL_AND_CROP: _ClassVar[ScaleMode.Mode]
    DEFAULT: ScaleMode.Mode
    STRETCH: ScaleMode.Mode
    FIT: ScaleMode.Mode
    FILL_AND_CROP: ScaleMode.Mode
    def __init__(self) -> None: ...
