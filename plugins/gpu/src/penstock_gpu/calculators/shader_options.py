"""The options of ShaderCalculator."""

from __future__ import annotations

import attrs

from penstock_gpu.formats import GpuBufferFormat


@attrs.frozen
class ShaderUniform:
    """The value of one uniform.

    Attributes:
        name: its name in the shader.
        value: as many numbers as its type has, matrices row by row.
    """

    name: str
    value: tuple[float, ...]


@attrs.frozen
class ShaderCalculatorOptions:
    """A fragment shader, its uniforms, and the size and format of the result.

    Attributes:
        fragment: the shader's text.
        resource: "package:path", a text file that an installed package holds; instead of `fragment`.
        uniform: constant values of uniforms.
        width: of the result in pixels; 0 for that of the main input. Give `height` too, or neither.
        height: of the result in pixels.
        format: of the result.
    """

    fragment: str = ""
    resource: str = ""
    uniform: tuple[ShaderUniform, ...] = ()
    width: int = 0
    height: int = 0
    format: GpuBufferFormat = GpuBufferFormat.BGRA32
