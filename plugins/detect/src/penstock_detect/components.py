"""The components of penstock_detect by name; a module is imported when a graph uses it.

Written by `python scripts/components.py` from the classes and messages of the package.
"""

from collections.abc import Mapping
from typing import Final

CALCULATORS: Final[Mapping[str, str]] = {
    "DetectionsToJsonCalculator": "penstock_detect.detections_to_json:DetectionsToJsonCalculator",
    "DetectionsToSupervisionCalculator": "penstock_detect.interop.supervision_detections:DetectionsToSupervisionCalculator",
    "DetectionsToUltralyticsCalculator": "penstock_detect.interop.ultralytics_results:DetectionsToUltralyticsCalculator",
    "DetectorDecoderCalculator": "penstock_detect.detector_decoder:DetectorDecoderCalculator",
    "DetectorInputCalculator": "penstock_detect.detector_input:DetectorInputCalculator",
    "DetectorMasksCalculator": "penstock_detect.detector_masks:DetectorMasksCalculator",
    "EventFileSinkCalculator": "penstock_detect.zones.event_sink:EventFileSinkCalculator",
    "EventsToJsonCalculator": "penstock_detect.zones.events_to_json:EventsToJsonCalculator",
    "HeatMapCalculator": "penstock_detect.zones.heat_map:HeatMapCalculator",
    "OnnxBatchInferenceCalculator": "penstock_detect.onnx_batch_inference:OnnxBatchInferenceCalculator",
    "SupervisionAnnotatorCalculator": "penstock_detect.interop.annotator:SupervisionAnnotatorCalculator",
    "SupervisionToDetectionsCalculator": "penstock_detect.interop.supervision_detections:SupervisionToDetectionsCalculator",
    "TrackSpeedCalculator": "penstock_detect.zones.track_speed:TrackSpeedCalculator",
    "TrackerCalculator": "penstock_detect.tracker:TrackerCalculator",
    "UltralyticsToDetectionsCalculator": "penstock_detect.interop.ultralytics_results:UltralyticsToDetectionsCalculator",
    "WebhookSinkCalculator": "penstock_detect.zones.webhook_sink:WebhookSinkCalculator",
    "ZonesCalculator": "penstock_detect.zones.zone_counter:ZonesCalculator",
    "ZonesToRenderDataCalculator": "penstock_detect.zones.zones_to_render_data:ZonesToRenderDataCalculator",
}

SUBGRAPHS: Final[Mapping[str, str]] = {
    "DetectorSubgraph": "penstock_detect.detector_subgraph:DetectorSubgraph",
}
