"""Adapters: what other libraries find goes wherever a graph takes detections.

Neither library is imported: their objects are known by their attributes, so that the calculators can be
listed and checked without them.
"""

from __future__ import annotations

import numpy as np

import penstock
from penstock_detect.interop.columns import of_supervision
from penstock_detect.interop.ultralytics_results import from_ultralytics
from penstock_formats import Detection, LocationData


@penstock.calculator("UltralyticsAdapterCalculator")
def ultralytics_to_detections(results: object) -> list[Detection]:
    """Make detections of a `Results` of Ultralytics; as UltralyticsToDetectionsCalculator.

    Args:
        results: one image's, as `model(frame)[0]` gives it.

    Raises:
        InvalidArgumentError: it is something else, or has no boxes.

    Example:
        node {
          calculator: "UltralyticsAdapterCalculator"
          input_stream: "results"
          output_stream: "detections"
        }
    """
    return from_ultralytics(results)


@penstock.calculator("SupervisionAdapterCalculator")
def supervision_to_detections(found: object) -> list[Detection]:
    """Make detections of a `supervision.Detections`, with boxes in whole pixels.

    A `supervision.Detections` does not say how large its image is, so a detection has a BOUNDING_BOX, whose
    edges are rounded. SupervisionToDetectionsCalculator gets the image too, and makes boxes in fractions of
    it, which are exact. Score, class, class name and track as there.

    Args:
        found: of one image, in pixels.

    Raises:
        InvalidArgumentError: it is something else.

    Example:
        node {
          calculator: "SupervisionAdapterCalculator"
          input_stream: "found"
          output_stream: "detections"
        }
    """
    columns = of_supervision(found)
    made = []
    edges = np.rint(columns.boxes).astype(int).tolist()
    for row, (left, top, right, bottom) in enumerate(edges):
        place = LocationData(
            format=LocationData.BOUNDING_BOX,
            bounding_box={"xmin": left, "ymin": top, "width": right - left, "height": bottom - top},
        )
        one = Detection(score=[float(columns.scores[row])], location_data=place)
        if columns.names[row]:
            one.label.append(columns.names[row])
        if columns.classes[row] >= 0:
            one.label_id.append(int(columns.classes[row]))
        if columns.ids is not None:
            one.detection_id = int(columns.ids[row])
        made.append(one)
    return made
