from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Optional as _Optional

DESCRIPTOR: _descriptor.FileDescriptor

class Rect(_message.Message):
    __slots__ = ("x_center", "y_center", "height", "width", "rotation", "rect_id")
    X_CENTER_FIELD_NUMBER: _ClassVar[int]
    Y_CENTER_FIELD_NUMBER: _ClassVar[int]
    HEIGHT_FIELD_NUMBER: _ClassVar[int]
    WIDTH_FIELD_NUMBER: _ClassVar[int]
    ROTATION_FIELD_NUMBER: _ClassVar[int]
    RECT_ID_FIELD_NUMBER: _ClassVar[int]
    x_center: int
    y_center: int
    height: int
    width: int
    rotation: float
    rect_id: int
    def __init__(self, x_center: _Optional[int] = ..., y_center: _Optional[int] = ..., height: _Optional[int] = ..., width: _Optional[int] = ..., rotation: _Optional[float] = ..., rect_id: _Optional[int] = ...) -> None: ...

class NormalizedRect(_message.Message):
    __slots__ = ("x_center", "y_center", "height", "width", "rotation", "rect_id")
    X_CENTER_FIELD_NUMBER: _ClassVar[int]
    Y_CENTER_FIELD_NUMBER: _ClassVar[int]
    HEIGHT_FIELD_NUMBER: _ClassVar[int]
    WIDTH_FIELD_NUMBER: _ClassVar[int]
    ROTATION_FIELD_NUMBER: _ClassVar[int]
    RECT_ID_FIELD_NUMBER: _ClassVar[int]
    x_center: float
    y_center: float
    height: float
    width: float
    rotation: float
    rect_id: int
    def __init__(self, x_center: _Optional[float] = ..., y_center: _Optional[float] = ..., height: _Optional[float] = ..., width: _Optional[float] = ..., rotation: _Optional[float] = ..., rect_id: _Optional[int] = ...) -> None: ...
