"""The names of the pack's components; nothing is imported until a graph uses it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock import Components, hookimpl

if TYPE_CHECKING:
    from collections.abc import Iterable

    from penstock import DoctorCheck


@hookimpl
def penstock_components() -> Components:
    """Name the calculators and their options messages."""
    calculators = "penstock_gpu.calculators"
    return Components(
        calculators={
            "GlOverlayCalculator": f"{calculators}.overlay:GlOverlayCalculator",
            "GlScalerCalculator": f"{calculators}.scaler:GlScalerCalculator",
            "GpuBufferToImageFrameCalculator": (
                f"{calculators}.gpu_buffer_to_image_frame:GpuBufferToImageFrameCalculator"
            ),
            "ImageFrameToGpuBufferCalculator": (
                f"{calculators}.image_frame_to_gpu_buffer:ImageFrameToGpuBufferCalculator"
            ),
            "LuminanceCalculator": f"{calculators}.luminance:LuminanceCalculator",
            "MaskOverlayCalculator": f"{calculators}.mask_overlay:MaskOverlayCalculator",
            "ShaderCalculator": f"{calculators}.shader:ShaderCalculator",
            "SobelEdgesCalculator": f"{calculators}.sobel_edges:SobelEdgesCalculator",
        },
        services={"gpu": "penstock_gpu.service:GPU"},
        options={
            "penstock.GlContextOptions": (
                "penstock.CalculatorOptions",
                222332034,
                "penstock_gpu.gl_context_options_pb2:GlContextOptions",
            ),
            "penstock.GlScalerCalculatorOptions": (
                "penstock.CalculatorOptions",
                166373014,
                "penstock_gpu.gl_scaler_calculator_pb2:GlScalerCalculatorOptions",
            ),
            "penstock.MaskOverlayCalculatorOptions": (
                "penstock.CalculatorOptions",
                252129282,
                "penstock_gpu.mask_overlay_calculator_pb2:MaskOverlayCalculatorOptions",
            ),
        },
    )


@hookimpl
def penstock_doctor() -> Iterable[DoctorCheck]:
    """Check OpenGL: the renderer, the devices, and what is missing."""
    from penstock_gpu.health import checks  # only for the doctor

    return checks()
