from penstock.config import calculator_options_pb2 as _calculator_options_pb2
from penstock_formats.messages import body_rig_pb2 as _body_rig_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class SetJointsVisibilityCalculatorOptions(_message.Message):
    __slots__ = ("mapping",)
    class Mapping(_message.Message):
        __slots__ = ("unchanged", "copy", "highest")
        class Unchanged(_message.Message):
            __slots__ = ()
            def __init__(self) -> None: ...
        class Copy(_message.Message):
            __slots__ = ("idx",)
            IDX_FIELD_NUMBER: _ClassVar[int]
            idx: int
            def __init__(self, idx: _Optional[int] = ...) -> None: ...
        class Highest(_message.Message):
            __slots__ = ("idx",)
            IDX_FIELD_NUMBER: _ClassVar[int]
            idx: _containers.RepeatedScalarFieldContainer[int]
            def __init__(self, idx: _Optional[_Iterable[int]] = ...) -> None: ...
        UNCHANGED_FIELD_NUMBER: _ClassVar[int]
        COPY_FIELD_NUMBER: _ClassVar[int]
        HIGHEST_FIELD_NUMBER: _ClassVar[int]
        unchanged: SetJointsVisibilityCalculatorOptions.Mapping.Unchanged
        copy: SetJointsVisibilityCalculatorOptions.Mapping.Copy
        highest: SetJointsVisibilityCalculatorOptions.Mapping.Highest
        def __init__(self, unchanged: _Optional[_Union[SetJointsVisibilityCalculatorOptions.Mapping.Unchanged, _Mapping]] = ..., copy: _Optional[_Union[SetJointsVisibilityCalculatorOptions.Mapping.Copy, _Mapping]] = ..., highest: _Optional[_Union[SetJointsVisibilityCalculatorOptions.Mapping.Highest, _Mapping]] = ...) -> None: ...
    EXT_FIELD_NUMBER: _ClassVar[int]
    ext: _descriptor.FieldDescriptor
    MAPPING_FIELD_NUMBER: _ClassVar[int]
    mapping: _containers.RepeatedCompositeFieldContainer[SetJointsVisibilityCalculatorOptions.Mapping]
    def __init__(self, mapping: _Optional[_Iterable[_Union[SetJointsVisibilityCalculatorOptions.Mapping, _Mapping]]] = ...) -> None: ...

class CombineJointsCalculatorOptions(_message.Message):
    __slots__ = ("num_joints", "joints_mapping", "default_joint")
    class JointsMapping(_message.Message):
        __slots__ = ("idx",)
        IDX_FIELD_NUMBER: _ClassVar[int]
        idx: _containers.RepeatedScalarFieldContainer[int]
        def __init__(self, idx: _Optional[_Iterable[int]] = ...) -> None: ...
    EXT_FIELD_NUMBER: _ClassVar[int]
    ext: _descriptor.FieldDescriptor
    NUM_JOINTS_FIELD_NUMBER: _ClassVar[int]
    JOINTS_MAPPING_FIELD_NUMBER: _ClassVar[int]
    DEFAULT_JOINT_FIELD_NUMBER: _ClassVar[int]
    num_joints: int
    joints_mapping: _containers.RepeatedCompositeFieldContainer[CombineJointsCalculatorOptions.JointsMapping]
    default_joint: _body_rig_pb2.Joint
    def __init__(self, num_joints: _Optional[int] = ..., joints_mapping: _Optional[_Iterable[_Union[CombineJointsCalculatorOptions.JointsMapping, _Mapping]]] = ..., default_joint: _Optional[_Union[_body_rig_pb2.Joint, _Mapping]] = ...) -> None: ...
