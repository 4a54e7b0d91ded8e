from penstock.config import mediapipe_options_pb2 as _mediapipe_options_pb2
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class ThreadPoolExecutorOptions(_message.Message):
    __slots__ = ("num_threads", "stack_size", "nice_priority_level", "require_processor_performance", "thread_name_prefix")
    class ProcessorPerformance(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        NORMAL: _ClassVar[ThreadPoolExecutorOptions.ProcessorPerformance]
        LOW: _ClassVar[ThreadPoolExecutorOptions.ProcessorPerformance]
        HIGH: _ClassVar[ThreadPoolExecutorOptions.ProcessorPerformance]
    NORMAL: ThreadPoolExecutorOptions.ProcessorPerformance
    LOW: ThreadPoolExecutorOptions.ProcessorPerformance
    HIGH: ThreadPoolExecutorOptions.ProcessorPerformance
    EXT_FIELD_NUMBER: _ClassVar[int]
    ext: _descriptor.FieldDescriptor
    NUM_THREADS_FIELD_NUMBER: _ClassVar[int]
    STACK_SIZE_FIELD_NUMBER: _ClassVar[int]
    NICE_PRIORITY_LEVEL_FIELD_NUMBER: _ClassVar[int]
    REQUIRE_PROCESSOR_PERFORMANCE_FIELD_NUMBER: _ClassVar[int]
    THREAD_NAME_PREFIX_FIELD_NUMBER: _ClassVar[int]
    num_threads: int
    stack_size: int
    nice_priority_level: int
    require_processor_performance: ThreadPoolExecutorOptions.ProcessorPerformance
    thread_name_prefix: str
    def __init__(self, num_threads: _Optional[int] = ..., stack_size: _Optional[int] = ..., nice_priority_level: _Optional[int] = ..., require_processor_performance: _Optional[_Union[ThreadPoolExecutorOptions.ProcessorPerformance, str]] = ..., thread_name_prefix: _Optional[str] = ...) -> None: ...
