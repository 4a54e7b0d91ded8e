"""What the pack contributes, by name; none of its modules is imported until a graph uses it."""

from __future__ import annotations

from penstock import Components, hookimpl


@hookimpl
def penstock_components() -> Components:
    """Name the calculators and their options messages."""
    return Components(
        calculators={
            "ImageToTensorCalculator": "penstock_tensors.image_to_tensor:ImageToTensorCalculator",
            "TensorsToDetectionsCalculator": "penstock_tensors.tensors_to_detections:TensorsToDetectionsCalculator",
            "TensorsToFloatsCalculator": "penstock_tensors.tensors_to_floats:TensorsToFloatsCalculator",
            "TensorsToLandmarksCalculator": "penstock_tensors.tensors_to_landmarks:TensorsToLandmarksCalculator",
        },
        options={
            "penstock.ImageToTensorCalculatorOptions": (
                "penstock.CalculatorOptions",
                334361939,
                "penstock_tensors.image_to_tensor_calculator_pb2:ImageToTensorCalculatorOptions",
            ),
            "penstock.TensorsToDetectionsCalculatorOptions": (
                "penstock.CalculatorOptions",
                335742639,
                "penstock_tensors.tensors_to_detections_calculator_pb2:TensorsToDetectionsCalculatorOptions",
            ),
            "penstock.TensorsToFloatsCalculatorOptions": (
                "penstock.CalculatorOptions",
                343499115,
                "penstock_tensors.tensors_to_floats_calculator_pb2:TensorsToFloatsCalculatorOptions",
            ),
            "penstock.TensorsToLandmarksCalculatorOptions": (
                "penstock.CalculatorOptions",
                335742640,
                "penstock_tensors.tensors_to_landmarks_calculator_pb2:TensorsToLandmarksCalculatorOptions",
            ),
        },
    )
