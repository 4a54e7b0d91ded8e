"""The messages of annotations, where programs for MediaPipe import them from."""

from __future__ import annotations

from penstock_mediapipe.module_names import named_modules

globals().update(
    named_modules(__name__, {"rasterization_pb2": "penstock_formats.messages.rasterization_pb2"})
)
