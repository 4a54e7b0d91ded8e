"""The components of penstock_detect by name; a module is imported when a graph uses it.

Written by `python scripts/components.py` from the classes and messages of the package.
"""

from collections.abc import Mapping
from typing import Final

CALCULATORS: Final[Mapping[str, str]] = {
    "DetectionsToSupervisionCalculator": "penstock_detect.interop.supervision_detections:DetectionsToSupervisionCalculator",
    "DetectionsToUltralyticsCalculator": "penstock_detect.interop.ultralytics_results:DetectionsToUltralyticsCalculator",
    "DetectorDecoderCalculator": "penstock_detect.detector_decoder:DetectorDecoderCalculator",
    "DetectorInputCalculator": "penstock_detect.detector_input:DetectorInputCalculator",
    "DetectorMasksCalculator": "penstock_detect.detector_masks:DetectorMasksCalculator",
    "OnnxBatchInferenceCalculator": "penstock_detect.batch_inference:OnnxBatchInferenceCalculator",
    "SupervisionAnnotatorCalculator": "penstock_detect.interop.annotator:SupervisionAnnotatorCalculator",
    "SupervisionToDetectionsCalculator": "penstock_detect.interop.supervision_detections:SupervisionToDetectionsCalculator",
    "UltralyticsToDetectionsCalculator": "penstock_detect.interop.ultralytics_results:UltralyticsToDetectionsCalculator",
}

SUBGRAPHS: Final[Mapping[str, str]] = {
    "DetectorSubgraph": "penstock_detect.detector_subgraph:DetectorSubgraph",
}
