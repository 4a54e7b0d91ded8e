"""Images on the GPU: GL contexts, `GpuBuffer`, bases of GPU calculators, and calculators that run shaders.

A `GpuBuffer` holds an image wherever it was last written, on the GPU or as an `ImageFrame`, and makes the
other form on request. Nodes that use the service `GPU` run on the thread of their GL context. No screen is
needed.

Importing this package, or any module of it, imports no OpenGL and loads no system library: each name is
imported when it is first used, OpenGL with the first `GlContext`. So a machine without GL can import all
modules, and runs the same calculators on NumPy where the graph's `GpuResources` allow it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from penstock.packs import late_names

if TYPE_CHECKING:
    from penstock_gpu.buffers.buffer import GpuBuffer as GpuBuffer
    from penstock_gpu.buffers.buffer import register_converter as register_converter
    from penstock_gpu.buffers.buffer import register_storage as register_storage
    from penstock_gpu.buffers.buffer_pool import GpuBufferPool as GpuBufferPool
    from penstock_gpu.buffers.texture_pool import TexturePoolOptions as TexturePoolOptions
    from penstock_gpu.buffers.texture_storage import GlTextureView as GlTextureView
    from penstock_gpu.calculators.shader import shader_calculator as shader_calculator
    from penstock_gpu.contexts.context import GlContext as GlContext
    from penstock_gpu.contexts.external_context import ExternalContext as ExternalContext
    from penstock_gpu.contexts.sync import GlSyncToken as GlSyncToken
    from penstock_gpu.drawing.gl_texture import GlTexture as GlTexture
    from penstock_gpu.drawing.helper import GlCalculatorHelper as GlCalculatorHelper
    from penstock_gpu.drawing.program import GlProgram as GlProgram
    from penstock_gpu.drawing.quad import draw_quad as draw_quad
    from penstock_gpu.drawing.simple_filter import GlSimpleCalculator as GlSimpleCalculator
    from penstock_gpu.drawing.vertex_attributes import ATTRIB_TEXTURE_POSITION as ATTRIB_TEXTURE_POSITION
    from penstock_gpu.drawing.vertex_attributes import ATTRIB_VERTEX as ATTRIB_VERTEX
    from penstock_gpu.errors import GlError as GlError
    from penstock_gpu.errors import GpuUnavailableError as GpuUnavailableError
    from penstock_gpu.errors import ShaderError as ShaderError
    from penstock_gpu.formats import GpuBufferFormat as GpuBufferFormat
    from penstock_gpu.service import GPU as GPU
    from penstock_gpu.service import GpuResources as GpuResources

#: Module → the names that it has.
_HOMES: Final = {
    "penstock_gpu.buffers.buffer": "GpuBuffer register_converter register_storage",
    "penstock_gpu.buffers.buffer_pool": "GpuBufferPool",
    "penstock_gpu.buffers.texture_pool": "TexturePoolOptions",
    "penstock_gpu.buffers.texture_storage": "GlTextureView",
    "penstock_gpu.calculators.shader": "shader_calculator",
    "penstock_gpu.contexts.context": "GlContext",
    "penstock_gpu.contexts.external_context": "ExternalContext",
    "penstock_gpu.contexts.sync": "GlSyncToken",
    "penstock_gpu.drawing.gl_texture": "GlTexture",
    "penstock_gpu.drawing.helper": "GlCalculatorHelper",
    "penstock_gpu.drawing.program": "GlProgram",
    "penstock_gpu.drawing.vertex_attributes": "ATTRIB_TEXTURE_POSITION ATTRIB_VERTEX",
    "penstock_gpu.drawing.quad": "draw_quad",
    "penstock_gpu.drawing.simple_filter": "GlSimpleCalculator",
    "penstock_gpu.errors": "GlError GpuUnavailableError ShaderError",
    "penstock_gpu.formats": "GpuBufferFormat",
    "penstock_gpu.service": "GPU GpuResources",
}

if not TYPE_CHECKING:  # type checkers know the imports above, and refuse every other name
    __all__, __getattr__, __dir__ = late_names(__name__, _HOMES)
