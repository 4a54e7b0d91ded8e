from penstock.config import calculator_options_pb2 as _calculator_options_pb2
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Optional as _Optional

DESCRIPTOR: _descriptor.FileDescriptor

class IrisToDepthCalculatorOptions(_message.Message):
    __slots__ = ("left_iris_center_index", "left_iris_top_index", "left_iris_bottom_index", "left_iris_left_index", "left_iris_right_index", "right_iris_center_index", "right_iris_top_index", "right_iris_bottom_index", "right_iris_left_index", "right_iris_right_index")
    EXT_FIELD_NUMBER: _ClassVar[int]
    ext: _descriptor.FieldDescriptor
    LEFT_IRIS_CENTER_INDEX_FIELD_NUMBER: _ClassVar[int]
    LEFT_IRIS_TOP_INDEX_FIELD_NUMBER: _ClassVar[int]
    LEFT_IRIS_BOTTOM_INDEX_FIELD_NUMBER: _ClassVar[int]
    LEFT_IRIS_LEFT_INDEX_FIELD_NUMBER: _ClassVar[int]
    LEFT_IRIS_RIGHT_INDEX_FIELD_NUMBER: _ClassVar[int]
    RIGHT_IRIS_CENTER_INDEX_FIELD_NUMBER: _ClassVar[int]
    RIGHT_IRIS_TOP_INDEX_FIELD_NUMBER: _ClassVar[int]
    RIGHT_IRIS_BOTTOM_INDEX_FIELD_NUMBER: _ClassVar[int]
    RIGHT_IRIS_LEFT_INDEX_FIELD_NUMBER: _ClassVar[int]
    RIGHT_IRIS_RIGHT_INDEX_FIELD_NUMBER: _ClassVar[int]
    left_iris_center_index: int
    left_iris_top_index: int
    left_iris_bottom_index: int
    left_iris_left_index: int
    left_iris_right_index: int
    right_iris_center_index: int
    right_iris_top_index: int
    right_iris_bottom_index: int
    right_iris_left_index: int
    right_iris_right_index: int
    def __init__(self, left_iris_center_index: _Optional[int] = ..., left_iris_top_index: _Optional[int] = ..., left_iris_bottom_index: _Optional[int] = ..., left_iris_left_index: _Optional[int] = ..., left_iris_right_index: _Optional[int] = ..., right_iris_center_index: _Optional[int] = ..., right_iris_top_index: _Optional[int] = ..., right_iris_bottom_index: _Optional[int] = ..., right_iris_left_index: _Optional[int] = ..., right_iris_right_index: _Optional[int] = ...) -> None: ...
