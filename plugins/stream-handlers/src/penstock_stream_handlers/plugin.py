"""What this pack adds to Penstock, by name; importing it imports nothing of the pack."""

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
            "MuxInputStreamHandler": f"{_PACK}.mux:MuxInputStreamHandler",
            "SyncSetInputStreamHandler": f"{_PACK}.sync_set:SyncSetInputStreamHandler",
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
            "penstock.SyncSetInputStreamHandlerOptions": (
                _EXTENDEE,
                155816273,
                f"{_PACK}.sync_set_input_stream_handler_pb2:SyncSetInputStreamHandlerOptions",
            ),
            "penstock.TimestampAlignInputStreamHandlerOptions": (
                _EXTENDEE,
                190104979,
                f"{_PACK}.timestamp_align_input_stream_handler_pb2:TimestampAlignInputStreamHandlerOptions",
            ),
        },
    )
