from penstock.config import calculator_options_pb2 as _calculator_options_pb2
from penstock_formats.messages import rotation_mode_pb2 as _rotation_mode_pb2
from penstock_formats.messages import scale_mode_pb2 as _scale_mode_pb2
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class ImageTransformationCalculatorOptions(_message.Message):
    __slots__ = ("output_width", "output_height", "rotation_mode", "flip_vertically", "flip_horizontally", "scale_mode", "constant_padding", "padding_color", "interpolation_mode")
    class InterpolationMode(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        DEFAULT: _ClassVar[ImageTransformationCalculatorOptions.InterpolationMode]
        LINEAR: _ClassVar[ImageTransformationCalculatorOptions.InterpolationMode]
        NEAREST: _ClassVar[ImageTransformationCalculatorOptions.InterpolationMode]
    DEFAULT: ImageTransformationCalculatorOptions.InterpolationMode
    LINEAR: ImageTransformationCalculatorOptions.InterpolationMode
    NEAREST: ImageTransformationCalculatorOptions.InterpolationMode
    class Color(_message.Message):
        __slots__ = ("red", "green", "blue")
        RED_FIELD_NUMBER: _ClassVar[int]
        GREEN_FIELD_NUMBER: _ClassVar[int]
        BLUE_FIELD_NUMBER: _ClassVar[int]
        red: int
        green: int
        blue: int
        def __init__(self, red: _Optional[int] = ..., green: _Optional[int] = ..., blue: _Optional[int] = ...) -> None: ...
    EXT_FIELD_NUMBER: _ClassVar[int]
    ext: _descriptor.FieldDescriptor
    OUTPUT_WIDTH_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_HEIGHT_FIELD_NUMBER: _ClassVar[int]
    ROTATION_MODE_FIELD_NUMBER: _ClassVar[int]
    FLIP_VERTICALLY_FIELD_NUMBER: _ClassVar[int]
    FLIP_HORIZONTALLY_FIELD_NUMBER: _ClassVar[int]
    SCALE_MODE_FIELD_NUMBER: _ClassVar[int]
    CONSTANT_PADDING_FIELD_NUMBER: _ClassVar[int]
    PADDING_COLOR_FIELD_NUMBER: _ClassVar[int]
    INTERPOLATION_MODE_FIELD_NUMBER: _ClassVar[int]
    output_width: int
    output_height: int
    rotation_mode: _rotation_mode_pb2.RotationMode.Mode
    flip_vertically: bool
    flip_horizontally: bool
    scale_mode: _scale_mode_pb2.ScaleMode.Mode
    constant_padding: bool
    padding_color: ImageTransformationCalculatorOptions.Color
    interpolation_mode: ImageTransformationCalculatorOptions.InterpolationMode
    def __init__(self, output_width: _Optional[int] = ..., output_height: _Optional[int] = ..., rotation_mode: _Optional[_Union[_rotation_mode_pb2.RotationMode.Mode, str]] = ..., flip_vertically: bool = ..., flip_horizontally: bool = ..., scale_mode: _Optional[_Union[_scale_mode_pb2.ScaleMode.Mode, str]] = ..., constant_padding: bool = ..., padding_color: _Optional[_Union[ImageTransformationCalculatorOptions.Color, _Mapping]] = ..., interpolation_mode: _Optional[_Union[ImageTransformationCalculatorOptions.InterpolationMode, str]] = ...) -> None: ...
