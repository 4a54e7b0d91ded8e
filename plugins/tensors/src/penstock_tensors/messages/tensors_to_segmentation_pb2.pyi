from penstock.config import calculator_options_pb2 as _calculator_options_pb2
from penstock_formats.messages import gpu_origin_pb2 as _gpu_origin_pb2
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class TensorsToSegmentationCalculatorOptions(_message.Message):
    __slots__ = ("gpu_origin", "activation", "output_layer_index")
    class Activation(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        NONE: _ClassVar[TensorsToSegmentationCalculatorOptions.Activation]
        SIGMOID: _ClassVar[TensorsToSegmentationCalculatorOptions.Activation]
        SOFTMAX: _ClassVar[TensorsToSegmentationCalculatorOptions.Activation]
    NONE: TensorsToSegmentationCalculatorOptions.Activation
    SIGMOID: TensorsToSegmentationCalculatorOptions.Activation
    SOFTMAX: TensorsToSegmentationCalculatorOptions.Activation
    EXT_FIELD_NUMBER: _ClassVar[int]
    ext: _descriptor.FieldDescriptor
    GPU_ORIGIN_FIELD_NUMBER: _ClassVar[int]
    ACTIVATION_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_LAYER_INDEX_FIELD_NUMBER: _ClassVar[int]
    gpu_origin: _gpu_origin_pb2.GpuOrigin.Mode
    activation: TensorsToSegmentationCalculatorOptions.Activation
    output_layer_index: int
    def __init__(self, gpu_origin: _Optional[_Union[_gpu_origin_pb2.GpuOrigin.Mode, str]] = ..., activation: _Optional[_Union[TensorsToSegmentationCalculatorOptions.Activation, str]] = ..., output_layer_index: _Optional[int] = ...) -> None: ...
