"""What the pack contributes, by name; none of its modules is imported until a graph uses it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from penstock import Components, hookimpl

if TYPE_CHECKING:
    from collections.abc import Iterable

    from penstock import DoctorCheck

#: Calculator → the module and the class below `penstock_image`.
_CALCULATORS: Final = {
    "CannyEdgeCalculator": "canny_edge:CannyEdgeCalculator",
    "ColorConvertCalculator": "color_convert:ColorConvertCalculator",
    "ImageCroppingCalculator": "image_cropping:ImageCroppingCalculator",
    "ImageOverlayCalculator": "image_overlay:ImageOverlayCalculator",
    "ImageTransformationCalculator": "image_transformation:ImageTransformationCalculator",
}
#: Options message → its extension number, and the module below `penstock_image`.
_OPTIONS: Final = {
    "CannyEdgeCalculatorOptions": (20100, "canny_edge_calculator_pb2"),
    "ImageCroppingCalculatorOptions": (262466399, "image_cropping_calculator_pb2"),
    "ImageOverlayCalculatorOptions": (20101, "image_overlay_calculator_pb2"),
    "ImageTransformationCalculatorOptions": (251952830, "image_transformation_calculator_pb2"),
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
