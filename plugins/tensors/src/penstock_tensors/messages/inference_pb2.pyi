from penstock.config import calculator_options_pb2 as _calculator_options_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class InferenceCalculatorOptions(_message.Message):
    __slots__ = ("model_path", "try_mmap_model", "use_gpu", "use_nnapi", "cpu_num_thread", "delegate", "input_output_config")
    class Delegate(_message.Message):
        __slots__ = ("tflite", "gpu", "nnapi", "xnnpack")
        class TfLite(_message.Message):
            __slots__ = ()
            def __init__(self) -> None: ...
        class Gpu(_message.Message):
            __slots__ = ("use_advanced_gpu_api", "api", "allow_precision_loss", "cached_kernel_path", "serialized_model_dir", "cache_writing_behavior", "model_token", "usage")
            class Api(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
                __slots__ = ()
                ANY: _ClassVar[InferenceCalculatorOptions.Delegate.Gpu.Api]
                OPENGL: _ClassVar[InferenceCalculatorOptions.Delegate.Gpu.Api]
                OPENCL: _ClassVar[InferenceCalculatorOptions.Delegate.Gpu.Api]
            ANY: InferenceCalculatorOptions.Delegate.Gpu.Api
            OPENGL: InferenceCalculatorOptions.Delegate.Gpu.Api
            OPENCL: InferenceCalculatorOptions.Delegate.Gpu.Api
            class CacheWritingBehavior(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
                __slots__ = ()
                NO_WRITE: _ClassVar[InferenceCalculatorOptions.Delegate.Gpu.CacheWritingBehavior]
                TRY_WRITE: _ClassVar[InferenceCalculatorOptions.Delegate.Gpu.CacheWritingBehavior]
                WRITE_OR_ERROR: _ClassVar[InferenceCalculatorOptions.Delegate.Gpu.CacheWritingBehavior]
            NO_WRITE: InferenceCalculatorOptions.Delegate.Gpu.CacheWritingBehavior
            TRY_WRITE: InferenceCalculatorOptions.Delegate.Gpu.CacheWritingBehavior
            WRITE_OR_ERROR: InferenceCalculatorOptions.Delegate.Gpu.CacheWritingBehavior
            class InferenceUsage(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
                __slots__ = ()
                UNSPECIFIED: _ClassVar[InferenceCalculatorOptions.Delegate.Gpu.InferenceUsage]
                FAST_SINGLE_ANSWER: _ClassVar[InferenceCalculatorOptions.Delegate.Gpu.InferenceUsage]
                SUSTAINED_SPEED: _ClassVar[InferenceCalculatorOptions.Delegate.Gpu.InferenceUsage]
            UNSPECIFIED: InferenceCalculatorOptions.Delegate.Gpu.InferenceUsage
            FAST_SINGLE_ANSWER: InferenceCalculatorOptions.Delegate.Gpu.InferenceUsage
            SUSTAINED_SPEED: InferenceCalculatorOptions.Delegate.Gpu.InferenceUsage
            USE_ADVANCED_GPU_API_FIELD_NUMBER: _ClassVar[int]
            API_FIELD_NUMBER: _ClassVar[int]
            ALLOW_PRECISION_LOSS_FIELD_NUMBER: _ClassVar[int]
            CACHED_KERNEL_PATH_FIELD_NUMBER: _ClassVar[int]
            SERIALIZED_MODEL_DIR_FIELD_NUMBER: _ClassVar[int]
            CACHE_WRITING_BEHAVIOR_FIELD_NUMBER: _ClassVar[int]
            MODEL_TOKEN_FIELD_NUMBER: _ClassVar[int]
            USAGE_FIELD_NUMBER: _ClassVar[int]
            use_advanced_gpu_api: bool
            api: InferenceCalculatorOptions.Delegate.Gpu.Api
            allow_precision_loss: bool
            cached_kernel_path: str
            serialized_model_dir: str
            cache_writing_behavior: InferenceCalculatorOptions.Delegate.Gpu.CacheWritingBehavior
            model_token: str
            usage: InferenceCalculatorOptions.Delegate.Gpu.InferenceUsage
            def __init__(self, use_advanced_gpu_api: bool = ..., api: _Optional[_Union[InferenceCalculatorOptions.Delegate.Gpu.Api, str]] = ..., allow_precision_loss: bool = ..., cached_kernel_path: _Optional[str] = ..., serialized_model_dir: _Optional[str] = ..., cache_writing_behavior: _Optional[_Union[InferenceCalculatorOptions.Delegate.Gpu.CacheWritingBehavior, str]] = ..., model_token: _Optional[str] = ..., usage: _Optional[_Union[InferenceCalculatorOptions.Delegate.Gpu.InferenceUsage, str]] = ...) -> None: ...
        class Nnapi(_message.Message):
            __slots__ = ("cache_dir", "model_token", "accelerator_name")
            CACHE_DIR_FIELD_NUMBER: _ClassVar[int]
            MODEL_TOKEN_FIELD_NUMBER: _ClassVar[int]
            ACCELERATOR_NAME_FIELD_NUMBER: _ClassVar[int]
            cache_dir: str
            model_token: str
            accelerator_name: str
            def __init__(self, cache_dir: _Optional[str] = ..., model_token: _Optional[str] = ..., accelerator_name: _Optional[str] = ...) -> None: ...
        class Xnnpack(_message.Message):
            __slots__ = ("num_threads", "enable_zero_copy_tensor_io")
            NUM_THREADS_FIELD_NUMBER: _ClassVar[int]
            ENABLE_ZERO_COPY_TENSOR_IO_FIELD_NUMBER: _ClassVar[int]
            num_threads: int
            enable_zero_copy_tensor_io: bool
            def __init__(self, num_threads: _Optional[int] = ..., enable_zero_copy_tensor_io: bool = ...) -> None: ...
        TFLITE_FIELD_NUMBER: _ClassVar[int]
        GPU_FIELD_NUMBER: _ClassVar[int]
        NNAPI_FIELD_NUMBER: _ClassVar[int]
        XNNPACK_FIELD_NUMBER: _ClassVar[int]
        tflite: InferenceCalculatorOptions.Delegate.TfLite
        gpu: InferenceCalculatorOptions.Delegate.Gpu
        nnapi: InferenceCalculatorOptions.Delegate.Nnapi
        xnnpack: InferenceCalculatorOptions.Delegate.Xnnpack
        def __init__(self, tflite: _Optional[_Union[InferenceCalculatorOptions.Delegate.TfLite, _Mapping]] = ..., gpu: _Optional[_Union[InferenceCalculatorOptions.Delegate.Gpu, _Mapping]] = ..., nnapi: _Optional[_Union[InferenceCalculatorOptions.Delegate.Nnapi, _Mapping]] = ..., xnnpack: _Optional[_Union[InferenceCalculatorOptions.Delegate.Xnnpack, _Mapping]] = ...) -> None: ...
    class InputOutputConfig(_message.Message):
        __slots__ = ("input_tensor_indices_map", "input_tensor_names_map", "output_tensor_indices_map", "output_tensor_names_map", "feedback_tensor_links")
        class TensorIndicesMap(_message.Message):
            __slots__ = ("model_tensor_indices",)
            MODEL_TENSOR_INDICES_FIELD_NUMBER: _ClassVar[int]
            model_tensor_indices: _containers.RepeatedScalarFieldContainer[int]
            def __init__(self, model_tensor_indices: _Optional[_Iterable[int]] = ...) -> None: ...
        class TensorNamesMap(_message.Message):
            __slots__ = ("tensor_names",)
            TENSOR_NAMES_FIELD_NUMBER: _ClassVar[int]
            tensor_names: _containers.RepeatedScalarFieldContainer[str]
            def __init__(self, tensor_names: _Optional[_Iterable[str]] = ...) -> None: ...
        class FeedbackTensorLink(_message.Message):
            __slots__ = ("from_output_tensor_name", "to_input_tensor_name")
            FROM_OUTPUT_TENSOR_NAME_FIELD_NUMBER: _ClassVar[int]
            TO_INPUT_TENSOR_NAME_FIELD_NUMBER: _ClassVar[int]
            from_output_tensor_name: str
            to_input_tensor_name: str
            def __init__(self, from_output_tensor_name: _Optional[str] = ..., to_input_tensor_name: _Optional[str] = ...) -> None: ...
        INPUT_TENSOR_INDICES_MAP_FIELD_NUMBER: _ClassVar[int]
        INPUT_TENSOR_NAMES_MAP_FIELD_NUMBER: _ClassVar[int]
        OUTPUT_TENSOR_INDICES_MAP_FIELD_NUMBER: _ClassVar[int]
        OUTPUT_TENSOR_NAMES_MAP_FIELD_NUMBER: _ClassVar[int]
        FEEDBACK_TENSOR_LINKS_FIELD_NUMBER: _ClassVar[int]
        input_tensor_indices_map: InferenceCalculatorOptions.InputOutputConfig.TensorIndicesMap
        input_tensor_names_map: InferenceCalculatorOptions.InputOutputConfig.TensorNamesMap
        output_tensor_indices_map: InferenceCalculatorOptions.InputOutputConfig.TensorIndicesMap
        output_tensor_names_map: InferenceCalculatorOptions.InputOutputConfig.TensorNamesMap
        feedback_tensor_links: _containers.RepeatedCompositeFieldContainer[InferenceCalculatorOptions.InputOutputConfig.FeedbackTensorLink]
        def __init__(self, input_tensor_indices_map: _Optional[_Union[InferenceCalculatorOptions.InputOutputConfig.TensorIndicesMap, _Mapping]] = ..., input_tensor_names_map: _Optional[_Union[InferenceCalculatorOptions.InputOutputConfig.TensorNamesMap, _Mapping]] = ..., output_tensor_indices_map: _Optional[_Union[InferenceCalculatorOptions.InputOutputConfig.TensorIndicesMap, _Mapping]] = ..., output_tensor_names_map: _Optional[_Union[InferenceCalculatorOptions.InputOutputConfig.TensorNamesMap, _Mapping]] = ..., feedback_tensor_links: _Optional[_Iterable[_Union[InferenceCalculatorOptions.InputOutputConfig.FeedbackTensorLink, _Mapping]]] = ...) -> None: ...
    EXT_FIELD_NUMBER: _ClassVar[int]
    ext: _descriptor.FieldDescriptor
    MODEL_PATH_FIELD_NUMBER: _ClassVar[int]
    TRY_MMAP_MODEL_FIELD_NUMBER: _ClassVar[int]
    USE_GPU_FIELD_NUMBER: _ClassVar[int]
    USE_NNAPI_FIELD_NUMBER: _ClassVar[int]
    CPU_NUM_THREAD_FIELD_NUMBER: _ClassVar[int]
    DELEGATE_FIELD_NUMBER: _ClassVar[int]
    INPUT_OUTPUT_CONFIG_FIELD_NUMBER: _ClassVar[int]
    model_path: str
    try_mmap_model: bool
    use_gpu: bool
    use_nnapi: bool
    cpu_num_thread: int
    delegate: InferenceCalculatorOptions.Delegate
    input_output_config: InferenceCalculatorOptions.InputOutputConfig
    def __init__(self, model_path: _Optional[str] = ..., try_mmap_model: bool = ..., use_gpu: bool = ..., use_nnapi: bool = ..., cpu_num_thread: _Optional[int] = ..., delegate: _Optional[_Union[InferenceCalculatorOptions.Delegate, _Mapping]] = ..., input_output_config: _Optional[_Union[InferenceCalculatorOptions.InputOutputConfig, _Mapping]] = ...) -> None: ...
