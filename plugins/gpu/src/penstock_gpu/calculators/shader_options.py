"""The options of ShaderCalculator."""

from __future__ import annotations

import attrs

from penstock_gpu.formats import GpuBufferFormat


@attrs.frozen
class ShaderUniform:
    """The value of one uniform.

    Attributes:
        name: as the shader declares it.
        value: as many numbers as its type holds, matrices row by row.
    """

    name: str
    value: tuple[float, ...]


@attrs.frozen
class ShaderCalculatorOptions:
    """A fragment shader and what it is given.

    Attributes:
        fragment: the shader's text.
        resource: "package:path", a text file that an installed package holds; instead of `fragment`.
        uniform: values that stay the same.
        width: of the result in pixels; 0 for that of the main input. With `height`, or neither.
        height: of the result in pixels.
        format: of the result.
    """

    fragment: str = ""
    resource: str = ""
    uniform: tuple[ShaderUniform, ...] = ()
    width: int = 0
    height: int = 0
    format: GpuBufferFormat = GpuBufferFormat.BGRA32
