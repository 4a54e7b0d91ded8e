from penstock.config import mediapipe_options_pb2 as _mediapipe_options_pb2
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Optional as _Optional

DESCRIPTOR: _descriptor.FileDescriptor

class TimeoutOptions(_message.Message):
    __slots__ = ("timeout_ms",)
    EXT_FIELD_NUMBER: _ClassVar[int]
    ext: _descriptor.FieldDescriptor
    TIMEOUT_MS_FIELD_NUMBER: _ClassVar[int]
    timeout_ms: float
    def __init__(self, timeout_ms: _Optional[float] = ...) -> None: ...
