from penstock.config import calculator_options_pb2 as _calculator_options_pb2
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class OpenCvVideoEncoderCalculatorOptions(_message.Message):
    __slots__ = ("codec", "video_format", "fps", "width", "height", "crf", "preset", "threads", "bit_rate", "timeline", "audio_optional", "hardware_required")
    class Timeline(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        AUTO: _ClassVar[OpenCvVideoEncoderCalculatorOptions.Timeline]
        PACKET: _ClassVar[OpenCvVideoEncoderCalculatorOptions.Timeline]
        FROM_ZERO: _ClassVar[OpenCvVideoEncoderCalculatorOptions.Timeline]
    AUTO: OpenCvVideoEncoderCalculatorOptions.Timeline
    PACKET: OpenCvVideoEncoderCalculatorOptions.Timeline
    FROM_ZERO: OpenCvVideoEncoderCalculatorOptions.Timeline
    EXT_FIELD_NUMBER: _ClassVar[int]
    ext: _descriptor.FieldDescriptor
    CODEC_FIELD_NUMBER: _ClassVar[int]
    VIDEO_FORMAT_FIELD_NUMBER: _ClassVar[int]
    FPS_FIELD_NUMBER: _ClassVar[int]
    WIDTH_FIELD_NUMBER: _ClassVar[int]
    HEIGHT_FIELD_NUMBER: _ClassVar[int]
    CRF_FIELD_NUMBER: _ClassVar[int]
    PRESET_FIELD_NUMBER: _ClassVar[int]
    THREADS_FIELD_NUMBER: _ClassVar[int]
    BIT_RATE_FIELD_NUMBER: _ClassVar[int]
    TIMELINE_FIELD_NUMBER: _ClassVar[int]
    AUDIO_OPTIONAL_FIELD_NUMBER: _ClassVar[int]
    HARDWARE_REQUIRED_FIELD_NUMBER: _ClassVar[int]
    codec: str
    video_format: str
    fps: float
    width: int
    height: int
    crf: float
    preset: str
    threads: int
    bit_rate: int
    timeline: OpenCvVideoEncoderCalculatorOptions.Timeline
    audio_optional: bool
    hardware_required: bool
    def __init__(self, codec: _Optional[str] = ..., video_format: _Optional[str] = ..., fps: _Optional[float] = ..., width: _Optional[int] = ..., height: _Optional[int] = ..., crf: _Optional[float] = ..., preset: _Optional[str] = ..., threads: _Optional[int] = ..., bit_rate: _Optional[int] = ..., timeline: _Optional[_Union[OpenCvVideoEncoderCalculatorOptions.Timeline, str]] = ..., audio_optional: bool = ..., hardware_required: bool = ...) -> None: ...
