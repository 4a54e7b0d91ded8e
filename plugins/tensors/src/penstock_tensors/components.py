"""The components of penstock_tensors by name; a module is imported when a graph uses it.

Written by `python scripts/components.py` from the classes and messages of the package.
"""

from collections.abc import Mapping
from typing import Final

CALCULATORS: Final[Mapping[str, str]] = {
    "BertPreprocessorCalculator": "penstock_tensors.inputs.bert_preprocessor:BertPreprocessorCalculator",
    "FeedbackTensorsCalculator": "penstock_tensors.inputs.feedback_tensors:FeedbackTensorsCalculator",
    "ImageToTensorCalculator": "penstock_tensors.inputs.image_to_tensor:ImageToTensorCalculator",
    "InferenceCalculatorCpu": "penstock_tensors.inference.inference:InferenceCalculatorCpu",
    "InferenceCalculatorXnnpack": "penstock_tensors.inference.inference:InferenceCalculatorXnnpack",
    "LandmarksToTensorCalculator": "penstock_tensors.inputs.landmarks_to_tensor:LandmarksToTensorCalculator",
    "LocalFileContentsCalculator": "penstock_tensors.inference.local_file_contents:LocalFileContentsCalculator",
    "RefineLandmarksFromHeatmapCalculator": "penstock_tensors.outputs.refine_landmarks_from_heatmap:RefineLandmarksFromHeatmapCalculator",
    "RegexPreprocessorCalculator": "penstock_tensors.inputs.regex_preprocessor:RegexPreprocessorCalculator",
    "ResourceProviderCalculator": "penstock_tensors.inference.resource_provider:ResourceProviderCalculator",
    "SsdAnchorsCalculator": "penstock_tensors.outputs.ssd_anchors:SsdAnchorsCalculator",
    "TensorConverterCalculator": "penstock_tensors.inputs.tensor_converter:TensorConverterCalculator",
    "TensorToJointsCalculator": "penstock_tensors.outputs.tensor_to_joints:TensorToJointsCalculator",
    "TensorsDequantizationCalculator": "penstock_tensors.outputs.tensors_dequantization:TensorsDequantizationCalculator",
    "TensorsToClassificationCalculator": "penstock_tensors.outputs.tensors_to_classification:TensorsToClassificationCalculator",
    "TensorsToDetectionsCalculator": "penstock_tensors.outputs.tensors_to_detections:TensorsToDetectionsCalculator",
    "TensorsToFloatsCalculator": "penstock_tensors.outputs.tensors_to_floats:TensorsToFloatsCalculator",
    "TensorsToLandmarksCalculator": "penstock_tensors.outputs.tensors_to_landmarks:TensorsToLandmarksCalculator",
    "TensorsToSegmentationCalculator": "penstock_tensors.outputs.tensors_to_segmentation:TensorsToSegmentationCalculator",
    "TextToTensorCalculator": "penstock_tensors.inputs.text_to_tensor:TextToTensorCalculator",
    "TfLiteConverterCalculator": "penstock_tensors.inputs.tensor_converter:TfLiteConverterCalculator",
    "TfLiteCustomOpResolverCalculator": "penstock_tensors.inference.tflite_model:TfLiteCustomOpResolverCalculator",
    "TfLiteInferenceCalculator": "penstock_tensors.inference.tflite_inference:TfLiteInferenceCalculator",
    "TfLiteModelCalculator": "penstock_tensors.inference.tflite_model:TfLiteModelCalculator",
    "TfLiteTensorsToClassificationCalculator": "penstock_tensors.outputs.tflite_decoders:TfLiteTensorsToClassificationCalculator",
    "TfLiteTensorsToDetectionsCalculator": "penstock_tensors.outputs.tflite_decoders:TfLiteTensorsToDetectionsCalculator",
    "TfLiteTensorsToFloatsCalculator": "penstock_tensors.outputs.tflite_decoders:TfLiteTensorsToFloatsCalculator",
    "TfLiteTensorsToLandmarksCalculator": "penstock_tensors.outputs.tflite_decoders:TfLiteTensorsToLandmarksCalculator",
    "TfLiteTensorsToSegmentationCalculator": "penstock_tensors.outputs.tflite_tensors_to_segmentation:TfLiteTensorsToSegmentationCalculator",
    "UniversalSentenceEncoderPreprocessorCalculator": "penstock_tensors.inputs.text_to_tensor:UniversalSentenceEncoderPreprocessorCalculator",
    "VectorToTensorCalculator": "penstock_tensors.inputs.vector_to_tensor:VectorToTensorCalculator",
}

SUBGRAPHS: Final[Mapping[str, str]] = {
    "InferenceCalculator": "penstock_tensors.inference.inference_subgraph:InferenceCalculator",
}

OPTIONS: Final[Mapping[str, tuple[str, int, str] | str]] = {
    "penstock.BertPreprocessorCalculatorOptions": ("penstock.CalculatorOptions", 462509271, "penstock_tensors.messages.bert_preprocessor_pb2:BertPreprocessorCalculatorOptions"),
    "penstock.FeedbackTensorsCalculatorOptions": ("penstock.CalculatorOptions", 474496252, "penstock_tensors.messages.feedback_tensors_pb2:FeedbackTensorsCalculatorOptions"),
    "penstock.ImageToTensorCalculatorOptions": ("penstock.CalculatorOptions", 334361939, "penstock_tensors.messages.image_to_tensor_pb2:ImageToTensorCalculatorOptions"),
    "penstock.InferenceCalculatorOptions": ("penstock.CalculatorOptions", 336783863, "penstock_tensors.messages.inference_pb2:InferenceCalculatorOptions"),
    "penstock.LandmarksToTensorCalculatorOptions": ("penstock.CalculatorOptions", 394810235, "penstock_tensors.messages.landmarks_to_tensor_pb2:LandmarksToTensorCalculatorOptions"),
    "penstock.LocalFileContentsCalculatorOptions": ("penstock.CalculatorOptions", 346849340, "penstock_tensors.messages.local_file_contents_pb2:LocalFileContentsCalculatorOptions"),
    "penstock.RefineLandmarksFromHeatmapCalculatorOptions": ("penstock.CalculatorOptions", 362281653, "penstock_tensors.messages.refine_landmarks_from_heatmap_pb2:RefineLandmarksFromHeatmapCalculatorOptions"),
    "penstock.RegexPreprocessorCalculatorOptions": ("penstock.CalculatorOptions", 463716697, "penstock_tensors.messages.regex_preprocessor_pb2:RegexPreprocessorCalculatorOptions"),
    "penstock.ResourceProviderCalculatorOptions": "penstock_tensors.messages.resource_provider_pb2:ResourceProviderCalculatorOptions",
    "penstock.SsdAnchorsCalculatorOptions": ("penstock.CalculatorOptions", 247258239, "penstock_tensors.messages.ssd_anchors_pb2:SsdAnchorsCalculatorOptions"),
    "penstock.TensorConverterCalculatorOptions": ("penstock.CalculatorOptions", 335742637, "penstock_tensors.messages.tensor_converter_pb2:TensorConverterCalculatorOptions"),
    "penstock.TensorToJointsCalculatorOptions": ("penstock.CalculatorOptions", 406440177, "penstock_tensors.messages.tensor_to_joints_pb2:TensorToJointsCalculatorOptions"),
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
    "penstock.VectorToTensorCalculatorOptions": "penstock_tensors.messages.vector_to_tensor_pb2:VectorToTensorCalculatorOptions",
}
