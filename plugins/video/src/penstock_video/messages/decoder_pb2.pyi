from penstock.config import calculator_options_pb2 as _calculator_options_pb2
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class VideoDecoderCalculatorOptions(_message.Message):
    __slots__ = ("camera_index", "test_pattern", "wall_clock", "decoder_threads", "format", "restart")
    class Format(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        KEEP: _ClassVar[VideoDecoderCalculatorOptions.Format]
        SRGB: _ClassVar[VideoDecoderCalculatorOptions.Format]
        SRGBA: _ClassVar[VideoDecoderCalculatorOptions.Format]
        GRAY8: _ClassVar[VideoDecoderCalculatorOptions.Format]
        GRAY16: _ClassVar[VideoDecoderCalculatorOptions.Format]
        SRGB48: _ClassVar[VideoDecoderCalculatorOptions.Format]
        SRGBA64: _ClassVar[VideoDecoderCalculatorOptions.Format]
    KEEP: VideoDecoderCalculatorOptions.Format
    SRGB: VideoDecoderCalculatorOptions.Format
    SRGBA: VideoDecoderCalculatorOptions.Format
    GRAY8: VideoDecoderCalculatorOptions.Format
    GRAY16: VideoDecoderCalculatorOptions.Format
    SRGB48: VideoDecoderCalculatorOptions.Format
    SRGBA64: VideoDecoderCalculatorOptions.Format
    class Restart(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        DROP: _ClassVar[VideoDecoderCalculatorOptions.Restart]
        CONTINUE: _ClassVar[VideoDecoderCalculatorOptions.Restart]
    DROP: VideoDecoderCalculatorOptions.Restart
    CONTINUE: VideoDecoderCalculatorOptions.Restart
    class TestPattern(_message.Message):
        __slots__ = ("width", "height", "fps", "frames")
        WIDTH_FIELD_NUMBER: _ClassVar[int]
        HEIGHT_FIELD_NUMBER: _ClassVar[int]
        FPS_FIELD_NUMBER: _ClassVar[int]
        FRAMES_FIELD_NUMBER: _ClassVar[int]
        width: int
        height: int
        fps: float
        frames: int
        def __init__(self, width: _Optional[int] = ..., height: _Optional[int] = ..., fps: _Optional[float] = ..., frames: _Optional[int] = ...) -> None: ...
    EXT_FIELD_NUMBER: _ClassVar[int]
    ext: _descriptor.FieldDescriptor
    CAMERA_INDEX_FIELD_NUMBER: _ClassVar[int]
    TEST_PATTERN_FIELD_NUMBER: _ClassVar[int]
    WALL_CLOCK_FIELD_NUMBER: _ClassVar[int]
    DECODER_THREADS_FIELD_NUMBER: _ClassVar[int]
    FORMAT_FIELD_NUMBER: _ClassVar[int]
    RESTART_FIELD_NUMBER: _ClassVar[int]
    camera_index: int
    test_pattern: VideoDecoderCalculatorOptions.TestPattern
    wall_clock: bool
    decoder_threads: int
    format: VideoDecoderCalculatorOptions.Format
    restart: VideoDecoderCalculatorOptions.Restart
    def __init__(self, camera_index: _Optional[int] = ..., test_pattern: _Optional[_Union[VideoDecoderCalculatorOptions.TestPattern, _Mapping]] = ..., wall_clock: bool = ..., decoder_threads: _Optional[int] = ..., format: _Optional[_Union[VideoDecoderCalculatorOptions.Format, str]] = ..., restart: _Optional[_Union[VideoDecoderCalculatorOptions.Restart, str]] = ...) -> None: ...
