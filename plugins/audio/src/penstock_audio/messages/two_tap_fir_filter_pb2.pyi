from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Optional as _Optional

DESCRIPTOR: _descriptor.FileDescriptor

class TwoTapFirFilterCalculatorOptions(_message.Message):
    __slots__ = ("gain_now", "gain_prev")
    GAIN_NOW_FIELD_NUMBER: _ClassVar[int]
    GAIN_PREV_FIELD_NUMBER: _ClassVar[int]
    gain_now: float
    gain_prev: float
    def __init__(self, gain_now: _Optional[float] = ..., gain_prev: _Optional[float] = ...) -> None: ...
