from penstock.config import calculator_pb2 as _calculator_pb2
from penstock.config import calculator_options_pb2 as _calculator_options_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class TimeHistogram(_message.Message):
    __slots__ = ("total", "interval_size_usec", "num_intervals", "count")
    TOTAL_FIELD_NUMBER: _ClassVar[int]
    INTERVAL_SIZE_USEC_FIELD_NUMBER: _ClassVar[int]
    NUM_INTERVALS_FIELD_NUMBER: _ClassVar[int]
    COUNT_FIELD_NUMBER: _ClassVar[int]
    total: int
    interval_size_usec: int
    num_intervals: int
    count: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, total: _Optional[int] = ..., interval_size_usec: _Optional[int] = ..., num_intervals: _Optional[int] = ..., count: _Optional[_Iterable[int]] = ...) -> None: ...

class StreamProfile(_message.Message):
    __slots__ = ("name", "back_edge", "latency")
    NAME_FIELD_NUMBER: _ClassVar[int]
    BACK_EDGE_FIELD_NUMBER: _ClassVar[int]
    LATENCY_FIELD_NUMBER: _ClassVar[int]
    name: str
    back_edge: bool
    latency: TimeHistogram
    def __init__(self, name: _Optional[str] = ..., back_edge: bool = ..., latency: _Optional[_Union[TimeHistogram, _Mapping]] = ...) -> None: ...

class CalculatorProfile(_message.Message):
    __slots__ = ("name", "open_runtime", "close_runtime", "process_runtime", "process_input_latency", "process_output_latency", "input_stream_profiles")
    NAME_FIELD_NUMBER: _ClassVar[int]
    OPEN_RUNTIME_FIELD_NUMBER: _ClassVar[int]
    CLOSE_RUNTIME_FIELD_NUMBER: _ClassVar[int]
    PROCESS_RUNTIME_FIELD_NUMBER: _ClassVar[int]
    PROCESS_INPUT_LATENCY_FIELD_NUMBER: _ClassVar[int]
    PROCESS_OUTPUT_LATENCY_FIELD_NUMBER: _ClassVar[int]
    INPUT_STREAM_PROFILES_FIELD_NUMBER: _ClassVar[int]
    name: str
    open_runtime: int
    close_runtime: int
    process_runtime: TimeHistogram
    process_input_latency: TimeHistogram
    process_output_latency: TimeHistogram
    input_stream_profiles: _containers.RepeatedCompositeFieldContainer[StreamProfile]
    def __init__(self, name: _Optional[str] = ..., open_runtime: _Optional[int] = ..., close_runtime: _Optional[int] = ..., process_runtime: _Optional[_Union[TimeHistogram, _Mapping]] = ..., process_input_latency: _Optional[_Union[TimeHistogram, _Mapping]] = ..., process_output_latency: _Optional[_Union[TimeHistogram, _Mapping]] = ..., input_stream_profiles: _Optional[_Iterable[_Union[StreamProfile, _Mapping]]] = ...) -> None: ...

