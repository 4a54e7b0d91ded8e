from penstock.config import calculator_options_pb2 as _calculator_options_pb2
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Optional as _Optional

DESCRIPTOR: _descriptor.FileDescriptor

class TfLiteTensorsToSegmentationCalculatorOptions(_message.Message):
    __slots__ = ("tensor_width", "tensor_height", "tensor_channels", "combine_with_previous_ratio", "output_layer_index", "flip_vertically")
    EXT_FIELD_NUMBER: _ClassVar[int]
    ext: _descriptor.FieldDescriptor
    TENSOR_WIDTH_FIELD_NUMBER: _ClassVar[int]
    TENSOR_HEIGHT_FIELD_NUMBER: _ClassVar[int]
    TENSOR_CHANNELS_FIELD_NUMBER: _ClassVar[int]
    COMBINE_WITH_PREVIOUS_RATIO_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_LAYER_INDEX_FIELD_NUMBER: _ClassVar[int]
    FLIP_VERTICALLY_FIELD_NUMBER: _ClassVar[int]
    tensor_width: int
    tensor_height: int
    tensor_channels: int
    combine_with_previous_ratio: float
    output_layer_index: int
    flip_vertically: bool
    def __init__(self, tensor_width: _Optional[int] = ..., tensor_height: _Optional[int] = ..., tensor_channels: _Optional[int] = ..., combine_with_previous_ratio: _Optional[float] = ..., output_layer_index: _Optional[int] = ..., flip_vertically: bool = ...) -> None: ...
