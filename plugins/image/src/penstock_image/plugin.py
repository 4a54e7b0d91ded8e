"""What the pack contributes, by name; none of its modules is imported until a graph uses it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock import Components, hookimpl

if TYPE_CHECKING:
    from collections.abc import Iterable

    from penstock import DoctorCheck


@hookimpl
def penstock_components() -> Components:
    """Name the calculators and their options messages."""
    transformation = "penstock_image.image_transformation"
    return Components(
        calculators={
            "CannyEdgeCalculator": "penstock_image.canny_edge:CannyEdgeCalculator",
            "ColorConvertCalculator": "penstock_image.color_convert:ColorConvertCalculator",
            "ImageOverlayCalculator": "penstock_image.image_overlay:ImageOverlayCalculator",
            "ImageTransformationCalculator": f"{transformation}:ImageTransformationCalculator",
        },
        options={
            "penstock.CannyEdgeCalculatorOptions": (
                "penstock.CalculatorOptions",
                20100,
                "penstock_image.canny_edge_calculator_pb2:CannyEdgeCalculatorOptions",
            ),
            "penstock.ImageOverlayCalculatorOptions": (
                "penstock.CalculatorOptions",
                20101,
                "penstock_image.image_overlay_calculator_pb2:ImageOverlayCalculatorOptions",
            ),
            "penstock.ImageTransformationCalculatorOptions": (
                "penstock.CalculatorOptions",
                251952830,
                "penstock_image.image_transformation_calculator_pb2:ImageTransformationCalculatorOptions",
            ),
        },
    )


@hookimpl
def penstock_doctor() -> Iterable[DoctorCheck]:
    """Check whether OpenCV can be imported, and whether it is installed only once."""
    from penstock_image.health import checks  # only when the doctor runs

    return checks()
