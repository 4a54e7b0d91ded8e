from penstock.config import calculator_options_pb2 as _calculator_options_pb2
from penstock_vision.messages import face_space_pb2 as _face_space_pb2
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class FaceGeometryEnvGeneratorCalculatorOptions(_message.Message):
    __slots__ = ("environment",)
    EXT_FIELD_NUMBER: _ClassVar[int]
    ext: _descriptor.FieldDescriptor
    ENVIRONMENT_FIELD_NUMBER: _ClassVar[int]
    environment: _face_space_pb2.Environment
    def __init__(self, environment: _Optional[_Union[_face_space_pb2.Environment, _Mapping]] = ...) -> None: ...

class FaceGeometryPipelineCalculatorOptions(_message.Message):
    __slots__ = ("metadata_path",)
    EXT_FIELD_NUMBER: _ClassVar[int]
    ext: _descriptor.FieldDescriptor
    METADATA_PATH_FIELD_NUMBER: _ClassVar[int]
    metadata_path: str
    def __init__(self, metadata_path: _Optional[str] = ...) -> None: ...
