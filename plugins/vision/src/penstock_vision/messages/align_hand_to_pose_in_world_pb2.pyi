from penstock.config import calculator_options_pb2 as _calculator_options_pb2
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Optional as _Optional

DESCRIPTOR: _descriptor.FileDescriptor

class AlignHandToPoseInWorldCalculatorOptions(_message.Message):
    __slots__ = ("hand_wrist_idx", "pose_wrist_idx")
    EXT_FIELD_NUMBER: _ClassVar[int]
    ext: _descriptor.FieldDescriptor
    HAND_WRIST_IDX_FIELD_NUMBER: _ClassVar[int]
    POSE_WRIST_IDX_FIELD_NUMBER: _ClassVar[int]
    hand_wrist_idx: int
    pose_wrist_idx: int
    def __init__(self, hand_wrist_idx: _Optional[int] = ..., pose_wrist_idx: _Optional[int] = ...) -> None: ...
