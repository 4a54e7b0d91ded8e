from penstock.config import calculator_options_pb2 as _calculator_options_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class UnpackMediaSequenceCalculatorOptions(_message.Message):
    __slots__ = ("dataset_root_directory", "padding_before_label", "padding_after_label", "extra_padding_from_media_decoder", "base_packet_resampler_options", "force_decoding_from_start_of_media", "base_audio_decoder_options", "output_poststream_as_prestream", "allow_missing_bytes")
    class PacketResamplerCalculatorOptions(_message.Message):
        __slots__ = ("frame_rate", "output_header", "flush_last_packet", "jitter", "base_timestamp", "start_time", "end_time", "round_limits", "jitter_with_reflection", "reproducible_sampling", "use_input_frame_rate", "max_frame_rate", "max_periods")
        class OutputHeader(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
            __slots__ = ()
            NONE: _ClassVar[UnpackMediaSequenceCalculatorOptions.PacketResamplerCalculatorOptions.OutputHeader]
            PASS_HEADER: _ClassVar[UnpackMediaSequenceCalculatorOptions.PacketResamplerCalculatorOptions.OutputHeader]
            UPDATE_VIDEO_HEADER: _ClassVar[UnpackMediaSequenceCalculatorOptions.PacketResamplerCalculatorOptions.OutputHeader]
        NONE: UnpackMediaSequenceCalculatorOptions.PacketResamplerCalculatorOptions.OutputHeader
        PASS_HEADER: UnpackMediaSequenceCalculatorOptions.PacketResamplerCalculatorOptions.OutputHeader
        UPDATE_VIDEO_HEADER: UnpackMediaSequenceCalculatorOptions.PacketResamplerCalculatorOptions.OutputHeader
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
        output_header: UnpackMediaSequenceCalculatorOptions.PacketResamplerCalculatorOptions.OutputHeader
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
        def __init__(self, frame_rate: _Optional[float] = ..., output_header: _Optional[_Union[UnpackMediaSequenceCalculatorOptions.PacketResamplerCalculatorOptions.OutputHeader, str]] = ..., flush_last_packet: bool = ..., jitter: _Optional[float] = ..., base_timestamp: _Optional[int] = ..., start_time: _Optional[int] = ..., end_time: _Optional[int] = ..., round_limits: bool = ..., jitter_with_reflection: bool = ..., reproducible_sampling: bool = ..., use_input_frame_rate: bool = ..., max_frame_rate: _Optional[float] = ..., max_periods: _Optional[int] = ...) -> None: ...
    class AudioStreamOptions(_message.Message):
        __slots__ = ("stream_index", "allow_missing", "ignore_decode_failures", "output_regressing_timestamps", "correct_pts_for_rollover")
        STREAM_INDEX_FIELD_NUMBER: _ClassVar[int]
        ALLOW_MISSING_FIELD_NUMBER: _ClassVar[int]
        IGNORE_DECODE_FAILURES_FIELD_NUMBER: _ClassVar[int]
        OUTPUT_REGRESSING_TIMESTAMPS_FIELD_NUMBER: _ClassVar[int]
        CORRECT_PTS_FOR_ROLLOVER_FIELD_NUMBER: _ClassVar[int]
        stream_index: int
        allow_missing: bool
        ignore_decode_failures: bool
        output_regressing_timestamps: bool
        correct_pts_for_rollover: bool
        def __init__(self, stream_index: _Optional[int] = ..., allow_missing: bool = ..., ignore_decode_failures: bool = ..., output_regressing_timestamps: bool = ..., correct_pts_for_rollover: bool = ...) -> None: ...
    class AudioDecoderOptions(_message.Message):
        __slots__ = ("audio_stream", "start_time", "end_time", "allowed_gap_seconds")
        AUDIO_STREAM_FIELD_NUMBER: _ClassVar[int]
        START_TIME_FIELD_NUMBER: _ClassVar[int]
        END_TIME_FIELD_NUMBER: _ClassVar[int]
        ALLOWED_GAP_SECONDS_FIELD_NUMBER: _ClassVar[int]
        audio_stream: _containers.RepeatedCompositeFieldContainer[UnpackMediaSequenceCalculatorOptions.AudioStreamOptions]
        start_time: float
        end_time: float
        allowed_gap_seconds: float
        def __init__(self, audio_stream: _Optional[_Iterable[_Union[UnpackMediaSequenceCalculatorOptions.AudioStreamOptions, _Mapping]]] = ..., start_time: _Optional[float] = ..., end_time: _Optional[float] = ..., allowed_gap_seconds: _Optional[float] = ...) -> None: ...
    EXT_FIELD_NUMBER: _ClassVar[int]
    ext: _descriptor.FieldDescriptor
    DATASET_ROOT_DIRECTORY_FIELD_NUMBER: _ClassVar[int]
    PADDING_BEFORE_LABEL_FIELD_NUMBER: _ClassVar[int]
    PADDING_AFTER_LABEL_FIELD_NUMBER: _ClassVar[int]
    EXTRA_PADDING_FROM_MEDIA_DECODER_FIELD_NUMBER: _ClassVar[int]
    BASE_PACKET_RESAMPLER_OPTIONS_FIELD_NUMBER: _ClassVar[int]
    FORCE_DECODING_FROM_START_OF_MEDIA_FIELD_NUMBER: _ClassVar[int]
    BASE_AUDIO_DECODER_OPTIONS_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_POSTSTREAM_AS_PRESTREAM_FIELD_NUMBER: _ClassVar[int]
    ALLOW_MISSING_BYTES_FIELD_NUMBER: _ClassVar[int]
    dataset_root_directory: str
    padding_before_label: float
    padding_after_label: float
    extra_padding_from_media_decoder: float
    base_packet_resampler_options: UnpackMediaSequenceCalculatorOptions.PacketResamplerCalculatorOptions
    force_decoding_from_start_of_media: bool
    base_audio_decoder_options: UnpackMediaSequenceCalculatorOptions.AudioDecoderOptions
    output_poststream_as_prestream: bool
    allow_missing_bytes: bool
    def __init__(self, dataset_root_directory: _Optional[str] = ..., padding_before_label: _Optional[float] = ..., padding_after_label: _Optional[float] = ..., extra_padding_from_media_decoder: _Optional[float] = ..., base_packet_resampler_options: _Optional[_Union[UnpackMediaSequenceCalculatorOptions.PacketResamplerCalculatorOptions, _Mapping]] = ..., force_decoding_from_start_of_media: bool = ..., base_audio_decoder_options: _Optional[_Union[UnpackMediaSequenceCalculatorOptions.AudioDecoderOptions, _Mapping]] = ..., output_poststream_as_prestream: bool = ..., allow_missing_bytes: bool = ...) -> None: ...
