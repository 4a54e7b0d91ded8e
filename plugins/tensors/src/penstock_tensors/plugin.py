"""What the pack contributes, by name; none of its modules is imported until a graph uses it."""

from __future__ import annotations

from penstock import Components, hookimpl


@hookimpl
def penstock_components() -> Components:
    """Name the calculators and their options messages."""
    return Components(
        calculators={
            "ImageToTensorCalculator": ("penstock_tensors.image_to_tensor:ImageToTensorCalculator"),
            "InferenceCalculatorCpu": "penstock_tensors.inference:InferenceCalculatorCpu",
            "InferenceCalculatorXnnpack": ("penstock_tensors.inference:InferenceCalculatorXnnpack"),
            "LandmarksToTensorCalculator": (
                "penstock_tensors.landmarks_to_tensor:LandmarksToTensorCalculator"
            ),
            "LocalFileContentsCalculator": (
                "penstock_tensors.local_file_contents:LocalFileContentsCalculator"
            ),
            "RefineLandmarksFromHeatmapCalculator": (
                "penstock_tensors.refine_landmarks_from_heatmap:RefineLandmarksFromHeatmapCalculator"
            ),
            "ResourceProviderCalculator": ("penstock_tensors.resource_provider:ResourceProviderCalculator"),
            "SsdAnchorsCalculator": "penstock_tensors.ssd_anchors:SsdAnchorsCalculator",
            "TensorConverterCalculator": ("penstock_tensors.tensor_converter:TensorConverterCalculator"),
            "TensorsToClassificationCalculator": (
                "penstock_tensors.tensors_to_classification:TensorsToClassificationCalculator"
            ),
            "TensorsToDetectionsCalculator": (
                "penstock_tensors.tensors_to_detections:TensorsToDetectionsCalculator"
            ),
            "TensorsToFloatsCalculator": ("penstock_tensors.tensors_to_floats:TensorsToFloatsCalculator"),
            "TensorsToLandmarksCalculator": (
                "penstock_tensors.tensors_to_landmarks:TensorsToLandmarksCalculator"
            ),
            "TensorsToSegmentationCalculator": (
                "penstock_tensors.tensors_to_segmentation:TensorsToSegmentationCalculator"
            ),
            "TfLiteConverterCalculator": ("penstock_tensors.tensor_converter:TfLiteConverterCalculator"),
            "TfLiteCustomOpResolverCalculator": (
                "penstock_tensors.tflite_model:TfLiteCustomOpResolverCalculator"
            ),
            "TfLiteInferenceCalculator": ("penstock_tensors.tflite_inference:TfLiteInferenceCalculator"),
            "TfLiteModelCalculator": "penstock_tensors.tflite_model:TfLiteModelCalculator",
            "TfLiteTensorsToClassificationCalculator": (
                "penstock_tensors.tflite_decoders:TfLiteTensorsToClassificationCalculator"
            ),
            "TfLiteTensorsToDetectionsCalculator": (
                "penstock_tensors.tflite_decoders:TfLiteTensorsToDetectionsCalculator"
            ),
            "TfLiteTensorsToFloatsCalculator": (
                "penstock_tensors.tflite_decoders:TfLiteTensorsToFloatsCalculator"
            ),
            "TfLiteTensorsToLandmarksCalculator": (
                "penstock_tensors.tflite_decoders:TfLiteTensorsToLandmarksCalculator"
            ),
            "TfLiteTensorsToSegmentationCalculator": (
                "penstock_tensors.tflite_tensors_to_segmentation:TfLiteTensorsToSegmentationCalculator"
            ),
        },
        subgraphs={
            "InferenceCalculator": ("penstock_tensors.inference_subgraph:InferenceCalculator"),
        },
        services={
            "penstock-tensors.resources": "penstock_tensors.resource_finder:RESOURCES",
        },
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
            "penstock.LandmarksToTensorCalculatorOptions": (
                "penstock.CalculatorOptions",
                394810235,
                "penstock_tensors.landmarks_to_tensor_calculator_pb2:LandmarksToTensorCalculatorOptions",
            ),
            "penstock.LocalFileContentsCalculatorOptions": (
                "penstock.CalculatorOptions",
                346849340,
                "penstock_tensors.local_file_contents_calculator_pb2:LocalFileContentsCalculatorOptions",
            ),
            "penstock.RefineLandmarksFromHeatmapCalculatorOptions": (
                "penstock.CalculatorOptions",
                362281653,
                "penstock_tensors.refine_landmarks_from_heatmap_calculator_pb2:RefineLandmarksFromHeatmapCalculatorOptions",
            ),
            "penstock.ResourceProviderCalculatorOptions": (
                "penstock_tensors.resource_provider_calculator_pb2:ResourceProviderCalculatorOptions"
            ),
            "penstock.SsdAnchorsCalculatorOptions": (
                "penstock.CalculatorOptions",
                247258239,
                "penstock_tensors.ssd_anchors_calculator_pb2:SsdAnchorsCalculatorOptions",
            ),
            "penstock.TensorConverterCalculatorOptions": (
                "penstock.CalculatorOptions",
                335742637,
                "penstock_tensors.tensor_converter_calculator_pb2:TensorConverterCalculatorOptions",
            ),
            "penstock.TensorsToClassificationCalculatorOptions": (
                "penstock.CalculatorOptions",
                335742638,
                "penstock_tensors.tensors_to_classification_calculator_pb2:TensorsToClassificationCalculatorOptions",
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
            "penstock.TensorsToSegmentationCalculatorOptions": (
                "penstock.CalculatorOptions",
                374311106,
                "penstock_tensors.tensors_to_segmentation_calculator_pb2:TensorsToSegmentationCalculatorOptions",
            ),
            "penstock.TfLiteConverterCalculatorOptions": (
                "penstock.CalculatorOptions",
                245817797,
                "penstock_tensors.tflite_converter_calculator_pb2:TfLiteConverterCalculatorOptions",
            ),
            "penstock.TfLiteCustomOpResolverCalculatorOptions": (
                "penstock.CalculatorOptions",
                252087553,
                "penstock_tensors.tflite_custom_op_resolver_calculator_pb2:TfLiteCustomOpResolverCalculatorOptions",
            ),
            "penstock.TfLiteInferenceCalculatorOptions": (
                "penstock.CalculatorOptions",
                233867213,
                "penstock_tensors.tflite_inference_calculator_pb2:TfLiteInferenceCalculatorOptions",
            ),
            "penstock.TfLiteTensorsToClassificationCalculatorOptions": (
                "penstock.CalculatorOptions",
                266399463,
                "penstock_tensors.tflite_tensors_to_classification_calculator_pb2:TfLiteTensorsToClassificationCalculatorOptions",
            ),
            "penstock.TfLiteTensorsToDetectionsCalculatorOptions": (
                "penstock.CalculatorOptions",
                246514968,
                "penstock_tensors.tflite_tensors_to_detections_calculator_pb2:TfLiteTensorsToDetectionsCalculatorOptions",
            ),
            "penstock.TfLiteTensorsToLandmarksCalculatorOptions": (
                "penstock.CalculatorOptions",
                257405002,
                "penstock_tensors.tflite_tensors_to_landmarks_calculator_pb2:TfLiteTensorsToLandmarksCalculatorOptions",
            ),
            "penstock.TfLiteTensorsToSegmentationCalculatorOptions": (
                "penstock.CalculatorOptions",
                252526026,
                "penstock_tensors.tflite_tensors_to_segmentation_calculator_pb2:TfLiteTensorsToSegmentationCalculatorOptions",
            ),
        },
    )
