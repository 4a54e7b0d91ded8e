from penstock.config import calculator_options_pb2 as _calculator_options_pb2
from penstock_tensors.messages import data_type_pb2 as _data_type_pb2
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class VectorFloatToTensorCalculatorOptions(_message.Message):
    __slots__ = ("input_size", "transpose", "tensor_data_type")
    class InputSize(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        UNKNOWN: _ClassVar[VectorFloatToTensorCalculatorOptions.InputSize]
        INPUT_1D: _ClassVar[VectorFloatToTensorCalculatorOptions.InputSize]
        INPUT_2D: _ClassVar[VectorFloatToTensorCalculatorOptions.InputSize]
    UNKNOWN: VectorFloatToTensorCalculatorOptions.InputSize
    INPUT_1D: VectorFloatToTensorCalculatorOptions.InputSize
    INPUT_2D: VectorFloatToTensorCalculatorOptions.InputSize
    EXT_FIELD_NUMBER: _ClassVar[int]
    ext: _descriptor.FieldDescriptor
    INPUT_SIZE_FIELD_NUMBER: _ClassVar[int]
    TRANSPOSE_FIELD_NUMBER: _ClassVar[int]
    TENSOR_DATA_TYPE_FIELD_NUMBER: _ClassVar[int]
    input_size: VectorFloatToTensorCalculatorOptions.InputSize
    transpose: bool
    tensor_data_type: _data_type_pb2.DataType
    def __init__(self, input_size: _Optional[_Union[VectorFloatToTensorCalculatorOptions.InputSize, str]] = ..., transpose: bool = ..., tensor_data_type: _Optional[_Union[_data_type_pb2.DataType, str]] = ...) -> None: ...

class VectorIntToTensorCalculatorOptions(_message.Message):
    __slots__ = ("input_size", "transpose", "tensor_data_type", "scalar_output")
    class InputSize(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        UNKNOWN: _ClassVar[VectorIntToTensorCalculatorOptions.InputSize]
        INPUT_1D: _ClassVar[VectorIntToTensorCalculatorOptions.InputSize]
        INPUT_2D: _ClassVar[VectorIntToTensorCalculatorOptions.InputSize]
    UNKNOWN: VectorIntToTensorCalculatorOptions.InputSize
    INPUT_1D: VectorIntToTensorCalculatorOptions.InputSize
    INPUT_2D: VectorIntToTensorCalculatorOptions.InputSize
    EXT_FIELD_NUMBER: _ClassVar[int]
    ext: _descriptor.FieldDescriptor
    INPUT_SIZE_FIELD_NUMBER: _ClassVar[int]
    TRANSPOSE_FIELD_NUMBER: _ClassVar[int]
    TENSOR_DATA_TYPE_FIELD_NUMBER: _ClassVar[int]
    SCALAR_OUTPUT_FIELD_NUMBER: _ClassVar[int]
    input_size: VectorIntToTensorCalculatorOptions.InputSize
    transpose: bool
    tensor_data_type: _data_type_pb2.DataType
    scalar_output: bool
    def __init__(self, input_size: _Optional[_Union[VectorIntToTensorCalculatorOptions.InputSize, str]] = ..., transpose: bool = ..., tensor_data_type: _Optional[_Union[_data_type_pb2.DataType, str]] = ..., scalar_output: bool = ...) -> None: ...

class VectorStringToTensorCalculatorOptions(_message.Message):
    __slots__ = ("input_size", "transpose")
    class InputSize(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        UNKNOWN: _ClassVar[VectorStringToTensorCalculatorOptions.InputSize]
        INPUT_1D: _ClassVar[VectorStringToTensorCalculatorOptions.InputSize]
        INPUT_2D: _ClassVar[VectorStringToTensorCalculatorOptions.InputSize]
    UNKNOWN: VectorStringToTensorCalculatorOptions.InputSize
    INPUT_1D: VectorStringToTensorCalculatorOptions.InputSize
    INPUT_2D: VectorStringToTensorCalculatorOptions.InputSize
    EXT_FIELD_NUMBER: _ClassVar[int]
    ext: _descriptor.FieldDescriptor
    INPUT_SIZE_FIELD_NUMBER: _ClassVar[int]
    TRANSPOSE_FIELD_NUMBER: _ClassVar[int]
    input_size: VectorStringToTensorCalculatorOptions.InputSize
    transpose: bool
    def __init__(self, input_size: _Optional[_Union[VectorStringToTensorCalculatorOptions.InputSize, str]] = ..., transpose: bool = ...) -> None: ...
