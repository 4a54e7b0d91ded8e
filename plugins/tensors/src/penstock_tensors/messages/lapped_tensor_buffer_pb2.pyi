from penstock.config import calculator_options_pb2 as _calculator_options_pb2
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Optional as _Optional

DESCRIPTOR: _descriptor.FileDescriptor

class LappedTensorBufferCalculatorOptions(_message.Message):
    __slots__ = ("buffer_size", "overlap", "add_batch_dim_to_tensors", "timestamp_offset", "padding")
    EXT_FIELD_NUMBER: _ClassVar[int]
    ext: _descriptor.FieldDescriptor
    BUFFER_SIZE_FIELD_NUMBER: _ClassVar[int]
    OVERLAP_FIELD_NUMBER: _ClassVar[int]
    ADD_BATCH_DIM_TO_TENSORS_FIELD_NUMBER: _ClassVar[int]
    TIMESTAMP_OFFSET_FIELD_NUMBER: _ClassVar[int]
    PADDING_FIELD_NUMBER: _ClassVar[int]
    buffer_size: int
    overlap: int
    add_batch_dim_to_tensors: bool
    timestamp_offset: int
    padding: int
    def __init__(self, buffer_size: _Optional[int] = ..., overlap: _Optional[int] = ..., add_batch_dim_to_tensors: bool = ..., timestamp_offset: _Optional[int] = ..., padding: _Optional[int] = ...) -> None: ...
