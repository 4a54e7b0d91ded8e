"""Where programs for MediaPipe import from, below `python`; the names of the framework are here too."""

from __future__ import annotations

from penstock_mediapipe.calculator_graph import CalculatorGraph, GraphInputStreamAddMode
from penstock_mediapipe.images import Image, ImageFormat, ImageFrame
from penstock_mediapipe.module_names import named_modules
from penstock_mediapipe.packet import Packet
from penstock_mediapipe.timestamp import Timestamp
from penstock_mediapipe.validated_graph_config import ValidatedGraphConfig

__all__ = [
    "CalculatorGraph",
    "GraphInputStreamAddMode",
    "Image",
    "ImageFormat",
    "ImageFrame",
    "Packet",
    "Timestamp",
    "ValidatedGraphConfig",
]

_MODULES = ("packet_creator", "packet_getter", "resource_util")

globals().update(named_modules(__name__, {name: f"penstock_mediapipe.{name}" for name in _MODULES}))
