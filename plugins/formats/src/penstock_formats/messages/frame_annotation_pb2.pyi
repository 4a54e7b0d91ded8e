from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class NormalizedPoint2D(_message.Message):
    __slots__ = ("x", "y", "depth")
    X_FIELD_NUMBER: _ClassVar[int]
    Y_FIELD_NUMBER: _ClassVar[int]
    DEPTH_FIELD_NUMBER: _ClassVar[int]
    x: float
    y: float
    depth: float
    def __init__(self, x: _Optional[float] = ..., y: _Optional[float] = ..., depth: _Optional[float] = ...) -> None: ...

class Point3D(_message.Message):
    __slots__ = ("x", "y", "z")
    X_FIELD_NUMBER: _ClassVar[int]
    Y_FIELD_NUMBER: _ClassVar[int]
    Z_FIELD_NUMBER: _ClassVar[int]
    x: float
    y: float
    z: float
    def __init__(self, x: _Optional[float] = ..., y: _Optional[float] = ..., z: _Optional[float] = ...) -> None: ...

class AnnotatedKeyPoint(_message.Message):
    __slots__ = ("id", "point_3d", "point_2d", "hidden")
    ID_FIELD_NUMBER: _ClassVar[int]
    POINT_3D_FIELD_NUMBER: _ClassVar[int]
    POINT_2D_FIELD_NUMBER: _ClassVar[int]
    HIDDEN_FIELD_NUMBER: _ClassVar[int]
    id: int
    point_3d: Point3D
    point_2d: NormalizedPoint2D
    hidden: bool
    def __init__(self, id: _Optional[int] = ..., point_3d: _Optional[_Union[Point3D, _Mapping]] = ..., point_2d: _Optional[_Union[NormalizedPoint2D, _Mapping]] = ..., hidden: bool = ...) -> None: ...

class ObjectAnnotation(_message.Message):
    __slots__ = ("object_id", "keypoints", "visibility", "rotation", "translation", "scale")
    OBJECT_ID_FIELD_NUMBER: _ClassVar[int]
    KEYPOINTS_FIELD_NUMBER: _ClassVar[int]
    VISIBILITY_FIELD_NUMBER: _ClassVar[int]
    ROTATION_FIELD_NUMBER: _ClassVar[int]
    TRANSLATION_FIELD_NUMBER: _ClassVar[int]
    SCALE_FIELD_NUMBER: _ClassVar[int]
    object_id: int
    keypoints: _containers.RepeatedCompositeFieldContainer[AnnotatedKeyPoint]
    visibility: float
    rotation: _containers.RepeatedScalarFieldContainer[float]
    translation: _containers.RepeatedScalarFieldContainer[float]
    scale: _containers.RepeatedScalarFieldContainer[float]
    def __init__(self, object_id: _Optional[int] = ..., keypoints: _Optional[_Iterable[_Union[AnnotatedKeyPoint, _Mapping]]] = ..., visibility: _Optional[float] = ..., rotation: _Optional[_Iterable[float]] = ..., translation: _Optional[_Iterable[float]] = ..., scale: _Optional[_Iterable[float]] = ...) -> None: ...

class FrameAnnotation(_message.Message):
    __slots__ = ("frame_id", "annotations", "timestamp", "plane_center", "plane_normal")
    FRAME_ID_FIELD_NUMBER: _ClassVar[int]
    ANNOTATIONS_FIELD_NUMBER: _ClassVar[int]
    TIMESTAMP_FIELD_NUMBER: _ClassVar[int]
    PLANE_CENTER_FIELD_NUMBER: _ClassVar[int]
    PLANE_NORMAL_FIELD_NUMBER: _ClassVar[int]
    frame_id: int
    annotations: _containers.RepeatedCompositeFieldContainer[ObjectAnnotation]
    timestamp: float
    plane_center: _containers.RepeatedScalarFieldContainer[float]
    plane_normal: _containers.RepeatedScalarFieldContainer[float]
    def __init__(self, frame_id: _Optional[int] = ..., annotations: _Optional[_Iterable[_Union[ObjectAnnotation, _Mapping]]] = ..., timestamp: _Optional[float] = ..., plane_center: _Optional[_Iterable[float]] = ..., plane_normal: _Optional[_Iterable[float]] = ...) -> None: ...
