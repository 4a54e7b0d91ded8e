from penstock.config import calculator_options_pb2 as _calculator_options_pb2
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Optional as _Optional

DESCRIPTOR: _descriptor.FileDescriptor

class FaceGeometryPipelineCalculatorOptions(_message.Message):
    __slots__ = ("metadata_path",)
    EXT_FIELD_NUMBER: _ClassVar[int]
    ext: _descriptor.FieldDescriptor
    METADATA_PATH_FIELD_NUMBER: _ClassVar[int]
    metadata_path: str
    def __init__(self, metadata_path: _Optional[str] = ...) -> None: ...
