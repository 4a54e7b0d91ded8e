from penstock.config import calculator_options_pb2 as _calculator_options_pb2
from penstock.config import mediapipe_options_pb2 as _mediapipe_options_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Optional as _Optional

DESCRIPTOR: _descriptor.FileDescriptor

class RoomStateCalculatorOptions(_message.Message):
    __slots__ = ("room",)
    EXT_FIELD_NUMBER: _ClassVar[int]
    ext: _descriptor.FieldDescriptor
    ROOM_FIELD_NUMBER: _ClassVar[int]
    room: str
    def __init__(self, room: _Optional[str] = ...) -> None: ...

class RoomPresenceCalculatorOptions(_message.Message):
    __slots__ = ("room", "votes", "max_age")
    EXT_FIELD_NUMBER: _ClassVar[int]
    ext: _descriptor.FieldDescriptor
    ROOM_FIELD_NUMBER: _ClassVar[int]
    VOTES_FIELD_NUMBER: _ClassVar[int]
    MAX_AGE_FIELD_NUMBER: _ClassVar[int]
    room: str
    votes: int
    max_age: int
    def __init__(self, room: _Optional[str] = ..., votes: _Optional[int] = ..., max_age: _Optional[int] = ...) -> None: ...

class SensorFusionCalculatorOptions(_message.Message):
    __slots__ = ("sensor", "drift_variance_per_s", "gate_sigmas")
    EXT_FIELD_NUMBER: _ClassVar[int]
    ext: _descriptor.FieldDescriptor
    SENSOR_FIELD_NUMBER: _ClassVar[int]
    DRIFT_VARIANCE_PER_S_FIELD_NUMBER: _ClassVar[int]
    GATE_SIGMAS_FIELD_NUMBER: _ClassVar[int]
    sensor: _containers.RepeatedScalarFieldContainer[str]
    drift_variance_per_s: float
    gate_sigmas: float
    def __init__(self, sensor: _Optional[_Iterable[str]] = ..., drift_variance_per_s: _Optional[float] = ..., gate_sigmas: _Optional[float] = ...) -> None: ...

class ReadSensorCalculatorOptions(_message.Message):
    __slots__ = ("address", "sensor")
    EXT_FIELD_NUMBER: _ClassVar[int]
    ext: _descriptor.FieldDescriptor
    ADDRESS_FIELD_NUMBER: _ClassVar[int]
    SENSOR_FIELD_NUMBER: _ClassVar[int]
    address: int
    sensor: str
    def __init__(self, address: _Optional[int] = ..., sensor: _Optional[str] = ...) -> None: ...

class FreshReadingsOptions(_message.Message):
    __slots__ = ("tick", "max_age")
    EXT_FIELD_NUMBER: _ClassVar[int]
    ext: _descriptor.FieldDescriptor
    TICK_FIELD_NUMBER: _ClassVar[int]
    MAX_AGE_FIELD_NUMBER: _ClassVar[int]
    tick: str
    max_age: int
    def __init__(self, tick: _Optional[str] = ..., max_age: _Optional[int] = ...) -> None: ...

class SensorBusExecutorOptions(_message.Message):
    __slots__ = ("quiet_us",)
    EXT_FIELD_NUMBER: _ClassVar[int]
    ext: _descriptor.FieldDescriptor
    QUIET_US_FIELD_NUMBER: _ClassVar[int]
    quiet_us: int
    def __init__(self, quiet_us: _Optional[int] = ...) -> None: ...

class RoomSubgraphOptions(_message.Message):
    __slots__ = ("room", "votes", "max_age")
    EXT_FIELD_NUMBER: _ClassVar[int]
    ext: _descriptor.FieldDescriptor
    ROOM_FIELD_NUMBER: _ClassVar[int]
    VOTES_FIELD_NUMBER: _ClassVar[int]
    MAX_AGE_FIELD_NUMBER: _ClassVar[int]
    room: str
    votes: int
    max_age: int
    def __init__(self, room: _Optional[str] = ..., votes: _Optional[int] = ..., max_age: _Optional[int] = ...) -> None: ...
