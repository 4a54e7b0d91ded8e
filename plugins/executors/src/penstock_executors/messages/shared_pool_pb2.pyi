from penstock.config import mediapipe_options_pb2 as _mediapipe_options_pb2
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Optional as _Optional

DESCRIPTOR: _descriptor.FileDescriptor

class SharedThreadPoolExecutorOptions(_message.Message):
    __slots__ = ("pool", "num_threads")
    EXT_FIELD_NUMBER: _ClassVar[int]
    ext: _descriptor.FieldDescriptor
    POOL_FIELD_NUMBER: _ClassVar[int]
    NUM_THREADS_FIELD_NUMBER: _ClassVar[int]
    pool: str
    num_threads: int
    def __init__(self, pool: _Optional[str] = ..., num_threads: _Optional[int] = ...) -> None: ...
