"""The components of penstock_stream_handlers by name; a module is imported when a graph uses it.

Written by `python scripts/components.py` from the classes and messages of the package.
"""

from collections.abc import Mapping
from typing import Final

INPUT_STREAM_HANDLERS: Final[Mapping[str, str]] = {
    "BarrierInputStreamHandler": "penstock_stream_handlers.barrier:BarrierInputStreamHandler",
    "DefaultInputStreamHandler": "penstock_stream_handlers.default:DefaultInputStreamHandler",
    "EarlyCloseInputStreamHandler": "penstock_stream_handlers.early_close:EarlyCloseInputStreamHandler",
    "FixedSizeInputStreamHandler": "penstock_stream_handlers.fixed_size:FixedSizeInputStreamHandler",
    "ImmediateInputStreamHandler": "penstock_stream_handlers.immediate:ImmediateInputStreamHandler",
    "InnerJoin": "penstock_stream_handlers.inner_join:InnerJoin",
    "Latest": "penstock_stream_handlers.latest:Latest",
    "MuxInputStreamHandler": "penstock_stream_handlers.mux:MuxInputStreamHandler",
    "Nearest": "penstock_stream_handlers.nearest:Nearest",
    "SyncSetInputStreamHandler": "penstock_stream_handlers.sync_set:SyncSetInputStreamHandler",
    "Timeout": "penstock_stream_handlers.timeout:Timeout",
    "TimestampAlignInputStreamHandler": "penstock_stream_handlers.timestamp_align:TimestampAlignInputStreamHandler",
}

OPTIONS: Final[Mapping[str, tuple[str, int, str] | str]] = {
    "penstock.DefaultInputStreamHandlerOptions": ("penstock.MediaPipeOptions", 164312821, "penstock_stream_handlers.messages.default_pb2:DefaultInputStreamHandlerOptions"),
    "penstock.FixedSizeInputStreamHandlerOptions": ("penstock.MediaPipeOptions", 125744319, "penstock_stream_handlers.messages.fixed_size_pb2:FixedSizeInputStreamHandlerOptions"),
    "penstock.LatestOptions": ("penstock.MediaPipeOptions", 20300, "penstock_stream_handlers.messages.latest_pb2:LatestOptions"),
    "penstock.NearestOptions": ("penstock.MediaPipeOptions", 20301, "penstock_stream_handlers.messages.nearest_pb2:NearestOptions"),
    "penstock.SyncSetInputStreamHandlerOptions": ("penstock.MediaPipeOptions", 155816273, "penstock_stream_handlers.messages.sync_set_pb2:SyncSetInputStreamHandlerOptions"),
    "penstock.TimeoutOptions": ("penstock.MediaPipeOptions", 20302, "penstock_stream_handlers.messages.timeout_pb2:TimeoutOptions"),
    "penstock.TimestampAlignInputStreamHandlerOptions": ("penstock.MediaPipeOptions", 190104979, "penstock_stream_handlers.messages.timestamp_align_pb2:TimestampAlignInputStreamHandlerOptions"),
}
