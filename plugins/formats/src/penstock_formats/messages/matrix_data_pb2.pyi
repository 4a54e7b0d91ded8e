from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class MatrixData(_message.Message):
    __slots__ = ("rows", "cols", "packed_data", "layout")
    class Layout(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        COLUMN_MAJOR: _ClassVar[MatrixData.Layout]
        ROW_MAJOR: _ClassVar[MatrixData.Layout]
    COLUMN_MAJOR: MatrixData.Layout
    ROW_MAJOR: MatrixData.Layout
    ROWS_FIELD_NUMBER: _ClassVar[int]
    COLS_FIELD_NUMBER: _ClassVar[int]
    PACKED_DATA_FIELD_NUMBER: _ClassVar[int]
    LAYOUT_FIELD_NUMBER: _ClassVar[int]
    rows: int
    cols: int
    packed_data: _containers.RepeatedScalarFieldContainer[float]
    layout: MatrixData.Layout
    def __init__(self, rows: _Optional[int] = ..., cols: _Optional[int] = ..., packed_data: _Optional[_Iterable[float]] = ..., layout: _Optional[_Union[MatrixData.Layout, str]] = ...) -> None: ...
