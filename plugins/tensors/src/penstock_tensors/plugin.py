"""What the pack contributes, by name; none of its modules is imported until a graph uses it."""

from __future__ import annotations

from penstock import Components, hookimpl


@hookimpl
def penstock_components() -> Components:
    """Name the calculators and their options messages."""
    return Components(
        calculators={
            "ImageToTensorCalculator": "penstock_tensors.image_to_tensor:ImageToTensorCalculator",
            "InferenceCalculatorCpu": "penstock_tensors.inference:InferenceCalculatorCpu",
            "InferenceCalculatorXnnpack": "penstock_tensors.inference:InferenceCalculatorXnnpack",
            "ResourceProviderCalculator": "penstock_tensors.resource_provider:ResourceProviderCalculator",
            "SsdAnchorsCalculator": "penstock_tensors.ssd_anchors:SsdAnchorsCalculator",
            "TfLiteCustomOpResolverCalculator": (
                "penstock_tensors.tflite_model:TfLiteCustomOpResolverCalculator"
            ),
            "TfLiteModelCalculator": "penstock_tensors.tflite_model:TfLiteModelCalculator",
        },
        subgraphs={
            "InferenceCalculator": "penstock_tensors.inference_subgraph:InferenceCalculator",
        },
        services={"penstock-tensors.resources": "penstock_tensors.resource_finder:RESOURCES"},
        options={
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
            "penstock.SsdAnchorsCalculatorOptions": (
                "penstock.CalculatorOptions",
                247258239,
                "penstock_tensors.ssd_anchors_calculator_pb2:SsdAnchorsCalculatorOptions",
            ),
            "penstock.TfLiteCustomOpResolverCalculatorOptions": (
                "penstock.CalculatorOptions",
                252087553,
                "penstock_tensors.tflite_custom_op_resolver_calculator_pb2:"
                "TfLiteCustomOpResolverCalculatorOptions",
            ),
        },
    )
