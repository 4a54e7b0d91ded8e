"""What the pack contributes, by name; none of its modules is imported until a graph uses it."""

from __future__ import annotations

from penstock import Components, hookimpl


@hookimpl
def penstock_components() -> Components:
    """Name the calculators and their options messages."""
    here = "penstock_tensors"
    classification = "tensors_to_classification"
    return Components(
        calculators={
            "ImageToTensorCalculator": f"{here}.image_to_tensor:ImageToTensorCalculator",
            "InferenceCalculatorCpu": f"{here}.inference:InferenceCalculatorCpu",
            "InferenceCalculatorXnnpack": f"{here}.inference:InferenceCalculatorXnnpack",
            "ResourceProviderCalculator": f"{here}.resource_provider:ResourceProviderCalculator",
            "SsdAnchorsCalculator": f"{here}.ssd_anchors:SsdAnchorsCalculator",
            "TensorsToClassificationCalculator": f"{here}.{classification}:TensorsToClassificationCalculator",
            "TensorsToDetectionsCalculator": f"{here}.tensors_to_detections:TensorsToDetectionsCalculator",
            "TensorsToFloatsCalculator": f"{here}.tensors_to_floats:TensorsToFloatsCalculator",
            "TensorsToLandmarksCalculator": f"{here}.tensors_to_landmarks:TensorsToLandmarksCalculator",
            "TfLiteCustomOpResolverCalculator": f"{here}.tflite_model:TfLiteCustomOpResolverCalculator",
            "TfLiteModelCalculator": f"{here}.tflite_model:TfLiteModelCalculator",
        },
        subgraphs={
            "InferenceCalculator": f"{here}.inference_subgraph:InferenceCalculator",
        },
        services={"penstock-tensors.resources": f"{here}.resource_finder:RESOURCES"},
        options={
            "penstock.ImageToTensorCalculatorOptions": (
                "penstock.CalculatorOptions",
                334361939,
                f"{here}.image_to_tensor_calculator_pb2:ImageToTensorCalculatorOptions",
            ),
            "penstock.InferenceCalculatorOptions": (
                "penstock.CalculatorOptions",
                336783863,
                f"{here}.inference_calculator_pb2:InferenceCalculatorOptions",
            ),
            "penstock.ResourceProviderCalculatorOptions": (
                f"{here}.resource_provider_calculator_pb2:ResourceProviderCalculatorOptions"
            ),
            "penstock.SsdAnchorsCalculatorOptions": (
                "penstock.CalculatorOptions",
                247258239,
                f"{here}.ssd_anchors_calculator_pb2:SsdAnchorsCalculatorOptions",
            ),
            "penstock.TensorsToClassificationCalculatorOptions": (
                "penstock.CalculatorOptions",
                335742638,
                f"{here}.{classification}_calculator_pb2:TensorsToClassificationCalculatorOptions",
            ),
            "penstock.TensorsToDetectionsCalculatorOptions": (
                "penstock.CalculatorOptions",
                335742639,
                f"{here}.tensors_to_detections_calculator_pb2:TensorsToDetectionsCalculatorOptions",
            ),
            "penstock.TensorsToFloatsCalculatorOptions": (
                "penstock.CalculatorOptions",
                343499115,
                f"{here}.tensors_to_floats_calculator_pb2:TensorsToFloatsCalculatorOptions",
            ),
            "penstock.TensorsToLandmarksCalculatorOptions": (
                "penstock.CalculatorOptions",
                335742640,
                f"{here}.tensors_to_landmarks_calculator_pb2:TensorsToLandmarksCalculatorOptions",
            ),
            "penstock.TfLiteCustomOpResolverCalculatorOptions": (
                "penstock.CalculatorOptions",
                252087553,
                f"{here}.tflite_custom_op_resolver_calculator_pb2:TfLiteCustomOpResolverCalculatorOptions",
            ),
        },
    )
