"""Detectors that users bring, from images and a model to boxes and classes; lines, zones and speeds.

The names are imported when they are first used, so finding this pack does not import what they need.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from penstock.packs import late_names

if TYPE_CHECKING:
    from penstock_detect.detector_input_options import Axes as Axes
    from penstock_detect.detector_input_options import (
        DetectorInputCalculatorOptions as DetectorInputCalculatorOptions,
    )
    from penstock_detect.detector_masks import (
        DetectorMasksCalculatorOptions as DetectorMasksCalculatorOptions,
    )
    from penstock_detect.detector_options import (
        DetectorDecoderCalculatorOptions as DetectorDecoderCalculatorOptions,
    )
    from penstock_detect.detector_options import DetectorSubgraphOptions as DetectorSubgraphOptions
    from penstock_detect.interop.annotator import (
        SupervisionAnnotatorCalculatorOptions as SupervisionAnnotatorCalculatorOptions,
    )
    from penstock_detect.interop.supervision_detections import from_supervision as from_supervision
    from penstock_detect.interop.supervision_detections import to_supervision as to_supervision
    from penstock_detect.interop.ultralytics_results import from_ultralytics as from_ultralytics
    from penstock_detect.interop.ultralytics_results import to_ultralytics as to_ultralytics
    from penstock_detect.model_file import ModelFile as ModelFile
    from penstock_detect.model_file import read_model as read_model
    from penstock_detect.onnx_batch_inference import (
        OnnxBatchInferenceCalculatorOptions as OnnxBatchInferenceCalculatorOptions,
    )
    from penstock_detect.outputs.layouts import BoxUnits as BoxUnits
    from penstock_detect.outputs.layouts import Layout as Layout
    from penstock_detect.outputs.layouts import Scores as Scores
    from penstock_detect.outputs.masks import MaskAxes as MaskAxes
    from penstock_detect.resizing import Interpolation as Interpolation
    from penstock_detect.resizing import Resize as Resize
    from penstock_detect.tracking.options import Algorithm as Algorithm
    from penstock_detect.tracking.options import TrackerCalculatorOptions as TrackerCalculatorOptions
    from penstock_detect.zones.anchors import Anchor as Anchor
    from penstock_detect.zones.counts import LineCount as LineCount
    from penstock_detect.zones.counts import ZoneCount as ZoneCount
    from penstock_detect.zones.counts import ZoneCounts as ZoneCounts
    from penstock_detect.zones.events import ZoneEvent as ZoneEvent
    from penstock_detect.zones.events import ZoneEventKind as ZoneEventKind
    from penstock_detect.zones.ground import GroundOptions as GroundOptions
    from penstock_detect.zones.heat_map import HeatColors as HeatColors
    from penstock_detect.zones.heat_map import HeatMapCalculatorOptions as HeatMapCalculatorOptions
    from penstock_detect.zones.track_speed import TrackSpeed as TrackSpeed
    from penstock_detect.zones.track_speed import TrackSpeedCalculatorOptions as TrackSpeedCalculatorOptions
    from penstock_detect.zones.zone_options import LineOptions as LineOptions
    from penstock_detect.zones.zone_options import ZoneOptions as ZoneOptions
    from penstock_detect.zones.zone_options import ZonesCalculatorOptions as ZonesCalculatorOptions
    from penstock_detect.zones.zones_to_render_data import (
        ZonesToRenderDataCalculatorOptions as ZonesToRenderDataCalculatorOptions,
    )

#: Module → the names that it has.
_HOMES: Final = {
    "penstock_detect.onnx_batch_inference": "OnnxBatchInferenceCalculatorOptions",
    "penstock_detect.detector_input_options": "Axes DetectorInputCalculatorOptions",
    "penstock_detect.detector_masks": "DetectorMasksCalculatorOptions",
    "penstock_detect.detector_options": "DetectorDecoderCalculatorOptions DetectorSubgraphOptions",
    "penstock_detect.interop.annotator": "SupervisionAnnotatorCalculatorOptions",
    "penstock_detect.interop.supervision_detections": "from_supervision to_supervision",
    "penstock_detect.interop.ultralytics_results": "from_ultralytics to_ultralytics",
    "penstock_detect.model_file": "ModelFile read_model",
    "penstock_detect.outputs.layouts": "BoxUnits Layout Scores",
    "penstock_detect.outputs.masks": "MaskAxes",
    "penstock_detect.resizing": "Interpolation Resize",
    "penstock_detect.tracking.options": "Algorithm TrackerCalculatorOptions",
    "penstock_detect.zones.anchors": "Anchor",
    "penstock_detect.zones.counts": "LineCount ZoneCount ZoneCounts",
    "penstock_detect.zones.events": "ZoneEvent ZoneEventKind",
    "penstock_detect.zones.ground": "GroundOptions",
    "penstock_detect.zones.heat_map": "HeatColors HeatMapCalculatorOptions",
    "penstock_detect.zones.track_speed": "TrackSpeed TrackSpeedCalculatorOptions",
    "penstock_detect.zones.zone_options": "LineOptions ZoneOptions ZonesCalculatorOptions",
    "penstock_detect.zones.zones_to_render_data": "ZonesToRenderDataCalculatorOptions",
}

if not TYPE_CHECKING:  # type checkers know the imports above, and refuse every other name
    __all__, __getattr__, __dir__ = late_names(__name__, _HOMES)
