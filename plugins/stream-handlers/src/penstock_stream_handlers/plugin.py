"""The components of this pack, by name; importing this module imports no other module of the pack."""

from __future__ import annotations

from penstock import Components, hookimpl

_PACK = "penstock_stream_handlers"
_EXTENDEE = "penstock.MediaPipeOptions"


@hookimpl
def penstock_components() -> Components:
    """Return the input stream handlers and their options: names to "module:attribute", imported on use."""
    return Components(
        input_stream_handlers={
            "BarrierInputStreamHandler": f"{_PACK}.barrier:BarrierInputStreamHandler",
            "DefaultInputStreamHandler": f"{_PACK}.default:DefaultInputStreamHandler",
            "EarlyCloseInputStreamHandler": f"{_PACK}.early_close:EarlyCloseInputStreamHandler",
            "FixedSizeInputStreamHandler": f"{_PACK}.fixed_size:FixedSizeInputStreamHandler",
            "ImmediateInputStreamHandler": f"{_PACK}.immediate:ImmediateInputStreamHandler",
            "InnerJoin": f"{_PACK}.inner_join:InnerJoin",
            "Latest": f"{_PACK}.latest:Latest",
            "MuxInputStreamHandler": f"{_PACK}.mux:MuxInputStreamHandler",
            "Nearest": f"{_PACK}.nearest:Nearest",
            "SyncSetInputStreamHandler": f"{_PACK}.sync_set:SyncSetInputStreamHandler",
            "Timeout": f"{_PACK}.timeout:Timeout",
            "TimestampAlignInputStreamHandler": f"{_PACK}.timestamp_align:TimestampAlignInputStreamHandler",
        },
        options={
            "penstock.DefaultInputStreamHandlerOptions": (
                _EXTENDEE,
                164312821,
                f"{_PACK}.default_input_stream_handler_pb2:DefaultInputStreamHandlerOptions",
            ),
            "penstock.FixedSizeInputStreamHandlerOptions": (
                _EXTENDEE,
                125744319,
                f"{_PACK}.fixed_size_input_stream_handler_pb2:FixedSizeInputStreamHandlerOptions",
            ),
            "penstock.LatestOptions": (_EXTENDEE, 20300, f"{_PACK}.latest_pb2:LatestOptions"),
            "penstock.NearestOptions": (_EXTENDEE, 20301, f"{_PACK}.nearest_pb2:NearestOptions"),
            "penstock.SyncSetInputStreamHandlerOptions": (
                _EXTENDEE,
                155816273,
                f"{_PACK}.sync_set_input_stream_handler_pb2:SyncSetInputStreamHandlerOptions",
            ),
            "penstock.TimeoutOptions": (_EXTENDEE, 20302, f"{_PACK}.timeout_pb2:TimeoutOptions"),
            "penstock.TimestampAlignInputStreamHandlerOptions": (
                _EXTENDEE,
                190104979,
                f"{_PACK}.timestamp_align_input_stream_handler_pb2:TimestampAlignInputStreamHandlerOptions",
            ),
        },
    )
