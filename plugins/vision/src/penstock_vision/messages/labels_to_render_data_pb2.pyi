from penstock.config import calculator_options_pb2 as _calculator_options_pb2
from penstock_formats.messages import color_pb2 as _color_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class LabelsToRenderDataCalculatorOptions(_message.Message):
    __slots__ = ("color", "thickness", "font_height_px", "max_num_labels", "font_face", "location", "horizontal_offset_px", "vertical_offset_px", "use_display_name", "display_classification_score", "outline_thickness", "outline_color")
    class Location(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        TOP_LEFT: _ClassVar[LabelsToRenderDataCalculatorOptions.Location]
        BOTTOM_LEFT: _ClassVar[LabelsToRenderDataCalculatorOptions.Location]
    TOP_LEFT: LabelsToRenderDataCalculatorOptions.Location
    BOTTOM_LEFT: LabelsToRenderDataCalculatorOptions.Location
    EXT_FIELD_NUMBER: _ClassVar[int]
    ext: _descriptor.FieldDescriptor
    COLOR_FIELD_NUMBER: _ClassVar[int]
    THICKNESS_FIELD_NUMBER: _ClassVar[int]
    FONT_HEIGHT_PX_FIELD_NUMBER: _ClassVar[int]
    MAX_NUM_LABELS_FIELD_NUMBER: _ClassVar[int]
    FONT_FACE_FIELD_NUMBER: _ClassVar[int]
    LOCATION_FIELD_NUMBER: _ClassVar[int]
    HORIZONTAL_OFFSET_PX_FIELD_NUMBER: _ClassVar[int]
    VERTICAL_OFFSET_PX_FIELD_NUMBER: _ClassVar[int]
    USE_DISPLAY_NAME_FIELD_NUMBER: _ClassVar[int]
    DISPLAY_CLASSIFICATION_SCORE_FIELD_NUMBER: _ClassVar[int]
    OUTLINE_THICKNESS_FIELD_NUMBER: _ClassVar[int]
    OUTLINE_COLOR_FIELD_NUMBER: _ClassVar[int]
    color: _containers.RepeatedCompositeFieldContainer[_color_pb2.Color]
    thickness: float
    font_height_px: int
    max_num_labels: int
    font_face: int
    location: LabelsToRenderDataCalculatorOptions.Location
    horizontal_offset_px: int
    vertical_offset_px: int
    use_display_name: bool
    display_classification_score: bool
    outline_thickness: float
    outline_color: _containers.RepeatedCompositeFieldContainer[_color_pb2.Color]
    def __init__(self, color: _Optional[_Iterable[_Union[_color_pb2.Color, _Mapping]]] = ..., thickness: _Optional[float] = ..., font_height_px: _Optional[int] = ..., max_num_labels: _Optional[int] = ..., font_face: _Optional[int] = ..., location: _Optional[_Union[LabelsToRenderDataCalculatorOptions.Location, str]] = ..., horizontal_offset_px: _Optional[int] = ..., vertical_offset_px: _Optional[int] = ..., use_display_name: bool = ..., display_classification_score: bool = ..., outline_thickness: _Optional[float] = ..., outline_color: _Optional[_Iterable[_Union[_color_pb2.Color, _Mapping]]] = ...) -> None: ...
