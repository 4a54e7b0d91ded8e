"""The components of penstock_tensors by name; a module is imported when a graph uses it.

Written by `python scripts/components.py` from the classes and messages of the package.
"""

from collections.abc import Mapping
from typing import Final

CALCULATORS: Final[Mapping[str, str]] = {
    "ImageToTensorCalculator": "penstock_tensors.inputs.image_to_tensor:ImageToTensorCalculator",
    "InferenceCalculatorCpu": "penstock_tensors.inference.inference:InferenceCalculatorCpu",
    "InferenceCalculatorXnnpack": "penstock_tensors.inference.inference:InferenceCalculatorXnnpack",
    "LandmarksToTensorCalculator": "penstock_tensors.inputs.landmarks_to_tensor:LandmarksToTensorCalculator",
    "LocalFileContentsCalculator": "penstock_tensors.inference.local_file_contents:LocalFileContentsCalculator",
    "MatrixToTensorCalculator": "penstock_tensors.conversions.matrix_to_tensor:MatrixToTensorCalculator",
    "RefineLandmarksFromHeatmapCalculator": "penstock_tensors.outputs.refine_landmarks_from_heatmap:RefineLandmarksFromHeatmapCalculator",
    "ResourceProviderCalculator": "penstock_tensors.inference.resource_provider:ResourceProviderCalculator",
    "SsdAnchorsCalculator": "penstock_tensors.outputs.ssd_anchors:SsdAnchorsCalculator",
    "TensorConverterCalculator": "penstock_tensors.inputs.tensor_converter:TensorConverterCalculator",
    "TensorSqueezeDimensionsCalculator": "penstock_tensors.conversions.tensor_squeeze_dimensions:TensorSqueezeDimensionsCalculator",
    "TensorToMatrixCalculator": "penstock_tensors.conversions.tensor_to_matrix:TensorToMatrixCalculator",
    "TensorToVectorFloatCalculator": "penstock_tensors.conversions.tensor_to_vector:TensorToVectorFloatCalculator",
    "TensorToVectorIntCalculator": "penstock_tensors.conversions.tensor_to_vector:TensorToVectorIntCalculator",
    "TensorToVectorStringCalculator": "penstock_tensors.conversions.tensor_to_vector:TensorToVectorStringCalculator",
    "TensorsToClassificationCalculator": "penstock_tensors.outputs.tensors_to_classification:TensorsToClassificationCalculator",
    "TensorsToDetectionsCalculator": "penstock_tensors.outputs.tensors_to_detections:TensorsToDetectionsCalculator",
    "TensorsToFloatsCalculator": "penstock_tensors.outputs.tensors_to_floats:TensorsToFloatsCalculator",
    "TensorsToLandmarksCalculator": "penstock_tensors.outputs.tensors_to_landmarks:TensorsToLandmarksCalculator",
    "TensorsToSegmentationCalculator": "penstock_tensors.outputs.tensors_to_segmentation:TensorsToSegmentationCalculator",
    "TfLiteConverterCalculator": "penstock_tensors.inputs.tensor_converter:TfLiteConverterCalculator",
    "TfLiteCustomOpResolverCalculator": "penstock_tensors.inference.tflite_model:TfLiteCustomOpResolverCalculator",
    "TfLiteInferenceCalculator": "penstock_tensors.inference.tflite_inference:TfLiteInferenceCalculator",
    "TfLiteModelCalculator": "penstock_tensors.inference.tflite_model:TfLiteModelCalculator",
    "TfLiteTensorsToClassificationCalculator": "penstock_tensors.outputs.tflite_decoders:TfLiteTensorsToClassificationCalculator",
    "TfLiteTensorsToDetectionsCalculator": "penstock_tensors.outputs.tflite_decoders:TfLiteTensorsToDetectionsCalculator",
    "TfLiteTensorsToFloatsCalculator": "penstock_tensors.outputs.tflite_decoders:TfLiteTensorsToFloatsCalculator",
    "TfLiteTensorsToLandmarksCalculator": "penstock_tensors.outputs.tflite_decoders:TfLiteTensorsToLandmarksCalculator",
    "TfLiteTensorsToSegmentationCalculator": "penstock_tensors.outputs.tflite_tensors_to_segmentation:TfLiteTensorsToSegmentationCalculator",
    "VectorFloatToTensorCalculator": "penstock_tensors.conversions.vector_to_tensor:VectorFloatToTensorCalculator",
    "VectorIntToTensorCalculator": "penstock_tensors.conversions.vector_to_tensor:VectorIntToTensorCalculator",
    "VectorStringToTensorCalculator": "penstock_tensors.conversions.vector_to_tensor:VectorStringToTensorCalculator",
}

