from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class OnnxFile(_message.Message):
    __slots__ = ("graph", "metadata_props")
    GRAPH_FIELD_NUMBER: _ClassVar[int]
    METADATA_PROPS_FIELD_NUMBER: _ClassVar[int]
    graph: OnnxGraph
    metadata_props: _containers.RepeatedCompositeFieldContainer[OnnxText]
    def __init__(self, graph: _Optional[_Union[OnnxGraph, _Mapping]] = ..., metadata_props: _Optional[_Iterable[_Union[OnnxText, _Mapping]]] = ...) -> None: ...

class OnnxText(_message.Message):
    __slots__ = ("key", "value")
    KEY_FIELD_NUMBER: _ClassVar[int]
    VALUE_FIELD_NUMBER: _ClassVar[int]
    key: str
    value: str
    def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...

class OnnxGraph(_message.Message):
    __slots__ = ("initializer", "input", "output")
    INITIALIZER_FIELD_NUMBER: _ClassVar[int]
    INPUT_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_FIELD_NUMBER: _ClassVar[int]
    initializer: _containers.RepeatedCompositeFieldContainer[OnnxWeights]
    input: _containers.RepeatedCompositeFieldContainer[OnnxValue]
    output: _containers.RepeatedCompositeFieldContainer[OnnxValue]
    def __init__(self, initializer: _Optional[_Iterable[_Union[OnnxWeights, _Mapping]]] = ..., input: _Optional[_Iterable[_Union[OnnxValue, _Mapping]]] = ..., output: _Optional[_Iterable[_Union[OnnxValue, _Mapping]]] = ...) -> None: ...

class OnnxWeights(_message.Message):
    __slots__ = ("name", "data_location")
    NAME_FIELD_NUMBER: _ClassVar[int]
    DATA_LOCATION_FIELD_NUMBER: _ClassVar[int]
    name: str
    data_location: int
    def __init__(self, name: _Optional[str] = ..., data_location: _Optional[int] = ...) -> None: ...

class OnnxValue(_message.Message):
    __slots__ = ("name", "type")
    NAME_FIELD_NUMBER: _ClassVar[int]
    TYPE_FIELD_NUMBER: _ClassVar[int]
    name: str
    type: OnnxType
    def __init__(self, name: _Optional[str] = ..., type: _Optional[_Union[OnnxType, _Mapping]] = ...) -> None: ...

class OnnxType(_message.Message):
    __slots__ = ("tensor_type",)
    TENSOR_TYPE_FIELD_NUMBER: _ClassVar[int]
    tensor_type: OnnxTensorType
    def __init__(self, tensor_type: _Optional[_Union[OnnxTensorType, _Mapping]] = ...) -> None: ...

class OnnxTensorType(_message.Message):
    __slots__ = ("elem_type", "shape")
    ELEM_TYPE_FIELD_NUMBER: _ClassVar[int]
    SHAPE_FIELD_NUMBER: _ClassVar[int]
    elem_type: int
    shape: OnnxShape
    def __init__(self, elem_type: _Optional[int] = ..., shape: _Optional[_Union[OnnxShape, _Mapping]] = ...) -> None: ...

class OnnxShape(_message.Message):
    __slots__ = ("dim",)
    DIM_FIELD_NUMBER: _ClassVar[int]
    dim: _containers.RepeatedCompositeFieldContainer[OnnxDimension]
    def __init__(self, dim: _Optional[_Iterable[_Union[OnnxDimension, _Mapping]]] = ...) -> None: ...

class OnnxDimension(_message.Message):
    __slots__ = ("dim_value", "dim_param")
    DIM_VALUE_FIELD_NUMBER: _ClassVar[int]
    DIM_PARAM_FIELD_NUMBER: _ClassVar[int]
    dim_value: int
    dim_param: str
    def __init__(self, dim_value: _Optional[int] = ..., dim_param: _Optional[str] = ...) -> None: ...
