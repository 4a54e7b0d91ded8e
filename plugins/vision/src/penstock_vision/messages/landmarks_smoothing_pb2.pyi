from penstock.config import calculator_options_pb2 as _calculator_options_pb2
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class LandmarksSmoothingCalculatorOptions(_message.Message):
    __slots__ = ("no_filter", "velocity_filter", "one_euro_filter", "empty_landmarks_policy")
    class EmptyLandmarksPolicy(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        EMPTY_LANDMARKS_POLICY_UNSPECIFIED: _ClassVar[LandmarksSmoothingCalculatorOptions.EmptyLandmarksPolicy]
        EMPTY_LANDMARKS_POLICY_RESET: _ClassVar[LandmarksSmoothingCalculatorOptions.EmptyLandmarksPolicy]
        EMPTY_LANDMARKS_POLICY_FAIL: _ClassVar[LandmarksSmoothingCalculatorOptions.EmptyLandmarksPolicy]
    EMPTY_LANDMARKS_POLICY_UNSPECIFIED: LandmarksSmoothingCalculatorOptions.EmptyLandmarksPolicy
    EMPTY_LANDMARKS_POLICY_RESET: LandmarksSmoothingCalculatorOptions.EmptyLandmarksPolicy
    EMPTY_LANDMARKS_POLICY_FAIL: LandmarksSmoothingCalculatorOptions.EmptyLandmarksPolicy
    class NoFilter(_message.Message):
        __slots__ = ()
        def __init__(self) -> None: ...
    class VelocityFilter(_message.Message):
        __slots__ = ("window_size", "velocity_scale", "min_allowed_object_scale", "disable_value_scaling")
        WINDOW_SIZE_FIELD_NUMBER: _ClassVar[int]
        VELOCITY_SCALE_FIELD_NUMBER: _ClassVar[int]
        MIN_ALLOWED_OBJECT_SCALE_FIELD_NUMBER: _ClassVar[int]
        DISABLE_VALUE_SCALING_FIELD_NUMBER: _ClassVar[int]
        window_size: int
        velocity_scale: float
        min_allowed_object_scale: float
        disable_value_scaling: bool
        def __init__(self, window_size: _Optional[int] = ..., velocity_scale: _Optional[float] = ..., min_allowed_object_scale: _Optional[float] = ..., disable_value_scaling: bool = ...) -> None: ...
    class OneEuroFilter(_message.Message):
        __slots__ = ("frequency", "min_cutoff", "beta", "derivate_cutoff", "min_allowed_object_scale", "disable_value_scaling")
        FREQUENCY_FIELD_NUMBER: _ClassVar[int]
        MIN_CUTOFF_FIELD_NUMBER: _ClassVar[int]
        BETA_FIELD_NUMBER: _ClassVar[int]
        DERIVATE_CUTOFF_FIELD_NUMBER: _ClassVar[int]
        MIN_ALLOWED_OBJECT_SCALE_FIELD_NUMBER: _ClassVar[int]
        DISABLE_VALUE_SCALING_FIELD_NUMBER: _ClassVar[int]
        frequency: float
        min_cutoff: float
        beta: float
        derivate_cutoff: float
        min_allowed_object_scale: float
        disable_value_scaling: bool
        def __init__(self, frequency: _Optional[float] = ..., min_cutoff: _Optional[float] = ..., beta: _Optional[float] = ..., derivate_cutoff: _Optional[float] = ..., min_allowed_object_scale: _Optional[float] = ..., disable_value_scaling: bool = ...) -> None: ...
    EXT_FIELD_NUMBER: _ClassVar[int]
    ext: _descriptor.FieldDescriptor
    NO_FILTER_FIELD_NUMBER: _ClassVar[int]
    VELOCITY_FILTER_FIELD_NUMBER: _ClassVar[int]
    ONE_EURO_FILTER_FIELD_NUMBER: _ClassVar[int]
    EMPTY_LANDMARKS_POLICY_FIELD_NUMBER: _ClassVar[int]
    no_filter: LandmarksSmoothingCalculatorOptions.NoFilter
    velocity_filter: LandmarksSmoothingCalculatorOptions.VelocityFilter
    one_euro_filter: LandmarksSmoothingCalculatorOptions.OneEuroFilter
    empty_landmarks_policy: LandmarksSmoothingCalculatorOptions.EmptyLandmarksPolicy
    def __init__(self, no_filter: _Optional[_Union[LandmarksSmoothingCalculatorOptions.NoFilter, _Mapping]] = ..., velocity_filter: _Optional[_Union[LandmarksSmoothingCalculatorOptions.VelocityFilter, _Mapping]] = ..., one_euro_filter: _Optional[_Union[LandmarksSmoothingCalculatorOptions.OneEuroFilter, _Mapping]] = ..., empty_landmarks_policy: _Optional[_Union[LandmarksSmoothingCalculatorOptions.EmptyLandmarksPolicy, str]] = ...) -> None: ...
