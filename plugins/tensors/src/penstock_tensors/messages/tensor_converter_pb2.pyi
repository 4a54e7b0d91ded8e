from penstock.config import calculator_options_pb2 as _calculator_options_pb2
from penstock_formats.messages import gpu_origin_pb2 as _gpu_origin_pb2
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class TensorConverterCalculatorOptions(_message.Message):
    __slots__ = ("zero_center", "use_custom_normalization", "custom_div", "custom_sub", "flip_vertically", "gpu_origin", "max_num_channels", "row_major_matrix", "use_quantized_tensors", "output_tensor_float_range")
    class TensorFloatRange(_message.Message):
        __slots__ = ("min", "max")
        MIN_FIELD_NUMBER: _ClassVar[int]
        MAX_FIELD_NUMBER: _ClassVar[int]
        min: float
        max: float
        def __init__(self, min: _Optional[float] = ..., max: _Optional[float] = ...) -> None: ...
    EXT_FIELD_NUMBER: _ClassVar[int]
    ext: _descriptor.FieldDescriptor
    ZERO_CENTER_FIELD_NUMBER: _ClassVar[int]
    USE_CUSTOM_NORMALIZATION_FIELD_NUMBER: _ClassVar[int]
    CUSTOM_DIV_FIELD_NUMBER: _ClassVar[int]
    CUSTOM_SUB_FIELD_NUMBER: _ClassVar[int]
    FLIP_VERTICALLY_FIELD_NUMBER: _ClassVar[int]
    GPU_ORIGIN_FIELD_NUMBER: _ClassVar[int]
    MAX_NUM_CHANNELS_FIELD_NUMBER: _ClassVar[int]
    ROW_MAJOR_MATRIX_FIELD_NUMBER: _ClassVar[int]
    USE_QUANTIZED_TENSORS_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_TENSOR_FLOAT_RANGE_FIELD_NUMBER: _ClassVar[int]
    zero_center: bool
    use_custom_normalization: bool
    custom_div: float
    custom_sub: float
    flip_vertically: bool
    gpu_origin: _gpu_origin_pb2.GpuOrigin.Mode
    max_num_channels: int
    row_major_matrix: bool
    use_quantized_tensors: bool
    output_tensor_float_range: TensorConverterCalculatorOptions.TensorFloatRange
    def __init__(self, zero_center: bool = ..., use_custom_normalization: bool = ..., custom_div: _Optional[float] = ..., custom_sub: _Optional[float] = ..., flip_vertically: bool = ..., gpu_origin: _Optional[_Union[_gpu_origin_pb2.GpuOrigin.Mode, str]] = ..., max_num_channels: _Optional[int] = ..., row_major_matrix: bool = ..., use_quantized_tensors: bool = ..., output_tensor_float_range: _Optional[_Union[TensorConverterCalculatorOptions.TensorFloatRange, _Mapping]] = ...) -> None: ...

class TfLiteConverterCalculatorOptions(_message.Message):
    __slots__ = ("zero_center", "use_custom_normalization", "custom_div", "custom_sub", "flip_vertically", "max_num_channels", "row_major_matrix", "use_quantized_tensors", "output_tensor_float_range")
    class TensorFloatRange(_message.Message):
        __slots__ = ("min", "max")
        MIN_FIELD_NUMBER: _ClassVar[int]
        MAX_FIELD_NUMBER: _ClassVar[int]
        min: float
        max: float
        def __init__(self, min: _Optional[float] = ..., max: _Optional[float] = ...) -> None: ...
    EXT_FIELD_NUMBER: _ClassVar[int]
    ext: _descriptor.FieldDescriptor
    ZERO_CENTER_FIELD_NUMBER: _ClassVar[int]
    USE_CUSTOM_NORMALIZATION_FIELD_NUMBER: _ClassVar[int]
    CUSTOM_DIV_FIELD_NUMBER: _ClassVar[int]
    CUSTOM_SUB_FIELD_NUMBER: _ClassVar[int]
    FLIP_VERTICALLY_FIELD_NUMBER: _ClassVar[int]
    MAX_NUM_CHANNELS_FIELD_NUMBER: _ClassVar[int]
    ROW_MAJOR_MATRIX_FIELD_NUMBER: _ClassVar[int]
    USE_QUANTIZED_TENSORS_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_TENSOR_FLOAT_RANGE_FIELD_NUMBER: _ClassVar[int]
    zero_center: bool
    use_custom_normalization: bool
    custom_div: float
    custom_sub: float
    flip_vertically: bool
    max_num_channels: int
    row_major_matrix: bool
    use_quantized_tensors: bool
    output_tensor_float_range: TfLiteConverterCalculatorOptions.TensorFloatRange
    def __init__(self, zero_center: bool = ..., use_custom_normalization: bool = ..., custom_div: _Optional[float] = ..., custom_sub: _Optional[float] = ..., flip_vertically: bool = ..., max_num_channels: _Optional[int] = ..., row_major_matrix: bool = ..., use_quantized_tensors: bool = ..., output_tensor_float_range: _Optional[_Union[TfLiteConverterCalculatorOptions.TensorFloatRange, _Mapping]] = ...) -> None: ...
