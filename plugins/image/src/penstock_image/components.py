"""The components of penstock_image by name; a module is imported when a graph uses it.

Written by `python scripts/components.py` from the classes and messages of the package.
"""

from collections.abc import Mapping
from typing import Final

CALCULATORS: Final[Mapping[str, str]] = {
    "BilateralFilterCalculator": "penstock_image.filters.bilateral_filter:BilateralFilterCalculator",
    "CannyEdgeCalculator": "penstock_image.filters.canny_edge:CannyEdgeCalculator",
    "ColorConvertCalculator": "penstock_image.color_convert:ColorConvertCalculator",
    "ColorMapCalculator": "penstock_image.painting.color_map:ColorMapCalculator",
    "FeatureDetectorCalculator": "penstock_image.filters.feature_detector:FeatureDetectorCalculator",
    "ImageCloneCalculator": "penstock_image.image_clone:ImageCloneCalculator",
    "ImageCroppingCalculator": "penstock_image.geometry.image_cropping:ImageCroppingCalculator",
    "ImageFilePropertiesCalculator": "penstock_image.files.image_file_properties:ImageFilePropertiesCalculator",
    "ImageOverlayCalculator": "penstock_image.painting.image_overlay:ImageOverlayCalculator",
    "ImageTransformationCalculator": "penstock_image.geometry.image_transformation:ImageTransformationCalculator",
    "LuminanceCalculatorCpu": "penstock_image.filters.luminance:LuminanceCalculatorCpu",
    "MaskOverlayCalculatorCpu": "penstock_image.painting.mask_overlay:MaskOverlayCalculatorCpu",
    "OpenCvEncodedImageToImageFrameCalculator": "penstock_image.files.encoded_image_to_image_frame:OpenCvEncodedImageToImageFrameCalculator",
    "OpenCvImageEncoderCalculator": "penstock_image.files.image_encoder:OpenCvImageEncoderCalculator",
    "OpenCvPutTextCalculator": "penstock_image.painting.put_text:OpenCvPutTextCalculator",
    "PackMediaSequenceCalculator": "penstock_image.sequences.pack_media_sequence:PackMediaSequenceCalculator",
    "PictureSinkCalculator": "penstock_image.pictures.picture_sink:PictureSinkCalculator",
    "PictureSourceCalculator": "penstock_image.pictures.picture_source:PictureSourceCalculator",
    "RecolorCalculator": "penstock_image.painting.recolor:RecolorCalculator",
    "ScaleImageCalculator": "penstock_image.geometry.scale_image:ScaleImageCalculator",
    "SetAlphaCalculator": "penstock_image.painting.set_alpha:SetAlphaCalculator",
    "SobelEdgesCalculatorCpu": "penstock_image.filters.sobel_edges:SobelEdgesCalculatorCpu",
    "StringToSequenceExampleCalculator": "penstock_image.sequences.string_to_sequence_example:StringToSequenceExampleCalculator",
    "UnpackMediaSequenceCalculator": "penstock_image.sequences.unpack_media_sequence:UnpackMediaSequenceCalculator",
}

OPTIONS: Final[Mapping[str, tuple[str, int, str] | str]] = {
    "penstock.BilateralFilterCalculatorOptions": ("penstock.CalculatorOptions", 255670209, "penstock_image.messages.bilateral_filter_pb2:BilateralFilterCalculatorOptions"),
    "penstock.CannyEdgeCalculatorOptions": ("penstock.CalculatorOptions", 20100, "penstock_image.messages.canny_edge_pb2:CannyEdgeCalculatorOptions"),
    "penstock.ColorMapCalculatorOptions": ("penstock.CalculatorOptions", 20102, "penstock_image.messages.color_map_pb2:ColorMapCalculatorOptions"),
    "penstock.FeatureDetectorCalculatorOptions": ("penstock.CalculatorOptions", 278741680, "penstock_image.messages.feature_detector_pb2:FeatureDetectorCalculatorOptions"),
    "penstock.ImageCloneCalculatorOptions": ("penstock.CalculatorOptions", 372781894, "penstock_image.messages.image_clone_pb2:ImageCloneCalculatorOptions"),
    "penstock.ImageCroppingCalculatorOptions": ("penstock.CalculatorOptions", 262466399, "penstock_image.messages.image_cropping_pb2:ImageCroppingCalculatorOptions"),
    "penstock.ImageOverlayCalculatorOptions": ("penstock.CalculatorOptions", 20101, "penstock_image.messages.image_overlay_pb2:ImageOverlayCalculatorOptions"),
    "penstock.ImageTransformationCalculatorOptions": ("penstock.CalculatorOptions", 251952830, "penstock_image.messages.image_transformation_pb2:ImageTransformationCalculatorOptions"),
    "penstock.OpenCvEncodedImageToImageFrameCalculatorOptions": ("penstock.CalculatorOptions", 303447308, "penstock_image.messages.encoded_image_to_image_frame_pb2:OpenCvEncodedImageToImageFrameCalculatorOptions"),
    "penstock.OpenCvImageEncoderCalculatorOptions": ("penstock.CalculatorOptions", 227563646, "penstock_image.messages.image_encoder_pb2:OpenCvImageEncoderCalculatorOptions"),
    "penstock.PackMediaSequenceCalculatorOptions": ("penstock.CalculatorOptions", 243132285, "penstock_image.messages.pack_media_sequence_pb2:PackMediaSequenceCalculatorOptions"),
    "penstock.RecolorCalculatorOptions": ("penstock.CalculatorOptions", 252527117, "penstock_image.messages.recolor_pb2:RecolorCalculatorOptions"),
    "penstock.ScaleImageCalculatorOptions": ("penstock.CalculatorOptions", 66237115, "penstock_image.messages.scale_image_pb2:ScaleImageCalculatorOptions"),
    "penstock.SetAlphaCalculatorOptions": ("penstock.CalculatorOptions", 250949799, "penstock_image.messages.set_alpha_pb2:SetAlphaCalculatorOptions"),
    "penstock.UnpackMediaSequenceCalculatorOptions": ("penstock.CalculatorOptions", 244411537, "penstock_image.messages.unpack_media_sequence_pb2:UnpackMediaSequenceCalculatorOptions"),
}
