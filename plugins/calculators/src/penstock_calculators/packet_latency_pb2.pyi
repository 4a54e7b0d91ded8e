from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Optional as _Optional

DESCRIPTOR: _descriptor.FileDescriptor

class PacketLatency(_message.Message):
    __slots__ = ("current_latency_usec", "counts", "num_intervals", "interval_size_usec", "avg_latency_usec", "sum_latency_usec", "label")
    CURRENT_LATENCY_USEC_FIELD_NUMBER: _ClassVar[int]
    COUNTS_FIELD_NUMBER: _ClassVar[int]
    NUM_INTERVALS_FIELD_NUMBER: _ClassVar[int]
    INTERVAL_SIZE_USEC_FIELD_NUMBER: _ClassVar[int]
    AVG_LATENCY_USEC_FIELD_NUMBER: _ClassVar[int]
    SUM_LATENCY_USEC_FIELD_NUMBER: _ClassVar[int]
    LABEL_FIELD_NUMBER: _ClassVar[int]
    current_latency_usec: int
    counts: _containers.RepeatedScalarFieldContainer[int]
    num_intervals: int
    interval_size_usec: int
    avg_latency_usec: int
    sum_latency_usec: int
    label: str
    def __init__(self, current_latency_usec: _Optional[int] = ..., counts: _Optional[_Iterable[int]] = ..., num_intervals: _Optional[int] = ..., interval_size_usec: _Optional[int] = ..., avg_latency_usec: _Optional[int] = ..., sum_latency_usec: _Optional[int] = ..., label: _Optional[str] = ...) -> None: ...
