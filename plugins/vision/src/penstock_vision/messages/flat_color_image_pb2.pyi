from penstock.config import calculator_options_pb2 as _calculator_options_pb2
from penstock_formats.messages import color_pb2 as _color_pb2
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class FlatColorImageCalculatorOptions(_message.Message):
    __slots__ = ("output_width", "output_height", "color")
    EXT_FIELD_NUMBER: _ClassVar[int]
    ext: _descriptor.FieldDescriptor
    OUTPUT_WIDTH_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_HEIGHT_FIELD_NUMBER: _ClassVar[int]
    COLOR_FIELD_NUMBER: _ClassVar[int]
    output_width: int
    output_height: int
    color: _color_pb2.Color
    def __init__(self, output_width: _Optional[int] = ..., output_height: _Optional[int] = ..., color: _Optional[_Union[_color_pb2.Color, _Mapping]] = ...) -> None: ...
