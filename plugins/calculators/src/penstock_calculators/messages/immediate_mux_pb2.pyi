from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Optional as _Optional

DESCRIPTOR: _descriptor.FileDescriptor

class ImmediateMuxCalculatorOptions(_message.Message):
    __slots__ = ("process_timestamp_bounds",)
    PROCESS_TIMESTAMP_BOUNDS_FIELD_NUMBER: _ClassVar[int]
    process_timestamp_bounds: bool
    def __init__(self, process_timestamp_bounds: bool = ...) -> None: ...
