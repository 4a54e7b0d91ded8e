from penstock.config import calculator_options_pb2 as _calculator_options_pb2
from penstock_formats.messages import color_pb2 as _color_pb2
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class RecolorCalculatorOptions(_message.Message):
    __slots__ = ("mask_channel", "color", "invert_mask", "adjust_with_luminance")
    class MaskChannel(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        UNKNOWN: _ClassVar[RecolorCalculatorOptions.MaskChannel]
        RED: _ClassVar[RecolorCalculatorOptions.MaskChannel]
        ALPHA: _ClassVar[RecolorCalculatorOptions.MaskChannel]
    UNKNOWN: RecolorCalculatorOptions.MaskChannel
    RED: RecolorCalculatorOptions.MaskChannel
    ALPHA: RecolorCalculatorOptions.MaskChannel
    EXT_FIELD_NUMBER: _ClassVar[int]
    ext: _descriptor.FieldDescriptor
    MASK_CHANNEL_FIELD_NUMBER: _ClassVar[int]
    COLOR_FIELD_NUMBER: _ClassVar[int]
    INVERT_MASK_FIELD_NUMBER: _ClassVar[int]
    ADJUST_WITH_LUMINANCE_FIELD_NUMBER: _ClassVar[int]
    mask_channel: RecolorCalculatorOptions.MaskChannel
    color: _color_pb2.Color
    invert_mask: bool
    adjust_with_luminance: bool
    def __init__(self, mask_channel: _Optional[_Union[RecolorCalculatorOptions.MaskChannel, str]] = ..., color: _Optional[_Union[_color_pb2.Color, _Mapping]] = ..., invert_mask: bool = ..., adjust_with_luminance: bool = ...) -> None: ...
