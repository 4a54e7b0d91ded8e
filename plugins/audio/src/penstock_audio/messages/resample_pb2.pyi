from penstock.config import calculator_options_pb2 as _calculator_options_pb2
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class SoxrQuality(_message.Message):
    __slots__ = ()
    class Quality(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        OFF: _ClassVar[SoxrQuality.Quality]
        QUICK: _ClassVar[SoxrQuality.Quality]
        LOW: _ClassVar[SoxrQuality.Quality]
        MEDIUM: _ClassVar[SoxrQuality.Quality]
        HIGH: _ClassVar[SoxrQuality.Quality]
        VERY_HIGH: _ClassVar[SoxrQuality.Quality]
    OFF: SoxrQuality.Quality
    QUICK: SoxrQuality.Quality
    LOW: SoxrQuality.Quality
    MEDIUM: SoxrQuality.Quality
    HIGH: SoxrQuality.Quality
    VERY_HIGH: SoxrQuality.Quality
    def __init__(self) -> None: ...

class ResampleTimeSeriesCalculatorOptions(_message.Message):
    __slots__ = ("target_sample_rate", "resampler_type", "resampler_libresample_options", "resampler_rational_factor_options", "check_inconsistent_timestamps", "allow_upsampling", "min_source_sample_rate", "soxr_quality")
    class ResamplerType(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        UNDEFINED: _ClassVar[ResampleTimeSeriesCalculatorOptions.ResamplerType]
        RESAMPLER_RATIONAL_FACTOR: _ClassVar[ResampleTimeSeriesCalculatorOptions.ResamplerType]
    UNDEFINED: ResampleTimeSeriesCalculatorOptions.ResamplerType
    RESAMPLER_RATIONAL_FACTOR: ResampleTimeSeriesCalculatorOptions.ResamplerType
    class ResamplerLibResampleOptions(_message.Message):
        __slots__ = ("use_high_quality_resampler",)
        USE_HIGH_QUALITY_RESAMPLER_FIELD_NUMBER: _ClassVar[int]
        use_high_quality_resampler: bool
        def __init__(self, use_high_quality_resampler: bool = ...) -> None: ...
    class ResamplerRationalFactorOptions(_message.Message):
        __slots__ = ("radius_factor", "cutoff_proportion", "kaiser_beta", "radius", "cutoff")
        RADIUS_FACTOR_FIELD_NUMBER: _ClassVar[int]
        CUTOFF_PROPORTION_FIELD_NUMBER: _ClassVar[int]
        KAISER_BETA_FIELD_NUMBER: _ClassVar[int]
        RADIUS_FIELD_NUMBER: _ClassVar[int]
        CUTOFF_FIELD_NUMBER: _ClassVar[int]
        radius_factor: float
        cutoff_proportion: float
        kaiser_beta: float
        radius: float
        cutoff: float
        def __init__(self, radius_factor: _Optional[float] = ..., cutoff_proportion: _Optional[float] = ..., kaiser_beta: _Optional[float] = ..., radius: _Optional[float] = ..., cutoff: _Optional[float] = ...) -> None: ...
    EXT_FIELD_NUMBER: _ClassVar[int]
    ext: _descriptor.FieldDescriptor
    TARGET_SAMPLE_RATE_FIELD_NUMBER: _ClassVar[int]
    RESAMPLER_TYPE_FIELD_NUMBER: _ClassVar[int]
    RESAMPLER_LIBRESAMPLE_OPTIONS_FIELD_NUMBER: _ClassVar[int]
    RESAMPLER_RATIONAL_FACTOR_OPTIONS_FIELD_NUMBER: _ClassVar[int]
    CHECK_INCONSISTENT_TIMESTAMPS_FIELD_NUMBER: _ClassVar[int]
    ALLOW_UPSAMPLING_FIELD_NUMBER: _ClassVar[int]
    MIN_SOURCE_SAMPLE_RATE_FIELD_NUMBER: _ClassVar[int]
    SOXR_QUALITY_FIELD_NUMBER: _ClassVar[int]
    target_sample_rate: float
    resampler_type: ResampleTimeSeriesCalculatorOptions.ResamplerType
    resampler_libresample_options: ResampleTimeSeriesCalculatorOptions.ResamplerLibResampleOptions
    resampler_rational_factor_options: ResampleTimeSeriesCalculatorOptions.ResamplerRationalFactorOptions
    check_inconsistent_timestamps: bool
    allow_upsampling: bool
    min_source_sample_rate: float
    soxr_quality: SoxrQuality.Quality
    def __init__(self, target_sample_rate: _Optional[float] = ..., resampler_type: _Optional[_Union[ResampleTimeSeriesCalculatorOptions.ResamplerType, str]] = ..., resampler_libresample_options: _Optional[_Union[ResampleTimeSeriesCalculatorOptions.ResamplerLibResampleOptions, _Mapping]] = ..., resampler_rational_factor_options: _Optional[_Union[ResampleTimeSeriesCalculatorOptions.ResamplerRationalFactorOptions, _Mapping]] = ..., check_inconsistent_timestamps: bool = ..., allow_upsampling: bool = ..., min_source_sample_rate: _Optional[float] = ..., soxr_quality: _Optional[_Union[SoxrQuality.Quality, str]] = ...) -> None: ...

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
    soxr_quality: SoxrQuality.Quality
    def __init__(self, target_sample_rate: _Optional[float] = ..., resampler_rational_factor_options: _Optional[_Union[RationalFactorResampleCalculatorOptions.ResamplerRationalFactorOptions, _Mapping]] = ..., check_inconsistent_timestamps: bool = ..., soxr_quality: _Optional[_Union[SoxrQuality.Quality, str]] = ...) -> None: ...
