from penstock.config import calculator_options_pb2 as _calculator_options_pb2
from penstock_formats.messages import color_pb2 as _color_pb2
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class ImageOverlayCalculatorOptions(_message.Message):
    __slots__ = ("color", "alpha", "darkening", "region")
    class Region(_message.Message):
        __slots__ = ("xmin", "ymin", "width", "height")
        XMIN_FIELD_NUMBER: _ClassVar[int]
        YMIN_FIELD_NUMBER: _ClassVar[int]
        WIDTH_FIELD_NUMBER: _ClassVar[int]
        HEIGHT_FIELD_NUMBER: _ClassVar[int]
        xmin: float
        ymin: float
        width: float
        height: float
        def __init__(self, xmin: _Optional[float] = ..., ymin: _Optional[float] = ..., width: _Optional[float] = ..., height: _Optional[float] = ...) -> None: ...
    EXT_FIELD_NUMBER: _ClassVar[int]
    ext: _descriptor.FieldDescriptor
    COLOR_FIELD_NUMBER: _ClassVar[int]
    ALPHA_FIELD_NUMBER: _ClassVar[int]
    DARKENING_FIELD_NUMBER: _ClassVar[int]
    REGION_FIELD_NUMBER: _ClassVar[int]
    color: _color_pb2.Color
    alpha: float
    darkening: float
    region: ImageOverlayCalculatorOptions.Region
    def __init__(self, color: _Optional[_Union[_color_pb2.Color, _Mapping]] = ..., alpha: _Optional[float] = ..., darkening: _Optional[float] = ..., region: _Optional[_Union[ImageOverlayCalculatorOptions.Region, _Mapping]] = ...) -> None: ...
