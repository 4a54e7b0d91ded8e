"""One pass: input images, a program over all pixels, one output image."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING, ClassVar

import penstock
from penstock_gpu import gl
from penstock_gpu.drawing.helper import GlCalculatorHelper
from penstock_gpu.drawing.program import GlProgram
from penstock_gpu.drawing.quad import draw_quad
from penstock_gpu.drawing.simple_filter import GlSimpleCalculator

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping

    from penstock import CalculatorContext
    from penstock_gpu.buffers.buffer import GpuBuffer
    from penstock_gpu.drawing.gl_texture import GlTexture
    from penstock_gpu.drawing.uniform_values import UniformValue
    from penstock_gpu.formats import GpuBufferFormat


class DrawingCalculator(penstock.Calculator):
    """The base of calculators with any ports that draw with their own programs.

    A subclass calls `open` and `close` of this class in its own, `update_contract` of the helper in
    `get_contract`, and, if `helper.uses_gl`, draws in `helper.run_in_gl_context`.
    """

    #: The helper, open between `open` and `close`.
    helper: GlCalculatorHelper

    def open(self, cc: CalculatorContext) -> None:
        """Find the node's context."""
        self.helper = GlCalculatorHelper()
        self.helper.open(cc)
        self._name = cc.node_name
        self._programs: dict[Hashable, GlProgram] = {}

    def close(self, cc: CalculatorContext) -> None:  # noqa: ARG002  # as the engine calls it
        """Delete the programs."""
        if self._programs:
            self.helper.run_in_gl_context(self._delete)
        self.helper.close()

    def program(
        self,
        fragment: str,
        vertex: str | None = None,
        defines: Mapping[str, object] | None = None,
        samplers: tuple[str, ...] = (),
    ) -> GlProgram:
        """Return a program of these sources, made on the first call; call it in a job of the context.

        Raises:
            ShaderError: as `GlProgram`, with the node's name.
        """
        key = fragment, vertex, tuple((defines or {}).items()), samplers
        found = self._programs.get(key)
        if found is None:
            found = GlProgram(fragment, vertex, name=self._name, samplers=samplers, defines=defines)
            self._programs[key] = found
        return found

    def _delete(self) -> None:
        while self._programs:
            self._programs.popitem()[1].delete()


class OneShaderCalculator(GlSimpleCalculator):
    """The base of filters that consist of one program without options."""

    #: The shader; its sampler `frame` is the input image.
    fragment: ClassVar[str]

    def gl_setup(self) -> None:
        """Compile the shader."""
        self._program = GlProgram(self.fragment, name=type(self).__name__)
        self._program.set("frame", 1)  # the program keeps the value

    def gl_render(self, src: GlTexture, dst: GlTexture) -> None:  # noqa: ARG002  # both are bound
        """Draw one image."""
        self._program.use()
        draw_quad()

    def gl_teardown(self) -> None:
        """Delete the shader."""
        self._program.delete()


def render(  # noqa: PLR0913, PLR0917  # the parts of a pass
    helper: GlCalculatorHelper,
    program: GlProgram,
    inputs: Mapping[str, GpuBuffer],
    width: int,
    height: int,
    kind: GpuBufferFormat,
    uniforms: Mapping[str, UniformValue] | None = None,
) -> GpuBuffer:
    """Draw one image, in a job of the helper's context.

    Args:
        helper: the calculator's; it is open.
        program: a program of that context.
        inputs: sampler → the image that it reads; the first is bound to texture unit 1.
        width: of the result, in pixels.
        height: of the result, in pixels.
        kind: format of the result.
        uniforms: name → value.

    Raises:
        GlError: GL fails, for example for a size above its limit. Nothing stays bound or locked.
        InvalidArgumentError: an input or the format has no texture, or a uniform does not fit.
    """
    with ExitStack() as locked:
        sources = {
            name: locked.enter_context(helper.create_source_texture(one)) for name, one in inputs.items()
        }
        target = locked.enter_context(helper.create_destination_texture(width, height, kind))
        helper.bind_framebuffer(target)
        for unit, (name, source) in enumerate(sources.items(), 1):
            gl.glActiveTexture(gl.GL_TEXTURE0 + unit)
            gl.glBindTexture(source.target, source.name)
            locked.callback(_unbind, unit, source.target)
            program.set(name, unit)
        for name, value in (uniforms or {}).items():
            program.set(name, value)
        program.use()
        draw_quad()
        helper.release(target, *sources.values())
    return target.buffer


def _unbind(unit: int, target: int) -> None:
    gl.glActiveTexture(gl.GL_TEXTURE0 + unit)
    gl.glBindTexture(target, 0)
