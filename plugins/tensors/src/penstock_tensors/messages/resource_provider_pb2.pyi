from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class ResourceProviderCalculatorOptions(_message.Message):
    __slots__ = ("resource_id", "read_mode")
    class ReadMode(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        READ_MODE_UNDEFINED: _ClassVar[ResourceProviderCalculatorOptions.ReadMode]
        READ_MODE_BINARY: _ClassVar[ResourceProviderCalculatorOptions.ReadMode]
        READ_MODE_TEXT: _ClassVar[ResourceProviderCalculatorOptions.ReadMode]
    READ_MODE_UNDEFINED: ResourceProviderCalculatorOptions.ReadMode
    READ_MODE_BINARY: ResourceProviderCalculatorOptions.ReadMode
    READ_MODE_TEXT: ResourceProviderCalculatorOptions.ReadMode
    RESOURCE_ID_FIELD_NUMBER: _ClassVar[int]
    READ_MODE_FIELD_NUMBER: _ClassVar[int]
    resource_id: _containers.RepeatedScalarFieldContainer[str]
    read_mode: ResourceProviderCalculatorOptions.ReadMode
    def __init__(self, resource_id: _Optional[_Iterable[str]] = ..., read_mode: _Optional[_Union[ResourceProviderCalculatorOptions.ReadMode, str]] = ...) -> None: ...
