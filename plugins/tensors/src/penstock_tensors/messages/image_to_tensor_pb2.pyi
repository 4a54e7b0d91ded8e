from penstock.config import calculator_options_pb2 as _calculator_options_pb2
from penstock_formats.messages import gpu_origin_pb2 as _gpu_origin_pb2
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class ImageToTensorCalculatorOptions(_message.Message):
    __slots__ = ("output_tensor_width", "output_tensor_height", "keep_aspect_ratio", "output_tensor_float_range", "output_tensor_int_range", "output_tensor_uint_range", "gpu_origin", "border_mode")
    class BorderMode(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        BORDER_UNSPECIFIED: _ClassVar[ImageToTensorCalculatorOptions.BorderMode]
        BORDER_ZERO: _ClassVar[ImageToTensorCalculatorOptions.BorderMode]
        BORDER_REPLICATE: _ClassVar[ImageToTensorCalculatorOptions.BorderMode]
    BORDER_UNSPECIFIED: ImageToTensorCalculatorOptions.BorderMode
    BORDER_ZERO: ImageToTensorCalculatorOptions.BorderMode
    BORDER_REPLICATE: ImageToTensorCalculatorOptions.BorderMode
    class FloatRange(_message.Message):
        __slots__ = ("min", "max")
        MIN_FIELD_NUMBER: _ClassVar[int]
        MAX_FIELD_NUMBER: _ClassVar[int]
        min: float
        max: float
        def __init__(self, min: _Optional[float] = ..., max: _Optional[float] = ...) -> None: ...
    class IntRange(_message.Message):
        __slots__ = ("min", "max")
        MIN_FIELD_NUMBER: _ClassVar[int]
        MAX_FIELD_NUMBER: _ClassVar[int]
        min: int
        max: int
        def __init__(self, min: _Optional[int] = ..., max: _Optional[int] = ...) -> None: ...
    class UIntRange(_message.Message):
        __slots__ = ("min", "max")
        MIN_FIELD_NUMBER: _ClassVar[int]
        MAX_FIELD_NUMBER: _ClassVar[int]
        min: int
        max: int
        def __init__(self, min: _Optional[int] = ..., max: _Optional[int] = ...) -> None: ...
    EXT_FIELD_NUMBER: _ClassVar[int]
    ext: _descriptor.FieldDescriptor
    OUTPUT_TENSOR_WIDTH_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_TENSOR_HEIGHT_FIELD_NUMBER: _ClassVar[int]
    KEEP_ASPECT_RATIO_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_TENSOR_FLOAT_RANGE_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_TENSOR_INT_RANGE_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_TENSOR_UINT_RANGE_FIELD_NUMBER: _ClassVar[int]
    GPU_ORIGIN_FIELD_NUMBER: _ClassVar[int]
    BORDER_MODE_FIELD_NUMBER: _ClassVar[int]
    output_tensor_width: int
    output_tensor_height: int
    keep_aspect_ratio: bool
    output_tensor_float_range: ImageToTensorCalculatorOptions.FloatRange
    output_tensor_int_range: ImageToTensorCalculatorOptions.IntRange
    output_tensor_uint_range: ImageToTensorCalculatorOptions.UIntRange
    gpu_origin: _gpu_origin_pb2.GpuOrigin.Mode
    border_mode: ImageToTensorCalculatorOptions.BorderMode
    def __init__(self, output_tensor_width: _Optional[int] = ..., output_tensor_height: _Optional[int] = ..., keep_aspect_ratio: bool = ..., output_tensor_float_range: _Optional[_Union[ImageToTensorCalculatorOptions.FloatRange, _Mapping]] = ..., output_tensor_int_range: _Optional[_Union[ImageToTensorCalculatorOptions.IntRange, _Mapping]] = ..., output_tensor_uint_range: _Optional[_Union[ImageToTensorCalculatorOptions.UIntRange, _Mapping]] = ..., gpu_origin: _Optional[_Union[_gpu_origin_pb2.GpuOrigin.Mode, str]] = ..., border_mode: _Optional[_Union[ImageToTensorCalculatorOptions.BorderMode, str]] = ...) -> None: ...
