"""The options of ShaderCalculator."""

from __future__ import annotations

from typing import Any

import attrs

from penstock.errors import InvalidArgumentError
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


def check_size(options: ShaderCalculatorOptions) -> None:
    """Refuse a width without a height, or one that is negative.

    Raises:
        InvalidArgumentError: only one of them is above 0, or one is below.
    """
    if options.width < 0 or options.height < 0 or (options.width > 0) != (options.height > 0):
        raise InvalidArgumentError(
            f"the shader's options have width {options.width} and height {options.height}, but both must be "
            "above 0, or neither given; change them"
        )


def uniform_values(options: ShaderCalculatorOptions) -> dict[str, Any]:
    """Return the values of uniforms: name → value.

    Raises:
        InvalidArgumentError: a uniform is given twice.
    """
    found: dict[str, Any] = {}
    for one in options.uniform:
        if one.name in found:
            raise InvalidArgumentError(
                f"the shader's uniform {one.name!r} is given twice in the options; leave one of them"
            )
        found[one.name] = one.value[0] if len(one.value) == 1 else one.value
    return found
