from penstock.config import calculator_options_pb2 as _calculator_options_pb2
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class SpectrogramCalculatorOptions(_message.Message):
    __slots__ = ("frame_duration_seconds", "frame_overlap_seconds", "pad_final_packet", "output_type", "allow_multichannel_input", "window_type", "output_scale", "use_local_timestamp", "fft_size", "input_scale", "sample_buffer_mode", "output_layout")
    class OutputType(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        SQUARED_MAGNITUDE: _ClassVar[SpectrogramCalculatorOptions.OutputType]
        LINEAR_MAGNITUDE: _ClassVar[SpectrogramCalculatorOptions.OutputType]
        DECIBELS: _ClassVar[SpectrogramCalculatorOptions.OutputType]
        COMPLEX: _ClassVar[SpectrogramCalculatorOptions.OutputType]
    SQUARED_MAGNITUDE: SpectrogramCalculatorOptions.OutputType
    LINEAR_MAGNITUDE: SpectrogramCalculatorOptions.OutputType
    DECIBELS: SpectrogramCalculatorOptions.OutputType
    COMPLEX: SpectrogramCalculatorOptions.OutputType
    class WindowType(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        HANN: _ClassVar[SpectrogramCalculatorOptions.WindowType]
        HAMMING: _ClassVar[SpectrogramCalculatorOptions.WindowType]
        COSINE: _ClassVar[SpectrogramCalculatorOptions.WindowType]
        SQRT_HANN: _ClassVar[SpectrogramCalculatorOptions.WindowType]
    HANN: SpectrogramCalculatorOptions.WindowType
    HAMMING: SpectrogramCalculatorOptions.WindowType
    COSINE: SpectrogramCalculatorOptions.WindowType
    SQRT_HANN: SpectrogramCalculatorOptions.WindowType
    class SampleBufferMode(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        NONE: _ClassVar[SpectrogramCalculatorOptions.SampleBufferMode]
        RESET: _ClassVar[SpectrogramCalculatorOptions.SampleBufferMode]
    NONE: SpectrogramCalculatorOptions.SampleBufferMode
    RESET: SpectrogramCalculatorOptions.SampleBufferMode
    class OutputLayout(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        OUTPUT_LAYOUT_UNSPECIFIED: _ClassVar[SpectrogramCalculatorOptions.OutputLayout]
        SPECTROGRAM_FRAMES_IN_COLUMNS: _ClassVar[SpectrogramCalculatorOptions.OutputLayout]
        SPECTROGRAM_CHANNELS_IN_ROWS: _ClassVar[SpectrogramCalculatorOptions.OutputLayout]
    OUTPUT_LAYOUT_UNSPECIFIED: SpectrogramCalculatorOptions.OutputLayout
    SPECTROGRAM_FRAMES_IN_COLUMNS: SpectrogramCalculatorOptions.OutputLayout
    SPECTROGRAM_CHANNELS_IN_ROWS: SpectrogramCalculatorOptions.OutputLayout
    EXT_FIELD_NUMBER: _ClassVar[int]
    ext: _descriptor.FieldDescriptor
    FRAME_DURATION_SECONDS_FIELD_NUMBER: _ClassVar[int]
    FRAME_OVERLAP_SECONDS_FIELD_NUMBER: _ClassVar[int]
    PAD_FINAL_PACKET_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_TYPE_FIELD_NUMBER: _ClassVar[int]
    ALLOW_MULTICHANNEL_INPUT_FIELD_NUMBER: _ClassVar[int]
    WINDOW_TYPE_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_SCALE_FIELD_NUMBER: _ClassVar[int]
    USE_LOCAL_TIMESTAMP_FIELD_NUMBER: _ClassVar[int]
    FFT_SIZE_FIELD_NUMBER: _ClassVar[int]
    INPUT_SCALE_FIELD_NUMBER: _ClassVar[int]
    SAMPLE_BUFFER_MODE_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_LAYOUT_FIELD_NUMBER: _ClassVar[int]
    frame_duration_seconds: float
    frame_overlap_seconds: float
    pad_final_packet: bool
    output_type: SpectrogramCalculatorOptions.OutputType
    allow_multichannel_input: bool
    window_type: SpectrogramCalculatorOptions.WindowType
    output_scale: float
    use_local_timestamp: bool
    fft_size: int
    input_scale: float
    sample_buffer_mode: SpectrogramCalculatorOptions.SampleBufferMode
    output_layout: SpectrogramCalculatorOptions.OutputLayout
    def __init__(self, frame_duration_seconds: _Optional[float] = ..., frame_overlap_seconds: _Optional[float] = ..., pad_final_packet: bool = ..., output_type: _Optional[_Union[SpectrogramCalculatorOptions.OutputType, str]] = ..., allow_multichannel_input: bool = ..., window_type: _Optional[_Union[SpectrogramCalculatorOptions.WindowType, str]] = ..., output_scale: _Optional[float] = ..., use_local_timestamp: bool = ..., fft_size: _Optional[int] = ..., input_scale: _Optional[float] = ..., sample_buffer_mode: _Optional[_Union[SpectrogramCalculatorOptions.SampleBufferMode, str]] = ..., output_layout: _Optional[_Union[SpectrogramCalculatorOptions.OutputLayout, str]] = ...) -> None: ...
