from penstock.config import calculator_options_pb2 as _calculator_options_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class LandmarksTransformationCalculatorOptions(_message.Message):
    __slots__ = ("transformation",)
    class NormalizeTranslation(_message.Message):
        __slots__ = ()
        def __init__(self) -> None: ...
    class FlipAxis(_message.Message):
        __slots__ = ("flip_x", "flip_y", "flip_z")
        FLIP_X_FIELD_NUMBER: _ClassVar[int]
        FLIP_Y_FIELD_NUMBER: _ClassVar[int]
        FLIP_Z_FIELD_NUMBER: _ClassVar[int]
        flip_x: bool
        flip_y: bool
        flip_z: bool
        def __init__(self, flip_x: bool = ..., flip_y: bool = ..., flip_z: bool = ...) -> None: ...
    class Transformation(_message.Message):
        __slots__ = ("normalize_translation", "flip_axis")
        NORMALIZE_TRANSLATION_FIELD_NUMBER: _ClassVar[int]
        FLIP_AXIS_FIELD_NUMBER: _ClassVar[int]
        normalize_translation: LandmarksTransformationCalculatorOptions.NormalizeTranslation
        flip_axis: LandmarksTransformationCalculatorOptions.FlipAxis
        def __init__(self, normalize_translation: _Optional[_Union[LandmarksTransformationCalculatorOptions.NormalizeTranslation, _Mapping]] = ..., flip_axis: _Optional[_Union[LandmarksTransformationCalculatorOptions.FlipAxis, _Mapping]] = ...) -> None: ...
    EXT_FIELD_NUMBER: _ClassVar[int]
    ext: _descriptor.FieldDescriptor
    TRANSFORMATION_FIELD_NUMBER: _ClassVar[int]
    transformation: _containers.RepeatedCompositeFieldContainer[LandmarksTransformationCalculatorOptions.Transformation]
    def __init__(self, transformation: _Optional[_Iterable[_Union[LandmarksTransformationCalculatorOptions.Transformation, _Mapping]]] = ...) -> None: ...
