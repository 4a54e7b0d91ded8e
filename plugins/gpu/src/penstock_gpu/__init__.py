"""Images on the GPU: GL contexts, `GpuBuffer`, bases of GPU calculators, and calculators that run shaders.

A `GpuBuffer` holds an image wherever it was last written, on the GPU or as an `ImageFrame`, and makes the
other form on request. Nodes that use the service `GPU` run on the thread of their GL context. No screen is
needed.

Importing this package, or any module of it, imports no OpenGL and loads no system library: each name is
imported when it is first used, OpenGL with the first `GlContext`. So a machine without GL can import all
modules, and runs the same calculators on NumPy where the graph's `GpuResources` allow it.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from penstock_gpu.buffers.buffer import GpuBuffer, register_converter, register_storage
    from penstock_gpu.buffers.buffer_pool import GpuBufferPool
    from penstock_gpu.buffers.texture_pool import PoolOptions
    from penstock_gpu.buffers.texture_storage import GlTextureView
    from penstock_gpu.calculators.shader import shader_calculator
    from penstock_gpu.contexts.context import GlContext
    from penstock_gpu.contexts.external_context import ExternalContext
    from penstock_gpu.contexts.sync import GlSyncToken
    from penstock_gpu.drawing.helper import GlCalculatorHelper, GlTexture
    from penstock_gpu.drawing.program import ATTRIB_TEXTURE_POSITION, ATTRIB_VERTEX, GlProgram
    from penstock_gpu.drawing.quad import draw_quad
    from penstock_gpu.drawing.simple import GlSimpleCalculator
    from penstock_gpu.errors import GlError, GpuUnavailableError, ShaderError
    from penstock_gpu.formats import GpuBufferFormat
    from penstock_gpu.service import GPU, GpuResources

__all__ = [
    "ATTRIB_TEXTURE_POSITION",
    "ATTRIB_VERTEX",
    "GPU",
    "ExternalContext",
    "GlCalculatorHelper",
    "GlContext",
    "GlError",
    "GlProgram",
    "GlSimpleCalculator",
    "GlSyncToken",
    "GlTexture",
    "GlTextureView",
    "GpuBuffer",
    "GpuBufferFormat",
    "GpuBufferPool",
    "GpuResources",
    "GpuUnavailableError",
    "PoolOptions",
    "ShaderError",
    "draw_quad",
    "register_converter",
    "register_storage",
    "shader_calculator",
]

_HOME: Final = {
    "ATTRIB_TEXTURE_POSITION": "drawing.program",
    "ATTRIB_VERTEX": "drawing.program",
    "GPU": "service",
    "ExternalContext": "contexts.external_context",
    "GlCalculatorHelper": "drawing.helper",
    "GlContext": "contexts.context",
    "GlError": "errors",
    "GlProgram": "drawing.program",
    "GlSimpleCalculator": "drawing.simple",
    "GlSyncToken": "contexts.sync",
    "GlTexture": "drawing.helper",
    "GlTextureView": "buffers.texture_storage",
    "GpuBuffer": "buffers.buffer",
    "GpuBufferFormat": "formats",
    "GpuBufferPool": "buffers.buffer_pool",
    "GpuResources": "service",
    "GpuUnavailableError": "errors",
    "PoolOptions": "buffers.texture_pool",
    "ShaderError": "errors",
    "draw_quad": "drawing.quad",
    "register_converter": "buffers.buffer",
    "register_storage": "buffers.buffer",
    "shader_calculator": "calculators.shader",
}


def __getattr__(name: str) -> object:
    home = _HOME.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{home}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOME})
