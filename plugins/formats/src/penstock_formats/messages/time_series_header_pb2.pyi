from google.protobuf.internal import python_message as _python_message
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class TimeSeriesHeader(_message.Message):
    __slots__ = ("sample_rate", "num_channels", "num_samples", "packet_rate", "audio_sample_rate")
    Extensions: _python_message._ExtensionDict
    SAMPLE_RATE_FIELD_NUMBER: _ClassVar[int]
    NUM_CHANNELS_FIELD_NUMBER: _ClassVar[int]
    NUM_SAMPLES_FIELD_NUMBER: _ClassVar[int]
    PACKET_RATE_FIELD_NUMBER: _ClassVar[int]
    AUDIO_SAMPLE_RATE_FIELD_NUMBER: _ClassVar[int]
    sample_rate: float
    num_channels: int
    num_samples: int
    packet_rate: float
    audio_sample_rate: float
    def __init__(self, sample_rate: _Optional[float] = ..., num_channels: _Optional[int] = ..., num_samples: _Optional[int] = ..., packet_rate: _Optional[float] = ..., audio_sample_rate: _Optional[float] = ...) -> None: ...

class MultiStreamTimeSeriesHeader(_message.Message):
    __slots__ = ("time_series_header", "num_streams")
    TIME_SERIES_HEADER_FIELD_NUMBER: _ClassVar[int]
    NUM_STREAMS_FIELD_NUMBER: _ClassVar[int]
    time_series_header: TimeSeriesHeader
    num_streams: int
    def __init__(self, time_series_header: _Optional[_Union[TimeSeriesHeader, _Mapping]] = ..., num_streams: _Optional[int] = ...) -> None: ...
