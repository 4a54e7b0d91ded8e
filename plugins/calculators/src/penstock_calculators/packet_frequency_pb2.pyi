from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Optional as _Optional

DESCRIPTOR: _descriptor.FileDescriptor

class PacketFrequency(_message.Message):
    __slots__ = ("packet_frequency_hz", "label")
    PACKET_FREQUENCY_HZ_FIELD_NUMBER: _ClassVar[int]
    LABEL_FIELD_NUMBER: _ClassVar[int]
    packet_frequency_hz: float
    label: str
    def __init__(self, packet_frequency_hz: _Optional[float] = ..., label: _Optional[str] = ...) -> None: ...
