from penstock.config import calculator_options_pb2 as _calculator_options_pb2
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class ImageCroppingCalculatorOptions(_message.Message):
    __slots__ = ("width", "height", "rotation", "norm_width", "norm_height", "norm_center_x", "norm_center_y", "border_mode", "output_max_width", "output_max_height")
    class BorderMode(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        BORDER_UNSPECIFIED: _ClassVar[ImageCroppingCalculatorOptions.BorderMode]
        BORDER_ZERO: _ClassVar[ImageCroppingCalculatorOptions.BorderMode]
        BORDER_REPLICATE: _ClassVar[ImageCroppingCalculatorOptions.BorderMode]
    BORDER_UNSPECIFIED: ImageCroppingCalculatorOptions.BorderMode
    BORDER_ZERO: ImageCroppingCalculatorOptions.BorderMode
    BORDER_REPLICATE: ImageCroppingCalculatorOptions.BorderMode
    EXT_FIELD_NUMBER: _ClassVar[int]
    ext: _descriptor.FieldDescriptor
    WIDTH_FIELD_NUMBER: _ClassVar[int]
    HEIGHT_FIELD_NUMBER: _ClassVar[int]
    ROTATION_FIELD_NUMBER: _ClassVar[int]
    NORM_WIDTH_FIELD_NUMBER: _ClassVar[int]
    NORM_HEIGHT_FIELD_NUMBER: _ClassVar[int]
    NORM_CENTER_X_FIELD_NUMBER: _ClassVar[int]
    NORM_CENTER_Y_FIELD_NUMBER: _ClassVar[int]
    BORDER_MODE_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_MAX_WIDTH_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_MAX_HEIGHT_FIELD_NUMBER: _ClassVar[int]
    width: int
    height: int
    rotation: float
    norm_width: float
    norm_height: float
    norm_center_x: float
    norm_center_y: float
    border_mode: ImageCroppingCalculatorOptions.BorderMode
    output_max_width: int
    output_max_height: int
    def __init__(self, width: _Optional[int] = ..., height: _Optional[int] = ..., rotation: _Optional[float] = ..., norm_width: _Optional[float] = ..., norm_height: _Optional[float] = ..., norm_center_x: _Optional[float] = ..., norm_center_y: _Optional[float] = ..., border_mode: _Optional[_Union[ImageCroppingCalculatorOptions.BorderMode, str]] = ..., output_max_width: _Optional[int] = ..., output_max_height: _Optional[int] = ...) -> None: ...
