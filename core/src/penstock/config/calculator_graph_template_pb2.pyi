from penstock.config import calculator_pb2 as _calculator_pb2
from penstock.config import calculator_options_pb2 as _calculator_options_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class FieldDescriptorProto(_message.Message):
    __slots__ = ()
    class Type(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        TYPE_INVALID: _ClassVar[FieldDescriptorProto.Type]
        TYPE_DOUBLE: _ClassVar[FieldDescriptorProto.Type]
        TYPE_FLOAT: _ClassVar[FieldDescriptorProto.Type]
        TYPE_INT64: _ClassVar[FieldDescriptorProto.Type]
        TYPE_UINT64: _ClassVar[FieldDescriptorProto.Type]
        TYPE_INT32: _ClassVar[FieldDescriptorProto.Type]
        TYPE_FIXED64: _ClassVar[FieldDescriptorProto.Type]
        TYPE_FIXED32: _ClassVar[FieldDescriptorProto.Type]
        TYPE_BOOL: _ClassVar[FieldDescriptorProto.Type]
        TYPE_STRING: _ClassVar[FieldDescriptorProto.Type]
        TYPE_GROUP: _ClassVar[FieldDescriptorProto.Type]
        TYPE_MESSAGE: _ClassVar[FieldDescriptorProto.Type]
        TYPE_BYTES: _ClassVar[FieldDescriptorProto.Type]
        TYPE_UINT32: _ClassVar[FieldDescriptorProto.Type]
        TYPE_ENUM: _ClassVar[FieldDescriptorProto.Type]
        TYPE_SFIXED32: _ClassVar[FieldDescriptorProto.Type]
        TYPE_SFIXED64: _ClassVar[FieldDescriptorProto.Type]
        TYPE_SINT32: _ClassVar[FieldDescriptorProto.Type]
        TYPE_SINT64: _ClassVar[FieldDescriptorProto.Type]
    TYPE_INVALID: FieldDescriptorProto.Type
    TYPE_DOUBLE: FieldDescriptorProto.Type
    TYPE_FLOAT: FieldDescriptorProto.Type
    TYPE_INT64: FieldDescriptorProto.Type
    TYPE_UINT64: FieldDescriptorProto.Type
    TYPE_INT32: FieldDescriptorProto.Type
    TYPE_FIXED64: FieldDescriptorProto.Type
    TYPE_FIXED32: FieldDescriptorProto.Type
    TYPE_BOOL: FieldDescriptorProto.Type
    TYPE_STRING: FieldDescriptorProto.Type
    TYPE_GROUP: FieldDescriptorProto.Type
    TYPE_MESSAGE: FieldDescriptorProto.Type
    TYPE_BYTES: FieldDescriptorProto.Type
    TYPE_UINT32: FieldDescriptorProto.Type
    TYPE_ENUM: FieldDescriptorProto.Type
    TYPE_SFIXED32: FieldDescriptorProto.Type
    TYPE_SFIXED64: FieldDescriptorProto.Type
    TYPE_SINT32: FieldDescriptorProto.Type
    TYPE_SINT64: FieldDescriptorProto.Type
    def __init__(self) -> None: ...

class TemplateExpression(_message.Message):
    __slots__ = ("param", "op", "arg", "path", "field_type", "key_type", "field_value")
    PARAM_FIELD_NUMBER: _ClassVar[int]
    OP_FIELD_NUMBER: _ClassVar[int]
    ARG_FIELD_NUMBER: _ClassVar[int]
    PATH_FIELD_NUMBER: _ClassVar[int]
    FIELD_TYPE_FIELD_NUMBER: _ClassVar[int]
    KEY_TYPE_FIELD_NUMBER: _ClassVar[int]
    FIELD_VALUE_FIELD_NUMBER: _ClassVar[int]
    param: str
    op: str
    arg: _containers.RepeatedCompositeFieldContainer[TemplateExpression]
    path: str
    field_type: FieldDescriptorProto.Type
    key_type: _containers.RepeatedScalarFieldContainer[FieldDescriptorProto.Type]
    field_value: bytes
    def __init__(self, param: _Optional[str] = ..., op: _Optional[str] = ..., arg: _Optional[_Iterable[_Union[TemplateExpression, _Mapping]]] = ..., path: _Optional[str] = ..., field_type: _Optional[_Union[FieldDescriptorProto.Type, str]] = ..., key_type: _Optional[_Iterable[_Union[FieldDescriptorProto.Type, str]]] = ..., field_value: _Optional[bytes] = ...) -> None: ...

class CalculatorGraphTemplate(_message.Message):
    __slots__ = ("config", "rule")
    CONFIG_FIELD_NUMBER: _ClassVar[int]
    RULE_FIELD_NUMBER: _ClassVar[int]
    config: _calculator_pb2.CalculatorGraphConfig
    rule: _containers.RepeatedCompositeFieldContainer[TemplateExpression]
    def __init__(self, config: _Optional[_Union[_calculator_pb2.CalculatorGraphConfig, _Mapping]] = ..., rule: _Optional[_Iterable[_Union[TemplateExpression, _Mapping]]] = ...) -> None: ...

class TemplateArgument(_message.Message):
    __slots__ = ("str", "num", "dict", "element")
    STR_FIELD_NUMBER: _ClassVar[int]
    NUM_FIELD_NUMBER: _ClassVar[int]
    DICT_FIELD_NUMBER: _ClassVar[int]
    ELEMENT_FIELD_NUMBER: _ClassVar[int]
    str: str
    num: float
    dict: TemplateDict
    element: _containers.RepeatedCompositeFieldContainer[TemplateArgument]
    def __init__(self, str: _Optional[str] = ..., num: _Optional[float] = ..., dict: _Optional[_Union[TemplateDict, _Mapping]] = ..., element: _Optional[_Iterable[_Union[TemplateArgument, _Mapping]]] = ...) -> None: ...

class TemplateDict(_message.Message):
    __slots__ = ("arg",)
    class Parameter(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: TemplateArgument
        def __init__(self, key: _Optional[str] = ..., value: _Optional[_Union[TemplateArgument, _Mapping]] = ...) -> None: ...
    ARG_FIELD_NUMBER: _ClassVar[int]
    arg: _containers.RepeatedCompositeFieldContainer[TemplateDict.Parameter]
    def __init__(self, arg: _Optional[_Iterable[_Union[TemplateDict.Parameter, _Mapping]]] = ...) -> None: ...

class TemplateSubgraphOptions(_message.Message):
    __slots__ = ("dict",)
    EXT_FIELD_NUMBER: _ClassVar[int]
    ext: _descriptor.FieldDescriptor
    DICT_FIELD_NUMBER: _ClassVar[int]
    dict: TemplateDict
    def __init__(self, dict: _Optional[_Union[TemplateDict, _Mapping]] = ...) -> None: ...
