"""The messages of payloads, where programs for MediaPipe import them from: those of Penstock, same fields."""

from __future__ import annotations

from penstock_mediapipe.module_names import named_modules

globals().update(
    named_modules(
        __name__,
        {
            f"{name}_pb2": f"penstock_formats.messages.{name}_pb2"
            for name in ("classification", "detection", "landmark", "location_data", "matrix_data", "rect")
        },
    )
)
