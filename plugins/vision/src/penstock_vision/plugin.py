"""What the pack contributes, by name; none of its modules is imported until a graph uses it."""

from __future__ import annotations

from penstock import Components, hookimpl


@hookimpl
def penstock_components() -> Components:
    """Name the calculators and their options messages."""
    return Components(
        calculators={
            "AnnotationOverlayCalculator": "penstock_vision.annotation_overlay:AnnotationOverlayCalculator",
            "DetectionsToRenderDataCalculator": (
                "penstock_vision.detections_to_render_data:DetectionsToRenderDataCalculator"
            ),
            "LabelsToRenderDataCalculator": (
                "penstock_vision.labels_to_render_data:LabelsToRenderDataCalculator"
            ),
            "LandmarksToRenderDataCalculator": (
                "penstock_vision.landmarks_to_render_data:LandmarksToRenderDataCalculator"
            ),
            "RectToRenderDataCalculator": "penstock_vision.rect_to_render_data:RectToRenderDataCalculator",
        },
        options={
            "penstock.AnnotationOverlayCalculatorOptions": (
                "penstock.CalculatorOptions",
                250607623,
                "penstock_vision.annotation_overlay_calculator_pb2:AnnotationOverlayCalculatorOptions",
            ),
            "penstock.DetectionsToRenderDataCalculatorOptions": (
                "penstock.CalculatorOptions",
                248360806,
                "penstock_vision.detections_to_render_data_calculator_pb2:DetectionsToRenderDataCalculatorOptions",
            ),
            "penstock.LabelsToRenderDataCalculatorOptions": (
                "penstock.CalculatorOptions",
                271660364,
                "penstock_vision.labels_to_render_data_calculator_pb2:LabelsToRenderDataCalculatorOptions",
            ),
            "penstock.LandmarksToRenderDataCalculatorOptions": (
                "penstock.CalculatorOptions",
                258435389,
                "penstock_vision.landmarks_to_render_data_calculator_pb2:LandmarksToRenderDataCalculatorOptions",
            ),
            "penstock.RectToRenderDataCalculatorOptions": (
                "penstock.CalculatorOptions",
                262270380,
                "penstock_vision.rect_to_render_data_calculator_pb2:RectToRenderDataCalculatorOptions",
            ),
        },
    )
