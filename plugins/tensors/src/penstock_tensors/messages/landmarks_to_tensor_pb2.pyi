from penstock.config import calculator_options_pb2 as _calculator_options_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class LandmarksToTensorCalculatorOptions(_message.Message):
    __slots__ = ("attributes", "flatten")
    class Attribute(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        X: _ClassVar[LandmarksToTensorCalculatorOptions.Attribute]
        Y: _ClassVar[LandmarksToTensorCalculatorOptions.Attribute]
        Z: _ClassVar[LandmarksToTensorCalculatorOptions.Attribute]
        VISIBILITY: _ClassVar[LandmarksToTensorCalculatorOptions.Attribute]
        PRESENCE: _ClassVar[LandmarksToTensorCalculatorOptions.Attribute]
    X: LandmarksToTensorCalculatorOptions.Attribute
    Y: LandmarksToTensorCalculatorOptions.Attribute
    Z: LandmarksToTensorCalculatorOptions.Attribute
    VISIBILITY: LandmarksToTensorCalculatorOptions.Attribute
    PRESENCE: LandmarksToTensorCalculatorOptions.Attribute
    EXT_FIELD_NUMBER: _ClassVar[int]
    ext: _descriptor.FieldDescriptor
    ATTRIBUTES_FIELD_NUMBER: _ClassVar[int]
    FLATTEN_FIELD_NUMBER: _ClassVar[int]
    attributes: _containers.RepeatedScalarFieldContainer[LandmarksToTensorCalculatorOptions.Attribute]
    flatten: bool
    def __init__(self, attributes: _Optional[_Iterable[_Union[LandmarksToTensorCalculatorOptions.Attribute, str]]] = ..., flatten: bool = ...) -> None: ...
