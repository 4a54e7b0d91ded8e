from penstock.config import calculator_options_pb2 as _calculator_options_pb2
from penstock_formats.messages import gpu_origin_pb2 as _gpu_origin_pb2
from penstock_tensors.messages import inference_pb2 as _inference_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class FaceDetectionOptions(_message.Message):
    __slots__ = ("model_path", "delegate", "gpu_origin", "tensor_width", "tensor_height", "num_layers", "strides", "interpolated_scale_aspect_ratio", "num_boxes", "x_scale", "y_scale", "w_scale", "h_scale", "min_score_thresh")
    EXT_FIELD_NUMBER: _ClassVar[int]
    ext: _descriptor.FieldDescriptor
    MODEL_PATH_FIELD_NUMBER: _ClassVar[int]
    DELEGATE_FIELD_NUMBER: _ClassVar[int]
    GPU_ORIGIN_FIELD_NUMBER: _ClassVar[int]
    TENSOR_WIDTH_FIELD_NUMBER: _ClassVar[int]
    TENSOR_HEIGHT_FIELD_NUMBER: _ClassVar[int]
    NUM_LAYERS_FIELD_NUMBER: _ClassVar[int]
    STRIDES_FIELD_NUMBER: _ClassVar[int]
    INTERPOLATED_SCALE_ASPECT_RATIO_FIELD_NUMBER: _ClassVar[int]
    NUM_BOXES_FIELD_NUMBER: _ClassVar[int]
    X_SCALE_FIELD_NUMBER: _ClassVar[int]
    Y_SCALE_FIELD_NUMBER: _ClassVar[int]
    W_SCALE_FIELD_NUMBER: _ClassVar[int]
    H_SCALE_FIELD_NUMBER: _ClassVar[int]
    MIN_SCORE_THRESH_FIELD_NUMBER: _ClassVar[int]
    model_path: str
    delegate: _inference_pb2.InferenceCalculatorOptions.Delegate
    gpu_origin: _gpu_origin_pb2.GpuOrigin.Mode
    tensor_width: int
    tensor_height: int
    num_layers: int
    strides: _containers.RepeatedScalarFieldContainer[int]
    interpolated_scale_aspect_ratio: float
    num_boxes: int
    x_scale: float
    y_scale: float
    w_scale: float
    h_scale: float
    min_score_thresh: float
    def __init__(self, model_path: _Optional[str] = ..., delegate: _Optional[_Union[_inference_pb2.InferenceCalculatorOptions.Delegate, _Mapping]] = ..., gpu_origin: _Optional[_Union[_gpu_origin_pb2.GpuOrigin.Mode, str]] = ..., tensor_width: _Optional[int] = ..., tensor_height: _Optional[int] = ..., num_layers: _Optional[int] = ..., strides: _Optional[_Iterable[int]] = ..., interpolated_scale_aspect_ratio: _Optional[float] = ..., num_boxes: _Optional[int] = ..., x_scale: _Optional[float] = ..., y_scale: _Optional[float] = ..., w_scale: _Optional[float] = ..., h_scale: _Optional[float] = ..., min_score_thresh: _Optional[float] = ...) -> None: ...
