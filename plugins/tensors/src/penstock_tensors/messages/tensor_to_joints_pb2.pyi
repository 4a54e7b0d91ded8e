from penstock.config import calculator_options_pb2 as _calculator_options_pb2
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Optional as _Optional

DESCRIPTOR: _descriptor.FileDescriptor

class TensorToJointsCalculatorOptions(_message.Message):
    __slots__ = ("num_joints", "start_index")
    EXT_FIELD_NUMBER: _ClassVar[int]
    ext: _descriptor.FieldDescriptor
    NUM_JOINTS_FIELD_NUMBER: _ClassVar[int]
    START_INDEX_FIELD_NUMBER: _ClassVar[int]
    num_joints: int
    start_index: int
    def __init__(self, num_joints: _Optional[int] = ..., start_index: _Optional[int] = ...) -> None: ...
