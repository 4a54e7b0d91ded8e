from penstock.config import calculator_options_pb2 as _calculator_options_pb2
from penstock_formats.messages import classification_pb2 as _classification_pb2
from penstock_formats.messages import landmark_pb2 as _landmark_pb2
from penstock_formats.messages import matrix_data_pb2 as _matrix_data_pb2
from penstock_formats.messages import time_series_header_pb2 as _time_series_header_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class ConstantSidePacketCalculatorOptions(_message.Message):
    __slots__ = ("packet",)
    class StringVector(_message.Message):
        __slots__ = ("string_value",)
        STRING_VALUE_FIELD_NUMBER: _ClassVar[int]
        string_value: _containers.RepeatedScalarFieldContainer[str]
        def __init__(self, string_value: _Optional[_Iterable[str]] = ...) -> None: ...
    class FloatVector(_message.Message):
        __slots__ = ("float_value",)
        FLOAT_VALUE_FIELD_NUMBER: _ClassVar[int]
        float_value: _containers.RepeatedScalarFieldContainer[float]
        def __init__(self, float_value: _Optional[_Iterable[float]] = ...) -> None: ...
    class IntVector(_message.Message):
        __slots__ = ("int_value",)
        INT_VALUE_FIELD_NUMBER: _ClassVar[int]
        int_value: _containers.RepeatedScalarFieldContainer[int]
        def __init__(self, int_value: _Optional[_Iterable[int]] = ...) -> None: ...
    class ConstantSidePacket(_message.Message):
        __slots__ = ("int_value", "float_value", "bool_value", "string_value", "uint64_value", "classification_list_value", "landmark_list_value", "double_value", "time_series_header_value", "int64_value", "matrix_data_value", "string_vector_value", "float_vector_value", "int_vector_value")
        INT_VALUE_FIELD_NUMBER: _ClassVar[int]
        FLOAT_VALUE_FIELD_NUMBER: _ClassVar[int]
        BOOL_VALUE_FIELD_NUMBER: _ClassVar[int]
        STRING_VALUE_FIELD_NUMBER: _ClassVar[int]
        UINT64_VALUE_FIELD_NUMBER: _ClassVar[int]
        CLASSIFICATION_LIST_VALUE_FIELD_NUMBER: _ClassVar[int]
        LANDMARK_LIST_VALUE_FIELD_NUMBER: _ClassVar[int]
        DOUBLE_VALUE_FIELD_NUMBER: _ClassVar[int]
        TIME_SERIES_HEADER_VALUE_FIELD_NUMBER: _ClassVar[int]
        INT64_VALUE_FIELD_NUMBER: _ClassVar[int]
        MATRIX_DATA_VALUE_FIELD_NUMBER: _ClassVar[int]
        STRING_VECTOR_VALUE_FIELD_NUMBER: _ClassVar[int]
        FLOAT_VECTOR_VALUE_FIELD_NUMBER: _ClassVar[int]
        INT_VECTOR_VALUE_FIELD_NUMBER: _ClassVar[int]
        int_value: int
        float_value: float
        bool_value: bool
        string_value: str
        uint64_value: int
        classification_list_value: _classification_pb2.ClassificationList
        landmark_list_value: _landmark_pb2.LandmarkList
        double_value: float
        time_series_header_value: _time_series_header_pb2.TimeSeriesHeader
        int64_value: int
        matrix_data_value: _matrix_data_pb2.MatrixData
        string_vector_value: ConstantSidePacketCalculatorOptions.StringVector
        float_vector_value: ConstantSidePacketCalculatorOptions.FloatVector
        int_vector_value: ConstantSidePacketCalculatorOptions.IntVector
        def __init__(self, int_value: _Optional[int] = ..., float_value: _Optional[float] = ..., bool_value: bool = ..., string_value: _Optional[str] = ..., uint64_value: _Optional[int] = ..., classification_list_value: _Optional[_Union[_classification_pb2.ClassificationList, _Mapping]] = ..., landmark_list_value: _Optional[_Union[_landmark_pb2.LandmarkList, _Mapping]] = ..., double_value: _Optional[float] = ..., time_series_header_value: _Optional[_Union[_time_series_header_pb2.TimeSeriesHeader, _Mapping]] = ..., int64_value: _Optional[int] = ..., matrix_data_value: _Optional[_Union[_matrix_data_pb2.MatrixData, _Mapping]] = ..., string_vector_value: _Optional[_Union[ConstantSidePacketCalculatorOptions.StringVector, _Mapping]] = ..., float_vector_value: _Optional[_Union[ConstantSidePacketCalculatorOptions.FloatVector, _Mapping]] = ..., int_vector_value: _Optional[_Union[ConstantSidePacketCalculatorOptions.IntVector, _Mapping]] = ...) -> None: ...
    EXT_FIELD_NUMBER: _ClassVar[int]
    ext: _descriptor.FieldDescriptor
    PACKET_FIELD_NUMBER: _ClassVar[int]
    packet: _containers.RepeatedCompositeFieldContainer[ConstantSidePacketCalculatorOptions.ConstantSidePacket]
    def __init__(self, packet: _Optional[_Iterable[_Union[ConstantSidePacketCalculatorOptions.ConstantSidePacket, _Mapping]]] = ...) -> None: ...
