from penstock.config import calculator_pb2 as _calculator_pb2
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class ShadowOptions(_message.Message):
    __slots__ = ("primary", "candidate", "executor", "tolerance", "max_in_flight", "in_flight_timeout")
    PRIMARY_FIELD_NUMBER: _ClassVar[int]
    CANDIDATE_FIELD_NUMBER: _ClassVar[int]
    EXECUTOR_FIELD_NUMBER: _ClassVar[int]
    TOLERANCE_FIELD_NUMBER: _ClassVar[int]
    MAX_IN_FLIGHT_FIELD_NUMBER: _ClassVar[int]
    IN_FLIGHT_TIMEOUT_FIELD_NUMBER: _ClassVar[int]
    primary: _calculator_pb2.CalculatorGraphConfig.Node
    candidate: _calculator_pb2.CalculatorGraphConfig.Node
    executor: str
    tolerance: float
    max_in_flight: int
    in_flight_timeout: int
    def __init__(self, primary: _Optional[_Union[_calculator_pb2.CalculatorGraphConfig.Node, _Mapping]] = ..., candidate: _Optional[_Union[_calculator_pb2.CalculatorGraphConfig.Node, _Mapping]] = ..., executor: _Optional[str] = ..., tolerance: _Optional[float] = ..., max_in_flight: _Optional[int] = ..., in_flight_timeout: _Optional[int] = ...) -> None: ...
