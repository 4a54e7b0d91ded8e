from penstock_formats.messages import rasterization_pb2 as _rasterization_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class LocationData(_message.Message):
    __slots__ = ("format", "bounding_box", "relative_bounding_box", "mask", "relative_keypoints")
    class Format(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        GLOBAL: _ClassVar[LocationData.Format]
        BOUNDING_BOX: _ClassVar[LocationData.Format]
        RELATIVE_BOUNDING_BOX: _ClassVar[LocationData.Format]
        MASK: _ClassVar[LocationData.Format]
    GLOBAL: LocationData.Format
    BOUNDING_BOX: LocationData.Format
    RELATIVE_BOUNDING_BOX: LocationData.Format
    MASK: LocationData.Format
    class BoundingBox(_message.Message):
        __slots__ = ("xmin", "ymin", "width", "height")
        XMIN_FIELD_NUMBER: _ClassVar[int]
        YMIN_FIELD_NUMBER: _ClassVar[int]
        WIDTH_FIELD_NUMBER: _ClassVar[int]
        HEIGHT_FIELD_NUMBER: _ClassVar[int]
        xmin: int
        ymin: int
        width: int
        height: int
        def __init__(self, xmin: _Optional[int] = ..., ymin: _Optional[int] = ..., width: _Optional[int] = ..., height: _Optional[int] = ...) -> None: ...
    class RelativeBoundingBox(_message.Message):
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
    class BinaryMask(_message.Message):
        __slots__ = ("width", "height", "rasterization")
        WIDTH_FIELD_NUMBER: _ClassVar[int]
        HEIGHT_FIELD_NUMBER: _ClassVar[int]
        RASTERIZATION_FIELD_NUMBER: _ClassVar[int]
        width: int
        height: int
        rasterization: _rasterization_pb2.Rasterization
        def __init__(self, width: _Optional[int] = ..., height: _Optional[int] = ..., rasterization: _Optional[_Union[_rasterization_pb2.Rasterization, _Mapping]] = ...) -> None: ...
    class RelativeKeypoint(_message.Message):
        __slots__ = ("x", "y", "keypoint_label", "score")
        X_FIELD_NUMBER: _ClassVar[int]
        Y_FIELD_NUMBER: _ClassVar[int]
        KEYPOINT_LABEL_FIELD_NUMBER: _ClassVar[int]
        SCORE_FIELD_NUMBER: _ClassVar[int]
        x: float
        y: float
        keypoint_label: str
        score: float
        def __init__(self, x: _Optional[float] = ..., y: _Optional[float] = ..., keypoint_label: _Optional[str] = ..., score: _Optional[float] = ...) -> None: ...
    FORMAT_FIELD_NUMBER: _ClassVar[int]
    BOUNDING_BOX_FIELD_NUMBER: _ClassVar[int]
    RELATIVE_BOUNDING_BOX_FIELD_NUMBER: _ClassVar[int]
    MASK_FIELD_NUMBER: _ClassVar[int]
    RELATIVE_KEYPOINTS_FIELD_NUMBER: _ClassVar[int]
    format: LocationData.Format
    bounding_box: LocationData.BoundingBox
    relative_bounding_box: LocationData.RelativeBoundingBox
    mask: LocationData.BinaryMask
    relative_keypoints: _containers.RepeatedCompositeFieldContainer[LocationData.RelativeKeypoint]
    def __init__(self, format: _Optional[_Union[LocationData.Format, str]] = ..., bounding_box: _Optional[_Union[LocationData.BoundingBox, _Mapping]] = ..., relative_bounding_box: _Optional[_Union[LocationData.RelativeBoundingBox, _Mapping]] = ..., mask: _Optional[_Union[LocationData.BinaryMask, _Mapping]] = ..., relative_keypoints: _Optional[_Iterable[_Union[LocationData.RelativeKeypoint, _Mapping]]] = ...) -> None: ...
