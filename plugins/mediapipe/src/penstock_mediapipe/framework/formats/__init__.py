"""The messages of payloads, where programs for MediaPipe import them from: Penstock's, same fields."""

from __future__ import annotations

from penstock_mediapipe.module_names import named_modules

globals().update(
    named_modules(
        __name__,
        {
            f"{name}_pb2": f"penstock_formats.messages.{name}_pb2"
            for name in (
                "body_rig",
                "classification",
                "detection",
                "image_file_properties",
                "image_format",
                "landmark",
                "location_data",
                "matrix_data",
                "rect",
                "time_series_header",
            )
        },
    )
)
