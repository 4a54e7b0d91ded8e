from penstock.config import calculator_options_pb2 as _calculator_options_pb2
from penstock_audio import soxr_quality_pb2 as _soxr_quality_pb2
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class RationalFactorResampleCalculatorOptions(_message.Message):
    __slots__ = ("target_sample_rate", "resampler_rational_factor_options", "check_inconsistent_timestamps", "soxr_quality")
    class ResamplerRationalFactorOptions(_message.Message):
        __slots__ = ("radius", "cutoff", "kaiser_beta")
        RADIUS_FIELD_NUMBER: _ClassVar[int]
        CUTOFF_FIELD_NUMBER: _ClassVar[int]
        KAISER_BETA_FIELD_NUMBER: _ClassVar[int]
        radius: float
        cutoff: float
        kaiser_beta: float
        def __init__(self, radius: _Optional[float] = ..., cutoff: _Optional[float] = ..., kaiser_beta: _Optional[float] = ...) -> None: ...
    EXT_FIELD_NUMBER: _ClassVar[int]
    ext: _descriptor.FieldDescriptor
    TARGET_SAMPLE_RATE_FIELD_NUMBER: _ClassVar[int]
    RESAMPLER_RATIONAL_FACTOR_OPTIONS_FIELD_NUMBER: _ClassVar[int]
    CHECK_INCONSISTENT_TIMESTAMPS_FIELD_NUMBER: _ClassVar[int]
    SOXR_QUALITY_FIELD_NUMBER: _ClassVar[int]
    target_sample_rate: float
    resampler_rational_factor_options: RationalFactorResampleCalculatorOptions.ResamplerRationalFactorOptions
    check_inconsistent_timestamps: bool
    soxr_quality: _soxr_quality_pb2.SoxrQuality.Quality
    def __init__(self, target_sample_rate: _Optional[float] = ..., resampler_rational_factor_options: _Optional[_Union[RationalFactorResampleCalculatorOptions.ResamplerRationalFactorOptions, _Mapping]] = ..., check_inconsistent_timestamps: bool = ..., soxr_quality: _Optional[_Union[_soxr_quality_pb2.SoxrQuality.Quality, str]] = ...) -> None: ...