class GraphTrace(_message.Message):
    __slots__ = ("base_time", "base_timestamp", "calculator_name", "stream_name", "calculator_trace")
    class EventType(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        UNKNOWN: _ClassVar[GraphTrace.EventType]
        OPEN: _ClassVar[GraphTrace.EventType]
        PROCESS: _ClassVar[GraphTrace.EventType]
        CLOSE: _ClassVar[GraphTrace.EventType]
        NOT_READY: _ClassVar[GraphTrace.EventType]
        READY_FOR_PROCESS: _ClassVar[GraphTrace.EventType]
        READY_FOR_CLOSE: _ClassVar[GraphTrace.EventType]
        THROTTLED: _ClassVar[GraphTrace.EventType]
        UNTHROTTLED: _ClassVar[GraphTrace.EventType]
        CPU_TASK_USER: _ClassVar[GraphTrace.EventType]
        CPU_TASK_SYSTEM: _ClassVar[GraphTrace.EventType]
        GPU_TASK: _ClassVar[GraphTrace.EventType]
        DSP_TASK: _ClassVar[GraphTrace.EventType]
        TPU_TASK: _ClassVar[GraphTrace.EventType]
        GPU_CALIBRATION: _ClassVar[GraphTrace.EventType]
        PACKET_QUEUED: _ClassVar[GraphTrace.EventType]
        GPU_TASK_INVOKE: _ClassVar[GraphTrace.EventType]
        TPU_TASK_INVOKE: _ClassVar[GraphTrace.EventType]
        CPU_TASK_INVOKE: _ClassVar[GraphTrace.EventType]
        GPU_TASK_INVOKE_ADVANCED: _ClassVar[GraphTrace.EventType]
        TPU_TASK_INVOKE_ASYNC: _ClassVar[GraphTrace.EventType]
    UNKNOWN: GraphTrace.EventType
    OPEN: GraphTrace.EventType
    PROCESS: GraphTrace.EventType
    CLOSE: GraphTrace.EventType
    NOT_READY: GraphTrace.EventType
    READY_FOR_PROCESS: GraphTrace.EventType
    READY_FOR_CLOSE: GraphTrace.EventType
    THROTTLED: GraphTrace.EventType
    UNTHROTTLED: GraphTrace.EventType
    CPU_TASK_USER: GraphTrace.EventType
    CPU_TASK_SYSTEM: GraphTrace.EventType
    GPU_TASK: GraphTrace.EventType
    DSP_TASK: GraphTrace.EventType
    TPU_TASK: GraphTrace.EventType
    GPU_CALIBRATION: GraphTrace.EventType
    PACKET_QUEUED: GraphTrace.EventType
    GPU_TASK_INVOKE: GraphTrace.EventType
    TPU_TASK_INVOKE: GraphTrace.EventType
    CPU_TASK_INVOKE: GraphTrace.EventType
    GPU_TASK_INVOKE_ADVANCED: GraphTrace.EventType
    TPU_TASK_INVOKE_ASYNC: GraphTrace.EventType
    class StreamTrace(_message.Message):
        __slots__ = ("start_time", "finish_time", "packet_timestamp", "stream_id", "packet_id", "event_data")
        START_TIME_FIELD_NUMBER: _ClassVar[int]
        FINISH_TIME_FIELD_NUMBER: _ClassVar[int]
        PACKET_TIMESTAMP_FIELD_NUMBER: _ClassVar[int]
        STREAM_ID_FIELD_NUMBER: _ClassVar[int]
        PACKET_ID_FIELD_NUMBER: _ClassVar[int]
        EVENT_DATA_FIELD_NUMBER: _ClassVar[int]
        start_time: int
        finish_time: int
        packet_timestamp: int
        stream_id: int
        packet_id: int
        event_data: int
        def __init__(self, start_time: _Optional[int] = ..., finish_time: _Optional[int] = ..., packet_timestamp: _Optional[int] = ..., stream_id: _Optional[int] = ..., packet_id: _Optional[int] = ..., event_data: _Optional[int] = ...) -> None: ...
    class CalculatorTrace(_message.Message):
        __slots__ = ("node_id", "input_timestamp", "event_type", "start_time", "finish_time", "input_trace", "output_trace", "thread_id")
        NODE_ID_FIELD_NUMBER: _ClassVar[int]
        INPUT_TIMESTAMP_FIELD_NUMBER: _ClassVar[int]
        EVENT_TYPE_FIELD_NUMBER: _ClassVar[int]
        START_TIME_FIELD_NUMBER: _ClassVar[int]
        FINISH_TIME_FIELD_NUMBER: _ClassVar[int]
        INPUT_TRACE_FIELD_NUMBER: _ClassVar[int]
        OUTPUT_TRACE_FIELD_NUMBER: _ClassVar[int]
        THREAD_ID_FIELD_NUMBER: _ClassVar[int]
        node_id: int
        input_timestamp: int
        event_type: GraphTrace.EventType
        start_time: int
        finish_time: int
        input_trace: _containers.RepeatedCompositeFieldContainer[GraphTrace.StreamTrace]
        output_trace: _containers.RepeatedCompositeFieldContainer[GraphTrace.StreamTrace]
        thread_id: int
        def __init__(self, node_id: _Optional[int] = ..., input_timestamp: _Optional[int] = ..., event_type: _Optional[_Union[GraphTrace.EventType, str]] = ..., start_time: _Optional[int] = ..., finish_time: _Optional[int] = ..., input_trace: _Optional[_Iterable[_Union[GraphTrace.StreamTrace, _Mapping]]] = ..., output_trace: _Optional[_Iterable[_Union[GraphTrace.StreamTrace, _Mapping]]] = ..., thread_id: _Optional[int] = ...) -> None: ...
    BASE_TIME_FIELD_NUMBER: _ClassVar[int]
    BASE_TIMESTAMP_FIELD_NUMBER: _ClassVar[int]
    CALCULATOR_NAME_FIELD_NUMBER: _ClassVar[int]
    STREAM_NAME_FIELD_NUMBER: _ClassVar[int]
    CALCULATOR_TRACE_FIELD_NUMBER: _ClassVar[int]
    base_time: int
    base_timestamp: int
    calculator_name: _containers.RepeatedScalarFieldContainer[str]
    stream_name: _containers.RepeatedScalarFieldContainer[str]
    calculator_trace: _containers.RepeatedCompositeFieldContainer[GraphTrace.CalculatorTrace]
    def __init__(self, base_time: _Optional[int] = ..., base_timestamp: _Optional[int] = ..., calculator_name: _Optional[_Iterable[str]] = ..., stream_name: _Optional[_Iterable[str]] = ..., calculator_trace: _Optional[_Iterable[_Union[GraphTrace.CalculatorTrace, _Mapping]]] = ...) -> None: ...

class GraphProfile(_message.Message):
    __slots__ = ("graph_trace", "calculator_profiles", "config")
    GRAPH_TRACE_FIELD_NUMBER: _ClassVar[int]
    CALCULATOR_PROFILES_FIELD_NUMBER: _ClassVar[int]
    CONFIG_FIELD_NUMBER: _ClassVar[int]
    graph_trace: _containers.RepeatedCompositeFieldContainer[GraphTrace]
    calculator_profiles: _containers.RepeatedCompositeFieldContainer[CalculatorProfile]
    config: _calculator_pb2.CalculatorGraphConfig
    def __init__(self, graph_trace: _Optional[_Iterable[_Union[GraphTrace, _Mapping]]] = ..., calculator_profiles: _Optional[_Iterable[_Union[CalculatorProfile, _Mapping]]] = ..., config: _Optional[_Union[_calculator_pb2.CalculatorGraphConfig, _Mapping]] = ...) -> None: ...

class GraphProfileCalculatorOptions(_message.Message):
    __slots__ = ("profile_interval",)
    EXT_FIELD_NUMBER: _ClassVar[int]
    ext: _descriptor.FieldDescriptor
    PROFILE_INTERVAL_FIELD_NUMBER: _ClassVar[int]
    profile_interval: int
    def __init__(self, profile_interval: _Optional[int] = ...) -> None: ...
