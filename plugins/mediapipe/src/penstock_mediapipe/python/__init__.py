"""The places where programs for MediaPipe import from, below `python`."""

from __future__ import annotations

from penstock_mediapipe.module_names import named_modules

globals().update(
    named_modules(
        __name__,
        {name: f"penstock_mediapipe.{name}" for name in ("packet_creator", "packet_getter")},
    )
)
