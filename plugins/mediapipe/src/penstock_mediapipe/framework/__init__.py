"""The messages of MediaPipe's framework, where programs import them from."""

from __future__ import annotations

from penstock_mediapipe.module_names import named_modules

globals().update(named_modules(__name__, {"calculator_pb2": "penstock_mediapipe.framework.graph_message"}))
