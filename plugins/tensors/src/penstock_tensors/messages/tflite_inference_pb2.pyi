from penstock.config import calculator_options_pb2 as _calculator_options_pb2
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class TfLiteInferenceCalculatorOptions(_message.Message):
    __slots__ = ("model_path", "try_mmap_model", "use_gpu", "use_nnapi", "cpu_num_thread", "delegate")
    class Delegate(_message.Message):
        __slots__ = ("tflite", "gpu", "nnapi", "xnnpack")
        class TfLite(_message.Message):
            __slots__ = ()
            def __init__(self) -> None: ...
        class Gpu(_message.Message):
            __slots__ = ("use_advanced_gpu_api", "api", "allow_precision_loss", "cached_kernel_path", "usage")
            class Api(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
                __slots__ = ()
                ANY: _ClassVar[TfLiteInferenceCalculatorOptions.Delegate.Gpu.Api]
                OPENGL: _ClassVar[TfLiteInferenceCalculatorOptions.Delegate.Gpu.Api]
                OPENCL: _ClassVar[TfLiteInferenceCalculatorOptions.Delegate.Gpu.Api]
            ANY: TfLiteInferenceCalculatorOptions.Delegate.Gpu.Api
            OPENGL: TfLiteInferenceCalculatorOptions.Delegate.Gpu.Api
            OPENCL: TfLiteInferenceCalculatorOptions.Delegate.Gpu.Api
            class InferenceUsage(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
                __slots__ = ()
                UNSPECIFIED: _ClassVar[TfLiteInferenceCalculatorOptions.Delegate.Gpu.InferenceUsage]
                FAST_SINGLE_ANSWER: _ClassVar[TfLiteInferenceCalculatorOptions.Delegate.Gpu.InferenceUsage]
                SUSTAINED_SPEED: _ClassVar[TfLiteInferenceCalculatorOptions.Delegate.Gpu.InferenceUsage]
            UNSPECIFIED: TfLiteInferenceCalculatorOptions.Delegate.Gpu.InferenceUsage
            FAST_SINGLE_ANSWER: TfLiteInferenceCalculatorOptions.Delegate.Gpu.InferenceUsage
            SUSTAINED_SPEED: TfLiteInferenceCalculatorOptions.Delegate.Gpu.InferenceUsage
            USE_ADVANCED_GPU_API_FIELD_NUMBER: _ClassVar[int]
            API_FIELD_NUMBER: _ClassVar[int]
            ALLOW_PRECISION_LOSS_FIELD_NUMBER: _ClassVar[int]
            CACHED_KERNEL_PATH_FIELD_NUMBER: _ClassVar[int]
            USAGE_FIELD_NUMBER: _ClassVar[int]
            use_advanced_gpu_api: bool
            api: TfLiteInferenceCalculatorOptions.Delegate.Gpu.Api
            allow_precision_loss: bool
            cached_kernel_path: str
            usage: TfLiteInferenceCalculatorOptions.Delegate.Gpu.InferenceUsage
            def __init__(self, use_advanced_gpu_api: bool = ..., api: _Optional[_Union[TfLiteInferenceCalculatorOptions.Delegate.Gpu.Api, str]] = ..., allow_precision_loss: bool = ..., cached_kernel_path: _Optional[str] = ..., usage: _Optional[_Union[TfLiteInferenceCalculatorOptions.Delegate.Gpu.InferenceUsage, str]] = ...) -> None: ...
        class Nnapi(_message.Message):
            __slots__ = ("cache_dir", "model_token")
            CACHE_DIR_FIELD_NUMBER: _ClassVar[int]
            MODEL_TOKEN_FIELD_NUMBER: _ClassVar[int]
            cache_dir: str
            model_token: str
            def __init__(self, cache_dir: _Optional[str] = ..., model_token: _Optional[str] = ...) -> None: ...
        class Xnnpack(_message.Message):
            __slots__ = ("num_threads",)
            NUM_THREADS_FIELD_NUMBER: _ClassVar[int]
            num_threads: int
            def __init__(self, num_threads: _Optional[int] = ...) -> None: ...
        TFLITE_FIELD_NUMBER: _ClassVar[int]
        GPU_FIELD_NUMBER: _ClassVar[int]
        NNAPI_FIELD_NUMBER: _ClassVar[int]
        XNNPACK_FIELD_NUMBER: _ClassVar[int]
        tflite: TfLiteInferenceCalculatorOptions.Delegate.TfLite
        gpu: TfLiteInferenceCalculatorOptions.Delegate.Gpu
        nnapi: TfLiteInferenceCalculatorOptions.Delegate.Nnapi
        xnnpack: TfLiteInferenceCalculatorOptions.Delegate.Xnnpack
        def __init__(self, tflite: _Optional[_Union[TfLiteInferenceCalculatorOptions.Delegate.TfLite, _Mapping]] = ..., gpu: _Optional[_Union[TfLiteInferenceCalculatorOptions.Delegate.Gpu, _Mapping]] = ..., nnapi: _Optional[_Union[TfLiteInferenceCalculatorOptions.Delegate.Nnapi, _Mapping]] = ..., xnnpack: _Optional[_Union[TfLiteInferenceCalculatorOptions.Delegate.Xnnpack, _Mapping]] = ...) -> None: ...
    EXT_FIELD_NUMBER: _ClassVar[int]
    ext: _descriptor.FieldDescriptor
    MODEL_PATH_FIELD_NUMBER: _ClassVar[int]
    TRY_MMAP_MODEL_FIELD_NUMBER: _ClassVar[int]
    USE_GPU_FIELD_NUMBER: _ClassVar[int]
    USE_NNAPI_FIELD_NUMBER: _ClassVar[int]
    CPU_NUM_THREAD_FIELD_NUMBER: _ClassVar[int]
    DELEGATE_FIELD_NUMBER: _ClassVar[int]
    model_path: str
    try_mmap_model: bool
    use_gpu: bool
    use_nnapi: bool
    cpu_num_thread: int
    delegate: TfLiteInferenceCalculatorOptions.Delegate
    def __init__(self, model_path: _Optional[str] = ..., try_mmap_model: bool = ..., use_gpu: bool = ..., use_nnapi: bool = ..., cpu_num_thread: _Optional[int] = ..., delegate: _Optional[_Union[TfLiteInferenceCalculatorOptions.Delegate, _Mapping]] = ...) -> None: ...
