from penstock.config import calculator_options_pb2 as _calculator_options_pb2
from penstock_formats.messages import color_pb2 as _color_pb2
from penstock_formats.messages import render_data_pb2 as _render_data_pb2
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class DetectionsToRenderDataCalculatorOptions(_message.Message):
    __slots__ = ("produce_empty_packet", "text_delimiter", "one_label_per_line", "text", "thickness", "color", "scene_class", "render_detection_id")
    EXT_FIELD_NUMBER: _ClassVar[int]
    ext: _descriptor.FieldDescriptor
    PRODUCE_EMPTY_PACKET_FIELD_NUMBER: _ClassVar[int]
    TEXT_DELIMITER_FIELD_NUMBER: _ClassVar[int]
    ONE_LABEL_PER_LINE_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    THICKNESS_FIELD_NUMBER: _ClassVar[int]
    COLOR_FIELD_NUMBER: _ClassVar[int]
    SCENE_CLASS_FIELD_NUMBER: _ClassVar[int]
    RENDER_DETECTION_ID_FIELD_NUMBER: _ClassVar[int]
    produce_empty_packet: bool
    text_delimiter: str
    one_label_per_line: bool
    text: _render_data_pb2.RenderAnnotation.Text
    thickness: float
    color: _color_pb2.Color
    scene_class: str
    render_detection_id: bool
    def __init__(self, produce_empty_packet: bool = ..., text_delimiter: _Optional[str] = ..., one_label_per_line: bool = ..., text: _Optional[_Union[_render_data_pb2.RenderAnnotation.Text, _Mapping]] = ..., thickness: _Optional[float] = ..., color: _Optional[_Union[_color_pb2.Color, _Mapping]] = ..., scene_class: _Optional[str] = ..., render_detection_id: bool = ...) -> None: ...