SUBGRAPHS: Final[Mapping[str, str]] = {
    "InferenceCalculator": "penstock_tensors.inference.inference_subgraph:InferenceCalculator",
}

OPTIONS: Final[Mapping[str, tuple[str, int, str] | str]] = {
    "penstock.ImageFrameToTensorCalculatorOptions": ("penstock.CalculatorOptions", 120603667, "penstock_tensors.messages.image_frame_to_tensor_pb2:ImageFrameToTensorCalculatorOptions"),
    "penstock.ImageToTensorCalculatorOptions": ("penstock.CalculatorOptions", 334361939, "penstock_tensors.messages.image_to_tensor_pb2:ImageToTensorCalculatorOptions"),
    "penstock.InferenceCalculatorOptions": ("penstock.CalculatorOptions", 336783863, "penstock_tensors.messages.inference_pb2:InferenceCalculatorOptions"),
    "penstock.LandmarksToTensorCalculatorOptions": ("penstock.CalculatorOptions", 394810235, "penstock_tensors.messages.landmarks_to_tensor_pb2:LandmarksToTensorCalculatorOptions"),
    "penstock.LappedTensorBufferCalculatorOptions": ("penstock.CalculatorOptions", 175222228, "penstock_tensors.messages.lapped_tensor_buffer_pb2:LappedTensorBufferCalculatorOptions"),
    "penstock.LocalFileContentsCalculatorOptions": ("penstock.CalculatorOptions", 346849340, "penstock_tensors.messages.local_file_contents_pb2:LocalFileContentsCalculatorOptions"),
    "penstock.MatrixToTensorCalculatorOptions": ("penstock.CalculatorOptions", 130781699, "penstock_tensors.messages.matrix_to_tensor_pb2:MatrixToTensorCalculatorOptions"),
    "penstock.ObjectDetectionsTensorToDetectionsCalculatorOptions": ("penstock.CalculatorOptions", 192676232, "penstock_tensors.messages.object_detection_tensors_to_detections_pb2:ObjectDetectionsTensorToDetectionsCalculatorOptions"),
    "penstock.RefineLandmarksFromHeatmapCalculatorOptions": ("penstock.CalculatorOptions", 362281653, "penstock_tensors.messages.refine_landmarks_from_heatmap_pb2:RefineLandmarksFromHeatmapCalculatorOptions"),
    "penstock.ResourceProviderCalculatorOptions": "penstock_tensors.messages.resource_provider_pb2:ResourceProviderCalculatorOptions",
    "penstock.SsdAnchorsCalculatorOptions": ("penstock.CalculatorOptions", 247258239, "penstock_tensors.messages.ssd_anchors_pb2:SsdAnchorsCalculatorOptions"),
    "penstock.TensorConverterCalculatorOptions": ("penstock.CalculatorOptions", 335742637, "penstock_tensors.messages.tensor_converter_pb2:TensorConverterCalculatorOptions"),
    "penstock.TensorSqueezeDimensionsCalculatorOptions": ("penstock.CalculatorOptions", 115619805, "penstock_tensors.messages.tensor_squeeze_dimensions_pb2:TensorSqueezeDimensionsCalculatorOptions"),
    "penstock.TensorToImageFrameCalculatorOptions": ("penstock.CalculatorOptions", 142032475, "penstock_tensors.messages.tensor_to_image_frame_pb2:TensorToImageFrameCalculatorOptions"),
    "penstock.TensorToMatrixCalculatorOptions": ("penstock.CalculatorOptions", 136654056, "penstock_tensors.messages.tensor_to_matrix_pb2:TensorToMatrixCalculatorOptions"),
    "penstock.TensorToVectorFloatCalculatorOptions": ("penstock.CalculatorOptions", 120862965, "penstock_tensors.messages.tensor_to_vector_pb2:TensorToVectorFloatCalculatorOptions"),
    "penstock.TensorToVectorIntCalculatorOptions": ("penstock.CalculatorOptions", 464933130, "penstock_tensors.messages.tensor_to_vector_pb2:TensorToVectorIntCalculatorOptions"),
    "penstock.TensorToVectorStringCalculatorOptions": ("penstock.CalculatorOptions", 386534187, "penstock_tensors.messages.tensor_to_vector_pb2:TensorToVectorStringCalculatorOptions"),
    "penstock.TensorsToClassificationCalculatorOptions": ("penstock.CalculatorOptions", 335742638, "penstock_tensors.messages.tensors_to_classification_pb2:TensorsToClassificationCalculatorOptions"),
    "penstock.TensorsToDetectionsCalculatorOptions": ("penstock.CalculatorOptions", 335742639, "penstock_tensors.messages.tensors_to_detections_pb2:TensorsToDetectionsCalculatorOptions"),
    "penstock.TensorsToFloatsCalculatorOptions": ("penstock.CalculatorOptions", 343499115, "penstock_tensors.messages.tensors_to_floats_pb2:TensorsToFloatsCalculatorOptions"),
    "penstock.TensorsToLandmarksCalculatorOptions": ("penstock.CalculatorOptions", 335742640, "penstock_tensors.messages.tensors_to_landmarks_pb2:TensorsToLandmarksCalculatorOptions"),
    "penstock.TensorsToSegmentationCalculatorOptions": ("penstock.CalculatorOptions", 374311106, "penstock_tensors.messages.tensors_to_segmentation_pb2:TensorsToSegmentationCalculatorOptions"),
    "penstock.TfLiteConverterCalculatorOptions": ("penstock.CalculatorOptions", 245817797, "penstock_tensors.messages.tensor_converter_pb2:TfLiteConverterCalculatorOptions"),
    "penstock.TfLiteCustomOpResolverCalculatorOptions": ("penstock.CalculatorOptions", 252087553, "penstock_tensors.messages.tflite_model_pb2:TfLiteCustomOpResolverCalculatorOptions"),
    "penstock.TfLiteInferenceCalculatorOptions": ("penstock.CalculatorOptions", 233867213, "penstock_tensors.messages.tflite_inference_pb2:TfLiteInferenceCalculatorOptions"),
    "penstock.TfLiteTensorsToClassificationCalculatorOptions": ("penstock.CalculatorOptions", 266399463, "penstock_tensors.messages.tflite_decoders_pb2:TfLiteTensorsToClassificationCalculatorOptions"),
    "penstock.TfLiteTensorsToDetectionsCalculatorOptions": ("penstock.CalculatorOptions", 246514968, "penstock_tensors.messages.tflite_decoders_pb2:TfLiteTensorsToDetectionsCalculatorOptions"),
    "penstock.TfLiteTensorsToLandmarksCalculatorOptions": ("penstock.CalculatorOptions", 257405002, "penstock_tensors.messages.tflite_decoders_pb2:TfLiteTensorsToLandmarksCalculatorOptions"),
    "penstock.TfLiteTensorsToSegmentationCalculatorOptions": ("penstock.CalculatorOptions", 252526026, "penstock_tensors.messages.tflite_tensors_to_segmentation_pb2:TfLiteTensorsToSegmentationCalculatorOptions"),
    "penstock.VectorFloatToTensorCalculatorOptions": ("penstock.CalculatorOptions", 136399889, "penstock_tensors.messages.vector_to_tensor_pb2:VectorFloatToTensorCalculatorOptions"),
    "penstock.VectorIntToTensorCalculatorOptions": ("penstock.CalculatorOptions", 275364184, "penstock_tensors.messages.vector_to_tensor_pb2:VectorIntToTensorCalculatorOptions"),
    "penstock.VectorStringToTensorCalculatorOptions": ("penstock.CalculatorOptions", 357221188, "penstock_tensors.messages.vector_to_tensor_pb2:VectorStringToTensorCalculatorOptions"),
}
