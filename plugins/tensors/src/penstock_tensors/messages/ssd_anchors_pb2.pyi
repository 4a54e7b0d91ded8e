from penstock.config import calculator_options_pb2 as _calculator_options_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class SsdAnchorsCalculatorOptions(_message.Message):
    __slots__ = ("input_size_width", "input_size_height", "min_scale", "max_scale", "anchor_offset_x", "anchor_offset_y", "num_layers", "feature_map_width", "feature_map_height", "strides", "aspect_ratios", "reduce_boxes_in_lowest_layer", "interpolated_scale_aspect_ratio", "fixed_anchor_size", "multiscale_anchor_generation", "min_level", "max_level", "anchor_scale", "scales_per_octave", "normalize_coordinates", "fixed_anchors")
    EXT_FIELD_NUMBER: _ClassVar[int]
    ext: _descriptor.FieldDescriptor
    INPUT_SIZE_WIDTH_FIELD_NUMBER: _ClassVar[int]
    INPUT_SIZE_HEIGHT_FIELD_NUMBER: _ClassVar[int]
    MIN_SCALE_FIELD_NUMBER: _ClassVar[int]
    MAX_SCALE_FIELD_NUMBER: _ClassVar[int]
    ANCHOR_OFFSET_X_FIELD_NUMBER: _ClassVar[int]
    ANCHOR_OFFSET_Y_FIELD_NUMBER: _ClassVar[int]
    NUM_LAYERS_FIELD_NUMBER: _ClassVar[int]
    FEATURE_MAP_WIDTH_FIELD_NUMBER: _ClassVar[int]
    FEATURE_MAP_HEIGHT_FIELD_NUMBER: _ClassVar[int]
    STRIDES_FIELD_NUMBER: _ClassVar[int]
    ASPECT_RATIOS_FIELD_NUMBER: _ClassVar[int]
    REDUCE_BOXES_IN_LOWEST_LAYER_FIELD_NUMBER: _ClassVar[int]
    INTERPOLATED_SCALE_ASPECT_RATIO_FIELD_NUMBER: _ClassVar[int]
    FIXED_ANCHOR_SIZE_FIELD_NUMBER: _ClassVar[int]
    MULTISCALE_ANCHOR_GENERATION_FIELD_NUMBER: _ClassVar[int]
    MIN_LEVEL_FIELD_NUMBER: _ClassVar[int]
    MAX_LEVEL_FIELD_NUMBER: _ClassVar[int]
    ANCHOR_SCALE_FIELD_NUMBER: _ClassVar[int]
    SCALES_PER_OCTAVE_FIELD_NUMBER: _ClassVar[int]
    NORMALIZE_COORDINATES_FIELD_NUMBER: _ClassVar[int]
    FIXED_ANCHORS_FIELD_NUMBER: _ClassVar[int]
    input_size_width: int
    input_size_height: int
    min_scale: float
    max_scale: float
    anchor_offset_x: float
    anchor_offset_y: float
    num_layers: int
    feature_map_width: _containers.RepeatedScalarFieldContainer[int]
    feature_map_height: _containers.RepeatedScalarFieldContainer[int]
    strides: _containers.RepeatedScalarFieldContainer[int]
    aspect_ratios: _containers.RepeatedScalarFieldContainer[float]
    reduce_boxes_in_lowest_layer: bool
    interpolated_scale_aspect_ratio: float
    fixed_anchor_size: bool
    multiscale_anchor_generation: bool
    min_level: int
    max_level: int
    anchor_scale: float
    scales_per_octave: int
    normalize_coordinates: bool
    fixed_anchors: _containers.RepeatedCompositeFieldContainer[Anchor]
    def __init__(self, input_size_width: _Optional[int] = ..., input_size_height: _Optional[int] = ..., min_scale: _Optional[float] = ..., max_scale: _Optional[float] = ..., anchor_offset_x: _Optional[float] = ..., anchor_offset_y: _Optional[float] = ..., num_layers: _Optional[int] = ..., feature_map_width: _Optional[_Iterable[int]] = ..., feature_map_height: _Optional[_Iterable[int]] = ..., strides: _Optional[_Iterable[int]] = ..., aspect_ratios: _Optional[_Iterable[float]] = ..., reduce_boxes_in_lowest_layer: bool = ..., interpolated_scale_aspect_ratio: _Optional[float] = ..., fixed_anchor_size: bool = ..., multiscale_anchor_generation: bool = ..., min_level: _Optional[int] = ..., max_level: _Optional[int] = ..., anchor_scale: _Optional[float] = ..., scales_per_octave: _Optional[int] = ..., normalize_coordinates: bool = ..., fixed_anchors: _Optional[_Iterable[_Union[Anchor, _Mapping]]] = ...) -> None: ...

class Anchor(_message.Message):
    __slots__ = ("x_center", "y_center", "h", "w")
    X_CENTER_FIELD_NUMBER: _ClassVar[int]
    Y_CENTER_FIELD_NUMBER: _ClassVar[int]
    H_FIELD_NUMBER: _ClassVar[int]
    W_FIELD_NUMBER: _ClassVar[int]
    x_center: float
    y_center: float
    h: float
    w: float
    def __init__(self, x_center: _Optional[float] = ..., y_center: _Optional[float] = ..., h: _Optional[float] = ..., w: _Optional[float] = ...) -> None: ...
