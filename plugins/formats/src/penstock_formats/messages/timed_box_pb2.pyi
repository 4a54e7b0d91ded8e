from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class MotionBoxState(_message.Message):
    __slots__ = ()
    class Quad(_message.Message):
        __slots__ = ("vertices",)
        VERTICES_FIELD_NUMBER: _ClassVar[int]
        vertices: _containers.RepeatedScalarFieldContainer[float]
        def __init__(self, vertices: _Optional[_Iterable[float]] = ...) -> None: ...
    def __init__(self) -> None: ...

class TimedBoxProto(_message.Message):
    __slots__ = ("top", "left", "bottom", "right", "rotation", "quad", "time_msec", "id", "label", "confidence", "aspect_ratio", "reacquisition", "request_grouping")
    TOP_FIELD_NUMBER: _ClassVar[int]
    LEFT_FIELD_NUMBER: _ClassVar[int]
    BOTTOM_FIELD_NUMBER: _ClassVar[int]
    RIGHT_FIELD_NUMBER: _ClassVar[int]
    ROTATION_FIELD_NUMBER: _ClassVar[int]
    QUAD_FIELD_NUMBER: _ClassVar[int]
    TIME_MSEC_FIELD_NUMBER: _ClassVar[int]
    ID_FIELD_NUMBER: _ClassVar[int]
    LABEL_FIELD_NUMBER: _ClassVar[int]
    CONFIDENCE_FIELD_NUMBER: _ClassVar[int]
    ASPECT_RATIO_FIELD_NUMBER: _ClassVar[int]
    REACQUISITION_FIELD_NUMBER: _ClassVar[int]
    REQUEST_GROUPING_FIELD_NUMBER: _ClassVar[int]
    top: float
    left: float
    bottom: float
    right: float
    rotation: float
    quad: MotionBoxState.Quad
    time_msec: int
    id: int
    label: str
    confidence: float
    aspect_ratio: float
    reacquisition: bool
    request_grouping: bool
    def __init__(self, top: _Optional[float] = ..., left: _Optional[float] = ..., bottom: _Optional[float] = ..., right: _Optional[float] = ..., rotation: _Optional[float] = ..., quad: _Optional[_Union[MotionBoxState.Quad, _Mapping]] = ..., time_msec: _Optional[int] = ..., id: _Optional[int] = ..., label: _Optional[str] = ..., confidence: _Optional[float] = ..., aspect_ratio: _Optional[float] = ..., reacquisition: bool = ..., request_grouping: bool = ...) -> None: ...

class TimedBoxProtoList(_message.Message):
    __slots__ = ("box",)
    BOX_FIELD_NUMBER: _ClassVar[int]
    box: _containers.RepeatedCompositeFieldContainer[TimedBoxProto]
    def __init__(self, box: _Optional[_Iterable[_Union[TimedBoxProto, _Mapping]]] = ...) -> None: ...
