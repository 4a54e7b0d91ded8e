from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Optional as _Optional

DESCRIPTOR: _descriptor.FileDescriptor

class AddAudioHeaderCalculatorOptions(_message.Message):
    __slots__ = ("sample_rate", "num_channels")
    SAMPLE_RATE_FIELD_NUMBER: _ClassVar[int]
    NUM_CHANNELS_FIELD_NUMBER: _ClassVar[int]
    sample_rate: float
    num_channels: int
    def __init__(self, sample_rate: _Optional[float] = ..., num_channels: _Optional[int] = ...) -> None: ...
