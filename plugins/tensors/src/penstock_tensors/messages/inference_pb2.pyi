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
        __slots__ = ("tflite", "gpu", "nnapi", "xnnpack", "litert")
        class TfLite(_message.Message):
            __slots__ = ()
            def __init__(self) -> None: ...
        class Gpu(_message.Message):
            __slots__ = ("use_advanced_gpu_api", "api", "allow_precision_loss", "cached_kernel_path", "serialized_model_dir", "cache_writing_behavior", "model_token", "usage", "webnn")
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
            class WebNn(_message.Message):
                __slots__ = ("device_type", "power_preference", "allow_precision_loss")
                class DeviceType(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
                    __slots__ = ()
                    DEFAULT_CPU: _ClassVar[InferenceCalculatorOptions.Delegate.Gpu.WebNn.DeviceType]
                    GPU: _ClassVar[InferenceCalculatorOptions.Delegate.Gpu.WebNn.DeviceType]
                    NPU: _ClassVar[InferenceCalculatorOptions.Delegate.Gpu.WebNn.DeviceType]
                DEFAULT_CPU: InferenceCalculatorOptions.Delegate.Gpu.WebNn.DeviceType
                GPU: InferenceCalculatorOptions.Delegate.Gpu.WebNn.DeviceType
                NPU: InferenceCalculatorOptions.Delegate.Gpu.WebNn.DeviceType
                class PowerPreference(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
                    __slots__ = ()
                    DEFAULT: _ClassVar[InferenceCalculatorOptions.Delegate.Gpu.WebNn.PowerPreference]
                    HIGH_PERFORMANCE: _ClassVar[InferenceCalculatorOptions.Delegate.Gpu.WebNn.PowerPreference]
                    LOW_POWER: _ClassVar[InferenceCalculatorOptions.Delegate.Gpu.WebNn.PowerPreference]
                DEFAULT: InferenceCalculatorOptions.Delegate.Gpu.WebNn.PowerPreference
                HIGH_PERFORMANCE: InferenceCalculatorOptions.Delegate.Gpu.WebNn.PowerPreference
                LOW_POWER: InferenceCalculatorOptions.Delegate.Gpu.WebNn.PowerPreference
                DEVICE_TYPE_FIELD_NUMBER: _ClassVar[int]
                POWER_PREFERENCE_FIELD_NUMBER: _ClassVar[int]
                ALLOW_PRECISION_LOSS_FIELD_NUMBER: _ClassVar[int]
                device_type: InferenceCalculatorOptions.Delegate.Gpu.WebNn.DeviceType
                power_preference: InferenceCalculatorOptions.Delegate.Gpu.WebNn.PowerPreference
                allow_precision_loss: bool
                def __init__(self, device_type: _Optional[_Union[InferenceCalculatorOptions.Delegate.Gpu.WebNn.DeviceType, str]] = ..., power_preference: _Optional[_Union[InferenceCalculatorOptions.Delegate.Gpu.WebNn.PowerPreference, str]] = ..., allow_precision_loss: bool = ...) -> None: ...
            USE_ADVANCED_GPU_API_FIELD_NUMBER: _ClassVar[int]
            API_FIELD_NUMBER: _ClassVar[int]
            ALLOW_PRECISION_LOSS_FIELD_NUMBER: _ClassVar[int]
            CACHED_KERNEL_PATH_FIELD_NUMBER: _ClassVar[int]
            SERIALIZED_MODEL_DIR_FIELD_NUMBER: _ClassVar[int]
            CACHE_WRITING_BEHAVIOR_FIELD_NUMBER: _ClassVar[int]
            MODEL_TOKEN_FIELD_NUMBER: _ClassVar[int]
            USAGE_FIELD_NUMBER: _ClassVar[int]
            WEBNN_FIELD_NUMBER: _ClassVar[int]
            use_advanced_gpu_api: bool
            api: InferenceCalculatorOptions.Delegate.Gpu.Api
            allow_precision_loss: bool
            cached_kernel_path: str
            serialized_model_dir: str
            cache_writing_behavior: InferenceCalculatorOptions.Delegate.Gpu.CacheWritingBehavior
            model_token: str
            usage: InferenceCalculatorOptions.Delegate.Gpu.InferenceUsage
            webnn: InferenceCalculatorOptions.Delegate.Gpu.WebNn
            def __init__(self, use_advanced_gpu_api: bool = ..., api: _Optional[_Union[InferenceCalculatorOptions.Delegate.Gpu.Api, str]] = ..., allow_precision_loss: bool = ..., cached_kernel_path: _Optional[str] = ..., serialized_model_dir: _Optional[str] = ..., cache_writing_behavior: _Optional[_Union[InferenceCalculatorOptions.Delegate.Gpu.CacheWritingBehavior, str]] = ..., model_token: _Optional[str] = ..., usage: _Optional[_Union[InferenceCalculatorOptions.Delegate.Gpu.InferenceUsage, str]] = ..., webnn: _Optional[_Union[InferenceCalculatorOptions.Delegate.Gpu.WebNn, _Mapping]] = ...) -> None: ...
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
            __slots__ = ("num_threads", "enable_zero_copy_tensor_io", "slow_consistent_arithmetic")
            NUM_THREADS_FIELD_NUMBER: _ClassVar[int]
            ENABLE_ZERO_COPY_TENSOR_IO_FIELD_NUMBER: _ClassVar[int]
            SLOW_CONSISTENT_ARITHMETIC_FIELD_NUMBER: _ClassVar[int]
            num_threads: int
            enable_zero_copy_tensor_io: bool
            slow_consistent_arithmetic: bool
            def __init__(self, num_threads: _Optional[int] = ..., enable_zero_copy_tensor_io: bool = ..., slow_consistent_arithmetic: bool = ...) -> None: ...
        class LiteRt(_message.Message):
            __slots__ = ("run_async", "enable_dynamic_resize", "cpu", "gpu", "npu", "webnn")
            class Cpu(_message.Message):
                __slots__ = ("num_threads", "xnnpack")
                class Xnnpack(_message.Message):
                    __slots__ = ("flags",)
                    FLAGS_FIELD_NUMBER: _ClassVar[int]
                    flags: int
                    def __init__(self, flags: _Optional[int] = ...) -> None: ...
                NUM_THREADS_FIELD_NUMBER: _ClassVar[int]
                XNNPACK_FIELD_NUMBER: _ClassVar[int]
                num_threads: int
                xnnpack: InferenceCalculatorOptions.Delegate.LiteRt.Cpu.Xnnpack
                def __init__(self, num_threads: _Optional[int] = ..., xnnpack: _Optional[_Union[InferenceCalculatorOptions.Delegate.LiteRt.Cpu.Xnnpack, _Mapping]] = ...) -> None: ...
            class Gpu(_message.Message):
                __slots__ = ("precision", "enable_constant_tensors_sharing", "backend", "hint_fully_delegated_to_single_delegate", "wait_type", "cache_options")
                class Precision(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
                    __slots__ = ()
                    DEFAULT: _ClassVar[InferenceCalculatorOptions.Delegate.LiteRt.Gpu.Precision]
                    FP16: _ClassVar[InferenceCalculatorOptions.Delegate.LiteRt.Gpu.Precision]
                    FP32: _ClassVar[InferenceCalculatorOptions.Delegate.LiteRt.Gpu.Precision]
                DEFAULT: InferenceCalculatorOptions.Delegate.LiteRt.Gpu.Precision
                FP16: InferenceCalculatorOptions.Delegate.LiteRt.Gpu.Precision
                FP32: InferenceCalculatorOptions.Delegate.LiteRt.Gpu.Precision
                class Backend(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
                    __slots__ = ()
                    AUTOMATIC: _ClassVar[InferenceCalculatorOptions.Delegate.LiteRt.Gpu.Backend]
                    OPENGL: _ClassVar[InferenceCalculatorOptions.Delegate.LiteRt.Gpu.Backend]
                    OPENCL: _ClassVar[InferenceCalculatorOptions.Delegate.LiteRt.Gpu.Backend]
                    WEBGPU: _ClassVar[InferenceCalculatorOptions.Delegate.LiteRt.Gpu.Backend]
                AUTOMATIC: InferenceCalculatorOptions.Delegate.LiteRt.Gpu.Backend
                OPENGL: InferenceCalculatorOptions.Delegate.LiteRt.Gpu.Backend
                OPENCL: InferenceCalculatorOptions.Delegate.LiteRt.Gpu.Backend
                WEBGPU: InferenceCalculatorOptions.Delegate.LiteRt.Gpu.Backend
                class WaitType(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
                    __slots__ = ()
                    WAIT_TYPE_UNSPECIFIED: _ClassVar[InferenceCalculatorOptions.Delegate.LiteRt.Gpu.WaitType]
                    WAIT_TYPE_PASSIVE: _ClassVar[InferenceCalculatorOptions.Delegate.LiteRt.Gpu.WaitType]
                    WAIT_TYPE_ACTIVE: _ClassVar[InferenceCalculatorOptions.Delegate.LiteRt.Gpu.WaitType]
                    WAIT_TYPE_DO_NOT_WAIT: _ClassVar[InferenceCalculatorOptions.Delegate.LiteRt.Gpu.WaitType]
                WAIT_TYPE_UNSPECIFIED: InferenceCalculatorOptions.Delegate.LiteRt.Gpu.WaitType
                WAIT_TYPE_PASSIVE: InferenceCalculatorOptions.Delegate.LiteRt.Gpu.WaitType
                WAIT_TYPE_ACTIVE: InferenceCalculatorOptions.Delegate.LiteRt.Gpu.WaitType
                WAIT_TYPE_DO_NOT_WAIT: InferenceCalculatorOptions.Delegate.LiteRt.Gpu.WaitType
                class CacheOptions(_message.Message):
                    __slots__ = ("serialize_program_cache", "serialization_dir", "model_cache_key", "cache_only_compiled_programs")
                    SERIALIZE_PROGRAM_CACHE_FIELD_NUMBER: _ClassVar[int]
                    SERIALIZATION_DIR_FIELD_NUMBER: _ClassVar[int]
                    MODEL_CACHE_KEY_FIELD_NUMBER: _ClassVar[int]
                    CACHE_ONLY_COMPILED_PROGRAMS_FIELD_NUMBER: _ClassVar[int]
                    serialize_program_cache: bool
                    serialization_dir: str
                    model_cache_key: str
                    cache_only_compiled_programs: bool
                    def __init__(self, serialize_program_cache: bool = ..., serialization_dir: _Optional[str] = ..., model_cache_key: _Optional[str] = ..., cache_only_compiled_programs: bool = ...) -> None: ...
                PRECISION_FIELD_NUMBER: _ClassVar[int]
                ENABLE_CONSTANT_TENSORS_SHARING_FIELD_NUMBER: _ClassVar[int]
                BACKEND_FIELD_NUMBER: _ClassVar[int]
                HINT_FULLY_DELEGATED_TO_SINGLE_DELEGATE_FIELD_NUMBER: _ClassVar[int]
                WAIT_TYPE_FIELD_NUMBER: _ClassVar[int]
                CACHE_OPTIONS_FIELD_NUMBER: _ClassVar[int]
                precision: InferenceCalculatorOptions.Delegate.LiteRt.Gpu.Precision
                enable_constant_tensors_sharing: bool
                backend: InferenceCalculatorOptions.Delegate.LiteRt.Gpu.Backend
                hint_fully_delegated_to_single_delegate: bool
                wait_type: InferenceCalculatorOptions.Delegate.LiteRt.Gpu.WaitType
                cache_options: InferenceCalculatorOptions.Delegate.LiteRt.Gpu.CacheOptions
                def __init__(self, precision: _Optional[_Union[InferenceCalculatorOptions.Delegate.LiteRt.Gpu.Precision, str]] = ..., enable_constant_tensors_sharing: bool = ..., backend: _Optional[_Union[InferenceCalculatorOptions.Delegate.LiteRt.Gpu.Backend, str]] = ..., hint_fully_delegated_to_single_delegate: bool = ..., wait_type: _Optional[_Union[InferenceCalculatorOptions.Delegate.LiteRt.Gpu.WaitType, str]] = ..., cache_options: _Optional[_Union[InferenceCalculatorOptions.Delegate.LiteRt.Gpu.CacheOptions, _Mapping]] = ...) -> None: ...
            class Npu(_message.Message):
                __slots__ = ("compiler_plugin_library_path", "dispatch_library_path", "darwinn", "qualcomm")
                class Darwinn(_message.Message):
                    __slots__ = ("inference_priority",)
                    INFERENCE_PRIORITY_FIELD_NUMBER: _ClassVar[int]
                    inference_priority: int
                    def __init__(self, inference_priority: _Optional[int] = ...) -> None: ...
                class Qualcomm(_message.Message):
                    __slots__ = ("htp_performance_mode", "log_level")
                    class HtpPerformanceMode(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
                        __slots__ = ()
                        DEFAULT: _ClassVar[InferenceCalculatorOptions.Delegate.LiteRt.Npu.Qualcomm.HtpPerformanceMode]
                        SUSTAINED_HIGH_PERFORMANCE: _ClassVar[InferenceCalculatorOptions.Delegate.LiteRt.Npu.Qualcomm.HtpPerformanceMode]
                        BURST: _ClassVar[InferenceCalculatorOptions.Delegate.LiteRt.Npu.Qualcomm.HtpPerformanceMode]
                        HIGH_PERFORMANCE: _ClassVar[InferenceCalculatorOptions.Delegate.LiteRt.Npu.Qualcomm.HtpPerformanceMode]
                        POWER_SAVER: _ClassVar[InferenceCalculatorOptions.Delegate.LiteRt.Npu.Qualcomm.HtpPerformanceMode]
                        LOW_POWER_SAVER: _ClassVar[InferenceCalculatorOptions.Delegate.LiteRt.Npu.Qualcomm.HtpPerformanceMode]
                        HIGH_POWER_SAVER: _ClassVar[InferenceCalculatorOptions.Delegate.LiteRt.Npu.Qualcomm.HtpPerformanceMode]
                        LOW_BALANCED: _ClassVar[InferenceCalculatorOptions.Delegate.LiteRt.Npu.Qualcomm.HtpPerformanceMode]
                        BALANCED: _ClassVar[InferenceCalculatorOptions.Delegate.LiteRt.Npu.Qualcomm.HtpPerformanceMode]
                        EXTREME_POWER_SAVER: _ClassVar[InferenceCalculatorOptions.Delegate.LiteRt.Npu.Qualcomm.HtpPerformanceMode]
                    DEFAULT: InferenceCalculatorOptions.Delegate.LiteRt.Npu.Qualcomm.HtpPerformanceMode
                    SUSTAINED_HIGH_PERFORMANCE: InferenceCalculatorOptions.Delegate.LiteRt.Npu.Qualcomm.HtpPerformanceMode
                    BURST: InferenceCalculatorOptions.Delegate.LiteRt.Npu.Qualcomm.HtpPerformanceMode
                    HIGH_PERFORMANCE: InferenceCalculatorOptions.Delegate.LiteRt.Npu.Qualcomm.HtpPerformanceMode
                    POWER_SAVER: InferenceCalculatorOptions.Delegate.LiteRt.Npu.Qualcomm.HtpPerformanceMode
                    LOW_POWER_SAVER: InferenceCalculatorOptions.Delegate.LiteRt.Npu.Qualcomm.HtpPerformanceMode
                    HIGH_POWER_SAVER: InferenceCalculatorOptions.Delegate.LiteRt.Npu.Qualcomm.HtpPerformanceMode
                    LOW_BALANCED: InferenceCalculatorOptions.Delegate.LiteRt.Npu.Qualcomm.HtpPerformanceMode
                    BALANCED: InferenceCalculatorOptions.Delegate.LiteRt.Npu.Qualcomm.HtpPerformanceMode
                    EXTREME_POWER_SAVER: InferenceCalculatorOptions.Delegate.LiteRt.Npu.Qualcomm.HtpPerformanceMode
                    class LogLevel(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
                        __slots__ = ()
                        LOG_LEVEL_OFF: _ClassVar[InferenceCalculatorOptions.Delegate.LiteRt.Npu.Qualcomm.LogLevel]
                        LOG_LEVEL_ERROR: _ClassVar[InferenceCalculatorOptions.Delegate.LiteRt.Npu.Qualcomm.LogLevel]
                        LOG_LEVEL_WARN: _ClassVar[InferenceCalculatorOptions.Delegate.LiteRt.Npu.Qualcomm.LogLevel]
                        LOG_LEVEL_INFO: _ClassVar[InferenceCalculatorOptions.Delegate.LiteRt.Npu.Qualcomm.LogLevel]
                        LOG_LEVEL_VERBOSE: _ClassVar[InferenceCalculatorOptions.Delegate.LiteRt.Npu.Qualcomm.LogLevel]
                        LOG_LEVEL_DEBUG: _ClassVar[InferenceCalculatorOptions.Delegate.LiteRt.Npu.Qualcomm.LogLevel]
                    LOG_LEVEL_OFF: InferenceCalculatorOptions.Delegate.LiteRt.Npu.Qualcomm.LogLevel
                    LOG_LEVEL_ERROR: InferenceCalculatorOptions.Delegate.LiteRt.Npu.Qualcomm.LogLevel
                    LOG_LEVEL_WARN: InferenceCalculatorOptions.Delegate.LiteRt.Npu.Qualcomm.LogLevel
                    LOG_LEVEL_INFO: InferenceCalculatorOptions.Delegate.LiteRt.Npu.Qualcomm.LogLevel
                    LOG_LEVEL_VERBOSE: InferenceCalculatorOptions.Delegate.LiteRt.Npu.Qualcomm.LogLevel
                    LOG_LEVEL_DEBUG: InferenceCalculatorOptions.Delegate.LiteRt.Npu.Qualcomm.LogLevel
                    HTP_PERFORMANCE_MODE_FIELD_NUMBER: _ClassVar[int]
                    LOG_LEVEL_FIELD_NUMBER: _ClassVar[int]
                    htp_performance_mode: InferenceCalculatorOptions.Delegate.LiteRt.Npu.Qualcomm.HtpPerformanceMode
                    log_level: InferenceCalculatorOptions.Delegate.LiteRt.Npu.Qualcomm.LogLevel
                    def __init__(self, htp_performance_mode: _Optional[_Union[InferenceCalculatorOptions.Delegate.LiteRt.Npu.Qualcomm.HtpPerformanceMode, str]] = ..., log_level: _Optional[_Union[InferenceCalculatorOptions.Delegate.LiteRt.Npu.Qualcomm.LogLevel, str]] = ...) -> None: ...
                COMPILER_PLUGIN_LIBRARY_PATH_FIELD_NUMBER: _ClassVar[int]
                DISPATCH_LIBRARY_PATH_FIELD_NUMBER: _ClassVar[int]
                DARWINN_FIELD_NUMBER: _ClassVar[int]
                QUALCOMM_FIELD_NUMBER: _ClassVar[int]
                compiler_plugin_library_path: str
                dispatch_library_path: str
                darwinn: InferenceCalculatorOptions.Delegate.LiteRt.Npu.Darwinn
                qualcomm: InferenceCalculatorOptions.Delegate.LiteRt.Npu.Qualcomm
                def __init__(self, compiler_plugin_library_path: _Optional[str] = ..., dispatch_library_path: _Optional[str] = ..., darwinn: _Optional[_Union[InferenceCalculatorOptions.Delegate.LiteRt.Npu.Darwinn, _Mapping]] = ..., qualcomm: _Optional[_Union[InferenceCalculatorOptions.Delegate.LiteRt.Npu.Qualcomm, _Mapping]] = ...) -> None: ...
            class Webnn(_message.Message):
                __slots__ = ()
                def __init__(self) -> None: ...
            RUN_ASYNC_FIELD_NUMBER: _ClassVar[int]
            ENABLE_DYNAMIC_RESIZE_FIELD_NUMBER: _ClassVar[int]
            CPU_FIELD_NUMBER: _ClassVar[int]
            GPU_FIELD_NUMBER: _ClassVar[int]
            NPU_FIELD_NUMBER: _ClassVar[int]
            WEBNN_FIELD_NUMBER: _ClassVar[int]
            run_async: bool
            enable_dynamic_resize: bool
            cpu: InferenceCalculatorOptions.Delegate.LiteRt.Cpu
            gpu: InferenceCalculatorOptions.Delegate.LiteRt.Gpu
            npu: InferenceCalculatorOptions.Delegate.LiteRt.Npu
            webnn: InferenceCalculatorOptions.Delegate.LiteRt.Webnn
            def __init__(self, run_async: bool = ..., enable_dynamic_resize: bool = ..., cpu: _Optional[_Union[InferenceCalculatorOptions.Delegate.LiteRt.Cpu, _Mapping]] = ..., gpu: _Optional[_Union[InferenceCalculatorOptions.Delegate.LiteRt.Gpu, _Mapping]] = ..., npu: _Optional[_Union[InferenceCalculatorOptions.Delegate.LiteRt.Npu, _Mapping]] = ..., webnn: _Optional[_Union[InferenceCalculatorOptions.Delegate.LiteRt.Webnn, _Mapping]] = ...) -> None: ...
        TFLITE_FIELD_NUMBER: _ClassVar[int]
        GPU_FIELD_NUMBER: _ClassVar[int]
        NNAPI_FIELD_NUMBER: _ClassVar[int]
        XNNPACK_FIELD_NUMBER: _ClassVar[int]
        LITERT_FIELD_NUMBER: _ClassVar[int]
        tflite: InferenceCalculatorOptions.Delegate.TfLite
        gpu: InferenceCalculatorOptions.Delegate.Gpu
        nnapi: InferenceCalculatorOptions.Delegate.Nnapi
        xnnpack: InferenceCalculatorOptions.Delegate.Xnnpack
        litert: InferenceCalculatorOptions.Delegate.LiteRt
        def __init__(self, tflite: _Optional[_Union[InferenceCalculatorOptions.Delegate.TfLite, _Mapping]] = ..., gpu: _Optional[_Union[InferenceCalculatorOptions.Delegate.Gpu, _Mapping]] = ..., nnapi: _Optional[_Union[InferenceCalculatorOptions.Delegate.Nnapi, _Mapping]] = ..., xnnpack: _Optional[_Union[InferenceCalculatorOptions.Delegate.Xnnpack, _Mapping]] = ..., litert: _Optional[_Union[InferenceCalculatorOptions.Delegate.LiteRt, _Mapping]] = ...) -> None: ...
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
