from penstock.config import calculator_options_pb2 as _calculator_options_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Optional as _Optional

DESCRIPTOR: _descriptor.FileDescriptor

class PacketLatencyCalculatorOptions(_message.Message):
    __slots__ = ("num_intervals", "interval_size_usec", "reset_duration_usec", "packet_labels")
    EXT_FIELD_NUMBER: _ClassVar[int]
    ext: _descriptor.FieldDescriptor
    NUM_INTERVALS_FIELD_NUMBER: _ClassVar[int]
    INTERVAL_SIZE_USEC_FIELD_NUMBER: _ClassVar[int]
    RESET_DURATION_USEC_FIELD_NUMBER: _ClassVar[int]
    PACKET_LABELS_FIELD_NUMBER: _ClassVar[int]
    num_intervals: int
    interval_size_usec: int
    reset_duration_usec: int
    packet_labels: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, num_intervals: _Optional[int] = ..., interval_size_usec: _Optional[int] = ..., reset_duration_usec: _Optional[int] = ..., packet_labels: _Optional[_Iterable[str]] = ...) -> None: ...

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
