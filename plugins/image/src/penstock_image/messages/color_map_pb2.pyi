from penstock.config import calculator_options_pb2 as _calculator_options_pb2
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class ColorMapCalculatorOptions(_message.Message):
    __slots__ = ("color_map", "minimum", "maximum", "missing")
    class ColorMap(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        TURBO: _ClassVar[ColorMapCalculatorOptions.ColorMap]
        VIRIDIS: _ClassVar[ColorMapCalculatorOptions.ColorMap]
        INFERNO: _ClassVar[ColorMapCalculatorOptions.ColorMap]
        GRAY: _ClassVar[ColorMapCalculatorOptions.ColorMap]
    TURBO: ColorMapCalculatorOptions.ColorMap
    VIRIDIS: ColorMapCalculatorOptions.ColorMap
    INFERNO: ColorMapCalculatorOptions.ColorMap
    GRAY: ColorMapCalculatorOptions.ColorMap
    EXT_FIELD_NUMBER: _ClassVar[int]
    ext: _descriptor.FieldDescriptor
    COLOR_MAP_FIELD_NUMBER: _ClassVar[int]
    MINIMUM_FIELD_NUMBER: _ClassVar[int]
    MAXIMUM_FIELD_NUMBER: _ClassVar[int]
    MISSING_FIELD_NUMBER: _ClassVar[int]
    color_map: ColorMapCalculatorOptions.ColorMap
    minimum: float
    maximum: float
    missing: float
    def __init__(self, color_map: _Optional[_Union[ColorMapCalculatorOptions.ColorMap, str]] = ..., minimum: _Optional[float] = ..., maximum: _Optional[float] = ..., missing: _Optional[float] = ...) -> None: ...
