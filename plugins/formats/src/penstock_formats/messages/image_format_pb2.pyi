from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar

DESCRIPTOR: _descriptor.FileDescriptor

class ImageFormat(_message.Message):
    __slots__ = ()
    class Format(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        UNKNOWN: _ClassVar[ImageFormat.Format]
        SRGB: _ClassVar[ImageFormat.Format]
        SRGBA: _ClassVar[ImageFormat.Format]
        GRAY8: _ClassVar[ImageFormat.Format]
        GRAY16: _ClassVar[ImageFormat.Format]
        YCBCR420P: _ClassVar[ImageFormat.Format]
        YCBCR420P10: _ClassVar[ImageFormat.Format]
        SRGB48: _ClassVar[ImageFormat.Format]
        SRGBA64: _ClassVar[ImageFormat.Format]
        VEC32F1: _ClassVar[ImageFormat.Format]
        LAB8: _ClassVar[ImageFormat.Format]
        SBGRA: _ClassVar[ImageFormat.Format]
        VEC32F2: _ClassVar[ImageFormat.Format]
        VEC32F4: _ClassVar[ImageFormat.Format]
    UNKNOWN: ImageFormat.Format
    SRGB: ImageFormat.Format
    SRGBA: ImageFormat.Format
    GRAY8: ImageFormat.Format
    GRAY16: ImageFormat.Format
    YCBCR420P: ImageFormat.Format
    YCBCR420P10: ImageFormat.Format
    SRGB48: ImageFormat.Format
    SRGBA64: ImageFormat.Format
    VEC32F1: ImageFormat.Format
    LAB8: ImageFormat.Format
    SBGRA: ImageFormat.Format
    VEC32F2: ImageFormat.Format
    VEC32F4: ImageFormat.Format
    def __init__(self) -> None: ...
