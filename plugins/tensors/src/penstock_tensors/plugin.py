"""What the pack contributes, by name; none of its modules is imported until a graph uses it."""

from __future__ import annotations

from penstock import Components, hookimpl


@hookimpl
def penstock_components() -> Components:
    """Name the calculators and their options messages."""
    return Components(
        calculators={
            "TensorsToClassificationCalculator": (
                "penstock_tensors.tensors_to_classification:TensorsToClassificationCalculator"
            ),
            "ImageToTensorCalculator": ("penstock_tensors.image_to_tensor:ImageToTensorCalculator"),
            "InferenceCalculatorCpu": "penstock_tensors.inference:InferenceCalculatorCpu",
            "InferenceCalculatorXnnpack": ("penstock_tensors.inference:InferenceCalculatorXnnpack"),
            "ResourceProviderCalculator": ("penstock_tensors.resource_provider:ResourceProviderCalculator"),
            "TensorsToDetectionsCalculator": (
                "penstock_tensors.tensors_to_detections:TensorsToDetectionsCalculator"
            ),
            "TensorsToFloatsCalculator": ("penstock_tensors.tensors_to_floats:TensorsToFloatsCalculator"),
            "TensorsToLandmarksCalculator": (
                "penstock_tensors.tensors_to_landmarks:TensorsToLandmarksCalculator"
            ),
            "TfLiteCustomOpResolverCalculator": (
                "penstock_tensors.tflite_model:TfLiteCustomOpResolverCalculator"
            ),
            "TfLiteModelCalculator": "penstock_tensors.tflite_model:TfLiteModelCalculator",
        },
        options={
            "penstock.TensorsToClassificationCalculatorOptions": (
                "penstock.CalculatorOptions",
                335742638,
                "penstock_tensors.tensors_to_classification_calculator_pb2:TensorsToClassificationCalculatorOptions",
            ),
            "penstock.ImageToTensorCalculatorOptions": (
                "penstock.CalculatorOptions",
                334361939,
                "penstock_tensors.image_to_tensor_calculator_pb2:ImageToTensorCalculatorOptions",
            ),
            "penstock.InferenceCalculatorOptions": (
                "penstock.CalculatorOptions",
                336783863,
                "penstock_tensors.inference_calculator_pb2:InferenceCalculatorOptions",
            ),
            "penstock.ResourceProviderCalculatorOptions": (
                "penstock_tensors.resource_provider_calculator_pb2:ResourceProviderCalculatorOptions"
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
            "penstock.TfLiteCustomOpResolverCalculatorOptions": (
                "penstock.CalculatorOptions",
                252087553,
                "penstock_tensors.tflite_custom_op_resolver_calculator_pb2:TfLiteCustomOpResolverCalculatorOptions",
            ),
        },
        subgraphs={
            "InferenceCalculator": ("penstock_tensors.inference_subgraph:InferenceCalculator"),
        },
        services={
            "penstock-tensors.resources": "penstock_tensors.resource_finder:RESOURCES",
        },
    )
