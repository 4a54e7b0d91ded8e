"""What this pack adds to Penstock, by name; importing it imports nothing of the pack."""

from __future__ import annotations

from penstock import Components, hookimpl

_PACK = "penstock_stream_handlers"


@hookimpl
def penstock_components() -> Components:
    """Return the input stream handlers: names to "module:attribute", imported on first use."""
    return Components(
        input_stream_handlers={
            "DefaultInputStreamHandler": f"{_PACK}.default:DefaultInputStreamHandler",
            "EarlyCloseInputStreamHandler": f"{_PACK}.early_close:EarlyCloseInputStreamHandler",
        },
    )
