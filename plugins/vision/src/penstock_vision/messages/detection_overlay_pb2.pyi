from penstock.config import calculator_options_pb2 as _calculator_options_pb2
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Optional as _Optional

DESCRIPTOR: _descriptor.FileDescriptor

class DetectionOverlayCalculatorOptions(_message.Message):
    __slots__ = ("text_height", "line_width", "show_score", "show_id")
    EXT_FIELD_NUMBER: _ClassVar[int]
    ext: _descriptor.FieldDescriptor
    TEXT_HEIGHT_FIELD_NUMBER: _ClassVar[int]
    LINE_WIDTH_FIELD_NUMBER: _ClassVar[int]
    SHOW_SCORE_FIELD_NUMBER: _ClassVar[int]
    SHOW_ID_FIELD_NUMBER: _ClassVar[int]
    text_height: float
    line_width: float
    show_score: bool
    show_id: bool
    def __init__(self, text_height: _Optional[float] = ..., line_width: _Optional[float] = ..., show_score: bool = ..., show_id: bool = ...) -> None: ...
