from penstock.config import calculator_options_pb2 as _calculator_options_pb2
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class AudioToTensorCalculatorOptions(_message.Message):
    __slots__ = ("num_channels", "num_samples", "num_overlapping_samples", "target_sample_rate", "stream_mode", "check_inconsistent_timestamps", "fft_size", "padding_samples_before", "padding_samples_after", "flush_mode", "dft_tensor_format", "volume_gain_db", "source_sample_rate")
    class FlushMode(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        NONE: _ClassVar[AudioToTensorCalculatorOptions.FlushMode]
        ENTIRE_TAIL_AT_TIMESTAMP_MAX: _ClassVar[AudioToTensorCalculatorOptions.FlushMode]
        PROCEED_AS_USUAL: _ClassVar[AudioToTensorCalculatorOptions.FlushMode]
    NONE: AudioToTensorCalculatorOptions.FlushMode
    ENTIRE_TAIL_AT_TIMESTAMP_MAX: AudioToTensorCalculatorOptions.FlushMode
    PROCEED_AS_USUAL: AudioToTensorCalculatorOptions.FlushMode
    class DftTensorFormat(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        DFT_TENSOR_FORMAT_UNKNOWN: _ClassVar[AudioToTensorCalculatorOptions.DftTensorFormat]
        WITHOUT_DC_AND_NYQUIST: _ClassVar[AudioToTensorCalculatorOptions.DftTensorFormat]
        WITH_NYQUIST: _ClassVar[AudioToTensorCalculatorOptions.DftTensorFormat]
        WITH_DC_AND_NYQUIST: _ClassVar[AudioToTensorCalculatorOptions.DftTensorFormat]
    DFT_TENSOR_FORMAT_UNKNOWN: AudioToTensorCalculatorOptions.DftTensorFormat
    WITHOUT_DC_AND_NYQUIST: AudioToTensorCalculatorOptions.DftTensorFormat
    WITH_NYQUIST: AudioToTensorCalculatorOptions.DftTensorFormat
    WITH_DC_AND_NYQUIST: AudioToTensorCalculatorOptions.DftTensorFormat
    EXT_FIELD_NUMBER: _ClassVar[int]
    ext: _descriptor.FieldDescriptor
    NUM_CHANNELS_FIELD_NUMBER: _ClassVar[int]
    NUM_SAMPLES_FIELD_NUMBER: _ClassVar[int]
    NUM_OVERLAPPING_SAMPLES_FIELD_NUMBER: _ClassVar[int]
    TARGET_SAMPLE_RATE_FIELD_NUMBER: _ClassVar[int]
    STREAM_MODE_FIELD_NUMBER: _ClassVar[int]
    CHECK_INCONSISTENT_TIMESTAMPS_FIELD_NUMBER: _ClassVar[int]
    FFT_SIZE_FIELD_NUMBER: _ClassVar[int]
    PADDING_SAMPLES_BEFORE_FIELD_NUMBER: _ClassVar[int]
    PADDING_SAMPLES_AFTER_FIELD_NUMBER: _ClassVar[int]
    FLUSH_MODE_FIELD_NUMBER: _ClassVar[int]
    DFT_TENSOR_FORMAT_FIELD_NUMBER: _ClassVar[int]
    VOLUME_GAIN_DB_FIELD_NUMBER: _ClassVar[int]
    SOURCE_SAMPLE_RATE_FIELD_NUMBER: _ClassVar[int]
    num_channels: int
    num_samples: int
    num_overlapping_samples: int
    target_sample_rate: float
    stream_mode: bool
    check_inconsistent_timestamps: bool
    fft_size: int
    padding_samples_before: int
    padding_samples_after: int
    flush_mode: AudioToTensorCalculatorOptions.FlushMode
    dft_tensor_format: AudioToTensorCalculatorOptions.DftTensorFormat
    volume_gain_db: float
    source_sample_rate: float
    def __init__(self, num_channels: _Optional[int] = ..., num_samples: _Optional[int] = ..., num_overlapping_samples: _Optional[int] = ..., target_sample_rate: _Optional[float] = ..., stream_mode: bool = ..., check_inconsistent_timestamps: bool = ..., fft_size: _Optional[int] = ..., padding_samples_before: _Optional[int] = ..., padding_samples_after: _Optional[int] = ..., flush_mode: _Optional[_Union[AudioToTensorCalculatorOptions.FlushMode, str]] = ..., dft_tensor_format: _Optional[_Union[AudioToTensorCalculatorOptions.DftTensorFormat, str]] = ..., volume_gain_db: _Optional[float] = ..., source_sample_rate: _Optional[float] = ...) -> None: ...
