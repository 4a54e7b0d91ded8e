from penstock.config import calculator_options_pb2 as _calculator_options_pb2
from penstock_formats.messages import color_pb2 as _color_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class LandmarksToRenderDataCalculatorOptions(_message.Message):
    __slots__ = ("landmark_connections", "landmark_color", "connection_color", "thickness", "visualize_landmark_depth", "utilize_visibility", "visibility_threshold", "utilize_presence", "presence_threshold", "min_depth_circle_thickness", "max_depth_circle_thickness", "min_depth_line_color", "max_depth_line_color", "render_landmarks")
    EXT_FIELD_NUMBER: _ClassVar[int]
    ext: _descriptor.FieldDescriptor
    LANDMARK_CONNECTIONS_FIELD_NUMBER: _ClassVar[int]
    LANDMARK_COLOR_FIELD_NUMBER: _ClassVar[int]
    CONNECTION_COLOR_FIELD_NUMBER: _ClassVar[int]
    THICKNESS_FIELD_NUMBER: _ClassVar[int]
    VISUALIZE_LANDMARK_DEPTH_FIELD_NUMBER: _ClassVar[int]
    UTILIZE_VISIBILITY_FIELD_NUMBER: _ClassVar[int]
    VISIBILITY_THRESHOLD_FIELD_NUMBER: _ClassVar[int]
    UTILIZE_PRESENCE_FIELD_NUMBER: _ClassVar[int]
    PRESENCE_THRESHOLD_FIELD_NUMBER: _ClassVar[int]
    MIN_DEPTH_CIRCLE_THICKNESS_FIELD_NUMBER: _ClassVar[int]
    MAX_DEPTH_CIRCLE_THICKNESS_FIELD_NUMBER: _ClassVar[int]
    MIN_DEPTH_LINE_COLOR_FIELD_NUMBER: _ClassVar[int]
    MAX_DEPTH_LINE_COLOR_FIELD_NUMBER: _ClassVar[int]
    RENDER_LANDMARKS_FIELD_NUMBER: _ClassVar[int]
    landmark_connections: _containers.RepeatedScalarFieldContainer[int]
    landmark_color: _color_pb2.Color
    connection_color: _color_pb2.Color
    thickness: float
    visualize_landmark_depth: bool
    utilize_visibility: bool
    visibility_threshold: float
    utilize_presence: bool
    presence_threshold: float
    min_depth_circle_thickness: float
    max_depth_circle_thickness: float
    min_depth_line_color: _color_pb2.Color
    max_depth_line_color: _color_pb2.Color
    render_landmarks: bool
    def __init__(self, landmark_connections: _Optional[_Iterable[int]] = ..., landmark_color: _Optional[_Union[_color_pb2.Color, _Mapping]] = ..., connection_color: _Optional[_Union[_color_pb2.Color, _Mapping]] = ..., thickness: _Optional[float] = ..., visualize_landmark_depth: bool = ..., utilize_visibility: bool = ..., visibility_threshold: _Optional[float] = ..., utilize_presence: bool = ..., presence_threshold: _Optional[float] = ..., min_depth_circle_thickness: _Optional[float] = ..., max_depth_circle_thickness: _Optional[float] = ..., min_depth_line_color: _Optional[_Union[_color_pb2.Color, _Mapping]] = ..., max_depth_line_color: _Optional[_Union[_color_pb2.Color, _Mapping]] = ..., render_landmarks: bool = ...) -> None: ...
