"""Programs for MediaPipe's Python package run after one changed import: that of `penstock_mediapipe`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from penstock.packs import late_names

if TYPE_CHECKING:
    from penstock_mediapipe import packet_creator as packet_creator
    from penstock_mediapipe import packet_getter as packet_getter
    from penstock_mediapipe import resource_util as resource_util
    from penstock_mediapipe import solutions as solutions
    from penstock_mediapipe.calculator_graph import CalculatorGraph as CalculatorGraph
    from penstock_mediapipe.calculator_graph import GraphInputStreamAddMode as GraphInputStreamAddMode
    from penstock_mediapipe.images import Image as Image
    from penstock_mediapipe.images import ImageFormat as ImageFormat
    from penstock_mediapipe.images import ImageFrame as ImageFrame
    from penstock_mediapipe.packet import Packet as Packet
    from penstock_mediapipe.timestamp import Timestamp as Timestamp
    from penstock_mediapipe.validated_graph_config import ValidatedGraphConfig as ValidatedGraphConfig

#: Module → the names that it has.
_HOMES: Final = {
    "penstock_mediapipe.calculator_graph": "CalculatorGraph GraphInputStreamAddMode",
    "penstock_mediapipe.images": "Image ImageFormat ImageFrame",
    "penstock_mediapipe.packet": "Packet",
    "penstock_mediapipe.timestamp": "Timestamp",
    "penstock_mediapipe.validated_graph_config": "ValidatedGraphConfig",
}
_MODULES: Final = ("packet_creator", "packet_getter", "resource_util", "solutions")

if not TYPE_CHECKING:  # type checkers know the imports above, and refuse every other name
    __all__, __getattr__, __dir__ = late_names(__name__, _HOMES, _MODULES)
