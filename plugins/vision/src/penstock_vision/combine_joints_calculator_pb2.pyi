from penstock.config import calculator_options_pb2 as _calculator_options_pb2
from penstock_formats import body_rig_pb2 as _body_rig_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

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
