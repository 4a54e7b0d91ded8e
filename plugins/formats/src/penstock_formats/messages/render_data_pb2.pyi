from penstock_formats.messages import color_pb2 as _color_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class RenderData(_message.Message):
    __slots__ = ("render_annotations", "scene_class", "scene_viewport")
    RENDER_ANNOTATIONS_FIELD_NUMBER: _ClassVar[int]
    SCENE_CLASS_FIELD_NUMBER: _ClassVar[int]
    SCENE_VIEWPORT_FIELD_NUMBER: _ClassVar[int]
    render_annotations: _containers.RepeatedCompositeFieldContainer[RenderAnnotation]
    scene_class: str
    scene_viewport: RenderViewport
    def __init__(self, render_annotations: _Optional[_Iterable[_Union[RenderAnnotation, _Mapping]]] = ..., scene_class: _Optional[str] = ..., scene_viewport: _Optional[_Union[RenderViewport, _Mapping]] = ...) -> None: ...

class RenderAnnotation(_message.Message):
    __slots__ = ("rectangle", "filled_rectangle", "oval", "filled_oval", "point", "line", "arrow", "text", "rounded_rectangle", "filled_rounded_rectangle", "gradient_line", "scribble", "thickness", "color", "scene_tag")
    class Rectangle(_message.Message):
        __slots__ = ("left", "top", "right", "bottom", "normalized", "rotation", "top_left_thickness")
        LEFT_FIELD_NUMBER: _ClassVar[int]
        TOP_FIELD_NUMBER: _ClassVar[int]
        RIGHT_FIELD_NUMBER: _ClassVar[int]
        BOTTOM_FIELD_NUMBER: _ClassVar[int]
        NORMALIZED_FIELD_NUMBER: _ClassVar[int]
        ROTATION_FIELD_NUMBER: _ClassVar[int]
        TOP_LEFT_THICKNESS_FIELD_NUMBER: _ClassVar[int]
        left: float
        top: float
        right: float
        bottom: float
        normalized: bool
        rotation: float
        top_left_thickness: float
        def __init__(self, left: _Optional[float] = ..., top: _Optional[float] = ..., right: _Optional[float] = ..., bottom: _Optional[float] = ..., normalized: bool = ..., rotation: _Optional[float] = ..., top_left_thickness: _Optional[float] = ...) -> None: ...
    class FilledRectangle(_message.Message):
        __slots__ = ("rectangle", "fill_color")
        RECTANGLE_FIELD_NUMBER: _ClassVar[int]
        FILL_COLOR_FIELD_NUMBER: _ClassVar[int]
        rectangle: RenderAnnotation.Rectangle
        fill_color: _color_pb2.Color
        def __init__(self, rectangle: _Optional[_Union[RenderAnnotation.Rectangle, _Mapping]] = ..., fill_color: _Optional[_Union[_color_pb2.Color, _Mapping]] = ...) -> None: ...
    class RoundedRectangle(_message.Message):
        __slots__ = ("rectangle", "corner_radius", "line_type")
        RECTANGLE_FIELD_NUMBER: _ClassVar[int]
        CORNER_RADIUS_FIELD_NUMBER: _ClassVar[int]
        LINE_TYPE_FIELD_NUMBER: _ClassVar[int]
        rectangle: RenderAnnotation.Rectangle
        corner_radius: int
        line_type: int
        def __init__(self, rectangle: _Optional[_Union[RenderAnnotation.Rectangle, _Mapping]] = ..., corner_radius: _Optional[int] = ..., line_type: _Optional[int] = ...) -> None: ...
    class FilledRoundedRectangle(_message.Message):
        __slots__ = ("rounded_rectangle", "fill_color")
        ROUNDED_RECTANGLE_FIELD_NUMBER: _ClassVar[int]
        FILL_COLOR_FIELD_NUMBER: _ClassVar[int]
        rounded_rectangle: RenderAnnotation.RoundedRectangle
        fill_color: _color_pb2.Color
        def __init__(self, rounded_rectangle: _Optional[_Union[RenderAnnotation.RoundedRectangle, _Mapping]] = ..., fill_color: _Optional[_Union[_color_pb2.Color, _Mapping]] = ...) -> None: ...
    class Oval(_message.Message):
        __slots__ = ("rectangle",)
        RECTANGLE_FIELD_NUMBER: _ClassVar[int]
        rectangle: RenderAnnotation.Rectangle
        def __init__(self, rectangle: _Optional[_Union[RenderAnnotation.Rectangle, _Mapping]] = ...) -> None: ...
    class FilledOval(_message.Message):
        __slots__ = ("oval", "fill_color")
        OVAL_FIELD_NUMBER: _ClassVar[int]
        FILL_COLOR_FIELD_NUMBER: _ClassVar[int]
        oval: RenderAnnotation.Oval
        fill_color: _color_pb2.Color
        def __init__(self, oval: _Optional[_Union[RenderAnnotation.Oval, _Mapping]] = ..., fill_color: _Optional[_Union[_color_pb2.Color, _Mapping]] = ...) -> None: ...
    class Point(_message.Message):
        __slots__ = ("x", "y", "normalized")
        X_FIELD_NUMBER: _ClassVar[int]
        Y_FIELD_NUMBER: _ClassVar[int]
        NORMALIZED_FIELD_NUMBER: _ClassVar[int]
        x: float
        y: float
        normalized: bool
        def __init__(self, x: _Optional[float] = ..., y: _Optional[float] = ..., normalized: bool = ...) -> None: ...
    class Line(_message.Message):
        __slots__ = ("x_start", "y_start", "x_end", "y_end", "normalized", "line_type")
        class LineType(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
            __slots__ = ()
            UNKNOWN: _ClassVar[RenderAnnotation.Line.LineType]
            SOLID: _ClassVar[RenderAnnotation.Line.LineType]
            DASHED: _ClassVar[RenderAnnotation.Line.LineType]
        UNKNOWN: RenderAnnotation.Line.LineType
        SOLID: RenderAnnotation.Line.LineType
        DASHED: RenderAnnotation.Line.LineType
        X_START_FIELD_NUMBER: _ClassVar[int]
        Y_START_FIELD_NUMBER: _ClassVar[int]
        X_END_FIELD_NUMBER: _ClassVar[int]
        Y_END_FIELD_NUMBER: _ClassVar[int]
        NORMALIZED_FIELD_NUMBER: _ClassVar[int]
        LINE_TYPE_FIELD_NUMBER: _ClassVar[int]
        x_start: float
        y_start: float
        x_end: float
        y_end: float
        normalized: bool
        line_type: RenderAnnotation.Line.LineType
        def __init__(self, x_start: _Optional[float] = ..., y_start: _Optional[float] = ..., x_end: _Optional[float] = ..., y_end: _Optional[float] = ..., normalized: bool = ..., line_type: _Optional[_Union[RenderAnnotation.Line.LineType, str]] = ...) -> None: ...
    class GradientLine(_message.Message):
        __slots__ = ("x_start", "y_start", "x_end", "y_end", "normalized", "color1", "color2")
        X_START_FIELD_NUMBER: _ClassVar[int]
        Y_START_FIELD_NUMBER: _ClassVar[int]
        X_END_FIELD_NUMBER: _ClassVar[int]
        Y_END_FIELD_NUMBER: _ClassVar[int]
        NORMALIZED_FIELD_NUMBER: _ClassVar[int]
        COLOR1_FIELD_NUMBER: _ClassVar[int]
        COLOR2_FIELD_NUMBER: _ClassVar[int]
        x_start: float
        y_start: float
        x_end: float
        y_end: float
        normalized: bool
        color1: _color_pb2.Color
        color2: _color_pb2.Color
        def __init__(self, x_start: _Optional[float] = ..., y_start: _Optional[float] = ..., x_end: _Optional[float] = ..., y_end: _Optional[float] = ..., normalized: bool = ..., color1: _Optional[_Union[_color_pb2.Color, _Mapping]] = ..., color2: _Optional[_Union[_color_pb2.Color, _Mapping]] = ...) -> None: ...
    class Scribble(_message.Message):
        __slots__ = ("point",)
        POINT_FIELD_NUMBER: _ClassVar[int]
        point: _containers.RepeatedCompositeFieldContainer[RenderAnnotation.Point]
        def __init__(self, point: _Optional[_Iterable[_Union[RenderAnnotation.Point, _Mapping]]] = ...) -> None: ...
    class Arrow(_message.Message):
        __slots__ = ("x_start", "y_start", "x_end", "y_end", "normalized")
        X_START_FIELD_NUMBER: _ClassVar[int]
        Y_START_FIELD_NUMBER: _ClassVar[int]
        X_END_FIELD_NUMBER: _ClassVar[int]
        Y_END_FIELD_NUMBER: _ClassVar[int]
        NORMALIZED_FIELD_NUMBER: _ClassVar[int]
        x_start: float
        y_start: float
        x_end: float
        y_end: float
        normalized: bool
        def __init__(self, x_start: _Optional[float] = ..., y_start: _Optional[float] = ..., x_end: _Optional[float] = ..., y_end: _Optional[float] = ..., normalized: bool = ...) -> None: ...
    class Text(_message.Message):
        __slots__ = ("display_text", "left", "baseline", "font_height", "normalized", "font_face", "center_horizontally", "center_vertically", "outline_thickness", "outline_color")
        DISPLAY_TEXT_FIELD_NUMBER: _ClassVar[int]
        LEFT_FIELD_NUMBER: _ClassVar[int]
        BASELINE_FIELD_NUMBER: _ClassVar[int]
        FONT_HEIGHT_FIELD_NUMBER: _ClassVar[int]
        NORMALIZED_FIELD_NUMBER: _ClassVar[int]
        FONT_FACE_FIELD_NUMBER: _ClassVar[int]
        CENTER_HORIZONTALLY_FIELD_NUMBER: _ClassVar[int]
        CENTER_VERTICALLY_FIELD_NUMBER: _ClassVar[int]
        OUTLINE_THICKNESS_FIELD_NUMBER: _ClassVar[int]
        OUTLINE_COLOR_FIELD_NUMBER: _ClassVar[int]
        display_text: str
        left: float
        baseline: float
        font_height: float
        normalized: bool
        font_face: int
        center_horizontally: bool
        center_vertically: bool
        outline_thickness: float
        outline_color: _color_pb2.Color
        def __init__(self, display_text: _Optional[str] = ..., left: _Optional[float] = ..., baseline: _Optional[float] = ..., font_height: _Optional[float] = ..., normalized: bool = ..., font_face: _Optional[int] = ..., center_horizontally: bool = ..., center_vertically: bool = ..., outline_thickness: _Optional[float] = ..., outline_color: _Optional[_Union[_color_pb2.Color, _Mapping]] = ...) -> None: ...
    RECTANGLE_FIELD_NUMBER: _ClassVar[int]
    FILLED_RECTANGLE_FIELD_NUMBER: _ClassVar[int]
    OVAL_FIELD_NUMBER: _ClassVar[int]
    FILLED_OVAL_FIELD_NUMBER: _ClassVar[int]
    POINT_FIELD_NUMBER: _ClassVar[int]
    LINE_FIELD_NUMBER: _ClassVar[int]
    ARROW_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    ROUNDED_RECTANGLE_FIELD_NUMBER: _ClassVar[int]
    FILLED_ROUNDED_RECTANGLE_FIELD_NUMBER: _ClassVar[int]
    GRADIENT_LINE_FIELD_NUMBER: _ClassVar[int]
    SCRIBBLE_FIELD_NUMBER: _ClassVar[int]
    THICKNESS_FIELD_NUMBER: _ClassVar[int]
    COLOR_FIELD_NUMBER: _ClassVar[int]
    SCENE_TAG_FIELD_NUMBER: _ClassVar[int]
    rectangle: RenderAnnotation.Rectangle
    filled_rectangle: RenderAnnotation.FilledRectangle
    oval: RenderAnnotation.Oval
    filled_oval: RenderAnnotation.FilledOval
    point: RenderAnnotation.Point
    line: RenderAnnotation.Line
    arrow: RenderAnnotation.Arrow
    text: RenderAnnotation.Text
    rounded_rectangle: RenderAnnotation.RoundedRectangle
    filled_rounded_rectangle: RenderAnnotation.FilledRoundedRectangle
    gradient_line: RenderAnnotation.GradientLine
    scribble: RenderAnnotation.Scribble
    thickness: float
    color: _color_pb2.Color
    scene_tag: str
    def __init__(self, rectangle: _Optional[_Union[RenderAnnotation.Rectangle, _Mapping]] = ..., filled_rectangle: _Optional[_Union[RenderAnnotation.FilledRectangle, _Mapping]] = ..., oval: _Optional[_Union[RenderAnnotation.Oval, _Mapping]] = ..., filled_oval: _Optional[_Union[RenderAnnotation.FilledOval, _Mapping]] = ..., point: _Optional[_Union[RenderAnnotation.Point, _Mapping]] = ..., line: _Optional[_Union[RenderAnnotation.Line, _Mapping]] = ..., arrow: _Optional[_Union[RenderAnnotation.Arrow, _Mapping]] = ..., text: _Optional[_Union[RenderAnnotation.Text, _Mapping]] = ..., rounded_rectangle: _Optional[_Union[RenderAnnotation.RoundedRectangle, _Mapping]] = ..., filled_rounded_rectangle: _Optional[_Union[RenderAnnotation.FilledRoundedRectangle, _Mapping]] = ..., gradient_line: _Optional[_Union[RenderAnnotation.GradientLine, _Mapping]] = ..., scribble: _Optional[_Union[RenderAnnotation.Scribble, _Mapping]] = ..., thickness: _Optional[float] = ..., color: _Optional[_Union[_color_pb2.Color, _Mapping]] = ..., scene_tag: _Optional[str] = ...) -> None: ...

class RenderViewport(_message.Message):
    __slots__ = ("id", "width_px", "height_px", "compose_on_video")
    ID_FIELD_NUMBER: _ClassVar[int]
    WIDTH_PX_FIELD_NUMBER: _ClassVar[int]
    HEIGHT_PX_FIELD_NUMBER: _ClassVar[int]
    COMPOSE_ON_VIDEO_FIELD_NUMBER: _ClassVar[int]
    id: str
    width_px: int
    height_px: int
    compose_on_video: bool
    def __init__(self, id: _Optional[str] = ..., width_px: _Optional[int] = ..., height_px: _Optional[int] = ..., compose_on_video: bool = ...) -> None: ...
