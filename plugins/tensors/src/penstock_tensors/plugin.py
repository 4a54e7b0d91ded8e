"""What the pack contributes, by name; none of its modules is imported until a graph uses it."""

from __future__ import annotations

from penstock import Components, hookimpl


@hookimpl
def penstock_components() -> Components:
    """Name the calculators and their options messages."""
    return Components(
        calculators={
            "ImageToTensorCalculator": "penstock_tensors.image_to_tensor:ImageToTensorCalculator",
        },
        options={
            "penstock.ImageToTensorCalculatorOptions": (
                "penstock.CalculatorOptions",
                334361939,
                "penstock_tensors.image_to_tensor_calculator_pb2:ImageToTensorCalculatorOptions",
            ),
        },
    )
