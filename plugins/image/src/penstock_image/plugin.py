"""What the pack contributes, by name; none of its modules is imported until a graph uses it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from penstock import Components, hookimpl

if TYPE_CHECKING:
    from collections.abc import Iterable

    from penstock import DoctorCheck

#: Calculator → the module and the class below `penstock_image`.
_CALCULATORS: Final = {
    "BilateralFilterCalculator": "bilateral_filter:BilateralFilterCalculator",
    "CannyEdgeCalculator": "canny_edge:CannyEdgeCalculator",
    "ColorConvertCalculator": "color_convert:ColorConvertCalculator",
    "FeatureDetectorCalculator": "feature_detector:FeatureDetectorCalculator",
    "ImageCloneCalculator": "image_clone:ImageCloneCalculator",
    "ImageCroppingCalculator": "image_cropping:ImageCroppingCalculator",
    "ImageFilePropertiesCalculator": "image_file_properties:ImageFilePropertiesCalculator",
    "ImageOverlayCalculator": "image_overlay:ImageOverlayCalculator",
    "ImageTransformationCalculator": "image_transformation:ImageTransformationCalculator",
    "LuminanceCalculatorCpu": "luminance:LuminanceCalculatorCpu",
    "MaskOverlayCalculatorCpu": "mask_overlay:MaskOverlayCalculatorCpu",
    "OpenCvEncodedImageToImageFrameCalculator": (
        "encoded_image_to_image_frame:EncodedImageToImageFrameCalculator"
    ),
    "OpenCvImageEncoderCalculator": "image_encoder:ImageEncoderCalculator",
    "OpenCvPutTextCalculator": "put_text:PutTextCalculator",
    "RecolorCalculator": "recolor:RecolorCalculator",
    "ScaleImageCalculator": "scale_image:ScaleImageCalculator",
    "SetAlphaCalculator": "set_alpha:SetAlphaCalculator",
    "SobelEdgesCalculatorCpu": "sobel_edges:SobelEdgesCalculatorCpu",
}
#: Options message → its extension number, and the module below `penstock_image`.
_OPTIONS: Final = {
    "BilateralFilterCalculatorOptions": (255670209, "bilateral_filter_calculator_pb2"),
    "CannyEdgeCalculatorOptions": (20100, "canny_edge_calculator_pb2"),
    "FeatureDetectorCalculatorOptions": (278741680, "feature_detector_calculator_pb2"),
    "ImageCloneCalculatorOptions": (372781894, "image_clone_calculator_pb2"),
    "ImageCroppingCalculatorOptions": (262466399, "image_cropping_calculator_pb2"),
    "ImageOverlayCalculatorOptions": (20101, "image_overlay_calculator_pb2"),
    "ImageTransformationCalculatorOptions": (251952830, "image_transformation_calculator_pb2"),
    "OpenCvEncodedImageToImageFrameCalculatorOptions": (
        303447308,
        "opencv_encoded_image_to_image_frame_calculator_pb2",
    ),
    "OpenCvImageEncoderCalculatorOptions": (227563646, "opencv_image_encoder_calculator_pb2"),
    "RecolorCalculatorOptions": (252527117, "recolor_calculator_pb2"),
    "ScaleImageCalculatorOptions": (66237115, "scale_image_calculator_pb2"),
    "SetAlphaCalculatorOptions": (250949799, "set_alpha_calculator_pb2"),
}


@hookimpl
def penstock_components() -> Components:
    """Name the calculators and their options messages."""
    return Components(
        calculators={name: f"penstock_image.{place}" for name, place in _CALCULATORS.items()},
        options={
            f"penstock.{name}": ("penstock.CalculatorOptions", number, f"penstock_image.{module}:{name}")
            for name, (number, module) in _OPTIONS.items()
        },
    )


@hookimpl
def penstock_doctor() -> Iterable[DoctorCheck]:
    """Check whether OpenCV can be imported, and whether it is installed only once."""
    from penstock_image.health import checks  # only when the doctor runs

    return checks()
