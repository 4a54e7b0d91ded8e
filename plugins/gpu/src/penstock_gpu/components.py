"""The components of penstock_gpu by name; a module is imported when a graph uses it.

Written by `python scripts/components.py` from the classes and messages of the package.
"""

from collections.abc import Mapping
from typing import Final

CALCULATORS: Final[Mapping[str, str]] = {
    "GlOverlayCalculator": "penstock_gpu.calculators.overlay:GlOverlayCalculator",
    "GlScalerCalculator": "penstock_gpu.calculators.scaler:GlScalerCalculator",
    "GpuBufferToImageFrameCalculator": "penstock_gpu.calculators.gpu_buffer_to_image_frame:GpuBufferToImageFrameCalculator",
    "ImageFrameToGpuBufferCalculator": "penstock_gpu.calculators.image_frame_to_gpu_buffer:ImageFrameToGpuBufferCalculator",
    "LuminanceCalculator": "penstock_gpu.calculators.luminance:LuminanceCalculator",
    "MaskOverlayCalculator": "penstock_gpu.calculators.mask_overlay:MaskOverlayCalculator",
    "ShaderCalculator": "penstock_gpu.calculators.shader:ShaderCalculator",
    "SobelEdgesCalculator": "penstock_gpu.calculators.sobel_edges:SobelEdgesCalculator",
}

OPTIONS: Final[Mapping[str, tuple[str, int, str] | str]] = {
    "penstock.GlContextOptions": ("penstock.CalculatorOptions", 222332034, "penstock_gpu.messages.context_pb2:GlContextOptions"),
    "penstock.GlScalerCalculatorOptions": ("penstock.CalculatorOptions", 166373014, "penstock_gpu.messages.scaler_pb2:GlScalerCalculatorOptions"),
    "penstock.MaskOverlayCalculatorOptions": ("penstock.CalculatorOptions", 252129282, "penstock_gpu.messages.mask_overlay_pb2:MaskOverlayCalculatorOptions"),
}
