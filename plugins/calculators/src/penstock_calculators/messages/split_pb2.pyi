from penstock.config import calculator_options_pb2 as _calculator_options_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Range(_message.Message):
    __slots__ = ("begin", "end")
    BEGIN_FIELD_NUMBER: _ClassVar[int]
    END_FIELD_NUMBER: _ClassVar[int]
    begin: int
    end: int
    def __init__(self, begin: _Optional[int] = ..., end: _Optional[int] = ...) -> None: ...

class SplitVectorCalculatorOptions(_message.Message):
    __slots__ = ("ranges", "element_only", "combine_outputs")
    EXT_FIELD_NUMBER: _ClassVar[int]
    ext: _descriptor.FieldDescriptor
    RANGES_FIELD_NUMBER: _ClassVar[int]
    ELEMENT_ONLY_FIELD_NUMBER: _ClassVar[int]
    COMBINE_OUTPUTS_FIELD_NUMBER: _ClassVar[int]
    ranges: _containers.RepeatedCompositeFieldContainer[Range]
    element_only: bool
    combine_outputs: bool
    def __init__(self, ranges: _Optional[_Iterable[_Union[Range, _Mapping]]] = ..., element_only: bool = ..., combine_outputs: bool = ...) -> None: ...
