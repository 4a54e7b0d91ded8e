"""Detectors that users bring: from images and a model to boxes, masks, key points and classes.

The names are imported when they are first used, so finding this pack does not import what they need.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from penstock.lowlevel import late_names

if TYPE_CHECKING:
    from penstock_detect.batch_inference import (
        OnnxBatchInferenceCalculatorOptions as OnnxBatchInferenceCalculatorOptions,
    )
    from penstock_detect.detector_subgraph import DetectorSubgraphOptions as DetectorSubgraphOptions
    from penstock_detect.interop.annotator import (
        SupervisionAnnotatorCalculatorOptions as SupervisionAnnotatorCalculatorOptions,
    )
    from penstock_detect.interop.supervision_detections import from_supervision as from_supervision
    from penstock_detect.interop.supervision_detections import to_supervision as to_supervision
    from penstock_detect.interop.ultralytics_results import from_ultralytics as from_ultralytics
    from penstock_detect.interop.ultralytics_results import to_ultralytics as to_ultralytics
    from penstock_detect.model_file import ModelFile as ModelFile
    from penstock_detect.model_file import read_model as read_model
    from penstock_detect.options import Axes as Axes
    from penstock_detect.options import DetectorDecoderCalculatorOptions as DetectorDecoderCalculatorOptions
    from penstock_detect.options import DetectorInputCalculatorOptions as DetectorInputCalculatorOptions
    from penstock_detect.options import DetectorMasksCalculatorOptions as DetectorMasksCalculatorOptions
    from penstock_detect.options import Layout as Layout
    from penstock_detect.options import Resize as Resize
    from penstock_detect.options import Scores as Scores

#: Module → the names that it has.
_HOMES: Final = {
    "penstock_detect.batch_inference": "OnnxBatchInferenceCalculatorOptions",
    "penstock_detect.detector_subgraph": "DetectorSubgraphOptions",
    "penstock_detect.interop.annotator": "SupervisionAnnotatorCalculatorOptions",
    "penstock_detect.interop.supervision_detections": "from_supervision to_supervision",
    "penstock_detect.interop.ultralytics_results": "from_ultralytics to_ultralytics",
    "penstock_detect.model_file": "ModelFile read_model",
    "penstock_detect.options": (
        "Axes DetectorDecoderCalculatorOptions DetectorInputCalculatorOptions "
        "DetectorMasksCalculatorOptions Layout Resize Scores"
    ),
}

if not TYPE_CHECKING:  # type checkers know the imports above, and refuse every other name
    __all__, __getattr__, __dir__ = late_names(__name__, _HOMES)
