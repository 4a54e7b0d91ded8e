"""What the pack adds to Penstock, by name; importing this module imports none of its components."""

from __future__ import annotations

from penstock import Components, hookimpl
from penstock_stream_handlers.components import INPUT_STREAM_HANDLERS, OPTIONS


@hookimpl
def penstock_components() -> Components:
    """Return the input stream handlers and options by name."""
    return Components(input_stream_handlers=INPUT_STREAM_HANDLERS, options=OPTIONS)
