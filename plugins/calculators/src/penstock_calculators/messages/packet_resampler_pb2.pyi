from penstock.config import calculator_options_pb2 as _calculator_options_pb2
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class PacketResamplerCalculatorOptions(_message.Message):
    __slots__ = ("frame_rate", "output_header", "flush_last_packet", "jitter", "base_timestamp", "start_time", "end_time", "round_limits", "jitter_with_reflection", "reproducible_sampling", "use_input_frame_rate", "max_frame_rate", "max_periods")
    class OutputHeader(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        NONE: _ClassVar[PacketResamplerCalculatorOptions.OutputHeader]
        PASS_HEADER: _ClassVar[PacketResamplerCalculatorOptions.OutputHeader]
        UPDATE_VIDEO_HEADER: _ClassVar[PacketResamplerCalculatorOptions.OutputHeader]
    NONE: PacketResamplerCalculatorOptions.OutputHeader
    PASS_HEADER: PacketResamplerCalculatorOptions.OutputHeader
    UPDATE_VIDEO_HEADER: PacketResamplerCalculatorOptions.OutputHeader
    EXT_FIELD_NUMBER: _ClassVar[int]
    ext: _descriptor.FieldDescriptor
    FRAME_RATE_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_HEADER_FIELD_NUMBER: _ClassVar[int]
    FLUSH_LAST_PACKET_FIELD_NUMBER: _ClassVar[int]
    JITTER_FIELD_NUMBER: _ClassVar[int]
    BASE_TIMESTAMP_FIELD_NUMBER: _ClassVar[int]
    START_TIME_FIELD_NUMBER: _ClassVar[int]
    END_TIME_FIELD_NUMBER: _ClassVar[int]
    ROUND_LIMITS_FIELD_NUMBER: _ClassVar[int]
    JITTER_WITH_REFLECTION_FIELD_NUMBER: _ClassVar[int]
    REPRODUCIBLE_SAMPLING_FIELD_NUMBER: _ClassVar[int]
    USE_INPUT_FRAME_RATE_FIELD_NUMBER: _ClassVar[int]
    MAX_FRAME_RATE_FIELD_NUMBER: _ClassVar[int]
    MAX_PERIODS_FIELD_NUMBER: _ClassVar[int]
    frame_rate: float
    output_header: PacketResamplerCalculatorOptions.OutputHeader
    flush_last_packet: bool
    jitter: float
    base_timestamp: int
    start_time: int
    end_time: int
    round_limits: bool
    jitter_with_reflection: bool
    reproducible_sampling: bool
    use_input_frame_rate: bool
    max_frame_rate: float
    max_periods: int
    def __init__(self, frame_rate: _Optional[float] = ..., output_header: _Optional[_Union[PacketResamplerCalculatorOptions.OutputHeader, str]] = ..., flush_last_packet: bool = ..., jitter: _Optional[float] = ..., base_timestamp: _Optional[int] = ..., start_time: _Optional[int] = ..., end_time: _Optional[int] = ..., round_limits: bool = ..., jitter_with_reflection: bool = ..., reproducible_sampling: bool = ..., use_input_frame_rate: bool = ..., max_frame_rate: _Optional[float] = ..., max_periods: _Optional[int] = ...) -> None: ...
