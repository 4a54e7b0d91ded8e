from penstock.config import calculator_options_pb2 as _calculator_options_pb2
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class TensorsToFloatsCalculatorOptions(_message.Message):
    __slots__ = ("activation",)
    class Activation(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        NONE: _ClassVar[TensorsToFloatsCalculatorOptions.Activation]
        SIGMOID: _ClassVar[TensorsToFloatsCalculatorOptions.Activation]
    NONE: TensorsToFloatsCalculatorOptions.Activation
    SIGMOID: TensorsToFloatsCalculatorOptions.Activation
    EXT_FIELD_NUMBER: _ClassVar[int]
    ext: _descriptor.FieldDescriptor
    ACTIVATION_FIELD_NUMBER: _ClassVar[int]
    activation: TensorsToFloatsCalculatorOptions.Activation
    def __init__(self, activation: _Optional[_Union[TensorsToFloatsCalculatorOptions.Activation, str]] = ...) -> None: ...
