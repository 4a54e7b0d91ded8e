from penstock.config import calculator_options_pb2 as _calculator_options_pb2
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class BeliefDecoderConfig(_message.Message):
    __slots__ = ("heatmap_threshold", "local_max_distance", "offset_scale_coef", "voting_radius", "voting_allowance", "voting_threshold")
    HEATMAP_THRESHOLD_FIELD_NUMBER: _ClassVar[int]
    LOCAL_MAX_DISTANCE_FIELD_NUMBER: _ClassVar[int]
    OFFSET_SCALE_COEF_FIELD_NUMBER: _ClassVar[int]
    VOTING_RADIUS_FIELD_NUMBER: _ClassVar[int]
    VOTING_ALLOWANCE_FIELD_NUMBER: _ClassVar[int]
    VOTING_THRESHOLD_FIELD_NUMBER: _ClassVar[int]
    heatmap_threshold: float
    local_max_distance: float
    offset_scale_coef: float
    voting_radius: int
    voting_allowance: int
    voting_threshold: float
    def __init__(self, heatmap_threshold: _Optional[float] = ..., local_max_distance: _Optional[float] = ..., offset_scale_coef: _Optional[float] = ..., voting_radius: _Optional[int] = ..., voting_allowance: _Optional[int] = ..., voting_threshold: _Optional[float] = ...) -> None: ...

class Lift2DFrameAnnotationTo3DCalculatorOptions(_message.Message):
    __slots__ = ("decoder_config", "normalized_focal_x", "normalized_focal_y", "normalized_principal_point_x", "normalized_principal_point_y")
    EXT_FIELD_NUMBER: _ClassVar[int]
    ext: _descriptor.FieldDescriptor
    DECODER_CONFIG_FIELD_NUMBER: _ClassVar[int]
    NORMALIZED_FOCAL_X_FIELD_NUMBER: _ClassVar[int]
    NORMALIZED_FOCAL_Y_FIELD_NUMBER: _ClassVar[int]
    NORMALIZED_PRINCIPAL_POINT_X_FIELD_NUMBER: _ClassVar[int]
    NORMALIZED_PRINCIPAL_POINT_Y_FIELD_NUMBER: _ClassVar[int]
    decoder_config: BeliefDecoderConfig
    normalized_focal_x: float
    normalized_focal_y: float
    normalized_principal_point_x: float
    normalized_principal_point_y: float
    def __init__(self, decoder_config: _Optional[_Union[BeliefDecoderConfig, _Mapping]] = ..., normalized_focal_x: _Optional[float] = ..., normalized_focal_y: _Optional[float] = ..., normalized_principal_point_x: _Optional[float] = ..., normalized_principal_point_y: _Optional[float] = ...) -> None: ...
