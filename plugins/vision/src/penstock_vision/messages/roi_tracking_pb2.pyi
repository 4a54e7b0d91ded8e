from penstock.config import calculator_options_pb2 as _calculator_options_pb2
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class RoiTrackingCalculatorOptions(_message.Message):
    __slots__ = ("iou_requirements", "rect_requirements", "landmarks_requirements")
    class IouRequirements(_message.Message):
        __slots__ = ("min_iou",)
        MIN_IOU_FIELD_NUMBER: _ClassVar[int]
        min_iou: float
        def __init__(self, min_iou: _Optional[float] = ...) -> None: ...
    class RectRequirements(_message.Message):
        __slots__ = ("rotation_degrees", "translation", "scale")
        ROTATION_DEGREES_FIELD_NUMBER: _ClassVar[int]
        TRANSLATION_FIELD_NUMBER: _ClassVar[int]
        SCALE_FIELD_NUMBER: _ClassVar[int]
        rotation_degrees: float
        translation: float
        scale: float
        def __init__(self, rotation_degrees: _Optional[float] = ..., translation: _Optional[float] = ..., scale: _Optional[float] = ...) -> None: ...
    class LandmarksRequirements(_message.Message):
        __slots__ = ("recrop_rect_margin",)
        RECROP_RECT_MARGIN_FIELD_NUMBER: _ClassVar[int]
        recrop_rect_margin: float
        def __init__(self, recrop_rect_margin: _Optional[float] = ...) -> None: ...
    EXT_FIELD_NUMBER: _ClassVar[int]
    ext: _descriptor.FieldDescriptor
    IOU_REQUIREMENTS_FIELD_NUMBER: _ClassVar[int]
    RECT_REQUIREMENTS_FIELD_NUMBER: _ClassVar[int]
    LANDMARKS_REQUIREMENTS_FIELD_NUMBER: _ClassVar[int]
    iou_requirements: RoiTrackingCalculatorOptions.IouRequirements
    rect_requirements: RoiTrackingCalculatorOptions.RectRequirements
    landmarks_requirements: RoiTrackingCalculatorOptions.LandmarksRequirements
    def __init__(self, iou_requirements: _Optional[_Union[RoiTrackingCalculatorOptions.IouRequirements, _Mapping]] = ..., rect_requirements: _Optional[_Union[RoiTrackingCalculatorOptions.RectRequirements, _Mapping]] = ..., landmarks_requirements: _Optional[_Union[RoiTrackingCalculatorOptions.LandmarksRequirements, _Mapping]] = ...) -> None: ...
