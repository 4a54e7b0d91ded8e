from penstock.config import calculator_options_pb2 as _calculator_options_pb2
from penstock_formats.messages import color_pb2 as _color_pb2
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class IrisToRenderDataCalculatorOptions(_message.Message):
    __slots__ = ("oval_color", "landmark_color", "oval_thickness", "landmark_thickness", "font_height_px", "horizontal_offset_px", "vertical_offset_px", "font_face", "location")
    class Location(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        TOP_LEFT: _ClassVar[IrisToRenderDataCalculatorOptions.Location]
        BOTTOM_LEFT: _ClassVar[IrisToRenderDataCalculatorOptions.Location]
    TOP_LEFT: IrisToRenderDataCalculatorOptions.Location
    BOTTOM_LEFT: IrisToRenderDataCalculatorOptions.Location
    EXT_FIELD_NUMBER: _ClassVar[int]
    ext: _descriptor.FieldDescriptor
    OVAL_COLOR_FIELD_NUMBER: _ClassVar[int]
    LANDMARK_COLOR_FIELD_NUMBER: _ClassVar[int]
    OVAL_THICKNESS_FIELD_NUMBER: _ClassVar[int]
    LANDMARK_THICKNESS_FIELD_NUMBER: _ClassVar[int]
    FONT_HEIGHT_PX_FIELD_NUMBER: _ClassVar[int]
    HORIZONTAL_OFFSET_PX_FIELD_NUMBER: _ClassVar[int]
    VERTICAL_OFFSET_PX_FIELD_NUMBER: _ClassVar[int]
    FONT_FACE_FIELD_NUMBER: _ClassVar[int]
    LOCATION_FIELD_NUMBER: _ClassVar[int]
    oval_color: _color_pb2.Color
    landmark_color: _color_pb2.Color
    oval_thickness: float
    landmark_thickness: float
    font_height_px: int
    horizontal_offset_px: int
    vertical_offset_px: int
    font_face: int
    location: IrisToRenderDataCalculatorOptions.Location
    def __init__(self, oval_color: _Optional[_Union[_color_pb2.Color, _Mapping]] = ..., landmark_color: _Optional[_Union[_color_pb2.Color, _Mapping]] = ..., oval_thickness: _Optional[float] = ..., landmark_thickness: _Optional[float] = ..., font_height_px: _Optional[int] = ..., horizontal_offset_px: _Optional[int] = ..., vertical_offset_px: _Optional[int] = ..., font_face: _Optional[int] = ..., location: _Optional[_Union[IrisToRenderDataCalculatorOptions.Location, str]] = ...) -> None: ...
