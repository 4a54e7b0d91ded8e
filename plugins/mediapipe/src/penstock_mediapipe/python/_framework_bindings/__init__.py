"""The modules that MediaPipe binds from C++, where programs import them from."""

from __future__ import annotations

from penstock_mediapipe.module_names import named_modules

globals().update(
    named_modules(
        __name__,
        {
            "calculator_graph": "penstock_mediapipe.calculator_graph",
            "image": "penstock_mediapipe.images",
            "image_frame": "penstock_mediapipe.images",
            "packet": "penstock_mediapipe.packet",
            "resource_util": "penstock_mediapipe.resource_util",
            "timestamp": "penstock_mediapipe.timestamp",
            "validated_graph_config": "penstock_mediapipe.validated_graph_config",
        },
    )
)
