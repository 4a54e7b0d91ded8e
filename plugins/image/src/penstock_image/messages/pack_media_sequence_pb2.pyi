from penstock.config import calculator_options_pb2 as _calculator_options_pb2
from penstock_formats.messages import sequence_example_pb2 as _sequence_example_pb2
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class PackMediaSequenceCalculatorOptions(_message.Message):
    __slots__ = ("context_feature_map", "reconcile_metadata", "output_only_if_all_present", "replace_data_instead_of_append", "reconcile_bbox_annotations", "reconcile_region_annotations", "skip_large_sequences", "output_as_zero_timestamp", "add_empty_labels", "max_sequence_bytes")
    EXT_FIELD_NUMBER: _ClassVar[int]
    ext: _descriptor.FieldDescriptor
    CONTEXT_FEATURE_MAP_FIELD_NUMBER: _ClassVar[int]
    RECONCILE_METADATA_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_ONLY_IF_ALL_PRESENT_FIELD_NUMBER: _ClassVar[int]
    REPLACE_DATA_INSTEAD_OF_APPEND_FIELD_NUMBER: _ClassVar[int]
    RECONCILE_BBOX_ANNOTATIONS_FIELD_NUMBER: _ClassVar[int]
    RECONCILE_REGION_ANNOTATIONS_FIELD_NUMBER: _ClassVar[int]
    SKIP_LARGE_SEQUENCES_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_AS_ZERO_TIMESTAMP_FIELD_NUMBER: _ClassVar[int]
    ADD_EMPTY_LABELS_FIELD_NUMBER: _ClassVar[int]
    MAX_SEQUENCE_BYTES_FIELD_NUMBER: _ClassVar[int]
    context_feature_map: _sequence_example_pb2.Features
    reconcile_metadata: bool
    output_only_if_all_present: bool
    replace_data_instead_of_append: bool
    reconcile_bbox_annotations: bool
    reconcile_region_annotations: bool
    skip_large_sequences: bool
    output_as_zero_timestamp: bool
    add_empty_labels: bool
    max_sequence_bytes: int
    def __init__(self, context_feature_map: _Optional[_Union[_sequence_example_pb2.Features, _Mapping]] = ..., reconcile_metadata: bool = ..., output_only_if_all_present: bool = ..., replace_data_instead_of_append: bool = ..., reconcile_bbox_annotations: bool = ..., reconcile_region_annotations: bool = ..., skip_large_sequences: bool = ..., output_as_zero_timestamp: bool = ..., add_empty_labels: bool = ..., max_sequence_bytes: _Optional[int] = ...) -> None: ...
