from penstock.config import calculator_options_pb2 as _calculator_options_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Optional as _Optional

DESCRIPTOR: _descriptor.FileDescriptor

class DetectionOverlayCalculatorOptions(_message.Message):
    __slots__ = ("text_height", "line_width", "show_score", "show_id", "show_keypoints", "keypoint_connections", "min_keypoint_score", "mask_opacity")
    EXT_FIELD_NUMBER: _ClassVar[int]
    ext: _descriptor.FieldDescriptor
    TEXT_HEIGHT_FIELD_NUMBER: _ClassVar[int]
    LINE_WIDTH_FIELD_NUMBER: _ClassVar[int]
    SHOW_SCORE_FIELD_NUMBER: _ClassVar[int]
    SHOW_ID_FIELD_NUMBER: _ClassVar[int]
    SHOW_KEYPOINTS_FIELD_NUMBER: _ClassVar[int]
    KEYPOINT_CONNECTIONS_FIELD_NUMBER: _ClassVar[int]
    MIN_KEYPOINT_SCORE_FIELD_NUMBER: _ClassVar[int]
    MASK_OPACITY_FIELD_NUMBER: _ClassVar[int]
    text_height: float
    line_width: float
    show_score: bool
    show_id: bool
    show_keypoints: bool
    keypoint_connections: _containers.RepeatedScalarFieldContainer[int]
    min_keypoint_score: float
    mask_opacity: float
    def __init__(self, text_height: _Optional[float] = ..., line_width: _Optional[float] = ..., show_score: bool = ..., show_id: bool = ..., show_keypoints: bool = ..., keypoint_connections: _Optional[_Iterable[int]] = ..., min_keypoint_score: _Optional[float] = ..., mask_opacity: _Optional[float] = ...) -> None: ...
