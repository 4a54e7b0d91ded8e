from penstock.config import calculator_options_pb2 as _calculator_options_pb2
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class TfLiteTensorsToLandmarksCalculatorOptions(_message.Message):
    __slots__ = ("num_landmarks", "input_image_width", "input_image_height", "flip_vertically", "flip_horizontally", "normalize_z", "visibility_activation", "presence_activation")
    class Activation(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        NONE: _ClassVar[TfLiteTensorsToLandmarksCalculatorOptions.Activation]
        SIGMOID: _ClassVar[TfLiteTensorsToLandmarksCalculatorOptions.Activation]
    NONE: TfLiteTensorsToLandmarksCalculatorOptions.Activation
    SIGMOID: TfLiteTensorsToLandmarksCalculatorOptions.Activation
    EXT_FIELD_NUMBER: _ClassVar[int]
    ext: _descriptor.FieldDescriptor
    NUM_LANDMARKS_FIELD_NUMBER: _ClassVar[int]
    INPUT_IMAGE_WIDTH_FIELD_NUMBER: _ClassVar[int]
    INPUT_IMAGE_HEIGHT_FIELD_NUMBER: _ClassVar[int]
    FLIP_VERTICALLY_FIELD_NUMBER: _ClassVar[int]
    FLIP_HORIZONTALLY_FIELD_NUMBER: _ClassVar[int]
    NORMALIZE_Z_FIELD_NUMBER: _ClassVar[int]
    VISIBILITY_ACTIVATION_FIELD_NUMBER: _ClassVar[int]
    PRESENCE_ACTIVATION_FIELD_NUMBER: _ClassVar[int]
    num_landmarks: int
    input_image_width: int
    input_image_height: int
    flip_vertically: bool
    flip_horizontally: bool
    normalize_z: float
    visibility_activation: TfLiteTensorsToLandmarksCalculatorOptions.Activation
    presence_activation: TfLiteTensorsToLandmarksCalculatorOptions.Activation
    def __init__(self, num_landmarks: _Optional[int] = ..., input_image_width: _Optional[int] = ..., input_image_height: _Optional[int] = ..., flip_vertically: bool = ..., flip_horizontally: bool = ..., normalize_z: _Optional[float] = ..., visibility_activation: _Optional[_Union[TfLiteTensorsToLandmarksCalculatorOptions.Activation, str]] = ..., presence_activation: _Optional[_Union[TfLiteTensorsToLandmarksCalculatorOptions.Activation, str]] = ...) -> None: ...
